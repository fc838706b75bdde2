"""One line of USI text -> one frozen command, or a Malformed that quotes the text. Holds no state of a game."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

STARTPOS = "startpos"
# Greater numbers are clamped: counts, and times in milliseconds, to a day.
LARGEST = 2**62
LONGEST_TIME = 24 * 60 * 60 * 1000


@dataclass(frozen=True)
class Usi:
    """`usi`: asks for name, author and options."""


@dataclass(frozen=True)
class IsReady:
    """`isready`: load everything."""


@dataclass(frozen=True)
class NewGame:
    """`usinewgame`."""


@dataclass(frozen=True)
class Stop:
    """`stop`: answer the running go now."""


@dataclass(frozen=True)
class Quit:
    """`quit`, and the end of input."""


@dataclass(frozen=True)
class GameOver:
    """`gameover [win|lose|draw|unknown]`."""

    result: str = "unknown"


@dataclass(frozen=True)
class SetOption:
    """`setoption name N [value V]`; V may be empty and may hold spaces."""

    name: str
    value: str = ""


@dataclass(frozen=True)
class GetOption:
    """`getoption [NAME]`; an empty name asks for all."""

    name: str = ""


@dataclass(frozen=True)
class SetPosition:
    """`position`: a start position and the moves of the game from there, all unchecked text."""

    sfen: str
    moves: tuple[str, ...] = ()


@dataclass(frozen=True)
class Times:
    """The clocks of a go or a ponderhit, in milliseconds; None where not given."""

    btime: int | None = None
    wtime: int | None = None
    byoyomi: int | None = None
    binc: int | None = None
    winc: int | None = None

    def given(self) -> bool:
        """Whether any clock was given, even as 0."""
        return self != Times()


@dataclass(frozen=True)
class Go:
    """`go`: every limit named. With no limit at all the search runs until `stop`.

    `faults`: a sentence for each number that could not be read. Where one of them was the only limit, `depth` is 1, as
    a search without end is not what was asked for.
    """

    times: Times = field(default_factory=Times)
    ponder: bool = False
    infinite: bool = False
    movetime: int | None = None
    depth: int | None = None
    nodes: int | None = None
    searchmoves: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    def open_ended(self) -> bool:
        """Whether only `stop` ends it (a pondering search aside)."""
        limits = (self.movetime, self.depth, self.nodes)
        return self.infinite or (not self.times.given() and limits == (None, None, None))


@dataclass(frozen=True)
class GoMate:
    """`go mate infinite|MS` or `go mate nodes N`; None = no such limit. `faults`: what could not be read, and why."""

    milliseconds: int | None = None
    nodes: int | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class PonderHit:
    """`ponderhit`, perhaps with new times."""

    times: Times = field(default_factory=Times)


@dataclass(frozen=True)
class Question:
    """A question about the position: one of QUESTIONS."""

    what: str


@dataclass(frozen=True)
class Perft:
    """`perft N`."""

    depth: int


@dataclass(frozen=True)
class Bench:
    """`bench [DEPTH] [MEGABYTES]`; None: the default."""

    depth: int | None = None
    megabytes: int | None = None


@dataclass(frozen=True)
class Help:
    """`help`: asks for a list of the commands."""


@dataclass(frozen=True)
class Ignored:
    """An empty line or an unknown command."""


@dataclass(frozen=True)
class Malformed:
    """A known command that cannot be read; `text` says why and quotes it."""

    text: str


Command = (
    Usi
    | IsReady
    | NewGame
    | Stop
    | Quit
    | GameOver
    | SetOption
    | GetOption
    | SetPosition
    | Go
    | GoMate
    | PonderHit
    | Question
    | Perft
    | Bench
    | Help
    | Ignored
    | Malformed
)

QUESTIONS = frozenset({"d", "moves", "checks", "side", "sfen", "key", "eval"})
TIMES = frozenset({"btime", "wtime", "byoyomi", "binc", "winc"})
COUNTS = frozenset({"depth", "nodes"})
LIMITS = COUNTS | {"movetime"}
FLAGS = frozenset({"ponder", "infinite", "searchmoves"})
COUNT = "a number from 1 on"
EMPTY_VALUES = frozenset({"<empty>", "<none>"})


def decode(line: bytes) -> str:
    """Text of a line of input: without BOM and line end; utf-8, or cp932 as Japanese Windows writes it."""
    stripped = line.removeprefix(b"\xef\xbb\xbf").strip(b"\r\n")
    try:
        return stripped.decode("utf-8")
    except UnicodeDecodeError:
        return stripped.decode("cp932", errors="replace")


def parse(line: str) -> Command:
    """The command that this line holds. Never raises."""
    word, rest = first_word(line)
    if word in SIMPLE:
        return SIMPLE[word]
    if word in QUESTIONS:
        return Question(word)
    reader = READERS.get(word)
    return reader(rest) if reader else Ignored()


def first_word(text: str) -> tuple[str, str]:
    """The first word of a text and what follows it; either may be empty. Tabs separate words as spaces do."""
    word, rest = (*text.split(None, 1), "", "")[:2]
    return word, rest.rstrip()


def parse_setoption(rest: str) -> Command:
    """`name N [value V]`. N has no spaces, so the first `value` after it begins V, which is the rest of the line."""
    words = rest.split(None, 3)
    if len(words) < 2 or words[0] != "name":
        return Malformed(f"setoption without a name: '{rest}'")
    if len(words) > 2 and words[2] != "value":
        return Malformed(f"setoption wants 'name N value V', and names without spaces: '{rest}'")
    value = words[3].strip() if len(words) > 3 else ""
    return SetOption(words[1], "" if value in EMPTY_VALUES else value)


def parse_position(rest: str) -> SetPosition:
    """`startpos [moves ...]` or `[sfen] FIELDS [moves ...]`; without a place the sfen is empty, which is refused."""
    words = rest.split()
    split = words.index("moves") if "moves" in words else len(words)
    place, moves = words[:split], tuple(words[split + 1 :])
    if place[:1] == ["sfen"]:
        place = place[1:]
    return SetPosition(" ".join(place), moves)


def position_of(text: str) -> SetPosition:
    """What a person names: as parse_position, also with the word `position` before it."""
    return parse_position(text.removeprefix("position "))


def parse_go(rest: str) -> Command:
    """Every form of `go`; unreadable numbers count as not given and are in `faults`.

    Unknown words are skipped; after `searchmoves` they count as moves.
    """
    words = iter(rest.split())
    times: dict[str, int] = {}
    limits: dict[str, int] = {}
    flags: set[str] = set()
    faults: list[str] = []
    searchmoves: list[str] = []
    for word in words:
        if word == "mate":
            return parse_mate(words)
        if word in FLAGS:
            flags.add(word)
        elif word in TIMES or word in LIMITS:
            faults += _take_number(times if word in TIMES else limits, word, words)
        elif "searchmoves" in flags:
            searchmoves.append(word)
    if faults and not (times or limits or "infinite" in flags):
        limits["depth"] = 1
    ponder, infinite = "ponder" in flags, "infinite" in flags
    return Go(Times(**times), ponder, infinite, searchmoves=tuple(searchmoves), faults=tuple(faults), **limits)


def parse_mate(words: Iterator[str]) -> GoMate:
    """What follows `go mate`: `infinite`, nothing, milliseconds, `nodes N`. With an unreadable one it ends at once."""
    word = next(words, "infinite")
    if word == "infinite":
        return GoMate()
    if word == "nodes":
        text = next(words, "")
        nodes = read_number(text)
        return GoMate(nodes=nodes) if nodes else GoMate(0, faults=(f"go mate nodes wants {COUNT}, not '{text}'",))
    milliseconds = read_number(word, LONGEST_TIME)
    if milliseconds is None:
        return GoMate(0, faults=(f"go mate wants milliseconds or 'infinite', not '{word}'",))
    return GoMate(milliseconds)


def parse_ponderhit(rest: str) -> Command:
    """`ponderhit [btime N] [wtime N] ...`."""
    words = iter(rest.split())
    times: dict[str, int] = {}
    for word in words:
        if word in TIMES:
            _take_number(times, word, words)
    return PonderHit(Times(**times))


def parse_perft(rest: str) -> Command:
    """`perft N`, N from 1 on."""
    depth = read_number(rest)
    return Perft(depth) if depth else Malformed(f"perft wants a depth from 1 on, not '{rest}'")


def parse_bench(rest: str) -> Command:
    """`bench [DEPTH] [MEGABYTES]`."""
    numbers = [read_number(word) for word in rest.split()[:2]]
    if not all(numbers):
        return Malformed(f"bench wants a depth and megabytes from 1 on, not '{rest}'")
    return Bench(*numbers)


def read_number(text: str, most: int = LARGEST) -> int | None:
    """A number from 0 to `most`; `0.9` is read as 0, a negative clock as 0, anything that is no number as None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) else int(min(max(value, 0), most))


def _take_number(into: dict[str, int], name: str, words: Iterator[str]) -> list[str]:
    """Read the next word as the number of this name; returns the fault where it is none."""
    text = next(words, "")
    counts = name in COUNTS
    value = read_number(text, LARGEST if counts else LONGEST_TIME)
    if value is None or (counts and value == 0):
        return [f"go {name} wants {COUNT if counts else 'milliseconds'}, not '{text}'"]
    into[name] = value
    return []


SIMPLE: dict[str, Command] = {
    "": Ignored(),
    "usi": Usi(),
    "isready": IsReady(),
    "usinewgame": NewGame(),
    "stop": Stop(),
    "quit": Quit(),
    "help": Help(),
}
READERS: dict[str, Callable[[str], Command]] = {
    "setoption": parse_setoption,
    "getoption": lambda rest: GetOption(first_word(rest)[0]),
    "position": parse_position,
    "go": parse_go,
    "ponderhit": parse_ponderhit,
    "gameover": lambda rest: GameOver(first_word(rest)[0] or "unknown"),
    "perft": parse_perft,
    "bench": parse_bench,
}
# The first words of all commands.
COMMAND_WORDS = QUESTIONS | SIMPLE.keys() | READERS.keys() - {""}
