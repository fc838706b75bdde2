"""Self-play games, labelled by their own search, in the text format that learn.sources reads.

Each game has a number. The seed and that number determine its random choices, so that an interrupted run resumes where
the file ends. Each thread has its own worker and table; the search holds no lock.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from core_ext.board import BLACK, Board
from core_ext.engine import INFINITE, MATE_BOUND, MAX_DEPTH, StopToken, Table, Worker
from usi_engine.core import load_core
from usi_engine.iterative import iterative_deepening

if TYPE_CHECKING:
    from core_ext.engine import Evaluation

# The table: room for ten entries a node of one search, and never less than the megabytes.
TABLE_MEGABYTES = 8
TABLE_BYTES_PER_NODE = 160
WAITING_TASKS = 8  # for each player: running, or done and not yet yielded

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class PlayRules:
    """How the games are played."""

    nodes: int = 1500
    random_plies: int = 8
    random_share: float = 0.5  # of the opening moves; the others are searched
    later_random_share: float = 0.0  # of the moves after the opening, while the score is within `later_random_score`
    later_random_score: int = 1500
    longest: int = 320  # plies; then the game is a draw
    resign: int = 3000  # centipawns that end a game after `resign_plies` in a row
    resign_plies: int = 6
    seed: int = 1


@dataclass
class Played:
    """A finished game."""

    start: str
    words: list[str]  # moves, each followed by its score or `-`
    result: str  # b, w, d
    ending: str

    @property
    def line(self) -> str:
        """Its line in the file."""
        return f"{self.result}\t{self.ending}\t{self.start}\t{' '.join(self.words)}\n"


class Player:
    """One thread's worker and table."""

    def __init__(self, weights: Evaluation | None, rules: PlayRules) -> None:
        self.rules = rules
        self._core = load_core()
        self.table = Table(max(TABLE_MEGABYTES, rules.nodes * TABLE_BYTES_PER_NODE >> 20))
        self.worker = Worker(self.table, StopToken(), weights)
        self.worker.configure()

    def new_game(self) -> None:
        """Clear the table and the histories."""
        self.table.clear()
        self.worker.new_game()

    def think(self, board: Board, moves: Sequence[str] | None = None, nodes: int = 0) -> tuple[str, int]:
        """The best move (of `moves`, if given) and its value for the side to move. `nodes`: in place of the rules'."""
        limit = nodes or self.rules.nodes
        self.worker.set_root(board, moves)
        self.table.new_search()
        best = self.worker.lines(1)[0]
        for _ in iterative_deepening(self._core, self.worker, MAX_DEPTH, limit):
            best = self.worker.lines(1)[0]
            if self.worker.nodes >= limit or abs(best.value) >= MATE_BOUND:
                break
        if self.worker.stopped:  # within a depth: its best move so far, unless its value is only an upper bound
            line = self.worker.lines(1)[0]
            best = line if line.value != -INFINITE and line.bound != "upper" else best
        return best.pv[0], best.value if best.value != -INFINITE else 0

    def _random_share(self, ply: int, value: int) -> float:
        """How likely the move at this ply is random."""
        rules = self.rules
        if ply < rules.random_plies:
            return rules.random_share
        return rules.later_random_share if abs(value) <= rules.later_random_score else 0.0

    def play(self, start: str, number: int) -> Played:
        """One whole game."""
        rng = random.Random(f"{self.rules.seed} {number}")
        board, resignable = Board(start), 0
        words: list[str] = []
        self.new_game()
        for ply in range(self.rules.longest):
            ended = ending_of(board)
            if ended:
                return Played(start, words, *ended)
            move, value = self.think(board)
            if rng.random() < self._random_share(ply, value):
                move = rng.choice(board.legal_moves())
                words += [move, "-"]
            else:
                words += [move, str(value)]
                resignable = resignable + 1 if abs(value) >= self.rules.resign else 0
            if resignable >= self.rules.resign_plies:
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
    """Complete games in a file; an incomplete last line is cut off."""
    if not path.exists():
        return 0
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        path.write_bytes(whole)
    return whole.count(b"\n")


def map_in_order(
    players: Sequence[Player], work: Callable[[Player, Task], Result], tasks: Iterable[Task]
) -> Iterator[Result]:
    """Results of the tasks, in their order; each player works on one task at a time."""
    free: SimpleQueue[Player] = SimpleQueue()
    for player in players:
        free.put(player)

    def run(task: Task) -> Result:
        player = free.get()
        try:
            return work(player, task)
        finally:
            free.put(player)

    pool, waiting = ThreadPoolExecutor(len(players)), deque[Future[Result]]()
    try:
        for task in tasks:
            waiting.append(pool.submit(run, task))
            while waiting and (waiting[0].done() or len(waiting) >= WAITING_TASKS * len(players)):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def play_games(
    weights: Evaluation | None, openings: list[str], rules: PlayRules, numbers: range, threads: int
) -> Iterator[Played]:
    """The games of these numbers in order, several at once."""
    order = random.Random(rules.seed).sample(openings, len(openings))
    players = [Player(weights, rules) for _ in range(threads)]
    return map_in_order(players, lambda player, number: player.play(order[number % len(order)], number), numbers)


def selfplay(
    weights: Evaluation | None, openings: list[str], path: Path, games: int, *, rules: PlayRules, threads: int
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
