"""Search of positions, each from a cleared state, so their order does not matter; its limits, and kept results.

The results are kept in the user's cache folder, one line of JSON for each position, so that an analysis can resume.
The files are in `analysis/` of the cache folder (files.user_folder). A file's name is a checksum of the game and of
everything that the results depend on: limits, threads, table size, evaluation, version. Later runs that write other
outputs use them too. A damaged file never stops a run: invalid lines are skipped, and only regular files are read.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from core_ext.board import Board
from usi_engine import __version__
from usi_engine.analysis.judgement import judge
from usi_engine.api.engine import Engine
from usi_engine.evaluation.load import evaluation_file
from usi_engine.evaluation.names import INTERNAL
from usi_engine.files import INVALID, KeptRows, user_folder
from usi_engine.language import _
from usi_engine.records.tree import Node, Record
from usi_engine.records.usi_text import MOVE
from usi_engine.search.results import MOST_NODES, Analysis, Limit, Score, Variation, Watch
from usi_engine.usi.arguments import DAY, adder, real, spin, whole
from usi_engine.usi.info import MATE

LARGE = 10.0  # points lost: a move whose positions are searched EFFORT times as long, others SMALL_EFFORT times
EFFORT, SMALL_EFFORT = 10, 3
SHOWN = 6  # plies, at least, of the lines beside a bad move
KEPT_FILES = 500  # of about 40 KB each
LARGEST_FILE = 64 * 2**20  # bytes


@dataclass(frozen=True)
class Limits:
    """How each position is searched: `limit`, of nodes or time; number of lines; and the engine."""

    limit: Limit
    threads: int = 1
    megabytes: int = 64
    evaluation: str = INTERNAL
    multipv: int = 1


def add_limits(parser: argparse.ArgumentParser, nodes: int) -> None:
    """Add the options; `nodes` is the default limit."""
    add, limit = adder(parser), adder(parser.add_mutually_exclusive_group())
    limit("--nodes N", _("nodes for each position (default {nodes})").format(nodes=nodes), whole(1, MOST_NODES))
    limit("--seconds S", _("seconds for each position instead"), real(0.001, DAY))
    add("--threads N", _("search threads (1)"), spin("Threads"), 1)
    add("--hash MB", _("size of the transposition table in MB (64)"), spin("USI_Hash"), 64)
    add("--eval FILE", _("weights or network, as the option EvalFile"), default=INTERNAL)
    parser.set_defaults(default_nodes=nodes)


def read_limits(args: argparse.Namespace) -> Limits:
    """Return the limits that the command line names."""
    limit = Limit(time=args.seconds) if args.seconds else Limit(nodes=args.nodes or args.default_nodes)
    return Limits(limit, args.threads, args.hash, args.eval)


def with_effort(limits: Limits, effort: int, multipv: int) -> Limits:
    """Return the limits times `effort`, for this many lines."""
    nodes, time = limits.limit.nodes, limits.limit.time
    more = Limit(nodes=min(nodes * effort, MOST_NODES)) if nodes else Limit(time=(time or 0) * effort)
    return replace(limits, limit=more, multipv=multipv)


def in_words(limits: Limits) -> str:
    """Return the limit of a position as text."""
    if limits.limit.nodes:
        return _("{nodes} nodes").format(nodes=limits.limit.nodes)
    return _("{seconds:g} s").format(seconds=limits.limit.time)


class Analyst:
    """An engine that evaluates positions. WeightsError or MemoryError if the evaluation cannot be loaded."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._engine = Engine(limits.evaluation, threads=limits.threads, megabytes=limits.megabytes)

    def evaluate(
        self, board: Board, lines: int = 0, moves: Sequence[str] = (), *, effort: int = 1, watch: Watch | None = None
    ) -> Analysis:
        """Return the value and best lines of a position. KeyboardInterrupt stops the search.

        `lines`: their number, 0 for that of the limits; `moves`: the root moves to search, empty for all; `effort`: the
        factor of the limits. `watch` is called on another thread.
        """
        limits = with_effort(self._limits, effort, lines or self._limits.multipv)
        self._engine.new_game()
        return self._engine.analyse(board, limits.limit, multipv=limits.multipv, moves=moves or None, watch=watch)

    def look(self, board: Board, lines: int, effort: int) -> Analysis:
        """Return a result to show: a longer search's best line has at least SHOWN plies, if the game goes on."""
        found = self.evaluate(board, lines, effort=effort)
        if effort == 1 or not found.lines or found.score.plies_to_end is not None:
            return found
        pv, end = found.pv, board.copy()
        more = pv
        while more:
            for move in more:
                end.push(move)
            more = self._engine.analyse(end, self._limits.limit).pv if len(pv) < SHOWN else ()
            pv += more
        return replace(found, lines=(replace(found.best, pv=pv), *found.lines[1:]))


def analyse(record: Record, evaluate: Callable[[int, Board], Analysis], *, variations: bool = False) -> Iterator[Node]:
    """Give each node of the main line, or of all lines, its analysis, and yield it.

    `evaluate` gets the number of the node in the order of the walk, on the main line its ply, and its position.
    """
    for number, step in enumerate(record.walk()):
        if step.begins_variation and not variations:
            return
        step.node.analysis = evaluate(number, step.board)
        yield step.node


def confirm(record: Record, search: Callable[[int, Board, int], Analysis]) -> Iterator[Node]:
    """Search the positions before and after bad moves again, longer, until no other grade comes up; yield their nodes.

    `search` gets the number of the node, its position and the factor of the limits. Small losses can be noise of the
    search, and a reason for a large one must hold in a search of ten times the nodes.
    """
    numbers = {step.node: (number, step.board.copy()) for number, step in enumerate(record.walk())}
    efforts = dict[Node, int]()
    while pairs := list(unconfirmed(numbers, efforts)):
        for node, effort in pairs:
            if efforts.get(node, 1) < effort:
                node.quick, node.analysis = node.quick or node.analysis, search(*numbers[node], effort)
                efforts[node] = effort
                yield node


def unconfirmed(nodes: Iterable[Node], efforts: Mapping[Node, int]) -> Iterator[tuple[Node, int]]:
    """Yield the nodes around bad moves that lack the effort that their grade asks for, and this effort."""
    for node in nodes:
        move = judge(node)
        if move is None or node.parent is None or not (move.grade or move.missed_mate):
            continue
        effort = EFFORT if move.loss >= LARGE else SMALL_EFFORT
        yield from ((one, effort) for one in (node.parent, node) if efforts.get(one, 1) < effort)


def store_path(record: Record, limits: Limits) -> Path | None:
    """Return the file for this record and these limits; None without a cache folder. WeightsError, OSError."""
    folder = user_folder("cache")
    if folder is None:
        return None
    weights = evaluation_file(limits.evaluation)
    state = [weights.stat().st_size, weights.stat().st_mtime_ns] if weights and weights.is_file() else []
    tree = [(step.ply, step.node.move) for step in record.walk()]
    key = json.dumps([__version__, record.start, tree, asdict(limits), state])
    return folder / "analysis" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.jsonl"


class Store:
    """The results of a record by the number of the node; in memory only if there is no file or it cannot be used.

    `anew`: drop the contents of the file.
    """

    def __init__(self, path: Path | None, *, anew: bool = False) -> None:
        self._rows: KeptRows | None = None
        self._kept: dict[object, Any] = {}  # what a row has for a node
        with suppress(OSError):
            # A pipe would block for ever; a link could lead anywhere.
            if path is None or path.is_symlink() or (path.exists() and not path.is_file()):
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            if anew or (path.exists() and path.stat().st_size > LARGEST_FILE):
                path.unlink(missing_ok=True)
            delete_old(path.parent)
            self._rows = KeptRows(path)
        for row in self._rows.rows if self._rows else ():
            with suppress(*INVALID):
                number, *fields = row
                self._kept[number] = fields

    def get(self, number: int, board: Board) -> Analysis | None:
        """Return the kept result of this position, if there is a valid one whose lines begin with legal moves."""
        with suppress(*INVALID):
            value, depth, nodes, milliseconds, *lines = self._kept[number]
            found = tuple(read_line(board, *fields) for fields in lines)
            return Analysis(found, score_in(board, value), int(depth), int(nodes), int(milliseconds) / 1000)
        return None

    def put(self, number: int, result: Analysis) -> Analysis:
        """Keep a result and return it."""
        lines = [[line.score.value, line.depth, line.seldepth, *line.pv] for line in result.lines]
        fields = [result.score.value, result.depth, result.nodes, round(result.time * 1000), *lines]
        self._kept[number] = fields
        with suppress(OSError):
            if self._rows:
                self._rows.add([number, *fields])
        return result


def read_line(board: Board, value: Any, depth: Any, seldepth: Any, *pv: Any) -> Variation:
    """Return the line in these fields. One of INVALID."""
    if not all(MOVE.fullmatch(move) for move in pv) or not board.is_legal(pv[0]):
        raise ValueError
    return Variation(score_in(board, value), pv, int(depth), int(seldepth))


def score_in(board: Board, value: Any) -> Score:
    """Return the score for the side to move. One of INVALID."""
    if abs(value) > MATE:
        raise ValueError
    return Score(int(value), board.turn)


def delete_old(folder: Path) -> None:
    """Delete the oldest files beyond KEPT_FILES. OSError."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: file.lstat().st_mtime, reverse=True)
    for old in files[KEPT_FILES:]:
        old.unlink(missing_ok=True)
