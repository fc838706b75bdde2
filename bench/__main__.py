"""`python -m bench`: lists every bench with the first line of its description."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ENTRY = 'if __name__ == "__main__":'  # modules without it are parts of others


def benches() -> Iterator[tuple[str, str]]:
    """Module name and first line of the docstring of each bench; none is imported."""
    for kind in ("speed", "strength"):
        for path in sorted((FOLDER / kind).glob("*.py")):
            source = path.read_text(encoding="utf-8")
            if ENTRY in source:
                yield f"bench.{kind}.{path.stem}", (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


if __name__ == "__main__":
    for name, text in benches():
        print(f"{name:<30} {text}")
    print("\nRun one by `python -m NAME`; `--help` lists its options. See also docs/matches.md.")
