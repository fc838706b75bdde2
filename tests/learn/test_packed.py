"""Packed positions and games: round trips, agreement with rsshogi and a slow decoder, damage, resumed files."""

import errno
import lzma
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest
from rsshogi import core as rsshogi

from core_ext.board import Board
from core_ext.corpus import GameReader
from tests.damage import accepted, random_flips
from tests.learn.helpers import build_corpus, items_of, random_game, read_games
from tests.positions import MOST_MOVES
from usi_engine.learn import game_file
from usi_engine.learn.command import main
from usi_engine.learn.corpus.build import ChunkTask, new_reader, read_chunk
from usi_engine.learn.corpus.packed import HCPE, HCPE3, HCPE3_MOVE, PSV
from usi_engine.learn.corpus.packed_games import decode_block, encode_block
from usi_engine.learn.corpus.sources import read_chunks
from usi_engine.learn.files import write_whole
from usi_engine.learn.game import HEAD, ScoredGame, SourceError, parse_game_line
from usi_engine.learn.game_file import appending
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


@pytest.mark.parametrize(("layout", "kind"), [(PSV, rsshogi.Move), (HCPE, rsshogi.AperyMove)])
def test_a_position_is_as_the_library_writes_it(games: Path, tmp_path: Path, layout: Any, kind: Any) -> None:
    """Also the bits of a drop."""
    out, second = tmp_path / ("out.psv" if layout is PSV else "out.hcpe"), rsshogi.Board()
    main(["export", str(games), "--out", str(out)])
    second.apply_usi("7g7f")
    values = list(layout.iter_unpack(out.read_bytes()))
    assert values[1][0] == (second.to_packed_sfen() if layout is PSV else second.to_hcp())
    assert (values[1][1], values[1][-1]) == (-28, -1 if layout is PSV else 1)  # White is to move, Black won
    assert values[3][2] == kind.from_usi("B*4e").value and read_games(out)[3].moves == ["B*4e"]


def hcpe3_of(game: ScoredGame) -> bytes:
    """Return a game as hcpe3: two candidates at each move with a score."""
    data = HCPE3.pack(rsshogi.Board(game.start).to_hcp(), len(game.moves), {1: 1, -1: 2, 0: 4}[game.result], 0)
    for text, score in zip(game.moves, game.scores, strict=True):
        move = rsshogi.AperyMove.from_usi(text).value
        visited = 2 if score is not None else 0
        data += HCPE3_MOVE.pack(move, min(score or 0, 32767), visited) + bytes(4 * visited)
    return data


def test_hcpe3_games_are_read(tmp_path: Path) -> None:
    lines = [GAME.splitlines()[0].replace("99999", "-5"), GAME.splitlines()[2]]
    made = [parse_game_line(line) for line in lines] * 20
    (tmp_path / "games.hcpe3").write_bytes(b"".join(hcpe3_of(game) for game in made))
    assert read_games(tmp_path / "games.hcpe3") == [replace(game, ending="-") for game in made]


def test_results_of_hcpe_have_bits_for_the_kind_of_end(tmp_path: Path) -> None:
    data = bytearray(hcpe3_of(parse_game_line(GAME.splitlines()[2])))
    for kind, result in ((0x01, 1), (0x06, -1), (0x09, 1), (0x16, 0)):
        data[34] = kind
        (tmp_path / "games.hcpe3").write_bytes(data)
        assert [game.result for game in read_games(tmp_path / "games.hcpe3")] == [result]


def test_hcpe3_is_read_up_to_damage(tmp_path: Path) -> None:
    data = hcpe3_of(parse_game_line(GAME.splitlines()[2]))
    for damaged in (data[:-3], data[:40] + b"\xff\xff" + data):
        (tmp_path / "games.hcpe3").write_bytes(data + damaged)
        assert [type(item) for item in items_of(tmp_path / "games.hcpe3")] == [ScoredGame, Fault]


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


PASS = "手合割：平手\n   1 ２六歩(27)\n** 30\n   2 パス\n** 30\n   3 投了\n"
WRONG = f"{LINE}\nb\t-\t4k4/9/9/9/9/9/9/9/9 b P 1\tP*5e 5\n"
UNSCORED = "d\t-\tstartpos\t\nb\t-\tstartpos\t7g7f -\n"  # a game without moves is no fault


@pytest.mark.parametrize(
    ("text", "used", "fault"),
    [
        (f"{WRONG}b\t-\tstartpos\t7g7f 3\n", 1, "2 not used; the first: A, line 1: illegal move '2h3h+'"),
        (PASS, 0, "1 not used; the first: A, game 1: a side passes"),
        (UNSCORED, 0, "1 not used; the first: A, line 2: its moves have no scores; `learn rescore` gives them\n"),
        (f"{UNSCORED}b\t-\tstartpos\t7g7f - 3c3d 5\n", 1, "1 not used; the first: A, line 2: its moves have no scores"),
    ],
)
def test_games_that_cannot_be_written_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, used: int, fault: str
) -> None:
    games, out = tmp_path / ("a.kifu" if text == PASS else "a.tsv"), tmp_path / "out.psv"
    games.write_text(text, encoding="utf-8")
    assert main(["export", str(games), "--out", str(out)]) == (0 if used else 2)
    shown = capsys.readouterr()
    assert shown.err.startswith(("" if used else f"no position for {out}: ") + fault.replace("A", str(games), 1))
    assert shown.out.count("1 positions") == used


def some_games() -> list[ScoredGame]:
    """Random games with scores of all sizes, some moves without one, and places that need more than a byte."""
    rng = random.Random(3)
    games = [parse_game_line(random_game(seed, 90)) for seed in range(20)]
    games += (
        ScoredGame(MOST_MOVES, [move], [None], 1, "x") for move in rng.sample(Board(MOST_MOVES).legal_moves(), 30)
    )
    for game in games:
        scores = [None if rng.random() < 0.2 else rng.choice([rng.randint(-99, 99), -32767, 32767]) for _ in game.moves]
        game.scores[:] = scores
    return [*games, ScoredGame(Board().sfen(), [], [], 0)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of two blocks of packed games."""
    games, path = some_games(), tmp_path / "some.games"
    path.write_bytes(encode_block(games[:30]) + encode_block(games[30:]))
    return path


def slowly_decoded(data: bytes) -> list[ScoredGame]:
    """Decode a block byte by byte."""
    streams, at = [], 8
    for _ in range(3):
        size = int.from_bytes(data[at : at + 8], "little")
        streams.append(lzma.decompress(data[at + 8 : at + 8 + size]))
        at += 8 + size
    assert data[:8] == b"KGAMES1\n" and at == len(data)
    places, codes, games = iter(streams[1]), iter(streams[2]), []
    for head in streams[0].decode().splitlines():
        start, result, ending, plies = head.split("\t")
        board, moves, scores, last = Board(start), list[str](), list[int | None](), 0
        for _ in range(int(plies)):
            place = next(places)
            place = next(places) | next(places) << 8 if place == 255 else place
            moves.append(sorted(board.legal_moves())[place])
            board.push(moves[-1])
            code = shift = 0
            while (byte := next(codes)) >= 128:
                code, shift = code | (byte & 127) << shift, shift + 7
            code |= byte << shift
            gap = (code - 1) // 2 if code % 2 else -(code // 2)
            last = gap - last if code else -last
            scores.append(last if code else None)
        games.append(ScoredGame(start, moves, scores, {"b": 1, "w": -1, "d": 0}[result], ending))
    return games


def test_games_make_the_round_trip(path: Path) -> None:
    assert read_games(path) == some_games()
    assert slowly_decoded(encode_block(some_games())) == some_games()
    assert decode_block(b"", b"", b"") == []


def test_dominated_and_missing_moves_are_refused() -> None:
    reader, start = GameReader(), "4k4/9/1P7/9/9/9/9/9/4K4 b - 1"
    with pytest.raises(ValueError, match="a dominated move: '8c8b'"):
        reader.places_of(start, ["8c8b"])
    with pytest.raises(ValueError, match="illegal move '7c7b'"):
        reader.places_of(start, ["7c7b"])
    with pytest.raises(ValueError, match="move 2: there is no legal move 600"):
        reader.moves_at(start, [0, 600])


def test_damage_is_named_with_its_place(path: Path) -> None:
    """Each byte of the file may be wrong or the last one."""
    whole = path.read_bytes()
    second = len(encode_block(some_games()[:30]))
    for size in (1, 7, 12, 200, second + 3, len(whole) - 1):
        path.write_bytes(whole[:size])
        at = 0 if size < second else second
        with pytest.raises(SourceError, match=f"{path}: the block of games at byte {at} is cut off"):
            read_games(path)
    assert accepted(read_games, path, random_flips(whole, 300), SourceError, str(path)) < 20


def test_streams_that_do_not_fit_are_refused() -> None:
    head = f"{Board().sfen()}\tb\tscore\t1\n".encode()
    assert len(decode_block(head, b"\0", b"\1")) == 1
    wrong = [
        (head, b"", b"\1"), (head, b"\0", b""), (head, b"\0\0", b"\1\1"), (head, b"\xff\0", b"\1"),
        (head, b"\0", b"\x81"), (head, b"\0", b"\x81\x81\x81\1"), (head, b"\0", b"\xff\xff\x7f"),
        (head.replace(b"1\n", b"9999999999999999\n"), b"\0", b"\1"), (head.replace(b"\tb\t", b"\tx\t"), b"\0", b"\1"),
        (b"\xff" + head, b"\0", b"\1"), (b"no head\n", b"", b""),
    ]  # fmt: skip
    for streams in wrong:
        with pytest.raises(ValueError):
            decode_block(*streams)


def append(path: Path, games: list[ScoredGame]) -> None:
    with appending(path, HEAD + "{}\n") as file:
        for game in games:
            file.add(game)


def test_an_interrupted_file_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes do not depend on the interruptions, and only the games of a cut-off block are lost."""
    monkeypatch.setattr(game_file, "BLOCK", 20)
    games, whole, broken = some_games(), tmp_path / "whole.games", tmp_path / "broken.games"
    append(whole, games)
    append(broken, games[:30])
    append(broken, games[30:35])
    data = broken.read_bytes()
    first = len(encode_block(games[:20], HEAD + "{}\n"))
    for size, kept in ((len(data), 35), (len(data) - 1, 20), (first + 9, 20), (first, 20), (first - 1, 0), (3, 0)):
        broken.write_bytes(data[:size])
        with appending(broken) as file:
            assert len(file.keys) == kept
        append(broken, games[kept:])
        assert broken.read_bytes() == whole.read_bytes()
    assert read_games(whole) == games


def test_a_full_disk_costs_no_games_of_an_earlier_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games, path = some_games(), tmp_path / "some.games"
    append(path, games[:2])
    before, write = path.read_bytes(), write_whole

    def write_some(file: IO[bytes], data: Any) -> None:
        write(file, data[: len(before)])
        if len(data) > len(before):
            raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(game_file, "write_whole", write_some)
    with pytest.raises(OSError, match=f"no space left: '{path}'"):
        append(path, games[2:9])
    assert path.read_bytes() == before


def test_games_are_written_while_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_file, "WRITE_SECONDS", 0.0)
    with appending(tmp_path / "some.games") as file:
        for number, game in enumerate(some_games()[:3], 1):
            file.add(game)
            assert len(read_games(tmp_path / "some.games")) == number
