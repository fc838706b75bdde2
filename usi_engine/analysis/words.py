"""Words of an analysis in the language of messages: sides, grades, headers, ends, pieces."""

from __future__ import annotations

from usi_engine import language
from usi_engine.analysis.judgement import Grade
from usi_engine.language import _
from usi_engine.records.bod import HANDICAP_NAMES, HANDICAPS
from usi_engine.records.games import Game
from usi_engine.records.kakinoki import result_text, sides
from usi_engine.usi.output import printable

# English names of KIF's header keys, in the order in which an analysis shows them.
HEADERS = {
    "棋戦": "Event", "場所": "Place", "開始日時": "Started", "終了日時": "Ended", "持ち時間": "Time control",
    "消費時間": "Time used", "手合割": "Handicap", "戦型": "Opening", "表題": "Title", "備考": "Remarks",
}  # fmt: skip
HANDICAP_WORDS = {
    "香落ち": "lance", "右香落ち": "right lance", "角落ち": "bishop", "飛車落ち": "rook", "飛香落ち": "rook and lance",
    "二枚落ち": "two pieces", "三枚落ち": "three pieces", "四枚落ち": "four pieces", "五枚落ち": "five pieces",
    "左五枚落ち": "five pieces", "六枚落ち": "six pieces", "左七枚落ち": "seven pieces", "右七枚落ち": "seven pieces",
    "八枚落ち": "eight pieces", "十枚落ち": "ten pieces",
}  # fmt: skip
MARKS = str.maketrans("▲△", "☗☖")


def marked(move: str) -> str:
    """Return the text of a move with the piece-shaped marks that pages use."""
    return move.translate(MARKS)


def is_japanese() -> bool:
    """Return True if messages are Japanese."""
    return language.chosen() == "ja"


def side_names(game: Game) -> tuple[str, str]:
    """Return the names of Black and White."""
    return sides(game.record) if is_japanese() else ("Black", "White")


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
    values = dict(game.record.header)
    handicap = HANDICAP_NAMES.get(game.start)
    if handicap and game.start != HANDICAPS["平手"]:
        values["手合割"] = handicap if is_japanese() else HANDICAP_WORDS[handicap]
    known = [key for key in HEADERS if values.get(key)]
    others = [key for key in values if values[key] and key not in (*HEADERS, "先手", "後手", "下手", "上手")]
    return [(header_name(key), printable(values[key])) for key in (*known, *others)]


def header_name(key: str) -> str:
    """Return the key of KIF's header in the language of messages."""
    return printable(key if is_japanese() else HEADERS.get(key, key))


def end_text(game: Game) -> str:
    """Return how the game ended; empty if the record does not say."""
    end = game.record.end
    if end is None:
        return ""
    turn, names = (game.start.split()[1] == "w") ^ len(game.moves) % 2, side_names(game)
    if is_japanese():
        return f"まで{len(game.moves)}手で{printable(result_text(end, turn, names))}"
    mover, other = names[turn], names[1 - turn]
    if end.name.endswith("ILLEGAL_ACTION"):
        return f"illegal move by {names['+-'.index(end.name[0])]}"
    words = {
        "TORYO": f"{mover} resigned", "TSUMI": f"{mover} is checkmated", "TIME_UP": f"{mover} ran out of time",
        "KACHI": f"{mover} won by declaration", "SENNICHITE": "draw by repetition", "JISHOGI": "draw by impasse",
        "HIKIWAKE": "draw", "CHUDAN": "broken off", "ILLEGAL_MOVE": f"illegal move by {mover}",
        "MAX_MOVES": "move limit reached", "FUZUMI": "no mate", "MATTA": f"{other} took a move back",
        "ERROR": "broken off by an error",
    }  # fmt: skip
    return words.get(end.name) or printable(end.word or end.name)


def piece_name(letter: str) -> str:
    """Return the name of a piece by its letter, `+P` for a tokin."""
    names = {
        "P": _("pawn"), "L": _("lance"), "N": _("knight"), "S": _("silver"), "G": _("gold"), "B": _("bishop"),
        "R": _("rook"), "+P": _("tokin"),
    }  # fmt: skip
    return names[letter]
