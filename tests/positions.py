"""Positions for the tests: fixed ones, seeded random walks, flipped and mirrored positions; values of pieces."""

import dataclasses
import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from core_ext.board import Board
from tests.shogi.slow_shogi import RANKS, START, Game, Position, name, other, to_square

DATA = Path(__file__).resolve().parent / "data"

MATSURI = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1"  # the usual benchmark, 207 moves
MOST_MOVES = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1"  # 593, the most there can be
MIDGAME = "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1"
# Both kings have entered.
ENTERED = "4+P2+Bl/1+R+P1K1+S2/2+P2+P+N2/9/9/9/1+p2+p1+n2/3+s1k+p2/1+b1+p2+r2 b G3P2gs2nl6p 1"
HANDS = "4k4/9/9/9/9/9/9/9/4K4 b RBGSNL9Prbgsnl9p 1"
TWO_PIECE_HANDICAP = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"
STARTS = (START, START, MATSURI, MIDGAME, ENTERED, HANDS, TWO_PIECE_HANDICAP)

MATED = "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"
MATE_IN_ONE = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1"
HARD_MATE = "g1+P1k1+P+P+L/1p3P3/+R+p2pp1pl/1NNsg+p2+R/+b+nL+P1+p3/1P3ssP1/2P1+Ps2N/4+P1P1L/+B5G1g b - 1"
DECLARABLE = "1+R+B1K4/GGGG5/+P+P+P+P5/9/9/9/9/9/4k4 b RB 1"


def data_rows(file: str) -> list[list[str]]:
    """Return the fields of each line of a `.tsv` file of tests/data, without comment lines."""
    lines = (DATA / file).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def described_rows(file: str) -> list[tuple[Any, ...]]:
    """Return texts in a `.jsonl` file of tests/data, and what each must be read as, in the form of `described`."""
    return [tuple(json.loads(line)) for line in (DATA / file).read_text(encoding="utf-8").splitlines()]


def described(value: Any) -> Any:
    """Return the class and the fields of a dataclass, without those that have their default, as JSON has them."""
    if isinstance(value, Enum):
        return value.name
    if not dataclasses.is_dataclass(value):
        return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Decimal) else value
    told = dict[str, Any]()
    for field in dataclasses.fields(value):
        own, made = getattr(value, field.name), field.default_factory
        if own != (field.default if made is dataclasses.MISSING else made()):
            told[field.name] = described(own)
    return {type(value).__name__: told}


def random_boards(
    seed: int, plies: int, starts: Sequence[str] = (START,), checks: float = 0.0, include_all: bool = False
) -> Iterator[Board]:
    """Yield the board after each random move, this share of them checks; the next game begins at the next start."""
    rng, games = random.Random(seed), itertools.cycle(starts)
    board = Board(next(games))
    for _ in range(plies):
        moves = board.legal_moves(include_all)
        if not moves or len(board.moves()) > 200:
            board = Board(next(games))
            moves = board.legal_moves(include_all)
        checking = board.checking_moves() if rng.random() < checks else []
        board.push(rng.choice(checking or moves))
        yield board


def scatter(rng: random.Random, pieces: Sequence[str], hands: str, turn: str) -> Board | None:
    """Return a position with these pieces anywhere on the board; None if the king could be captured."""
    cells = [*pieces, *["1"] * (81 - len(pieces))]
    rng.shuffle(cells)
    rows = "/".join("".join(cells[at : at + 9]) for at in range(0, 81, 9))
    with suppress(ValueError):
        return Board(f"{rows} {turn} {hands or '-'} 1")
    return None


class Scene(NamedTuple):
    """A position of a random game, by the rulebook twin."""

    position: Position
    moves: list[str]  # all legal moves
    checks: set[str]  # those that give check
    played: str  # empty if there is no legal move


def lively(rng: random.Random, position: Position, moves: list[str], checks: set[str]) -> str:
    """A random move, often a capture, a promotion or a check, so that walks exercise the rules."""
    draw = rng.random()
    if draw < 0.25:
        taken = set(map(name, position.board))
        chosen = [move for move in moves if move[2:4] in taken]
    elif draw < 0.35:
        chosen = [move for move in moves if move.endswith("+")]
    else:
        chosen = sorted(checks) if draw < 0.5 else moves
    return rng.choice(chosen or moves)


def walk(seed: int, plies: int, start: str = START) -> Iterator[Scene]:
    """Yield the positions of one random game; it ends early if there is no legal move."""
    rng, position = random.Random(seed), Position(start)
    for _ in range(plies):
        moves = position.legal_moves()
        checks = {move for move in moves if position.gives_check(move)}
        scene = Scene(position, moves, checks, lively(rng, position, moves, checks) if moves else "")
        yield scene
        if not moves:
            return
        position = position.after(scene.played)


SEEDS = range(14)


@cache
def scenes(seed: int) -> list[Scene]:
    """One random game from one of the starts; the same objects for all tests, because the twin is slow."""
    return list(walk(seed, 40, STARTS[seed % len(STARTS)]))


def all_scenes(every: int = 1) -> list[Scene]:
    """Every n-th position of all games."""
    return [scene for seed in SEEDS for scene in scenes(seed)][::every]


SPARSE = (
    "4k4/9/9/9/9/9/9/4R4/K8 w - 1",
    "3k5/9/9/9/9/9/9/4R4/4K4 b - 1",
    "3k5/9/9/4r4/9/9/9/4R4/4K4 b - 1",
)


@cache
def cycling_game(seed: int) -> tuple[Game, list[str]]:
    """A game of few pieces that ends in a repetition, with its moves: one for each position, often a check."""
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


def flipped_square(text: str) -> str:
    return f"{10 - int(text[0])}{RANKS[8 - RANKS.index(text[1])]}"


def flipped_move(move: str) -> str:
    """The same move seen from the other side of the board."""
    if move[1] == "*":
        return move[:2] + flipped_square(move[2:])
    return flipped_square(move) + flipped_square(move[2:]) + move[4:]


def flipped(sfen: str) -> str:
    """The position rotated by 180 degrees with colours swapped."""
    position, result = Position(sfen), Position(START)
    result.board = {(10 - file, 10 - rank): piece.swapcase() for (file, rank), piece in position.board.items()}
    result.hands = {"b": position.hands["w"], "w": position.hands["b"]}
    result.turn, result.ply = other(position.turn), position.ply
    return result.sfen()


@cache
def entered() -> list[str]:
    """Return positions near the limits of a declaration: an entered king, helpers of every kind, handicaps too."""
    rng, found = random.Random(7), list[str]()
    for _ in range(700):
        position = Position("9/9/9/9/9/9/9/9/9 b - 1")
        inside = [(file, rank) for file in range(1, 10) for rank in range(1, 4)]
        position.board[rng.choice(inside) if rng.random() < 0.85 else (5, 4)] = "K"
        position.board[rng.randint(1, 9), rng.choice((8, 9))] = "k"
        pool = list("RBGGGSSNL") + ["+P"] * 7 + ["+B", "+S", "+N"]
        for piece in rng.sample(pool, rng.randint(10, 19)):
            square = rng.choice(inside) if rng.random() < 0.9 else (rng.randint(1, 9), rng.randint(4, 7))
            if square not in position.board and not (piece in "NL" and square[1] < 3):
                position.board[square] = piece
        position.hands["b"].update({"P": rng.randint(0, 5), "G": rng.randint(0, 1), "R": rng.randint(0, 1)})
        position.hands["w"].update({"P": rng.choice((0, 2, 6)), "S": rng.choice((0, 1)), "L": rng.choice((0, 2))})
        if position.checkers("w"):
            continue
        found.append(position.sfen() if rng.random() < 0.4 else flipped(position.sfen()))
    return found


def mirrored(sfen: str) -> str:
    """The position with its files reversed."""
    position = Position(sfen)
    position.board = {(10 - file, rank): piece for (file, rank), piece in position.board.items()}
    return position.sfen()


ALL_SQUARES = [(file, rank) for file in range(1, 10) for rank in range(1, 10)]


def is_quiet(position: Position, move: str) -> bool:
    """Return whether a move is neither a capture nor a pawn's promotion."""
    if move[1] == "*":
        return True
    promotes_pawn = move.endswith("+") and position.board[to_square(move)].upper() == "P"
    return to_square(move[2:]) not in position.board and not promotes_pawn


# Of each piece, in centipawns.
VALUES = {"P": 90, "L": 315, "N": 405, "S": 495, "G": 540, "B": 855, "R": 990, "+P": 540, "+L": 540, "+N": 540,
          "+S": 540, "+B": 945, "+R": 1395}  # fmt: skip


def material(sfen: str, values: Mapping[str, int] = VALUES) -> int:
    """The sum of the piece values for the side to move."""
    position = Position(sfen)
    pieces = list(position.board.values()) + list(position.hands["b"].elements())
    pieces += [kind.lower() for kind in position.hands["w"].elements()]
    total = sum(values.get(piece.upper(), 0) * (1 if piece.isupper() else -1) for piece in pieces)
    return total if position.turn == "b" else -total
