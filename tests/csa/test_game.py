"""A game on a server: start positions, moves in CSA and USI, comments; an engine's answers at odd times."""

from __future__ import annotations

import re

import pytest

from tests.csa.instant_engine import InstantEngine, game_of, offer
from tests.csa.server import START_POSITION
from usi_engine import language
from usi_engine.csa.game import ServerGame, floodgate_comment, offered_game
from usi_engine.csa.protocol import MoveMade
from usi_engine.usi.process import Answer, EngineGone

HANDICAP = START_POSITION.replace("P2 * -HI *  *  *  *  * -KA *", "P2 *  *  *  *  *  *  *  *  *")[:-1] + "-"


def moved(*moves: str, position: str = START_POSITION) -> tuple[ServerGame, InstantEngine]:
    """Return a game after these moves, and its engine."""
    engine = InstantEngine(lambda event: None)
    return game_of(*moves, position=position, engine=engine), engine


def test_moves() -> None:
    """Captures with promotion and drops."""
    played, _ = moved("+7776FU", "-3334FU", "+8822UM", "-3122GI", "+0055KA")
    assert played.game.position == "startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e"
    handicap, _ = moved("-3334FU", position=HANDICAP)
    assert handicap.game.position == "sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1 moves 3c3d"


@pytest.mark.parametrize("csa", ["+7775FU", "-3334FU", "+0055FU", "+7776KI", "+7776XX", "+5958KA"])
def test_illegal_moves(csa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is in the language of messages."""
    monkeypatch.setattr(language, "_translate", "{} (translated)".format)
    with pytest.raises(ValueError, match=rf"^illegal move: '{re.escape(csa)}' \(translated\)$"):
        game_of(position=f"{START_POSITION}\n{csa}")
    played, engine = moved(csa)
    assert played.game.moves == [] and not engine.goes


def test_comment() -> None:
    """In Black's view of the value, and from the reply on, to the first move that is not legal."""
    game = offered_game(offer())
    assert floodgate_comment(game, 30, ["7g7f", "3c3d"]) == "* 30 -3334FU"
    assert floodgate_comment(game, 30, []) == "* 30"
    assert floodgate_comment(game, None, ["7g7f", "3c3d"]) == ""
    game.push("7g7f")
    assert floodgate_comment(game, 30, ["3c3d", "2g2f", "rep_draw"]) == "* -30 +2726FU"


def test_an_engine_that_answers_too_early_searches_again() -> None:
    """It must not answer a search on the opponent's time before the ponderhit, which would then have no answer."""
    engine = InstantEngine(lambda event: None)
    played = game_of(engine=engine, ponder=True)
    played.begin()
    played.handle(Answer(1, "7g7f", "3c3d"))
    played.handle(MoveMade("+7776FU"))
    played.handle(MoveMade("-3334FU"))
    assert engine.goes[1:] == ["7g7f 3c3d ponder", "7g7f 3c3d"]


def test_the_end_of_an_earlier_process_is_ignored() -> None:
    """It was started again between two games."""
    played, engine = moved()
    played.begin()
    played.handle(EngineGone(engine.starts - 1, ""))
    assert len(engine.goes) == 1
    played.handle(EngineGone(engine.starts, ""))
    assert len(engine.goes) == 2
