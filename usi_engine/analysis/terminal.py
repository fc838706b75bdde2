"""An analysed game as text: a line for each move, explanations below bad ones, then each side's totals.

On a terminal the lines are cut to its width and grades stand out; elsewhere it is plain text with lines of any length.
"""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from usi_engine.analysis import words
from usi_engine.analysis.formations import formation_headers, formation_sentences, name_formations
from usi_engine.analysis.judgement import GRADES, Judgement, black_score, judge, percent, totals
from usi_engine.analysis.puzzles import Puzzle
from usi_engine.analysis.reasons import explanations
from usi_engine.columns import cells, padded
from usi_engine.language import _
from usi_engine.records.games import Game
from usi_engine.records.notation import NamedMove, move_text, name_moves
from usi_engine.records.tree import Record, Step
from usi_engine.usi.output import printable

MOVES_SHOWN = 6  # of a better line
MOVE_COLUMNS, GRADE_COLUMNS, INDENT = 12, 11, 30
NAME_COLUMNS, SIDE_COLUMNS = 16, 9  # of the totals
# Styles of grades, the only colours. They are the terminal's basic colours, which fit its background.
STYLES = {"blunder": "bold underline red", "mistake": "bold red", "dubious": "bold magenta", "inaccuracy": "bold"}
HEADING = "bold"

Line = tuple[str, str, str]  # text, style, the word that has the style (empty: all)


def print_game(game: Game, puzzles: Sequence[Puzzle] = ()) -> None:
    """Print the whole text of an analysed game."""
    console = Console(highlight=False, markup=False, emoji=False)
    for line in format_lines(game, console.width if console.is_terminal else 0):
        print_line(console, *line)
    for puzzle in puzzles:
        print_line(console, _("puzzle after move {number}: {goal}").format(number=puzzle.ply, goal=puzzle.goal), "", "")
    console.print()


def print_line(console: Console, text: str, style: str, word: str) -> None:
    """Print a line that is not wrapped."""
    line = Text(printable(text))
    line.highlight_words([word or text], style)
    console.print(line, soft_wrap=True)


def format_lines(game: Game, width: int = 0) -> Iterator[Line]:
    """Yield the lines of a game, none of them wider than `width` columns if it is not 0."""
    for text, style, word in all_lines(game, width):
        yield cut(text, width), style, word


def all_lines(game: Game, width: int) -> Iterator[Line]:
    """Yield the lines; only lines of moves are made to fit. Variations that were not searched are left out."""
    black, white = words.player_names(game)
    title = _("{file}: {black} - {white}, {count} moves")
    yield title.format(file=game.name, black=black, white=white, count=len(game.moves)), HEADING, ""
    yield _("Values and chances of winning are Black's after the move; loss is the mover's."), "", ""
    yield heading(), HEADING, ""
    names, last, found = words.side_names(game), game.root.last(), name_formations(game)
    for step in game.walk():
        if not step.node.analysis:
            break
        if step.begins_variation:
            yield _("variation at move {number}").format(number=step.ply), HEADING, ""
        yield from position_lines(step, names, width)
        yield from ((f"{'':{INDENT}}{text}", "", "") for text in formation_sentences(found.get(step.node, ())))
        if step.node is last and words.end_text(game):
            yield f"{'':6}{words.end_text(game)}", "", ""
    yield "", "", ""
    for key, text in formation_headers(game, found).items():
        yield f"{padded(words.header_name(key), -NAME_COLUMNS)}{text}", "", ""
    yield from summary(game, names)


def heading() -> str:
    """Return the heading of the table of moves."""
    names = [padded(_("ply"), 5), padded(_("value"), 9), padded(_("chance"), 8), padded(_("loss"), 6)]
    texts = [padded(_("move"), -MOVE_COLUMNS), padded("", -GRADE_COLUMNS), _("better")]
    return f"{''.join(names)}  {''.join(texts)}"


def position_lines(step: Step, names: tuple[str, str], width: int) -> Iterator[Line]:
    """Yield the line of a move, or of the start, and its explanations."""
    move, score = judge(step.node), black_score(step.node)
    loss = f"{move.loss:.1f}" if move and move.loss else ""
    grade, style = ("", "") if not move or not move.grade else (words.grade_name(move.grade), STYLES[move.grade.name])
    value = f"{padded(words.score_text(score), 9)}{percent(score.value):6.1f} %" if score else ""
    text = padded(move_text(step.before, step.node.move) if step.ply else _("start"), 1 - MOVE_COLUMNS)
    head = f"{step.ply:5}{value}{loss:>6}  {text} {padded(grade, -GRADE_COLUMNS)}"
    yield with_line(head, line_beside(step, move), width), style, grade
    for sentence in explanations(step, names):
        yield f"{'':{INDENT}}{sentence}", "", ""


def line_beside(step: Step, move: Judgement | None) -> list[NamedMove]:
    """Return the line that was better than a move; if the record has no moves, the best one."""
    parent, found = step.node.parent, step.node.analysis
    if before := parent.analysis if parent else None:
        return name_moves(step.before, before.pv[:MOVES_SHOWN], move_text) if move and move.has_better else []
    return name_moves(step.board, found.pv[:MOVES_SHOWN], move_text) if found and not step.node.next() else []


def with_line(head: str, line: list[NamedMove], width: int) -> str:
    """Return the head with as many moves of a line as fit."""
    text = head
    for move in line:
        longer = f"{text}{' ' if text != head else ''}{move.text}"
        if width and cells(longer) > width:
            break
        text = longer
    return text.rstrip()


def summary(record: Record, names: tuple[str, str]) -> Iterator[Line]:
    """Yield a table of each side's totals."""
    sides = totals(record, 0), totals(record, 1)
    yield table_row("", *names), HEADING, ""
    yield table_row(_("accuracy"), *("-" if own.accuracy is None else f"{own.accuracy:.1f} %" for own in sides)), "", ""
    yield table_row(_("moves"), *(f"{own.moves}" for own in sides)), "", ""
    yield table_row(_("best moves"), *(f"{own.best_share} %" for own in sides)), "", ""
    yield table_row(_("mean loss"), *(f"{own.mean_loss:.1f}" for own in sides)), "", ""
    for grade in reversed(GRADES):
        name = grade.japanese if words.is_japanese() else grade.plural
        yield table_row(name, *(f"{own.grades[grade.name]}" for own in sides)), STYLES[grade.name], name


def table_row(name: str, black: str, white: str) -> str:
    """Return a row of the totals."""
    return f"{padded(name, -NAME_COLUMNS)}{padded(black, SIDE_COLUMNS)}{padded(white, SIDE_COLUMNS)}"


def cut(text: str, width: int) -> str:
    """Return the text cut to `width` columns; all of it if `width` is 0."""
    while width and cells(text) > width:
        text = text[:-1]
    return text
