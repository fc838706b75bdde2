"""Timing and the table that every bench prints: our figure beside the peers'."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_rate(work: Callable[[], int], rounds: int = 5) -> float:
    """Units a second of the fastest round: noise only ever slows down. `work` returns how many units it did."""
    rates = []
    for _ in range(rounds):
        begin = time.perf_counter()
        units = work()
        rates.append(units / (time.perf_counter() - begin))
    return max(rates)


def show(title: str, unit: str, ours: float, peers: dict[str, float], aim: float) -> None:
    """One table, fastest first; figures in millions."""
    print(f"\n{title} (million {unit} a second, one thread; aim {aim:g})")
    rows = sorted([("Komadori", ours), *peers.items()], key=lambda row: -row[1])
    for name, rate in rows:
        print(f"  {name:<14}{rate:>9.1f}" + ("  <" if name == "Komadori" else ""))
