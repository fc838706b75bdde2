"""An environment of PettingZoo (AEC): two agents move in turn.

The observation has `observation`, the planes of the side to move, and `action_mask`. A win is 1, a draw 0, a loss -1;
an illegal action loses.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from encoding import ACTIONS, SHAPE, action_mask, legal_actions, planes, result_of
from pettingzoo import AECEnv
from pettingzoo.test import api_test

from usi_engine import Board

AGENTS = ["player_0", "player_1"]  # Black, White


class ShogiAec(AECEnv[str, dict[str, Any], int]):  # type: ignore[misc]
    """A game of shogi, a draw after `most_moves` moves."""

    metadata = {"render_modes": ["ansi"], "name": "shogi_v0", "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, most_moves: int = 320, render_mode: str | None = None) -> None:
        super().__init__()
        self.possible_agents, self.most_moves, self.render_mode = AGENTS[:], most_moves, render_mode
        mask, box = gymnasium.spaces.Box(0, 1, (ACTIONS,), np.int8), gymnasium.spaces.Box(0, 1, SHAPE, np.float32)
        space = gymnasium.spaces.Dict({"observation": box, "action_mask": mask})
        self.observation_spaces = dict.fromkeys(AGENTS, space)
        self.action_spaces = {agent: gymnasium.spaces.Discrete(ACTIONS) for agent in AGENTS}
        self.board = Board()

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.board, self.agents = Board(), AGENTS[:]
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations, self.truncations = dict.fromkeys(AGENTS, False), dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self.board.turn]

    def observe(self, agent: str) -> dict[str, Any]:
        to_move = agent == AGENTS[self.board.turn]
        mask = action_mask(self.board) if to_move else np.zeros(ACTIONS, np.int8)
        return {"observation": planes(self.board), "action_mask": mask}

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        move = legal_actions(self.board).get(-1 if action is None else int(action))
        if move is None:
            self.end(-1 if agent == AGENTS[0] else 1)
        else:
            self.board.push(move)
            self.end(result_of(self.board, self.most_moves))
        self.agent_selection = AGENTS[1 - AGENTS.index(agent)]
        self._accumulate_rewards()

    def end(self, result: int | None) -> None:
        """End the game if there is a result for Black."""
        if result is not None:
            self.rewards = {AGENTS[0]: float(result), AGENTS[1]: float(-result)}
            self.terminations = dict.fromkeys(AGENTS, True)

    def render(self) -> str:
        return self.board.ascii()

    def close(self) -> None:
        """Nothing is open."""


if __name__ == "__main__":
    api_test(ShogiAec(), num_cycles=1000)
    print("PettingZoo: the API test passes")
