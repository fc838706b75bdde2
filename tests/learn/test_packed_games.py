"""Packed games: round trips, agreement with a slow decoder, damage, resumed files."""

import errno
import lzma
import random
from pathlib import Path
from typing import IO, Any

import pytest

from core_ext.board import Board
from core_ext.corpus import GameReader
from tests.damage import accepted, random_flips
from tests.learn.helpers import random_game, read_games
from usi_engine.learn import game_file
from usi_engine.learn.corpus.packed_games import decode_block, encode_block
from usi_engine.learn.files import write_whole
from usi_engine.learn.game import HEAD, ScoredGame, SourceError, parse_game_line
from usi_engine.learn.game_file import appending

# The most legal moves that a position can have.
MANY = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"


def some_games() -> list[ScoredGame]:
    """Random games with scores of all sizes, some moves without one, and places that need more than a byte."""
    rng = random.Random(3)
    games = [parse_game_line(random_game(seed, 90)) for seed in range(20)]
    games += (ScoredGame(MANY, [move], [None], 1, "x") for move in rng.sample(Board(MANY).legal_moves(), 30))
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
