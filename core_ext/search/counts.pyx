"""Reading and clearing the counts of counts.pxd."""

from libc.string cimport memset


def ordering_counts() -> dict[tuple[int, int], tuple[int, int, int, int]]:
    """By depth left (0: quiescence) and stage of the picker: nodes cut, cut by the first move, moves tried, with a hash
    move. Cleared by the call; RuntimeError where the build does not count."""
    if not COUNTING:
        raise RuntimeError("this build does not count: CORE_EXT_PROFILE=count builds one that does")
    found = {(depth, stage): (cuts[depth][stage].nodes, cuts[depth][stage].first, cuts[depth][stage].moves,
                              cuts[depth][stage].with_hash)
             for depth in range(COUNTED_DEPTHS) for stage in range(COUNTED_STAGES) if cuts[depth][stage].nodes}
    memset(cuts, 0, sizeof(cuts))
    return found
