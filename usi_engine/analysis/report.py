"""An analysed game as text: a line for each move, then each side's totals."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from usi_engine.analysis.judgement import GRADES, Evaluated, JudgedMove, judge, totals
from usi_engine.records.games import Game
from usi_engine.records.notation import NamedMove, name_moves
from usi_engine.records.tree import Node
from usi_engine.results import winning_chance

MOVES_SHOWN = 6  # of a best line in the text
MOVE_COLUMNS, GRADE_COLUMNS = 12, 10


@dataclass(frozen=True)
class AnalysedGame:
    """A game with its positions' values (one more than moves), its moves judged and named.

    A variation is a game too: `game.moves` then are those of the whole line from the start, and the first `before` are
    played elsewhere. `nodes` are the positions in the record's tree.
    """

    game: Game
    evaluated: list[Evaluated]
    judged: list[JudgedMove]
    names: list[NamedMove]
    nodes: list[Node]
    before: int = 0
    variations: list[AnalysedGame] = field(default_factory=list)

    @property
    def black_begins(self) -> bool:
        """True if Black makes the first move."""
        return self.game.start.split()[1] == "b"

    def black_to_move(self, ply: int) -> bool:
        """Return True if Black is to move after `ply` moves."""
        return (ply % 2 == 0) == self.black_begins

    def black_value(self, ply: int) -> int:
        """Return the value after `ply` moves in centipawns for Black."""
        value = self.evaluated[ply].value
        return value if self.black_to_move(ply) else -value

    def black_mate(self, ply: int) -> tuple[bool, int] | None:
        """Return whether Black mates and in how many plies; None without a mate."""
        result = self.evaluated[ply]
        if result.mate is None:
            return None
        return (result.value > 0) == self.black_to_move(ply), abs(result.mate)

    def best_line(self, ply: int) -> list[NamedMove]:
        """Return the best line after `ply` moves of the game."""
        return name_moves(self.game.start, self.evaluated[ply].pv, self.game.moves[:ply])


def analysed(game: Game, evaluated: list[Evaluated], nodes: list[Node] | None = None, before: int = 0) -> AnalysedGame:
    """Judge and name the moves of a game, or of a variation that ends with these nodes."""
    judged = judge(game.moves, evaluated, game.start.split()[1] == "b")
    root = game.record.root
    return AnalysedGame(
        game, evaluated, judged, name_moves(game.start, game.moves), nodes or [root, *root.mainline()], before
    )


def value_text(result: AnalysedGame, ply: int) -> str:
    """Return Black's value after `ply` moves: signed centipawns, or `mate N`, negative if White mates."""
    mate = result.black_mate(ply)
    if mate is None:
        return f"{result.black_value(ply):+d}"
    return f"mate {mate[1]}" if mate[0] else f"mate -{mate[1]}"


def padded(text: str, columns: int) -> str:
    """Pad the text with spaces to this many columns of a terminal; kanji take two."""
    width = sum(2 if unicodedata.east_asian_width(letter) in "WFA" else 1 for letter in text)
    return text + " " * max(columns - width, 0)


def lines_of(result: AnalysedGame) -> Iterator[str]:
    """Yield the whole text of a game."""
    black, white = result.game.players
    yield f"{result.game.name}: {black or 'Black'} - {white or 'White'}, {len(result.judged)} moves"
    yield "value and chance of winning are Black's after the move, loss is the mover's, in percentage points"
    yield f"  ply    value  chance  loss  {padded('move', MOVE_COLUMNS)}{padded('', GRADE_COLUMNS)} best line"
    yield start_line(result)
    for move in result.judged:
        yield move_line(result, move).rstrip()
    for variation in result.variations:
        yield f"variation at move {variation.before + 1}"
        for move in variation.judged[variation.before :]:
            yield move_line(variation, move).rstrip()
    yield ""
    yield from summary(result)


def start_line(result: AnalysedGame) -> str:
    """Return the line of the position before the first move, with its best line if the game has no moves."""
    chance = 100 * winning_chance(result.black_value(0))
    line = "" if result.judged else " ".join(name.text for name in result.best_line(0)[:MOVES_SHOWN])
    text = f"    0 {value_text(result, 0):>8} {chance:5.0f} % {'':>5}  {padded('start', MOVE_COLUMNS)}"
    return f"{text}{'':{GRADE_COLUMNS}} {line}".rstrip()


def move_line(result: AnalysedGame, move: JudgedMove) -> str:
    """Return the line of a move."""
    chance = 100 * winning_chance(result.black_value(move.ply))
    loss = f"{move.loss:.0f}" if move.loss >= 0.5 else ""
    grade = move.grade.name if move.grade else ""
    line = " ".join(name.text for name in result.best_line(move.ply - 1)[:MOVES_SHOWN])
    text = padded(result.names[move.ply - 1].text, MOVE_COLUMNS)
    value = value_text(result, move.ply)
    return f"{move.ply:5} {value:>8} {chance:5.0f} % {loss:>5}  {text}{grade:{GRADE_COLUMNS}} {line}"


def summary(result: AnalysedGame) -> Iterator[str]:
    """Yield a table of each side's totals."""
    grades = [grade.name for grade in reversed(GRADES)]
    yield f"{'':8}{'moves':>7}{'best':>7}{'mean loss':>11}" + "".join(f"{name:>12}" for name in grades)
    for side, black in (("Black", True), ("White", False)):
        own = totals(result.judged, black)
        counts = "".join(f"{own.grades[name]:>12}" for name in grades)
        yield f"{side:8}{own.moves:>7}{own.best:>7}{own.mean_loss:>11.1f}{counts}"
