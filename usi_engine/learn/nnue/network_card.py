"""The card beside a network: its training, and the tempo that its values leave out."""

from __future__ import annotations

import json
from pathlib import Path

from usi_engine.evaluation.network_file import network_path

CARD_SUFFIX = ".card.json"
TEMPO_KEY = "tempo_left_out"
MOST_TEMPO = 1000  # centipawns


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
