"""Groups of views by own king, forward and back through their rows, and sparse steps of Adam. See half_kp.pxd."""

from libc.math cimport exp, log1p, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from core_ext.learn.nnue.adam cimport first_correction, second_correction
from core_ext.learn.nnue.aligned import aligned
from core_ext.learn.factorized cimport offset_index
from core_ext.learn.nnue.kernels cimport ACTIVE_ROOM, OWN_ARRAYS, UPDATES_AHEAD, TILE, prefetch_tile
from libc.stdint cimport uint16_t


# ---- groups ----

cdef void sort_views(const Views *views, const uint8_t *kings, Groups *groups) noexcept nogil:
    """Sort the views by own king, each group in the order of the batch."""
    cdef int32_t following[SQUARES]
    cdef int view, king
    memset(groups.starts, 0, sizeof(groups.starts))
    for view in range(views.count):
        groups.starts[kings[view] + 1] += 1
    for king in range(SQUARES):
        groups.starts[king + 1] += groups.starts[king]
        following[king] = groups.starts[king]
    for view in range(views.count):
        king = kings[view]
        groups.order[following[king]] = view
        following[king] += 1


cdef void mark_numbers(const Views *views, const Groups *groups, int king, uint8_t *marks) noexcept nogil:
    """Mark each number that the views of a king have."""
    cdef const uint16_t *active
    cdef int i, j
    memset(marks, 0, BONAPIECES)
    for i in range(groups.starts[king], groups.starts[king + 1]):
        active = views.active + <size_t>groups.order[i] * ACTIVE_ROOM
        for j in range(views.counts[groups.order[i] // 2]):
            marks[active[j]] = 1


cdef inline float own_rate(int step) noexcept nogil:
    """Return the rate of a part's n-th step: the bias of the first moment, and 1 / sqrt(n), as AdaGrad's rates fall."""
    return first_correction(step) / <float>sqrt(step)


cdef inline UsedRow used_row(const OwnParts *own, int king, int number) noexcept nogil:
    cdef UsedRow row
    cdef int feature = king * BONAPIECES + number, offset = offset_index(king, number)
    row.number = number
    row.offset = BONAPIECES + offset if offset >= 0 else -1
    row.keep = <float>exp(own.decayed[feature] - own.decay[0])
    row.rate = own_rate(own.steps[feature] + 1)
    row.second_correction = second_correction(own.steps[feature] + 1)
    return row


cdef void group_views(const OwnParts *own, const Views *views, const uint8_t *kings, Groups *groups) noexcept nogil:
    cdef uint8_t marks[BONAPIECES]
    cdef int king, number, count = 0
    sort_views(views, kings, groups)
    for king in range(SQUARES):
        groups.used_starts[king] = count
        if groups.starts[king] == groups.starts[king + 1]:
            continue
        mark_numbers(views, groups, king, marks)
        for number in range(BONAPIECES):
            if marks[number]:
                groups.used[count] = used_row(own, king, number)
                count += 1
    groups.used_starts[SQUARES] = count


cdef inline Views views_of(const Views *views, const Groups *groups, int king) noexcept nogil:
    cdef Views found = views[0]
    found.order = groups.order + groups.starts[king]
    found.count = groups.starts[king + 1] - groups.starts[king]
    return found


cdef inline size_t own_place(int tile, int king, int number) noexcept nogil:
    """Return the place of an own part, in rows."""
    return <size_t>tile * HALF_KP_FEATURES + king * BONAPIECES + number


cdef inline float *own_row(const OwnParts *own, int tile, int king, int number) noexcept nogil:
    return own.rows + own_place(tile, king, number) * OWN_ARRAYS * TILE


# ---- forward ----

cdef void transform_groups(const OwnParts *own, const Groups *groups, const Views *views,
                           const TilePart *tile) noexcept nogil:
    cdef Views group
    cdef int king, first
    memcpy(groups.rows + BONAPIECES * TILE, tile.biases, TILE * sizeof(float))
    for king in range(SQUARES):
        group = views_of(views, groups, king)
        if group.count:
            first = groups.used_starts[king]
            tile.kernels.sum_parts(groups.used + first, groups.used_starts[king + 1] - first,
                                   own_row(own, tile.number, king, 0), tile.shared, tile.rounded, groups.rows)
            tile.kernels.transform_tile(groups.rows, BONAPIECES, &group, tile.sums, tile.width)


cdef void sum_king(const OwnParts *own, int king, const TilePart *tile, UsedRow *used, float *rows) noexcept nogil:
    cdef int number
    for number in range(BONAPIECES):
        used[number] = used_row(own, king, number)
    tile.kernels.sum_parts(used, BONAPIECES, own_row(own, tile.number, king, 0), tile.shared, tile.rounded,
                           rows)


# ---- back ----

cdef inline void share_gradient(const TilePart *tile, const UsedRow *row, const float *gradient) noexcept nogil:
    tile.kernels.add_rows(tile.gradient + row.number * TILE, gradient, 0, 1, TILE)
    if row.offset >= 0:
        tile.kernels.add_rows(tile.gradient + row.offset * TILE, gradient, 0, 1, TILE)


cdef inline void improve_part(float *part, const TilePart *tile, const UsedRow *row, float *gradient,
                              const AdamStep *step) noexcept nogil:
    """Update a part by its own clock. The gradient is overwritten."""
    cdef AdamStep own_step = step[0]
    own_step.rate *= row.rate
    own_step.second_correction = row.second_correction
    own_step.keep *= row.keep
    tile.kernels.improve(part, part + TILE, part + 2 * TILE, gradient, gradient, TILE, &own_step)


cdef inline void prefetch_part(const float *part) noexcept nogil:
    cdef int i
    for i in range(OWN_ARRAYS):
        prefetch_tile(part + i * TILE)


cdef void spread_gradients(OwnParts *own, const Groups *groups, int king, const TilePart *tile,
                           const AdamStep *step) noexcept nogil:
    """Spread the gradients of a king's rows to all their parts."""
    cdef int end = groups.used_starts[king + 1], i, number
    cdef float *gradient
    for i in range(groups.used_starts[king], end):
        if i + UPDATES_AHEAD < end and step != NULL:
            prefetch_part(own_row(own, tile.number, king, groups.used[i + UPDATES_AHEAD].number))
        number = groups.used[i].number
        gradient = groups.rows + number * TILE
        share_gradient(tile, &groups.used[i], gradient)
        if step == NULL:
            memcpy(own.gradient + own_place(tile.number, king, number) * TILE, gradient, TILE * sizeof(float))
        else:
            improve_part(own_row(own, tile.number, king, number), tile, &groups.used[i], gradient, step)


cdef void clear_rows(const Groups *groups, int king) noexcept nogil:
    cdef int i
    for i in range(groups.used_starts[king], groups.used_starts[king + 1]):
        memset(groups.rows + groups.used[i].number * TILE, 0, TILE * sizeof(float))


cdef void collect_groups(OwnParts *own, const Groups *groups, const Views *views, const TilePart *tile,
                         const AdamStep *step) noexcept nogil:
    cdef float *biases = groups.rows + BONAPIECES * TILE
    cdef Views group
    cdef int king
    memset(tile.gradient, 0, SHARED_ROWS * TILE * sizeof(float))
    memset(biases, 0, TILE * sizeof(float))
    if step == NULL:
        memset(own.gradient + own_place(tile.number, 0, 0) * TILE, 0, <size_t>HALF_KP_FEATURES * TILE * sizeof(float))
    for king in range(SQUARES):
        group = views_of(views, groups, king)
        if group.count:
            clear_rows(groups, king)
            tile.kernels.collect_tile(groups.rows, BONAPIECES, &group, tile.sums, tile.width)
            spread_gradients(own, groups, king, tile, step)
    memcpy(tile.gradient + SHARED_ROWS * TILE, biases, TILE * sizeof(float))


cdef void finish_step(OwnParts *own, const Groups *groups, double decay) noexcept nogil:
    cdef int king, i, feature
    own.decay[0] -= log1p(-decay)
    for king in range(SQUARES):
        for i in range(groups.used_starts[king], groups.used_starts[king + 1]):
            feature = king * BONAPIECES + groups.used[i].number
            own.steps[feature] += 1
            own.decayed[feature] = own.decay[0]


# ---- memory ----

cdef class HalfKpRows:
    """The own parts: `rows` [tile][feature][weights, Adam's first and second moments][64]; `gradient`
    [tile][feature][64]; `steps` and `decayed` by feature; `decay`, one number.

    Memory: 1.5 MB for each unit of width, less while features are unused; a third more if a gradient is asked for.
    """

    def __init__(self, tiles: int):
        cdef float[:, :, :, ::1] rows = aligned(tiles * HALF_KP_FEATURES * OWN_ARRAYS * TILE).reshape(
            tiles, HALF_KP_FEATURES, OWN_ARRAYS, TILE)
        cdef float[:, :, ::1] gradient = aligned(tiles * HALF_KP_FEATURES * TILE).reshape(tiles, HALF_KP_FEATURES, TILE)
        cdef int32_t[::1] steps = np.zeros(HALF_KP_FEATURES, np.int32)
        cdef double[::1] decayed = np.zeros(HALF_KP_FEATURES), decay = np.zeros(1)
        self.rows, self.gradient = np.asarray(rows), np.asarray(gradient)
        self.steps, self.decayed, self.decay = np.asarray(steps), np.asarray(decayed), np.asarray(decay)
        self.parts.rows, self.parts.gradient, self.parts.steps = &rows[0, 0, 0, 0], &gradient[0, 0, 0], &steps[0]
        self.parts.decayed, self.parts.decay = &decayed[0], &decay[0]

    def state(self):
        """Return by name all that later steps depend on, of the features that are used."""
        used = np.flatnonzero((self.steps > 0) | self.rows[:, :, 0].any(axis=(0, 2)))
        return {"own_used": used, "own_rows": self.rows[:, used], "own_steps": self.steps[used],
                "own_decayed": self.decayed[used], "own_decay": self.decay}

    def set_state(self, arrays):
        """Restore what `state` returned."""
        used = arrays["own_used"]
        self.rows[:, used], self.steps[used] = arrays["own_rows"], arrays["own_steps"]
        self.decayed[used], self.decay[:] = arrays["own_decayed"], arrays["own_decay"]


def shared_rows():
    """Return the two shared rows of each row, the second -1 for pieces in hand: int32[SQUARES][BONAPIECES][2]."""
    cdef int32_t[:, :, ::1] found = np.zeros((SQUARES, BONAPIECES, 2), np.int32)
    cdef int king, number, offset
    for king in range(SQUARES):
        for number in range(BONAPIECES):
            offset = offset_index(king, number)
            found[king, number, 0], found[king, number, 1] = number, BONAPIECES + offset if offset >= 0 else -1
    return np.asarray(found)
