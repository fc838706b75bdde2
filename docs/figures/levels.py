"""Draw levels.svg, the Elo of the levels of SkillLevel, from levels.json, which bench.strength.levels writes."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from style import BLUE, RED, new_chart, read, save

Row = dict[str, Any]


def name(row: Row) -> str:
    """Return the name of a level, or of the capture player below the levels."""
    return "captures" if row["level"] < 0 else str(row["level"])


def draw(rows: list[Row]) -> Figure:
    """Draw a point for each player, the weakest first, with its Elo and its score against the player before it."""
    figure, axes = new_chart(8, 5, "Elo of the levels; score against the player before, in percent")
    values = [row["elo"] for row in rows]
    places = range(len(rows))
    axes.plot(places, values, color=BLUE, marker="o", markersize=6)
    axes.plot(places[:1], values[:1], color=RED, marker="o", markersize=6)
    for place, row in zip(places, rows, strict=True):
        score = "" if row["score"] is None else f"\n{row['score']} %"
        axes.annotate(f"{row['elo']:+d}{score}", (place, row["elo"]), (7, -5), textcoords="offset points", va="top")
    axes.set_xticks(places, [name(row) for row in rows])
    axes.set_xlim(-0.5, len(rows) - 0.2)
    axes.margins(y=0.12)
    axes.set_xlabel("SkillLevel (20: full strength at 100,000 nodes a move)")
    axes.grid(axis="y")
    return figure


if __name__ == "__main__":
    save(draw(read("levels.json")), "levels.svg")
