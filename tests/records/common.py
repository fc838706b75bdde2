"""Records in tests/data/records, and an analyst that needs no weights."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from usi_engine.analysis.analyst import Analyst, Limits, analyse
from usi_engine.evaluation.names import MATERIAL
from usi_engine.records.faults import RecordError
from usi_engine.records.games import Game, read_games
from usi_engine.records.tree import Record
from usi_engine.search.results import Analysis, Limit, Score, Variation

RECORDS = Path(__file__).resolve().parents[1] / "data" / "records"
GAMES = ["game.kif", "game.kifu", "game.ki2", "game.ki2u", "game.csa", "game.jkf", "game.usi"]  # the same game
FAST = Limits(Limit(nodes=300), megabytes=1, evaluation=MATERIAL)
LINE = "7g7f 8c8d 8h7g 3c3d 7i8h 7a6b 1g1f 5a4b 2g2f 2b7g+ 8h7g 3a2b 3g3f 2b3c 4i4h 1c1d 2i3g 6c6d 4g4f 6a5b"
MOVES = LINE.split()
TWO_PIECES = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"


def read(path: Path) -> list[Game | RecordError]:
    """All games and faults of a file."""
    return list(read_games(path))


def game_of(path: Path, number: int = 0) -> Game:
    """A game of a file, by default the first one."""
    first = read(path)[number]
    assert isinstance(first, Game), first
    return first


def items_of(path: Path, described: Callable[[Record], Any]) -> list[Any]:
    """The games of a file, described, and the messages of its faults without the folder."""
    items = read(path)
    return [described(item) if isinstance(item, Game) else str(item).replace(str(path), path.name) for item in items]


def faults_of(path: Path) -> list[str]:
    """The messages for a file, without the folder."""
    return [str(item).replace(str(path), path.name) for item in read(path) if isinstance(item, RecordError)]


def searched(name: str, multipv: int = 1, *, variations: bool = False) -> Game:
    """A game of RECORDS whose positions are searched for a moment."""
    game, analyst = game_of(RECORDS / name), Analyst(replace(FAST, multipv=multipv))
    for _node in analyse(game, lambda _number, board: analyst.evaluate(board), variations=variations):
        pass
    return game


def valued(value: int, *pv: str) -> Analysis:
    """A result for the side to move."""
    score = Score(value)
    return Analysis((Variation(score, pv, 10, 10),) if pv else (), score, 10, 1000, 0.5)
