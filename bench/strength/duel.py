"""Play games between two settings of one build at fixed nodes: search constants, time constants, weights or books.

    python -m bench.strength.duel A --set LmrBase=500 --games 400 --nodes 20000 --keep runs/lmr

A is a name for the record. Side A plays with --set, --weights, --book and --nodes, side B with --set-b, --weights-b,
--book-b and --nodes-b, or the defaults. With --clock both have that time instead, counted in nodes
(bench.strength.nodestime), and --set also accepts the constants of usi_engine.search.timeman. Both sides play every
opening with both colours; a pair of games is one score. The duel ends when the sequential test accepts --elo0 or --elo1
(no test without --elo1), or after --games. The same command resumes it: FOLDER/pairs.jsonl has a line of JSON a pair.
Fixed nodes are independent of other work on the machine but ignore the time that a rule costs: measure that with
bench.speed.nps, or play a match at equal time (bench.strength.match).
"""

import argparse
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.command import new_parser, one_line
from bench.strength.elo import counts, estimate, verdict_text
from bench.strength.nodestime import ClockPlayer, NodeTime, time_constants
from bench.strength.run import Row, add_run_options, add_test_options, kept_rows, play_missing, shuffled_openings
from core_ext.board import BLACK, Board
from core_ext.engine import Evaluation, set_tunable, tunables
from usi_engine.book.book_player import BookPlayer, open_book, rules_of
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.learn.player import Lead, Player, PlayRules
from usi_engine.learn.workers import Work
from usi_engine.rules import LiveGame
from usi_engine.usi.arguments import real, whole
from usi_engine.usi.options import Options

LONGEST = 320
ADJUDICATION_SCORE, ADJUDICATION_PLIES = 2000, 6  # both sides report this lead (centipawns) for this many plies
TIME_CONSTANTS = time_constants()


class BookedPlayer:
    """Player with an opening book, used with the engine's default options. Raises BookError."""

    def __init__(self, player: Player | ClockPlayer, book: str, rng: random.Random) -> None:
        self._player, self._random = player, rng
        self._book = BookPlayer(open_book(book), print)
        self._rules = {black: rules_of(Options(), black) for black in (True, False)}

    def new_game(self) -> None:
        self._player.new_game()

    def think(self, board: Board) -> tuple[str, int]:
        """Return a move and its value for the side to move."""
        chosen = self._book.choose(board, self._rules[board.turn == BLACK], self._random)
        return (chosen.move, chosen.value) if chosen else self._player.think(board)


@dataclass(frozen=True)
class Setting:
    """The settings of one side."""

    nodes: int
    weights: str
    constants: dict[str, float] = field(default_factory=dict)
    clock: NodeTime | None = None
    book: str = ""

    def player(self, weights: Evaluation | None, rng: random.Random) -> Player | ClockPlayer | BookedPlayer:
        """Return a player with this setting; `rng` chooses its book moves."""
        player = ClockPlayer(weights, self.clock) if self.clock else Player(weights, PlayRules(nodes=self.nodes))
        return BookedPlayer(player, self.book, rng) if self.book else player


@dataclass
class Side:
    """Constants and player of one side."""

    constants: dict[str, float]
    player: Player | ClockPlayer | BookedPlayer


def ranges() -> dict[str, tuple[int, int, int]]:
    """Return default, least and greatest value of every search constant of tune.h."""
    return {name: (default, least, greatest) for name, _, default, least, greatest in tunables()}


def known_name(name: str, known: Iterable[str]) -> str:
    """Return the name. Raises ArgumentTypeError, which lists the known names, for any other."""
    if name not in known:
        raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(sorted(known))}")
    return name


def default_constants() -> dict[str, float]:
    """Return every constant that --set accepts, with its default."""
    search = {name: float(default) for name, (default, *_) in ranges().items()}
    return search | {name: value for name, (_, value) in TIME_CONSTANTS.items()}


def set_constant(name: str, value: float) -> None:
    if name in TIME_CONSTANTS:
        setattr(TIME_CONSTANTS[name][0], name, value)
    else:
        set_tunable(name, int(value))


class Duel:
    """Both sides in one process. `weights` are those of the settings, on a cluster's worker its own copies of them."""

    def __init__(self, settings: tuple[Setting, Setting], openings: list[str], *weights: str) -> None:
        defaults = default_constants()
        named = {name for setting in settings for name in setting.constants}
        loaded = {name: load_evaluation(name) for name in {*weights}}
        self._openings = openings
        self._random = random.Random()
        self._sides = []
        for setting, name in zip(settings, weights, strict=True):
            constants = {constant: setting.constants.get(constant, defaults[constant]) for constant in named}
            self._sides.append(Side(constants, setting.player(loaded[name], self._random)))

    def set_constants(self, first: Mapping[str, float], second: Mapping[str, float]) -> None:
        """Set the constants of both sides for the next games; both must name the same ones."""
        for side, constants in zip(self._sides, (first, second), strict=True):
            side.constants = dict(constants)

    def play_pair(self, number: int) -> dict[str, Any]:
        """Play one opening with both colours; return the points of side A with Black and with White."""
        opening = self._openings[number % len(self._openings)]
        begun = time.monotonic()
        self._random.seed(number)
        first, second = self._sides
        try:
            points, plies = self._play(opening, first, second)
            others, more = self._play(opening, second, first)
        finally:  # a cluster's worker goes on with other work
            for name, value in default_constants().items():
                set_constant(name, value)
        seconds = round(time.monotonic() - begun, 2)
        return {"pair": number, "points": [points, 1 - others], "plies": plies + more, "seconds": seconds}

    def _play(self, opening: str, *sides: Side) -> tuple[float, int]:
        """Play a game between Black and White; return Black's points and the number of plies."""
        for side in sides:
            side.player.new_game()

        def think(board: Board) -> tuple[str, int]:
            side = sides[board.turn]
            for name, value in side.constants.items():
                set_constant(name, value)
            return side.player.think(board)

        return play_out(opening, think, LONGEST)


def play_out(opening: str, think: Callable[[Board], tuple[str, int]], longest: int) -> tuple[float, int]:
    """Play a game; return Black's points and the number of plies. `think` returns a move and its value."""
    game, lead = LiveGame(opening), Lead(ADJUDICATION_SCORE)
    for ply in range(longest):
        if game.end is None and game.board.can_declare():
            game.declare()
        if game.end is not None:
            return {0: 1.0, 1: 0.0, None: 0.5}[game.end.winner], ply
        move, value = think(game.board)
        lead.add(game.turn, value)
        if lead.plies >= ADJUDICATION_PLIES:
            return float(lead.winner == BLACK), ply
        game.push(move)
    return 0.5, longest


def play_pair(duel: Duel, number: int) -> dict[str, Any]:
    return duel.play_pair(number)


def duel_work(
    settings: tuple[Setting, Setting], openings: list[str], do: Callable[[Duel, Any], Any]
) -> Work[Any, Any, Any]:
    """Return the work of playing pairs of games by `do`."""
    return Work(Duel, (settings, openings), do, tuple(setting.weights for setting in settings))


def read_settings(arguments: argparse.Namespace) -> tuple[Setting, Setting]:
    """Return the settings of both sides. Files are read here first: if one is missing, nothing is begun. ValueError."""
    a = arguments
    if a.scheduler and (a.book or a.book_b):
        raise ValueError("--scheduler: books are not sent to its workers")
    timed = [name for name, _ in a.set + a.set_b if name in TIME_CONSTANTS]
    if timed and not a.clock:
        raise ValueError(f"{timed[0]} needs --clock, without which it has no effect")
    first = Setting(a.nodes, a.weights, dict(a.set), a.clock, a.book)
    second = Setting(a.nodes_b or a.nodes, a.weights_b, dict(a.set_b), a.clock, a.book_b)
    for setting in (first, second):
        load_evaluation(setting.weights)
        if setting.book:
            open_book(setting.book)
    return first, second


def run(arguments: argparse.Namespace) -> None:
    """Play until the test or the number of games ends the duel; print the result."""
    books = arguments.book or arguments.book_b  # only a book varies the games of an opening
    sides, openings = read_settings(arguments), shuffled_openings(arguments, 0 if books else arguments.games)
    kept = kept_rows(arguments, "pairs.jsonl", ("name",))
    played, pairs = {row["pair"] for row in kept.rows}, range((arguments.games + 1) // 2)
    missing = [number for number in pairs if number not in played]

    def show(rows: list[Row]) -> str:
        return standing(arguments, rows)

    work = duel_work(sides, openings, play_pair)
    for _pair in play_missing(kept, work, missing, arguments, total=len(pairs), standing=show, scores=sum_pairs):
        pass
    print(show(kept.rows), flush=True)


def sum_pairs(pairs: list[dict[str, list[float]]]) -> list[float]:
    return [sum(pair["points"]) / 2 for pair in pairs]


def standing(arguments: argparse.Namespace, pairs: list[dict[str, list[float]]]) -> str:
    """Return one line: games, result, score and Elo with 95 % intervals (by pairs), and the test."""
    points = [point for pair in pairs for point in pair["points"]]
    if not points:
        return f"{arguments.name}: no games"
    line = f"{arguments.name}: {counts(points)}, {estimate(sum_pairs(pairs)).text()}"
    if arguments.elo1 is not None:
        line += f", test {verdict_text(sum_pairs(pairs), arguments.elo0, arguments.elo1)}"
    return line


def constant(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    if known_name(name, default_constants()) in TIME_CONSTANTS:
        return name, real(0, 1e6)(value)
    return name, whole(*ranges()[name][1:])(str(int(value)))


def parse() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument("name")
    parser.add_argument("--set", nargs="*", default=[], type=constant, metavar="NAME=VALUE")
    parser.add_argument("--set-b", nargs="*", default=[], type=constant, metavar="NAME=VALUE")
    parser.add_argument("--weights", default=INTERNAL, help="a file, <internal> or material")
    parser.add_argument("--weights-b", default=INTERNAL)
    parser.add_argument("--book", default="", help="a file, or <internal>; default: no book")
    parser.add_argument("--book-b", default="")
    parser.add_argument("--nodes", type=whole(1), default=20000)
    parser.add_argument("--nodes-b", type=whole(), default=0, help="0: the same as side A")
    parser.add_argument(
        "--clock", type=NodeTime.read, metavar="MAIN+INCREMENT[/NODES]", help="milliseconds, and nodes per millisecond"
    )
    add_test_options(parser, 400)
    add_run_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    with one_line("duel"):
        run(parse())
