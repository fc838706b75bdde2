"""The incremental state against the state from scratch; null moves; Dirty; the search's repetition; attacks; hands."""

import random

import pytest

from core_ext import _probe
from core_ext._probe import Probe
from tests import positions
from tests.positions import described_rows
from tests.shogi.slow_shogi import Game, Position, Square, color_of, judged, name, other, to_square

# Piece, square and number in hand, before and after.
DirtyPiece = tuple[str, str, int, str, str, int]


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_pushing_and_popping(seed: int) -> None:
    """The state and Dirty after each move; Dirty records exactly the difference of two positions."""
    game = positions.scenes(seed)
    probe, states = Probe(game[0].position.sfen()), []
    for position, _, _, move in game:
        states.append(probe.state())
        assert states[-1] == Probe(position.sfen()).state()
        if move:
            probe.push(move)
            assert probe.dirty() == expected_dirty(position, move), move
    for state in reversed(states if game[-1].played else states[:-1]):
        probe.pop()
        assert probe.state() == state


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_a_pinned_piece_exposes_its_king_if_it_is_removed(seed: int) -> None:
    for position, *_ in positions.scenes(seed):
        king = position.king(position.turn)
        attackers = set(position.checkers())
        expected = []
        for square, piece in position.board.items():
            if king and square != king and color_of(piece) == position.turn:
                bare = Position(position.sfen())
                del bare.board[square]
                if set(bare.checkers()) - attackers:
                    expected.append(name(square))
        assert sorted(Probe(position.sfen()).state()["pinned"]) == sorted(expected), position.sfen()


@pytest.mark.parametrize("seed", positions.SEEDS)
def test_a_null_move_swaps_the_side_to_move(seed: int) -> None:
    for position, *_ in positions.scenes(seed):
        if position.is_check():
            continue
        probe, passed = Probe(position.sfen()), Position(position.sfen())
        passed.turn, passed.ply = other(position.turn), position.ply + 1
        before = probe.state()
        probe.push_null()
        assert probe.state() == Probe(passed.sfen()).state()
        probe.pop_null()
        assert probe.state() == before


def expected_dirty(before: Position, move: str) -> list[DirtyPiece]:
    after, target = before.after(move), move[2:4]
    letter = move[0] if before.turn == "b" else move[0].lower()
    own, square = before.hands[before.turn], target
    if move[1] == "*":
        return [(letter, "hand", own[move[0]], letter, target, 0)]
    key, origin = to_square(target), to_square(move)
    changes = [(before.board[origin], move[:2], 0, after.board[key], square, 0)]
    captured = before.board.get(key)
    if captured:
        kind = captured.strip("+").upper()
        held = kind if before.turn == "b" else kind.lower()
        changes.append((captured, target, 0, held, "hand", own[kind] + 1))
    return changes


def test_nothing_is_dirty_at_the_root_and_after_a_null_move() -> None:
    probe = Probe(positions.MATSURI)
    assert probe.dirty() == []
    probe.push_null()
    assert probe.dirty() == []


# ---- repetition in the search


@pytest.mark.parametrize(("sfen", "moves", "verdict"), [row[1:] for row in described_rows("search_repetitions.jsonl")])
def test_known_repetitions(sfen: str, moves: str, verdict: str) -> None:
    probe = Probe(sfen)
    for move in moves.split():
        if move == "0000":
            probe.push_null()
        else:
            probe.push(move)
    assert probe.find_repetition() == verdict
    assert probe.find_repetition(3) == "none"  # within three plies


def expected_repetition(game: Game) -> str:
    """The nearest earlier position with the same board and comparable hands, judged for the side to move."""
    now = game.now
    for plies in range(4, len(game.positions), 2):
        then = game.positions[-1 - plies]
        if then.board != now.board:
            continue
        mine, before = now.hands[now.turn], then.hands[now.turn]
        if +mine == +before:
            return judged(game.positions[-plies:], now.turn)
        if mine >= before or before >= mine:
            return "superior" if mine >= before else "inferior"
    return "none"


@pytest.mark.parametrize("seed", range(12))
def test_repetitions_are_those_of_the_twin(seed: int) -> None:
    """The games often return to earlier boards, with drops and captures in between."""
    rng = random.Random(seed)
    sfen = ("k8/9/9/9/r8/9/9/9/8K b PLp 1", "k8/9/9/9/4r4/9/9/4R4/8K b Pp 1")[seed % 2]
    game, probe, seen = Game(sfen), Probe(sfen), set()
    for _ in range(70):
        seen.add(str(sorted(game.now.board.items())))
        moves = sorted(game.now.legal_moves())
        known = [move for move in moves if str(sorted(game.now.after(move).board.items())) in seen]
        if not moves:
            break
        move = rng.choice(known if known and rng.random() < 0.6 else moves)
        game.push(move)
        probe.push(move)
        assert probe.find_repetition() == expected_repetition(game), game.now.sfen()


# ---- attacks and hands ----

KINDS = {"P": 1, "L": 2, "N": 3, "S": 4, "B": 5, "R": 6, "G": 7, "K": 8, "+P": 9, "+L": 10, "+N": 11, "+S": 12,
         "+B": 13, "+R": 14}  # fmt: skip
FULL_SET: tuple[int, ...] = (18, 4, 4, 4, 2, 2, 4)  # pawns to golds


def index(square: Square) -> int:
    return 9 * (square[0] - 1) + square[1] - 1


def twin_reach(color: int, kind: str, square: Square, occupied: list[Square]) -> set[int]:
    position = Position("9/9/9/9/9/9/9/9/9 b - 1")
    position.board = dict.fromkeys(occupied, "P")
    position.board[square] = kind if color == 0 else kind.lower()
    return {index(target) for target in position.reach(square)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("color", [0, 1])
def test_attacks_on_empty_and_crowded_boards(kind: str, color: int) -> None:
    rng = random.Random(KINDS[kind])
    for square in positions.ALL_SQUARES:
        for crowd in (0, 0.15, 0.4, 0.9):
            occupied = [other for other in positions.ALL_SQUARES if other != square and rng.random() < crowd]
            taken = [index(other) for other in occupied] + [index(square)]
            found = _probe.piece_attacks(color, KINDS[kind], index(square), taken)
            assert len(found) == len(set(found))
            assert set(found) == twin_reach(color, kind, square, occupied)


@pytest.mark.parametrize("kind", ["L", "B", "R"])
def test_every_occupancy_of_a_line(kind: str) -> None:
    """All 512 ways to fill a file and a rank through each square."""
    for square in [(1, 1), (1, 9), (5, 5), (7, 3), (8, 2), (9, 9), (8, 9)]:
        for bits in range(512):
            line = [(square[0], 1 + i) for i in range(9) if bits >> i & 1]
            line += [(1 + i, square[1]) for i in range(9) if bits >> i & 1]
            occupied = [other for other in line if other != square]
            taken = [index(other) for other in occupied]
            found = set(_probe.piece_attacks(0, KINDS[kind], index(square), taken))
            assert found == twin_reach(0, kind, square, occupied)


def test_packed_hands() -> None:
    rng = random.Random(9)
    cases: list[tuple[tuple[int, ...], tuple[int, ...]]]
    cases = [(one, two) for one in (FULL_SET, (0,) * 7) for two in (FULL_SET, (0,) * 7)]
    for _ in range(3000):
        drawn = tuple(rng.randint(0, most) for most in FULL_SET)
        near = tuple(rng.choice((own, rng.randint(0, most))) for own, most in zip(drawn, FULL_SET, strict=True))
        cases.append((drawn, near))
    for one, two in cases:
        read, covers, held = _probe.hand_facts(one, two)
        assert tuple(read) == one
        assert covers == all(a >= b for a, b in zip(one, two, strict=True))
        assert held == [bool(number) for number in one]
