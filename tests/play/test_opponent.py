"""The engine as an opponent, on a thread of its own."""

from __future__ import annotations

import pytest

from usi_engine.core import CoreError
from usi_engine.play.opponent import Opponent


def test_an_engine_that_has_ended() -> None:
    """The player is told so, instead of waiting for ever."""
    opponent = Opponent(print)
    opponent.close()
    with pytest.raises(CoreError, match="the engine has ended"):
        opponent.new_game()
