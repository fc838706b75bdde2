"""The engines of examples/ on a CSA server, through the client of `usi_engine csa`."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from core_ext.board import Board
from tests.csa.server import TIMEOUT, Server, Talk
from tests.examples.players import PLAYERS, ROOT, command
from usi_engine.analysis.records import load_games
from usi_engine.csa.client import Client, Settings
from usi_engine.csa.driver import Engine

MOVES = 8  # of the player; then the opponent resigns


def opponent(seed: int, board: Board) -> Server:
    """A server whose other player moves at random."""

    def script(talk: Talk) -> None:
        talk.log_in()
        talk.offer(time="Total_Time:100\nByoyomi:10")
        rng = random.Random(seed)
        for count in range(MOVES):
            csa = talk.expect(r"(\+\d{4}[A-Z]{2})(?:,'.*)?")[1]
            board.push_csa(csa)
            talk.send(f"{csa},T1")
            reply = rng.choice(board.legal_moves())
            if count < MOVES - 1:
                talk.send(f"{board.csa(reply)},T1")
                board.push(reply)
        talk.send("%TORYO,T1", "#RESIGN", "#WIN")
        talk.log_out()

    return Server(script)


@pytest.mark.parametrize("name", PLAYERS)
def test_a_player_wins_a_game_on_a_server(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    board, notes = Board(), list[str]()
    server = opponent(5, board)
    settings = Settings("127.0.0.1", server.port, "us", "secret", games=1, records=tmp_path, pause=0.01, tick=0.05)
    client = Client(settings, notes.append)
    engine = Engine(command(name, *(["3"] if "alpha" not in name else [])), {}, client.post)
    watchdog = threading.Timer(3 * TIMEOUT, client.interrupt)
    watchdog.start()
    try:
        engine.prepare()
        client.run(engine)
    finally:
        watchdog.cancel()
        watchdog.join()
        engine.quit()
    server.finish()
    assert client.summary() == "1 game: 1 won", notes
    (game,) = load_games(tmp_path / "test+1.csa")
    assert list(game.moves) == board.moves() and len(game.moves) == 2 * MOVES - 1
