"""Players in processes of this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from usi_engine.learn.pool import Work
from usi_engine.player import PlayRules


@dataclass(frozen=True)
class PlayerPool:
    """Names of evaluations, the rules by which they play, and the processes: a number, or HOST:PORT of a scheduler."""

    weights: tuple[str, ...]
    rules: PlayRules
    threads: int = 1
    scheduler: str = ""

    def results(self, set_up: Callable[..., Any], do: Callable[[Any, Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield `do(set_up(rules, *weights), task)` for each task in order, see Work."""
        return Work(set_up, (self.rules,), do, self.weights).results(tasks, self.threads, self.scheduler)
