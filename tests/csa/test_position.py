"""Moves and positions: CSA to USI and back."""

from __future__ import annotations

import re

import pytest

from core_ext.board import Board
from tests.csa.server import START_POSITION
from usi_engine import language
from usi_engine.csa.position import GamePosition, floodgate_comment

HANDICAP = START_POSITION.replace("P2 * -HI *  *  *  *  * -KA *", "P2 *  *  *  *  *  *  *  *  *")[:-1] + "-"


def start() -> GamePosition:
    return GamePosition(START_POSITION.splitlines())


def test_moves() -> None:
    """Captures with promotion and drops, both ways."""
    position = start()
    assert (position.start, position.turn) == (Board().sfen(), "+")
    assert position.command() == "position startpos"
    assert position.command("7g7f") == "position startpos moves 7g7f"
    for csa, usi in (("+7776FU", "7g7f"), ("-3334FU", "3c3d"), ("+8822UM", "8h2b+"), ("-3122GI", "3a2b")):
        assert position.csa(usi) == csa
        assert position.push(csa) == usi
    assert position.csa("B*5e") == "+0055KA"
    assert position.push("+0055KA") == "B*5e"
    assert position.command() == "position startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e"


def test_handicap() -> None:
    position = GamePosition(HANDICAP.splitlines())
    assert (position.turn, position.push("-3334FU")) == ("-", "3c3d")
    assert position.command().startswith("position sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1 m")


@pytest.mark.parametrize("csa", ["+7775FU", "-3334FU", "+0055FU", "+7776KI", "+7776XX", "", "+5958KA"])
def test_illegal_csa(csa: str) -> None:
    position = start()
    with pytest.raises(ValueError, match=rf"^illegal move: '{re.escape(csa)}'$"):
        position.push(csa)
    assert position.moves == []


@pytest.mark.parametrize("usi", ["7g7e", "3c3d", "resign", "P*5e", "", "7g7f+"])
def test_illegal_usi(usi: str) -> None:
    with pytest.raises(ValueError, match=r"illegal|not a move"):
        start().csa(usi)


@pytest.mark.parametrize("lines", [["nonsense"], ["P1-XX"], []])
def test_no_position(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="not a CSA position"):
        GamePosition(lines)
    with pytest.raises(ValueError, match=r"^a king is missing in '4k4/9/9/9/9/9/9/9/9 b - 1'$"):
        GamePosition(["P-51OU", "+"])


def test_faults_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_translate", "{} (translated)".format)
    with pytest.raises(ValueError, match=r" \(translated\)$"):
        start().push("+7775FU")
    for lines in (["P-51OU", "+"], ["P-51OU", "P+59OU52KI", "+"], ["P-51OU52OU", "P+59OU", "+"]):
        with pytest.raises(ValueError, match=r" \(translated\)$"):
            GamePosition(lines)


def test_comment() -> None:
    position = start()
    assert floodgate_comment(position, 30, ["7g7f", "3c3d"]) == "* 30 -3334FU"
    assert floodgate_comment(position, 30, []) == "* 30"
    assert floodgate_comment(position, None, ["7g7f", "3c3d"]) == ""
    position.push("+7776FU")
    assert floodgate_comment(position, 30, ["3c3d", "2g2f", "rep_draw"]) == "* -30 +2726FU"
