"""The place Analyse without a browser: its tree, what it refuses, its searches and files."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.records.common import RECORDS, game_of
from usi_engine.play.analysis_place import LONGEST_COMMENT, MOST_LINES, AnalysisPlace
from usi_engine.play.analysis_tree import AnalysisTree
from usi_engine.play.browser_server import Events, Refused
from usi_engine.play.library import Library
from usi_engine.play.shared_game import SharedGame
from usi_engine.records.ends import End
from usi_engine.records.games import parse_record
from usi_engine.records.kif import write_kif

FIRST = ("7g7f", "3c3d", "2g2f")


class NoGame(SharedGame):
    """The place Play without an engine; keeps what was asked to be played on."""

    def __init__(self) -> None:
        self.asked = list[Any]()

    def play_on(self, record: Any, wanted: Any) -> None:
        self.asked.append((record.moves, wanted["level"]))


@pytest.fixture
def place() -> Iterator[AnalysisPlace]:
    """The start position, with piece values as evaluation."""
    with closing(AnalysisPlace(NoGame(), Library(None), Events(), "material")) as made:
        yield made


def act(place: AnalysisPlace, action: str, **values: Any) -> None:
    place.posts[action]({"node": place.state()["here"], **values})


def wait(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def moves(place: AnalysisPlace) -> list[str | None]:
    """The moves of all nodes in their order."""
    return [node["usi"] for node in place.state()["nodes"]]


def test_a_tree(place: AnalysisPlace) -> None:
    """A known move is walked, a new one is a variation; what is promoted replaces the end of the game."""
    act(place, "move", moves=list(FIRST))
    act(place, "go", node=0)
    act(place, "move", moves=["7g7f", "8c8d"])
    assert moves(place) == [None, *FIRST, "8c8d"]
    assert [node["main"] for node in place.state()["nodes"]] == [True, True, True, True, False]
    act(place, "promote")
    assert moves(place) == [None, "7g7f", "8c8d", "3c3d", "2g2f"]
    act(place, "load", text=write_kif(parse_record("startpos moves 7g7f 3c3d")))
    place._tree.node(2).end = End("TORYO")
    act(place, "go", node=2)
    act(place, "move", moves=["2g2f"])
    assert place.state()["nodes"][-1]["main"] is False
    act(place, "promote")
    assert place.state()["nodes"][-1]["main"] is True
    act(place, "go", node=0)
    act(place, "delete", node=1)
    assert moves(place) == [None]
    act(place, "move", moves=["7g7f", "3c3d", "6g6f", "8c8d", "2h6h"])
    assert [node["why"] for node in place.state()["nodes"]][-2:] == [[], ["Opening: Fourth-file rook"]]


@pytest.mark.parametrize("action, values, message", [
    ("move", {"moves": ["7g7e"]}, "'7g7e' is not legal here"), ("move", {"moves": "7g7f"}, "not legal"),
    ("move", {"moves": [["7g7f"]]}, "not legal"), ("go", {"node": 99}, "changed in the meantime"),
    ("go", {"node": [0]}, "changed in the meantime"), ("delete", {}, "start cannot be deleted"),
    ("comment", {"text": "x" * (LONGEST_COMMENT + 1)}, "at most"), ("comment", {"text": 1}, "at most"),
    ("engine", {"lines": MOST_LINES + 1}, "lines cannot be"), ("engine", {"lines": "2"}, "lines cannot be"),
    ("load", {"text": "no record"}, "not a game record"), ("open", {"name": "../x"}, "there is no game '../x'"),
])  # fmt: skip
def test_refused_actions_change_nothing(
    place: AnalysisPlace, action: str, values: dict[str, Any], message: str
) -> None:
    before = place.state()
    with pytest.raises(ValueError, match=message):
        act(place, action, **values)
    assert place.state() == before


def test_the_engine_follows_the_board(place: AnalysisPlace) -> None:
    """It searches only what is shown, with as many lines as are asked for."""
    act(place, "move", moves=["7g7f"])
    assert place.engine.state() == {}
    act(place, "engine", shown=True, lines=2)
    wait(lambda: place.engine.state().get("node") == 1 and len(place.engine.state()["lines"]) == 2)
    act(place, "go", node=0)
    wait(lambda: place.engine.state()["node"] == 0)
    act(place, "engine", shown=False)
    wait(lambda: place.engine._stream is None)


def test_the_whole_game(place: AnalysisPlace) -> None:
    """Values fill in as they are found, the page comes at the end, and files have the values."""
    game = game_of(RECORDS / "handicap.kif")
    place._tree = AnalysisTree(game)
    act(place, "whole")
    wait(lambda: place.state()["whole"]["ready"])
    assert all(node["win"] is not None for node in place.state()["nodes"])
    assert place.gets["analysis.html"]("").body.startswith(b"<!DOCTYPE html>")
    for kind in ("kif", "ki2", "csa", "jkf", "usi"):
        text = place.gets["file"](kind).body.decode()
        assert parse_record(text).moves == game.moves
        assert ("評価値" in text) == (kind == "kif")
    act(place, "whole", stop=True)
    with pytest.raises(Refused):
        place.gets["analysis.html"]("")
    with pytest.raises(Refused):
        place.gets["file"]("pdf")


def test_play_on(place: AnalysisPlace) -> None:
    act(place, "move", moves=list(FIRST))
    act(place, "go", node=2)
    act(place, "play", level=3, side="black")
    assert isinstance(place._shared, NoGame)
    assert place._shared.asked == [(FIRST[:2], 3)]
