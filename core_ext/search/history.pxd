"""Move histories: statistics of past searches that order moves and steer pruning and reductions, one set per thread.

An update adds a bonus and pulls the entry towards zero in proportion to the bonus ("gravity", Stockfish), so that every
entry stays within its limit.
"""

from core_ext.shogi.position cimport GROUP_PAWNS, Position
from core_ext.shogi.types cimport *

cdef enum:
    MOVE_SLOTS = 1 << 14        # origin and destination of a move, drops included
    LOW_PLIES = 5
    LOW_PLY_START = 98          # at the start of every search
    BUTTERFLY_LIMIT = 7183
    CAPTURE_LIMIT = 10692
    CAPTURE_START = -678        # below 0, so that moves tried before come first
    CONTINUATION_LIMIT = 30000
    CONTINUATION_START = -523
    PAWN_HISTORY_LIMIT = 8192
    PAWN_HISTORY_START = -1238
    PAWN_HISTORY_SLOTS = 512    # hashed pawn structures
    HASH_MOVE_LIMIT = 8192
    CORRECTION_LIMIT = 1024
    CORRECTION_SLOTS = 1 << 16

# The keys of the correction history; see correction.pxd.
cdef enum:
    CORRECTION_HANDS            # both hands
    CORRECTION_MOVE             # the last move
    CORRECTION_PAWNS
    CORRECTION_PIECES           # pieces of the side to move except pawns
    CORRECTION_OTHER_PIECES     # pieces of the opponent except pawns
    CORRECTIONS

# [piece after the move][destination]
cdef struct PieceTo:
    int16_t at[PIECES][SQUARES]

# An entry with a start value is stored minus that value, so that cleared memory is all zero.
cdef struct Histories:
    int16_t butterfly[2][MOVE_SLOTS]
    int16_t low_ply[LOW_PLIES][MOVE_SLOTS]
    int16_t capture[PIECES][SQUARES][PIECE_TYPES]
    PieceTo continuation[PIECES][SQUARES]   # [piece][destination of the earlier move]; piece 0: no earlier move
    PieceTo pawn[PAWN_HISTORY_SLOTS]        # pawn history (Stockfish, 2023), by pawn structure
    int16_t correction[CORRECTIONS][2][CORRECTION_SLOTS]    # [key][side to move][hash]
    PieceTo move_correction[PIECES][SQUARES]    # continuation correction: [piece][destination] of the earlier move
    int16_t hash_move                       # how often the hash move is the best move


# ---- entries ----

cdef inline int move_slot(Move move) noexcept nogil:
    return move & (MOVE_SLOTS - 1)

cdef inline int16_t *capture_entry(Histories *histories, Move32 move32) noexcept nogil:
    return &histories.capture[placed_piece(move32)][to_square(move32)][type_of(captured_piece(move32))]

cdef inline int16_t *piece_to_entry(PieceTo *table, Move32 move32) noexcept nogil:
    return &table.at[placed_piece(move32)][to_square(move32)]


cdef inline int hash_slot(uint64_t key, int slots) noexcept nogil:
    """Return an index below `slots`, a power of two up to 1 << 16, from the upper bits of the key.

    A pawn's step can leave the lowest nine bits unchanged, which would map it to the same pawn history every time.
    """
    return key >> 48 & (slots - 1)


cdef inline int pawn_slot(const Position *pos) noexcept nogil:
    """Return the index of the pawn history for the pawn structure of both sides."""
    return hash_slot(pos.state.group_keys[GROUP_PAWNS], PAWN_HISTORY_SLOTS)


cdef inline PieceTo *pawn_history(Histories *histories, const Position *pos) noexcept nogil:
    return &histories.pawn[pawn_slot(pos)]


# ---- values ----

cdef inline int butterfly_value(const Histories *histories, int side, Move move) noexcept nogil:
    return histories.butterfly[side][move_slot(move)]

cdef inline int low_ply_value(const Histories *histories, int ply, Move move) noexcept nogil:
    return histories.low_ply[ply][move_slot(move)] + LOW_PLY_START

cdef inline int capture_value(Histories *histories, Move32 move32) noexcept nogil:
    return capture_entry(histories, move32)[0] + CAPTURE_START

cdef inline int continuation_value(PieceTo *table, Move32 move32) noexcept nogil:
    return piece_to_entry(table, move32)[0] + CONTINUATION_START

cdef inline int pawn_history_value(PieceTo *table, Move32 move32) noexcept nogil:
    return piece_to_entry(table, move32)[0] + PAWN_HISTORY_START


# ---- updates ----

cdef inline int step_to(int value, int bonus, int limit) noexcept nogil:
    """Return the change that an update makes to a value."""
    cdef int size
    bonus = limit if bonus > limit else -limit if bonus < -limit else bonus
    size = bonus if bonus > 0 else -bonus
    return bonus - value * size // limit


cdef inline void update_entry(int16_t *entry, int bonus, int limit) noexcept nogil:
    entry[0] += <int16_t>step_to(entry[0], bonus, limit)


cdef inline void update_entry_from(int16_t *entry, int start, int bonus, int limit) noexcept nogil:
    """Update an entry that is stored minus its start value."""
    entry[0] += <int16_t>step_to(entry[0] + start, bonus, limit)


cdef inline void update_butterfly(Histories *histories, int side, Move move, int bonus) noexcept nogil:
    update_entry(&histories.butterfly[side][move_slot(move)], bonus, BUTTERFLY_LIMIT)

cdef inline void update_low_ply(Histories *histories, int ply, Move move, int bonus) noexcept nogil:
    update_entry_from(&histories.low_ply[ply][move_slot(move)], LOW_PLY_START, bonus, BUTTERFLY_LIMIT)

cdef inline void update_capture(Histories *histories, Move32 move32, int bonus) noexcept nogil:
    update_entry_from(capture_entry(histories, move32), CAPTURE_START, bonus, CAPTURE_LIMIT)

cdef inline void update_continuation_entry(PieceTo *table, Move32 move32, int bonus) noexcept nogil:
    update_entry_from(piece_to_entry(table, move32), CONTINUATION_START, bonus, CONTINUATION_LIMIT)

cdef inline void update_pawn_history(PieceTo *table, Move32 move32, int bonus) noexcept nogil:
    update_entry_from(piece_to_entry(table, move32), PAWN_HISTORY_START, bonus, PAWN_HISTORY_LIMIT)
