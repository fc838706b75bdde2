"""Arbitrary input to the readers of commands, options and books: only their own errors are raised."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.shogi.slow_shogi import START
from usi_engine.book import yaneuraou
from usi_engine.book.entry import BookError, BookMove
from usi_engine.book.yaneuraou import MARK, YaneuraOuBook
from usi_engine.usi import protocol
from usi_engine.usi.options import DECLARED, Options
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import LONGEST_TIME, Go, Times, parse

fast = settings(max_examples=100, derandomize=True, deadline=None,
                suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip

NUMBERS = st.one_of(st.none(), st.integers(0, LONGEST_TIME))
COUNTS = st.one_of(st.none(), st.integers(1, 2**53))
WORDS = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=8)
GO_WORDS = protocol.TIMES | protocol.LIMITS | protocol.FLAGS | {"mate"}
KNOWN = sorted(
    {*protocol.READERS, *protocol.SIMPLE, *protocol.QUESTIONS, *GO_WORDS, "name", "value", "sfen", "startpos", "moves"}
)
LINES = st.one_of(
    st.text(),
    st.lists(st.one_of(st.sampled_from(KNOWN), WORDS, st.integers().map(str), st.floats().map(str))).map(" ".join),
)
GOES = st.builds(
    Go,
    st.builds(Times, NUMBERS, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    st.booleans(),
    st.booleans(),
    movetime=NUMBERS,
    depth=COUNTS,
    nodes=COUNTS,
    searchmoves=st.lists(WORDS.filter(lambda word: word not in GO_WORDS)).map(tuple),
)


def one_info_line(text: str) -> bool:
    """Return True if the writer makes one line of 7-bit ASCII of the text."""
    written = io.BytesIO()
    Writer(written).info(text)
    line = written.getvalue()
    single = line.isascii() and line.count(b"\n") == 1 and line.endswith(b"\n")
    return single and line.startswith(b"info string ") and b"  " not in line


def test_a_long_text_is_cut() -> None:
    assert all(one_info_line("x" * length + " y" * 1000) for length in (1, 2))


@fast
@given(st.one_of(st.binary(), LINES.map(str.encode), LINES.map(lambda line: line.encode("cp932", "replace"))))
def test_any_line_is_a_command(data: bytes) -> None:
    command = parse(protocol.decode(data))
    assert isinstance(command, protocol.Command)
    texts = [command.text] if isinstance(command, protocol.Malformed) else getattr(command, "faults", ())
    assert all(one_info_line(text) for text in texts)


def text_of(go: Go) -> str:
    words = ["go"] + [word for word in ("ponder", "infinite") if getattr(go, word)]
    limits = vars(go.times) | {name: getattr(go, name) for name in ("movetime", "depth", "nodes")}
    words += [f"{name} {number}" for name, number in limits.items() if number is not None]
    return " ".join(words + (["searchmoves", *go.searchmoves] if go.searchmoves else []))


@fast
@given(GOES)
def test_go_round_trip(go: Go) -> None:
    assert parse(text_of(go)) == go


@fast
@given(WORDS, st.text(st.characters(exclude_categories=["C"])).map(str.strip))
def test_setoption_round_trip(name: str, value: str) -> None:
    assert parse(f"setoption name {name} value {value}") == protocol.SetOption(
        name, "" if value in protocol.EMPTY_VALUES else value
    )


@fast
@given(st.lists(WORDS.filter(lambda word: word != "moves")))
def test_position_round_trip(moves: list[str]) -> None:
    assert parse(f"position sfen {START} moves {' '.join(moves)}") == protocol.SetPosition(START, tuple(moves))


@fast
@given(st.sampled_from(sorted(DECLARED)), st.one_of(st.text(), st.integers().map(str), st.floats().map(str)))
def test_any_value_of_an_option(name: str, text: str) -> None:
    """A refused value changes nothing; a value that is shown can be set again."""
    options = Options()
    before, refusal = options.shown(name), options.set(name, text)
    shown = options.shown(name)
    assert refusal is None or (shown == before and one_info_line(refusal))
    assert options.set(name, "" if shown == "<empty>" else shown) is None
    assert options.shown(name) == shown


BOOK_WORDS = st.sampled_from([b"7g7f", b"none", b"+-5", b"5", b"-30", b"#", b"sfen"])
BOOK_LINES = st.one_of(st.binary(max_size=30), st.just(b"sfen " + START.encode()), st.lists(BOOK_WORDS).map(b" ".join))


@fast
@given(st.booleans(), st.lists(BOOK_LINES).map(b"\n".join), st.sampled_from([0, 2**20]))
def test_any_file_as_a_book(tmp_path: Path, marked: bool, content: bytes, read_whole_up_to: int) -> None:
    """The file is refused with a BookError or can be probed, in memory and on the disk."""
    file = tmp_path / "book.db"
    file.write_bytes(MARK + b" 1.00\n" + content if marked else content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaneuraou, "READ_WHOLE_UP_TO", read_whole_up_to)
        try:
            book = YaneuraOuBook(str(file))
        except BookError as error:
            assert (not marked or "not sorted" in str(error)) and "book.db" in str(error)
            return
    assert all(isinstance(move, BookMove) for sfen in (START, "", "x") for move in book.probe(sfen).moves)


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800", "x" * 5000])
def test_any_path_of_a_book(path: str) -> None:
    with pytest.raises(BookError):
        YaneuraOuBook(path)
