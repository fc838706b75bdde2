"""An analysed game as one HTML page that needs no network, and the index page of several games.

The templates, styles and scripts are in `usi_engine/data/page`; the page's script draws the JSON made here.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core_ext.board import Board
from core_ext.shogi.ki2 import last_square
from usi_engine import NAME, __version__, language
from usi_engine.analysis import words
from usi_engine.analysis.formations import Formation, formation_headers, formation_sentences, name_formations
from usi_engine.analysis.judgement import GRADES, black_score, judge, percent, totals
from usi_engine.analysis.kif import with_comment
from usi_engine.analysis.puzzles import Puzzle, puzzle_data
from usi_engine.analysis.reasons import explanations
from usi_engine.book.book_player import BookPlayer, open_book
from usi_engine.book.entry import BookError
from usi_engine.evaluation.names import INTERNAL
from usi_engine.language import _
from usi_engine.records.games import Game
from usi_engine.records.kif import write_kif
from usi_engine.records.notation import move_text, name_moves
from usi_engine.records.tree import Node, Record, Step
from usi_engine.search.results import Variation

Data = dict[str, Any]

MOVES_SHOWN = 12  # of a line
SIDES = ("black", "white")
PAGES = Path(__file__).resolve().parents[1] / "data" / "page"
STYLE = re.compile(r'<link rel="stylesheet" href="([a-z]+\.css)">')
IMPORT = re.compile(r'^import .* from "\./(\w+\.js)";\n', re.M)
EXPORT = re.compile(r"^export ", re.M)
# The English texts: arguments of `_` in scripts, contents of elements with `data-text`.
TEXT = re.compile(r'\b_\("([^"]+)"|\bdata-text\b[^>]*>([^<]+)<')


# ---- the page of a game ----


def page_text(game: Game, limits: str, puzzles: Sequence[Puzzle] = ()) -> str:
    """Return the whole page; `limits` is the limit for each position in words."""
    return filled("analysis.js", page_data(game, limits, puzzles), "analysis.html")


def page_data(game: Game, limits: str, puzzles: Sequence[Puzzle] = ()) -> Data:
    """Return the data for the page's script; values and chances are Black's."""
    found = name_formations(game)
    nodes, phases = positions(game, found)
    named = {key: words.marked(text) for key, text in formation_headers(game, found).items()}
    return {
        "title": title(game),
        "about": _("{file}, {count} moves").format(file=game.path.name, count=len(game.moves)),
        "players": dict(zip(SIDES, words.player_names(game), strict=True)),
        "headers": words.headers(game, named),
        "engine": _("{engine}, {limit} a position").format(engine=f"{NAME} {__version__}", limit=limits),
        "nodes": nodes,
        "plies": len(game.moves),
        "phases": [{"ply": ply, "name": name} for name, ply in phases.items()],
        "end": words.end_text(game),
        "summary": summary(game),
        "puzzles": [puzzle_data(puzzle) for puzzle in puzzles],
        "kif": write_kif(game),
    }


def title(game: Game) -> str:
    """Return both players."""
    return "☗ {} - ☖ {}".format(*words.player_names(game))


def summary(record: Record) -> Data:
    """Return both sides' totals."""
    found = {}
    for side, name in enumerate(SIDES):
        own = totals(record, side)
        counts = {grade.name: own.grades[grade.name] for grade in GRADES}
        best = f"{own.best_share}% ({own.best}/{own.moves})"
        found[name] = {"accuracy": own.accuracy, "moves": own.moves, "best": best, "loss": own.mean_loss, **counts}
    return found


# ---- positions ----

# Data of a position that was not searched, and of a start's move.
UNKNOWN: Data = {
    "text": "", "win": None, "loss": 0.0, "grade": "", "gradeText": "", "best": False, "lines": [],
}  # fmt: skip


def positions(record: Record, found: dict[Node, list[Formation]]) -> tuple[list[Data], dict[str, int]]:
    """Return all nodes, the main line first, and the plies of its first capture and check.

    The keys are those that `usi_engine/data/page/analysis.js` reads. Values and chances are Black's, losses the
    mover's.
    """
    data, numbers, last = list[Data](), dict[Node, int](), len(record.moves)
    phases, book, names = dict[str, int](), own_book(), words.side_names(record)
    for step in record.walk():
        numbers[step.node] = len(data)
        data.append(node_data(step, book, names) | place_data(step.node, numbers))
        data[-1]["why"] += formation_sentences(found.get(step.node, ()))
        if numbers[step.node] <= last:
            note_phases(step, phases)
            data[-1]["total"] = None if data[-1]["seconds"] is None else step.spent[0] / 1000
    return data, phases


def place_data(node: Node, numbers: Mapping[Node, int]) -> Data:
    """Return the number of a node, that of its parent, and whether it goes on with its parent's line."""
    parent = node.parent
    return {
        "id": numbers[node],
        "parent": None if parent is None else numbers[parent],
        "main": parent is None or parent.next() is node,
    }


def note_phases(step: Step, phases: dict[str, int]) -> None:
    """Note the ply of a move that is the first capture or check."""
    square = last_square(step.board)
    if square and step.before.piece_at(square):
        phases.setdefault(_("First capture"), step.ply)
    if step.ply and step.board.is_check():
        phases.setdefault(_("First check"), step.ply)


def own_book() -> BookPlayer | None:
    """Return the packaged book; None if it cannot be read."""
    try:
        return BookPlayer(open_book(INTERNAL), lambda _text: None)
    except BookError:
        return None


def node_data(step: Step, book: BookPlayer | None, names: tuple[str, str]) -> Data:
    """Return the data of a position and of the move that led to it."""
    node = step.node
    known = book.moves(step.before, flipped=True) if book and step.ply else []
    comments = (with_comment(one.comment, []) for one in (node, node.end) if one)
    return {
        **position_data(step),
        "seconds": None if node.milliseconds is None else node.milliseconds / 1000,
        "total": None,
        "comment": "\n".join(filter(None, comments)),
        "book": any(one.move == node.move for one in known),
        **judged_data(step, names),
    }


def position_data(step: Step) -> Data:
    """Return the data of a position and of the move that led to it that are known without a search."""
    board = step.board
    return {
        "ply": step.ply,
        "number": int(board.sfen().split()[3]) - 1,
        "side": SIDES[1 - board.turn],
        "sfen": board.sfen(),
        "usi": step.node.move if last_square(board) else None,
        "move": words.marked(move_text(step.before, step.node.move)) if step.ply else "",
        "check": board.is_check(),
    }


def judged_data(step: Step, names: tuple[str, str]) -> Data:
    """Return the search's results for a position and the move that led to it."""
    score, move = black_score(step.node), judge(step.node)
    if score is None:
        return UNKNOWN | {"why": list[str]()}
    data = UNKNOWN | {"text": words.score_text(score), "win": percent(score.value), "lines": list(list_lines(step))}
    data["why"] = explanations(step, names)
    if move:
        grade = move.grade.name if move.grade else ""
        data |= {"loss": move.loss, "grade": grade, "gradeText": words.grade_name(move.grade), "best": move.best}
    return data


def list_lines(step: Step) -> Iterator[Data]:
    """Yield the lines of a position, the line that was better than its move, and the refutation of a bad move."""
    node, move = step.node, judge(step.node)
    lines = node.analysis.lines if node.analysis else ()
    for number, line in enumerate(lines):
        yield line_data("candidate" if number else "best", step.board, line)
    before = node.parent.analysis if node.parent else None
    if move and move.has_better and before and before.lines:
        yield line_data("better", step.before, before.lines[0])
    if move and move.grade and lines:
        yield line_data("refutation", step.board, lines[0])


def line_data(kind: str, board: Board, line: Variation) -> Data:
    """Return the data of a line that begins with this position."""
    moves = name_moves(board, line.pv[:MOVES_SHOWN], move_text)
    names = {"moves": [move.usi for move in moves], "names": [words.marked(move.text) for move in moves]}
    return {"kind": kind, "text": words.score_text(line.score.pov(0)), **names}


# ---- the index of several games ----


def make_entry(game: Game, file: str) -> Data:
    """Return the index's entry for a game whose page has this file name."""
    return {
        "href": quote(file),
        "title": title(game) if any(game.players) else game.stem,
        "date": game.header.get("開始日時", ""),
        "event": game.header.get("棋戦", ""),
        "moves": len(game.moves),
        "end": words.end_text(game),
        **summary(game),
    }


def index_text(entries: Sequence[Data]) -> str:
    """Return the page that lists the games."""
    return filled("index.js", {"title": _("Analysed games"), "games": entries})


# ---- templates ----


def filled(script: str, data: Data, template: str = "list.html") -> str:
    """Return a template with its styles, a script and the data in it."""
    page = STYLE.sub(lambda found: f"<style>\n{read(found[1])}</style>", read(template))
    return with_data(page.replace("@SCRIPT@", f"\n{bundled(script, set())}"), data)


def bundled(name: str, included: set[str]) -> str:
    """Return a script after those that it imports, without the ones `included` already: all as one module."""
    included.add(name)
    script = read(name)
    needed = [bundled(found[1], included) for found in IMPORT.finditer(script) if found[1] not in included]
    return "".join([*needed, EXPORT.sub("", IMPORT.sub("", script))])


def with_data(page: str, data: Data) -> str:
    """Return a template with the language, the data and the texts in it."""
    texts = {english: text for english in english_texts() if (text := _(english)) != english}
    # `<` within strings: no name of a player can end the script that holds the JSON.
    text = json.dumps(data | {"texts": texts}, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return page.replace("@LANG@", language.chosen()).replace("@DATA@", text)


def english_texts() -> list[str]:
    """Return the texts in the scripts and elements of all pages."""
    files = sorted([*PAGES.glob("*.html"), *PAGES.glob("*.js")])
    return [found[1] or found[2] for file in files for found in TEXT.finditer(read(file.name))]


def read(name: str) -> str:
    """Return the text of a file of the pages."""
    return (PAGES / name).read_text(encoding="utf-8")
