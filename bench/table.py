"""Timing, tables and progress bars of the benches."""

import sys
import time
from collections.abc import Callable, Iterable, Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
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


class Steps(Progress):
    """A progress bar of `total` units on stderr; if that is not a terminal, a line a minute."""

    def __init__(self, total: int, unit: str, done: int = 0) -> None:
        columns = TextColumn(unit), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        note = TextColumn("{task.fields[note]}", markup=False)
        super().__init__(*columns, note, console=Console(stderr=True), disable=not sys.stderr.isatty())
        self._unit, self._printed = unit, time.monotonic()
        self._task = self.add_task(unit, total=total, completed=done, note="")

    def step(self, note: str = "") -> None:
        """Count one unit, and show the note beside the count."""
        self.update(self._task, advance=1, note=note)
        task = self.tasks[0]
        if self.disable and (task.finished or time.monotonic() - self._printed >= 60):
            self._printed = time.monotonic()
            print(f"{task.completed:.0f}/{task.total:.0f} {self._unit}s {note}".rstrip(), file=sys.stderr, flush=True)
