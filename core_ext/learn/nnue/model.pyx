"""The float model of a network (NNUE) that learns from training positions.

A K+P or HalfKP network as in nn.bin: the transformer sums a row for each active feature of a view, both views' sums
are clipped and joined, the side to move first, and three dense layers follow. Weights are kept in the file's units, so
that rounding them gives the file, and the values are those of play but for the rounding:

    activation = sum clipped to 0..127                         transformer weights: 127 to a unit
    activation = sum / 64 clipped to 0..127                    hidden weights: 64 to a unit, biases 64 x 127
    centipawns for the side to move = sum / fv_scale           output: fv_scale x score_scale to a unit of the logit
"""

from libc.math cimport exp, expf, fabs, log, log1p
from libc.string cimport memcpy, memset

import numpy as np

from core_ext.eval.bonapiece cimport BONAPIECES
from core_ext.eval.nnue.features cimport HALF_KP_FEATURES, K_P_FEATURES
from core_ext.learn.nnue.adam cimport adam_step, scaled
from core_ext.learn.nnue.aligned import aligned
from core_ext.learn.nnue.half_kp cimport (
    Groups, HalfKpRows, SHARED_ROWS, TilePart, collect_groups, finish_step, group_views, sum_king, transform_groups,
)
from core_ext.learn.nnue.features cimport list_numbers, list_view, own_king
from core_ext.learn.nnue.kernels cimport (
    ACTIVE_ROOM, AdamStep, COLUMN_STEP, Product, ROW_STEP, TILE, UsedRow, compiled_kernels,
)
from core_ext.learn.nnue.portable cimport portable_kernels
from core_ext.learn.training_position cimport TrainingPosition, UNFINISHED, UNSCORED
from core_ext.learn.training_position import check_positions
from core_ext.shogi.types cimport BLACK, SQUARES, int32_t

cdef enum:
    MIN_WIDTH = 128
    MAX_WIDTH = 1024
    MAX_HIDDEN = 96

cdef enum:
    LIST_PHASE
    TRANSFORM_PHASE
    FORWARD_PHASE
    BOTH_WAYS_PHASE
    COLLECT_PHASE
    UPDATE_PHASE
    LONG_AFTER = 1 << 30        # the number of a step from which moments have no bias

cdef float HIDDEN_FACTOR = 1.0 / 64
cdef float LARGEST_INT8 = 127, LARGEST_INT16 = 32767, LARGEST_BIAS = 1 << 24


# ---- features and targets ----

cdef inline bint in_mirror(uint64_t seed, int position) noexcept nogil:
    """A fair coin: the finalizer of splitmix64."""
    cdef uint64_t mixed = seed + <uint64_t>(position + 1) * <uint64_t>0x9E3779B97F4A7C15
    mixed = (mixed ^ (mixed >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    mixed = (mixed ^ (mixed >> 27)) * <uint64_t>0x94D049BB133111EB
    return (mixed >> 63) != 0


cdef float target_of(const TrainingPosition *position, float score_scale, float result_share) noexcept nogil:
    """Return the win probability of the side to move: that of the score, mixed with the result if both are there."""
    cdef float sign = 1 if position.side == BLACK else -1
    cdef float result = (1 + sign * position.result) / 2, searched
    if position.score == UNSCORED:
        return result
    searched = 1 / (1 + expf(-sign * position.score / score_scale))
    return searched if position.result == UNFINISHED else searched + result_share * (result - searched)


cdef void list_position(Batch *batch, int position, bint half_kp) noexcept nogil:
    cdef const TrainingPosition *source = batch.positions + position
    cdef uint16_t *active = batch.active + 2 * ACTIVE_ROOM * position
    cdef bint mirror = batch.seed != 0 and in_mirror(batch.seed, position)
    cdef int view, color
    for view in range(2):
        color = source.side ^ view
        if half_kp:
            batch.counts[position] = <uint8_t>list_numbers(source, color, mirror, active + view * ACTIVE_ROOM)
            batch.kings[2 * position + view] = <uint8_t>own_king(source, color, mirror)
        else:
            batch.counts[position] = <uint8_t>list_view(source, color, mirror, active + view * ACTIVE_ROOM)
    batch.targets[position] = target_of(source, batch.score_scale, batch.result_share)


cdef int share_start(const Batch *batch, int share) noexcept nogil:
    """Return the first position of a share; its end is the start of the next one."""
    cdef int size = (batch.views.positions + SHARES - 1) // SHARES
    size = (size + ROW_STEP - 1) // ROW_STEP * ROW_STEP
    return min(size * share, batch.views.positions)


cdef void list_share(Batch *batch, int share, bint half_kp) noexcept nogil:
    cdef int position
    for position in range(share_start(batch, share), share_start(batch, share + 1)):
        list_position(batch, position, half_kp)


# ---- transformer ----

cdef inline int tile_offset(const Model *model, int tile) noexcept nogil:
    return tile * (model.features + 1) * TILE


cdef TilePart part_of(const Model *model, const Batch *batch, int tile) noexcept nogil:
    """Return the parts that HalfKP needs. Its shared rows are summed before they are rounded."""
    cdef TilePart part
    cdef int offset = tile_offset(model, tile)
    part.kernels, part.number, part.width, part.rounded = model.kernels, tile, model.width, model.rounded
    part.shared, part.biases = model.weights + offset, model.forward + offset + model.features * TILE
    part.gradient, part.sums = model.gradient + offset, batch.sums + tile * TILE
    return part


cdef void transform(const Model *model, Batch *batch, const Groups *groups, int tile) noexcept nogil:
    cdef TilePart part = part_of(model, batch, tile)
    if model.own != NULL:
        transform_groups(model.own, groups, &batch.views, &part)
    else:
        model.kernels.transform_tile(model.forward + tile_offset(model, tile), model.features, &batch.views, part.sums,
                                     model.width)


cdef void collect(Model *model, const Batch *batch, const Groups *groups, int tile,
                  const AdamStep *step) noexcept nogil:
    """Collect gradients. With HalfKP, `step` also updates the own parts of rows if it is not NULL."""
    cdef TilePart part = part_of(model, batch, tile)
    if model.own != NULL:
        collect_groups(model.own, groups, &batch.views, &part, step)
        return
    memset(part.gradient, 0, (model.features + 1) * TILE * sizeof(float))
    model.kernels.collect_tile(part.gradient, model.features, &batch.views, part.sums, model.width)


# ---- dense layers, a chunk at a time ----

cdef inline int row_length(int columns) noexcept nogil:
    return columns + ROW_GAP


cdef void activate(const Model *model, const float *sums, int step, float factor, float *out, int out_step, int rows,
                   int columns) noexcept nogil:
    cdef int row
    for row in range(rows):
        model.kernels.clip(sums + row * step, factor, model.rounded, out + row * out_step, columns)


cdef void propagate(const Model *model, Scratch *scratch, int number, int rows) noexcept nogil:
    """Compute the sums of one layer from its inputs."""
    cdef const Layer *layer = &model.layers[number]
    cdef Product product
    product.rows, product.inner, product.columns = rows, layer.inputs, layer.outputs
    product.left, product.left_step, product.left_column_step = scratch.inputs[number], row_length(layer.inputs), 1
    product.right, product.right_step = model.forward + layer.weights, layer.outputs
    product.start, product.start_step = model.forward + layer.biases, 0
    product.out, product.out_step = scratch.sums[number], row_length(layer.outputs)
    model.kernels.multiply(&product)


cdef void propagate_chunk(const Model *model, const Batch *batch, Scratch *scratch, int start,
                          int rows) noexcept nogil:
    cdef int number, columns = 2 * model.width
    activate(model, batch.sums + <size_t>start * columns, columns, 1, scratch.inputs[0], row_length(columns), rows,
             columns)
    for number in range(LAYERS):
        propagate(model, scratch, number, rows)
        if number + 1 < LAYERS:
            columns = model.layers[number].outputs
            activate(model, scratch.sums[number], row_length(columns), HIDDEN_FACTOR, scratch.inputs[number + 1],
                     row_length(columns), rows, columns)


cdef double loss_of(double logit, double target) noexcept nogil:
    """Kullback-Leibler divergence of the model's win probability from the target, in nats."""
    cdef double loss = (logit if logit > 0 else 0) - target * logit + log1p(exp(-fabs(logit)))
    if target > 0:
        loss += target * log(target)
    if target < 1:
        loss += (1 - target) * log(1 - target)
    return loss


cdef double measure_chunk(const Model *model, Batch *batch, Scratch *scratch, int start, int count,
                          int rows) noexcept nogil:
    """Sum the losses of a chunk; replace the last layer's sums by their gradients of the batch's mean loss."""
    cdef int step = row_length(model.layers[LAYERS - 1].outputs), row
    cdef float unit = 1 / (model.fv_scale * batch.score_scale), error, logit
    cdef float *sums = scratch.sums[LAYERS - 1]
    cdef double loss = 0
    for row in range(count):
        batch.outputs[start + row] = sums[row * step]
        logit = sums[row * step] * unit
        error = 1 / (1 + expf(-logit)) - batch.targets[start + row]
        loss += loss_of(logit, batch.targets[start + row])
        memset(sums + row * step, 0, step * sizeof(float))
        sums[row * step] = error * unit / batch.views.positions
    memset(sums + count * step, 0, (rows - count) * step * sizeof(float))
    return loss


cdef void collect_layer(const Model *model, const Scratch *scratch, int number, float *gradient,
                        int rows) noexcept nogil:
    """Add a chunk's gradient of a layer's weights and biases to that of its share."""
    cdef const Layer *layer = &model.layers[number]
    cdef float *out = gradient + layer.weights - model.dense
    cdef Product product
    product.rows, product.inner, product.columns = layer.inputs, rows, layer.outputs
    product.left, product.left_step, product.left_column_step = scratch.inputs[number], 1, row_length(layer.inputs)
    product.right, product.right_step = scratch.sums[number], row_length(layer.outputs)
    product.start, product.start_step = out, layer.outputs
    product.out, product.out_step = out, layer.outputs
    model.kernels.multiply(&product)
    model.kernels.add_rows(gradient + layer.biases - model.dense, scratch.sums[number], product.right_step, rows,
                           layer.outputs)


cdef void propagate_back(const Model *model, const Scratch *scratch, int number, float *deltas, int step, float factor,
                         int rows) noexcept nogil:
    """Compute the gradients of what a layer's inputs were clipped from."""
    cdef const Layer *layer = &model.layers[number]
    cdef Product product
    cdef int row
    product.rows, product.inner, product.columns = rows, layer.outputs, layer.inputs
    product.left, product.left_step, product.left_column_step = scratch.sums[number], row_length(layer.outputs), 1
    product.right, product.right_step = layer.turned, row_length(layer.inputs)
    product.start, product.start_step = NULL, 0
    product.out, product.out_step = deltas, step
    model.kernels.multiply(&product)
    for row in range(rows):
        model.kernels.unclip(scratch.inputs[number] + row * row_length(layer.inputs), factor, deltas + row * step,
                             layer.inputs)


cdef void return_chunk(const Model *model, Batch *batch, const Scratch *scratch, int start, float *gradient,
                       int rows) noexcept nogil:
    """Go backward through all layers; the transformer's sums of the chunk become their gradients."""
    cdef int number, columns = 2 * model.width
    for number in range(LAYERS - 1, -1, -1):
        collect_layer(model, scratch, number, gradient, rows)
        if number:
            propagate_back(model, scratch, number, scratch.sums[number - 1], row_length(model.layers[number].inputs),
                           HIDDEN_FACTOR, rows)
    propagate_back(model, scratch, 0, batch.sums + <size_t>start * columns, columns, 1, rows)


cdef void pass_share(const Model *model, Batch *batch, Scratch *scratch, int share, bint back) noexcept nogil:
    """Go forward through the dense layers and, if wished, back."""
    cdef int start = share_start(batch, share), end = share_start(batch, share + 1), count, rows
    batch.losses[share] = 0
    if back:
        memset(model.shared[share], 0, (model.size - model.dense) * sizeof(float))
    while start < end:
        count = min(CHUNK, end - start)
        rows = (count + ROW_STEP - 1) // ROW_STEP * ROW_STEP
        propagate_chunk(model, batch, scratch, start, rows)
        batch.losses[share] += measure_chunk(model, batch, scratch, start, count, rows)
        if back:
            return_chunk(model, batch, scratch, start, model.shared[share], rows)
        start += count


# ---- steps ----

cdef void sum_shares(Model *model) noexcept nogil:
    cdef int share, count = model.size - model.dense
    memcpy(model.gradient + model.dense, model.shared[0], count * sizeof(float))
    for share in range(1, SHARES):
        model.kernels.add_rows(model.gradient + model.dense, model.shared[share], count, 1, count)


cdef void turn_weights(Model *model) noexcept nogil:
    cdef Layer *layer
    cdef int number, i, j
    for number in range(LAYERS):
        layer = &model.layers[number]
        for i in range(layer.inputs):
            for j in range(layer.outputs):
                layer.turned[j * row_length(layer.inputs) + i] = model.forward[layer.weights + i * layer.outputs + j]


cdef void improve_range(Model *model, int start, int count, const AdamStep *step) noexcept nogil:
    model.kernels.improve(model.weights + start, model.first + start, model.second + start, model.forward + start,
                          model.gradient + start, count, step)


cdef void improve_tile(Model *model, int tile, const AdamStep *step) noexcept nogil:
    """Update the rows of features, which alone decay, and that of the biases."""
    cdef AdamStep biases = scaled(step, 127, LARGEST_INT16), rows = biases
    cdef int start = tile_offset(model, tile), end = start + model.features * TILE
    rows.keep = step.keep
    improve_range(model, start, end - start, &rows)
    improve_range(model, end, TILE, &biases)


cdef void improve_dense(Model *model, const AdamStep *step, double output_unit) noexcept nogil:
    cdef AdamStep weights, biases
    cdef Layer *layer
    cdef int number
    for number in range(LAYERS):
        layer = &model.layers[number]
        weights = scaled(step, 64 if number + 1 < LAYERS else output_unit / 127, LARGEST_INT8)
        biases = scaled(step, 64 * 127 if number + 1 < LAYERS else output_unit, LARGEST_BIAS)
        improve_range(model, layer.weights, layer.inputs * layer.outputs, &weights)
        improve_range(model, layer.biases, layer.outputs, &biases)
    turn_weights(model)


cdef AdamStep own_part_step(double rate, double decay, double epsilon) noexcept nogil:
    """Return the step of HalfKP rows' own parts, without the correction of the moments' biases."""
    cdef AdamStep natural = adam_step(rate, decay, epsilon, LONG_AFTER, False)
    cdef AdamStep step = scaled(&natural, 127, LARGEST_INT16)
    step.keep = natural.keep
    return step


# ---- the public API ----

STEP = (LIST_PHASE, TRANSFORM_PHASE, BOTH_WAYS_PHASE, UPDATE_PHASE)
GRADIENT = (LIST_PHASE, TRANSFORM_PHASE, BOTH_WAYS_PHASE, COLLECT_PHASE)
VALUES = (LIST_PHASE, TRANSFORM_PHASE, FORWARD_PHASE)
DENSE_ROWS = {"K+P": K_P_FEATURES, "HalfKP": SHARED_ROWS}   # rows of the transformer that every step updates


def padded(count: int) -> int:
    return -(-count // COLUMN_STEP) * COLUMN_STEP


cdef class NetworkTrainer:
    """A network that learns by Adam: weights in the units of nn.bin, one batch of positions at a time.

    A batch passes the phases of STEP, GRADIENT or VALUES, in that order. Several threads share a phase, each calls
    `work`, and all must have returned before the next phase; the bytes do not depend on how many there are.

    ValueError for a size out of range, MemoryError.

    features                    `K+P` or `HalfKP`
    width, hidden1, hidden2     the sizes
    fv_scale                    output units in a centipawn
    capacity, threads           positions of a batch at most; threads that share a phase
    rounded                     whether the forward pass uses rounded weights
    weights, gradient           flat arrays, whose parts `blocks` names
    first, second               Adam's moments, likewise
    own_parts                   of HalfKP's rows, which are sums with rows of `transformer` (half_kp.pxd), or None
    """

    cdef Model model
    cdef Batch batch
    cdef Scratch scratch[SHARES]
    cdef Groups groups[SHARES]
    cdef list kept              # what the pointers point to
    cdef dict places            # block -> (start, end, shape) in the flat arrays
    cdef object positions, forward
    cdef double rate, decay, epsilon
    cdef long number
    cdef readonly int width, hidden1, hidden2, capacity, threads
    cdef readonly bint rounded  # what the forward pass uses
    cdef readonly str features
    cdef readonly object weights, first, second, gradient    # flat arrays
    cdef readonly HalfKpRows own_parts

    def __init__(self, width: int, hidden1: int, hidden2: int, batch: int = 4096, threads: int = 1,
                 portable: bool = False, features: str = "K+P", *, fv_scale: float):
        if (width not in range(MIN_WIDTH, MAX_WIDTH + 1, TILE)
                or not (1 <= hidden1 <= MAX_HIDDEN and 1 <= hidden2 <= MAX_HIDDEN)):
            raise ValueError(f"a network of {width}x2-{hidden1}-{hidden2}: width {MIN_WIDTH} to {MAX_WIDTH} in steps "
                             f"of {TILE}, hidden layers of 1 to {MAX_HIDDEN} units")
        if threads not in range(1, SHARES + 1) or batch < 1:
            raise ValueError(f"{threads} threads, batches of {batch}: 1 to {SHARES} threads, batches of at least 1")
        self.width, self.hidden1, self.hidden2, self.capacity, self.threads = width, hidden1, hidden2, batch, threads
        if features not in DENSE_ROWS:
            raise ValueError(f"features '{features}': one of {', '.join(DENSE_ROWS)}")
        self.features, self.kept, self.places = features, [], {}
        self.model.kernels = portable_kernels() if portable else &compiled_kernels
        self.model.fv_scale = fv_scale
        self.model.width, self.model.tiles, self.model.features = width, width // TILE, DENSE_ROWS[features]
        self._place_blocks()
        self._allocate_model()
        self._allocate_batch()
        if features == "HalfKP":
            self._allocate_half_kp()

    cdef _place_blocks(self):
        self._place("transformer", (self.model.tiles, self.model.features + 1, TILE))
        self.model.dense = self.model.size
        sizes = (2 * self.width, padded(self.hidden1), padded(self.hidden2), padded(1))
        for number in range(LAYERS):
            self.model.layers[number].inputs, self.model.layers[number].outputs = sizes[number], sizes[number + 1]
            self.model.layers[number].weights = self._place(f"weights{number + 1}", sizes[number:number + 2])
            self.model.layers[number].biases = self._place(f"biases{number + 1}", sizes[number + 1:number + 2])

    cdef int _place(self, name, shape):
        start, size = self.model.size, int(np.prod(shape))
        self.places[name] = (start, start + size, tuple(shape))
        self.model.size += size
        return start

    cdef float *_floats(self, Py_ssize_t size):
        cdef float[::1] found = aligned(size)
        self.kept.append(found)
        return &found[0]

    cdef _flat(self, float **pointer):
        array = aligned(self.model.size)
        cdef float[::1] found = array
        pointer[0] = &found[0]
        return array

    cdef _allocate_model(self):
        self.weights, self.first = self._flat(&self.model.weights), self._flat(&self.model.first)
        self.second, self.gradient = self._flat(&self.model.second), self._flat(&self.model.gradient)
        self.forward = self._flat(&self.model.forward)
        cdef Layer *layer
        cdef int number
        for number in range(LAYERS):
            layer = &self.model.layers[number]
            layer.turned = self._floats(layer.outputs * row_length(layer.inputs))
        for number in range(SHARES):
            self.model.shared[number] = self._floats(self.model.size - self.model.dense)

    cdef _allocate_batch(self):
        cdef uint16_t[::1] active = aligned(2 * self.capacity * ACTIVE_ROOM, np.uint16)
        cdef uint8_t[::1] counts = aligned(self.capacity, np.uint8)
        cdef int thread, number
        self.batch.active, self.batch.counts = &active[0], &counts[0]
        self.batch.views.active, self.batch.views.counts = &active[0], &counts[0]
        self.kept += [active, counts]
        self.batch.targets, self.batch.outputs = self._floats(self.capacity), self._floats(self.capacity)
        self.batch.sums = self._floats((self.capacity + ROW_STEP) * 2 * self.width)
        for thread in range(self.threads):
            for number in range(LAYERS):
                self.scratch[thread].inputs[number] = self._floats(CHUNK * row_length(self.model.layers[number].inputs))
                self.scratch[thread].sums[number] = self._floats(CHUNK * row_length(self.model.layers[number].outputs))

    cdef _allocate_half_kp(self):
        cdef uint8_t[::1] kings = np.zeros(2 * self.capacity, np.uint8), used
        cdef int32_t[::1] order
        cdef int thread
        self.own_parts = HalfKpRows(self.model.tiles)
        self.model.own, self.batch.kings = &self.own_parts.parts, &kings[0]
        self.kept.append(kings)
        for thread in range(self.threads):
            order = np.zeros(2 * self.capacity, np.int32)
            used = np.zeros(HALF_KP_FEATURES * sizeof(UsedRow), np.uint8)
            self.groups[thread].order, self.groups[thread].used = &order[0], <UsedRow *>&used[0]
            self.groups[thread].rows = self._floats((BONAPIECES + 1) * TILE)
            self.kept += [order, used]

    @property
    def kernels(self):
        """The vectors that the kernels use: AVX-512, AVX2 or portable."""
        return self.model.kernels.name.decode()

    def blocks(self, flat):
        """Views into a flat array, padded as it is: `transformer`, [tile][feature, then the biases][64]; `weights1`,
        [input][output], and `biases1` of the first dense layer, and so on."""
        return {name: flat[start:end].reshape(shape) for name, (start, end, shape) in self.places.items()}

    def state(self):
        """Return all arrays that later steps depend on, by name."""
        own = {} if self.own_parts is None else self.own_parts.state()
        return {"weights": self.weights, "first": self.first, "second": self.second, **own}

    def set_state(self, arrays):
        """Restore what `state` returned; `refresh` has to follow."""
        for name in ("weights", "first", "second"):
            getattr(self, name)[:] = arrays[name]
        if self.own_parts is not None:
            self.own_parts.set_state(arrays)

    def rows_of_king(self, king: int):
        """Return HalfKP's rows for an own king's square, float32 [BONAPIECES][width]."""
        if self.own_parts is None or not 0 <= king < SQUARES:
            raise ValueError(f"no rows of a king on {king} with {self.features}")
        cdef float[:, ::1] found = aligned(self.width * BONAPIECES).reshape(self.model.tiles, -1)
        cdef TilePart part
        cdef int tile
        for tile in range(self.model.tiles):
            part = part_of(&self.model, &self.batch, tile)
            part.rounded = False
            sum_king(self.model.own, king, &part, self.groups[0].used, &found[tile, 0])
        return np.concatenate(np.asarray(found).reshape(self.model.tiles, BONAPIECES, TILE), axis=1)

    def refresh(self, rounded: bool):
        """Use `weights`, rounded or as they are, for the passes to come."""
        self.forward[:] = np.rint(self.weights) if rounded else self.weights
        self.model.rounded = self.rounded = rounded
        turn_weights(&self.model)

    def begin(self, positions, score_scale: float = 600, result_share: float = 0, seed: int = 0):
        """Set the batch: at most `capacity` positions; seed: of which positions are mirrored, 0 for none.

        Targets are win probabilities of the score on a logistic of `score_scale`, mixed with the result. ValueError for
        a position with numbers out of range.
        """
        cdef const TrainingPosition[::1] given = positions
        if not 1 <= len(positions) <= self.capacity:
            raise ValueError(f"{len(positions)} positions: 1 to {self.capacity}")
        check_positions(positions)
        self.positions, self.batch.positions = positions, &given[0]
        self.batch.views.positions, self.batch.views.count = len(positions), 2 * len(positions)
        self.batch.score_scale, self.batch.result_share, self.batch.seed = score_scale, result_share, seed

    def set_step(self, number: int, rate: float, decay: float, epsilon: float = 1e-8):
        """Set the number of the step, from 1, Adam's rate and epsilon in natural units, and the decay of the
        transformer's weights, which is multiplied by the rate."""
        self.number, self.rate, self.decay, self.epsilon = number, rate, decay, epsilon

    def work(self, phase: int, thread: int = 0):
        """Do one thread's part of a phase, without the GIL."""
        cdef int given = phase, own = thread
        if not 0 <= own < self.threads:
            raise ValueError(f"thread {thread}: 0 to {self.threads - 1}")
        with nogil:
            if given in (TRANSFORM_PHASE, COLLECT_PHASE, UPDATE_PHASE):
                self.work_on_tiles(given, own)
            else:
                self.work_on_shares(given, own)

    cdef void work_on_shares(self, int phase, int thread) noexcept nogil:
        cdef int share
        for share in range(SHARES):
            if share % self.threads != thread:
                continue
            if phase == LIST_PHASE:
                list_share(&self.batch, share, self.model.own != NULL)
            else:
                pass_share(&self.model, &self.batch, &self.scratch[thread], share, phase == BOTH_WAYS_PHASE)

    cdef void work_on_tiles(self, int phase, int thread) noexcept nogil:
        cdef AdamStep step = adam_step(self.rate, self.decay, self.epsilon, self.number, self.model.rounded)
        cdef AdamStep own_step = own_part_step(self.rate, self.decay, self.epsilon)
        cdef Groups *groups = &self.groups[thread]
        cdef int tile
        if phase == TRANSFORM_PHASE and self.model.own != NULL:
            group_views(self.model.own, &self.batch.views, self.batch.kings, groups)
        for tile in range(self.model.tiles):
            if tile % self.threads != thread:
                continue
            if phase == TRANSFORM_PHASE:
                transform(&self.model, &self.batch, groups, tile)
                continue
            collect(&self.model, &self.batch, groups, tile, &own_step if phase == UPDATE_PHASE else NULL)
            if phase == UPDATE_PHASE:
                improve_tile(&self.model, tile, &step)
        if phase != TRANSFORM_PHASE and thread == 0:
            sum_shares(&self.model)
            if phase == UPDATE_PHASE:
                improve_dense(&self.model, &step, self.model.fv_scale * self.batch.score_scale)
                if self.model.own != NULL:
                    finish_step(self.model.own, groups, self.rate * self.decay)

    @property
    def loss(self):
        """Mean divergence of the batch's win probabilities from the targets, in nats, before the step."""
        return sum(self.batch.losses) / self.batch.views.positions

    def outputs(self):
        """Return, after FORWARD, the last layer's sums, fv_scale to a centipawn for the side to move."""
        return np.asarray(<float[:self.batch.views.positions]>self.batch.outputs).copy()

    def sums(self):
        """Return, after VALUES, the first layer's sums, [positions][2 * width] in 1/127, the side to move first."""
        return np.asarray(<float[:self.batch.views.positions, :2 * self.width]>self.batch.sums).copy()
