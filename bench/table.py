"""Timing and tables of the benches."""

import time
from collections.abc import Callable, Iterable, Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table


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


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with a left-aligned first column and right-aligned others."""
    table = Table(box=SIMPLE)
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(str, row))
    console = Console()
    Console(width=console.width if console.is_terminal else 120).print(table)


def show(title: str, unit: str, ours: float, peers: dict[str, float], aim: float) -> None:
    """Print Komadori's rate (`ours`) and those of other programs, fastest first, all in millions a second."""
    rows = sorted([("Komadori", ours), *peers.items()], key=lambda row: -row[1])
    print(f"{title}, one thread (aim: {aim:g} million {unit} a second; others: on a 2.6 GHz Zen 5)", flush=True)
    print_table(("program", f"million {unit}/s"), [(name, f"{rate:.2f}") for name, rate in rows])
