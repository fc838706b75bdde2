/* The search's tunable constants: the only list of them. X(name, default, least, greatest)
 *
 * tune.pxd declares the names to Cython, in any order; a name that is not here does not compile. The text name of a
 * constant, as in the hidden option Tune_NullMargin, is its name here in camel case.
 *
 * Units: margins are centipawns, depths plies, Lmr... 1/1024 ply, histories and bonuses a history's own score. */
#ifndef KOMADORI_TUNE_H
#define KOMADORI_TUNE_H

#define KOMADORI_TUNABLES(X) \
    /* depth by how the last reduced move turned out */ \
    X(hindsight_deeper, 3, 1, 20)           /* plies of reduction from which a good reply is searched a ply deeper */ \
    X(hindsight_shallower, 2, 1, 20) \
    X(hindsight_margin, 173, 0, 1000) \
    /* razoring */ \
    X(razor_base, 502, 0, 2000) \
    X(razor_slope, 306, 0, 2000)            /* a squared ply */ \
    /* reverse futility pruning */ \
    X(reverse_futility_depth, 15, 0, 40) \
    X(reverse_futility_slope, 76, 10, 400) \
    X(reverse_futility_new, 21, 0, 100)     /* less a ply where the table does not know the position */ \
    X(reverse_futility_improving, 2686, 0, 8000)    /* 1/1024 ply */ \
    X(reverse_futility_worsening, 362, 0, 8000)     /* 1/1024 ply */ \
    X(reverse_futility_error, 557, 0, 4000) /* 1/1024 of the size of the correction */ \
    X(reverse_futility_share, 33, 0, 100)   /* percent of the value; the rest is beta */ \
    /* null move */ \
    X(null_margin, 378, -400, 1000) \
    X(null_slope, 16, 0, 100) \
    X(null_improving, 53, 0, 400) \
    X(null_base, 7, 1, 12) \
    X(null_divisor, 3, 2, 8) \
    X(null_verify, 16, 4, 127) \
    X(null_verify_share, 75, 0, 100)        /* percent of the reduced depth searched without null moves */ \
    /* internal iterative reduction */ \
    X(iir_depth, 6, 1, 127) \
    X(iir_prior_reduction, 3, 0, 20)        /* not after a greater reduction of the last move */ \
    /* ProbCut */ \
    X(probcut_depth, 3, 2, 127) \
    X(probcut_margin, 224, 50, 800) \
    X(probcut_improving, 61, 0, 400) \
    X(probcut_reduction, 4, 1, 8) \
    X(small_probcut_margin, 416, 50, 2000) \
    X(small_probcut_depth, 4, 0, 12) \
    /* moves left out: late move, futility, history and exchange pruning */ \
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
    X(history_depth, 3220, 200, 30000)      /* of history score, a ply */ \
    X(history_main, 71, 0, 400)             /* 1/32 */ \
    X(quiet_see_slope, 25, 1, 200) \
    X(capture_see_slope, 167, 10, 400) \
    X(capture_see_history, 34, 0, 400)      /* 1/1024 */ \
    /* singular extension */ \
    X(singular_depth, 6, 4, 127) \
    X(singular_hash_depth, 3, 0, 8)         /* plies that the table's depth may be short of the node's */ \
    X(singular_margin, 60, 8, 400)          /* 1/55 a ply */ \
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
    X(singular_error, 478, 0, 4000)         /* 1/1024 of the size of the correction, less of both margins */ \
    X(singular_hash_move, 1019, 0, 8000)    /* 1/131072 of the history of hash moves, less of both margins */ \
    /* late move reduction */ \
    X(lmr_min_depth, 2, 1, 20) \
    X(lmr_scale, 2763, 500, 8000)           /* 1/128 */ \
    X(lmr_base, 1133, -3000, 4000) \
    X(lmr_window, 585, 0, 4000) \
    X(lmr_not_improving, 412, 0, 2000)      /* 1/1024 of the reduction */ \
    X(lmr_on_pv, 1013, 0, 5000)             /* before anything is known of the move */ \
    X(lmr_pv_line, 2819, 0, 5000)           /* less, where it is searched */ \
    X(lmr_pv, 973, 0, 5000) \
    X(lmr_pv_value, 905, 0, 5000) \
    X(lmr_pv_depth, 935, 0, 5000) \
    X(lmr_pv_depth_cut, 959, 0, 5000) \
    X(lmr_offset, 691, -3000, 4000) \
    X(lmr_move, 65, 0, 400) \
    X(lmr_cut, 3611, 0, 8000) \
    X(lmr_cut_no_hash, 985, 0, 5000) \
    X(lmr_captured, 863, 0, 4000)           /* 1/128 of the captured piece, added to a capture's history */ \
    X(lmr_hash_capture, 1054, 0, 4000) \
    X(lmr_cutoffs, 251, 0, 4000) \
    X(lmr_more_cutoffs, 1124, 0, 4000) \
    X(lmr_all_cutoffs, 1042, 0, 4000) \
    X(lmr_hash_move, 2239, 0, 5000) \
    X(lmr_history, 428, 0, 4000)            /* 1/4096 of 1/1024 ply */ \
    X(lmr_all, 273, 0, 2000) \
    X(lmr_error, 3932, 0, 20000)            /* 1/1024 of the size of the correction, less */ \
    X(unreduced_no_hash, 1057, 0, 5000)     /* of a search that is not reduced: plies less as if it were, by steps */ \
    X(unreduced_one_ply, 4628, 0, 20000) \
    X(unreduced_two_plies, 5772, 0, 20000) \
    X(deeper_margin, 48, 0, 300) \
    X(shallower_margin, 9, 0, 300) \
    X(after_alpha, 2, 0, 4)                 /* plies less for the moves after one that raises alpha */ \
    X(after_alpha_depth, 14, 0, 127) \
    /* quiescence */ \
    X(stand_pat_share, 50, 0, 100)          /* percent of the way from the static value back to beta */ \
    X(quiescence_futility, 328, 0, 1000) \
    X(quiescence_moves, 2, 1, 500) \
    X(quiescence_see, 73, 0, 400) \
    /* correction history: weights in 1/1024, but for the rate */ \
    X(correction_rate, 17, 1, 128)          /* 1/128 of the error a ply of depth */ \
    X(correction_rate_best, 12, 1, 128)     /* where a move raised alpha */ \
    X(correction_weight, 108, 0, 400)       /* keys of the hands and of the last move */ \
    X(correction_pawns, 88, 0, 400) \
    X(correction_pieces, 115, 0, 400)       /* all but the pawns, of each colour */ \
    X(correction_moves, 81, 0, 400)         /* the last move after each of two earlier ones */ \
    /* history updates: shares in 1/1024 */ \
    X(bonus_slope, 128, 10, 1000) \
    X(bonus_offset, 77, 0, 1000) \
    X(bonus_limit, 1529, 100, 7000) \
    X(bonus_hash_move, 353, 0, 2000) \
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
    X(good_capture_see, 57, 1, 200)         /* 1/1024 of the score that a good capture may lose by exchange */ \
    X(good_quiet, -14000, -60000, 0)        /* quiet moves below come after the bad captures */ \
    X(check_bonus, 16384, 0, 30000) \
    X(check_see, 75, 0, 1000) \
    X(low_ply_order, 8, 0, 40) \
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
