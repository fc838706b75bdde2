"""What each rule of the search is worth: docs/figures/rules.json and rules.svg from the records of duels without it.

    python -m bench.rules_chart build/rules/*      # folders of duels, named for the rule that side A left out
    python -m bench.rules_chart                    # draws docs/figures/rules.json again
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.strength.elo import with_error
from bench.svg import document, line, text

DOCS = Path(__file__).resolve().parents[1] / "docs" / "figures"
WIDTH, ROW, LEFT, RIGHT, TOP, BOTTOM = 640, 24, 180, 140, 44, 40
STEP = 25  # Elo between two lines of the grid

Row = dict[str, Any]


def worth(folder: Path) -> Row:
    """The rule's worth in Elo: how much the side that kept it was better, with half the 95 % interval."""
    pairs = [json.loads(words)["points"] for words in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    points = [1 - point for pair in pairs for point in pair]
    figures = with_error([1 - sum(pair) / 2 for pair in pairs])
    counts = {name: points.count(value) for name, value in (("won", 1.0), ("drawn", 0.5), ("lost", 0.0))}
    return {"rule": folder.name, **counts, "elo": round(figures["elo"]), "error": round(figures["elo_error"])}


def draw(rows: list[Row]) -> str:
    """Bars with whiskers, the dearest rule first."""
    rows = sorted(rows, key=lambda row: -row["elo"])
    least = min(0, *(row["elo"] - row["error"] for row in rows))
    most = max(0, *(row["elo"] + row["error"] for row in rows))
    height = TOP + ROW * len(rows) + BOTTOM

    def place(elo: float) -> float:
        return LEFT + (elo - least) / (most - least) * (WIDTH - LEFT - RIGHT)

    parts = [text(WIDTH / 2, 22, "Elo lost without the rule, with 95 % intervals")]
    for elo in range(-(-int(least) // STEP) * STEP, int(most) + 1, STEP):
        parts.append(line(place(elo), TOP, place(elo), height - BOTTOM, color="#999" if elo == 0 else "#ddd"))
        parts.append(text(place(elo), height - BOTTOM + 18, str(elo)))
    for number, row in enumerate(rows):
        parts += bar(row, TOP + ROW * (number + 0.5), place)
    return document(WIDTH, height, parts)


def bar(row: Row, y: float, place: Callable[[float], float]) -> list[str]:
    """One rule's name, bar, whisker and games."""
    elo, error = row["elo"], row["error"]
    games = row["won"] + row["drawn"] + row["lost"]
    return [
        text(LEFT - 10, y + 4, row["rule"], "end"),
        line(place(0), y, place(elo), y, color="#1f77b4" if elo >= 0 else "#d62728", width=12),
        line(place(elo - error), y, place(elo + error), y, color="#333", width=1.5),
        text(WIDTH - RIGHT + 10, y + 4, f"{elo:+d} of {games} games", "start"),
    ]


def main() -> None:
    """Collect where folders are named; draw."""
    file = DOCS / "rules.json"
    if len(sys.argv) > 1:
        rows = [worth(Path(folder)) for folder in sys.argv[1:]]
        file.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (DOCS / "rules.svg").write_text(draw(json.loads(file.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
