"""Games with scores, positions with valued moves, and faults: the items of files of games. And their lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core_ext.board import Board
from usi_engine.records.faults import Fault

START = Board().sfen()
RESULTS = {"b": 1, "w": -1, "d": 0}
LETTERS = {result: letter for letter, result in RESULTS.items()}
LARGEST_SCORE = 32767
LONGEST_SCORE = 6  # characters of a score that certainly fits 16 bits or is clamped by the core


class SourceError(ValueError):
    """A file, or an item of one, that cannot be read; the text quotes the fault."""


@dataclass(frozen=True)
class LabelledPosition:
    """A position with the move played in it.

    `score` is centipawns for the side to move, None if the file has none. `result` is 1 if the side to move won, -1 if
    it lost, 0 for a draw, None for a position without a game.
    """

    board: Board
    move: str
    score: int | None
    result: int | None


@dataclass(frozen=True)
class ScoredGame:
    """Moves in USI from a start position; scores in centipawns for the side to move, or None."""

    start: str
    moves: list[str]
    scores: list[int | None]
    result: int  # 1 Black won, -1 White, 0 draw
    ending: str = "-"  # one word

    @property
    def key(self) -> int:
        """A hash of start and moves, valid in this process only."""
        return hash((self.start, *self.moves))

    @property
    def line(self) -> str:
        """The game as parse_game_line reads it."""
        start = "startpos" if self.start == START else self.start
        pairs = zip(self.moves, self.scores, strict=True)
        words = (f"{move} {'-' if score is None else score}" for move, score in pairs)
        return f"{LETTERS[self.result]}\t{self.ending}\t{start}\t{' '.join(words)}\n"

    def positions(self) -> Iterator[LabelledPosition]:
        """Yield the positions before each move. ValueError for an illegal move, after those before it."""
        board = Board(self.start)
        for move, score in zip(self.moves, self.scores, strict=True):
            before = board.copy()
            board.push(move)
            yield LabelledPosition(before, move, score, -self.result if before.turn else self.result)


@dataclass(frozen=True)
class ValuedMoves:
    """Moves from one position, without a game or result; values in centipawns for the side to move."""

    start: str
    moves: list[str]
    values: list[int]

    def positions(self) -> Iterator[LabelledPosition]:
        """Yield the position once for each of its moves. ValueError."""
        board = Board(self.start)
        for move, value in zip(self.moves, self.values, strict=True):
            yield LabelledPosition(board.copy(), move, value, None)


HEAD = "# made "  # begins a line that says how a file was made

Item = ScoredGame | ValuedMoves | Fault


@dataclass
class SkippedItems:
    """Number of items that cannot be used, and the first with its reason."""

    count: int = 0
    first: str = ""

    def add(self, place: str, reason: str) -> None:
        self.join(SkippedItems(1, f"{place}: {reason}"))

    def join(self, other: SkippedItems) -> None:
        self.first = self.first or other.first
        self.count += other.count

    @property
    def line(self) -> str:
        """A line for the user; empty if nothing was skipped."""
        return f"{self.count} not used; the first: {self.first}" if self.count else ""


def clamped_score(score: int) -> int:
    """Clamp a score to 16 bits: other programs write greater ones for mates."""
    return max(-LARGEST_SCORE, min(score, LARGEST_SCORE))


def parse_game_line(line: str) -> ScoredGame:
    """Parse a line: result (b, w, d), ending, start, then moves, each followed by its score or `-`. SourceError."""
    fields = line.rstrip("\n").split("\t")
    if len(fields) != 4 or fields[0] not in RESULTS:
        raise SourceError(f"not a game: '{line[:60].rstrip()}'")
    words = fields[3].split()
    if len(words) % 2:
        raise SourceError(f"a move without a score: '{words[-1]}'")
    try:
        scores = [None if word == "-" else int(word) for word in words[1::2]]
    except ValueError as error:
        raise SourceError(f"not a score: {error}") from None
    start = START if fields[2] == "startpos" else fields[2].removeprefix("sfen ")
    if len(max(words[1::2], key=len, default="")) > LONGEST_SCORE:
        scores = [None if score is None else clamped_score(score) for score in scores]
    return ScoredGame(start, words[::2], scores, RESULTS[fields[0]], fields[1])


def parse_line(line: str) -> ScoredGame | ValuedMoves:
    """Parse a game, or a position with valued moves: an sfen, a tab, then `move:value` words. SourceError."""
    if line.count("\t") != 1:
        return parse_game_line(line)
    sfen, _, rest = line.partition("\t")
    pairs = [word.partition(":") for word in rest.split()]
    try:
        values = [clamped_score(int(value)) for _, _, value in pairs]
        return ValuedMoves(sfen, [move for move, _, _ in pairs], values)
    except ValueError as error:
        raise SourceError(f"not a value: {error}") from None
