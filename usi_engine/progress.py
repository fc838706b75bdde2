"""Progress of long runs on standard error: a bar on a terminal, or a line every few seconds for a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

REPORT_SECONDS = 10.0
POSITIONS = "positions"  # the unit of runs that count nothing else


class Progress:
    """A count of units, such as games: `total` in all (0 if unknown), of which earlier runs have done `begun`.

    `every`: seconds between the lines of a log, 0 for none. Without lines, only a known total is shown.
    """

    def __init__(self, unit: str, total: int = 0, begun: int = 0, every: float = REPORT_SECONDS) -> None:
        self.unit, self.total, self.every = unit, total, every
        self.begun = self.done = begun
        self.positions = 0
        self._started = self._reported = time.monotonic()
        self._bar = new_bar(unit, total, begun) if (total or every) and sys.stderr.isatty() else None

    def __enter__(self) -> Progress:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar:
            self._bar.stop()

    def add(self, done: int = 1, positions: int = 0, note: str = "") -> None:
        """Count, and show the note beside the count."""
        self.done += done
        self.positions += done if self.unit == POSITIONS else positions
        now = time.monotonic()
        if self._bar:
            self._bar.update(self._bar.task_ids[0], completed=self.done, note=note)
        elif self.every and now - self._reported >= self.every:
            self._reported = now
            print(self.line(now - self._started, note), file=sys.stderr, flush=True)

    def line(self, seconds: float, note: str = "") -> str:
        """Return the line for the counts after this time."""
        seconds, done = max(seconds, 1e-3), self.done - self.begun
        parts = [f"{self.done}{f'/{self.total}' if self.total else ''} {self.unit}"]
        if self.positions:
            parts += [f"{self.positions} {POSITIONS}"] if self.unit != POSITIONS else []
            rate = self.positions / seconds
            parts.append(f"{rate:.{0 if rate >= 10 else 1}f} a second")
        parts += [note] if note else []
        if done and self.done < self.total:
            parts.append(f"{(self.total - self.done) * seconds / done / 60:.1f} min left")
        return ", ".join(parts)


def new_bar(unit: str, total: int, begun: int) -> RichProgress:
    """Return a bar that is shown once it is started, and disappears when it is stopped."""
    from rich import progress as rich  # noqa: PLC0415  (slow to import; not needed in play)
    from rich.console import Console  # noqa: PLC0415

    columns = rich.BarColumn(), rich.MofNCompleteColumn(), rich.TimeRemainingColumn()
    bar = rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        *columns,
        rich.TextColumn("{task.fields[note]}", markup=False),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # which would otherwise go to standard error
    )
    bar.add_task(unit, total=total or None, completed=begun, note="")
    return bar
