"""Packed positions in the formats of other trainers, also as types of numpy, with the names of cshogi's and dlshogi's.

All numbers are little-endian, scores are centipawns for the side to move.

    psv    40 bytes: packed sfen 32, score i16, move u16, ply u16, result i8 (1 the side to move won, -1, 0), padding
    hcpe   38 bytes: Huffman-coded position 32, score i16, move u16 (Apery's bits), result u8 (0 draw, 1 Black won,
           2 White), padding
    hcpe3  a game: position 32, plies u16, result u8 (as in hcpe, in the low two bits), opponent u8; then for each ply
           move u16, score i16, number of candidates u16 (0: the move was not searched), and for each candidate
           move u16, visits u16
"""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from core_ext.board import Board, move_from_usi, move_to_usi
from usi_engine import features
from usi_engine.learn.game import LabelledPosition, ScoredGame, SourceError, clamped_score
from usi_engine.records.faults import Fault

PSV, HCPE = struct.Struct("<32shHHbx"), struct.Struct("<32shHBx")
HCPE3, HCPE3_MOVE, CANDIDATE = struct.Struct("<32sHBB"), struct.Struct("<HhH"), 4
PSV_TYPE = np.dtype([
    ("sfen", "u1", 32), ("score", "<i2"), ("move", "<u2"), ("gamePly", "<u2"), ("game_result", "i1"), ("padding", "u1"),
])  # fmt: skip
HCPE_TYPE = np.dtype([
    ("hcp", "u1", 32), ("eval", "<i2"), ("bestMove16", "<u2"), ("gameResult", "i1"), ("dummy", "u1"),
])  # fmt: skip
HCPE3_TYPE = np.dtype([("hcp", "u1", 32), ("moveNum", "<u2"), ("result", "u1"), ("opponent", "u1")])
HCPE3_MOVE_TYPE = np.dtype([("selectedMove16", "<u2"), ("eval", "<i2"), ("candidateNum", "<u2")])
HCPE3_VISITS_TYPE = np.dtype([("move16", "<u2"), ("visitNum", "<u2")])
# The moves of the core by the bits of YaneuraOu (psv) and Apery.
WORDS = np.arange(1 << 16, dtype=np.uint16)
YANEURAOU, APERY = features.from_yaneuraou(WORDS).tolist(), features.from_cshogi(WORDS).tolist()
PSV_RESULTS = {0: 0, 1: 1, -1: -1}
HCPE_RESULTS = {0: 0, 1: 1, 2: -1}  # to that of a ScoredGame
LONGEST = 0x10  # dlshogi's GAMERESULT_MAXMOVE, 0x16, is a draw whose low bits are those of a win
BLOCK = 1024  # positions in a chunk
TOGETHER = 128  # positions that are held out together; it divides BLOCK
GAMES = 16  # games in a chunk
MAX_MOVES = 593  # in a position


def unpacked_result(results: dict[int, int], value: int) -> int:
    """Return the result for Black or, in psv, for the side to move. SourceError."""
    if value not in results:
        raise SourceError(f"not a result: '{value}'")
    return results[value]


def hcpe_result(value: int) -> int:
    """Return the result of two bits; the others tell the kind of the game's end. SourceError."""
    return 0 if value & LONGEST else unpacked_result(HCPE_RESULTS, value & 3)


def unpack_psv(value: bytes) -> ScoredGame:
    """Read a position as a game of one move. ValueError."""
    packed, score, move, ply, result = PSV.unpack(value)
    start = f"{Board.from_psv(packed).sfen().rpartition(' ')[0]} {max(ply, 1)}"
    sign = 1 if start.split()[1] == "b" else -1
    won = unpacked_result(PSV_RESULTS, result)
    return ScoredGame(start, [move_to_usi(YANEURAOU[move])], [clamped_score(score)], sign * won)


def unpack_hcpe(value: bytes) -> ScoredGame:
    """Read a position, whose ply is not stored, as a game of one move. ValueError."""
    packed, score, move, result = HCPE.unpack(value)
    start = Board.from_hcp(packed).sfen()
    return ScoredGame(start, [move_to_usi(APERY[move])], [clamped_score(score)], hcpe_result(result))


def unpack_hcpe3(value: bytes) -> ScoredGame:
    """Read a game. ValueError."""
    packed, plies, result, _ = HCPE3.unpack_from(value)
    at = HCPE3.size
    moves: list[str] = []
    scores: list[int | None] = []
    for _ in range(plies):
        move, score, candidates = HCPE3_MOVE.unpack_from(value, at)
        at += HCPE3_MOVE.size + candidates * CANDIDATE
        moves.append(move_to_usi(APERY[move]))
        scores.append(clamped_score(score) if candidates else None)
    if at > len(value):
        raise SourceError(f"cut off after {len(value)} bytes")
    return ScoredGame(Board.from_hcp(packed).sfen(), moves, scores, hcpe_result(result))


def read_blocks(path: Path, size: int) -> Iterator[list[bytes]]:
    """Yield chunks of values of `size` bytes each; the last value may be cut off."""
    with path.open("rb") as file:
        while block := file.read(size * BLOCK):
            yield [block[at : at + size] for at in range(0, len(block), size)]


def read_hcpe3_game(file: IO[bytes]) -> tuple[bytes, bool]:
    """Return the bytes of the next game, and whether it is complete and its counts are possible."""
    data = file.read(HCPE3.size)
    if len(data) < HCPE3.size:
        return data, False
    for _ in range(HCPE3.unpack(data)[1]):
        data += (head := file.read(HCPE3_MOVE.size))
        candidates = HCPE3_MOVE.unpack(head)[2] if len(head) == HCPE3_MOVE.size else MAX_MOVES + 1
        if candidates > MAX_MOVES:
            return data, False
        data += file.read(candidates * CANDIDATE)
    return data, True


def read_hcpe3(path: Path) -> Iterator[list[bytes]]:
    """Yield chunks of games up to the first that is damaged or cut off."""
    with path.open("rb") as file:
        games: list[bytes] = []
        complete = True
        while complete:
            game, complete = read_hcpe3_game(file)
            games += [game] if game else []
            if len(games) == GAMES or not complete:
                yield games
                games = []


def decode(values: list[bytes], game_of: Callable[[bytes], ScoredGame]) -> Iterator[ScoredGame | Fault]:
    """Yield the game of each value, or its fault."""
    for value in values:
        try:
            yield game_of(value)
        except struct.error:
            yield Fault(f"cut off after {len(value)} bytes")
        except ValueError as error:
            yield Fault(str(error))


def pack_psv(position: LabelledPosition) -> bytes:
    """Pack a position of a game with a score."""
    board, move = position.board, features.to_yaneuraou(move_from_usi(position.move))
    return PSV.pack(board.to_psv(), clamped_score(position.score or 0), move, min(board.ply, 0xFFFF), position.result)


def pack_hcpe(position: LabelledPosition) -> bytes:
    """Pack a position of a game with a score."""
    board, move = position.board, features.to_cshogi(move_from_usi(position.move))
    result = {0: 0, 1: 1 + board.turn, -1: 2 - board.turn}[position.result or 0]
    return HCPE.pack(board.to_hcp(), clamped_score(position.score or 0), move, result)


WRITERS: dict[str, Callable[[LabelledPosition], bytes]] = {".psv": pack_psv, ".bin": pack_psv, ".hcpe": pack_hcpe}
