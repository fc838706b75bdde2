"""Komadori, a shogi engine that speaks USI.

Python API: `Board`, `Engine`, `analyse`, `mate`, `load_games` and the types of their results. They and the compiled
core (`core_ext`) are imported on first use, so that `usi` is answered at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core_ext.board import BLACK, WHITE, Board, Outcome, Termination, move_from_usi, move_to_usi
    from core_ext.engine import PieceValues
    from usi_engine.api.async_engine import AsyncEngine
    from usi_engine.api.engine import Engine, analyse
    from usi_engine.api.mate_search import Mate, mate, second_solutions
    from usi_engine.api.search_engine import AnalysisStream
    from usi_engine.api.usi_process import UsiEngine
    from usi_engine.core import CoreError
    from usi_engine.evaluation.names import WeightsError
    from usi_engine.learn.corpus.dataset import PositionDataset as PositionDataset  # not in __all__: it needs PyTorch
    from usi_engine.learn.corpus.packed import HCPE3_TYPE, HCPE_TYPE, PSV_TYPE
    from usi_engine.learn.corpus.positions import positions
    from usi_engine.learn.game import LabelledPosition
    from usi_engine.records.faults import RecordError
    from usi_engine.records.games import Game, load_games, parse_record
    from usi_engine.records.tree import Node, Record
    from usi_engine.search.results import Analysis, Limit, PlayResult, Score, Variation
    from usi_engine.usi.process import EngineDied, EngineError, EngineNonsense, EngineSilent, Timeouts, UnknownOption

NAME = "Komadori"
AUTHOR = "the Komadori authors"
__version__ = "0.1.0"

__all__ = [
    "BLACK", "HCPE3_TYPE", "HCPE_TYPE", "PSV_TYPE", "WHITE", "Analysis", "AnalysisStream", "AsyncEngine", "Board",
    "CoreError", "Engine", "EngineDied", "EngineError", "EngineNonsense", "EngineSilent", "Game", "LabelledPosition",
    "Limit", "Mate", "Node", "Outcome", "PieceValues", "PlayResult", "Record", "RecordError",
    "Score", "Termination", "Timeouts", "UnknownOption", "UsiEngine", "Variation", "WeightsError", "analyse",
    "load_games", "mate", "move_from_usi", "move_to_usi", "parse_record", "positions", "second_solutions",
]  # fmt: skip
_MODULES = {
    "core_ext.board": "BLACK WHITE Board Outcome Termination move_from_usi move_to_usi",
    "core_ext.engine": "PieceValues",
    "usi_engine.learn.corpus.dataset": "PositionDataset",
    "usi_engine.learn.corpus.packed": "HCPE3_TYPE HCPE_TYPE PSV_TYPE",
    "usi_engine.learn.corpus.positions": "positions",
    "usi_engine.learn.game": "LabelledPosition",
    "usi_engine.records.faults": "RecordError",
    "usi_engine.records.games": "Game load_games parse_record",
    "usi_engine.records.tree": "Node Record",
    "usi_engine.api.async_engine": "AsyncEngine",
    "usi_engine.core": "CoreError",
    "usi_engine.evaluation.names": "WeightsError",
    "usi_engine.usi.process": "EngineDied EngineError EngineNonsense EngineSilent Timeouts UnknownOption",
    "usi_engine.api.engine": "Engine analyse",
    "usi_engine.api.mate_search": "Mate mate second_solutions",
    "usi_engine.search.results": "Analysis Limit PlayResult Score Variation",
    "usi_engine.api.search_engine": "AnalysisStream",
    "usi_engine.api.usi_process": "UsiEngine",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'usi_engine' has no attribute '{name}'")
    home = _HOMES[name]
    if home.startswith(("core_ext.", "usi_engine.learn.", "usi_engine.records.")):
        import_module("usi_engine.core").load_core()  # CoreError if this processor lacks an instruction set
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
