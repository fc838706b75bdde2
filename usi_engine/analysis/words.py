"""Words of an analysis in the language of messages: values, sides, grades, headers, ends, and why a move is bad.

A bad move is explained by facts of the search: mates missed and allowed, material lost. Material is counted by playing
out two lines: the move with the best answers to it, and the line that was better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from usi_engine import language
from usi_engine.analysis.judgement import Grade, black_score, is_by_rule, judge, percent
from usi_engine.language import _
from usi_engine.records.ends import BY_REASON, result_text, sentence
from usi_engine.records.games import Game
from usi_engine.records.kif import sides
from usi_engine.records.position import EVEN, HANDICAP_NAMES, OTHER_STARTS, STARTS
from usi_engine.records.tree import Node, Record, Step
from usi_engine.search.results import Score
from usi_engine.usi.output import printable

if TYPE_CHECKING:
    from core_ext.board import Board

# English names of KIF's header keys, in the order in which an analysis shows them.
HEADERS = {
    "棋戦": "Event", "場所": "Place", "開始日時": "Started", "終了日時": "Ended", "持ち時間": "Time control",
    "消費時間": "Time used", "手合割": "Handicap", "戦型": "Opening", "表題": "Title", "備考": "Remarks",
}  # fmt: skip
MARKS = str.maketrans("▲△", "☗☖")
# Values in pawns. A promoted piece other than a tokin counts as the piece that its captor gets.
WORTH = {"P": 1, "L": 3, "N": 3, "S": 5, "+P": 5, "G": 6, "B": 8, "R": 10}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PIECE = 3  # pawns; a smaller loss does not explain a mistake
PLIES = 12  # of a line, at most, that are played out
EVEN_CHANCE = 50.0  # percent


def marked(move: str) -> str:
    """Return the text of a move with the piece-shaped marks that pages use."""
    return move.translate(MARKS)


def is_japanese() -> bool:
    """Return True if messages are Japanese."""
    return language.chosen() == "ja"


def score_text(score: Score) -> str:
    """Return signed centipawns, or `mate 5`, `mate -5` if the opponent mates."""
    if score.mate is None:
        return f"{score.cp:+d}"
    if not score.mate:
        return _("mate")
    return (_("mate {plies}") if score.mate > 0 else _("mate -{plies}")).format(plies=abs(score.mate))


def side_names(record: Record) -> tuple[str, str]:
    """Return the names of Black and White."""
    return sides(record) if is_japanese() else ("Black", "White")


def player_names(game: Game) -> tuple[str, str]:
    """Return the players, or the sides if the record does not name them."""
    black, white = (player or side for player, side in zip(game.players, side_names(game), strict=True))
    return black, white


def grade_name(grade: Grade | None) -> str:
    """Return the name of a grade; empty for None."""
    if grade is None:
        return ""
    return grade.japanese if is_japanese() else grade.name


def headers(game: Game) -> list[tuple[str, str]]:
    """Return the record's header with the handicap, without the players."""
    values = dict(game.header)
    handicap = HANDICAP_NAMES.get(game.start)
    if handicap and handicap != EVEN:
        values["手合割"] = handicap if is_japanese() else english_handicap(handicap)
    known = [key for key in HEADERS if values.get(key)]
    others = [key for key in values if values[key] and key not in (*HEADERS, "先手", "後手", "下手", "上手")]
    return [(header_name(key), printable(values[key])) for key in (*known, *others)]


def english_handicap(name: str) -> str:
    """Return English words for what White plays without."""
    start = (STARTS | OTHER_STARTS).get(name.replace("得", "落ち"))
    return start[2] + " (given to Black)" * name.endswith("得") if start else "pawns, as Black does"


def header_name(key: str) -> str:
    """Return the key of KIF's header in the language of messages."""
    return printable(key if is_japanese() else HEADERS.get(key, key))


def end_text(record: Record) -> str:
    """Return how the game ended; empty if the record does not say."""
    if record.end is None:
        return ""
    plies = len(record.moves)
    turn, names = record.turn(plies), side_names(record)
    if is_japanese():
        return f"まで{plies}手で{printable(result_text(record.end, turn, names))}"
    return printable(sentence(record.end, turn, names))


# ---- explanations ----


def explanations(step: Step, names: tuple[str, str]) -> list[str]:
    """Return sentences about a move and its position, `names` being those of the sides; none if all is usual."""
    score, move, sentences = black_score(step.node), judge(step.node), list[str]()
    if score and is_by_rule(score):
        sentences.append(_(BY_REASON["declaration"].sentence).format(winner=names[score.value < 0]))
    if move is None:
        return sentences
    missed = [_("Missed mate in {plies}.").format(plies=move.missed_mate)] if move.missed_mate else []
    if not missed and move.grade is None:
        return sentences
    return sentences + ([*missed, *mate_allowed(step.node)] or material_sentences(step))


def mate_allowed(node: Node) -> Iterator[str]:
    """Yield the sentence about a mate that the move allows, if there is one."""
    assert node.analysis and node.parent and node.parent.analysis
    plies = node.analysis.score.mate or 0
    if plies > 0:
        sudden = percent(node.parent.analysis.score.value) >= EVEN_CHANCE
        yield (_("Walked into mate in {plies}.") if sudden else _("Allows mate in {plies}.")).format(plies=plies)


def material_sentences(step: Step) -> list[str]:
    """Return a sentence about material that the move lost, or that the better line would have won."""
    node, board = step.node, step.before
    assert node.analysis and node.parent and node.parent.analysis
    played = captures(board, [node.move, *node.analysis.pv])
    better = captures(board, node.parent.analysis.pv)
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
        text = _("a {piece}") if count == 1 else _("{count} {piece}s")
        names.append(text.format(count=count if is_japanese() else in_letters(count), piece=name))
    return _(" and ").join(names)


def in_letters(count: int) -> str:
    """Return a number of pieces in English, up to nine by its word."""
    return NUMBERS[count] if count < len(NUMBERS) else f"{count}"


def piece_name(letter: str) -> str:
    """Return the name of a piece by its letter, `+P` for a tokin."""
    names = {
        "P": _("pawn"), "L": _("lance"), "N": _("knight"), "S": _("silver"), "G": _("gold"), "B": _("bishop"),
        "R": _("rook"), "+P": _("tokin"),
    }  # fmt: skip
    return names[letter]
