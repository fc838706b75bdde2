"""One go from its start to its bestmove."""

from dataclasses import replace

from usi_engine.core import sentence_of
from usi_engine.game.report import Reporter, bestmove_line, info_lines
from usi_engine.search.resources import Resources
from usi_engine.search.results import Analysis, PlayResult
from usi_engine.search.search import checked_move, chosen_move, search
from usi_engine.search.search_control import SearchControl
from usi_engine.search.spec import Spec
from usi_engine.usi.output import Writer


class Thinking:
    """One go. `run` is the body of its job and always ends with exactly one bestmove."""

    def __init__(self, resources: Resources, writer: Writer, control: SearchControl, interval: int) -> None:
        """`interval`: least milliseconds between printed results, 0 for all."""
        self._resources = resources
        self._writer = writer
        self._control = control
        self._reporter = Reporter(writer, interval)

    def run(self, spec: Spec | None) -> None:
        """Search and answer; resign if there is nothing to search, because the last position was refused."""
        found = self._search(spec) if spec else None
        self._control.wait_to_answer()
        # Waiting for the helper threads can take milliseconds on a loaded machine, so the answer comes first.
        self._writer.lines(self._last_lines(spec, found))
        self._control.answer_sent()
        self._resources.wait_for_helpers()

    def _search(self, spec: Spec) -> Analysis | None:
        """Return the result; None, after one info string, if an error ended the search."""
        try:
            self._resources.load_in_play()
            told = self._reporter
            found = search(self._resources, spec, self._control, on_result=told.result, on_bound=told.bound)
            if found.source == "rules":  # now, because an analysis does not answer before its stop
                self._tell_rules(spec, found)
        except Exception as error:
            self._writer.info(sentence_of(error, "error in search"))
            return None
        return found

    def _tell_rules(self, spec: Spec, found: Analysis) -> None:
        self._writer.lines(info_lines(self._at_answer(found)))
        if found.outcome is not None and found.score.value > 0:
            self._writer.info(f"the game is won by declaration under {spec.rules.declaration}")

    def _last_lines(self, spec: Spec | None, found: Analysis | None) -> list[str]:
        """Return the last lines, multipv 1 before bestmove; any legal move if there is no memory for them."""
        if spec is None:
            return [bestmove_line(PlayResult(None, end="resign"))]
        try:
            if found is not None:
                told = found.source == "rules"
                lines = [] if told else info_lines(self._at_answer(found))[::-1]
                return [*lines, bestmove_line(chosen_move(spec, self._control, found))]
        except Exception as error:
            self._writer.info(sentence_of(error, "error in search"))
        return [bestmove_line(checked_move(spec.board, ()))]

    def _at_answer(self, found: Analysis) -> Analysis:
        """Return the result with the time of the answer, perhaps long after the search has ended."""
        return replace(found, time=self._control.total / 1000)
