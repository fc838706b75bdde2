"""Integer helpers."""


cdef inline int clamp(int value, int least, int greatest) noexcept nogil:
    return least if value < least else greatest if value > greatest else value
