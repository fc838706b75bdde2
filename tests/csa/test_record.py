"""Records and journals: names, games with the same id, two clients in one folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.csa.instant_engine import game_of
from usi_engine.csa import journal as journals
from usi_engine.csa.game import Ending
from usi_engine.csa.journal import Journal, recover
from usi_engine.csa.protocol import MoveMade
from usi_engine.csa.record import save, stem_of
from usi_engine.records.games import load_games


def moves_of(path: Path) -> tuple[str, ...]:
    """Return the moves of a file's only game."""
    return next(iter(load_games(path))).moves


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("game_id", ["id", ""])
def test_another_game_of_the_same_id_is_kept(tmp_path: Path, game_id: str) -> None:
    """A later game of the same id gets a name of its own, even if it begins with the same moves."""
    first = game_of("+7776FU", game_id=game_id)
    first.end(Ending("unknown", "CUT"))
    paths = [save(first, tmp_path)]
    paths += [save(game_of("+7776FU", *more, game_id=game_id), tmp_path) for more in ([], ["-3334FU"], ["-8384FU"])]
    stem = game_id or "game"
    assert names_in(tmp_path) == [f"{stem}-2.csa", f"{stem}-3.csa", f"{stem}-4.csa", f"{stem}.csa"]
    assert [len(moves_of(path)) for path in paths] == [1, 1, 2, 2]


def test_a_resumed_game_replaces_its_first_part(tmp_path: Path) -> None:
    """The record of a game with another end or other moves stays."""
    other = game_of("+7776FU")
    other.handle(MoveMade("-3334FU"))
    other.end(Ending("lose", "RESIGN"))
    first = game_of("+7776FU", "-3334FU")
    first.end(Ending("unknown", "CUT"))
    assert [save(other, tmp_path).name, save(first, tmp_path).name] == ["id.csa", "id-2.csa"]
    resumed = game_of("+2726FU", offered="\n+7776FU,T1\n-3334FU,T1")
    assert save(resumed, tmp_path).name == "id-2.csa"
    assert moves_of(tmp_path / "id-2.csa") == ("7g7f", "3c3d", "2g2f")
    assert moves_of(save(game_of(offered="\n+2726FU,T1"), tmp_path)) == ("2g2f",)
    assert names_in(tmp_path) == ["id-2.csa", "id-3.csa", "id.csa"]


def test_two_clients_in_one_folder(tmp_path: Path) -> None:
    """They play each other; each has a journal and a record of its own. A client that starts leaves both alone."""
    notes = list[str]()
    games = [game_of("+7776FU"), game_of("+2726FU")]
    running = [Journal(game, tmp_path, notes.append) for game in games]
    for game, journal in zip(games, running, strict=True):
        game.handle(MoveMade("-3334FU"))
        journal.follow()
        journal.end()
        journal.close(remove=False)
    assert names_in(tmp_path) == ["id-2.csa.part", "id.csa.part"]
    recover(tmp_path, notes.append)
    assert {moves_of(tmp_path / name) for name in names_in(tmp_path)} == {("7g7f", "3c3d"), ("2g2f", "3c3d")}
    assert len(notes) == 2


def test_a_journal_of_a_running_client_is_left_alone(tmp_path: Path) -> None:
    path, file = journals.open_new(tmp_path, "id")
    with file:
        file.write(b"V2.2\nPI\n+\n+7776FU\nT1\n")
        file.flush()
        recover(tmp_path, print)
        assert names_in(tmp_path) == [path.name]
    recover(tmp_path, print)
    assert names_in(tmp_path) == ["id.csa"]


@pytest.mark.parametrize(
    ("text", "moves", "end"),
    [
        ("V2.2\nN+us\nN-them\nPI\n+\n+7776FU\nT1\n-3334FU\nT2\n", 2, "CHUDAN"),
        ("V2.2\nPI\n+\n+7776FU\nT1\n-3334F", 1, "CHUDAN"),
        ("V2.2\nPI\n+\n+7776FU\nT1\n-33\n", 1, "CHUDAN"),
        ("V2.2\nPI\n+\n+7776FU\nT1\n'*棋", 1, "CHUDAN"),
        ("V2.2\nPI\n+\n+7776FU\nT1\n%TORYO\nT3\n", 1, "TORYO"),
    ],
)
def test_a_game_that_was_killed(tmp_path: Path, text: str, moves: int, end: str) -> None:
    """The record has all moves whose lines are whole; an earlier record stays."""
    save(game_of("+2726FU"), tmp_path)
    (tmp_path / "id.csa.part").write_bytes(text.encode()[: -1 if "棋" in text else None])
    notes = list[str]()
    recover(tmp_path, notes.append)
    assert names_in(tmp_path) == ["id-2.csa", "id.csa"]
    game = next(iter(load_games(tmp_path / "id-2.csa")))
    assert game.record.end is not None
    assert (len(game.moves), game.record.end.name) == (moves, end)
    assert notes == [f"a game that was broken off: {tmp_path / 'id-2.csa'}"]


def test_a_journal_that_cannot_be_read_stays(tmp_path: Path) -> None:
    for name, data in (("a", b"hello\nworld\n"), ("b", b""), ("c", b"V2.2\nPI\n+\n+7775FU\n+7776FU\n%TORYO\n")):
        (tmp_path / f"{name}.csa.part").write_bytes(data)
    (tmp_path / "folder.csa.part").mkdir()
    notes = list[str]()
    recover(tmp_path, notes.append)
    assert names_in(tmp_path) == ["a.csa.part", "b.csa.part", "c.csa.part", "folder.csa.part"]
    assert [note.partition(" cannot be made a record: ")[0] for note in notes] == [
        str(tmp_path / name) for name in ("a.csa.part", "c.csa.part")
    ]


@pytest.mark.parametrize(
    ("game_id", "stem"),
    [("wdoor+test-1-2+a+b+2026", "wdoor+test-1-2+a+b+2026"), ("../../x", "_.._x"), ("..", "game"), ("", "game"),
     ("NUL", "_NUL"), ("com1.x", "_com1.x"), ("a b/c\\d:e\x1b", "a_b_c_d_e_"), ("x" * 999, "x" * 200)],
)  # fmt: skip
def test_names(game_id: str, stem: str) -> None:
    assert stem_of(game_id) == stem
