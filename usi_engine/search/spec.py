"""The specification of a search: the arguments of a `go` and the options, read once when it begins."""

from __future__ import annotations

from dataclasses import dataclass, replace

from usi_engine.book.book_player import Rules, rules_of
from usi_engine.core import Board
from usi_engine.search.skill import Skill, skill_of
from usi_engine.search.threads import GameRules, game_rules
from usi_engine.usi.info import MAX_DEPTH
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go


@dataclass(frozen=True)
class Spec:
    """One search. Its times are in SearchControl, because `ponderhit` changes them.

    `board` is a copy for this search. `nodes`: 0 is no limit. `multipv`: number of lines. `moves`: the root moves to
    search, unchecked text; empty for all. `skill` is None at full strength, `book_rules` is None if the book must not
    answer. `resign_value`: centipawns.
    """

    board: Board
    depth: int
    nodes: int
    multipv: int
    moves: tuple[str, ...]
    rules: GameRules
    skill: Skill | None
    book_rules: Rules | None
    resign_value: int

    def at_level(self, skill: Skill) -> Spec:
        """Return the search with its limits reduced to the skill's."""
        nodes = min(self.nodes or skill.nodes, skill.nodes)
        return replace(self, depth=min(self.depth, skill.depth), nodes=nodes, multipv=max(self.multipv, skill.lines))


def spec_of(options: Options, go: Go, board: Board, *, analysis: bool = False, multipv: int = 0) -> Spec:
    """Return the search of this go for `board`, which must be a copy.

    `analysis`: at full strength and without the book, as every go that only `stop` ends. `multipv`: 0 for the option's.
    """
    analysis = analysis or (go.open_ended() and not go.ponder)
    from_book = not analysis and book_may_answer(options, go)
    depths = (go.depth, options.number("DepthLimit"), MAX_DEPTH)
    nodes = [limit for limit in (go.nodes, options.number("NodesLimit")) if limit]
    return Spec(
        board=board,
        depth=min(depth for depth in depths if depth),
        nodes=min(nodes, default=0),
        multipv=multipv or options.number("MultiPV"),
        moves=go.searchmoves,
        rules=game_rules(options),
        skill=None if analysis else skill_of(options.number("SkillLevel")),
        book_rules=rules_of(options, board.turn == 0) if from_book else None,
        resign_value=options.number("ResignValue"),
    )


def book_may_answer(options: Options, go: Go) -> bool:
    """Return whether the go has only clocks; other limits and an analysis require a search."""
    other = go.infinite or go.searchmoves or (go.movetime, go.depth, go.nodes) != (None, None, None)
    analysis = options.flag("ConsiderationMode") or options.number("MultiPV") > 1
    return options.flag("USI_OwnBook") and go.times.given() and not other and not analysis
