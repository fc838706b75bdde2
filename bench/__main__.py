"""`python -m bench`: list every bench with the first line of its docstring."""

import ast
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ENTRY = 'if __name__ == "__main__":'  # helper modules do not have it


def benches() -> Iterator[tuple[str, str]]:
    """Yield the module name and first docstring line of each bench, without importing it."""
    for kind in ("speed", "strength"):
        for path in sorted((FOLDER / kind).glob("*.py")):
            source = path.read_text(encoding="utf-8")
            if ENTRY in source:
                yield f"bench.{kind}.{path.stem}", (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


if __name__ == "__main__":
    for name, text in benches():
        print(f"{name:<30} {text}")
    print("\nRun one by `python -m NAME`; `--help` lists its options. See also docs/matches.md.")
