"""Reader of USI lines: each becomes one frozen command, or a Malformed that quotes the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from usi_engine.clock import Clock, TimeControl
from usi_engine.usi.options import EMPTY_VALUES, LARGEST

STARTPOS, START_SFEN = "startpos", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
DEEPEST_PERFT = 64
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
LONGEST_TIME = 24 * 60 * 60 * 1000  # a day in milliseconds; longer times are clamped
UNLIMITED_BYOYOMI = 10_000  # the time for each move of a side without any limit, which USI cannot express


class Word(Enum):
    """A command without arguments."""

    USI = "usi"  # asks for name, author and options
    IS_READY = "isready"  # load everything
    NEW_GAME = "usinewgame"
    STOP = "stop"  # answer the running `go` now
    QUIT = "quit"  # also the end of input
    GAME_OVER = "gameover"  # its result, `win|lose|draw|unknown`, is not read
    HELP = "help"  # asks for the list of commands
    NONE = ""  # an empty line or an unknown command


@dataclass(frozen=True)
class SetOption:
    """`setoption name N [value V]`; V may be empty and may contain spaces."""

    name: str
    value: str = ""


@dataclass(frozen=True)
class GetOption:
    """`getoption [NAME]`; an empty name asks for all."""

    name: str = ""


@dataclass(frozen=True)
class SetPosition:
    """`position`: a start position and the moves from there; neither is checked yet."""

    sfen: str
    moves: tuple[str, ...] = ()


@dataclass(frozen=True)
class Times:
    """The clocks of a `go` or `ponderhit` in milliseconds; None if not given."""

    btime: int | None = None
    wtime: int | None = None
    byoyomi: int | None = None
    binc: int | None = None
    winc: int | None = None

    @classmethod
    def of(cls, clock: Clock, side: int, margin: int = 0) -> Times:
        """Return the times that a `go` for this side names, less a margin for network delay.

        The side's own control decides between byoyomi and increments: USI has no byoyomi of one side only. btime and
        wtime do not include the increment of the next move, as in Shogidokoro and similar GUIs. The margin is taken
        from the main time first.
        """
        control, left, increments = clock.controls[side], [*clock.left], [each.increment for each in clock.controls]
        if not control:
            return cls(0, 0, UNLIMITED_BYOYOMI)
        lack = max(margin - left[side], 0)
        left[side] = max(left[side] - margin, 0)
        increments[side] = max(control.increment - lack, 0)
        byoyomi = max(control.byoyomi - lack, 0) if control.byoyomi or not control.increment else None
        binc, winc = increments if control.increment else (None, None)
        return cls(left[0], left[1], byoyomi, binc, winc)

    def given(self) -> bool:
        """Return True if any clock was given, even as 0."""
        return self != Times()

    def control(self, side: int) -> TimeControl:
        """Return the time that a side has."""
        main, increment = (self.wtime, self.winc) if side else (self.btime, self.binc)
        return TimeControl(main or 0, self.byoyomi or 0, increment or 0)

    def words(self) -> str:
        """Return the times as arguments of `go`."""
        return " ".join(f"{name} {value}" for name, value in vars(self).items() if value is not None)


@dataclass(frozen=True)
class Go:
    """`go` with its limits; without any limit the search runs until `stop`.

    `faults` has a sentence for each number that could not be read. If no other limit was given, `depth` is 1, so that
    the search ends. `skipped` has the words that are unknown.
    """

    times: Times = field(default_factory=Times)
    ponder: bool = False
    infinite: bool = False
    movetime: int | None = None
    depth: int | None = None
    nodes: int | None = None
    searchmoves: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    skipped: tuple[str, ...] = field(default=(), compare=False)

    def open_ended(self) -> bool:
        """Return True if only `stop` ends the search. A search that ponders may be open-ended or not."""
        limits = (self.movetime, self.depth, self.nodes)
        return self.infinite or (not self.times.given() and limits == (None, None, None))

    def words(self) -> str:
        """Return the limits as arguments of `go`; with any clock, both sides' main times are among them."""
        times = self.times
        if times.given():
            times = replace(times, btime=times.btime or 0, wtime=times.wtime or 0)
        limits = {name: getattr(self, name) for name in ("movetime", "nodes", "depth") if getattr(self, name)}
        words = [times.words()] if times.given() else []
        words += ["infinite"] if self.open_ended() else [f"{name} {value}" for name, value in limits.items()]
        return " ".join([*words, *(["searchmoves", *self.searchmoves] if self.searchmoves else [])])


@dataclass(frozen=True)
class GoMate:
    """`go mate infinite|MS` or `go mate nodes N`; None: no such limit. `faults` and `skipped` as in Go."""

    milliseconds: int | None = None
    nodes: int | None = None
    faults: tuple[str, ...] = ()
    skipped: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class PonderHit:
    """`ponderhit`, possibly with new times. `faults` says which numbers could not be read."""

    times: Times = field(default_factory=Times)
    faults: tuple[str, ...] = ()


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
class Malformed:
    """A known command with arguments that cannot be read; `text` quotes them and says why."""

    text: str


Command = Word | SetOption | GetOption | SetPosition | Go | GoMate | PonderHit | Question | Perft | Bench | Malformed

QUESTIONS = frozenset({"d", "moves", "checks", "side", "sfen", "key", "eval"})
TIMES = frozenset({"btime", "wtime", "byoyomi", "binc", "winc"})
COUNTS = frozenset({"depth", "nodes"})
LIMITS = COUNTS | {"movetime"}
FLAGS = frozenset({"ponder", "infinite", "searchmoves"})
GO_WORDS = TIMES | LIMITS | FLAGS | {"mate"}
COUNT = "a number of 1 or more"


def decode(line: bytes) -> str:
    """Decode a line of input as UTF-8 or, if it is not UTF-8, as cp932 (Japanese Windows); remove BOM and line end."""
    stripped = line.removeprefix(b"\xef\xbb\xbf").strip(b"\r\n")
    try:
        return stripped.decode("utf-8")
    except UnicodeDecodeError:
        return stripped.decode("cp932", errors="replace")


def parse(line: str) -> Command:
    """Return the command of a line. Never raises."""
    word, rest = first_word(line)
    if word in QUESTIONS:
        return Question(word)
    if word in READERS:
        return READERS[word](rest)
    return Word(word) if word in WORDS else Word.NONE


def first_word(text: str) -> tuple[str, str]:
    """Split off the first word; either part may be empty. Tabs separate words as spaces do."""
    word, rest = (*text.split(None, 1), "", "")[:2]
    return word, rest.rstrip()


def parse_setoption(rest: str) -> Command:
    """Read `name N [value V]`; N is one word, V the rest of the line."""
    words = rest.split(None, 3)
    if len(words) < 2 or words[0] != "name":
        return Malformed(f"setoption needs 'name N value V', not '{rest}'")
    if len(words) > 2 and words[2] != "value":
        return Malformed(f"setoption needs 'name N value V' with N a single word, not '{rest}'")
    value = words[3].strip() if len(words) > 3 else ""
    return SetOption(words[1], "" if value in EMPTY_VALUES else value)


def parse_position(rest: str) -> SetPosition:
    """Read `startpos [moves ...]` or `[sfen] FIELDS [moves ...]`. Without a position the sfen is empty: not legal."""
    words = rest.split()
    split = words.index("moves") if "moves" in words else len(words)
    place, moves = words[:split], tuple(words[split + 1 :])
    if place[:1] == ["sfen"]:
        place = place[1:]
    return SetPosition(" ".join(place), moves)


def position_of(text: str) -> SetPosition:
    """Read a position that a person typed, with or without the word `position` before it."""
    return parse_position(text.removeprefix("position "))


def position_words(sfen: str, moves: Sequence[str]) -> str:
    """Return the arguments of `position`."""
    start = STARTPOS if sfen == START_SFEN else f"sfen {sfen}"
    return " ".join([start, *(["moves", *moves] if moves else [])])


def parse_go(rest: str) -> Command:
    """Read every form of `go`. Unknown words are skipped, or are moves if `searchmoves` came before."""
    words = iter(rest.split())
    times: dict[str, int] = {}
    limits: dict[str, int] = {}
    flags: set[str] = set()
    faults: list[str] = []
    searchmoves: list[str] = []
    skipped: list[str] = []
    for word in words:
        if word == "mate":
            return replace(parse_mate(words), skipped=(*skipped, *words))
        if word in FLAGS:
            flags.add(word)
        elif word in TIMES or word in LIMITS:
            faults += _take_number(times if word in TIMES else limits, word, words)
        elif "searchmoves" in flags:
            searchmoves.append(word)
        else:
            skipped.append(word)
    if faults and not (times or limits or "infinite" in flags):
        limits["depth"] = 1
    ponder, infinite = "ponder" in flags, "infinite" in flags
    moves, unread, unknown = tuple(searchmoves), tuple(faults), tuple(skipped)
    return Go(Times(**times), ponder, infinite, searchmoves=moves, faults=unread, skipped=unknown, **limits)


def parse_mate(words: Iterator[str]) -> GoMate:
    """Read the words after `go mate`. If a number cannot be read, the limit is 0 ms."""
    word = next(words, "infinite")
    if word == "infinite":
        return GoMate()
    if word == "nodes":
        text = next(words, "")
        nodes = read_number(text)
        return GoMate(nodes=nodes) if nodes else GoMate(0, faults=(f"go mate nodes needs {COUNT}, not '{text}'",))
    milliseconds = read_number(word, LONGEST_TIME)
    if milliseconds is None:
        return GoMate(0, faults=(f"go mate needs milliseconds or 'infinite', not '{word}'",))
    return GoMate(milliseconds)


def parse_ponderhit(rest: str) -> Command:
    words = iter(rest.split())
    times: dict[str, int] = {}
    faults = [fault for word in words if word in TIMES for fault in _take_number(times, word, words)]
    return PonderHit(Times(**times), tuple(faults))


def parse_perft(rest: str) -> Command:
    depth = read_number(rest)
    if depth is None or not 1 <= depth <= DEEPEST_PERFT:
        return Malformed(f"perft needs a depth from 1 to {DEEPEST_PERFT}, not '{rest}'")
    return Perft(depth)


def parse_bench(rest: str) -> Command:
    numbers = [read_number(word) for word in rest.split()[:2]]
    if not all(numbers):
        return Malformed(f"bench needs a depth and megabytes of 1 or more, not '{rest}'")
    return Bench(*numbers)


def read_number(text: str, most: int = LARGEST) -> int | None:
    """Read a decimal number, rounded down and clamped to 0..most; None if the text is none."""
    return int(min(max(float(text), 0), most)) if DECIMAL.fullmatch(text) else None


def _take_number(into: dict[str, int], name: str, words: Iterator[str]) -> list[str]:
    """Store the next word as the number `name`; return a list with the fault if it cannot be read."""
    text = next(words, "")
    counts = name in COUNTS
    value = read_number(text, LARGEST if counts else LONGEST_TIME)
    if value is None or (counts and value == 0):
        return [f"go {name} needs {COUNT if counts else 'milliseconds'}, not '{text}'"]
    into[name] = value
    return []


READERS: dict[str, Callable[[str], Command]] = {
    "setoption": parse_setoption,
    "getoption": lambda rest: GetOption(first_word(rest)[0]),
    "position": parse_position,
    "go": parse_go,
    "ponderhit": parse_ponderhit,
    "perft": parse_perft,
    "bench": parse_bench,
}
WORDS = {word.value for word in Word}
WITHOUT_ARGUMENTS = (QUESTIONS | WORDS) - {Word.GAME_OVER.value}
# First words of all commands
COMMAND_WORDS = (QUESTIONS | WORDS | READERS.keys()) - {""}
