"""Stages, scores and selection of the move picker. See movepick.pxd."""

from core_ext.base.debug cimport ASSERT
from core_ext.search.history cimport (
    butterfly_value, capture_value, CONTINUATION_START, continuation_value, Histories, LOW_PLIES, low_ply_value,
    move_slot, PAWN_HISTORY_START, pawn_history_value,
)
from core_ext.search.tune cimport tune
from core_ext.shogi.bitboard cimport Bitboard, pop, some, without
from core_ext.shogi.hand cimport hand_has
from core_ext.shogi.movegen cimport (
    checks_directly, generate_captures, generate_drops, generate_evasions, generate_quiets,
)
from core_ext.shogi.position cimport Position, hand_of, in_check, occupied, to_move32
from core_ext.shogi.see cimport capture_gain, see_at_least, see_value
from core_ext.shogi.types cimport *

cdef extern from "base/simd.h" nogil:
    int greatest(const int32_t *pairs, int count) noexcept

cdef enum:
    EVASION_CAPTURE = 1 << 20   # above every history
    VICTIM = 64                 # weight of the victim's value against the attacker's
    ANY_EXCHANGE = -20000       # below every SEE value: no capture is bad


cdef void init_picker(Picker *picker, const Position *pos, Histories *histories, ScoredMove *free_moves, int purpose,
                      Move hash_move) noexcept nogil:
    picker.pos = pos
    picker.histories = histories
    picker.check_info = NULL
    picker.purpose = purpose
    picker.stage = STAGE_HASH if hash_move else STAGE_START
    picker.ply = LOW_PLIES
    picker.threshold = 0
    picker.hash_move = hash_move
    picker.skip_quiets = False
    picker.best = NULL
    picker.start = picker.current = picker.end = free_moves
    picker.bad_end = picker.bad_quiets = picker.last_end = free_moves


# ---- scores ----

cdef inline int capture_score(const Picker *picker, Move move) noexcept nogil:
    """Add the material gained by capture and promotion to the capture history."""
    cdef Move32 move32 = to_move32(picker.pos, move)
    return tune.capture_weight * capture_gain(move32) + capture_value(picker.histories, move32)


cdef inline int low_ply_bonus(const Picker *picker, Move move) noexcept nogil:
    if picker.ply >= LOW_PLIES:
        return 0
    return tune.low_ply_order * low_ply_value(picker.histories, picker.ply, move) // (1 + picker.ply)


cdef inline int quiet_score(const Picker *picker, Move move) noexcept nogil:
    """Sum the histories of a quiet move; add a bonus for a direct check that loses little by SEE."""
    cdef Move32 move32 = to_move32(picker.pos, move)
    cdef int i, score = 2 * butterfly_value(picker.histories, picker.pos.side, move)
    score += 2 * pawn_history_value(picker.pawn_history, move32)
    for i in range(CONTINUATIONS):
        score += continuation_value(picker.continuations[i], move32)
    score += low_ply_bonus(picker, move)
    if checks_directly(picker.check_info, move32) and see_at_least(picker.pos, move, -tune.check_see):
        score += tune.check_bonus
    return score


cdef inline int evasion_score(const Picker *picker, Move move) noexcept nogil:
    """Order captures first (MVV/LVA), then quiet moves by history."""
    cdef Move32 move32 = to_move32(picker.pos, move)
    if is_quiet32(move32):
        return (butterfly_value(picker.histories, picker.pos.side, move)
                + continuation_value(picker.continuations[0], move32))
    return (EVASION_CAPTURE + VICTIM * see_value(type_of(captured_piece(move32)))
            - see_value(type_of(moved_piece(move32))))


ctypedef int (*Scorer)(const Picker *picker, Move move) noexcept nogil


cdef inline void add_moves(Picker *picker, const Move *move, const Move *last, Scorer score) noexcept nogil:
    """Append the moves with their scores, except the hash move, which came first."""
    cdef ScoredMove *end = picker.end
    while move != last:
        if move[0] != picker.hash_move:
            end.move = move[0]
            end.score = score(picker, move[0])
            end += 1
        move += 1
    picker.end = picker.last_end = end


cdef inline void score_drops(const Picker *picker, int piece_type, int *scores) noexcept nogil:
    """Compute quiet_score without low_ply_bonus for a drop to each square: rows of the histories are added."""
    cdef int piece = make_piece(picker.pos.side, piece_type), to, i
    cdef const int16_t *butterfly = picker.histories.butterfly[picker.pos.side] + move_slot(drop_move(piece_type, 0))
    cdef const int16_t *pawn = picker.pawn_history.at[piece]
    cdef const int16_t *rows[CONTINUATIONS]
    cdef Bitboard checks = without(picker.check_info.squares[piece_type], occupied(picker.pos))
    for i in range(CONTINUATIONS):
        rows[i] = picker.continuations[i].at[piece]
    for to in range(SQUARES):
        scores[to] = (2 * butterfly[to] + 2 * (pawn[to] + PAWN_HISTORY_START) + rows[0][to] + rows[1][to] + rows[2][to]
                      + rows[3][to] + rows[4][to] + CONTINUATIONS * CONTINUATION_START)
    while some(checks):
        to = pop(&checks)
        if see_at_least(picker.pos, drop_move(piece_type, to), -tune.check_see):
            scores[to] += tune.check_bonus


cdef inline void add_drops(Picker *picker, const Move *move, const Move *last) noexcept nogil:
    """Append drops with their quiet_score. There are many, of few types."""
    cdef int scores[GOLD + 1][128]      # the square of a move has seven bits
    cdef Hand hand = hand_of(picker.pos, picker.pos.side)
    cdef ScoredMove *end = picker.end
    cdef int piece_type
    for piece_type in range(PAWN, GOLD + 1):
        if hand_has(hand, piece_type):
            score_drops(picker, piece_type, scores[piece_type])
    while move != last:
        if move[0] != picker.hash_move:
            end.move = move[0]
            end.score = scores[dropped_type(move[0])][to_square(move[0])] + low_ply_bonus(picker, move[0])
            ASSERT(end.score == quiet_score(picker, move[0]))
            end += 1
        move += 1
    picker.end = picker.last_end = end


cdef inline ScoredMove *best_of_list(const Picker *picker) noexcept nogil:
    return picker.current + greatest(<const int32_t *>picker.current, picker.end - picker.current)


cdef inline Move take_best(Picker *picker) noexcept nogil:
    """Remove and return the best move from `current` on; there must be one.

    Selection instead of sorting: a shallow node searches only a few of a hundred quiet moves.
    """
    cdef ScoredMove *best = picker.best if picker.best != NULL else best_of_list(picker)
    cdef ScoredMove chosen = best[0]
    best[0] = picker.current[0]
    picker.current[0] = chosen
    picker.current += 1
    picker.best = NULL
    return chosen.move


cdef Move peek_move(Picker *picker) noexcept nogil:
    if picker.current == picker.end:
        return NO_MOVE
    picker.best = best_of_list(picker)
    return picker.best.move


# ---- stages ----

cdef void add_captures(Picker *picker) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    add_moves(picker, moves, generate_captures(picker.pos, moves), capture_score)


cdef void add_quiets(Picker *picker) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    cdef Move *drops = generate_quiets(picker.pos, moves)
    add_moves(picker, moves, drops, quiet_score)
    add_drops(picker, drops, generate_drops(picker.pos, drops))


cdef void add_evasions(Picker *picker) noexcept nogil:
    cdef Move moves[MAX_MOVES]
    add_moves(picker, moves, generate_evasions(picker.pos, moves, False), evasion_score)


cdef Move next_good_capture(Picker *picker) noexcept nogil:
    """Return the best good capture or NO_MOVE; move the losing ones before it to the bad captures."""
    cdef Move move
    cdef ScoredMove chosen
    cdef int margin
    while picker.current != picker.end:
        move = take_best(picker)
        chosen = (picker.current - 1)[0]
        if picker.purpose == PICK_PROBCUT:
            if see_at_least(picker.pos, move, picker.threshold):
                return move
            continue
        margin = -chosen.score * tune.good_capture_see // 1024 if picker.purpose == PICK_MAIN else ANY_EXCHANGE
        if see_at_least(picker.pos, move, margin):
            return move
        picker.bad_end[0] = chosen
        picker.bad_end += 1
    return NO_MOVE


cdef inline Move next_of_list(Picker *picker) noexcept nogil:
    return take_best(picker) if picker.current != picker.end else NO_MOVE


cdef inline Move next_good_quiet(Picker *picker) noexcept nogil:
    """Return the best quiet move if it is a good one, else leave it to the bad quiets."""
    cdef Move move
    if picker.skip_quiets or picker.current == picker.end:
        return NO_MOVE
    move = take_best(picker)
    if (picker.current - 1).score > tune.good_quiet:
        return move
    picker.current -= 1
    return NO_MOVE


cdef inline Move next_of_stage(Picker *picker) noexcept nogil:
    """Return the next move of the current stage, or NO_MOVE at its end."""
    if picker.stage == STAGE_GOOD_CAPTURES:
        return next_good_capture(picker)
    if picker.stage == STAGE_GOOD_QUIETS:
        return next_good_quiet(picker)
    if picker.stage == STAGE_BAD_QUIETS and picker.skip_quiets:
        return NO_MOVE
    return next_of_list(picker)


cdef int stage_after(const Picker *picker) noexcept nogil:
    if picker.stage == STAGE_START:
        return STAGE_EVASIONS if in_check(picker.pos) else STAGE_GOOD_CAPTURES
    if picker.stage == STAGE_GOOD_CAPTURES and picker.purpose == PICK_MAIN:
        return STAGE_GOOD_QUIETS
    if picker.stage == STAGE_GOOD_QUIETS:
        return STAGE_BAD_CAPTURES
    return STAGE_BAD_QUIETS if picker.stage == STAGE_BAD_CAPTURES else STAGE_DONE


cdef void enter_stage(Picker *picker, int stage) noexcept nogil:
    """Generate the moves of the stage after the bad captures."""
    picker.stage = stage
    picker.best = NULL
    if stage == STAGE_GOOD_CAPTURES:
        add_captures(picker)
    elif stage == STAGE_EVASIONS:
        add_evasions(picker)
    elif stage == STAGE_GOOD_QUIETS:
        picker.current = picker.end
        if not picker.skip_quiets:
            add_quiets(picker)
    elif stage == STAGE_BAD_CAPTURES:
        picker.bad_quiets = picker.current
        picker.current = picker.start
        picker.end = picker.bad_end
    elif stage == STAGE_BAD_QUIETS:
        picker.current = picker.bad_quiets
        picker.end = picker.last_end


cdef Move next_move(Picker *picker) noexcept nogil:
    cdef Move move = NO_MOVE
    if picker.stage == STAGE_HASH:
        picker.stage = STAGE_START
        return picker.hash_move
    while picker.stage != STAGE_DONE:
        move = next_of_stage(picker)
        if move:
            break
        enter_stage(picker, stage_after(picker))
    return move
