"""Questions before a game on a terminal: level, side and handicap, if the command line does not name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from usi_engine.language import _
from usi_engine.play.words import nearest, plain
from usi_engine.search.skill import FULL_STRENGTH

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
        advice = _("did you mean {word}?").format(word=word) if word else _("Enter takes the answer in brackets")
        say(_("'{text}' is not an answer; {advice}").format(text=typed, advice=advice))
