"""Read and clear the cutoff counts."""

from libc.string cimport memset


def ordering_counts() -> dict[tuple[int, int], tuple[int, int, int, int]]:
    """Return and clear the counts: {(depth, stage): (nodes, cut by the first move, moves tried, with hash move)}.

    RuntimeError if this build does not count.
    """
    if not COUNTING:
        raise RuntimeError("this build does not count: CORE_EXT_PROFILE=count builds one that does")
    found = {(depth, stage): (cuts[depth][stage].nodes, cuts[depth][stage].first, cuts[depth][stage].moves,
                              cuts[depth][stage].with_hash)
             for depth in range(COUNTED_DEPTHS) for stage in range(COUNTED_STAGES) if cuts[depth][stage].nodes}
    memset(cuts, 0, sizeof(cuts))
    return found
