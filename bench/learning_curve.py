"""How well models agree with the search by the number of positions: docs/figures/learning.json and learning-curve.svg.

    python -m bench.learning_curve --corpus corpus   # a training for each point that learning.json does not hold yet
    python -m bench.learning_curve                   # draws what was measured
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from pathlib import Path

from bench.svg import document, line, text
from usi_engine.learn.train import MODELS, Plan, Training

DOCS = Path(__file__).resolve().parents[1] / "docs" / "figures"
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 400, 70, 60, 40, 150
LETTERS = 14  # from one line of text to the next
COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b")

FIGURES = "learning.json"
COUNTS = (262540, 1000000, 0)  # positions; 0: all of the corpus

Points = list[tuple[float, float]]


def draw(title: str, series: dict[str, Points]) -> str:
    """Curves over the number of positions, on a logarithmic axis."""
    points = [point for curve in series.values() for point in curve]
    low, high = (math.log10(f(x for x, _ in points)) for f in (min, max))
    least, most = min(y for _, y in points) - 0.005, max(y for _, y in points) + 0.005

    def place(point: tuple[float, float]) -> tuple[float, float]:
        x = LEFT + (math.log10(point[0]) - low) / (high - low) * (WIDTH - LEFT - RIGHT)
        return x, HEIGHT - BOTTOM - (point[1] - least) / (most - least) * (HEIGHT - BOTTOM - TOP)

    parts = [
        text(WIDTH / 2, 22, title),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, "training positions (million)"),
    ]
    for x in sorted({x for x, _ in points}):
        parts.append(text(place((x, least))[0], HEIGHT - BOTTOM + 18, f"{x / 1e6:.2f}"))
    for step in range(math.ceil(least * 100), math.floor(most * 100) + 1, 2):
        y = place((points[0][0], step / 100))[1]
        parts.append(line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(text(LEFT - 8, y + 4, f"{step / 100:.2f}", "end"))
    for curve, color in zip(series.values(), COLORS, strict=False):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, curve))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>' for x, y in map(place, curve)]
    return document(WIDTH, HEIGHT, parts + names({name: place(curve[-1]) for name, curve in series.items()}))


def names(ends: dict[str, tuple[float, float]]) -> list[str]:
    """Each curve's name behind its last point, none upon another."""
    colors = dict(zip(ends, COLORS, strict=False))
    written, below = [], 0.0
    for name, (x, y) in sorted(ends.items(), key=lambda end: end[1][1]):
        below = max(y, below + LETTERS)
        written.append(text(x + 8, below + 4, name, "start", colors[name]))
    return written


def measure(corpus: Path, epochs: int, threads: int) -> None:
    """Train every model on every number of positions; each point is written as soon as it is known."""
    path = DOCS / FIGURES
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in MODELS:
        for count in COUNTS:
            plan = Plan(model=name, epochs=epochs, threads=threads, positions=count)
            with tempfile.TemporaryDirectory() as folder:
                training = Training(corpus, Path(folder), plan)
                size = str(len(training.records))
                if size in known.get(name, {}):
                    continue
                training.run()
                point = training.state.curve[-1]
            known.setdefault(name, {})[size] = [round(point["divergence"], 4), round(point["correlation"], 4)]
            path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            print(f"{name}, {size} positions: divergence and correlation {known[name][size]}", flush=True)


def main() -> None:
    """Measure if told to, then draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="train on this corpus; without it the last figures are drawn")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--threads", type=int, choices=[1, 2], default=2)
    chosen = parser.parse_args()
    if chosen.corpus:
        measure(chosen.corpus, chosen.epochs, chosen.threads)
    figures = json.loads((DOCS / FIGURES).read_text(encoding="utf-8"))
    series = {name: [(float(size), pair[1]) for size, pair in points.items()] for name, points in figures.items()}
    drawn = draw("Correlation with the search on held-out games", series)
    (DOCS / "learning-curve.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
