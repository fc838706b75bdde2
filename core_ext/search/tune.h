/* The tunable constants of the search: X(name, default, least, greatest). This is the only list of them; setup.py
 * generates tune.pxd, the declaration for Cython, from it. In the hidden USI options (Tune_NullMargin) and in tuners a
 * name is in camel case.
 *
 * Units: margins in centipawns, depths in plies, lmr_* in 1/1024 ply, bonuses in units of the history. */
#ifndef KOMADORI_TUNE_H
#define KOMADORI_TUNE_H

#define KOMADORI_TUNABLES(X) \
    /* hindsight */ \
    X(hindsight_deeper, 3, 1, 20)           /* reduction in plies from which the node may get a ply more */ \
    X(hindsight_shallower, 2, 1, 20) \
    X(hindsight_margin, 173, 0, 1000) \
    /* razoring */ \
    X(razor_base, 502, 0, 2000) \
    X(razor_slope, 306, 0, 2000)            /* per squared ply of depth */ \
    /* reverse futility pruning */ \
    X(reverse_futility_depth, 15, 0, 40) \
    X(reverse_futility_slope, 76, 10, 400) \
    X(reverse_futility_new, 21, 0, 100)     /* less slope without a TT hit */ \
    X(reverse_futility_improving, 2686, 0, 8000)    /* 1/1024 of the slope */ \
    X(reverse_futility_worsening, 362, 0, 8000)     /* 1/1024 of the slope */ \
    X(reverse_futility_error, 557, 0, 4000) /* 1/1024 of the absolute correction */ \
    X(reverse_futility_share, 33, 0, 100)   /* percent of the value; the rest is beta */ \
    /* null move */ \
    X(null_margin, 378, -400, 1000) \
    X(null_slope, 16, 0, 100) \
    X(null_improving, 53, 0, 400) \
    X(null_base, 7, 1, 12) \
    X(null_divisor, 3, 2, 8) \
    X(null_value, 256, 20, 4000)            /* centipawns above beta for a ply more */ \
    X(null_verify, 16, 4, 127) \
    X(null_verify_share, 75, 0, 100)        /* percent of the reduced depth without null moves */ \
    /* internal iterative reduction */ \
    X(iir_depth, 6, 1, 127) \
    X(iir_prior_reduction, 3, 0, 20)        /* greatest reduction by the parent */ \
    /* ProbCut */ \
    X(probcut_depth, 3, 2, 127) \
    X(probcut_margin, 224, 50, 800) \
    X(probcut_improving, 61, 0, 400) \
    X(probcut_reduction, 4, 1, 8) \
    X(small_probcut_margin, 416, 50, 2000) \
    X(small_probcut_depth, 4, 0, 12) \
    /* pruning of moves: late move, futility, history, SEE */ \
    X(lmp_base, 3, 1, 40) \
    X(futility_depth, 13, 0, 30) \
    X(futility_base, 42, 0, 800) \
    X(futility_no_best, 151, 0, 800) \
    X(futility_above, 86, 0, 800) \
    X(futility_slope, 120, 10, 400) \
    X(capture_futility_depth, 7, 0, 30) \
    X(capture_futility_base, 218, 0, 800) \
    X(capture_futility_slope, 223, 10, 600) \
    X(capture_futility_history, 131, 0, 1000)       /* 1/1024 */ \
    X(history_prune, 4097, 200, 30000) \
    X(history_depth, 3220, 1000, 30000)     /* history score that is worth a ply at depth 8 */ \
    X(history_depth_slope, 100, 0, 100)     /* less of it per ply of depth up to 16 */ \
    X(history_main, 71, 0, 400)             /* 1/32 */ \
    X(quiet_see_slope, 25, 1, 200) \
    X(capture_see_slope, 167, 10, 400) \
    X(capture_see_history, 34, 0, 400)      /* 1/1024 */ \
    /* singular extension */ \
    X(singular_depth, 6, 4, 127) \
    X(singular_hash_depth, 3, 0, 8)         /* plies by which the TT depth may be below the node's */ \
    X(singular_margin, 60, 8, 400)          /* 1/55 per ply */ \
    X(singular_margin_pv, 66, 0, 400) \
    X(double_margin, -4, -400, 400) \
    X(double_pv, 212, 0, 1000) \
    X(double_quiet, 182, 0, 1000) \
    X(double_late, 44, 0, 400)              /* below the depth of the iteration */ \
    X(triple_margin, 73, -400, 400) \
    X(triple_pv, 320, 0, 1000) \
    X(triple_quiet, 218, 0, 1000) \
    X(triple_on_pv, 92, 0, 1000) \
    X(triple_late, 45, 0, 400) \
    X(singular_error, 478, 0, 4000)         /* 1/1024 of the absolute correction, off both margins */ \
    X(singular_hash_move, 1019, 0, 8000)    /* 1/131072 of the hash move history, off the double margin */ \
    /* late move reduction */ \
    X(lmr_min_depth, 2, 1, 20) \
    X(lmr_scale, 2763, 500, 8000)           /* 1/128 */ \
    X(lmr_base, 1133, -3000, 4000) \
    X(lmr_window, 585, 0, 4000) \
    X(lmr_not_improving, 412, 0, 2000)      /* 1/1024 of the reduction */ \
    X(lmr_on_pv, 1013, 0, 5000)             /* more in base_reduction, for pruning */ \
    X(lmr_pv_line, 2819, 0, 5000)           /* less in pv_reduction; the next four add to it */ \
    X(lmr_pv, 973, 0, 5000) \
    X(lmr_pv_value, 905, 0, 5000) \
    X(lmr_pv_depth, 935, 0, 5000) \
    X(lmr_pv_depth_cut, 959, 0, 5000) \
    X(lmr_offset, 691, -3000, 4000) \
    X(lmr_move, 65, 0, 400) \
    X(lmr_cut, 3611, 0, 8000) \
    X(lmr_cut_no_hash, 985, 0, 5000) \
    X(lmr_captured, 863, 0, 4000)           /* 1/128 of the captured piece's value, added to the history */ \
    X(lmr_hash_capture, 1054, 0, 4000) \
    X(lmr_cutoffs, 251, 0, 4000) \
    X(lmr_more_cutoffs, 1124, 0, 4000) \
    X(lmr_all_cutoffs, 1042, 0, 4000) \
    X(lmr_hash_move, 2239, 0, 5000) \
    X(lmr_history, 428, 0, 4000)            /* 1/4096 of 1/1024 ply */ \
    X(lmr_all, 273, 0, 2000) \
    X(lmr_error, 3932, 0, 20000)            /* 1/1024 of the absolute correction, less */ \
    X(unreduced_no_hash, 1057, 0, 5000)     /* searches outside LMR: thresholds of the reduction for a ply less */ \
    X(unreduced_one_ply, 4628, 0, 20000) \
    X(unreduced_two_plies, 5772, 0, 20000) \
    X(deeper_margin, 48, 0, 300) \
    X(shallower_margin, 9, 0, 300) \
    X(after_alpha, 2, 0, 3)                 /* plies less for the moves after a move that raised alpha */ \
    X(after_alpha_depth, 14, 0, 127) \
    /* quiescence */ \
    X(stand_pat_share, 50, 0, 100)          /* percent of the way from the static value back to beta */ \
    X(quiescence_futility, 328, 0, 1000) \
    X(quiescence_moves, 2, 1, 500) \
    X(quiescence_see, 73, 0, 400) \
    /* correction history: rates in 1/128 of the error per ply of depth, weights in 1/1024 */ \
    X(correction_rate, 17, 1, 128) \
    X(correction_rate_best, 12, 1, 128)     /* if a move raised alpha */ \
    X(correction_weight, 108, 0, 400)       /* keys of the hands and of the last move */ \
    X(correction_pawns, 88, 0, 400) \
    X(correction_pieces, 115, 0, 400)       /* all pieces but pawns, each colour */ \
    X(correction_moves, 81, 0, 400)         /* continuation correction histories */ \
    /* history updates: shares in 1/1024 */ \
    X(bonus_slope, 128, 10, 1000) \
    X(bonus_offset, 77, 0, 1000) \
    X(bonus_limit, 1529, 100, 7000) \
    X(bonus_hash_move, 353, 0, 2000) \
    X(bonus_move, 20, 0, 400)               /* for each move searched before the best one */ \
    X(malus_slope, 882, 10, 2000) \
    X(malus_offset, 204, 0, 1000) \
    X(malus_limit, 2122, 100, 7000) \
    X(quiet_bonus, 806, 0, 4096) \
    X(quiet_malus, 1113, 0, 4096) \
    X(malus_decay, 977, 0, 1024) \
    X(capture_bonus, 1286, 0, 4096) \
    X(capture_malus, 1559, 0, 4096) \
    X(refuted_malus, 616, 0, 4096) \
    X(hash_cut_slope, 130, 0, 1000) \
    X(hash_cut_limit, 1043, 0, 7000) \
    X(hash_cut_malus, 2142, 0, 7000) \
    X(hash_move_bonus, 805, 0, 7000)        /* the hash move is the best move */ \
    X(hash_move_malus, 787, 0, 7000) \
    X(post_lmr_bonus, 1426, 0, 7000) \
    X(gain_main, 10, 0, 100) \
    X(gain_pawn, 12, 0, 100) \
    /* move ordering */ \
    X(capture_weight, 7, 1, 60) \
    X(good_capture_see, 57, 1, 200)         /* 1/1024 of its score that a good capture may lose by SEE */ \
    X(good_quiet, -14000, -60000, 0)        /* quiets with a lower score come after the bad captures */ \
    X(check_bonus, 16384, 0, 30000) \
    X(check_see, 75, 0, 1000) \
    X(low_ply_order, 8, 0, 40) \
    /* mate in one at every node: 0 off, 1 on */ \
    X(mate_in_one, 1, 0, 1)

/* The current values. Only ints, so that tune.pyx can write the field of a row. */
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

/* Rows are in the order of the fields of Tune. */
static inline TuneRow tune_row(int index)
{
#define KOMADORI_ROW(name, default_value, least, greatest) {#name, default_value, least, greatest},
    static const TuneRow rows[] = {KOMADORI_TUNABLES(KOMADORI_ROW)};
#undef KOMADORI_ROW
    return rows[index];
}
#endif
