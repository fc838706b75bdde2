"""The search's tunable constants: one table of name, default, least and greatest value (tune.pyx), read by index here.

The unit of every margin is the centipawn, of every reduction 1/1024 ply, of a history its own score.
"""

cdef enum:
    REVERSE_FUTILITY_DEPTH
    REVERSE_FUTILITY_SLOPE
    NULL_MARGIN
    NULL_SLOPE
    NULL_BASE
    NULL_DIVISOR
    NULL_EVAL
    NULL_VERIFY
    IIR_DEPTH
    PROBCUT_DEPTH
    PROBCUT_MARGIN
    LMP_BASE
    LMP_DEPTH
    LMP_SLOPE
    FUTILITY_DEPTH
    FUTILITY_BASE
    FUTILITY_SLOPE
    CAPTURE_FUTILITY_BASE
    CAPTURE_FUTILITY_SLOPE
    HISTORY_PRUNE
    QUIET_SEE_SLOPE
    CAPTURE_SEE_SLOPE
    SINGULAR_DEPTH
    SINGULAR_MARGIN
    DOUBLE_MARGIN
    CHECK_EXTENSION_DEPTH
    LMR_SCALE
    LMR_BASE
    LMR_NOT_IMPROVING
    LMR_CUT
    LMR_PV
    LMR_CHECK
    LMR_KILLER
    LMR_HISTORY
    QUIESCENCE_FUTILITY
    QUIESCENCE_CHECKS
    MATE_IN_ONE
    CORRECTION_WEIGHT
    BONUS_SLOPE
    BONUS_LIMIT
    MALUS_SLOPE
    MALUS_LIMIT
    PRIOR_BONUS
    RESEARCH_BONUS
    HASH_CUT_BONUS
    CHECK_BONUS
    CORRECTION_PAWNS
    CORRECTION_CASTLE
    LMR_HASH_CAPTURE
    LMR_CUTOFFS
    DEEPER_MARGIN
    CAPTURE_WEIGHT
    LOSING_SHARE
    SHAPE_ORDER
    SHAPE_HISTORY
    STAND_PAT_SHARE         # percent of the way back to beta
    QUIESCENCE_MOVES
    MATE_SCOUT              # percent of the time for a move that the look for a mate at the root may take
    TUNABLES

cdef int tune[TUNABLES]
