"""Reading and setting the constants of tune.h by name."""


cdef str text_name(const char *field):
    """`null_margin` is NullMargin in options and reports."""
    return "".join([part.capitalize() for part in field.decode().split("_")])


cdef int *value_of(int row) noexcept nogil:
    return <int *>&tune + row


_ROWS = {text_name(tune_row(row).name): row for row in range(TUNABLES)}


def tunables() -> list[tuple[str, int, int, int, int]]:
    """Every constant: name, value now, default, least, greatest."""
    return [(name, value_of(row)[0], tune_row(row).default_value, tune_row(row).least, tune_row(row).greatest)
            for name, row in _ROWS.items()]


def tunable(name: str) -> int:
    """The value now. KeyError where there is none of that name."""
    return value_of(_ROWS[name])[0]


def set_tunable(name: str, value: int) -> None:
    """For the next searches of this process; ValueError where the name or the range is wrong."""
    if name not in _ROWS:
        raise ValueError(f"unknown constant '{name}'")
    row = tune_row(_ROWS[name])
    if not row.least <= value <= row.greatest:
        raise ValueError(f"{name} = {value} is not within {row.least} and {row.greatest}")
    value_of(_ROWS[name])[0] = value


cdef void set_defaults() noexcept nogil:
    cdef int row
    for row in range(TUNABLES):
        value_of(row)[0] = tune_row(row).default_value


set_defaults()
