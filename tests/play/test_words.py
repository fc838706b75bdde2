"""Words of the dialogue: Japanese and short forms, suggestions, questions at the start."""

from collections.abc import Iterator

import pytest

from usi_engine.columns import cells
from usi_engine.play import words


@pytest.mark.parametrize(
    ("line", "command", "rest"),
    [
        ("undo", "undo", ""), ("UNDO", "undo", ""), ("ｕｎｄｏ", "undo", ""), ("待った", "undo", ""),
        ("まった", "undo", ""),
        ("投了", "resign", ""), ("参りました", "resign", ""), ("ヒント", "hint", ""), ("ﾋﾝﾄ", "hint", ""),
        ("？", "help", ""),
        ("レベル７", "level", "7"), ("レベル ７", "level", "７"), ("level7", "level", "7"), ("level", "level", ""),
        ("保存　対局 1.kif", "save", "対局 1.kif"), ("save  a b", "save", "a b"), ("棋譜", "moves", ""),
        ("終了", "quit", ""), ("入玉宣言", "declare", ""), ("", "", ""), ("７六歩", "", ""), ("76歩", "", ""),
        ("同　銀", "", "銀"),
    ],
)  # fmt: skip
def test_commands(line: str, command: str, rest: str) -> None:
    assert words.split_command(line) == (command, rest)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("reisgn", "resign"), ("quti", "quit"), ("hnit", "hint"), ("MOVSE", "moves"), ("ｕｎｏｄ", "undo"),
        ("投料", "投了"),
        ("ヒンと", "ヒント"), ("xyzzy", ""), ("b7", ""), ("棋力表", "棋力"), ("7g7", ""),
    ],
)  # fmt: skip
def test_suggestions(word: str, meant: str) -> None:
    assert words.nearest(word) == meant


def test_words_are_unique_and_as_they_are_compared() -> None:
    assert len(words.NAMES) == sum(len(others) + 1 for others in words.COMMANDS.values())
    assert [word for word in words.NAMES if words.plain(word) != word] == []


def test_the_list_of_commands_fits_80_columns() -> None:
    assert max(map(cells, words.help_text().splitlines())) < 80


class Dialogue:
    """Scripted answers, and what was said."""

    def __init__(self, answers: str) -> None:
        self._answers: Iterator[str] = iter(answers.split("/"))
        self.said: list[str] = []

    def read(self, prompt: str) -> str:
        self.said.append(prompt)
        return next(self._answers)

    def say(self, text: str) -> None:
        self.said.append(text)


@pytest.mark.parametrize(("answers", "level"), [("", 5), ("0", 0), ("２０", 20), ("21/-1/x/12", 12), ("1", 1)])
def test_level(answers: str, level: int) -> None:
    dialogue = Dialogue(answers)
    assert words.ask_level(dialogue.read, dialogue.say, 5) == level
    assert dialogue.said.count("'21' is not an answer; numbers from 0 to 20 are") == ("21" in answers)


@pytest.mark.parametrize(
    ("answers", "side", "said"),
    [
        ("", "black", ""), ("w", "white", ""), ("B", "black", ""), ("bo", "both", ""), ("後手", "white", ""),
        ("振り駒", "random", ""), ("wihte/white", "white", "'wihte' is not an answer; did you mean white?"),
        ("q/black", "black", "'q' is not an answer; Enter takes the answer in brackets"),
    ],
)  # fmt: skip
def test_side(answers: str, side: str, said: str) -> None:
    dialogue = Dialogue(answers)
    assert words.ask_side(dialogue.read, dialogue.say) == side
    assert not said or said in dialogue.said


@pytest.mark.parametrize(
    ("answers", "handicap"),
    [("", "none"), ("two", "two"), ("２枚落ち", "two"), ("二枚", "two"), ("平手", "none"), ("rook", "rook"),
     ("飛香", "rook-lance"), ("2/ten", "ten")],
)  # fmt: skip
def test_handicap(answers: str, handicap: str) -> None:
    dialogue = Dialogue(answers)
    assert words.ask_handicap(dialogue.read, dialogue.say) == handicap
