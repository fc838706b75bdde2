"""Short texts of every format: what each is read as, and that each format holds it; what is written.

tests/data/record_texts has a file for each format. A line `=== JSON` before each text has what it is read as.
"""

import json
import re
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import pytest

from core_ext.board import Board
from tests.positions import described_rows
from tests.records.common import MOVES, RECORDS, game_of, items_of
from usi_engine import language
from usi_engine.records import csa, jkf, kif, usi_text
from usi_engine.records.csa import control_of, words_of
from usi_engine.records.ends import End
from usi_engine.records.faults import FaultyText
from usi_engine.records.formats import FORMATS, text_of
from usi_engine.records.tree import Node, Record

FOLDER = RECORDS.parent / "record_texts"
START = Board().sfen()
EVEN = "手合割：平手\n"


class Text(NamedTuple):
    """A text of a format; what it is read as."""

    kind: str
    text: str
    expected: dict[str, Any]


def texts_of(kind: str) -> list[Text]:
    """The texts of a format."""
    parts = (FOLDER / f"{kind}.txt").read_bytes().decode("utf-8").split("=== ")[1:]
    heads = [part.partition("\n") for part in parts]
    return [Text(kind, text, json.loads(head)) for head, _, text in heads]


TEXTS = [text for kind in FORMATS for text in texts_of(kind)]


def read_as(kind: str, text: str) -> dict[str, Any]:
    """The record as JSON that a text is read as, or the error."""
    try:
        return described(FORMATS[kind].read(text))
    except FaultyText as error:
        return {"error": str(error)}


def described(record: Record) -> dict[str, Any]:
    """A record without what is usual: start, lines of moves, details of nodes and ends, result, header, fault."""
    lines, details = list[str](), list[list[Any]]()
    for step in record.walk():
        if step.ply == 1 or step.begins_variation:
            lines.append(f"{step.ply}")
        lines[-1:] = [f"{line} {step.node.move}" for line in lines[-1:]]
        owners: list[Node | End] = [step.node, *([step.node.end] if step.node.end else [])]
        for owner in owners:
            own = [owner.name, owner.word] if isinstance(owner, End) else []
            if own or (owner.milliseconds, owner.comment) != (None, None):
                details.append([f"{step.ply} {step.node.move}".strip(), *own, owner.milliseconds, owner.comment])
    found = {
        "start": "" if record.start == START else record.start, "lines": lines, "details": details,
        "result": record.result, "header": record.header, "fault": record.fault.text() if record.fault else "",
    }  # fmt: skip
    return {key: value for key, value in found.items() if value or value == 0}


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.kind)
def test_a_text_is_read(text: Text) -> None:
    assert read_as(text.kind, text.text) == text.expected


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_writes_what_was_read(kind: str) -> None:
    """`text_of` compares what it reads back; KIF holds all but fractions of a second."""
    for text in TEXTS:
        if "error" in text.expected or "\r" in text.text:
            continue
        record = FORMATS[text.kind].read(text.text)
        written = text_of(record, kind)
        if kind == "kif" and text.kind in ("kif", "ki2"):
            again = read_as(kind, written)
            assert again == {key: value for key, value in text.expected.items() if key != "fault"}
        if kind == text.kind:
            assert text_of(FORMATS[kind].read(written), kind) == written


def by_lines(kind: str, text: str) -> Record:
    """Read a text line by line, without what readers do for many lines at once."""
    reader: Any = csa.Reader() if kind == "csa" else kif.Reader()
    for line in text.split("\n"):
        (reader.feed if kind == "csa" else reader.read_line)(line)
    return cast(Record, reader.finish())


@pytest.mark.parametrize("kind", ["csa", "kif"])
def test_many_lines_are_read_as_each_line(kind: str) -> None:
    """A game with lines of every kind put in, exchanged, repeated, removed or damaged."""
    random, game = Random(1), game_of(RECORDS / f"game.{kind}")
    for number, node in enumerate(game.main_line):
        node.milliseconds, node.comment = number * 1000, "a" if number % 4 == 1 else None
    whole = text_of(game, kind).split("\n")
    others = [line for text in texts_of(kind) for line in text.text.split("\n")]
    for _ in range(400):
        lines = whole.copy()
        for _ in range(random.randrange(1, 4)):
            first, second = random.randrange(len(lines)), random.randrange(len(lines))
            place = random.randrange(len(lines[first]) + 1)
            damaged = lines[first][:place] + random.choice("+-%*T019７六(): 打成同　/\t") + lines[first][place + 1 :]
            changed = [random.choice(others), lines[second], lines[first] * 2, damaged, lines[first] + "+"]
            lines[first : first + random.randrange(2)] = random.choices(changed, k=random.randrange(3))
            lines = lines or [""]
        text = "\n".join(lines)
        found = []
        for read in (FORMATS[kind].read, lambda text: by_lines(kind, text)):
            try:
                found.append(described(read(text)))
            except FaultyText as error:
                found.append({"error": str(error)})
        assert found[0] == found[1], text


def test_files() -> None:
    """The games and faults of each file of RECORDS."""
    expected = json.loads((FOLDER / "files.json").read_text(encoding="utf-8"))
    found = {path.name: items_of(path, described) for path in sorted(RECORDS.iterdir())}
    assert found == expected


@pytest.mark.parametrize(
    "line",
    [
        "▲{}x",
        "▲７六歩{}x",
        "   1 {}x",
        "   1 ７六歩(77){}x",
        "   1 ７六歩(77) ({}x",
        "|{}|",
        "先手の持駒：{}x",
        "変化：{}x",
    ],
)
def test_time_is_linear(line: str) -> None:
    """The texts took up to 27 s."""
    begun = time.process_time()
    for text in (line.format(space * 100_000) for space in " 　(▲"):
        for head in ("", EVEN + "   1 ７六歩(77)\n"):
            try:
                FORMATS["kif"].read(head + text)
            except FaultyText:
                continue
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("kind", ["csa", "jkf", "usi"])
def test_positions_of_games_are_read_back(kind: str) -> None:
    board = Board()
    for move in MOVES:
        board.push(move)
        start = " ".join([*board.sfen().split()[:3], "1"])
        assert FORMATS[kind].read(FORMATS[kind].write(Record(start))).start == start


@pytest.mark.parametrize("comment", ["a", "", "  a\n\n b ", "** 30 -3334FU +2726FU", "* a", "'a", "%TORYO", "/", "▲"])
def test_comments_are_kept_by_the_letter(comment: str) -> None:
    record = csa.read("PI\n+\n+7776FU\n%TORYO\n")
    record.root.comment = record.main_line[0].comment = comment
    assert record.end is not None
    record.end.comment = comment
    for kind in (csa, jkf):
        again = kind.read(kind.write(record))
        assert again.end is not None
        assert [again.root.comment, again.main_line[0].comment, again.end.comment] == [comment] * 3


@pytest.mark.parametrize(("words", "line", "again"), described_rows("time_controls.jsonl"))
def test_time_controls(words: str, line: str, again: str | None) -> None:
    record = csa.read("PI\n+\n+7776FU\n")
    record.header["持ち時間"] = words
    text = csa.write(record)
    assert line in text.splitlines()
    assert ("V3.0" in text.splitlines()) == line.startswith("$TIME:")
    assert csa.read(text).header["持ち時間"] == (again or words)
    control = control_of(words)
    assert control is None or control_of(words_of(control)) == control


@pytest.mark.parametrize(("line", "members"), described_rows("jkf_moves.jsonl"))
def test_moves_of_jkf_say_what_the_position_tells(line: str, members: dict[str, Any]) -> None:
    move = json.loads(jkf.write(usi_text.read(line)))["moves"][-1]["move"]
    assert {key: value for key, value in move.items() if key not in ("color", "from", "to", "piece")} == members


def test_line_ends_in_a_header_end_no_game(tmp_path: Path) -> None:
    source, out = tmp_path / "a.jkf", tmp_path / "a.csa"
    values = {"先手": "a\n/\nPI\n+\n+2726FU", "備考\n%TORYO": "b\r\nN-c"}
    source.write_text(json.dumps({"header": values, "moves": [{}, {"special": "TORYO"}]}), encoding="utf-8")
    out.write_text(csa.write(game_of(source).record), encoding="utf-8")
    game = game_of(out)
    assert (game.count, game.moves, game.players) == (1, (), ("a / PI + +2726FU", ""))


@pytest.mark.parametrize(
    ("kind", "text"), [("csa", "P-51OU\nP+59OU49OU\n+\n+7776FU\n"), ("usi", "sfen 4k4/9/9/9/9/9/9/9/4KK3 b - 1")]
)
def test_faults_of_the_start_are_translated(kind: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog has the messages of the core without what they quote."""
    japanese = {"two kings of one colour in '{0}'": "玉が 2 枚：'{0}'"}
    monkeypatch.setattr(language, "_translate", lambda text: japanese.get(text, text))
    with pytest.raises(FaultyText, match=re.escape("玉が 2 枚：'4k4/9/9/9/9/9/9/9/4KK3 b - 1'")):
        FORMATS[kind].read(text)
