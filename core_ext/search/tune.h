/* The search's tunable constants: the only list of them. X(name, default, least, greatest)
 *
 * tune.pxd declares the names to Cython, in any order; a name that is not here does not compile. The text name of a
 * constant, as in the hidden option Tune_NullMargin, is its name here in camel case.
 *
 * Units: margins are centipawns, depths plies, Lmr... 1/1024 ply, histories and bonuses a history's own score. */
#ifndef KOMADORI_TUNE_H
#define KOMADORI_TUNE_H

#define KOMADORI_TUNABLES(X) \
    /* reverse futility pruning */ \
    X(reverse_futility_depth, 9, 0, 20) \
    X(reverse_futility_slope, 143, 10, 400) \
    X(reverse_futility_share, 50, 0, 100)   /* percent of the value; the rest is beta */ \
    /* null move */ \
    X(null_margin, 317, -400, 1000) \
    X(null_slope, 16, 0, 100) \
    X(null_base, 4, 1, 8) \
    X(null_divisor, 3, 2, 8) \
    X(null_eval, 216, 20, 1000) \
    X(null_eval_limit, 4, 0, 10)            /* plies at most that the value above beta adds to the reduction */ \
    X(null_verify, 14, 4, 127) \
    X(null_verify_share, 75, 0, 100)        /* percent of the reduced depth searched without null moves */ \
    /* internal iterative reduction */ \
    X(iir_depth, 4, 1, 127) \
    /* ProbCut */ \
    X(probcut_depth, 5, 3, 127) \
    X(probcut_margin, 232, 50, 800) \
    X(probcut_improving, 40, 0, 400) \
    X(probcut_reduction, 4, 1, 8) \
    /* moves left out: late move, futility, history and exchange pruning */ \
    X(lmp_base, 11, 1, 40) \
    X(lmp_depth, 20, 0, 127) \
    X(lmp_slope, 86, 4, 400)                /* 1/64 move */ \
    X(futility_depth, 11, 0, 30) \
    X(futility_base, 144, 0, 800) \
    X(futility_slope, 86, 10, 400) \
    X(capture_futility_depth, 7, 0, 30) \
    X(capture_futility_base, 163, 0, 800) \
    X(capture_futility_slope, 192, 10, 600) \
    X(history_prune, 3536, 200, 30000) \
    X(history_depth, 16, 0, 100)            /* 1/128 of 1/1024 ply, as lmr_history */ \
    X(quiet_see_slope, 15, 1, 200) \
    X(capture_see_slope, 102, 10, 400) \
    /* singular extension */ \
    X(singular_depth, 7, 4, 127) \
    X(singular_hash_depth, 3, 0, 8)         /* plies that the table's depth may be short of the node's */ \
    X(singular_share, 50, 20, 80)           /* percent of the depth for the alternatives */ \
    X(singular_margin, 36, 8, 400)          /* 1/64 centipawn a ply */ \
    X(double_margin, 18, 0, 400) \
    /* late move reduction */ \
    X(lmr_min_depth, 2, 1, 20) \
    X(lmr_scale, 18, 4, 60) \
    X(lmr_base, -34, -3000, 4000) \
    X(lmr_not_improving, 662, 0, 4000) \
    X(lmr_cut, 1719, 0, 5000) \
    X(lmr_hash_capture, 1411, 0, 4000) \
    X(lmr_pv, 1512, 0, 5000) \
    X(lmr_check, 1289, 0, 5000) \
    X(lmr_killer, 2298, 0, 5000) \
    X(lmr_cutoffs, 359, 0, 4000) \
    X(lmr_cutoff_count, 3, 0, 20) \
    X(lmr_history, 16, 1, 100)              /* 1/128 of 1/1024 ply */ \
    X(deeper_margin, 50, 0, 300) \
    X(deeper_slope, 2, 0, 20) \
    X(shallower_slope, 1, 0, 20) \
    /* quiescence */ \
    X(stand_pat_share, 50, 0, 100)          /* percent of the way from the static value back to beta */ \
    X(quiescence_futility, 337, 0, 1000) \
    X(quiescence_moves, 3, 1, 500) \
    X(quiescence_evasions, 3, 0, 500) \
    X(quiescence_see, 20, 0, 400) \
    X(quiescence_checks, 1, 0, 4) \
    /* correction history: weights in 1/1024, but for the rate */ \
    X(correction_rate, 8, 1, 64)            /* 1/64 of the error a ply of depth */ \
    X(correction_weight, 83, 0, 400)        /* keys of the hands and of the last move */ \
    X(correction_pawns, 46, 0, 400) \
    X(correction_generals, 73, 0, 400) \
    /* history updates: shares in percent */ \
    X(bonus_slope, 210, 10, 1000) \
    X(bonus_offset, 80, 0, 1000) \
    X(bonus_limit, 2521, 100, 7000) \
    X(malus_slope, 139, 10, 2000) \
    X(malus_offset, 80, 0, 1000) \
    X(malus_limit, 1695, 100, 7000) \
    X(prior_bonus, 65, 0, 200) \
    X(post_lmr_bonus, 95, 0, 200) \
    X(hash_cut_bonus, 30, 0, 200) \
    X(pawn_history_weight, 39, 0, 200)      /* 1/32; where a history prunes or reduces */ \
    /* move ordering */ \
    X(capture_weight, 14, 1, 60) \
    X(good_capture_see, 28, 1, 200)         /* 1/1024 of the score that a good capture may lose by exchange */ \
    X(check_bonus, 4111, 0, 30000) \
    X(low_ply_order, 8, 0, 40) \
    X(pawn_history_order, 24, 0, 200)       /* 1/32 */ \
    /* mates */ \
    X(mate_in_one, 1, 0, 1) \
    X(mate_scout, 1, 0, 100)                /* percent of a move's time for the mate search at the root */

/* The values now. Nothing but ints, so that tune.pyx can write the field of a row. */
typedef struct {
#define KOMADORI_FIELD(name, default_value, least, greatest) int name;
    KOMADORI_TUNABLES(KOMADORI_FIELD)
#undef KOMADORI_FIELD
} Tune;

enum { TUNABLES = sizeof(Tune) / sizeof(int) };

typedef struct {
    const char *name;
    int default_value, least, greatest;
} TuneRow;

/* Rows stand in the order of Tune's fields. */
static inline TuneRow tune_row(int index)
{
#define KOMADORI_ROW(name, default_value, least, greatest) {#name, default_value, least, greatest},
    static const TuneRow rows[] = {KOMADORI_TUNABLES(KOMADORI_ROW)};
#undef KOMADORI_ROW
    return rows[index];
}
#endif
