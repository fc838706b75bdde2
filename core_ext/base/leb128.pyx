"""Signed LEB128 numbers of 16 bits: seven bits a byte, low bits first; the top bit says that another byte follows."""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

cdef enum:
    WORD = 8            # bytes looked at together
    LONGEST = 3         # bytes of a 16-bit number

cdef uint64_t CONTINUED = 0x8080808080808080ULL


cdef inline int32_t sign_extended(uint32_t bits, int length) noexcept nogil:
    return <int32_t>(bits << (32 - 7 * length)) >> (32 - 7 * length)


cdef inline int length_of(int32_t value) noexcept nogil:
    return 1 + (not -64 <= value < 64) + (not -8192 <= value < 8192)


cdef Py_ssize_t decode_numbers(const uint8_t **data, Py_ssize_t size, int16_t *out, Py_ssize_t count,
                               int factor) noexcept nogil:
    """Move `data` behind the last whole number; return how many there are, -1 if they do not fit.

    Data of trained networks is mostly single bytes, which are decoded eight at a time. Other numbers are decoded
    without branches, because their lengths cannot be predicted.
    """
    cdef const uint8_t *at = data[0]
    cdef const uint8_t *end = at + size
    cdef int16_t *first = out
    cdef int16_t *last = out + count
    cdef uint64_t word
    cdef uint32_t bits, two, three
    cdef int32_t value
    cdef bint continued, fits = True
    cdef int i, length, _n
    while last - out >= WORD and end - at >= WORD + LONGEST:
        memcpy(&word, at, WORD)
        if not word & CONTINUED:
            for i in range(WORD):
                out[i] = <int16_t>(((at[i] ^ 0x40) - 0x40) * factor)
            at += WORD
            out += WORD
            continue
        for _n in range(WORD // LONGEST + 1):  # the last one begins at most six bytes on
            two = at[0] >> 7
            three = two & (at[1] >> 7)
            value = sign_extended((at[0] & 127) | (at[1] & 127 & (0 - two)) << 7 | (at[2] & 127 & (0 - three)) << 14,
                                  1 + two + three) * factor
            fits &= value == <int16_t>value and not three & (at[2] >> 7)
            out[0] = <int16_t>value
            out += 1
            at += 1 + two + three
    while True:
        data[0] = at
        bits, length = 0, 0
        continued = True
        while continued:
            if at == end:
                return out - first if fits else -1
            if out == last or length == LONGEST:
                return -1
            bits |= <uint32_t>(at[0] & 127) << 7 * length
            continued = at[0] >> 7
            length += 1
            at += 1
        value = sign_extended(bits, length) * factor
        fits &= value == <int16_t>value
        out[0] = <int16_t>value
        out += 1


def decode(const uint8_t[::1] data, int16_t[::1] numbers, int factor) -> tuple[int, int]:
    """Fill `numbers` from the start with those of `data` times `factor`; return how many, and the bytes they take.

    The last number may be incomplete. ValueError if there are more than `numbers`, or one is beyond 16 bits.
    """
    cdef Py_ssize_t count
    cdef const uint8_t *at
    if not 1 <= factor <= 256:
        raise ValueError(f"factor {factor} is not 1 to 256")
    if not data.shape[0] or not numbers.shape[0]:
        return 0, 0
    at = &data[0]
    with nogil:
        count = decode_numbers(&at, data.shape[0], &numbers[0], numbers.shape[0], factor)
    if count < 0:
        raise ValueError(f"{data.shape[0]} bytes are not up to {numbers.shape[0]} numbers of 16 bits in LEB128")
    return count, at - &data[0]


def encode(const int16_t[::1] numbers, int factor) -> bytes:
    """Return the numbers divided by `factor`, each in as few bytes as possible. ValueError if one is no multiple."""
    if not numbers.shape[0]:
        return encode_own(numbers, factor)
    return encode_own(numbers.copy(), factor)   # another thread may change them between measuring and writing


cdef bytes encode_own(const int16_t[::1] numbers, int factor):
    cdef Py_ssize_t size = 0, i
    cdef int32_t value
    cdef bint exact = factor > 0
    cdef bytes data
    cdef uint8_t *out
    if exact:
        with nogil:
            for i in range(numbers.shape[0]):
                exact &= numbers[i] % factor == 0
                size += length_of(numbers[i] // factor)
    if not exact:
        raise ValueError(f"the numbers are not all multiples of {factor}")
    data = PyBytes_FromStringAndSize(NULL, size)
    out = <uint8_t *>PyBytes_AS_STRING(data)
    with nogil:
        for i in range(numbers.shape[0]):
            value = numbers[i] // factor
            while not -64 <= value < 64:
                out[0] = (value & 127) | 128
                value >>= 7
                out += 1
            out[0] = value & 127
            out += 1
    return data
