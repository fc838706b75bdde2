"""Steps of Adam (D. Kingma and J. Ba, 2015) for weights in the units of nn.bin."""

from core_ext.learn.nnue.kernels cimport AdamStep

# Return the step with this number, counted from 1, in natural units; `scaled` sets the limit.
cdef AdamStep adam_step(double rate, double decay, double epsilon, long number, bint rounded) noexcept nogil
# Return the step of weights of which `unit` make one in the units that the rate is meant for; they do not decay.
cdef AdamStep scaled(const AdamStep *step, double unit, float limit) noexcept nogil
# Return the factors that `adam_step` has for this number, for weights that count their own steps.
cdef float first_correction(int number) noexcept nogil
cdef float second_correction(int number) noexcept nogil
