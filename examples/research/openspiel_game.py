"""A game of OpenSpiel, as in its python games: actions of `encoding`, returns 1, 0 and -1."""

from __future__ import annotations

from typing import Any

import pyspiel
from encoding import ACTIONS, legal_actions, result_of

from usi_engine import Board, move_to_usi

MOST_MOVES = 320
TYPE = pyspiel.GameType(
    short_name="komadori_shogi",
    long_name="Shogi",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={},
)
INFO = pyspiel.GameInfo(
    num_distinct_actions=ACTIONS,
    max_chance_outcomes=0,
    num_players=2,
    min_utility=-1.0,
    max_utility=1.0,
    utility_sum=0.0,
    max_game_length=MOST_MOVES,
)


class ShogiGame(pyspiel.Game):  # type: ignore[misc]
    """Shogi, a draw after MOST_MOVES moves."""

    def __init__(self, params: Any = None) -> None:
        super().__init__(TYPE, INFO, params or {})

    def new_initial_state(self) -> ShogiState:
        return ShogiState(self)


class ShogiState(pyspiel.State):  # type: ignore[misc]
    """A board; player 0 is Black."""

    def __init__(self, game: ShogiGame) -> None:
        super().__init__(game)
        self.board = Board()
        self.result: int | None = None

    def current_player(self) -> int:
        return int(pyspiel.PlayerId.TERMINAL) if self.is_terminal() else self.board.turn

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(legal_actions(self.board))

    def _apply_action(self, action: int) -> None:
        self.board.push(legal_actions(self.board)[action])
        self.result = result_of(self.board, MOST_MOVES)

    def _action_to_string(self, player: int, action: int) -> str:
        return move_to_usi(legal_actions(self.board)[action])

    def is_terminal(self) -> bool:
        return self.result is not None

    def returns(self) -> list[float]:
        return [float(self.result or 0), -float(self.result or 0)]

    def __str__(self) -> str:
        return self.board.sfen()


pyspiel.register_game(TYPE, ShogiGame)

if __name__ == "__main__":
    pyspiel.random_sim_test(pyspiel.load_game("komadori_shogi"), num_sims=10, serialize=True, verbose=False)
    print("OpenSpiel: the API test passes")
