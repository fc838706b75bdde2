"""The tables of bitboard.pxd, computed from the rules of movement."""

from core_ext.shogi.types cimport *

# Steps as (file, rank) from Black's perspective: forward is rank - 1.
_FORWARD = [(0, -1)]
_ORTHOGONAL = [(0, -1), (0, 1), (-1, 0), (1, 0)]
_DIAGONAL = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
_AHEAD = [(-1, -1), (0, -1), (1, -1)]
_STEPS = {
    PAWN: _FORWARD,
    KNIGHT: [(-1, -2), (1, -2)],
    SILVER: _AHEAD + [(-1, 1), (1, 1)],
    GOLD: _AHEAD + [(-1, 0), (1, 0), (0, 1)],
    KING: _ORTHOGONAL + _DIAGONAL,
    LANCE: _FORWARD,
    BISHOP: _DIAGONAL,
    ROOK: _ORTHOGONAL,
    HORSE: _ORTHOGONAL + _DIAGONAL,
    DRAGON: _ORTHOGONAL + _DIAGONAL,
}


cdef Bitboard to_bitboard(object squares):
    cdef Bitboard result = empty()
    for square in squares:
        if square < LOW_SQUARES:
            result.low |= <uint64_t>1 << <int>square
        else:
            result.high |= <uint64_t>1 << <int>(square - LOW_SQUARES)
    return result


def _walk(square, direction):
    """Yield the squares from `square` (excluded) to the edge."""
    file, rank = file_of(square) + direction[0], rank_of(square) + direction[1]
    while 0 <= file < 9 and 0 <= rank < 9:
        yield make_square(file, rank)
        file, rank = file + direction[0], rank + direction[1]


def _steps(square, steps, color):
    """Yield the squares one step away; White's steps are rotated by 180 degrees."""
    for file, rank in steps:
        if color == WHITE:
            file, rank = -file, -rank
        if 0 <= file_of(square) + file < 9 and 0 <= rank_of(square) + rank < 9:
            yield square + make_square(file, rank)


def _lines(square, directions):
    return [target for direction in directions for target in _walk(square, direction)]


cdef void init_steps():
    for color in range(2):
        for piece_type in range(PIECE_TYPES):
            steps = _STEPS.get(GOLD if PRO_PAWN <= piece_type <= PRO_SILVER else piece_type, [])
            for square in range(SQUARES):
                tables.step[color][piece_type][square] = to_bitboard(_steps(square, steps, color))


cdef void init_lines():
    for square in range(SQUARES):
        tables.square[square] = to_bitboard([square])
        tables.forward[BLACK][square] = to_bitboard(_walk(square, (0, -1)))
        tables.forward[WHITE][square] = to_bitboard(_walk(square, (0, 1)))
        tables.rook_lines[square] = to_bitboard(_lines(square, _ORTHOGONAL))
        tables.bishop_lines[square] = to_bitboard(_lines(square, _DIAGONAL))
        tables.rising[square] = to_bitboard(_lines(square, [(1, -1), (-1, 1)]))
        tables.falling[square] = to_bitboard(_lines(square, [(1, 1), (-1, -1)]))
    tables.square[NO_SQUARE] = empty()


cdef void init_pairs():
    for square in range(SQUARES):
        for direction in _ORTHOGONAL + _DIAGONAL:
            ray = list(_walk(square, direction))
            back = list(_walk(square, (-direction[0], -direction[1])))
            whole = to_bitboard(ray + back + [square])
            for i, target in enumerate(ray):
                tables.between[square][<int>target] = to_bitboard(ray[:i])
                tables.line[square][<int>target] = whole


cdef void init_near_king():
    """Include three ranks ahead for knights; every other step comes from at most two squares away."""
    for square in range(SQUARES):
        for color in range(2):
            ahead, behind = (3, 2) if color == BLACK else (2, 3)
            tables.near_king[color][square] = to_bitboard([
                other for other in range(SQUARES)
                if abs(file_of(other) - file_of(square)) <= 2 and -ahead <= rank_of(other) - rank_of(square) <= behind])


cdef void init_ranks():
    for color in range(2):
        ranks = [[square for square in range(SQUARES) if relative_rank(color, square) == rank] for rank in range(9)]
        tables.promotion_zone[color] = to_bitboard(ranks[0] + ranks[1] + ranks[2])
        for piece_type in range(PIECE_TYPES):
            first = 2 if piece_type == KNIGHT else 1 if piece_type in (PAWN, LANCE) else 0
            tables.drop_ranks[color][piece_type] = to_bitboard(sum(ranks[first:], []))


def _attacked(cell, occupied):
    """Yield the cells that a slider attacks on a line of nine; bit i of `occupied` is set if cell i has a piece."""
    for step in (-1, 1):
        other = cell + step
        while 0 <= other < 9:
            yield other
            if occupied >> other & 1:
                break
            other += step


cdef void init_slides():
    for cell in range(9):
        for inner in range(128):
            reached = list(_attacked(cell, inner << 1))
            tables.file_attacks[cell][inner] = <uint16_t>sum(1 << other for other in reached)
            tables.spread[cell][inner] = <uint64_t>(sum(1 << other for other in reached) * <object>GROUP_SUM)
            tables.rank_attacks[cell][inner] = to_bitboard([make_square(other, 0) for other in reached])


init_steps()
init_lines()
init_pairs()
init_near_king()
init_ranks()
init_slides()
