"""An analysed game as text: a line for each move, explanations below bad ones, then each side's totals.

On a terminal the lines are cut to its width and grades stand out; elsewhere it is plain text with lines of any length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from usi_engine.analysis.explain import explanations
from usi_engine.analysis.judgement import GRADES, JudgedMove, percent
from usi_engine.analysis.puzzles import Puzzle
from usi_engine.analysis.report import AnalysedGame, score_text
from usi_engine.analysis.words import end_text, grade_name, is_japanese, player_names, side_names
from usi_engine.columns import cells, padded
from usi_engine.language import _
from usi_engine.records.notation import NamedMove
from usi_engine.usi.output import printable

if TYPE_CHECKING:
    from rich.console import Console

MOVES_SHOWN = 6  # of a better line
MOVE_COLUMNS, GRADE_COLUMNS, INDENT = 12, 11, 30
NAME_COLUMNS, SIDE_COLUMNS = 16, 9  # of the totals
# Styles of grades, the only colours. They are the terminal's basic colours, which fit its background.
STYLES = {"blunder": "bold underline red", "mistake": "bold red", "dubious": "bold magenta", "inaccuracy": "bold"}
HEADING = "bold"

Line = tuple[str, str, str]  # text, style, the word that has the style (empty: all)


def print_game(result: AnalysedGame, puzzles: Sequence[Puzzle] = ()) -> None:
    """Print the whole text of a game."""
    from rich.console import Console  # noqa: PLC0415  (slow to import)

    console = Console(highlight=False, markup=False, emoji=False)
    for line in lines_of(result, console.width if console.is_terminal else 0):
        print_line(console, *line)
    for puzzle in puzzles:
        print_line(console, _("puzzle after move {number}: {goal}").format(number=puzzle.ply, goal=puzzle.goal), "", "")
    console.print()


def print_line(console: Console, text: str, style: str, word: str) -> None:
    """Print a line that is not wrapped."""
    from rich.text import Text  # noqa: PLC0415

    line = Text(printable(text))
    line.highlight_words([word or text], style)
    console.print(line, soft_wrap=True)


def lines_of(result: AnalysedGame, width: int = 0) -> Iterator[Line]:
    """Yield the lines of a game, none of them wider than `width` columns if it is not 0."""
    for text, style, word in all_lines(result, width):
        yield cut(text, width), style, word


def all_lines(result: AnalysedGame, width: int) -> Iterator[Line]:
    """Yield the lines; only lines of moves are made to fit."""
    black, white = player_names(result.game)
    title = _("{file}: {black} - {white}, {count} moves")
    yield title.format(file=result.game.name, black=black, white=white, count=len(result.judged)), HEADING, ""
    yield _("Values and chances of winning are Black's after the move; loss is the mover's."), "", ""
    yield heading(), HEADING, ""
    yield start_line(result, width), "", ""
    yield from lines_of_moves(result, width)
    if end_text(result.game):
        yield f"{'':6}{end_text(result.game)}", "", ""
    for variation in result.variations:
        yield _("variation at move {number}").format(number=variation.before + 1), HEADING, ""
        yield from lines_of_moves(variation, width)
    yield "", "", ""
    yield from summary(result)


def heading() -> str:
    """Return the heading of the table of moves."""
    names = [padded(_("ply"), 5), padded(_("value"), 9), padded(_("chance"), 8), padded(_("loss"), 6)]
    texts = [padded(_("move"), -MOVE_COLUMNS), padded("", -GRADE_COLUMNS), _("better")]
    return f"{''.join(names)}  {''.join(texts)}"


def start_line(result: AnalysedGame, width: int) -> str:
    """Return the line of the position before the first move, with its best line if the game has no moves."""
    start = padded(_("start"), -MOVE_COLUMNS)
    head = f"{0:5}{values(result, 0)}{'':6}  {start}{'':{GRADE_COLUMNS}}"
    return with_line(head, [] if result.judged else result.best_line(0), width)


def lines_of_moves(result: AnalysedGame, width: int) -> Iterator[Line]:
    """Yield the lines of the moves, those of a variation from its beginning on."""
    names = result.named(0, result.game.moves)
    for move, name in list(zip(result.judged, names, strict=True))[result.before :]:
        yield from move_lines(result, move, name.text, width)


def move_lines(result: AnalysedGame, move: JudgedMove, name: str, width: int) -> Iterator[Line]:
    """Yield the line of a move of this name, and its explanations."""
    loss = f"{move.loss:.1f}" if move.loss else ""
    grade, style = grade_name(move.grade), STYLES[move.grade.name] if move.grade else ""
    text = padded(name, 1 - MOVE_COLUMNS)
    head = f"{move.ply:5}{values(result, move.ply)}{loss:>6}  {text} {padded(grade, -GRADE_COLUMNS)}"
    yield with_line(head, result.better_line(move.ply), width), style, grade
    for sentence in explanations(result, move.ply):
        yield f"{'':{INDENT}}{sentence}", "", ""


def values(result: AnalysedGame, ply: int) -> str:
    """Return Black's value and chance after `ply` moves."""
    score = result.score(ply)
    return f"{padded(score_text(score), 9)}{percent(score.value):6.1f} %"


def with_line(head: str, line: list[NamedMove], width: int) -> str:
    """Return the head with as many moves of a line as fit."""
    text = head
    for move in line[:MOVES_SHOWN]:
        longer = f"{text}{' ' if text != head else ''}{move.text}"
        if width and cells(longer) > width:
            break
        text = longer
    return text.rstrip()


def summary(result: AnalysedGame) -> Iterator[Line]:
    """Yield a table of each side's totals."""
    black, white = result.totals(True), result.totals(False)
    yield table_row("", *side_names(result.game)), HEADING, ""
    accuracies = ["-" if own.accuracy is None else f"{own.accuracy:.1f} %" for own in (black, white)]
    yield table_row(_("accuracy"), *accuracies), "", ""
    yield table_row(_("moves"), f"{black.moves}", f"{white.moves}"), "", ""
    yield table_row(_("best moves"), f"{black.best}", f"{white.best}"), "", ""
    yield table_row(_("mean loss"), f"{black.mean_loss:.1f}", f"{white.mean_loss:.1f}"), "", ""
    for grade in reversed(GRADES):
        counts = [f"{own.grades[grade.name]}" for own in (black, white)]
        name = grade.japanese if is_japanese() else grade.plural
        yield table_row(name, *counts), STYLES[grade.name], name


def table_row(name: str, black: str, white: str) -> str:
    """Return a row of the totals."""
    return f"{padded(name, -NAME_COLUMNS)}{padded(black, SIDE_COLUMNS)}{padded(white, SIDE_COLUMNS)}"


# ---- columns ----


def cut(text: str, width: int) -> str:
    """Return the text cut to `width` columns; all of it if `width` is 0."""
    while width and cells(text) > width:
        text = text[:-1]
    return text
