"""The lines that report a search: `info` and `bestmove`."""

from usi_engine.search.results import Analysis, PlayResult, Score
from usi_engine.usi.output import Writer

BOUND_WORDS = {"exact": "", "lower": " lowerbound", "upper": " upperbound"}
# No bound is printed before this many milliseconds, unless all are (PvInterval 0).
FIRST_BOUND_TIME = 3000


def score_text(score: Score, bound: str = "exact") -> str:
    """Return `score cp X` or `score mate X`, followed by `lowerbound` or `upperbound` if it is one.

    USI has no mate in 0 plies; -1 is nearest.
    """
    number = f"mate {score.mate or -1}" if score.cp is None else f"cp {score.cp}"
    return f"score {number}{BOUND_WORDS[bound]}"


def milliseconds(found: Analysis) -> int:
    """Return the time of a result."""
    return round(found.time * 1000)


def count_text(nodes: int, time: int, hashfull: int) -> str:
    """Return the part of an info line between score and multipv; `time` is in milliseconds."""
    return f"nodes {nodes} nps {nodes * 1000 // max(time, 1)} hashfull {hashfull} time {time}"


def info_lines(found: Analysis, first: int = 1) -> list[str]:
    """Return an info line for each line, numbered from `first`; one without moves if there is none."""
    counts = count_text(found.nodes, milliseconds(found), found.hashfull)
    if not found.lines:
        return [f"info depth 0 seldepth 0 {score_text(found.score)} {counts}"]
    return [
        f"info depth {line.depth} seldepth {max(line.seldepth, line.depth)} {score_text(line.score, line.bound)} "
        f"{counts} multipv {number} pv {' '.join(line.pv)}"
        for number, line in enumerate(found.lines, first)
    ]


def bestmove_line(answer: PlayResult) -> str:
    """Return the answer to a `go`."""
    return f"bestmove {answer.move or answer.end}" + (f" ponder {answer.ponder}" if answer.ponder else "")


class Reporter:
    """A printer of the info lines of one go: at most one result per `interval` milliseconds, all if it is 0."""

    def __init__(self, writer: Writer, interval: int) -> None:
        self._writer = writer
        self._interval = interval
        self._printed_at = 0

    def result(self, found: Analysis) -> None:
        """Print the lines of a finished depth if they are due."""
        if self._is_due(found):
            self._print(found)

    def bound(self, found: Analysis, number: int) -> None:
        """Print a fail high or fail low of the line with this number if it is due."""
        if self._interval == 0 or (milliseconds(found) >= FIRST_BOUND_TIME and self._is_due(found)):
            self._print(found, number)

    def _is_due(self, found: Analysis) -> bool:
        return milliseconds(found) - self._printed_at >= self._interval

    def _print(self, found: Analysis, first: int = 1) -> None:
        self._printed_at = milliseconds(found)
        self._writer.lines(info_lines(found, first))
