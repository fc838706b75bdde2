"""Random records in every format, read by other programs' libraries and by ours: `make test-records`.

tsshogi (T) and json-kifu-format (J) are npm packages, python-shogi (P) and cshogi (C) come from PyPI. T also writes
what it has read, for us to read. The shortest text of each kind of difference is printed. KNOWN has what the libraries
cannot read; it is left out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cshogi
import shogi
from cshogi import CSA as cshogi_csa
from cshogi import KI2 as cshogi_ki2
from cshogi import KIF as cshogi_kif
from shogi import CSA as shogi_csa
from shogi import KIF as shogi_kif

from core_ext.board import Board
from usi_engine.records.ends import End
from usi_engine.records.formats import FORMATS, text_of
from usi_engine.records.position import HANDICAP_NAMES, HANDICAPS, RARE
from usi_engine.records.tree import Node, Record, unmarked_text

Read = dict[str, Any]
COMMENTS = ("words", "  two spaces", "two\nlines", "** 30 +7776FU -3334FU", "** -5")
ENDS = ("TORYO", "CHUDAN", "SENNICHITE", "JISHOGI", "TIME_UP", "ILLEGAL_MOVE", "TSUMI", "KACHI")
WITH_TREE = ("kif", "ki2", "jkf")
SETS = {"P": 18, "L": 4, "N": 4, "S": 4, "G": 4, "B": 2, "R": 2}
FURTHEST = {"P": 1, "L": 1, "N": 2}  # ranks at the end of the board from which the piece could not move


# ---- random records ----


def random_line(rng: random.Random, node: Node, board: Board, plies: int) -> None:
    """Add random moves, with times, comments and an end."""
    made = 0
    while made < plies and (legal := board.legal_moves(include_all=True)):
        node = node.add(rng.choice(legal), 1000 * rng.randrange(4000))
        node.comment = rng.choice(COMMENTS) if rng.random() < 0.1 else None
        board.push(node.move)
        made += 1
    node.end = End(rng.choice(ENDS), milliseconds=1000 * rng.randrange(100)) if node.parent else None
    for _ in range(made):
        board.pop()


def random_game(rng: random.Random) -> Record:
    """Return a game from the usual start or a handicap."""
    record = Record(HANDICAPS[rng.choice([*HANDICAPS, *["平手"] * 30])], header={"先手": "a", "後手": "b"})
    random_line(rng, record.root, Board(record.start), rng.randrange(250))
    return record


def with_variations(rng: random.Random, record: Record) -> Record:
    """Add a few variations to random positions."""
    for _ in range(rng.randrange(1, 6)):
        node = rng.choice(list(record.root.nodes()))
        if not node.variations and not node.end:
            continue
        board = Board.from_moves(node.moves(), record.start)
        random_line(rng, node, board, rng.randrange(1, 12))
        made = [child.move for child in node.variations]
        if made[-1] in made[:-1]:
            node.variations.pop()
    return record


def random_start(rng: random.Random) -> Record:
    """Return a few moves from a random position; each piece is on the board or in a hand, or left out."""
    while True:
        try:
            board = Board(random_sfen(rng))
        except ValueError:
            continue
        record = Record(board.sfen())
        random_line(rng, record.root, board, rng.randrange(8))
        return record


def random_sfen(rng: random.Random) -> str:
    """Return a position without two pawns of a side on a file and without pieces that could never move."""
    squares = rng.sample(range(81), 81)
    board, hands = {squares.pop(): "K", squares.pop(): "k"}, Counter[str]()
    on_board, left_out = rng.random(), rng.choice([0.0, 0.0, 0.5])
    for letter in (letter for letter, count in SETS.items() for _ in range(count)):
        own = rng.choice([letter, letter.lower()])
        if rng.random() < left_out:
            continue
        if rng.random() >= on_board or not place(rng, board, squares, own):
            hands[own] += 1
    ranks = ("".join(board.get(rank * 9 + file, "1") for file in range(9)) for rank in range(9))
    held = "".join(f"{hands[letter]}{letter}" for letter in "RBGSNLPrbgsnlp" if hands[letter])
    return f"{'/'.join(ranks)} {rng.choice('bw')} {held or '-'} 1"


def place(rng: random.Random, board: dict[int, str], squares: list[int], letter: str) -> bool:
    """Put a piece on the last of the squares; return False if it may not stand there."""
    rank, file = divmod(squares[-1], 9)
    if letter not in "Gg" and rng.random() < 0.3:
        board[squares.pop()] = "+" + letter
        return True
    ahead = rank if letter.isupper() else 8 - rank
    pawns = letter in "Pp" and letter in [board.get(other * 9 + file) for other in range(9)]
    if ahead < FURTHEST.get(letter.upper(), 0) or pawns:
        return False
    board[squares.pop()] = letter
    return True


# ---- what was read ----


def position(sfen: str) -> list[str]:
    """Return board, side to move and hands in one form."""
    return Board(sfen).sfen().split()[:3]


def expected(record: Record, kind: str) -> Read:
    """Return what a reader of this format should find."""
    plies = {record.root: 0}
    for node in record.root.nodes():
        plies |= dict.fromkeys(node.variations, plies[node] + 1)
    nodes = [[plies[node], node.move] for node in list(record.root.nodes())[1:]]
    main = [record.root, *record.main_line]
    details = [[(node.milliseconds or 0) // 1000, node.comment or ""] for node in main]
    end = record.end and [record.end.name, (record.end.milliseconds or 0) // 1000]
    if kind not in WITH_TREE:
        nodes = [[ply, node.move] for ply, node in enumerate(record.main_line, 1)]
    if kind == "ki2":
        details, end = [[0, comment] for _, comment in details], end and [end[0], 0]
    if kind == "usi":
        details, end = [[0, ""] for _ in details], None
    return {"start": position(record.start), "nodes": nodes, "details": details, "end": end}


def of_other(found: Read, library: str, kind: str) -> Read:
    """Return what T or J found in our terms: floodgate's comments have two stars, J keeps all stars of CSA."""
    if "error" in found:
        return found
    found = dict(found, start=position(found["start"]))
    found.pop("written", None)
    for detail in found["details"]:
        lines = detail[1].split("\n")
        if library == "J" and kind == "csa":
            lines = [line[1:] if line.startswith("*") else line for line in lines]
        detail[1] = "\n".join(unmarked_text(line) for line in lines)
    return found


def by_shogi(kind: str, text: str) -> Read:
    """Read a record with python-shogi, which has no variations, times and comments."""
    (found,) = (shogi_kif if kind == "kif" else shogi_csa).Parser.parse_str(text)
    board = shogi.Board(found["sfen"])
    for move in found["moves"]:
        board.push(shogi.Move.from_usi(move))
    return {"start": position(found["sfen"]), "nodes": [[ply, move] for ply, move in enumerate(found["moves"], 1)]}


def by_cshogi(kind: str, text: str) -> Read:
    """Read a record with cshogi, which has no variations; times and comments are not compared."""
    if kind == "ki2":  # cshogi 1.1.0 fails at the third move of a line
        text = re.sub(" +(?=[▲△])", "\n", text)
    module = {"kif": cshogi_kif, "ki2": cshogi_ki2, "csa": cshogi_csa}[kind]
    found = module.Parser.parse_str(text)
    found = found[0] if isinstance(found, list) else found
    moves = [cshogi.move_to_usi(move) for move in found.moves]
    return {"start": position(found.sfen), "nodes": [[ply, move] for ply, move in enumerate(moves, 1)]}


def by_us(kind: str, text: str) -> Read:
    """Read a record with our own reader."""
    return expected(FORMATS[kind].read(text), kind)


def attempt(read: Callable[[str, str], Read], kind: str, text: str) -> Read:
    """Return what a reader found, or its error."""
    try:
        return read(kind, text)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}


# ---- comparison ----


def is_rare(record: Record) -> bool:
    """Return True for a handicap that some readers do not know."""
    return HANDICAP_NAMES.get(record.start) in RARE


def has_diagram(record: Record) -> bool:
    """Return True if KIF and KI2 have a diagram of the start."""
    return record.start not in HANDICAP_NAMES or is_rare(record)


def declines(record: Record) -> bool:
    """Return True if a pawn, lance, bishop or rook does not promote."""
    return re.search("[歩香角飛][左右直上寄引]*不成", FORMATS["ki2"].write(record)) is not None


# Records that the libraries cannot read: reader, formats, the records, the reason with the smallest input.
KNOWN: list[tuple[str, str, Callable[[Record], bool], str]] = [
    ("J", "kif ki2", lambda record: any(node.end and node.end.name == "KACHI" for node in record.root.nodes()),
     "json-kifu-format 5.5.0 does not know `入玉勝ち`"),
    ("P", "kif", lambda record: has_diagram(record) and len(record.main_line) % 2 == 1,
     "python-shogi 1.1.1 takes the side after the last move for the side at the start of a diagram"),
    ("P", "csa", lambda record: any(letter.isdigit() for letter in record.start.split()[2]),
     "python-shogi 1.1.1 loses a hand with two pieces of a kind: `P-00FU00FU`"),
    ("T", "jkf", is_rare, "tsshogi 2.2.0 refuses the presets 3, 5, 5_L, 7_L and 7_R"),
    ("P C", "kif ki2", lambda record: HANDICAP_NAMES.get(record.start, "")[1:] == "七枚落ち",
     "neither python-shogi 1.1.1 nor cshogi 1.1.0 knows 左七枚落ち and 右七枚落ち"),
    ("C", "kif ki2", lambda record: record.start not in HANDICAP_NAMES, "cshogi 1.1.0 reads no diagrams"),
    ("C", "ki2", declines, "cshogi 1.1.0 does not find `歩不成`"),
    ("P C", "kif ki2 csa", lambda record: record.count_variations() > 0, "python-shogi and cshogi have no variations"),
]  # fmt: skip


def is_known(library: str, kind: str, record: Record) -> bool:
    """Return True if a library cannot read a record for a reason in KNOWN."""
    return any(library in one.split() and kind in kinds.split() and of(record) for one, kinds, of, _ in KNOWN)


def differences(wanted: Read, found: Read) -> list[str]:
    """Return the names of the parts that a reader found differently; the comparison has those that it returns."""
    if "error" in found:
        return ["error"]
    return [part for part in found if found[part] != wanted[part]]


class Cross:
    """Counts what each reader reads and finds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read, self.wrong = Counter[str](), Counter[str]()
        self.shortest: dict[str, tuple[str, Any, Any]] = {}  # text, what was read, what was written

    def check(self, name: str, wanted: Read, found: Read, text: str) -> None:
        """Compare one reading; keep the shortest text of each kind of difference."""
        self.read[name] += 1
        for part in differences(wanted, found):
            key = f"{name}: {part}"
            self.wrong[key] += 1
            if key not in self.shortest or len(text) < len(self.shortest[key][0]):
                self.shortest[key] = text, found.get(part), wanted.get(part)

    def run(self, records: list[Record]) -> None:
        """Write every record in every format and read it with every library."""
        cases = [(record, kind, text_of(record, kind)) for record in records for kind in FORMATS]
        for (record, kind, text), others in zip(cases, self.by_node(cases), strict=True):
            wanted = expected(record, kind)
            self.check(f"we {kind}", wanted, attempt(by_us, kind, text), text)
            for library, found in others.items():
                if is_known(library, kind, record):
                    continue
                self.check(f"{library} {kind}", wanted, of_other(found, library, kind), text)
            for other, written in others["T"].get("written", {}).items():
                if kind == "kif":
                    self.check(f"we {other} of T", expected(record, other), attempt(by_us, other, written), written)
            for library, read, kinds in (("P", by_shogi, "kif csa"), ("C", by_cshogi, "kif ki2 csa")):
                if kind in kinds.split() and not is_known(library, kind, record):
                    self.check(f"{library} {kind}", wanted, attempt(read, kind, text), text)

    def by_node(self, cases: list[tuple[Record, str, str]]) -> Iterator[Read]:
        """Yield what the libraries of node found in each case."""
        lines = "".join(json.dumps({"kind": kind, "text": text}) + "\n" for _, kind, text in cases)
        command = ["node", str(Path(__file__).with_suffix(".mjs")), str(self.folder)]
        done = subprocess.run(command, input=lines, text=True, stdout=subprocess.PIPE, check=True)
        yield from map(json.loads, done.stdout.splitlines())


def main() -> int:
    """Return 0 if no difference was found, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="has node_modules with tsshogi and json-kifu-format")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, cross = random.Random(args.seed), Cross(args.folder.resolve())
    cross.run([random_game(rng) for _ in range(args.games)])
    cross.run([random_start(rng) for _ in range(args.starts)])
    cross.run([with_variations(rng, random_game(rng)) for _ in range(args.games // 5)])
    for name, (text, found, wanted) in cross.shortest.items():
        print(f"--- {name}: {found!r} instead of {wanted!r}\n{text}")
    for name, count in sorted(cross.read.items()):
        wrong = [f"{n} {key.partition(': ')[2]}" for key, n in cross.wrong.items() if key.startswith(f"{name}: ")]
        print(f"{name:14}{count:7} read, different: {', '.join(wrong) or '0'}")
    return 1 if cross.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
