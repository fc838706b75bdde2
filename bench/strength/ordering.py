"""Measure move ordering: which move causes a cutoff, by depth left and by stage of the move picker.

    CORE_EXT_PROFILE=count python setup.py --quiet build
    python -m bench.strength.ordering [--eval material] [--nodes 500000] [--set NAME=VALUE ...]

The counting build in build/ does not replace the release build. One thread searches ten positions of games, each from
a cleared state. Counts cutoffs by a searched move, without singular searches and without cutoffs by TT, reverse
futility, null move or ProbCut. Depth 0 is quiescence. Columns: mean number of moves tried, including the one that
failed high; percent of cutoffs: by the first move, with a hash move, by a move of each stage.
"""

import importlib
import math
import sys
from collections import Counter
from collections.abc import Iterable

from bench import ROOT
from bench.command import new_parser
from bench.table import print_table
from usi_engine.core import Core, load_core
from usi_engine.evaluation.load import load_evaluation
from usi_engine.evaluation.names import INTERNAL
from usi_engine.game.bench import POSITIONS as BENCH_POSITIONS
from usi_engine.search.iterative import iterative_deepening
from usi_engine.usi.arguments import whole

MEGABYTES = 256
# Four openings (after 22 and 24 plies), then six positions of `usi_engine bench`, all from games.
POSITIONS = (
    "ln1g1ksnl/2s3gb1/p1pppp1pp/1r4p2/9/2P4R1/PP1PPPP1P/1BG1GS3/LNS1K2NL b Pp 23",
    "ln1gk2nl/1rs3g2/2ppppsp1/p7p/1p7/P1P3R2/1P1PPPP1P/1SG1K2P1/LN3GSNL b BPb 25",
    "lns1g1knl/1r3sg2/2pppp3/p5ppp/1p7/2PP4P/PPG1PPP2/3KGS1R1/LNS4NL b Bbp 25",
    "ln1gk1snl/3s2g2/p1ppppbpp/6p2/9/P4rPP1/1PPPP1N1P/1BG3SR1/LNSK1G2L b 2p 25",
    *(BENCH_POSITIONS[index] for index in (3, 4, 6, 7, 11, 13)),
)
# Numbers of movepick.pxd; the hash move comes before the first stage.
STAGES = {1: "hash", 2: "capture", 3: "quiet", 4: "bad capture", 5: "bad quiet", 6: "evasion"}
SHARES = ("first", "with hash", *STAGES.values())
DEPTHS = 12  # the last row of the table includes deeper nodes

Cuts = Counter[str]  # cutoffs, and how many of them count for each column of the table


def use_counting_build() -> None:
    """Import the core from the counting build; exit if there is none."""
    found = sorted((ROOT / "build").glob(f"count-*/lib*{sys.implementation.cache_tag}"))
    if not found:
        raise SystemExit("no counting build; make one: CORE_EXT_PROFILE=count python setup.py --quiet build")
    sys.path.insert(0, str(found[0]))


def search(core: Core, sfens: Iterable[str], weights: str, nodes: int) -> list[list[int]]:
    """Search each position for `nodes` nodes; return for each the node counts after depth 1, 2, 3 ..."""
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
    """Sum the counts by depth left."""
    cuts = [Cuts() for _ in range(DEPTHS + 1)]
    for (depth, stage), (nodes, first, moves, with_hash) in counts.items():
        cuts[min(depth, DEPTHS)].update({"cut": nodes, "first": first, "moves": moves, "with hash": with_hash})
        cuts[min(depth, DEPTHS)][STAGES[stage]] += nodes
    return cuts


def row(name: str, cuts: Cuts) -> list[str]:
    """Return a row of the table, with shares in percent."""
    nodes = max(cuts["cut"], 1)
    shares = [f"{100 * cuts[column] / nodes:.1f}" for column in SHARES]
    return [name, str(cuts["cut"]), f"{cuts['moves'] / nodes:.2f}", *shares]


def print_cuts(cuts: list[Cuts]) -> None:
    """Print the table by depth left."""
    rows = [row(str(depth), one) for depth, one in enumerate(cuts)]
    rows += [row("1 to 3", sum(cuts[1:4], Cuts())), row("4 and more", sum(cuts[4:], Cuts()))]
    print_table(["depth", "cut", "moves", *SHARES], rows)


def print_depths(finished: list[list[int]]) -> None:
    """Print the mean depth, and the geometric mean of the nodes to depths that every position finished."""
    depths = [len(one) for one in finished]
    print(f"depth finished: {sum(depths) / len(depths):.1f} ({' '.join(map(str, depths))})")
    common = min(depths)
    for depth in range(max(common - 2, 1), common + 1):
        mean = math.exp(sum(math.log(one[depth - 1]) for one in finished) / len(finished))
        print(f"nodes to depth {depth}: {mean:.0f}")


def main() -> None:
    parser = new_parser(__doc__)
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
