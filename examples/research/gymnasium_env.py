"""An environment of gymnasium: the agent plays Black or White, as drawn, against random moves.

The observation is `planes`, an action is a number of `encoding`; `info["action_mask"]` has the legal ones. A win is 1,
a draw 0, a loss -1; an illegal action loses.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from encoding import ACTIONS, SHAPE, Planes, action_mask, legal_actions, planes, result_of
from gymnasium.utils.env_checker import check_env

from usi_engine import Board

Step = tuple[Planes, float, bool, bool, dict[str, Any]]


class ShogiEnv(gymnasium.Env[Planes, np.int64]):  # type: ignore[misc]
    """A game of shogi, a draw after `most_moves` moves."""

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012  (gymnasium's)

    def __init__(self, most_moves: int = 320, render_mode: str | None = None) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 1, SHAPE, np.float32)
        self.action_space = gymnasium.spaces.Discrete(ACTIONS)
        self.most_moves, self.render_mode = most_moves, render_mode
        self.board, self.color = Board(), 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Planes, dict[str, Any]]:
        super().reset(seed=seed)
        self.board, self.color = Board(), int(self.np_random.integers(2))
        if self.color:
            self.answer()
        return planes(self.board), self.info()

    def step(self, action: np.int64) -> Step:
        move = legal_actions(self.board).get(int(action))
        if move is None:
            return planes(self.board), -1.0, True, False, self.info()
        self.board.push(move)
        if result_of(self.board, self.most_moves) is None:
            self.answer()
        result = result_of(self.board, self.most_moves)
        reward = 0.0 if result is None else float(-result if self.color else result)
        return planes(self.board), reward, result is not None, False, self.info()

    def answer(self) -> None:
        """Make a random move."""
        self.board.push(int(self.np_random.choice(self.board.legal_array())))

    def info(self) -> dict[str, Any]:
        return {"action_mask": action_mask(self.board)}

    def render(self) -> str:
        return self.board.ascii()


def play(env: ShogiEnv, seed: int) -> float:
    """Play a game of random legal actions; return its reward."""
    _, info = env.reset(seed=seed)
    while True:
        action = env.np_random.choice(np.flatnonzero(info["action_mask"]))
        _, reward, ended, cut, info = env.step(action)
        if ended or cut:
            return reward


if __name__ == "__main__":
    check_env(ShogiEnv(render_mode="ansi"), skip_render_check=False)
    print("gymnasium: the checker passes; rewards of random games:", [play(ShogiEnv(), seed) for seed in range(10)])
