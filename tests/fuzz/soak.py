"""`python -m tests.fuzz.soak`: fast games with pondering and changing options; memory and delays in a log.

Two engines play all games. Each line of the log is one game; an interrupted run continues after the last line.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core_ext.board import Board
from tests.fuzz.conversation import Talk
from usi_engine.clock import Clock, TimeControl
from usi_engine.files import KeptRows
from usi_engine.rules import LiveGame
from usi_engine.usi.protocol import Times

LONGEST = 200  # plies of a game
OPENING_PLIES = 4  # random
FIXED = {"Threads": "2", "USI_Ponder": "true", "NetworkDelay": "0", "NetworkDelay2": "0", "MinimumThinkingTime": "0",
         "RoundUpToFullSecond": "false", "MaxMovesToDraw": str(LONGEST)}  # fmt: skip
CHANGING = {
    "USI_Hash": ["1", "256"],
    "MultiPV": ["1", "1", "1", "2", "5"],
    "SlowMover": ["50", "100", "300"],
    "EnteringKingRule": ["CSARule27", "CSARule24H", "TryRule", "NoEnteringKing"],
    "GenerateAllLegalMoves": ["false", "true"],
    "ResignValue": ["99999", "3000"],
    "PvInterval": ["0", "300"],
}
# Main time, byoyomi and increment in milliseconds.
CLOCKS = [(0, 30, 0), (0, 100, 0), (1000, 20, 0), (500, 0, 50), (2000, 0, 0)]
# Delays in milliseconds: from `stop` to the answer, from `isready` to `readyok`, beyond the clock.
DELAYS = ("stop", "ready", "overstep")


class Player(Talk):
    """An engine, its ponder move and its worst delays."""

    def begin(self, options: dict[str, str]) -> None:
        """Set the options and get ready."""
        self.forget()
        self.delays, self.expected = dict.fromkeys(DELAYS, 0.0), ""  # the ponder move; empty: it does not ponder
        self.send(*(f"setoption name {name} value {value}" for name, value in options.items()))
        self.timed("ready", "isready", "usinewgame", answer="^readyok$")

    def note(self, kind: str, milliseconds: float) -> None:
        self.delays[kind] = max(self.delays[kind], round(milliseconds, 1))

    def timed(self, kind: str, *lines: str, answer: str = "^bestmove") -> None:
        """Send lines; note the delay of the answer."""
        begun = time.monotonic()
        self.ask(*lines, answer=answer)
        self.note(kind, (time.monotonic() - begun) * 1000)

    def stop_pondering(self) -> None:
        if self.expected:
            self.timed("stop", "stop")
        self.expected = ""

    def move(self, moves: Sequence[str], clock: str) -> list[str]:
        """Return the words of its answer."""
        if self.expected and moves[-1] == self.expected:
            self.expected = ""
            return self.ask("ponderhit").split()
        self.stop_pondering()
        return self.ask(f"position startpos moves {' '.join(moves)}", f"go {clock}").split()

    def ponder(self, moves: Sequence[str], answer: Sequence[str], clock: str) -> None:
        """Start pondering if the answer names a ponder move."""
        if len(answer) == 4:
            self.expected = answer[3]
            self.send(f"position startpos moves {' '.join([*moves, self.expected])}", f"go ponder {clock}")


def opening(rng: random.Random) -> list[str]:
    board = Board()
    for _ in range(OPENING_PLIES):
        board.push(rng.choice(board.legal_moves()))
    return board.moves()


def play(players: Sequence[Player], rng: random.Random, share: float = 1.0) -> dict[str, Any]:
    """Play a game with this share of the times of a random clock, the first player as Black."""
    moves, times = opening(rng), [round(time * share) for time in rng.choice(CLOCKS)]
    game = LiveGame(moves=moves, clock=Clock(TimeControl(*times)), max_moves=LONGEST)
    while not game.end:
        side, player = game.turn, players[game.turn]
        answer = player.move(game.moves, Times.of(game.clock, side).words())
        used = game.clock.spent
        player.note("overstep", used - game.clock.allowed(side))
        game.answer(answer[1], used)
        if not game.end:
            player.ponder(game.moves, answer, Times.of(game.clock, side).words())
    for player in players:
        player.stop_pondering()
    return {"ending": game.end.reason, "plies": len(game.moves), "clock": times}


def soak_game(players: Sequence[Player], number: int, share: float = 1.0) -> dict[str, Any]:
    """Play a game with random options; return its line of the log."""
    rng = random.Random(number)
    options = {name: rng.choice(values) for name, values in CHANGING.items()}
    for player in players:
        player.begin(FIXED | options)
    played = play(players if number % 2 else players[::-1], rng, share)
    memory = [player.megabytes() for player in players]
    delays = {kind: max(player.delays[kind] for player in players) for kind in DELAYS}
    return {"game": number, "options": options, **played, "megabytes": memory, **delays}


def summary(games: Sequence[dict[str, Any]]) -> str:
    """Return one line about the games of the log."""
    worst = "; ".join(f"worst {kind} {max(game[kind] for game in games):.0f} ms" for kind in DELAYS)
    late = sum(game["overstep"] > 0 for game in games)
    half, whole = (max(max(game["megabytes"]) for game in part) for part in (games[: len(games) // 2 + 1], games))
    return f"{len(games)} games; {worst} ({late} games late); {half} MB in the first half, {whole} MB in all"


def soak(path: Path, games: int, share: float = 1.0) -> list[dict[str, Any]]:
    """Play until the log holds `games` games."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept, players = KeptRows(path), [Player(), Player()]
    for number in range(len(kept.rows) + 1, games + 1):
        kept.add(soak_game(players, number, share))
        if number % 10 == 0:
            print(summary(kept.rows), flush=True)
    for player in players:
        player.close()
    return kept.rows


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.fuzz.soak", description=__doc__)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--clock-share", type=float, default=1.0, help="of the usual times of the clocks")
    parser.add_argument("--log", type=Path, default=Path("build/soak.jsonl"))
    chosen = parser.parse_args(words)
    print(summary(soak(chosen.log, chosen.games, chosen.clock_share)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
