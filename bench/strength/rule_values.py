"""What each rule of the search is worth: docs/figures/rules.json from the records of duels without the rule.

    python -m bench.strength.rule_values build/rules/*

The folders are what duels kept, each named for the rule that side A left out. docs/figures/rules.py draws the chart.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bench import FIGURES
from bench.strength.elo import estimate

# Where a rule won or lost every game; a chart cannot show more.
FURTHEST = 1200
Row = dict[str, Any]


def worth(folder: Path) -> Row:
    """The rule's worth in Elo: how much the side that kept it was better, with the ends of the 95 % interval."""
    pairs = [json.loads(words)["points"] for words in (folder / "pairs.jsonl").read_text(encoding="utf-8").splitlines()]
    points = [1 - point for pair in pairs for point in pair]
    bounds = estimate([1 - sum(pair) / 2 for pair in pairs]).elo()
    found, low, high = (round(max(min(value, FURTHEST), -FURTHEST)) for value in bounds)
    counts = {name: points.count(value) for name, value in (("won", 1.0), ("drawn", 0.5), ("lost", 0.0))}
    return {"rule": folder.name, **counts, "elo": found, "low": low, "high": high}


def main() -> None:
    """Collect the records."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="what bench.strength.duel kept")
    rows = [worth(folder) for folder in parser.parse_args().folders]
    (FIGURES / "rules.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
