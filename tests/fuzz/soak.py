"""`python -m tests.fuzz.soak`: fast games with pondering and changing options; memory and late answers in a log.

Two engines play all games. Each line of the log is one game; an interrupted run continues after the last line.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.positions import random_boards
from tests.programs import resident_megabytes
from usi_engine.clock import TimeControl
from usi_engine.files import KeptRows
from usi_engine.match.game import EngineConfig, Engines, Rules, Task, play_game
from usi_engine.usi.process import own_engine

LONGEST = 200  # plies of a game
OPENING_PLIES = 4  # random
FIXED = {"Threads": "2", "USI_Ponder": "true", "USI_OwnBook": "false", "NetworkDelay": "0",
         "NetworkDelay2": "0", "MinimumThinkingTime": "0", "RoundUpToFullSecond": "false"}  # fmt: skip
CHANGING = {
    "USI_Hash": ["1", "256"],
    "MultiPV": ["1", "1", "1", "2", "5"],
    "SlowMover": ["50", "100", "300"],
    "EnteringKingRule": ["CSARule27", "CSARule24H", "TryRule", "NoEnteringKing"],
    "GenerateAllLegalMoves": ["false", "true"],
    "ResignValue": ["99999", "3000"],
    "PvInterval": ["0", "300"],
}
CLOCKS = [(0, 30, 0), (0, 100, 0), (1000, 20, 0), (500, 0, 50), (2000, 0, 0)]  # main, byoyomi, increment; milliseconds
RULES = Rules(LONGEST, margin=10_000, ponder=True)


def soak_game(engines: Engines, number: int, share: float = 1.0) -> dict[str, Any]:
    """Play a game with random options and clocks; return its line of the log. AssertionError if an engine fails."""
    rng = random.Random(number)
    opening = f"startpos moves {' '.join([*random_boards(number, OPENING_PLIES)][-1].moves())}"
    options = {name: rng.choice(values) for name, values in CHANGING.items()}
    clock = [round(time * share) for time in rng.choice(CLOCKS)]
    engines.configs = tuple(replace(config, limit=TimeControl(*clock)) for config in engines.configs)
    row = play_game(engines, Task(number, opening, (number % 2, 1 - number % 2), (options, options)))
    assert not row["fault"], f"game {number}: {row}"
    memory = [resident_megabytes(process.pid) for process in engines.processes]
    overstep = -min((left for side in row["left"] for left in side), default=0.0)
    kept = {name: row[name] for name in ("ending", "moves", "seconds")}
    return {"game": number, "options": options, "clock": clock, **kept, "megabytes": memory, "overstep": overstep}


def summary(games: Sequence[dict[str, Any]]) -> str:
    """Return one line about the games of the log."""
    late = [game["overstep"] for game in games if game["overstep"] > 0]
    half, whole = (max(max(game["megabytes"]) for game in part) for part in (games[: len(games) // 2 + 1], games))
    text = f"{len(games)} games; {len(late)} late, by {max(late, default=0):.0f} ms at most"
    return f"{text}; {half} MB in the first half, {whole} MB in all"


def soak(path: Path, games: int, share: float = 1.0) -> list[dict[str, Any]]:
    """Play until the log holds `games` games."""
    path.parent.mkdir(parents=True, exist_ok=True)
    config = EngineConfig("Komadori", tuple(own_engine()), FIXED, TimeControl(1000))
    kept, engines = KeptRows(path), Engines((config, config), RULES)
    for number in range(len(kept.rows) + 1, games + 1):
        kept.add(soak_game(engines, number, share))
        if number % 10 == 0:
            print(summary(kept.rows), flush=True)
    return kept.rows


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.fuzz.soak", description=__doc__)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--clock-share", type=float, default=1.0, help="of the usual times of the clocks")
    parser.add_argument("--log", type=Path, default=Path("build/soak.jsonl"))
    chosen = parser.parse_args(words)
    print(summary(soak(chosen.log, chosen.games, chosen.clock_share)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
