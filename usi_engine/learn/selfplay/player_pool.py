"""Players in processes of this machine, or on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from usi_engine.learn.pool import Work
from usi_engine.player import Player, PlayRules, new_player


@dataclass(frozen=True)
class PlayerPool:
    """Names of evaluations, the rules by which they play, and the processes: a number, or HOST:PORT of a scheduler."""

    weights: tuple[str, ...]
    rules: PlayRules
    threads: int = 1
    scheduler: str = ""

    def players(self) -> list[Player]:
        """Return a player for each evaluation. WeightsError."""
        return new_players(self.rules, *self.weights)

    def results(self, do: Callable[[list[Player], Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield `do(players, task)` for each task in order, see Work."""
        return Work(new_players, (self.rules,), do, self.weights).results(tasks, self.threads, self.scheduler)


def new_players(rules: PlayRules, *weights: str) -> list[Player]:
    return [new_player(rules, name) for name in weights]
