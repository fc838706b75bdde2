"""Packed positions: round trips, agreement with rsshogi, damage as faults."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rsshogi import core as rsshogi

from core_ext.board import Board
from tests.learn.helpers import build_corpus, items_of, read_games
from usi_engine.learn.command import main
from usi_engine.learn.corpus.build import ChunkTask, new_reader, read_chunk
from usi_engine.learn.corpus.packed import HCPE, HCPE3, HCPE3_MOVE, PSV
from usi_engine.learn.corpus.sources import read_chunks
from usi_engine.learn.game import ScoredGame, parse_game_line
from usi_engine.records.faults import Fault

LINE = "w\tresign\tstartpos\t7g7f 35 3c3d -28 8h2b+ 41 3a2b - B*4e -3 2h3h+ 0"
GAME = (
    "b\tscore\tstartpos\t7g7f 35 3c3d -28 8h2b+ 41 3a2b - B*4e -3 1c1d 99999\n"
    "w\tscore\t4k4/9/9/9/9/9/4P4/9/4K4 w Gr2p 31\t5a5b 7 G*5c -8\n"
    "d\tscore\tstartpos\t2g2f 1\n"
)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A file of three games, some moves unscored."""
    path = tmp_path / "games.tsv"
    path.write_text(GAME)
    return path


def scored_positions(path: Path) -> Iterator[ScoredGame]:
    """Yield the scored positions of games as games of one move."""
    for game in read_games(path):
        board = Board(game.start)
        for move, score in zip(game.moves, game.scores, strict=True):
            if score is not None:
                yield ScoredGame(board.sfen(), [move], [min(score, 32767)], game.result)
            board.push(move)


def without_ply(game: ScoredGame) -> tuple[str, list[str], list[int | None], int]:
    return game.start.rpartition(" ")[0], game.moves, game.scores, game.result


@pytest.mark.parametrize(("ending", "size"), [("psv", 40), ("hcpe", 38)])
def test_positions_make_the_round_trip(games: Path, teacher: Path, tmp_path: Path, ending: str, size: int) -> None:
    """Long games contain promoted pieces and full hands. Only hcpe lacks the ply."""
    for source in (games, teacher):
        out = tmp_path / f"out.{ending}"
        assert main(["export", str(source), "--out", str(out)]) == 0
        found, expected = read_games(out), list(scored_positions(source))
        assert list(map(without_ply, found)) == list(map(without_ply, expected))
        assert ending == "hcpe" or found == expected
        assert out.stat().st_size == size * len(expected) > 0


def test_a_position_is_as_the_library_writes_it(games: Path, tmp_path: Path) -> None:
    for ending, layout in (("psv", PSV), ("hcpe", HCPE)):
        main(["export", str(games), "--out", str(tmp_path / f"out.{ending}")])
        value = layout.unpack((tmp_path / f"out.{ending}").read_bytes()[layout.size : 2 * layout.size])
        board = rsshogi.Board()
        board.apply_usi("7g7f")
        assert value[0] == (board.to_packed_sfen() if ending == "psv" else board.to_hcp())
        assert value[1] == -28
        assert value[-1] == (-1 if ending == "psv" else 1)  # White is to move, Black won


def test_drops_have_the_bits_of_each_format(tmp_path: Path) -> None:
    (tmp_path / "drop.tsv").write_text("b\t-\t4k4/9/9/9/9/9/9/9/4K4 b P 1\tP*5e 5\n")
    for ending, layout, kind in (("psv", PSV, rsshogi.Move), ("hcpe", HCPE, rsshogi.AperyMove)):
        main(["export", str(tmp_path / "drop.tsv"), "--out", str(tmp_path / f"out.{ending}")])
        assert layout.unpack((tmp_path / f"out.{ending}").read_bytes())[2] == kind.from_usi("P*5e").value
        assert read_games(tmp_path / f"out.{ending}")[0].moves == ["P*5e"]


def hcpe3_of(game: ScoredGame, core: Any, candidates: int = 2) -> bytes:
    """Return a game as hcpe3; a score of None has no candidates."""
    data = HCPE3.pack(core.Board(game.start).to_hcp(), len(game.moves), {1: 1, -1: 2, 0: 4}[game.result], 0)
    for text, score in zip(game.moves, game.scores, strict=True):
        move = core.AperyMove.from_usi(text).value
        visited = candidates if score is not None else 0
        data += HCPE3_MOVE.pack(move, min(score or 0, 32767), visited) + bytes(4 * visited)
    return data


def test_hcpe3_games_are_read(tmp_path: Path) -> None:
    lines = [GAME.splitlines()[0].replace("99999", "-5"), GAME.splitlines()[2]]
    made = [parse_game_line(line) for line in lines] * 20
    (tmp_path / "games.hcpe3").write_bytes(b"".join(hcpe3_of(game, rsshogi) for game in made))
    assert read_games(tmp_path / "games.hcpe3") == [replace(game, ending="-") for game in made]


def test_results_of_hcpe_have_bits_for_the_kind_of_end(tmp_path: Path) -> None:
    data = bytearray(hcpe3_of(parse_game_line(GAME.splitlines()[2]), rsshogi))
    for kind, result in ((0x01, 1), (0x06, -1), (0x09, 1), (0x16, 0)):
        data[34] = kind
        (tmp_path / "games.hcpe3").write_bytes(data)
        assert [game.result for game in read_games(tmp_path / "games.hcpe3")] == [result]


def test_hcpe3_is_read_up_to_damage(tmp_path: Path) -> None:
    data = hcpe3_of(parse_game_line(GAME.splitlines()[2]), rsshogi)
    (tmp_path / "cut.hcpe3").write_bytes(data + data[:-3])
    assert [type(item) for item in items_of(tmp_path / "cut.hcpe3")] == [ScoredGame, Fault]
    (tmp_path / "count.hcpe3").write_bytes(data + data[:40] + b"\xff\xff" + data)
    assert [type(item) for item in items_of(tmp_path / "count.hcpe3")] == [ScoredGame, Fault]


def test_values_out_of_range_are_faults_with_their_place(games: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.psv"
    main(["export", str(games), "--out", str(path)])
    good = [PSV.unpack(value) for value in (path.read_bytes()[at : at + 40] for at in range(0, 320, 40))]
    sfen, score, move, ply, _ = good[0]
    bad = [
        PSV.pack(b"\xff" * 32, score, move, ply, 1),  # kings nowhere
        PSV.pack(sfen, score, 0xFFFF, ply, 1),
        PSV.pack(sfen, score, move ^ 1, ply, 1),  # a pawn's move by two squares or none
        PSV.pack(sfen, score, move, ply, 7),
        PSV.pack(sfen, -32768, move, 0, 1),  # used: another program's mate, and no ply
    ]
    path.write_bytes(b"".join([*bad, path.read_bytes()[:40], b"end"]))
    card = build_corpus([path], tmp_path / "corpus")
    assert (card["games"], card["broken_games"], card["quiet_positions"]) == (7, 5, 2)
    assert f"{path}, position 1: not a packed position" in card["first_broken"]


def test_neighbours_are_held_out_together(teacher: Path, tmp_path: Path) -> None:
    """Positions that follow each other may be of one game."""
    main(["export", str(teacher), "--out", str(tmp_path / "out.psv")])
    parts = [read_chunk(new_reader(None), ChunkTask(chunk)) for chunk in read_chunks(tmp_path / "out.psv")]
    found = [set(part.positions["game"].tolist()) for part in parts]
    assert len(found) > 5 and found[:-1] == [set(range(1, 1024, 128))] * (len(found) - 1)


def test_games_that_cannot_be_written_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.tsv"
    path.write_text(f"{LINE}\nb\t-\t4k4/9/9/9/9/9/9/9/9 b P 1\tP*5e 5\nb\t-\tstartpos\t7g7f 3\n")
    assert main(["export", str(path), "--out", str(tmp_path / "out.psv")]) == 0
    shown = capsys.readouterr()
    assert f"2 not used; the first: {path}, line 1: illegal move '2h3h+'" in shown.err
    assert "1 positions" in shown.out


def test_a_game_with_a_pass_is_not_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = tmp_path / "a.kifu"
    game.write_text("手合割：平手\n   1 ２六歩(27)\n** 30\n   2 パス\n** 30\n   3 投了\n", encoding="utf-8")
    assert main(["export", str(game), "--out", str(tmp_path / "a.psv")]) == 2
    assert f"1 not used; the first: {game}, game 1: a side passes" in capsys.readouterr().err


def test_games_without_scores_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are counted beside games with scores; a game without moves is no fault."""
    games, out = tmp_path / "games.tsv", tmp_path / "out.psv"
    games.write_text("d\t-\tstartpos\t\nb\t-\tstartpos\t7g7f -\n")
    assert main(["export", str(games), "--out", str(out)]) == 2
    said = f"1 not used; the first: {games}, line 2: its moves have no scores; `learn rescore` gives them\n"
    assert capsys.readouterr().err == f"no position for {out}: {said}"
    with games.open("a") as file:
        file.write("b\t-\tstartpos\t7g7f - 3c3d 5\n")
    assert main(["export", str(games), "--out", str(out)]) == 0
    assert capsys.readouterr().err == said
