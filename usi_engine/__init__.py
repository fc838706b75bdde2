"""Komadori, a shogi engine that speaks USI: the protocol, time, files and the decision when to stop.

The rules and the search itself are compiled (`core_ext`). Nothing here imports them before they are needed, so that
`usi` is answered at once.
"""

NAME = "Komadori"
AUTHOR = "the Komadori authors"
__version__ = "0.1.0"
