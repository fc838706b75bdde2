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
from usi_engine.analysis.judgement import Judgement, judge
from usi_engine.analysis.reasons import explanations
from usi_engine.records.games import Game
from usi_engine.records.usi_text import read
from usi_engine.search.results import Analysis

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
    return with_values(Game(**vars(read(text)), path=RECORDS / "a.usi"), results)


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
