"""Settings of the training of a network and its card; the command line needs them without PyTorch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from usi_engine.evaluation.network_file import network_path

CARD_SUFFIX = ".card.json"
TEMPO_KEY = "tempo_left_out"
MOST_TEMPO = 1000  # centipawns
WARM_START_RATE = 8e-4


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
    result_share: float = 0.0
    loss_exponent: float = 0.0  # of the error of the winning chance; 0: the cross entropy
    # Centipawns for the right to move, left out of the exported network's values. Scores include it; pruning margins
    # and quiescence need values without it. Chosen by games (docs/findings.md).
    tempo: int = 60
    seed: int = 1
    positions: int = 0  # 0: all
    warm_start: str = ""  # a network to start from, as an EvalFile names it
    device: str = "auto"
    threads: int = 0  # of torch on a CPU; 0: all cores
    checkpoint_minutes: float = 10.0


def tempo_left_out(network: str | Path) -> int:
    """Return the centipawns of tempo that a network (file or folder) leaves out of its values; 0 without a card.

    OSError; ValueError if the card is damaged.
    """
    card = network_path(Path(network).expanduser()).with_suffix(CARD_SUFFIX)
    if not card.exists():
        return 0
    try:
        found = json.loads(card.read_text(encoding="utf-8")).get(TEMPO_KEY, 0)  # other programs' cards lack it
    except (ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{card} is damaged: {type(error).__name__} {error}") from None
    if type(found) is not int or not 0 <= found <= MOST_TEMPO:
        raise ValueError(f"{card}: its tempo is {str(found)[:80]}, not 0 to {MOST_TEMPO}")
    return found
