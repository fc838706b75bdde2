"""How often the engine chooses the move that was played, at fixed nodes: a quick measure of weights.

    python -m bench.strength.next_moves next_moves.tsv --nodes 100000 --count 400 --eval my.kpp

The file has a position and the move played in it on each line, `sfen<TAB>move`, and may have more columns; `#` begins a
comment. Each position is searched by one thread with an empty table and fresh histories, so results are reproducible.
The standard error is that of a share of independent positions; two settings compared on the same positions vary less.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

from core_ext.board import Board
from usi_engine.evaluation.load import load_evaluation
from usi_engine.player import Player, PlayRules
from usi_engine.usi.arguments import whole


def read_rows(path: Path, first: int, count: int) -> list[tuple[str, str]]:
    """(sfen, move) of the lines from the `first` on."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    fields = [line.split("\t") for line in lines[first : first + count]]
    return [(row[0], row[1]) for row in fields]


def chosen_move(player: Player, sfen: str) -> str:
    """The move of a search with an empty table and fresh histories."""
    player.table.clear()
    player.worker.new_game()
    return player.think(Board(sfen))[0]


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--nodes", type=whole(1), default=100_000)
    parser.add_argument("--count", type=whole(1), default=400)
    parser.add_argument("--first", type=whole(), default=0)
    parser.add_argument("--eval", default="<internal>", help="a file of weights, <internal> or material")
    chosen = parser.parse_args()
    rows = read_rows(chosen.file, chosen.first, chosen.count)
    if not rows:
        raise SystemExit(f"{chosen.file}: no position from number {chosen.first} on")
    player = Player(load_evaluation(chosen.eval), PlayRules(nodes=chosen.nodes))
    started = time.process_time()
    hits = sum(chosen_move(player, sfen) == move for sfen, move in rows)
    share = hits / len(rows)
    print(
        f"{chosen.eval}: {hits} of {len(rows)} moves, {100 * share:.1f} % "
        f"+- {100 * math.sqrt(share * (1 - share) / len(rows)):.1f} at {chosen.nodes} nodes, "
        f"{time.process_time() - started:.0f} s"
    )


if __name__ == "__main__":
    main()
