"""Records in tests/data/records, an analyst that needs no weights, analysed games, the data of a page."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core_ext.board import Board
from core_ext.engine import MATE
from usi_engine import language
from usi_engine.analysis.analyst import Analyst, Limits, analyse
from usi_engine.analysis.judgement import Judgement, judge
from usi_engine.analysis.reasons import explanations
from usi_engine.book.entry import position_key
from usi_engine.evaluation.names import MATERIAL
from usi_engine.records import usi_text
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


def game_of(path: Path, number: int = 0) -> Game:
    """A game of a file, by default the first one."""
    first = list(read_games(path))[number]
    assert isinstance(first, Game), first
    return first


def items_of(path: Path, described: Callable[[Record], Any]) -> list[Any]:
    """The games of a file, described, and the messages of its faults without the folder."""
    items = read_games(path)
    return [described(item) if isinstance(item, Game) else str(item).replace(str(path), path.name) for item in items]


def faults_of(path: Path) -> list[str]:
    """The messages for a file, without the folder."""
    return [str(item).replace(str(path), path.name) for item in read_games(path) if isinstance(item, RecordError)]


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


# ---- analysed games ----

QUICK = ["--nodes", "300", "--hash", "1", "--eval", "material"]


@contextmanager
def japanese() -> Iterator[None]:
    """Messages are Japanese in the block."""
    language.choose("ja")
    try:
        yield
    finally:
        language.choose("en")


def three_moves() -> Game:
    """The first three moves of a game: the third loses 52 points, after which White mates in 5."""
    values = [valued(50, "7g7f"), valued(-60, "8c8d"), valued(40, "2g2f", "8d8e")]
    later = [valued(MATE - 5 if ply % 2 else 5 - MATE) for ply in range(3, 21)]
    return with_values(game_of(RECORDS / "game.kif"), [*values, *later])


def with_values(game: Game, results: Sequence[Analysis]) -> Game:
    """Give the positions of the main line these results, each for the side to move."""
    for ply, (node, result) in enumerate(zip((game.root, *game.main_line), results, strict=True)):
        turn = game.turn(ply)
        lines = tuple(replace(line, score=replace(line.score, turn=turn)) for line in result.lines)
        node.analysis = replace(result, lines=lines, score=replace(result.score, turn=turn))
    return game


def judged(text: str, *results: Analysis) -> Game:
    """A game as USI text with these values."""
    return with_values(Game(**vars(usi_text.read(text)), path=RECORDS / "a.usi"), results)


def explained(game: Game) -> list[str]:
    """The explanations of the last move."""
    return [explanations(step, ("Black", "White")) for step in game.walk()][-1]


def judgement(text: str, *results: Analysis) -> Judgement:
    """The judgement of the game's last move."""
    found = judge(judged(text, *results).root.last())
    assert found
    return found


def mating(plies: int, *pv: str) -> Analysis:
    """The side to move mates, or is mated if the number is negative."""
    return valued(MATE - plies if plies > 0 else -MATE - plies, *pv)


def page_json(text: str) -> Any:
    """The data of a page."""
    found = re.search(r'<script [^>]*id="data"[^>]*>(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1])


class Searches:
    """Keys of the positions searched, and plies of first searches; Ctrl-C comes at the call after `last`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, last: int = 10**6) -> None:
        self.keys, self.plies = list[str](), list[int]()
        evaluate = Analyst.evaluate

        def counted(analyst: Analyst, board: Board, *wanted: Any, effort: int = 1, **limits: Any) -> Analysis:
            if len(self.keys) == last:
                raise KeyboardInterrupt
            self.keys.append(position_key(board.sfen()))
            self.plies += [board.ply] if effort == 1 else []
            return evaluate(analyst, board, *wanted, effort=effort, **limits)

        monkeypatch.setattr(Analyst, "evaluate", counted)
