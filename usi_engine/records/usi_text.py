"""Games as USI text, one a line."""

import re

from core_ext.shogi.notation import PASS, PASSES
from usi_engine.records.ends import BY_USI, named
from usi_engine.records.faults import Fault, FaultyText
from usi_engine.records.tree import Builder, Record
from usi_engine.usi.output import excerpt
from usi_engine.usi.protocol import START_SFEN, position_words

MOVE = re.compile(r"([1-9][a-i]){2}\+?|[PLNSGBR]\*[1-9][a-i]|" + "|".join(PASSES))
FIRST_WORDS = ("position", "startpos", "sfen")


def is_usi(text: str) -> bool:
    """Return True if the first word begins a USI position, an sfen or a move."""
    first = next((line.split()[0] for _, line in split(text)), "")
    return first in FIRST_WORDS or first.count("/") == 8 or MOVE.fullmatch(first) is not None


def read(line: str) -> Record:
    """Read `[position] startpos|sfen ... [moves ...]`, an sfen, or moves from the start position. FaultyText.

    ` #` begins a comment.
    """
    start, moves = split_words(line.partition(" #")[0].split())
    builder = Builder()
    try:
        builder.set_up(start)
    except ValueError as error:
        raise FaultyText(Fault(str(error), 1)) from None
    for number, word in enumerate(moves, 1):
        builder.skips()
        if number == len(moves) and word in BY_USI:
            builder.set_end(named(BY_USI[word], builder.board.turn))
        elif not MOVE.fullmatch(word):
            raise FaultyText(Fault("cannot be read", 1, number, excerpt(word)))
        else:
            builder.make(PASS if word in PASSES else word, Fault("illegal move", 1, number, word))
    return builder.record


def split_words(words: list[str]) -> tuple[str, list[str]]:
    """Return the start as sfen, and the words of the moves. FaultyText."""
    rest = words[1:] if words[:1] == ["position"] else words
    if rest and (MOVE.fullmatch(rest[0]) or rest[0] in BY_USI):
        return START_SFEN, rest
    if rest[:1] == ["startpos"]:
        size, start = 1, START_SFEN
    else:
        begin = int(rest[:1] == ["sfen"])
        size = next((at for at, word in enumerate(rest) if word == "moves"), len(rest))
        start = " ".join(rest[begin:size])
    if len(rest) > size and rest[size] != "moves":
        raise FaultyText(Fault("cannot be read", 1, quoted=excerpt(rest[size])))
    return start, rest[size + 1 :]


def split(text: str) -> list[tuple[int, str]]:
    """Return the games with their line numbers, from 0, without empty lines and those that begin with `#`."""
    lines = enumerate(text.split("\n"))
    return [(at, line) for at, line in lines if line.strip() and not line.lstrip().startswith("#")]


def write(record: Record) -> str:
    """Return the start and the moves of the main line. An end, times and comments have no place in USI text."""
    return f"position {position_words(record.start, [node.move for node in record.main_line])}\n"
