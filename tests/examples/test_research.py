"""Planes and actions of examples/research; `make examples` checks the environments, which need other libraries."""

import random
import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.shogi.notation import flip_sfen
from tests.programs import ROOT


@pytest.fixture
def encoding(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "research"))
    yield import_module("encoding")
    sys.modules.pop("encoding")


def test_actions_and_planes_are_those_of_the_rotated_board(encoding: Any) -> None:
    rng = random.Random(1)
    for _ in range(5):
        board = Board()
        while board.ply < 120 and (moves := board.legal_moves()):
            board.push(rng.choice(moves))
            actions, other = encoding.legal_actions(board), Board(flip_sfen(board.sfen()))
            assert len(actions) == len(board.legal_moves) == encoding.action_mask(board).sum()
            assert sorted(actions) == sorted(encoding.legal_actions(other)) and max(actions) < encoding.ACTIONS
            assert np.array_equal(encoding.planes(board), encoding.planes(other))
            assert encoding.planes(board)[:28].sum() == len(board.piece_map())
