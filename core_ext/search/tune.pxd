"""The search's tunable constants as fields of one struct, `tune`. tune.h lists them: name, default, range, unit."""

cdef extern from "search/tune.h" nogil:
    ctypedef struct Tune:
        int reverse_futility_depth
        int reverse_futility_slope
        int reverse_futility_share
        int null_margin
        int null_slope
        int null_base
        int null_divisor
        int null_eval
        int null_eval_limit
        int null_verify
        int null_verify_share
        int iir_depth
        int probcut_depth
        int probcut_margin
        int probcut_improving
        int probcut_reduction
        int lmp_base
        int lmp_depth
        int lmp_slope
        int futility_depth
        int futility_base
        int futility_slope
        int capture_futility_depth
        int capture_futility_base
        int capture_futility_slope
        int history_prune
        int history_depth
        int quiet_see_slope
        int capture_see_slope
        int singular_depth
        int singular_hash_depth
        int singular_share
        int singular_margin
        int double_margin
        int lmr_min_depth
        int lmr_scale
        int lmr_base
        int lmr_not_improving
        int lmr_cut
        int lmr_hash_capture
        int lmr_pv
        int lmr_check
        int lmr_killer
        int lmr_cutoffs
        int lmr_cutoff_count
        int lmr_history
        int deeper_margin
        int deeper_slope
        int shallower_slope
        int stand_pat_share
        int quiescence_futility
        int quiescence_moves
        int quiescence_evasions
        int quiescence_see
        int quiescence_checks
        int correction_rate
        int correction_weight
        int correction_pawns
        int correction_generals
        int bonus_slope
        int bonus_offset
        int bonus_limit
        int malus_slope
        int malus_offset
        int malus_limit
        int prior_bonus
        int post_lmr_bonus
        int hash_cut_bonus
        int pawn_history_weight
        int capture_weight
        int good_capture_see
        int check_bonus
        int low_ply_order
        int pawn_history_order
        int mate_in_one
        int mate_scout
    ctypedef struct TuneRow:
        const char *name
        int default_value
        int least
        int greatest
    TuneRow tune_row(int index)
    enum:
        TUNABLES

cdef Tune tune
