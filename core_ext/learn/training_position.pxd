"""A training position."""

from core_ext.eval.bonapiece cimport LISTED
from core_ext.shogi.types cimport Move, int16_t, uint8_t, uint32_t, uint64_t
from libc.stdint cimport int8_t, uint16_t

cdef enum:
    UNSCORED = -32768
    UNFINISHED = 127
    RESULT_UNIT = 100

# One quiet position, 98 bytes.
cdef packed struct TrainingPosition:
    uint64_t key
    uint32_t game
    Move move                   # the one played, or NO_MOVE
    uint16_t pieces[LISTED]     # Bonapiece numbers from Black's perspective, 0 after the last
    uint16_t ply
    int16_t score               # centipawns for Black, or UNSCORED
    uint8_t king[2]             # each from the perspective of its colour
    int8_t side                 # to move
    int8_t result               # RESULT_UNIT Black won, -RESULT_UNIT White, between them a mean, or UNFINISHED
