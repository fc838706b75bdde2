"""Positions for the tests: fixed ones, seeded random walks from them, and rotation with colours swapped."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from core_ext.board import Board
from tests.shogi.slow_shogi import HAND_ORDER, RANKS, START, Game, Position

DATA = Path(__file__).resolve().parent / "data"

MATSURI = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"  # the usual benchmark, 207 moves
MOST_MOVES = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"  # 593, the most there can be
MIDGAME = "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1"
# Both kings have entered.
ENTERED = "4+P2+Bl/1+R+P1K1+S2/2+P2+P+N2/9/9/9/1+p2+p1+n2/3+s1k+p2/1+b1+p2+r2 b G3P2gs2nl6p 1"
HANDS = "4k4/9/9/9/9/9/9/9/4K4 b RBGSNL9Prbgsnl9p 1"
TWO_PIECE_HANDICAP = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
STARTS = (START, START, MATSURI, MIDGAME, ENTERED, HANDS, TWO_PIECE_HANDICAP)


def data_file(name: str) -> Path:
    """A file of tests/data."""
    return DATA / name


def data_rows(name: str) -> list[list[str]]:
    """The fields of each line of a `.tsv` file of tests/data; comment lines are left out."""
    lines = data_file(name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def random_boards(seed: int, plies: int) -> Iterator[Board]:
    """The board after each random move; starts a new game if one has ended."""
    rng = random.Random(seed)
    board = Board()
    for _ in range(plies):
        moves = board.legal_moves()
        if moves:
            board.push(rng.choice(moves))
            yield board
        else:
            board = Board()


def lively(rng: random.Random, position: Position, moves: list[str]) -> str:
    """A random move, often a capture, a promotion or a check, so that walks exercise the rules."""
    draw = rng.random()
    if draw < 0.25:
        taken = {f"{file}{RANKS[rank - 1]}" for file, rank in position.board}
        chosen = [move for move in moves if move[2:4] in taken]
    elif draw < 0.35:
        chosen = [move for move in moves if move.endswith("+")]
    elif draw < 0.55:
        chosen = [move for move in rng.sample(moves, min(12, len(moves))) if position.gives_check(move)]
    else:
        chosen = moves
    return rng.choice(chosen or moves)


def walk(seed: int, plies: int, start: str = START) -> Iterator[tuple[Position, list[str]]]:
    """The positions of one random game with their legal moves, by the rulebook twin; ends without a legal move."""
    rng = random.Random(seed)
    position = Position(start)
    for _ in range(plies):
        moves = position.legal_moves()
        yield position, moves
        if not moves:
            return
        position = position.after(lively(rng, position, moves))


def random_game(seed: int, plies: int, start: str = START) -> Iterator[tuple[Position, str]]:
    """Each position of a random game with the move played there."""
    rng = random.Random(seed)
    position = Position(start)
    for _ in range(plies):
        moves = position.legal_moves()
        if not moves:
            return
        move = lively(rng, position, moves)
        yield position, move
        position = position.after(move)


def sampled(seed: int, games: int, plies: int) -> Iterator[tuple[Position, list[str]]]:
    """Positions of `games` random games from different starts."""
    for game in range(games):
        yield from walk(seed * 1000 + game, plies, STARTS[game % len(STARTS)])


SPARSE = (
    "4k4/9/9/9/9/9/9/4R4/K8 w - 1",
    "3k5/9/9/9/9/9/9/4R4/4K4 b - 1",
    "3k5/9/9/4r4/9/9/9/4R4/4K4 b - 1",
)


def cycling_game(seed: int) -> tuple[Game, list[str]]:
    """A game of few pieces that runs into a repetition, with its moves.

    It plays the same move whenever it meets the same position, mostly a check.
    """
    rng = random.Random(seed)
    game, played = Game(SPARSE[seed % len(SPARSE)]), list[str]()
    replies: dict[str, str] = {}
    while len(played) < 400 and game.repetition() == "none":
        moves = sorted(game.now.legal_moves())
        if not moves:
            break
        checking = [move for move in moves if rng.random() < 0.9 and game.now.gives_check(move)]
        played.append(replies.setdefault(game.now.core(), rng.choice((checking or moves)[:3])))
        game.push(played[-1])
    return game, played


def turned_square(text: str) -> str:
    return f"{10 - int(text[0])}{RANKS[8 - RANKS.index(text[1])]}"


def turned_move(move: str) -> str:
    """The same move seen from the other side of the board."""
    if move[1] == "*":
        return move[:2] + turned_square(move[2:])
    return turned_square(move) + turned_square(move[2:]) + move[4:]


def turned_sfen(sfen: str) -> str:
    """The position rotated by 180 degrees with colours swapped."""
    position = Position(sfen)
    turned = Position(START)
    turned.board = {(10 - file, 10 - rank): piece.swapcase() for (file, rank), piece in position.board.items()}
    turned.hands = {"b": position.hands["w"], "w": position.hands["b"]}
    turned.turn = "w" if position.turn == "b" else "b"
    turned.ply = position.ply
    return turned.sfen()


def hand_dict(position: Position, color: str) -> dict[str, int]:
    return {kind: position.hands[color][kind] for kind in HAND_ORDER if position.hands[color][kind]}


ALL_SQUARES = [(file, rank) for file in range(1, 10) for rank in range(1, 10)]


def square_name(square: tuple[int, int]) -> str:
    return f"{square[0]}{RANKS[square[1] - 1]}"


def every_move_text() -> Iterator[str]:
    """Every well-formed move text."""
    names = [square_name(square) for square in ALL_SQUARES]
    for target in names:
        yield from (f"{kind}*{target}" for kind in HAND_ORDER)
        for origin in names:
            yield origin + target
            yield origin + target + "+"
