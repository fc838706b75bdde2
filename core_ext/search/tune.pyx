"""Read and set the constants of tune.h by name. setup.py generates tune.pxd, which declares them to Cython."""

cdef extern from "search/tune.h" nogil:
    ctypedef struct TuneRow:
        const char *name
        int default_value
        int least
        int greatest
    TuneRow tune_row(int index)
    enum:
        TUNABLES


cdef str text_name(const char *field):
    """Return the name in options and reports: NullMargin for `null_margin`."""
    return "".join([part.capitalize() for part in field.decode().split("_")])


cdef int *value_of(int row) noexcept nogil:
    return <int *>&tune + row


_ROWS = {text_name(tune_row(row).name): row for row in range(TUNABLES)}


def tunables() -> list[tuple[str, int, int, int, int]]:
    """Return (name, current value, default, least, greatest) of every constant."""
    return [(name, value_of(row)[0], tune_row(row).default_value, tune_row(row).least, tune_row(row).greatest)
            for name, row in _ROWS.items()]


def tunable(name: str) -> int:
    """Return the current value. KeyError if no constant has this name."""
    return value_of(_ROWS[name])[0]


def set_tunable(name: str, value: int) -> None:
    """Set a constant for the next searches of this process. ValueError if the name or the value is not allowed."""
    if name not in _ROWS:
        raise ValueError(f"unknown constant '{name}'")
    number = int(value)
    row = tune_row(_ROWS[name])
    if not row.least <= number <= row.greatest:
        raise ValueError(f"{name} = {number} is not within {row.least} and {row.greatest}")
    value_of(_ROWS[name])[0] = number


cdef void set_defaults() noexcept nogil:
    cdef int row
    for row in range(TUNABLES):
        value_of(row)[0] = tune_row(row).default_value


set_defaults()
