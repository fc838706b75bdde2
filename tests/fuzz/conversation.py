"""Conversations with the real program, checked line by line: it answers as it must and never dies."""

import os
import random
import time
from collections.abc import Iterator, Sequence

from tests.engine.usi_transport import Program
from tests.fuzz.grammar import Grammar
from usi_engine.usi.protocol import Go, GoMate, Word, decode, parse

ANSWER_SECONDS = 240.0  # to the next line after `stop`, on a loaded machine
STOP_EVERY = (0.001, 0.001, 0.01)  # seconds
MOST_MEGABYTES = 1400  # resident, with a table of 32 MB, eight threads and KPP weights
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")
CONVERSATIONS = 150  # of one process
HURRIED = 0.7  # share of conversations that stop each search at once, so that many lines are sent
MATERIAL_SHARE = 0.7  # of the processes


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
