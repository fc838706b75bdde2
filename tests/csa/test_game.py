"""A game on a server: positions, moves in CSA and USI, an engine's answers at odd times; its record."""

import errno
import os
import re
from pathlib import Path

import pytest

from tests.csa.instant_engine import InstantEngine, game_of, offer
from tests.csa.server import START_POSITION
from usi_engine import language
from usi_engine.csa.game import ServerGame, floodgate_comment, offered_game
from usi_engine.csa.protocol import MoveMade
from usi_engine.csa.record import RunningRecord, make_stem
from usi_engine.records.games import load_games
from usi_engine.usi.process import Answer, EngineGone

HANDICAP = START_POSITION.replace("P2 * -HI *  *  *  *  * -KA *", "P2 *  *  *  *  *  *  *  *  *")[:-1] + "-"


def moved(*moves: str, position: str = START_POSITION) -> tuple[ServerGame, InstantEngine]:
    """Return a game after these moves, and its engine."""
    engine = InstantEngine(lambda event: None)
    return game_of(*moves, position=position, engine=engine), engine


def test_moves() -> None:
    """Captures with promotion and drops."""
    played, _ = moved("+7776FU", "-3334FU", "+8822UM", "-3122GI", "+0055KA")
    assert played.game.position == "startpos moves 7g7f 3c3d 8h2b+ 3a2b B*5e"
    handicap, _ = moved("-3334FU", position=HANDICAP)
    assert handicap.game.position == "sfen lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1 moves 3c3d"


@pytest.mark.parametrize("csa", ["+7775FU", "-3334FU", "+0055FU", "+7776KI", "+7776XX", "+5958KA"])
def test_illegal_moves(csa: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is in the language of messages."""
    monkeypatch.setattr(language, "_translate", "{} (translated)".format)
    with pytest.raises(ValueError, match=rf"^illegal move: '{re.escape(csa)}' \(translated\)$"):
        game_of(position=f"{START_POSITION}\n{csa}")
    played, engine = moved(csa)
    assert played.game.moves == [] and not engine.goes


def test_comment() -> None:
    """In Black's view of the value, and from the reply on, to the first move that is not legal."""
    game = offered_game(offer())
    assert floodgate_comment(game, 30, ["7g7f", "3c3d"]) == "* 30 -3334FU"
    assert floodgate_comment(game, 30, []) == "* 30"
    assert floodgate_comment(game, None, ["7g7f", "3c3d"]) == ""
    game.push("7g7f")
    assert floodgate_comment(game, 30, ["3c3d", "2g2f", "rep_draw"]) == "* -30 +2726FU"


def test_an_engine_that_answers_too_early_searches_again() -> None:
    """It must not answer a search on the opponent's time before the ponderhit, which would then have no answer."""
    engine = InstantEngine(lambda event: None)
    played = game_of(engine=engine, ponder=True)
    played.begin()
    played.handle(Answer(1, "7g7f", "3c3d"))
    played.handle(MoveMade("+7776FU"))
    played.handle(MoveMade("-3334FU"))
    assert engine.goes[1:] == ["7g7f 3c3d ponder", "7g7f 3c3d"]


def test_the_end_of_an_earlier_process_is_ignored() -> None:
    """It was started again between two games."""
    played, engine = moved()
    played.begin()
    played.handle(EngineGone(engine.starts - 1, ""))
    assert len(engine.goes) == 1
    played.handle(EngineGone(engine.starts, ""))
    assert len(engine.goes) == 2


def moves_of(path: Path) -> tuple[str, ...]:
    """Return the moves of a file's only game."""
    return next(iter(load_games(path))).moves


def save(game: ServerGame, folder: Path) -> Path:
    return RunningRecord(game, folder, print).finish()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("game_id", ["id", ""])
def test_another_game_of_the_same_id_is_kept(tmp_path: Path, game_id: str) -> None:
    """A later game of the same id gets a name of its own, even if it begins with the same moves."""
    first = game_of("+7776FU", game_id=game_id)
    first.finish("unknown", "CUT")
    paths = [save(first, tmp_path)]
    paths += [save(game_of("+7776FU", *more, game_id=game_id), tmp_path) for more in ([], ["-3334FU"], ["-8384FU"])]
    stem = game_id or "game"
    assert names_in(tmp_path) == [f"{stem}-2.csa", f"{stem}-3.csa", f"{stem}-4.csa", f"{stem}.csa"]
    assert [len(moves_of(path)) for path in paths] == [1, 1, 2, 2]


def test_a_resumed_game_replaces_its_first_part(tmp_path: Path) -> None:
    """The record of a game with another end or other moves stays, and that of a game which another client plays."""
    other = game_of("+7776FU")
    other.handle(MoveMade("-3334FU"))
    other.finish("lose", "RESIGN")
    first = game_of("+7776FU", "-3334FU")
    first.finish("unknown", "CUT")
    assert [save(other, tmp_path).name, save(first, tmp_path).name] == ["id.csa", "id-2.csa"]
    resumed = game_of("+2726FU", position=START_POSITION + "\n+7776FU,T1\n-3334FU,T1")
    assert save(resumed, tmp_path).name == "id-2.csa"
    assert moves_of(tmp_path / "id-2.csa") == ("7g7f", "3c3d", "2g2f")
    assert moves_of(save(game_of(position=START_POSITION + "\n+2726FU,T1"), tmp_path)) == ("2g2f",)
    assert names_in(tmp_path) == ["id-2.csa", "id-3.csa", "id.csa"]
    for _ in range(2):
        assert RunningRecord(game_of(position=START_POSITION + "\n+9796FU,T1"), tmp_path, print)._writer.close()
    assert names_in(tmp_path) == [*(f"id-{number}.csa" for number in range(2, 6)), "id.csa"]


def test_two_clients_in_one_folder(tmp_path: Path) -> None:
    """They play each other; each has a record of its own, from the first move on."""
    games = [game_of("+7776FU"), game_of("+2726FU")]
    records = [RunningRecord(game, tmp_path, print) for game in games]
    for game, record in zip(games, records, strict=True):
        game.handle(MoveMade("-3334FU"))
        record.follow()
        assert record._writer.close()
    found = [next(iter(load_games(path))) for path in (tmp_path / "id.csa", tmp_path / "id-2.csa")]
    assert {game.moves for game in found} == {("7g7f", "3c3d"), ("2g2f", "3c3d")}
    assert [game.end.name for game in found if game.end] == ["CHUDAN", "CHUDAN"]
    assert names_in(tmp_path) == ["id-2.csa", "id.csa"]


def test_a_record_that_cannot_be_replaced_gets_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows replaces no file that another program, such as a viewer, has open."""
    record, real = RunningRecord(game := game_of("+7776FU"), tmp_path, print), os.replace
    assert record._writer.close()
    game.handle(MoveMade("-3334FU"))

    def replace(source: Path, target: Path) -> None:
        if target.name == "id.csa":
            raise PermissionError(errno.EACCES, "Permission denied", str(target))
        real(source, target)

    monkeypatch.setattr("os.replace", replace)
    assert len(moves_of(record.finish())) == 2
    assert names_in(tmp_path) == ["id-2.csa", "id.csa"]


@pytest.mark.parametrize(
    ("game_id", "stem"),
    [("wdoor+test-1-2+a+b+2026", "wdoor+test-1-2+a+b+2026"), ("../../x", "_.._x"), ("..", "game"), ("", "game"),
     ("NUL", "_NUL"), ("com1.x", "_com1.x"), ("a b/c\\d:e\x1b", "a_b_c_d_e_"), ("x" * 999, "x" * 200)],
)  # fmt: skip
def test_names(game_id: str, stem: str) -> None:
    assert make_stem(game_id) == stem
