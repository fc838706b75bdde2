"""Style of the charts. The same version of matplotlib saves a chart with the same bytes at every run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parent
BLUE, RED = "#1f77b4", "#d62728"
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "komadori",
    "svg.fonttype": "none",  # text stays text: small files, searchable
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
}


def read(name: str) -> Any:
    """Read the data of a chart."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def new_chart(width: float, height: float, title: str) -> tuple[Figure, Axes]:
    """Return an empty chart; sizes are in inches."""
    mpl.rcParams.update(SETTINGS)
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    return figure, axes


def save(figure: Figure, name: str) -> None:
    """Write the chart to docs/figures, without a date."""
    figure.savefig(FOLDER / name, metadata={"Date": None, "Creator": None})
