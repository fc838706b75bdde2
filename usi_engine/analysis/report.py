"""An analysed game: its positions' values for Black, its moves judged, its best lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from usi_engine.analysis.judgement import JudgedMove, Totals, judge, totals
from usi_engine.core import load_core
from usi_engine.language import _
from usi_engine.records.games import Game
from usi_engine.records.notation import NamedMove, move_text, name_moves
from usi_engine.records.tree import Node
from usi_engine.search.results import Analysis, Score


def score_text(score: Score) -> str:
    """Return signed centipawns, or `mate 5`, `mate -5` if the opponent mates."""
    if score.mate is None:
        return f"{score.value:+d}"
    if not score.mate:
        return _("mate")
    return (_("mate {plies}") if score.mate > 0 else _("mate -{plies}")).format(plies=abs(score.mate))


@dataclass(frozen=True)
class AnalysedGame:
    """A game with its positions' values (one more than moves) and its moves judged.

    A variation is a game too: `game.moves` is the whole line from the start, whose first `before` moves are judged
    with the line that it leaves. `nodes` are the positions in the record's tree.
    """

    game: Game
    evaluated: list[Analysis]
    judged: list[JudgedMove]
    nodes: list[Node]
    before: int = 0
    variations: list[AnalysedGame] = field(default_factory=list)

    def score(self, ply: int) -> Score:
        """Return Black's score of the position after `ply` moves."""
        return self.evaluated[ply].score.pov(load_core().black)

    def named(self, ply: int, moves: Sequence[str]) -> list[NamedMove]:
        """Name the moves of a line that begins after `ply` moves of the game."""
        return name_moves(self.game.start, moves, self.game.moves[:ply], move_text)

    def best_line(self, ply: int) -> list[NamedMove]:
        """Return the best line after `ply` moves of the game."""
        return self.named(ply, self.evaluated[ply].pv)

    def missed_mate(self, ply: int) -> int | None:
        """Return the plies of the mate that move `ply` gives away; None if it gives none away."""
        before, after = self.evaluated[ply - 1], self.evaluated[ply]
        mated = after.score.mate is not None and after.score.value < 0
        return before.score.mate if (before.score.mate or 0) > 0 and not mated else None

    def better_line(self, ply: int) -> list[NamedMove]:
        """Return the line that was better than move `ply`; empty without a notable loss or a missed mate."""
        better = self.judged[ply - 1].has_better or self.missed_mate(ply) is not None
        return self.best_line(ply - 1) if better else []

    def totals(self, black: bool) -> Totals:
        """Return the totals of Black's or White's moves."""
        return totals(self.judged, self.evaluated, black)


def analysed(game: Game, evaluated: list[Analysis], nodes: list[Node] | None = None, before: int = 0) -> AnalysedGame:
    """Judge the moves of a game, or of a variation that ends with these nodes."""
    judged = judge(game.moves, evaluated, game.start.split()[1] == "b")
    root = game.record.root
    return AnalysedGame(game, evaluated, judged, nodes or [root, *root.mainline()], before)
