"""Self-play: resumable, reproducible, in order."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.learn.helpers import read_games, records_of
from usi_engine.learn import selfplay as selfplay_module
from usi_engine.learn.selfplay import Played, PlayRules, games_in, opening_of, play_games, selfplay
from usi_engine.learn.sources import START, items_of


def test_a_run_resumes_and_repeats(tmp_path: Path) -> None:
    rules = PlayRules(nodes=60, longest=40)
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    assert selfplay(None, ["startpos"], whole, 6, rules=rules, threads=2) == 6
    assert selfplay(None, ["startpos"], broken, 2, rules=rules, threads=1) == 2
    broken.write_bytes(broken.read_bytes() + b"b\tscore\tstart")  # as if it had been killed while writing
    assert selfplay(None, ["startpos"], broken, 6, rules=rules, threads=1) == 4
    assert whole.read_bytes() == broken.read_bytes()
    assert games_in(whole) == 6
    assert len({tuple(game.moves) for game in items_of(whole)}) == 6
    assert len(records_of(read_games(whole))) > 60


def test_games_come_in_order_however_slowly_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game may end while the one before it is being written."""

    class Quick:
        def __init__(self, *_: object) -> None:
            """Takes weights and rules, and uses neither."""

        def play(self, start: str, number: int) -> Played:
            time.sleep(1e-4)
            return Played(start, [], "d", str(number))

    monkeypatch.setattr(selfplay_module, "Player", Quick)
    taken = []
    for game in play_games(None, ["startpos"], PlayRules(), range(100), 3):
        taken.append(game.ending)
        time.sleep(1e-3)
    assert taken == [str(number) for number in range(100)]


def test_openings_may_be_moves_or_sfens() -> None:
    assert opening_of("startpos moves 7g7f 3c3d").endswith("b - 3")
    assert opening_of(START) == START
