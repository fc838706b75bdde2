"""The compiled core: the rules of shogi, evaluation, search, mate search and training.

A wheel has it once for each level of instructions, in `levels`; the one that fits the processor is chosen here.
"""

import os.path

_levels = os.path.join(os.path.dirname(__file__), "levels")
if os.path.isdir(_levels):
    from core_ext.processor import TARGET

    __path__.insert(0, os.path.join(_levels, TARGET))
