"""Levels for people, the option `SkillLevel`: a weaker player searches less and misjudges moves.

A level limits depth, nodes and the number of moves considered. Each of them gets a normally distributed error: all of
it for a quiet move with a quiet reply, a part of it if either is a capture, a promotion or a check. Such moves also get
a bonus, so that a good one is rarely missed. The error depends on the game's seed, the position with its ply, and the
move: a level answers the same position of a game with the same move, but does not repeat itself in cycles. Above
BLIND_LEVEL it plays a mate in one and allows none.

The search has a TT and a worker of its own, cleared before each move, and so knows nothing of searches at full strength
(an analysis, a hint).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from usi_engine.core import Board
from usi_engine.search.results import Score, Variation
from usi_engine.usi.info import MAX_DEPTH

FULL_STRENGTH = 20
# Up to this level mates in one are overlooked, for both sides.
BLIND_LEVEL = 1
# Standard deviation of the error in centipawns at level 0, and its factor per level.
ERROR, ERROR_LEFT = 5000.0, 0.77
# Factors of the error for a tactical move (a capture, a promotion or a check), and for a tactical reply.
TACTICAL, TACTICAL_ANSWER = 0.4, 0.6
# Bonus of a tactical move in standard deviations: about the error of the most overrated of many quiet moves.
EYE_CATCHING = 1.0
# Node limit: the depth is the usual limit, but positions with many moves would take long.
NODES = 100_000
# The depth is 1 + level * level // DEPTH_DIVISOR: 1 at level 0, 11 at level 19.
DEPTH_DIVISOR = 36
# Moves considered at level 0, and how many fewer per level.
MOVES, FEWER_MOVES = 40, 2
# A level does not distinguish values beyond CERTAIN centipawns, or BLIND_CERTAIN if it overlooks mates. A mate adds
# MATE_PLY for each ply by which it is shorter.
CERTAIN, MATE_PLY, BLIND_CERTAIN = 3000, 20, 1000


@dataclass(frozen=True)
class Skill:
    """How a level plays: plies, nodes, moves considered, standard deviation of its errors in centipawns."""

    level: int
    depth: int
    nodes: int
    lines: int
    error: float

    @property
    def sees_mates(self) -> bool:
        """True if it sees every mate in one."""
        return self.level > BLIND_LEVEL


def skill_of(level: int) -> Skill | None:
    """Return the skill of a level from 0; None from FULL_STRENGTH on."""
    if level >= FULL_STRENGTH:
        return None
    lines = MOVES - FEWER_MOVES * level
    return Skill(level, 1 + level * level // DEPTH_DIVISOR, NODES, lines, ERROR * ERROR_LEFT**level)


def choose_line(board: Board, lines: Sequence[Variation], skill: Skill, seed: int) -> Variation:
    """Return the line that the skill takes for the best."""
    if skill.sees_mates:
        mates = [line for line in lines if line.move == board.mate_in_one()]
        lines = mates or [line for line in lines if not allows_mate(board, line.move)] or lines
    return max(lines, key=lambda line: judged(board, line, skill, seed))


def allows_mate(board: Board, move: str) -> bool:
    """Return whether the opponent mates in one after this move."""
    board.push(move)
    mate = board.mate_in_one()
    board.pop()
    return mate is not None


def judged(board: Board, line: Variation, skill: Skill, seed: int) -> float:
    """Return the value of a line with the skill's error."""
    deviations = visibility(board, line.pv) * deviation(f"{seed} {board.sfen()} {line.move}")
    noticed = EYE_CATCHING if is_tactical(board, line.move) else 0.0
    seen = certain(line.score) if skill.sees_mates else max(min(line.value, BLIND_CERTAIN), -BLIND_CERTAIN)
    return seen + skill.error * (deviations + noticed)


def certain(score: Score) -> int:
    """Return the value, clamped to what a level distinguishes."""
    if score.mate is None:
        return max(min(score.value, CERTAIN), -CERTAIN)
    sooner = max(MAX_DEPTH - abs(score.mate), 0) * MATE_PLY
    return CERTAIN + sooner if score.mate > 0 else -CERTAIN - sooner


def visibility(board: Board, pv: Sequence[str]) -> float:
    """Return the factor of the error: 1 for a quiet move with a quiet reply."""
    own = TACTICAL if is_tactical(board, pv[0]) else 1.0
    if len(pv) < 2:
        return own
    board.push(pv[0])
    answer = TACTICAL_ANSWER if is_tactical(board, pv[1]) else 1.0
    board.pop()
    return own * answer


def is_tactical(board: Board, move: str) -> bool:
    """Return whether a legal move captures, promotes or gives check."""
    return move.endswith("+") or board.piece_at(move[2:4]) is not None or board.gives_check(move)


def deviation(text: str) -> float:
    """Return a normally distributed number, the same for the same text."""
    return random.Random(text).gauss(0.0, 1.0)
