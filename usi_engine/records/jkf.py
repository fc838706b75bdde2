"""JKF, records as JSON, with their variations: https://github.com/na2hiro/json-kifu-format (schema in specification/).

Entry n of `moves` is move n, entry 0 holds the comment at the start. `forks` of an entry are other lines from the
position before its move.
"""

import json
from typing import Any

from core_ext.board import Board
from core_ext.shogi.ki2 import origins_of, promotion, words_for
from core_ext.shogi.notation import CSA_LETTERS, RANKS
from usi_engine.language import _
from usi_engine.records.ends import CSA_NAMES, INTERRUPTED, End, end_of_result, jkf_name
from usi_engine.records.faults import Fault, FaultyText, RecordError, one_line
from usi_engine.records.kif import LINE_END
from usi_engine.records.position import NAMES, PRESETS, Setup, unknown_handicap
from usi_engine.records.tree import Builder, Node, Record, Step, unmarked_text
from usi_engine.usi.output import QUOTED, excerpt

# JKF's signs for the words that tell pieces of one kind apart.
RELATIVE = str.maketrans("左直右上寄引打", "LCRUMDH")
LINES = range(1, 10)  # the numbers of files and of ranks


# ---- reading ----


def read(text: str) -> Record:
    """Read JKF. FaultyText."""
    data = parse(text)
    if not isinstance(data, dict) or not isinstance(data.get("moves"), list):
        raise FaultyText(Fault("`moves` is missing or not a list"))
    reader, entries = Reader(), data["moves"]
    try:
        reader.set_up(start_of(data.get("initial")))
        items = [(one_line(key), value) for key, value in (data.get("header") or {}).items() if value is not None]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        text = str(error) if isinstance(error, ValueError) else _("the start position or the header cannot be read")
        raise FaultyText(Fault(text)) from None
    reader.record.header = {key: one_line(str(value)) for key, value in items if key}
    # The first entry is that of the start, except in the output of some programs.
    if entries and isinstance(entries[0], dict) and not (entries[0].get("move") or entries[0].get("special")):
        reader.add_details(entries[0])
        entries = entries[1:]
    reader.add_lines(entries)
    return reader.record


def parse(text: str) -> Any:
    """Parse JSON. FaultyText."""
    try:
        data = json.loads(text)
        if r"\u" in text:  # a file cannot hold half of a surrogate pair
            json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as broken:
        near = text[max(broken.pos - QUOTED // 2, 0) : broken.pos + QUOTED // 2]
        raise FaultyText(Fault(_("not JSON"), broken.lineno, quoted=excerpt(near))) from None
    except RecursionError:
        raise FaultyText(Fault("not JSON of a record: nested too deeply")) from None
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start]).strip("'")
        raise FaultyText(Fault("not JSON of a record: half of a surrogate pair", quoted=half)) from None
    except ValueError:
        raise FaultyText(Fault("not JSON of a record: a number is too large")) from None
    return data


def start_of(initial: Any) -> str:
    """Return the start as sfen. ValueError, or another error of the data's form."""
    preset = initial["preset"] if initial else "HIRATE"
    if preset != "OTHER":
        if preset not in PRESETS:
            raise unknown_handicap(str(preset), (*PRESETS, "OTHER"))
        return PRESETS[preset]
    setup, data = Setup(), initial["data"]
    columns = data["board"]
    if len(columns) != 9 or any(len(column) != 9 for column in columns):
        raise ValueError(_("the board is not 9x9"))
    for x, column in enumerate(columns, 1):
        for y, square in enumerate(column, 1):
            if square and square.get("kind"):
                setup.place(f"{x}{y}", square["kind"], white=is_white(square["color"]))
    for white, hand in enumerate(data.get("hands") or ()):
        for name, count in (hand or {}).items():
            if (count or 0) not in range(1 if name == "OU" else 19):
                text = f"{name}: {excerpt(str(count))}"
                raise ValueError(_("not a number of pieces: '{text}'").format(text=text))
            setup.hands[white][CSA_LETTERS[name][-1]] += count or 0
    setup.turn = int(is_white(data["color"]))
    return setup.sfen()


def is_white(color: Any) -> bool:
    """Return True for 1, False for 0. ValueError."""
    if color not in (0, 1):
        raise ValueError(_("not a color: '{text}'").format(text=excerpt(str(color))))
    return bool(color)


class Reader(Builder):
    """Builds the tree of moves."""

    def add_lines(self, entries: list[Any]) -> None:
        """Add the main line and all its forks. FaultyText."""
        lines = [(entries, -1)]  # with the number of moves before the fork
        while lines:
            entries, plies = lines.pop()
            if plies >= 0:
                self.go_back(plies)
            for place, entry in enumerate(entries):
                forks = (entry.get("forks") or []) if isinstance(entry, dict) else None
                if not isinstance(forks, list) or not all(isinstance(fork, list) for fork in forks):
                    raise self.fault("cannot be read", entry)
                lines += [(fork, len(self.path) - 1) for fork in reversed(forks)]
                self.add_entry(entry, branches=self.in_variation and place == 0)

    def add_entry(self, entry: dict[str, Any], *, branches: bool) -> None:
        """Add a move, an end or a comment. FaultyText. `branches`: the entry is the first one of a fork."""
        move, special = entry.get("move"), entry.get("special")
        if branches and not move:
            self.stop(self.fault("a variation without a move", special).fault)
            return
        if (move or special) and self.path[-1].end and not branches:
            raise self.fault("a move after the end", move or special)
        if move and (self.skips() or not self.add_move(move)):
            return
        if move:
            self.add_details(entry)
        if special:
            name, word = str(special), excerpt(str(special))
            self.set_end(End(name) if name in CSA_NAMES else end_of_result(word, self.board.turn))
        if not move:
            self.add_details(entry)

    def add_move(self, move: dict[str, Any]) -> bool:
        """Make a move; return False if it is illegal. FaultyText."""
        try:
            return self.make(usi_of(move, self.board), self.fault("illegal move", move).fault)
        except (AttributeError, KeyError, IndexError, TypeError):
            raise self.fault("cannot be read", move) from None
        except ValueError as error:
            self.stop(self.fault(str(error), move).fault)
            return False

    def add_details(self, entry: dict[str, Any]) -> None:
        """Add the time and the comment of an entry to its move or end."""
        owner = self.owner()
        try:
            texts = entry.get("comments") or []
            texts = [texts] if isinstance(texts, str) else texts
            self.comment += [unmarked_text(line) for text in texts for line in LINE_END.split(text)]
            if entry.get("time") and owner is not self.record.root and not self.stopped:
                owner.milliseconds = milliseconds_of(entry["time"]["now"])
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            raise self.fault("cannot be read", entry) from None
        self.keep_comment()

    def fault(self, reason: str, quoted: Any) -> FaultyText:
        """Return the error at the next move."""
        text = json.dumps(quoted, ensure_ascii=False, separators=(",", ":")).replace('"', "")
        return FaultyText(Fault(reason, move=len(self.path), quoted=excerpt(text)))


def usi_of(move: dict[str, Any], board: Board) -> str:
    """Return a move in USI. ValueError if it is of the other side or another piece; other errors of the data's form."""
    if move.get("color") not in (None, board.turn):
        raise ValueError(_("a move of the other side"))
    to = board.peek()[2:4] if move.get("same") and not move.get("to") else square_of(move["to"])
    letter = CSA_LETTERS[move["piece"]]
    if not move.get("from"):
        if move.get("relative") not in (None, "", "H"):
            raise ValueError(_("not a drop, but `from` is missing"))
        return f"{letter}*{to}"
    origin = square_of(move["from"])
    moved, promotes = (board.piece_at(origin) or "").upper(), bool(move.get("promote"))
    # Some programs name the piece after its promotion, as CSA does.
    promotes = promotes or letter == f"+{moved}"
    if moved not in (letter, letter.removeprefix("+") if promotes else letter):
        raise ValueError("illegal move")
    return f"{origin}{to}{'+' if promotes else ''}"


def square_of(place: dict[str, Any]) -> str:
    """Return a square in USI. LookupError, TypeError."""
    x, y = place["x"], place["y"]
    if x not in LINES or y not in LINES:
        raise KeyError
    return f"{x}{RANKS[y - 1]}"


def milliseconds_of(time: dict[str, Any]) -> int:
    """Return a time in milliseconds."""
    hours, minutes, seconds = (time.get(unit) or 0 for unit in "hms")
    if not 0 <= (total := hours * 3600 + minutes * 60 + seconds) < 10**9:
        raise ValueError
    return round(total * 1000)


# ---- writing ----


def write(record: Record) -> str:
    """Return the record with its variations as JKF on one line. RecordError."""
    header = {key: one_line(value) for key, value in record.header.items()}
    data = {"header": header, "initial": initial_of(record.start), "moves": entries(record)}
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
    except RecursionError:
        raise RecordError(_("variations are nested too deeply for JKF")) from None


def entries(record: Record) -> list[dict[str, Any]]:
    """Return the entries of the main line, the others as forks of the entries of the same moves."""
    main = line = list[dict[str, Any]]()
    following: dict[Node, dict[str, Any]] = {}  # the entry after a node on its line
    for step in record.walk():
        node = step.node
        entry = comments_of(node.comment)
        if node.parent:
            entry |= {"move": move_of(step)} | time_of(node.milliseconds, step.spent[0])
        if node.parent and step.begins_variation:
            line = []
            following[node.parent].setdefault("forks", []).append(line)
        elif node.parent:
            following[node.parent] = entry
        line.append(entry)
        if node.end and (name := end_name(node)):
            line.append(end_entry(node.end, name, step.spent[1]))
            following[node] = line[-1]
    return main


def initial_of(start: str) -> dict[str, Any]:
    """Return the start: the name of a handicap, or the position."""
    for preset, named in PRESETS.items():
        if named.split()[:3] == start.split()[:3]:
            return {"preset": preset}
    board = Board(start)
    columns = [[square(board.piece_at(f"{x}{rank}") or "") for rank in RANKS] for x in LINES]
    hands = [{NAMES[letter]: board.hand(color).get(letter, 0) for letter in "PLNSGBR"} for color in (0, 1)]
    return {"preset": "OTHER", "data": {"color": board.turn, "board": columns, "hands": hands}}


def square(letter: str) -> dict[str, Any]:
    """Return a square of the start position."""
    return {"color": int(letter.islower()), "kind": NAMES[letter.upper()]} if letter else {}


def end_entry(end: End, name: str, spent: int) -> dict[str, Any]:
    """Return the entry of an end; `spent` is the time of the side to move before."""
    time = time_of(end.milliseconds, spent + (end.milliseconds or 0))
    return comments_of(end.comment) | {"special": name} | time


def move_of(step: Step) -> dict[str, Any]:
    """Return a move with everything that the position tells about it."""
    board, usi = step.before, step.node.move
    to, drop = usi[2:4], usi[1] == "*"
    letter = usi[0] if drop else (board.piece_at(usi[:2]) or "").upper()
    move: dict[str, Any] = {"color": board.turn} | ({} if drop else {"from": place_of(usi[:2])})
    move |= {"to": place_of(to), "piece": NAMES[letter]}
    if step.node.parent and step.node.parent.move[2:4] == to:
        move["same"] = True
    if not drop and promotion(usi, letter, board.turn):
        move["promote"] = usi.endswith("+")
    if captured := board.piece_at(to):
        move["capture"] = NAMES[captured.upper()]
    if origins := origins_of(board, letter, to):
        words = "打" if drop else words_for(usi[:2], origins, letter, to, board.turn)
        move |= {"relative": words.translate(RELATIVE)} if words else {}
    return move


def end_name(node: Node) -> str:
    """Return JKF's name of a node's end, empty if there is none. Variations need one: the game is interrupted then."""
    if node.end is None:
        return ""
    return jkf_name(node.end.name) or (INTERRUPTED if node.variations else "")


def place_of(square: str) -> dict[str, int]:
    """Return a square in USI as JKF has it."""
    return {"x": int(square[0]), "y": RANKS.index(square[1]) + 1}


def comments_of(comment: str | None) -> dict[str, list[str]]:
    """Return the member with the comment's lines."""
    return {} if comment is None else {"comments": comment.split("\n")}


def time_of(milliseconds: int | None, total: int) -> dict[str, Any]:
    """Return the member with the time of a move and its side's time so far, in whole seconds."""
    if milliseconds is None:
        return {}
    now, seconds = milliseconds // 1000, total // 1000
    hours = {"h": now // 3600} if now >= 3600 else {}
    total_time = {"h": seconds // 3600, "m": seconds // 60 % 60, "s": seconds % 60}
    return {"time": {"now": hours | {"m": now // 60 % 60, "s": now % 60}, "total": total_time}}
