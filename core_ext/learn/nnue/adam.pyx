"""See adam.pxd."""

from libc.math cimport sqrt

cdef enum:
    CORRECTED_STEPS = 1 << 14   # after so many steps the moments have no bias in the precision of a float

cdef double BETA1 = 0.9, BETA2 = 0.999      # as in kernels.h
# By number of the step.
cdef float first_corrections[CORRECTED_STEPS]
cdef float second_corrections[CORRECTED_STEPS]


cdef int fill_corrections() noexcept:
    cdef int number
    for number in range(1, CORRECTED_STEPS):
        first_corrections[number] = <float>(1 / (1 - BETA1 ** number))
        second_corrections[number] = <float>(1 / sqrt(1 - BETA2 ** number))
    return CORRECTED_STEPS


cdef int filled = fill_corrections()
assert filled == CORRECTED_STEPS


cdef float first_correction(int number) noexcept nogil:
    return first_corrections[min(number, CORRECTED_STEPS - 1)]


cdef float second_correction(int number) noexcept nogil:
    return second_corrections[min(number, CORRECTED_STEPS - 1)]


cdef AdamStep adam_step(double rate, double decay, double epsilon, long number, bint rounded) noexcept nogil:
    cdef AdamStep step
    step.rate = <float>(rate / (1 - BETA1 ** number))
    step.second_correction = <float>(1 / sqrt(1 - BETA2 ** number))
    step.epsilon = <float>epsilon
    step.keep = <float>(1 - rate * decay)
    step.limit = 0
    step.rounded = rounded
    return step


cdef AdamStep scaled(const AdamStep *step, double unit, float limit) noexcept nogil:
    cdef AdamStep found = step[0]
    found.rate = <float>(step.rate * unit)
    found.epsilon = <float>(step.epsilon / unit)
    found.limit = limit
    found.keep = 1
    return found
