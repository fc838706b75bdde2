"""The bench: fixed positions, fixed depth, cleared state. Its node count is the signature of the search.

It uses one thread whatever `Threads` says, because node counts of several threads are not reproducible.
"""

import time
from collections.abc import Iterable

from usi_engine.core import Core, Evaluation, StopToken
from usi_engine.game.console import STOPPED, speed_line
from usi_engine.memory import check_free
from usi_engine.search.iterative import iterative_deepening

DEPTH = 16
MEGABYTES = 16

# The start position, two positions with very many moves, and positions from self-play.
POSITIONS = (
    "startpos",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
    "ln1k1gsnl/1sgr3b1/1p3p1p1/2ppp1p1p/p8/1P1PPP2P/P1P3PP1/1BSRG4/LNK2GSNL w - 24",
    "4r3l/lk1s1n1b1/1s1g1g1p1/1ppNPpp1p/p2P5/1PP1G1PPP/P4SG1L/1BS1R4/LK6+n w N3P 96",
    "6s1+R/l1k1+N1g2/1s5p1/2pP1Bp1p/1p7/PPP1G1PPP/1S3SG1L/L3R4/1K6+n w BGL6P2n 144",
    "ln1g1gk1l/1sr6/pp1ppsnpp/2pb2p2/5p1P1/P1P1B1P2/1P1PPPN1P/1SR3GS1/LN1G3KL w - 30",
    "l2g2k1l/1sr2g3/ppnp+N2p1/6p2/P2Ps2np/2P2bP2/1PS1P3P/2BGR1GS1/LN5KL w 2P3p 54",
    "l7l/1sr1B2k1/pp1pg1np1/9/P2ns1P2/2P5P/1PS1PP2K/3GR2G1/LN6L w BGS4Pn3p 78",
    "l3bn2l/1s3GG1k/pp1p1Spp1/4N4/P5P2/2G3K1P/1P2PP3/5R3/LN3b2L w RG2SN6Pp 126",
    "lnsg4l/3rg1sk1/1ppp1pnpp/p5B2/4pPp1P/PPPP5/2S1P1PP1/4GR1S1/LN1G2KNL w b 36",
    "ln1g3kl/2sr2s2/1pp4pp/p2Pgp3/4pnB1P/PPP2P3/2SpP1PP1/4G2S1/LN3RKNL w BPg 60",
    "l+R6l/3+PgPsk1/1pps3p1/p2g1pg1p/4p4/PPP2N3/3B1GPP1/5SKS1/+r6NL w b2nl4p 108",
    "ln2g2k1/2r1gs1bl/pp1s2np1/2ppppp1p/P3P4/1PPP1PS1P/4SGPP1/1BR6/LN1G2KNL w - 42",
    "lr5k1/7bl/ppnsg1n2/2pp1sgpp/PP2p1p2/2PP1P1PP/2B2GP2/1R1GS1SK1/LN2P2NL w p 90",
    "4r1bk1/l1+N3g1l/p+Rn4p1/5s2p/P2Pp1pg1/2p2P2P/5G1S1/3BS1PK1/LN2P3L w S4Pgn2p 138",
)


def bench(core: Core, weights: Evaluation | None, depth: int | None, megabytes: int | None, stop: StopToken) -> str:
    """Search every position, with the material value if `weights` is None; return `nodes N time MS nps X`."""
    begun = time.perf_counter()
    nodes = count_nodes(core, weights, POSITIONS, depth or DEPTH, megabytes or MEGABYTES, stop=stop)
    return STOPPED if stop.is_set() else speed_line(nodes, time.perf_counter() - begun)


def count_nodes(
    core: Core,
    weights: Evaluation | None,
    sfens: Iterable[str],
    depth: int,
    megabytes: int = MEGABYTES,
    *,
    stop: StopToken | None = None,
) -> int:
    """Search each position from a cleared state with full windows; return the sum of nodes, fewer if stopped.

    MemoryError if the table does not fit.
    """
    check_free(megabytes)
    table, nodes = core.table(megabytes), 0
    worker = core.worker(table, stop or core.stop_token(), weights)
    worker.configure()
    for sfen in sfens:
        table.clear()
        worker.new_game()
        worker.set_root(core.board(sfen))
        for _ in iterative_deepening(worker, depth, aspiration=False):
            pass
        nodes += worker.nodes
    return nodes
