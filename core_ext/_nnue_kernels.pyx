"""The network's kernels, and its value from scratch, for tests. _nnue_portable has the same functions in portable C."""

from core_ext.board cimport Board
from core_ext.eval.nnue.forward cimport value_from_scratch
from core_ext.eval.nnue.kernels cimport (
    activate as activate_sums, nnue_accumulate, nnue_affine, nnue_dot_row, nnue_group, nnue_hidden, nnue_squares,
)
from core_ext.eval.nnue.network cimport Network
from core_ext.shogi.types cimport int8_t, int16_t, int32_t, uint8_t


def evaluate(Network network not None, Board board not None):
    """Return centipawns for the side to move, computed from scratch."""
    return value_from_scratch(&network.weights, &board.pos)


def accumulate_rows(int16_t[::1] sums, const int16_t[:, ::1] rows, const int32_t[::1] removed,
                    const int32_t[::1] added):
    """Subtract rows from the sums and add others, in place."""
    nnue_accumulate(&sums[0], &sums[0], <int>sums.shape[0], &rows[0, 0], &removed[0], <int>removed.shape[0], &added[0],
                    <int>added.shape[0])


def activate(bint sfnn, uint8_t[::1] out, const int16_t[::1] ours, const int16_t[::1] theirs):
    """Clip sums to 0..127 or, for SFNN, multiply pairs of them."""
    activate_sums(&out[0], &ours[0], &theirs[0], <int>ours.shape[0], sfnn)


def group_of(int inputs, int outputs):
    """Return the inputs of a group of layer 0's weights."""
    return nnue_group(inputs, outputs)


def affine(int32_t[::1] out, const uint8_t[::1] inputs, int group, const int8_t[::1] weights, const int32_t[::1] bias,
           bint sparse):
    """Compute a dense layer; the weights have the layout [inputs / group][outputs][group]; `sparse` skips zeros."""
    nnue_affine(&out[0], &inputs[0], <int>inputs.shape[0], <int>out.shape[0], group, &weights[0], &bias[0], sparse)


def dot(const uint8_t[::1] inputs, const int8_t[::1] weights):
    """Return the product of inputs and weights."""
    return nnue_dot_row(&inputs[0], &weights[0], <int>inputs.shape[0])


def hidden(bint sfnn, uint8_t[::1] out, const int32_t[::1] sums):
    """Divide sums by 64 and clip them to 0..127; for SFNN, squares of the sums come first."""
    if sfnn:
        nnue_squares(&out[0], &sums[0], <int>sums.shape[0])
    else:
        nnue_hidden(&out[0], &sums[0], <int>sums.shape[0])
