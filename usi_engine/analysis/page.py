"""An analysed game as one HTML page that needs no network: board, graph, moves, best lines.

The page is `usi_engine/data/analysis.html` with the game as JSON in it; its script draws the board from sfen as SVG.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from usi_engine import NAME
from usi_engine.analysis.judgement import GRADES, totals
from usi_engine.analysis.report import AnalysedGame, value_text
from usi_engine.records.notation import NamedMove
from usi_engine.results import winning_chance

TEMPLATE = Path(__file__).resolve().parents[1] / "data" / "analysis.html"
MOVES_SHOWN = 12  # of a best line


def page_text(result: AnalysedGame, limits: str) -> str:
    """Return the whole page; `limits` is the limit for each position in words."""
    # `<` within strings: no name of a player can end the script that holds the JSON.
    data = json.dumps(page_data(result, limits), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace("@DATA@", data)


def page_data(result: AnalysedGame, limits: str) -> dict[str, Any]:
    """Return the data for the page's script; values and chances are Black's."""
    black, white = result.game.players
    return {
        "title": f"☗ {black or 'Black'} - ☖ {white or 'White'}",
        "about": f"{result.game.path.name}, {len(result.judged)} moves; {NAME}, {limits} a position",
        "positions": [position_data(result, ply) for ply in range(len(result.evaluated))],
        "totals": totals_rows(result),
    }


def position_data(result: AnalysedGame, ply: int) -> dict[str, Any]:
    """Return the position after `ply` moves and the move before it."""
    judged = result.judged[ply - 1] if ply else None
    name = result.names[ply - 1] if ply else NamedMove("", "", result.game.start)
    return {
        "sfen": name.sfen,
        "usi": name.usi,
        "move": name.text,
        "value": value_text(result, ply),
        "chance": round(winning_chance(result.black_value(ply)), 4),
        "depth": result.evaluated[ply].depth,
        "loss": round(judged.loss, 1) if judged else 0,
        "grade": judged.grade.name if judged and judged.grade else "",
        "best": bool(judged and judged.best),
        "line": [{"text": m.text, "usi": m.usi, "sfen": m.sfen} for m in result.best_line(ply)[:MOVES_SHOWN]],
    }


def totals_rows(result: AnalysedGame) -> list[list[str]]:
    """Return a heading and a row for each side."""
    grades = [grade.name for grade in reversed(GRADES)]
    rows = [["", "moves", "best", "mean loss", *grades]]
    for side, black in (("☗", True), ("☖", False)):
        own = totals(result.judged, black)
        counts = [str(own.grades[name]) for name in grades]
        rows.append([side, str(own.moves), str(own.best), f"{own.mean_loss:.1f}", *counts])
    return rows
