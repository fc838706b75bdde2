"""Analysed games, the data of a page, the language."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from core_ext.engine import MATE
from tests.records.common import RECORDS, game_of, valued
from usi_engine import language
from usi_engine.analysis.report import AnalysedGame, analysed
from usi_engine.records.games import Game
from usi_engine.records.usi_text import read
from usi_engine.search.results import Analysis


@contextmanager
def japanese() -> Iterator[None]:
    """Messages are Japanese in the block."""
    language.choose("ja")
    try:
        yield
    finally:
        language.choose("en")


def three_moves() -> AnalysedGame:
    """The first three moves of a game: the third loses 52 points, after which White mates in 5."""
    game = game_of(RECORDS / "game.kif")
    values = [valued(50, "7g7f"), valued(-60, "8c8d"), valued(40, "2g2f", "8d8e")]
    later = [valued(MATE - 5 if ply % 2 else 5 - MATE) for ply in range(3, 21)]
    return analysed(game, in_turn([*values, *later]))


def in_turn(results: Sequence[Analysis], *, white_begins: bool = False) -> list[Analysis]:
    """Results of successive positions, each for the side to move."""
    found = list[Analysis]()
    for turn, result in enumerate(results, white_begins):
        lines = tuple(replace(line, score=replace(line.score, turn=turn % 2)) for line in result.lines)
        found.append(replace(result, lines=lines, score=replace(result.score, turn=turn % 2)))
    return found


def judged(text: str, *evaluated: Analysis) -> AnalysedGame:
    """A game as USI text with these values."""
    record = read(text)
    moves = tuple(node.move for node in record.main_line)
    results = in_turn(evaluated, white_begins=record.start.split()[1] == "w")
    return analysed(Game(RECORDS / "a.usi", 1, 1, "usi", record.start, moves, record), results)


def mating(plies: int, *pv: str) -> Analysis:
    """The side to move mates, or is mated if the number is negative."""
    return valued(MATE - plies if plies > 0 else -MATE - plies, *pv)


def page_json(text: str) -> Any:
    """The data of a page."""
    found = re.search(r'<script [^>]*id="data"[^>]*>(.*?)</script>', text, re.S)
    assert found
    return json.loads(found[1])
