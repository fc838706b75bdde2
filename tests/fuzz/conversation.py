"""Conversations with the real program, checked line by line: it answers as it must and never dies."""

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from core_ext.board import Board
from tests.damage import damaged
from tests.engine.usi_transport import Program
from usi_engine.usi.options import DECLARED
from usi_engine.usi.protocol import Bench, Go, GoMate, Perft, SetOption, Word, decode, parse

ANSWER_SECONDS = 240.0  # to the next line after `stop`, on a loaded machine
STOP_EVERY = (0.001, 0.001, 0.01)  # seconds
MOST_MEGABYTES = 1400  # resident, with a table of 32 MB, eight threads and KPP weights
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
CONVERSATIONS = 150  # of one process
HURRIED = 0.7  # share of conversations that stop each search at once, so that many lines are sent
MATERIAL_SHARE = 0.7  # of the processes
# Bounds that keep a conversation short; the engine accepts greater numbers too.
MOST = {"usi_hash": 32, "threads": 4}
MOST_PERFT, MOST_BENCH = 3, 3
PIECES = ["P", "L", "N", "S", "G", "B", "R", "K", "+P", "+L", "+N", "+S", "+B", "+R"]
NUMBERS = ["0", "1", "2", "-1", "0.9", "1e9", "1e400", "nan", "9" * 30, "９", "0x10", "", "1_0", "--5", "2147483648"]
NOISE = ["\0", "\t", "\r", "\x1b[31m", "　", "駒", "\x85", "\u2028", "\udcff", "  ", "\ufeff", "%s", "'", '"', "\\"]
WORDS = [
    "usi", "isready", "usinewgame", "stop", "quit", "setoption", "getoption", "position", "go", "ponderhit",
    "gameover", "perft", "bench", "d", "moves", "checks", "side", "sfen", "key", "eval", "name", "value",
    "startpos", "infinite", "ponder", "mate", "searchmoves", "btime", "wtime", "byoyomi", "binc", "winc",
    "movetime", "depth", "nodes", "resign", "win", "7g7f", "P*5e", "5e5e", "0a0a", "8h2b+", "w", "b", "-", "1",
    "4k4/9/9/9/9/9/9/9/4K4", "null", "true", "<empty>",
]  # fmt: skip


@dataclass
class Grammar:
    """A source of lines; `files` are correct and wrong values of the options that name files."""

    rng: random.Random
    files: Sequence[str] = ()
    board: Board = field(default_factory=Board)  # near the positions of the lines

    def line(self) -> bytes:
        while True:
            kind = self.rng.random()
            data = self.correct_line().encode("utf-8", "surrogateescape")
            if kind > 0.97:
                data = self.noise()
            elif kind > 0.80:
                data = self.damaged(data)
            data = data.replace(b"\n", b" ")
            if is_bounded(data):
                return data

    def correct_line(self) -> str:
        kinds: list[tuple[int, Callable[[], str]]] = [
            (20, self.position),
            (24, self.go),
            (14, lambda: "stop"),
            (6, self.ponderhit),
            (4, lambda: self.rng.choice(["isready", "usinewgame", "usi"])),
            (14, self.setoption),
            (2, lambda: f"gameover {self.rng.choice(['win', 'lose', 'draw', 'unknown'])}"),
            (8, lambda: self.rng.choice(["d", "moves", "checks", "side", "sfen", "key", "eval"])),
            (3, lambda: " ".join(["getoption", *self.rng.sample(list(DECLARED), self.rng.randrange(2))])),
            (1, lambda: self.rng.choice(["perft 1", "perft 2", "bench 1 1", "bench 2"])),
            (2, lambda: self.rng.choice(["", "nonsense", "debug on", "register later", "uci"])),
        ]
        weights = [weight for weight, _ in kinds]
        return self.rng.choices([draw for _, draw in kinds], weights)[0]()

    # Positions.

    def position(self) -> str:
        start = "startpos" if self.rng.random() < 0.6 else f"sfen {self.sfen()}"
        try:
            self.board = Board(start)
        except ValueError:
            return f"position {start}"
        moves = self.walk(self.rng.choice([0, 0, 1, 3, 10, 40, 200]))
        return f"position {start} moves {' '.join(moves)}" if moves or self.rng.random() < 0.3 else f"position {start}"

    def walk(self, plies: int) -> list[str]:
        """Make random moves on the present position."""
        made: list[str] = []
        while len(made) < plies and (moves := self.board.legal_moves()):
            made.append(self.rng.choice(moves))
            self.board.push(made[-1])
        return made

    def sfen(self) -> str:
        kind = self.rng.random()
        if kind < 0.4:
            return self.board.sfen()
        text = self.random_sfen()
        return text if kind < 0.9 else self.damaged(text.encode()).decode("utf-8", "replace")

    def random_sfen(self) -> str:
        count = self.rng.choice([2, 4, 10, 38, 60])
        cells = ["K", "k"] * (self.rng.random() < 0.95)
        cells += [self.rng.choice([str.upper, str.lower])(self.rng.choice(PIECES)) for _ in range(count)]
        cells = (cells + ["1"] * 81)[:81]
        self.rng.shuffle(cells)
        rows = ["".join(cells[at : at + 9]) for at in range(0, 81, 9)]
        hand = "".join(f"{self.rng.choice(['', '2', '18'])}{self.rng.choice('PLNSGBRplnsgbr')}" for _ in range(3))
        ending = self.rng.choice(["1", "", "0", "300", "-5", "99999999999"])
        return f"{'/'.join(rows)} {self.rng.choice('bw')} {self.rng.choice(['-', hand])} {ending}".rstrip()

    # Searches.

    def go(self) -> str:
        kind = self.rng.randrange(12)
        some = self.rng.choice(["1", "5", "20", "50", "100"])
        if kind < 5:
            limit = [f"nodes {10 * int(some)}", f"depth {self.rng.randrange(1, 6)}", f"movetime {some}", "infinite", ""]
            return f"go {limit[kind]}".rstrip() + self.searchmoves()
        if kind < 8:
            return self.clocks("go" + " ponder" * (self.rng.random() < 0.5))
        if kind < 10:
            return f"go mate {self.rng.choice(['infinite', some, f'nodes {some}', ''])}".rstrip()
        return f"go ponder infinite depth {self.number()} nodes {self.number()}"

    def clocks(self, command: str) -> str:
        names = self.rng.sample(["btime", "wtime", "byoyomi", "binc", "winc"], self.rng.randrange(1, 6))
        return " ".join([command, *(f"{name} {self.rng.choice(['0', '1', '50', self.number()])}" for name in names)])

    def searchmoves(self) -> str:
        if self.rng.random() < 0.9:
            return ""
        moves = [*self.board.legal_moves(), "7g7f", "5e5e", "x"]
        return f" searchmoves {' '.join(self.rng.choices(moves, k=self.rng.choice([1, 3, 700])))}"

    def ponderhit(self) -> str:
        return "ponderhit" if self.rng.random() < 0.7 else self.clocks("ponderhit")

    # Options.

    def setoption(self) -> str:
        if self.rng.random() < 0.03:
            return f"setoption name Tune_{self.rng.choice(['MateInOne', 'x', ''])} value {self.number()}"
        name = self.rng.choice(list(DECLARED))
        value = self.value(name) if self.rng.random() < 0.85 else self.number()
        return f"setoption name {name} value {value}"

    def value(self, name: str) -> str:
        option = DECLARED[name]
        if option.kind == "spin":
            least, most = option.limits
            most = min(most, MOST.get(name.lower(), most))
            return str(self.rng.choice([least, option.default, most, self.rng.randint(least, most)]))
        if option.kind == "check":
            return self.rng.choice(["true", "false"])
        if option.kind == "combo":
            return self.rng.choice(option.values)
        return self.rng.choice([*self.files, "material", "<empty>", "<internal>", "no_book", "/none", "a\0b"])

    def number(self) -> str:
        return self.rng.choice([*NUMBERS, str(self.rng.randrange(100))])

    # Mistakes.

    def damaged(self, data: bytes) -> bytes:
        """Delete, repeat, swap or replace a few words or letters."""
        for _ in range(self.rng.choice([1, 1, 1, 2, 4])):
            data = self._damage_words(data) if self.rng.random() < 0.5 else damaged(self.rng, data)
        return data

    def _damage_words(self, data: bytes) -> bytes:
        words = data.split(b" ")
        at, other = self.rng.randrange(len(words)), self.rng.randrange(len(words))
        new = self.rng.choice([self.rng.choice(WORDS), self.number(), self.rng.choice(NOISE)])
        action = self.rng.randrange(4)
        if action == 0:
            words[at : at + 1] = []
        elif action == 1:
            words[at:at] = [words[other]] * self.rng.choice([1, 1, 50])
        elif action == 2:
            words[at], words[other] = words[other], words[at]
        else:
            words[at] = new.encode("utf-8", "surrogateescape")
        return b" ".join(words)

    def noise(self) -> bytes:
        kind, length = self.rng.randrange(3), self.rng.choice([1, 10, 200, 20_000])
        if kind == 0:
            return self.rng.randbytes(length)
        if kind == 1:
            return " ".join(self.rng.choices(WORDS, k=length // 5 + 1)).encode()
        return self.rng.choice([b"go ", b"position startpos moves ", b"setoption name x value ", b""]) + b"9" * length


def is_bounded(data: bytes) -> bool:
    """Return whether the line asks for nothing that takes minutes or gigabytes."""
    command = parse(decode(data))
    if isinstance(command, Perft):
        return command.depth <= MOST_PERFT
    if isinstance(command, Bench):
        small = (command.megabytes or 1) <= MOST["usi_hash"]
        return command.depth is not None and command.depth <= MOST_BENCH and small
    most = MOST.get(command.name.lower()) if isinstance(command, SetOption) else None
    return most is None or not is_above(command.value if isinstance(command, SetOption) else "", most)


def is_above(text: str, most: int) -> bool:
    try:
        return not float(text) <= most
    except ValueError:
        return False


# ---- conversations ----


class Talk(Program):
    """The program with the last lines sent."""

    def __init__(self, evaluation: str = "") -> None:
        super().__init__(evaluation=evaluation)
        self.sent: list[bytes] = []

    def tell(self, *lines: bytes) -> None:
        self.sent += lines
        self.send_bytes(b"".join(line + b"\n" for line in lines))

    def _check_moves(self, line: str) -> None:
        """Check that the line reports no error either."""
        assert not line.startswith(("info string error", "Traceback")), line
        super()._check_moves(line)

    def settle(self, stop_every: float = max(STOP_EVERY)) -> None:
        """Stop all searches; wait until every `go`, `usi` and `isready` has its one answer."""
        self.tell(b"isready")
        deadline = time.monotonic() + ANSWER_SECONDS
        while not self.is_settled():
            assert time.monotonic() < deadline, f"{len(self.roots) - self.answered} searches have no answer"
            assert self.process.poll() is None, f"it ended with status {self.process.returncode}"
            if self.line(stop_every) is None:
                self._write(b"stop\n")
            else:
                deadline = time.monotonic() + ANSWER_SECONDS

    def forget(self) -> None:
        """Drop answered lines, so that memory does not grow."""
        self.roots, self.answered, self.seen = [], 0, []
        self.asked = dict.fromkeys(self.asked, 0)
        self.sent = self.sent[-2000:]


def converse(talk: Talk, grammar: Grammar) -> int:
    """Send lines in bursts and wait for the answers; return the number of lines."""
    rng, count = grammar.rng, 0
    hurried = rng.random() < HURRIED
    for _ in range(rng.choice([5, 20, 60] if hurried else [2, 5, 20])):
        lines = no_quit(grammar, rng.choice([5, 15, 50] if hurried else [1, 1, 2, 5, 15]))
        talk.tell(*(stopped(lines) if hurried else lines))
        time.sleep(0 if hurried else rng.choice([0, 0, 0.001, 0.01]))
        count += len(lines)
    talk.settle(rng.choice(STOP_EVERY))
    assert SANITIZED or talk.megabytes() < MOST_MEGABYTES, f"{talk.megabytes()} MB"
    return count


def stopped(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the lines, and a `stop` after each `go`."""
    for line in lines:
        yield line
        if isinstance(parse(decode(line)), Go | GoMate):
            yield b"stop"


def no_quit(grammar: Grammar, count: int) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < count:
        line = grammar.line()
        lines += [] if parse(decode(line)) is Word.QUIT else [line]
    return lines


def part(talk: Talk, grammar: Grammar) -> None:
    """End the program during a search by `quit` or the end of input; every `go` must still be answered."""
    talk.tell(*no_quit(grammar, grammar.rng.choice([0, 1, 4])))
    talk.end(grammar.rng.choice(["quit", "end of input"]))
    talk.drain(ANSWER_SECONDS)
    assert talk.is_settled(), "not all was answered before the end"
    talk.close()


def fuzz_usi(seed: int, seconds: float, files: Sequence[str]) -> int:
    """Talk for `seconds`; return the number of lines. An AssertionError quotes the seed and the last lines."""
    rng, count, deadline = random.Random(seed), 0, time.monotonic() + seconds
    while time.monotonic() < deadline:
        own = rng.randrange(1 << 32)
        grammar = Grammar(random.Random(own), files)
        talk = Talk("material" if grammar.rng.random() < MATERIAL_SHARE else "")
        try:
            for _ in range(CONVERSATIONS):
                if time.monotonic() >= deadline:
                    break
                count += converse(talk, grammar)
                talk.forget()
            part(talk, grammar)
        except (AssertionError, ValueError, OSError) as error:
            talk.process.kill()
            last = "\n".join(repr(line[:300]) for line in talk.sent[-40:])
            raise AssertionError(
                f"seed {seed} ({own}): {error}\nlast seen: {talk.seen[-5:]}\nlast sent:\n{last}"
            ) from error
    return count
