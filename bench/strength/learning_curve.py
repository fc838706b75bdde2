"""How well models agree with the search by the number of training positions: docs/figures/learning.json.

    python -m bench.strength.learning_curve corpus

One training for each point that is not in the file yet. docs/figures/learning_curve.py draws the chart.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from bench import FIGURES
from usi_engine.learn.kpp.train import MODELS, Plan, Training

FILE = FIGURES / "learning.json"
COUNTS = (262540, 1000000, 0)  # positions; 0: all of the corpus


def measure(corpus: Path, epochs: int, threads: int) -> None:
    """Train every model on every number of positions; each point is written as soon as it is measured."""
    known = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for name in MODELS:
        for count in COUNTS:
            plan = Plan(model=name, epochs=epochs, threads=threads, positions=count)
            with tempfile.TemporaryDirectory() as folder:
                training = Training(corpus, Path(folder), plan)
                size = str(training.file.count)
                if size in known.get(name, {}):
                    continue
                training.run()
                point = training.state.curve[-1]
            known.setdefault(name, {})[size] = [round(point["divergence"], 4), round(point["correlation"], 4)]
            FILE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            print(f"{name}, {size} positions: divergence and correlation {known[name][size]}", flush=True)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="folder written by `usi_engine learn corpus`")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--threads", type=int, choices=[1, 2], default=2)
    chosen = parser.parse_args()
    measure(chosen.corpus, chosen.epochs, chosen.threads)


if __name__ == "__main__":
    main()
