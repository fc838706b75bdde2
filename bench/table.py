"""Timing and tables of the benches."""

import time
from collections.abc import Callable

from usi_engine.match.report import print_table


def best_rate(work: Callable[[], int], rounds: int = 5, prepare: Callable[[], object] = lambda: None) -> float:
    """Return the units per second of the fastest round, because other programs can only slow a round down.

    `work` returns the number of units; `prepare` runs before each round and is not timed.
    """
    rates = []
    for _ in range(rounds):
        prepare()
        begin = time.perf_counter()
        units = work()
        rates.append(units / (time.perf_counter() - begin))
    return max(rates)


def show(title: str, unit: str, ours: float, peers: dict[str, float], aim: float) -> None:
    """Print Komadori's rate (`ours`) and those of other programs, fastest first, all in millions a second."""
    rows = sorted([("Komadori", ours), *peers.items()], key=lambda row: -row[1])
    print(f"{title}, one thread (aim: {aim:g} million {unit} a second; others: on a 2.6 GHz Zen 5)", flush=True)
    print_table(("program", f"million {unit}/s"), [(name, f"{rate:.2f}") for name, rate in rows])
