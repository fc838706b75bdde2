"""An analysed game as one HTML page that needs no network, and the index page of several games.

The templates, styles and scripts are in `usi_engine/data/page`; the page's script draws the JSON made here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from usi_engine import NAME, __version__, language
from usi_engine.analysis.judgement import GRADES
from usi_engine.analysis.page_nodes import Data, PageNodes
from usi_engine.analysis.puzzles import Puzzle, puzzle_data
from usi_engine.analysis.report import AnalysedGame
from usi_engine.analysis.words import end_text, headers, player_names
from usi_engine.core import load_core
from usi_engine.language import _
from usi_engine.records import kif

PAGES = Path(__file__).resolve().parents[1] / "data" / "page"
STYLE = re.compile(r'<link rel="stylesheet" href="([a-z]+\.css)">')
SCRIPT = re.compile(r'<script src="([a-z]+\.js)"></script>')
# The English texts: arguments of `_` in scripts, contents of elements with `data-text`.
TEXT = re.compile(r'\b_\("([^"]+)"|\bdata-text\b[^>]*>([^<]+)<')
SIDES = (("black", True), ("white", False))


# ---- the page of a game ----


def page_text(result: AnalysedGame, limits: str, puzzles: Sequence[Puzzle] = ()) -> str:
    """Return the whole page; `limits` is the limit for each position in words."""
    return filled("analysis.html", page_data(result, limits, puzzles))


def page_data(result: AnalysedGame, limits: str, puzzles: Sequence[Puzzle] = ()) -> Data:
    """Return the data for the page's script; values and chances are Black's."""
    black, white = player_names(result.game)
    return {
        "title": title(result),
        "about": _("{file}, {count} moves").format(file=result.game.path.name, count=len(result.judged)),
        "players": {"black": black, "white": white},
        "headers": headers(result.game),
        "engine": _("{engine}, {limit} a position").format(engine=f"{NAME} {__version__}", limit=limits),
        "nodes": PageNodes(result).line(),
        "phases": phases(result),
        "end": end_text(result.game),
        "summary": {side: totals_data(result, black) for side, black in SIDES},
        "puzzles": [puzzle_data(puzzle) for puzzle in puzzles],
        "kif": kif.write(result.game.record),
    }


def title(result: AnalysedGame) -> str:
    """Return both players."""
    return "☗ {} - ☖ {}".format(*player_names(result.game))


def phases(result: AnalysedGame) -> list[Data]:
    """Return the plies of the first capture and the first check."""
    board, found = load_core().board(result.game.start), dict[str, int]()
    for ply, move in enumerate(result.game.moves, 1):
        if board.piece_at(move[2:4]):
            found.setdefault(_("First capture"), ply)
        board.push(move)
        if board.is_check():
            found.setdefault(_("First check"), ply)
    return [{"ply": ply, "name": name} for name, ply in found.items()]


def totals_data(result: AnalysedGame, black: bool) -> Data:
    """Return a side's totals."""
    own = result.totals(black)
    counts = {grade.name: own.grades[grade.name] for grade in GRADES}
    return {"accuracy": own.accuracy, "moves": own.moves, "best": own.best, "loss": own.mean_loss, **counts}


# ---- the index of several games ----


def entry_of(result: AnalysedGame, file: str) -> Data:
    """Return the index's entry for a game whose page has this file name."""
    header = result.game.record.header
    return {
        "href": quote(file),
        "title": title(result) if any(result.game.players) else result.game.stem,
        "date": header.get("開始日時", ""),
        "event": header.get("棋戦", ""),
        "moves": len(result.judged),
        "end": end_text(result.game),
        **{side: totals_data(result, black) for side, black in SIDES},
    }


def index_text(entries: Sequence[Data]) -> str:
    """Return the page that lists the games."""
    return filled("index.html", {"title": _("Analysed games"), "games": entries})


# ---- templates ----


def filled(name: str, data: Data) -> str:
    """Return a template with its styles, its scripts and the data in it."""
    page = STYLE.sub(lambda found: f"<style>\n{read(found[1])}</style>", read(name))
    return with_data(SCRIPT.sub(lambda found: f"<script>\n{read(found[1])}</script>", page), data)


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
