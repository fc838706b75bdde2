"""Games of the engine against itself, labelled by its own search, in the format of the teacher's files.

Each game has a number; its random choices follow from the seed and that number, so a run that was broken off goes on
where the file ends. Threads play side by side, each with its own worker and table; the search holds no lock.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core_ext.board import BLACK, Board
from core_ext.engine import INFINITE, MATE_BOUND, MAX_DEPTH, Signal, Table, Worker
from usi_engine.core import load_core
from usi_engine.team import Window

if TYPE_CHECKING:
    from core_ext.engine import RootLine, Weights

# The table: room for ten results a node of one search, and never less than the megabytes.
TABLE_MEGABYTES = 8
TABLE_BYTES_PER_NODE = 160


@dataclass(frozen=True)
class Rules:
    """How the games are played."""

    nodes: int = 1500
    random_plies: int = 8
    random_share: float = 0.5  # of the opening moves; the others are searched
    longest: int = 320
    resign: int = 3000  # centipawns that end a game after `resign_plies` in a row
    resign_plies: int = 6
    seed: int = 1


@dataclass
class Played:
    """A finished game."""

    start: str
    words: list[str]
    result: str  # b, w, d
    ending: str

    @property
    def line(self) -> str:
        """Its line in a teacher's file."""
        return f"{self.result}\t{self.ending}\t{self.start}\t{' '.join(self.words)}\n"


class Player:
    """One thread's worker and table."""

    def __init__(self, weights: Weights | None, rules: Rules) -> None:
        self.rules = rules
        self._core = load_core()
        self.table = Table(max(TABLE_MEGABYTES, rules.nodes * TABLE_BYTES_PER_NODE >> 20))
        self.worker = Worker(self.table, Signal(), 0, weights)
        self.worker.configure()

    def new_game(self) -> None:
        """Forget the last game."""
        self.table.clear()
        self.worker.new_game()

    def think(self, board: Board) -> tuple[str, int]:
        """The move of a search to the node limit, and its value in centipawns for the side to move."""
        self.worker.set_root(board)
        self.table.new_search()
        best, value = self.worker.lines(1)[0].pv[0], 0
        for depth in range(1, MAX_DEPTH + 1):
            line = self._search_depth(depth, value)
            if line.value != -INFINITE and not (self.worker.stopped and line.bound == "upper"):
                best, value = line.pv[0], line.value
            if self.worker.stopped or self.worker.nodes >= self.rules.nodes or abs(value) >= MATE_BOUND:
                break
        return best, value

    def _search_depth(self, depth: int, guess: int) -> RootLine:
        """The best line of one depth, searched in a window around `guess` that widens until it holds."""
        window = Window(self._core, depth, guess)
        while True:
            value = self.worker.search(depth, window.alpha, window.beta, 0, self.rules.nodes)
            if self.worker.stopped or window.failed(value) == "exact":
                return self.worker.lines(1)[0]

    def play(self, start: str, number: int) -> Played:
        """One whole game."""
        chance = random.Random(f"{self.rules.seed} {number}")
        board, decided = Board(start), 0
        words: list[str] = []
        self.new_game()
        for ply in range(self.rules.longest):
            ended = ending_of(board)
            if ended:
                return Played(start, words, *ended)
            move, value = self.think(board)
            if ply < self.rules.random_plies and chance.random() < self.rules.random_share:
                move = chance.choice(board.legal_moves())
                words += [move, "-"]
            else:
                words += [move, str(value)]
                decided = decided + 1 if abs(value) >= self.rules.resign else 0
            if decided >= self.rules.resign_plies:
                return Played(start, words, winner(board, value > 0), "score")
            board.push(move)
        return Played(start, words, "d", "length")


def winner(board: Board, mover: bool) -> str:
    """`b` or `w`: the side to move, or the other one."""
    return "b" if (board.turn == BLACK) == mover else "w"


def ending_of(board: Board) -> tuple[str, str] | None:
    """Result and reason where the game is over by the rules."""
    if not board.legal_moves():
        return winner(board, False), "mate"
    if board.can_declare():
        return winner(board, True), "declaration"
    repeated = board.repetition()
    if repeated == "none":
        return None
    if repeated == "draw":
        return "d", "repetition"
    return winner(board, repeated == "win"), "perpetual"


def read_openings(path: Path | None) -> list[str]:
    """The sfen of each line of a file of sfens or `startpos moves ...`; without a file the start position."""
    if path is None:
        return ["startpos"]
    found = [opening_of(line.strip()) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not found:
        raise ValueError(f"{path} holds no position")
    return found


def opening_of(line: str) -> str:
    """The sfen at the end of the line's moves. ValueError."""
    position, _, moves = line.partition(" moves ")
    board = Board(position)
    for move in moves.split():
        board.push(move)
    return board.sfen()


def games_in(path: Path) -> int:
    """Whole games that a file already holds; a broken last line is cut off."""
    if not path.exists():
        return 0
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        path.write_bytes(whole)
    return whole.count(b"\n")


def play_games(
    weights: Weights | None, openings: list[str], rules: Rules, numbers: range, threads: int
) -> Iterator[Played]:
    """The games of these numbers in order, several at once."""
    players = [Player(weights, rules) for _ in range(threads)]
    order = random.Random(rules.seed).sample(openings, len(openings))
    with ThreadPoolExecutor(threads) as pool:
        running: dict[int, Future[Played]] = {}
        waiting, due = list(reversed(numbers)), numbers.start
        free = list(range(threads))
        seats: dict[int, int] = {}
        while due < numbers.stop:
            while waiting and free and len(running) < 8 * threads:
                number, seat = waiting.pop(), free.pop()
                seats[number] = seat
                running[number] = pool.submit(players[seat].play, order[number % len(order)], number)
            wait([running[number] for number in seats], return_when=FIRST_COMPLETED)
            for number in [number for number in seats if running[number].done()]:
                free.append(seats.pop(number))
            while due in running and due not in seats:
                yield running.pop(due).result()
                due += 1


def selfplay(
    weights: Weights | None, openings: list[str], path: Path, games: int, *, rules: Rules, threads: int
) -> int:
    """Append games to `path` until it holds `games`; returns how many were played now."""
    begun = games_in(path)
    started = time.monotonic()
    with open(path, "a", encoding="utf-8") as file:
        for count, game in enumerate(play_games(weights, openings, rules, range(begun, games), threads), 1):
            file.write(game.line)
            file.flush()
            if count % 50 == 0:
                seconds = time.monotonic() - started
                print(
                    f"{begun + count}/{games} games, {count / seconds:.2f} a second, "
                    f"{(games - begun - count) * seconds / count / 60:.1f} min left",
                    flush=True,
                )
    return max(games - begun, 0)
