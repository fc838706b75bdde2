"""Timing and the table that every bench prints: our figure beside the peers'."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_rate(work: Callable[[], int], rounds: int = 5, prepare: Callable[[], object] = lambda: None) -> float:
    """Units a second of the fastest round: noise only ever slows down.

    `work` returns how many units it did; `prepare` comes before each round and is not timed.
    """
    rates = []
    for _ in range(rounds):
        prepare()
        begin = time.perf_counter()
        units = work()
        rates.append(units / (time.perf_counter() - begin))
    return max(rates)


def show(title: str, unit: str, ours: float, peers: dict[str, float], aim: float) -> None:
    """One table, fastest first; figures in millions."""
    print(f"\n{title} (million {unit} a second, one thread; aim {aim:g})", flush=True)
    rows = sorted([("Komadori", ours), *peers.items()], key=lambda row: -row[1])
    for name, rate in rows:
        print(f"  {name:<24}{rate:>9.2f}" + ("  <" if name == "Komadori" else ""))
