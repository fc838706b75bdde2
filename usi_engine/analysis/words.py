"""Words of an analysis in the language of messages: values, sides, grades, headers, ends."""

from collections.abc import Mapping

from usi_engine import language
from usi_engine.analysis.judgement import Grade
from usi_engine.language import _
from usi_engine.records.ends import result_text, sentence
from usi_engine.records.games import Game
from usi_engine.records.kif import sides
from usi_engine.records.position import EVEN, HANDICAP_NAMES, OTHER_STARTS, STARTS
from usi_engine.records.tree import Record
from usi_engine.search.results import Score
from usi_engine.usi.output import printable

# English names of KIF's header keys, in the order in which an analysis shows them.
HEADERS = {
    "棋戦": "Event", "場所": "Place", "開始日時": "Started", "終了日時": "Ended", "持ち時間": "Time control",
    "消費時間": "Time used", "手合割": "Handicap", "戦型": "Opening", "囲い": "Castles", "表題": "Title",
    "備考": "Remarks",
}  # fmt: skip
MARKS = str.maketrans("▲△", "☗☖")


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


def headers(game: Game, found: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the record's header with the handicap and what else was found, without the players."""
    values = {**found, **game.header}
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
