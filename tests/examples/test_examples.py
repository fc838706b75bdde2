"""The engines of examples/ through USI, the notebook, planes and actions of examples/research."""

import ast
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.shogi.notation import flip_sfen
from tests import positions
from tests.engine.usi_transport import Program
from tests.programs import ROOT

EXAMPLES = ROOT / "examples"
PLAYERS = ("show_board", "random_player", "captures_first", "alpha_beta")
MATE_IN_ONE = f"sfen {positions.MATE_IN_ONE}"
# A gold can capture a bishop or a pawn.
TWO_CAPTURES = "sfen k8/9/9/9/9/9/3b1p3/4G4/K8 b - 1"
# Black's rook can capture a guarded silver, which loses the rook.
GUARDED = "sfen k8/9/4p4/4s4/9/9/9/4R4/K8 b - 1"


class Player(Program):
    """A running player, whose lines are not checked as those of the engine."""

    def __init__(self, name: str, *arguments: str) -> None:
        super().__init__(str(EXAMPLES / f"{name}.py"), *arguments, program=[sys.executable])

    def _checked(self, raw: bytes) -> str:
        return raw.decode("ascii").rstrip("\n")

    def _check_moves(self, line: str) -> None:
        """Do nothing."""

    def lines_to(self, word: str) -> list[str]:
        """Return the lines up to one that begins with `word`."""
        begun = len(self.seen)
        self.expect(f"^{word}")
        return self.seen[begun:]

    def move(self, position: str) -> str:
        """Return the move for the arguments of `position`."""
        self.send(f"position {position}", "go btime 0 wtime 0 byoyomi 1000")
        return self.lines_to("bestmove")[-1].split()[1]

    def close(self) -> None:
        self.send("quit")
        super().close()


@pytest.fixture(scope="module", params=PLAYERS)
def player(request: pytest.FixtureRequest) -> Iterator[Player]:
    with closing(Player(request.param)) as running:
        yield running


def test_handshake_and_ends_of_games(player: Player) -> None:
    player.send("usi")
    assert player.lines_to("usiok")[0].startswith("id name ")
    player.send("setoption name USI_Hash value 1", "isready", "usinewgame")
    player.lines_to("readyok")
    assert player.move(f"sfen {positions.MATED}") == "resign"
    assert player.move(f"sfen {positions.DECLARABLE}") == "win"
    player.send("go mate infinite")
    assert player.lines_to("checkmate")[-1] == "checkmate notimplemented"
    player.send(f"position {MATE_IN_ONE}", "position startpos moves 7g7e", "go depth 1")  # refused: it changes nothing
    lines = player.lines_to("bestmove")
    assert "'7g7e'" in lines[0] and Board(MATE_IN_ONE).is_legal(lines[-1].split()[1])


def test_an_infinite_search_waits_for_its_stop(player: Player) -> None:
    for begin, end in (("go infinite", "stop"), ("go ponder btime 1 wtime 1", "ponderhit")):
        player.send("position startpos", begin, "usi")
        assert not any(line.startswith("bestmove") for line in player.lines_to("usiok"))
        player.send(end)
        assert Board().is_legal(player.lines_to("bestmove")[-1].split()[1])


@pytest.mark.parametrize(("black", "white"), [("random_player", "captures_first"), ("show_board", "alpha_beta")])
def test_players_play_legal_games(black: str, white: str) -> None:
    board = Board()
    with closing(Player(black)) as first, closing(Player(white)) as second:
        for _ in range(8):
            for player in (first, second):
                if not board.is_game_over():
                    board.push(player.move(" ".join(["startpos moves", *board.moves()])))
    assert len(board.moves()) == 16 or board.is_game_over()


def test_the_board_is_shown() -> None:
    board = Board.from_moves(["7g7f", "3c3d", "8h3c+"])
    with closing(Player("show_board")) as player:
        player.send("position startpos moves " + " ".join(board.moves()), "go infinite", "stop")
        lines = player.lines_to("bestmove")
    shown = [line.removeprefix("info string ") for line in lines[:-1]]
    assert "\n".join(shown).startswith(board.ascii())
    assert board.sfen() in shown and "check by 3c" in shown
    assert f"{len(board.legal_moves())} legal moves" in "\n".join(shown)


def test_random_moves_repeat_with_their_seed() -> None:
    games = []
    for seed in ("1", "1", "2"):
        with closing(Player("random_player", seed)) as player:
            games.append([player.move("startpos") for _ in range(12)])
    assert games[0] == games[1] != games[2]
    assert len(set(games[0])) > 5


@pytest.mark.parametrize("name", ["captures_first", "alpha_beta"])
def test_a_mate_or_the_best_capture_is_played(name: str) -> None:
    with closing(Player(name, "1")) as player:
        assert Board.from_moves([player.move(MATE_IN_ONE)], MATE_IN_ONE).is_checkmate()
        assert player.move(TWO_CAPTURES) == "5h6g"
        assert player.move(GUARDED) != "5h5d"


NOTEBOOK = EXAMPLES / "analysis.ipynb"
CODE = [cell for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; return the value of its last expression, as Jupyter shows it."""
    tree = ast.parse(source)
    last = tree.body.pop()
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)
    exec(compile(ast.Module([last], []), str(NOTEBOOK), "exec"), names)
    return None


def test_every_cell_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in CODE)
    monkeypatch.chdir(EXAMPLES)
    names: dict[str, Any] = {}
    shown = {cell["id"]: run_cell("".join(cell["source"]), names) for cell in CODE}
    assert "<svg" in shown["board"]._repr_svg_()
    assert shown["moves"] == names["board"].sfen()
    printed = capsys.readouterr().out
    assert "-3122GI 同　銀(31)" not in printed and "-3122GI ２二銀(31) 3a2b" in printed
    assert names["solved"].found and names["problem"].is_legal(names["solved"].moves[0])
    assert len(names["found"].lines) == 3
    assert len(names["scores"]) == len(names["game"].moves) + 1


def test_actions_and_planes_are_those_of_the_rotated_board(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make examples` checks the environments, which need other libraries."""
    monkeypatch.syspath_prepend(str(EXAMPLES / "research"))
    encoding: Any = import_module("encoding")
    for board in positions.random_boards(1, 600):
        actions, other = encoding.legal_actions(board), Board(flip_sfen(board.sfen()))
        assert len(actions) == len(board.legal_moves) == encoding.action_mask(board).sum()
        assert sorted(actions) == sorted(encoding.legal_actions(other)) and max(actions) < encoding.ACTIONS
        assert np.array_equal(encoding.planes(board), encoding.planes(other))
        assert encoding.planes(board)[:28].sum() == len(board.piece_map())
