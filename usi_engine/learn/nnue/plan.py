"""Settings of the training of a network. The command line shows their defaults without importing PyTorch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

WARM_START_RATE = 8e-4
RUN_ONLY = ("device", "threads", "checkpoint_minutes")


@dataclass(frozen=True)
class NetworkPlan:
    """Settings of a training run. Rates are those of Adam for weights in natural units."""

    network: str
    epochs: int = 10
    batch: int = 16384
    rate: float = 4e-3  # the highest
    last_rate: float = 0.01  # share of the rate at the end
    decay: float = 0.3  # of the transformer's weights, times the rate
    epsilon: float = 1e-8  # of Adam; larger values slow down weights with small gradients
    rounded: float = 0.3  # last share of the steps, with rounded weights in the forward pass
    score_scale: float = 600.0
    result_share: float = 0.0
    # Centipawns for the right to move, left out of the exported network's values. Scores include it; pruning margins
    # and quiescence need values without it. Chosen by games (docs/findings.md).
    tempo: int = 60
    seed: int = 1
    positions: int = 0  # 0: all
    warm_start: str = ""  # a network to start from, as an EvalFile names it
    device: str = "auto"
    threads: int = 0  # of torch on a CPU; 0: all cores
    checkpoint_minutes: float = 10.0

    @property
    def identity(self) -> dict[str, Any]:
        """The settings that the weights depend on."""
        return {name: value for name, value in asdict(self).items() if name not in RUN_ONLY}
