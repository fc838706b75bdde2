"""How games end: one table with the words of rules, formats and languages, and the winner that each word tells."""

import re
from dataclasses import dataclass

from core_ext.shogi.notation import SIDE_MARKS
from usi_engine import rules
from usi_engine.language import _

# The winner or loser in the words of an end that has no name in CSA.
WINNER = re.compile(r"([先後上下])手の?(?:(?:時間)?切れ|切断|入玉|宣言|不戦|反則)*(?:勝|(負|敗|投了))")
# The text after `まで120手で`.
RESULT = re.compile(r"(時間切れ(?:により|にて|で)?、?)?([先後上下])手の?(反則|入玉|(?:時間)?切れ)?(?:(勝)ち?|負け?)。?")
FOUL = "ILLEGAL_ACTION"  # CSA puts the sign of the side that broke a rule before it
# CSA's name of the end of a game that was broken off; every format has it.
INTERRUPTED = "CHUDAN"


@dataclass
class End:
    """The end of a line of moves.

    `name` is CSA's without `%` (TORYO, CHUDAN, TSUMI, -ILLEGAL_ACTION, ...), empty if CSA has none that fits. `word`
    is the record's own, if the name does not say all (封じ手 is a CHUDAN). `milliseconds` is the time of the player to
    move.
    """

    name: str
    word: str = ""
    milliseconds: int | None = None
    comment: str | None = None


@dataclass(frozen=True)
class EndKind:
    """A way to end a game, and its words.

    `sentence` is English; `reason` is the key of rules.End. `value` is 1 if the side to move wins, -1 if it loses, 0
    for a draw, None for no result. `name` is CSA's; `word` is KIF's; `result` is KI2's after `まで120手で` if that is
    another one; `others` are words of KIF with this meaning, which are kept. `usi` are words after the last move of
    USI text. `jkf` is the name there if JKF lacks CSA's, `-` if none fits.
    """

    sentence: str
    reason: str
    value: int | None
    name: str
    word: str
    result: str = ""
    others: tuple[str, ...] = ()
    usi: tuple[str, ...] = ()
    jkf: str = ""


# The first one with a name or word has it.
KINDS = (
    EndKind("{winner} wins by resignation.", "resignation", -1, "TORYO", "投了", "{other}の勝ち", usi=("resign",)),
    EndKind("{winner} wins: the king is mated.", "checkmate", -1, "TSUMI", "詰み", usi=("mate",)),
    EndKind("{winner} wins: no legal move is left.", "no moves", -1, "TSUMI", "詰み"),
    EndKind("{winner} wins on time.", "time", -1, "TIME_UP", "切れ負け", "時間切れにより{other}の勝ち",
            ("時間切れ", "Time-up", "TIME-UP", "時間切れ負け"), ("timeout",)),
    EndKind("{winner} wins: an illegal move loses.", "illegal move", -1, "ILLEGAL_MOVE",
            "反則負け", "{mover}の反則負け", ("反則",), ("rep_lose",)),
    EndKind("{winner} wins: perpetual check loses.", "perpetual check", -1, "ILLEGAL_MOVE", "反則負け"),
    EndKind("{winner} wins: an illegal move loses.", "illegal action", 1, FOUL,
            "反則勝ち", "{mover}の反則勝ち", usi=("rep_win",)),
    EndKind("{winner} wins by declaration (entering king).", "declaration", 1, "KACHI",
            "入玉勝ち", "{mover}の入玉勝ち", ("宣言勝ち", "入玉宣言勝ち"), ("win",)),
    EndKind("{winner} wins: the king has reached its goal.", "try", 1, "KACHI", "入玉勝ち"),
    EndKind("A draw by fourfold repetition.", "repetition", 0, "SENNICHITE", "千日手", usi=("rep_draw",)),
    EndKind("A draw by impasse.", "impasse", 0, "JISHOGI", "持将棋", usi=("impasse",)),
    EndKind("A draw.", "draw", 0, "HIKIWAKE", "引き分け", others=("引分", "引分け"), usi=("draw",)),
    EndKind("A draw by the limit of moves.", "move limit", 0, "MAX_MOVES", "最大手数",
            usi=("max_moves",), jkf="HIKIWAKE"),
    # `rep_inf` and `rep_sup` (a position repeated with fewer or more pieces in hand) end a search, not a game.
    EndKind("The game was broken off.", "interrupted", None, INTERRUPTED, "中断",
            others=("封じ手",), usi=("break", "interrupt", "rep_inf", "rep_sup")),
    EndKind("There is no mate.", "no mate", None, "FUZUMI", "不詰", usi=("nomate",)),
    EndKind("A move was taken back.", "taken back", None, "MATTA", "待った"),
    EndKind("The game was broken off by an error.", "error", None, "ERROR", "エラー"),
    EndKind("Perpetual check.", "perpetual", None, "OUTE_SENNICHITE", "連続王手の千日手", jkf="-"),
    EndKind("{winner} wins by default.", "walkover", 1, "", "不戦勝"),
    EndKind("{winner} wins by default.", "default", -1, "", "不戦敗"),
)  # fmt: skip
BY_REASON = {kind.reason: kind for kind in KINDS}
BY_NAME = {kind.name: kind for kind in reversed(KINDS)}
BY_WORD = {word: kind for kind in reversed(KINDS) for word in (kind.word, *kind.others)} | {"詰": BY_NAME["TSUMI"]}
BY_USI = {word: kind for kind in KINDS for word in kind.usi}
# Ends that the side to move loses.
LOSSES = {kind.name for kind in KINDS if kind.value == -1} - {""}
CSA_NAMES = {*BY_NAME, f"+{FOUL}", f"-{FOUL}"} - {"", FOUL}


def end_of(end: rules.End, turn: int) -> End:
    """Return the end of a game in its record; `turn` is the side to move.

    Of a loss of the other side, CSA has only those by breaking a rule; other games end as interrupted.
    """
    kind = BY_REASON[end.reason]
    if end.winner is None or (end.winner == turn) == (kind.value == 1):
        return End(kind.name)
    return End("+-"[1 - end.winner] + FOUL if kind.name == "ILLEGAL_MOVE" else INTERRUPTED)


def kind_of(end: End, turn: int) -> EndKind | None:
    """Return the kind of an end if this side is to move; None if its words tell none."""
    if end.name.endswith(FOUL):
        return BY_NAME["ILLEGAL_MOVE" if end.name[0] == "+-"[turn] else FOUL]
    return BY_NAME[end.name] if end.name else BY_WORD.get(end.word)


def named(kind: EndKind, turn: int, word: str = "") -> End:
    """Return an end of a kind, with the record's own word, if this side is to move."""
    return End("+-"[1 - turn] + FOUL if kind.name == FOUL else kind.name, word)


def result_of(end: End, turn: int) -> int | None:
    """Return 1 if Black won, -1 if White won, 0 for a draw, None if it does not say; `turn` is the side to move."""
    kind = kind_of(end, turn)
    if kind is None and (words := WINNER.search(end.word)):
        return 1 if (words[1] in "先下") == (words[2] is None) else -1
    return None if kind is None or kind.value is None else kind.value * (1, -1)[turn]


def end_of_word(word: str, turn: int) -> End:
    """Return the end that a word of KIF means if this side is to move."""
    kind = BY_WORD.get(word)
    if kind is None or not kind.name:
        return End("", word)
    return named(kind, turn, word if word in kind.others else "")


def end_of_result(text: str, turn: int) -> End:
    """Return the end that a word or the text after `まで120手で` means if this side is to move."""
    for marks, side in zip(SIDE_MARKS, "先後", strict=True):
        text = re.sub(f"^[{marks}]", f"{side}手", text)
    match = RESULT.fullmatch(text)
    if not match:
        return end_of_word(text, turn)
    late, side, cause, wins = match.groups()
    mover_wins = ((side in "後上") == (turn == 1)) == (wins is not None)
    if cause == "反則":
        return end_of_word("反則勝ち" if mover_wins else "反則負け", turn)
    if mover_wins != (cause == "入玉"):
        return End("", text)
    return End("KACHI" if cause == "入玉" else "TIME_UP" if late or cause else "TORYO")


def word_of(end: End, turn: int) -> str:
    """Return the word of an end in KIF."""
    kind = kind_of(end, turn)
    return end.word or (kind.word if kind else end.name)


def result_text(end: End, turn: int, names: tuple[str, str]) -> str:
    """Return what follows `まで120手で`; `names` of the sides are 先手 and 後手, or 下手 and 上手."""
    kind = kind_of(end, turn)
    if end.word or kind is None:
        return end.word or end.name
    return (kind.result or kind.word).format(mover=names[turn], other=names[1 - turn])


def jkf_name(name: str) -> str:
    """Return JKF's name of an end with this name of CSA; empty if it has none."""
    kind = BY_NAME.get(name.lstrip("+-"))
    return "" if kind is None or kind.jkf == "-" else kind.jkf or name


def sentence(end: End, turn: int, names: tuple[str, str]) -> str:
    """Return the end as a sentence in the language of messages; `names` are those of Black and White."""
    kind = kind_of(end, turn)
    if kind is None:
        return end.word or end.name
    return _(kind.sentence).format(winner=names[turn if kind.value == 1 else 1 - turn])
