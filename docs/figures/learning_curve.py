"""Correlation with the search by training positions: draws learning-curve.svg from learning.json.

bench.strength.learning_curve writes the figures.
"""

from __future__ import annotations

from matplotlib.figure import Figure
from style import new_chart, read, save

Measured = dict[str, dict[str, tuple[float, float]]]  # model -> positions -> divergence and correlation


def draw(measured: Measured) -> Figure:
    """One curve a model over the number of positions, on a logarithmic axis."""
    figure, axes = new_chart(8, 5, "Correlation with the search on held-out games")
    sizes = sorted({int(size) for points in measured.values() for size in points})
    for model, points in measured.items():
        curve = sorted((int(size), pair[1]) for size, pair in points.items())
        axes.semilogx(*zip(*curve, strict=True), marker="o", markersize=5, label=model)
    axes.legend(title="model", loc="center left", bbox_to_anchor=(1, 0.5), reverse=True, frameon=False)
    axes.set_xticks(sizes, [f"{size / 1e6:.2f}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("training positions (million)")
    axes.grid(axis="y")
    return figure


if __name__ == "__main__":
    save(draw(read("learning.json")), "learning-curve.svg")
