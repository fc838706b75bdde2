"""Words of the dialogue: commands and answers, their Japanese and short forms, the list of commands, suggestions."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping

from usi_engine.language import _
from usi_engine.search.results import Score
from usi_engine.search.skill import FULL_STRENGTH

# Japanese words are written in NFKC, as `plain` returns them.
COMMANDS = {
    "undo": ("u", "待った", "まった", "戻す"),
    "hint": ("h", "ヒント", "ひんと"),
    "flip": ("反転", "盤面反転"),
    "board": ("b", "d", "盤", "盤面", "局面"),
    "level": ("レベル", "棋力", "強さ"),
    "swap": ("交代", "手番交代", "先後交代"),
    "moves": ("棋譜", "指し手"),
    "save": ("保存", "棋譜保存"),
    "resign": ("投了", "とうりょう", "参りました", "負けました", "まいりました", "まけました"),
    "declare": ("宣言", "入玉宣言", "宣言勝ち"),
    "new": ("新規", "新規対局", "再戦", "もう一局"),
    "help": ("?", "ヘルプ", "へるぷ"),
    "quit": ("q", "exit", "終了", "終わり", "やめる"),
}
NAMES = {word: name for name, others in COMMANDS.items() for word in (name, *others)}
JOINED = re.compile(r"(\D+)(\d+)")  # a word and its number without a space, as in レベル５
# Least similarity of a mistyped word, from 0 to 1. Half of a Japanese word of two letters may be wrong.
LIKE, LIKE_JAPANESE = 0.66, 0.5


def plain(word: str) -> str:
    """Return a word in lower case, its letters in their usual width."""
    return unicodedata.normalize("NFKC", word).lower()


def command_named(word: str) -> str:
    """Return the command that a word names; empty if there is none."""
    return NAMES.get(plain(word), "")


def split_command(line: str) -> tuple[str, str]:
    """Return the command at the beginning of a line (empty if there is none) and the rest of the line."""
    word, *rest = line.split(maxsplit=1) or [""]
    joined = JOINED.fullmatch(plain(line))
    name = command_named(word)
    if not name and joined and command_named(joined[1]) == "level":
        return "level", joined[2]
    return name, rest[0] if rest else ""


def nearest(word: str, known: Iterable[str] = NAMES) -> str:
    """Return the known word that a mistyped one resembles most; empty if none does."""
    typed = plain(word)
    candidates = [one for one in known if len(one) > 1 and one.isascii() == typed.isascii()]
    found = difflib.get_close_matches(typed, candidates, 1, LIKE if typed.isascii() else LIKE_JAPANESE)
    return found[0] if found else ""


def advice_on(text: str) -> str:
    """Return the advice for text that is not understood."""
    word = nearest(text.split(maxsplit=1)[0])
    return _("did you mean {word}?").format(word=word) if word else _("help lists the commands")


def help_text() -> str:
    """Return the list of notations and commands."""
    return _("""Moves: 7g7f, 8h2b+, P*5e; 7776FU; ７六歩, 76歩, 同銀, ５八金右, ２二角成
undo        take your last move back
hint        what the engine would play at full strength
board       show the board again
flip        turn the board
moves       list the moves so far
level N     change the level (0 to 20)
swap        change sides
save FILE   save as KIF, or in another format by the suffix
resign      resign
declare     win by declaration (entering king)
new         another game
quit        end (also Ctrl-C, Ctrl-D)""")


def value_text(score: Score | None) -> str:
    """Return a score in words; empty if there is none."""
    if score is None:
        return ""
    if score.cp is not None:
        return _("{pawns:+.1f} pawns").format(pawns=score.cp / 100, centipawns=score.cp)
    text = _("mated in {plies} plies") if score.value < 0 else _("mate in {plies} plies")
    return text.format(plies=abs(score.mate or 0))


Read = Callable[[str], str]
Say = Callable[[str], None]
# Words for each answer; an answer may also be shortened.
SIDES = {
    "black": ("先手", "黒", "下手"), "white": ("後手", "白", "上手"), "random": ("振り駒", "ランダム"),
    "both": ("両方", "二人"),
}  # fmt: skip
HANDICAPS = {
    "none": ("平手", "なし"), "lance": ("香落ち",), "bishop": ("角落ち",), "rook": ("飛車落ち", "飛落ち"),
    "rook-lance": ("飛香落ち",), "two": ("二枚落ち", "2枚落ち"), "four": ("四枚落ち", "4枚落ち"),
    "six": ("六枚落ち", "6枚落ち"), "eight": ("八枚落ち", "8枚落ち"), "ten": ("十枚落ち", "10枚落ち"),
}  # fmt: skip
LEVELS: dict[str, tuple[str, ...]] = {str(level): () for level in range(FULL_STRENGTH + 1)}


def ask_level(read: Read, say: Say, default: int) -> int:
    """Return the level that the person chooses. EOFError."""
    prompt = _("Level, 0 (weakest) to {most} (full strength) [{default}]: ").format(most=FULL_STRENGTH, default=default)
    return int(ask(read, say, prompt, LEVELS, str(default)))


def ask_side(read: Read, say: Say) -> str:
    """Return the side that the person chooses, a key of SIDES. EOFError."""
    return ask(read, say, _("Your side: black, white, random or both (two people) [black]: "), SIDES, "black")


def ask_handicap(read: Read, say: Say) -> str:
    """Return the handicap that the person chooses, a key of HANDICAPS. EOFError."""
    say(_("Handicaps: none, lance, bishop, rook, rook-lance, two, four, six, eight, ten"))
    return ask(read, say, _("White plays without [none]: "), HANDICAPS, "none")


def ask(read: Read, say: Say, prompt: str, answers: Mapping[str, tuple[str, ...]], default: str) -> str:
    """Ask until one of the answers is given; Enter takes the default. EOFError."""
    words = {word: answer for answer, others in answers.items() for word in (answer, *others)}
    while True:
        typed = plain(read(prompt).strip())
        if not typed:
            return default
        begun = [] if typed.isdigit() else [answer for word, answer in words.items() if word.startswith(typed)]
        if typed in words or begun:
            return words.get(typed) or begun[0]
        word = nearest(typed, words)
        numbers = [answer for answer in answers if answer.isdigit()]
        if word:
            advice = _("did you mean {word}?").format(word=word)
        elif numbers:
            advice = _("numbers from {first} to {last} are").format(first=numbers[0], last=numbers[-1])
        else:
            advice = _("Enter takes the answer in brackets")
        say(_("'{text}' is not an answer; {advice}").format(text=typed, advice=advice))
