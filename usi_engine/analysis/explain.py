"""Explanations of bad moves by facts of the search: mates missed and allowed, material lost.

Material is counted by playing out two lines: the move with the best answers to it, and the line that was better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from usi_engine.analysis.judgement import percent
from usi_engine.analysis.report import AnalysedGame
from usi_engine.analysis.words import piece_name
from usi_engine.language import _

if TYPE_CHECKING:
    from core_ext.board import Board

# Values in pawns. A promoted piece other than a tokin counts as the piece that its captor gets.
WORTH = {"P": 1, "L": 3, "N": 3, "S": 5, "+P": 5, "G": 6, "B": 8, "R": 10}
PIECE = 3  # pawns; a smaller loss does not explain a mistake
PLIES = 12  # of a line, at most, that are played out
EVEN = 50.0  # percent


def explanations(result: AnalysedGame, ply: int) -> list[str]:
    """Return sentences about move `ply`; none if it has no grade and gave no mate away."""
    move = result.judged[ply - 1]
    mate = result.missed_mate(ply)
    sentences = [_("Missed mate in {plies}.").format(plies=mate)] if mate else []
    if not sentences and move.grade is None:
        return []
    allowed = mate_allowed(result, ply)
    sentences += [allowed] if allowed else []
    return sentences or material_sentences(result, ply)


def mate_allowed(result: AnalysedGame, ply: int) -> str:
    """Return the sentence about a mate that the move allows; empty if there is none."""
    before, after = result.evaluated[ply - 1], result.evaluated[ply]
    if not after.score.mate or after.score.mate < 0:
        return ""
    sudden = percent(before.score.value) >= EVEN
    text = _("Walked into mate in {plies}.") if sudden else _("Allows mate in {plies}.")
    return text.format(plies=after.score.mate)


def material_sentences(result: AnalysedGame, ply: int) -> list[str]:
    """Return a sentence about material that the move lost, or that the better line would have won."""
    board = result.game.board(ply - 1)
    played = captures(board, [result.game.moves[ply - 1], *result.evaluated[ply].pv])
    better = captures(board, result.evaluated[ply - 1].pv)
    if balance(better) - balance(played) < PIECE:
        return []
    if balance(played) <= -PIECE:
        gained, lost = difference(played)
        text = _("Loses {lost} for {gained}.") if gained else _("Loses {lost}.")
        return [text.format(lost=pieces(lost), gained=pieces(gained))]
    if balance(better) >= PIECE:
        gained, lost = difference(better)
        text = _("Misses winning {gained} for {lost}.") if lost else _("Misses winning {gained}.")
        return [text.format(lost=pieces(lost), gained=pieces(gained))]
    return []


# ---- lines played out ----


def captures(board: Board, line: Sequence[str]) -> list[Counter[str]]:
    """Return the pieces that the side to move captures and loses in the first plies of a line.

    A capture at the end that can be answered by winning something on its square is not counted.
    """
    end, taken = board.copy(), list[str]()
    for move in line[:PLIES]:
        if not end.is_legal(move):
            break
        letter = (end.piece_at(move[2:4]) or "").upper()
        taken.append(letter if letter in WORTH else letter.removeprefix("+"))
        end.push(move)
    if taken and taken[-1] and is_answered(end):
        taken.pop()
    return [Counter(piece for piece in taken[side::2] if piece) for side in (0, 1)]


def is_answered(board: Board) -> bool:
    """Return True if the side to move can win something on the square of the last move."""
    square = board.peek()[2:4]
    return any(move[2:4] == square and board.see(move) > 0 for move in board.legal_moves)


def balance(taken: list[Counter[str]]) -> int:
    """Return the material balance for the side to move, in pawns."""
    won, lost = (sum(WORTH[piece] * count for piece, count in side.items()) for side in taken)
    return won - lost


def difference(taken: list[Counter[str]]) -> tuple[Counter[str], Counter[str]]:
    """Return the pieces won and lost, without those exchanged for the same kind."""
    return taken[0] - taken[1], taken[1] - taken[0]


def pieces(counted: Counter[str]) -> str:
    """Return the pieces as text, the most valuable first."""
    names = []
    for letter in sorted(counted, key=lambda piece: -WORTH[piece]):
        name, count = piece_name(letter), counted[letter]
        names.append(name if count == 1 else _("{count} x {piece}").format(count=count, piece=name))
    return _(", ").join(names)
