"""Requests of `go` and `go mate`: their arguments and the options, read once when the command arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from usi_engine.book.book_player import Rules, rules_of
from usi_engine.core import Core
from usi_engine.game.skill import Skill, skill_of
from usi_engine.search.iterative import SearchLimits
from usi_engine.search.threads import GameRules, game_rules
from usi_engine.usi.options import Options
from usi_engine.usi.protocol import Go, GoMate

if TYPE_CHECKING:
    from core_ext.board import Board


@dataclass(frozen=True)
class SearchRequest:
    """One go. Its times are in SearchControl, because `ponderhit` changes them.

    `board` is a copy for this search. `searchmoves` are unchecked text. `skill` is None at full strength, `book_rules`
    is None if the book must not answer. `pv_interval`: least milliseconds between printed iterations, 0 for all.
    `resign_value`: centipawns.
    """

    board: Board
    limits: SearchLimits
    searchmoves: tuple[str, ...]
    rules: GameRules
    skill: Skill | None
    book_rules: Rules | None
    pv_interval: int
    resign_value: int

    @property
    def mate_first(self) -> bool:
        """True if a mate search comes first. Under TryRule a king in check may win by its move."""
        return not self.searchmoves and self.limits.multipv == 1 and self.rules.declaration != "TryRule"


@dataclass(frozen=True)
class MateRequest:
    """One go mate. None: no such limit. `shortest`: look for the shortest mate after the first one."""

    board: Board
    milliseconds: int | None
    nodes: int | None
    shortest: bool


def search_request(core: Core, options: Options, go: Go, board: Board) -> SearchRequest:
    """Return the request of this go for `board`, which must be a copy."""
    analysis = go.open_ended() and not go.ponder
    print_all = analysis or options.flag("ConsiderationMode")
    return SearchRequest(
        board=board,
        limits=search_limits(core, options, go),
        searchmoves=go.searchmoves,
        rules=game_rules(options),
        skill=None if analysis else skill_of(options.number("SkillLevel")),
        book_rules=rules_of(options, board.turn == core.black) if book_may_answer(options, go) else None,
        pv_interval=0 if print_all else options.number("PvInterval"),
        resign_value=options.number("ResignValue"),
    )


def search_limits(core: Core, options: Options, go: Go) -> SearchLimits:
    """Return the smaller of the go's and the options' limits of each kind."""
    depths = (go.depth, options.number("DepthLimit"), core.max_depth)
    nodes = [limit for limit in (go.nodes, options.number("NodesLimit")) if limit]
    return SearchLimits(
        max_depth=min(depth for depth in depths if depth),
        node_limit=min(nodes, default=0),
        multipv=options.number("MultiPV"),
    )


def book_may_answer(options: Options, go: Go) -> bool:
    """Return whether the go has only clocks; other limits and an analysis require a search."""
    other = go.infinite or go.searchmoves or (go.movetime, go.depth, go.nodes) != (None, None, None)
    analysis = options.flag("ConsiderationMode") or options.number("MultiPV") > 1
    return options.flag("USI_OwnBook") and go.times.given() and not other and not analysis


def mate_request(options: Options, go: GoMate, board: Board) -> MateRequest:
    """Return the request of this go mate for `board`, which must be a copy."""
    return MateRequest(board, go.milliseconds, go.nodes, options.flag("MateShortest"))
