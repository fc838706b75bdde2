"""What each rule of the search is worth: draws rules.svg from rules.json, which bench.strength.rule_values writes."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from style import BLUE, RED, new_chart, read, save

Row = dict[str, Any]


def label(row: Row) -> str:
    """One rule's result: `+24 (200 games)`."""
    return f"{row['elo']:+d} ({row['won'] + row['drawn'] + row['lost']} games)"


def draw(rows: list[Row]) -> Figure:
    """Bars with 95 % intervals, the most valuable rule at the top."""
    rows = sorted(rows, key=lambda row: float(row["elo"]))
    figure, axes = new_chart(8, 1.2 + 0.28 * len(rows), "Elo lost without the rule, with 95 % intervals")
    values = [row["elo"] for row in rows]
    errors = [[row["elo"] - row["low"] for row in rows], [row["high"] - row["elo"] for row in rows]]
    colors = [BLUE if value >= 0 else RED for value in values]
    axes.barh([row["rule"] for row in rows], values, xerr=errors, color=colors, height=0.55, ecolor="#333333")
    axes.axvline(0, color="#333333", linewidth=0.8)
    axes.grid(axis="x")
    axes.set_ylim(-0.6, len(rows) - 0.4)
    for place, row in enumerate(rows):
        axes.text(1.02, place, label(row), transform=axes.get_yaxis_transform(), va="center")
    return figure


if __name__ == "__main__":
    save(draw(read("rules.json")), "rules.svg")
