"""Benches: speed in bench.speed, playing strength in bench.strength. `python -m bench` lists them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
MATE_PROBLEMS = DATA / "mate_problems.tsv"
