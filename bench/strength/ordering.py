"""How well moves are ordered: which move cuts a node, by depth left and by stage of the move picker.

    CORE_EXT_PROFILE=count python setup.py --quiet build
    python -m bench.strength.ordering [--eval material] [--nodes 500000] [--set NAME=VALUE ...]

The counting build lies in build/ beside the release build and does not replace it. Ten positions of games are searched,
each by one thread from a cleared state. Counted are the nodes that a searched move cut: not those that the table,
reverse futility, null move or ProbCut cut before their moves, and no singular searches. Depth 0 is quiescence. Columns:
the mean number of moves tried, the cutting one included; in percent of the nodes cut: by the first move, with a hash
move, and by a move of each stage.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from bench import ROOT
from bench.table import print_table
from usi_engine.core import Core, load_core
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.game.bench import POSITIONS as BENCH_POSITIONS
from usi_engine.search.iterative import iterative_deepening
from usi_engine.usi.arguments import whole

MEGABYTES = 256
# Four openings (after 22 and 24 plies), then six of the positions of `usi_engine bench`, from games.
POSITIONS = (
    "ln1g1ksnl/2s3gb1/p1pppp1pp/1r4p2/9/2P4R1/PP1PPPP1P/1BG1GS3/LNS1K2NL b Pp 23",
    "ln1gk2nl/1rs3g2/2ppppsp1/p7p/1p7/P1P3R2/1P1PPPP1P/1SG1K2P1/LN3GSNL b BPb 25",
    "lns1g1knl/1r3sg2/2pppp3/p5ppp/1p7/2PP4P/PPG1PPP2/3KGS1R1/LNS4NL b Bbp 25",
    "ln1gk1snl/3s2g2/p1ppppbpp/6p2/9/P4rPP1/1PPPP1N1P/1BG3SR1/LNSK1G2L b 2p 25",
    *(BENCH_POSITIONS[index] for index in (3, 4, 6, 7, 11, 13)),
)
# By number in movepick.pxd; at the hash move the picker stands before its first stage.
STAGES = {1: "hash", 2: "capture", 3: "quiet", 4: "bad capture", 5: "bad quiet", 6: "evasion"}
DEPTHS = 12  # the last row of the table holds what is deeper too


@dataclass
class Cuts:
    """Nodes that a move cut."""

    nodes: int = 0
    first: int = 0  # by the first move
    moves: int = 0  # tried
    with_hash: int = 0
    stages: dict[int, int] = field(default_factory=dict)

    def add(self, stage: int, counts: tuple[int, int, int, int]) -> None:
        """The counts of one stage: nodes, first, moves, with_hash."""
        self.nodes, self.first = self.nodes + counts[0], self.first + counts[1]
        self.moves, self.with_hash = self.moves + counts[2], self.with_hash + counts[3]
        self.stages[stage] = self.stages.get(stage, 0) + counts[0]

    def row(self, name: str) -> list[str]:
        """The cells of the table; shares in percent."""
        nodes = max(self.nodes, 1)
        shares = [self.first, self.with_hash, *(self.stages.get(stage, 0) for stage in STAGES)]
        return [name, str(self.nodes), f"{self.moves / nodes:.2f}", *(f"{100 * share / nodes:.1f}" for share in shares)]


def use_counting_build() -> None:
    """Have the core imported from the counting build; ends the program where there is none."""
    found = sorted((ROOT / "build").glob(f"count-*/lib*{sys.implementation.cache_tag}"))
    if not found:
        raise SystemExit("no counting build; make one: CORE_EXT_PROFILE=count python setup.py --quiet build")
    sys.path.insert(0, str(found[0]))


def search(core: Core, sfens: Iterable[str], weights: str, nodes: int) -> list[list[int]]:
    """Search each position until the nodes are spent; returns for each the nodes after depth 1, 2, 3 ..."""
    table, found = core.table(MEGABYTES), []
    worker = core.worker(table, core.stop_token(), load_evaluation(weights))
    worker.configure()
    for sfen in sfens:
        table.clear()
        worker.new_game()
        worker.set_root(core.board(sfen))
        found.append([worker.nodes for _ in iterative_deepening(core, worker, core.max_depth, nodes)])
    return found


def cuts_by_depth(counts: dict[tuple[int, int], tuple[int, int, int, int]]) -> list[Cuts]:
    """Index: depth left."""
    cuts = [Cuts() for _ in range(DEPTHS + 1)]
    for (depth, stage), entry in counts.items():
        cuts[min(depth, DEPTHS)].add(stage, entry)
    return cuts


def total(cuts: Iterable[Cuts]) -> Cuts:
    """The sum of several depths."""
    found = Cuts()
    for one in cuts:
        found.nodes, found.first = found.nodes + one.nodes, found.first + one.first
        found.moves, found.with_hash = found.moves + one.moves, found.with_hash + one.with_hash
        for stage, nodes in one.stages.items():
            found.stages[stage] = found.stages.get(stage, 0) + nodes
    return found


def print_cuts(cuts: list[Cuts]) -> None:
    """The table by depth left."""
    rows = [one.row(str(depth)) for depth, one in enumerate(cuts)]
    rows += [total(cuts[1:4]).row("1 to 3"), total(cuts[4:]).row("4 and more")]
    print_table(["depth", "cut", "moves", "first", "with hash", *STAGES.values()], rows)


def print_depths(finished: list[list[int]]) -> None:
    """Mean depth, and the geometric mean of the nodes to the depths that every position finished."""
    depths = [len(one) for one in finished]
    print(f"depth finished: {sum(depths) / len(depths):.1f} ({' '.join(map(str, depths))})")
    common = min(depths)
    for depth in range(max(common - 2, 1), common + 1):
        mean = math.exp(sum(math.log(one[depth - 1]) for one in finished) / len(finished))
        print(f"nodes to depth {depth}: {mean:.0f}")


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eval", default=INTERNAL, help="a file of weights, <internal> or material")
    parser.add_argument("--nodes", type=whole(1), default=500_000, help="a position")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="constants of tune.h")
    parser.add_argument("--sfen", action="append", help="this position instead; may be repeated")
    chosen = parser.parse_args()
    use_counting_build()
    core = load_core()
    ordering_counts = importlib.import_module("core_ext.search.counts").ordering_counts
    for pair in chosen.set:
        name, _, value = pair.partition("=")
        core.set_tunable(name, int(value))
    finished = search(core, chosen.sfen or POSITIONS, chosen.eval, chosen.nodes)
    print_cuts(cuts_by_depth(ordering_counts()))
    print_depths(finished)


if __name__ == "__main__":
    main()
