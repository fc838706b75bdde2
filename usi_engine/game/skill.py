"""Levels for people, the option `SkillLevel`: a player who looks less far and misjudges what he sees.

A level limits depth, nodes and the number of moves that are considered. Then each considered move is misjudged by a
normally distributed error: whole for a quiet move with a quiet answer, a part of it where either is a capture, a
promotion or a check. Such moves also catch the eye, so that a good one is rarely missed. The error is computed from the
game's seed, the position with its ply, and the move, so that a level makes up its mind once: it plays the same move
however often it is asked, and still does not go round in circles. Above BLIND_LEVEL it plays a mate in one and leaves
none to the opponent.

A level's search has a table and a worker of its own, cleared before each move: it knows nothing of what a search at
full strength (an analysis, a hint) has found before.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.core import Core
from usi_engine.search.iterative import SearchLimits
from usi_engine.search.report import Line

if TYPE_CHECKING:
    from core_ext.board import Board

FULL_STRENGTH = 20
# Up to this level mates in one are overlooked, one's own and the opponent's.
BLIND_LEVEL = 1
# Standard deviation of the error in centipawns at level 0, and what a level leaves of it.
ERROR, ERROR_LEFT = 5000.0, 0.77
# The part of the error for a loud move (a capture, a promotion or a check), and where the answer to a move is loud.
LOUD, LOUD_ANSWER = 0.4, 0.6
# How much a loud move catches the eye, in standard deviations: about what the most overrated of many quiet moves gains.
EYE_CATCHING = 1.0
# The depth is the usual limit; this one keeps crowded positions from taking long.
NODES = 100_000
# Moves considered at level 0, and how many fewer at each further level.
MOVES, FEWER_MOVES = 40, 2
# Beyond this a person counts a position as won or lost; a mate is worth so much more the sooner it comes. Levels that
# overlook mates see no more than this.
CERTAIN, MATE_PLY, BLIND_CERTAIN = 3000, 20, 1000


@dataclass(frozen=True)
class Skill:
    """How a level searches: plies, nodes, moves considered, standard deviation of its errors in centipawns."""

    level: int
    depth: int
    nodes: int
    lines: int
    error: float

    @property
    def sees_mates(self) -> bool:
        """Whether it sees every mate in one."""
        return self.level > BLIND_LEVEL


def skill_of(level: int) -> Skill | None:
    """The skill of a level from 0; None from FULL_STRENGTH on."""
    if level >= FULL_STRENGTH:
        return None
    lines = MOVES - FEWER_MOVES * level
    return Skill(level, 1 + level * level // 36, NODES, lines, ERROR * ERROR_LEFT**level)


def limited(limits: SearchLimits, skill: Skill) -> SearchLimits:
    """The limits of a go, no wider than the skill's."""
    nodes = min(limits.node_limit or skill.nodes, skill.nodes)
    return SearchLimits(min(limits.max_depth, skill.depth), nodes, max(limits.multipv, skill.lines))


def choose_line(core: Core, board: Board, lines: Sequence[Line], skill: Skill, seed: int) -> Line:
    """The line that the skill takes for the best."""
    if skill.sees_mates:
        mates = [line for line in lines if line.move == board.mate_in_one()]
        lines = mates or [line for line in lines if not allows_mate(board, line.move)] or lines
    return max(lines, key=lambda line: judged(core, board, line, skill, seed))


def allows_mate(board: Board, move: str) -> bool:
    """Whether the opponent mates in one after this move."""
    board.push(move)
    mate = board.mate_in_one()
    board.pop()
    return mate is not None


def judged(core: Core, board: Board, line: Line, skill: Skill, seed: int) -> float:
    """The value of a line with the skill's error."""
    deviations = visibility(board, line.pv) * deviation(f"{seed} {board.sfen()} {line.move}")
    noticed = EYE_CATCHING if is_loud(board, line.move) else 0.0
    seen = certain(core, line.value) if skill.sees_mates else max(min(line.value, BLIND_CERTAIN), -BLIND_CERTAIN)
    return seen + skill.error * (deviations + noticed)


def certain(core: Core, value: int) -> int:
    """The value within what a person tells apart."""
    plies = core.in_plies(value)
    if plies is None:
        return max(min(value, CERTAIN), -CERTAIN)
    sooner = max(core.max_depth - abs(plies), 0) * MATE_PLY
    return CERTAIN + sooner if plies > 0 else -CERTAIN - sooner


def visibility(board: Board, pv: Sequence[str]) -> float:
    """The part of the error that a line gets: 1 for a quiet move and a quiet answer."""
    own = LOUD if is_loud(board, pv[0]) else 1.0
    if len(pv) < 2:
        return own
    board.push(pv[0])
    answer = LOUD_ANSWER if is_loud(board, pv[1]) else 1.0
    board.pop()
    return own * answer


def is_loud(board: Board, move: str) -> bool:
    """Whether a legal move captures, promotes or gives check."""
    return move.endswith("+") or board.piece_at(move[2:4]) is not None or board.gives_check(move)


def deviation(text: str) -> float:
    """Normally distributed, the same for the same text."""
    return random.Random(text).gauss(0.0, 1.0)
