"""Packed positions in the formats of other trainers; rsshogi packs and unpacks the positions themselves.

All numbers are little-endian, scores are centipawns for the side to move.

    psv    40 bytes: packed sfen 32, score i16, move u16, ply u16, result i8 (1 the side to move won, -1, 0), padding
    hcpe   38 bytes: Huffman-coded position 32, score i16, move u16 (Apery's bits), result u8 (0 draw, 1 Black won,
           2 White), padding
    hcpe3  a game: position 32, plies u16, result u8 (as in hcpe, in the low two bits), opponent u8; then for each ply
           move u16, score i16, number of candidates u16 (0: the move was not searched), and for each candidate
           move u16, visits u16
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rsshogi import core

from core_ext.board import Board
from usi_engine.learn.game import ScoredGame, SourceError, clamped_score
from usi_engine.records.faults import Fault

PSV, HCPE = struct.Struct("<32shHHbx"), struct.Struct("<32shHBx")
HCPE3, HCPE3_MOVE, CANDIDATE = struct.Struct("<32sHBB"), struct.Struct("<HhH"), 4
PSV_RESULTS = {0: 0, 1: 1, -1: -1}
HCPE_RESULTS = {0: 0, 1: 1, 2: -1}  # to that of a ScoredGame
LONGEST = 0x10  # dlshogi's GAMERESULT_MAXMOVE, 0x16, is a draw whose low bits are those of a win
BLOCK = 1024  # positions in a chunk
TOGETHER = 128  # positions that are held out together; it divides BLOCK
GAMES = 16  # games in a chunk
MAX_MOVES = 593  # in a position


def unpacked_sfen(packed: bytes, huffman: bool) -> str:
    """Return the sfen of a packed position. SourceError if it is not a position."""
    board = core.Board()
    try:
        board.set_hcp(packed) if huffman else board.set_packed_sfen(packed)
    except ValueError as error:
        raise SourceError(f"not a position: {error}") from None
    return str(board.to_sfen())


def unpacked_move(bits: int, apery: bool) -> str:
    """Return the USI text of a move; text that is not a legal move if the bits are wrong."""
    return str(core.AperyMove(bits).to_move() if apery else core.Move(bits))


def unpacked_result(results: dict[int, int], value: int) -> int:
    """Return the result for Black or, in psv, for the side to move. SourceError."""
    if value not in results:
        raise SourceError(f"not a result: '{value}'")
    return results[value]


def hcpe_result(value: int) -> int:
    """Return the result of two bits; the others tell the kind of the game's end. SourceError."""
    return 0 if value & LONGEST else unpacked_result(HCPE_RESULTS, value & 3)


def unpack_psv(value: bytes) -> ScoredGame:
    """Read a position as a game of one move. SourceError."""
    packed, score, move, ply, result = PSV.unpack(value)
    start = f"{unpacked_sfen(packed, huffman=False).rpartition(' ')[0]} {max(ply, 1)}"
    sign = 1 if start.split()[1] == "b" else -1
    won = unpacked_result(PSV_RESULTS, result)
    return ScoredGame(start, [unpacked_move(move, apery=False)], [clamped_score(score)], sign * won)


def unpack_hcpe(value: bytes) -> ScoredGame:
    """Read a position, whose ply is not stored, as a game of one move. SourceError."""
    packed, score, move, result = HCPE.unpack(value)
    start = unpacked_sfen(packed, huffman=True)
    return ScoredGame(start, [unpacked_move(move, apery=True)], [clamped_score(score)], hcpe_result(result))


def unpack_hcpe3(value: bytes) -> ScoredGame:
    """Read a game. SourceError."""
    packed, plies, result, _ = HCPE3.unpack_from(value)
    at = HCPE3.size
    moves: list[str] = []
    scores: list[int | None] = []
    for _ in range(plies):
        move, score, candidates = HCPE3_MOVE.unpack_from(value, at)
        at += HCPE3_MOVE.size + candidates * CANDIDATE
        moves.append(unpacked_move(move, apery=True))
        scores.append(clamped_score(score) if candidates else None)
    if at > len(value):
        raise SourceError(f"cut off after {len(value)} bytes")
    return ScoredGame(unpacked_sfen(packed, huffman=True), moves, scores, hcpe_result(result))


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
        except SourceError as error:
            yield Fault(str(error))


@dataclass(frozen=True)
class PackedPosition:
    """A position to pack, with the move played in it."""

    board: Any  # rsshogi's
    move: Any
    score: int  # for the side to move
    ply: int
    result: int  # for Black
    black: bool  # whether Black is to move


def pack_psv(position: PackedPosition) -> bytes:
    result = position.result if position.black else -position.result
    packed = bytes(position.board.to_packed_sfen())
    return PSV.pack(packed, position.score, position.move.value, min(position.ply, 0xFFFF), result)


def pack_hcpe(position: PackedPosition) -> bytes:
    result = {1: 1, -1: 2, 0: 0}[position.result]
    packed = bytes(position.board.to_hcp())
    return HCPE.pack(packed, position.score, position.move.to_apery().value, result)


WRITERS: dict[str, Callable[[PackedPosition], bytes]] = {".psv": pack_psv, ".bin": pack_psv, ".hcpe": pack_hcpe}


def packed_positions(game: ScoredGame) -> Iterator[PackedPosition]:
    """Yield the scored positions of a game. ValueError for an illegal move or a missing king."""
    board = Board(game.start)
    if None in (board.king_square(0), board.king_square(1)):
        raise SourceError(f"a king is missing in '{game.start}'")
    twin = core.Board(board.sfen())
    for text, score in zip(game.moves, game.scores, strict=True):
        ply, black = board.ply, board.turn == 0
        board.push(text)
        move = core.Move.from_usi(text)
        if score is not None:
            yield PackedPosition(twin, move, clamped_score(score), ply, game.result, black)
        twin.apply_move(move)
