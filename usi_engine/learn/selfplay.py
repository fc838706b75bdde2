"""Self-play games, labelled by their own search, in the text format that learn.sources reads.

Each game has a number. The seed and that number determine its random choices, so that an interrupted run resumes where
the file ends. A game that the file holds already is replaced by another one of the same number.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core_ext.board import BLACK, Board
from core_ext.engine import INFINITE, MATE_BOUND, MAX_DEPTH, StopToken, Table, Worker
from usi_engine.core import board_of, load_core, load_weights
from usi_engine.iterative import iterative_deepening
from usi_engine.learn.files import check_output, naming
from usi_engine.learn.game import SourceError
from usi_engine.learn.pool import Work
from usi_engine.learn.progress import Progress

if TYPE_CHECKING:
    from core_ext.engine import Evaluation

# The table: room for ten entries a node of one search, and never less than the megabytes.
TABLE_MEGABYTES = 8
TABLE_BYTES_PER_NODE = 160
OPENING_LINES = 8  # that an opening move is drawn from, at most
OPENING_NODES = 2  # times the nodes of a move, for all these lines; the depth in which they are reached is finished
ATTEMPTS = 10  # to play a game that the file does not hold
WHOLE_GAME = re.compile(rb"[bwd]\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\n")
BEGUN_GAME = re.compile(rb"[bwd](\t[^\t\n]*){0,3}")


@dataclass(frozen=True)
class PlayRules:
    """How the games are played."""

    nodes: int = 1500
    random_plies: int = 8
    random_share: float = 0.5  # of the opening moves; the others are searched
    opening_margin: int = 0  # centipawns; if set, every opening move is drawn from those so near to the best one
    later_random_share: float = 0.0  # of the moves after the opening, while the score is within `later_random_score`
    later_random_score: int = 1500
    longest: int = 320  # plies; then the game is a draw
    resign: int = 1500  # centipawns that end a game after `resign_plies` in a row
    resign_plies: int = 4
    play_out_share: float = 0.1  # of the games, which go on to their end, so that endings are learned too
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

    @property
    def key(self) -> int:
        """Equal for games of equal moves, whatever their scores; of this process only."""
        return key_of(self.start, self.words)


def key_of(start: str, words: Sequence[str]) -> int:
    """Hash of start and moves; every other word is a score."""
    return hash((start, *words[::2]))


class Player:
    """One process's worker and table."""

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

    def evaluated(self, board: Board, nodes: int, every: int) -> list[list[str]]:
        """The lines to every so many-th position that a search evaluates, but for those after a null move."""
        self.worker.sample(max(1, every), nodes)
        self.think(board, nodes=nodes)
        lines = self.worker.samples()
        self.worker.sample(0)
        return lines

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

    def near_best(self, board: Board, margin: int) -> list[str]:
        """The best move and those at most `margin` centipawns below it, of the first OPENING_LINES."""
        limit = OPENING_NODES * self.rules.nodes
        lines = min(OPENING_LINES, self.worker.set_root(board))
        self.table.new_search()
        found: list[tuple[str, int]] = []
        for _ in iterative_deepening(self._core, self.worker, MAX_DEPTH, multipv=lines):
            found = [(line.pv[0], line.value) for line in self.worker.lines(lines)]
            if self.worker.nodes >= limit or abs(found[0][1]) >= MATE_BOUND:
                break
        least = max(value for _, value in found) - margin
        return [move for move, value in found if value >= least]

    def _random_share(self, ply: int, value: int) -> float:
        """How likely the move at this ply is random."""
        rules = self.rules
        if ply < rules.random_plies:
            return rules.random_share
        return rules.later_random_share if abs(value) <= rules.later_random_score else 0.0

    def _choose(self, board: Board, ply: int, rng: random.Random) -> tuple[str, int | None]:
        """The next move of a game and its value for the side to move; None where chance chose the move."""
        if self.rules.opening_margin and ply < self.rules.random_plies:
            return rng.choice(self.near_best(board, self.rules.opening_margin)), None
        move, value = self.think(board)
        if rng.random() < self._random_share(ply, value):
            return rng.choice(board.legal_moves()), None
        return move, value

    def play(self, start: str, number: int, attempt: int = 0) -> Played:
        """One whole game; another one with each `attempt`."""
        rng = random.Random(f"{self.rules.seed} {number}" + (f" {attempt}" if attempt else ""))
        board, resignable = Board(start), 0
        resigns = rng.random() >= self.rules.play_out_share
        words: list[str] = []
        self.new_game()
        for ply in range(self.rules.longest):
            ended = ending_of(board)
            if ended:
                return Played(start, words, *ended)
            move, value = self._choose(board, ply, rng)
            words += [move, "-" if value is None else str(value)]
            if value is not None:
                resignable = resignable + 1 if abs(value) >= self.rules.resign else 0
                if resigns and resignable >= self.rules.resign_plies:
                    return Played(start, words, winner(board, value > 0), "score")
            board.push(move)
        return Played(start, words, "d", "length")


def new_player(weights: str, rules: PlayRules) -> Player:
    """A player with the weights of this name. WeightsError."""
    return Player(load_weights(weights), rules)


def play_task(player: Player, task: tuple[str, int]) -> Played:
    """The game from this start with this number."""
    return player.play(*task)


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
    core, found = load_core(), list[str]()
    for number, line in enumerate(path.read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1):
        try:
            found += [board_of(core, line.strip()).sfen()] if line.strip() else []
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    if not found:
        raise ValueError(f"{path} holds no position")
    return found


def keys_in(path: Path) -> list[int]:
    """The key of each complete game in a file; an incomplete last line is cut off. SourceError for another file."""
    keys: list[int] = []
    check_output(path)
    if not path.exists():
        return keys
    whole = 0
    with path.open("rb") as lines:
        for line in lines:
            check_game(path, len(keys) + 1, line)
            if line.endswith(b"\n"):
                whole += len(line)
                start, words = line.decode(errors="replace").rstrip("\n").split("\t")[2:]
                keys.append(key_of(start, words.split()))
    if whole < path.stat().st_size:
        os.truncate(path, whole)
    return keys


def check_game(path: Path, number: int, line: bytes) -> None:
    """SourceError where a line, if whole, is no game, or cannot be the beginning of one."""
    whole = line.endswith(b"\n")
    if not (WHOLE_GAME if whole else BEGUN_GAME).fullmatch(line):
        quoted = line[:60].decode(errors="replace").rstrip()
        raise SourceError(f"{path}, line {number}: not a game: '{quoted}'; nothing is added to this file")


def play_games(weights: str, openings: list[str], rules: PlayRules, numbers: range, threads: int) -> Iterator[Played]:
    """The games of these numbers in order, several at once in processes of their own."""
    order = random.Random(rules.seed).sample(openings, len(openings))
    tasks = ((order[number % len(order)], number) for number in numbers)
    return Work(new_player, (weights, rules), play_task).results(tasks, threads)


def replayed(player: Player, game: Played, number: int, known: set[int]) -> Played:
    """Another game of this number that is not `known`; `game` itself if there seems to be none."""
    others = (player.play(game.start, number, attempt) for attempt in range(1, ATTEMPTS))
    return next((other for other in others if other.key not in known), game)


def selfplay(weights: str, openings: list[str], path: Path, games: int, *, rules: PlayRules, threads: int) -> int:
    """Append games to `path` until it holds `games`; returns how many were played now. OSError, WeightsError."""
    keys = keys_in(path)
    begun, known = len(keys), set(keys)
    player: Player | None = None
    progress = Progress("games", games - begun, begun)
    with naming(path), open(path, "a", encoding="utf-8") as file:
        for number, played in enumerate(play_games(weights, openings, rules, range(begun, games), threads), begun):
            game = played
            if game.key in known:
                player = player or new_player(weights, rules)
                game = replayed(player, game, number, known)
            known.add(game.key)
            file.write(game.line)
            file.flush()
            progress.add(1, len(game.words) // 2)
    return max(games - begun, 0)
