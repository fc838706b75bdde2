"""CSA records, version 2.2 and 3.0: http://www2.computer-shogi.org/protocol/record_v22.html and record_v3.html.

A comment of a record is a line `'*TEXT`; other lines that begin with `'` are notes, which readers skip.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from core_ext.board import Board
from core_ext.replay import push_csa
from core_ext.shogi.notation import usi_of_csa
from usi_engine.clock import TimeControl
from usi_engine.records.ends import CSA_NAMES, End
from usi_engine.records.faults import Fault, FaultyText, one_line
from usi_engine.records.position import Setup, position_lines, read_position
from usi_engine.records.tree import Builder, Node, Record, marked_text, unmarked_text
from usi_engine.usi.output import excerpt

HINT = re.compile(r"^(V[23]|N[+-]|PI|P[1+-]|\$EVENT|'CSA|[+-]\d{4}[A-Z]{2})", re.M)
# A line that is neither empty nor a comment.
STATEMENT = re.compile(r"^[^\S\n]*[^\s']", re.M)
SEPARATOR = re.compile(r"/\s*$", re.M)
MOVE = re.compile(r"[+-](?:00|[1-9]{2})[1-9]{2}[A-Z]{2}")
# A part of a text: a position before the first move; a move, its time, comments and notes; or a line. The groups are
# the part, the position, the move, the seconds, and the lines of comments and notes.
PARTS = re.compile(
    r"(((?:P.*\n)+[+-]\n)(?=(?:'.*\n)*[+-][0-9])|([+-][0-9]{4}[A-Z]{2})\n(?:T([0-9]{1,9})\n)?((?:'.*\n)*)|.*(?:\n|$))"
)
VERSION = re.compile(r"V[0-9.]+")
DATE = re.compile(r"\d{4}/\d\d?/\d\d?(?!\S)", re.ASCII)
TIME = re.compile(r"T([0-9]{1,9})(?:\.([0-9]{0,3})[0-9]*)?")
# CSA's keywords and the keys of KIF; others are kept as they are.
KEYS = {"EVENT": "棋戦", "SITE": "場所", "OPENING": "戦型", "START_TIME": "開始日時", "END_TIME": "終了日時",
        "NOTE": "備考", "MAX_MOVES": "最大手数", "JISHOGI": "持将棋"}  # fmt: skip
KEYWORDS = {key: keyword for keyword, key in KEYS.items()}
LIMITS = {"TIME_LIMIT": "持ち時間", "TIME": "持ち時間", "TIME+": "先手持ち時間", "TIME-": "後手持ち時間"}
LIMIT_KEYWORDS = {"先手持ち時間": "TIME+", "後手持ち時間": "TIME-"}
# Time controls in the words of records: `1時間0分秒読み60秒`, `60分 切れたら1分将棋`, `01:00+60`, `600+30+10`.
LIMIT_WORDS = re.compile(
    r"各?(?=\d)(?:(\d{1,4})時間)?(?:(\d{1,5})分)?(?:(\d{1,6})秒)?"
    r"(?:切れ負け|切負け?|\(?(?:切れたら|秒読み|\+)(?:1手)?(\d{1,5})(秒|分)(?:将棋|未満)?(?:秒読み)?\)?)?"
    r"(?:加算(\d{1,5})秒)?"
)
LIMIT_CLOCK = re.compile(r"(\d{1,4}):(\d\d)\+(\d{1,5})")
LIMIT_SECONDS = re.compile(r"(\d{1,7})(?:\.0*)?\+(\d{1,5})(?:\.0*)?\+(\d{1,5})(?:\.0*)?")


class Reader(Builder):
    """Builds the record of a game line by line; `line` is the number of the line."""

    def __init__(self) -> None:
        super().__init__()
        self.setup = Setup()
        self.has_position = False
        self.line = 0

    def fail(self, reason: str, quoted: str, *, move: int = 0) -> FaultyText:
        """Return the error at the present line."""
        return FaultyText(Fault(reason, self.line, move, excerpt(quoted)))

    def feed(self, line: str) -> None:
        """Read a line. FaultyText."""
        self.line += 1
        if line.startswith(("N+", "N-", "$")):
            self.add_header(line)
        else:
            for statement in statements(line):
                self.take(statement)

    def add_header(self, line: str) -> None:
        """Add a player's name or a line of `$`."""
        key, value = ("先手" if line.startswith("N+") else "後手", line[2:].strip())
        if line.startswith("$"):
            keyword, _, value = line[1:].partition(":")
            key, value = KEYS.get(keyword, LIMITS.get(keyword, keyword)), value.strip()
            control = control_of(value) if keyword in LIMITS else None
            value = value if control is None else words_of(control)
        if key and value:
            self.record.header[key] = value

    def take(self, statement: str) -> None:
        """Read one statement. FaultyText."""
        kind = statement[0]
        if kind == "'":
            self.comment += [unmarked_text(statement[2:])] if statement.startswith("'*") else []
        elif kind in "+-" and len(statement) > 1:
            self.add_move(statement)
        elif kind in "P+-":
            self.add_position(statement)
        elif kind == "T":
            self.set_time(statement)
        elif kind == "%":
            self.read_end(statement)
        elif not VERSION.fullmatch(statement):
            raise self.fail("cannot be read", statement)

    def add_position(self, statement: str) -> None:
        """Read a part of the start position."""
        if self.record.start:
            raise self.fail("cannot be read", statement)
        try:
            self.setup.add_line(statement)
        except ValueError as error:
            reason, _, quoted = str(error).partition(": '")
            raise self.fail(reason, quoted.removesuffix("'")) from None
        self.has_position = self.has_position or statement[0] == "P"

    def add_start(self, lines: str) -> bool:
        """Read all lines of the start position at once; return False if each has to be read by itself."""
        if self.has_position or self.record.start:
            return False
        try:
            self.set_up(start_of(lines))
        except ValueError:
            return False
        self.line += lines.count("\n")
        return True

    def begin(self) -> None:
        """Set up the board before the first move or end. Without a position the game begins from the usual one."""
        if self.record.start:
            return
        if not self.has_position:
            self.setup.add_line("PI")
        try:
            self.set_up(self.setup.sfen())
        except ValueError as error:
            raise FaultyText(Fault(str(error))) from None

    def add_move(self, text: str) -> None:
        """Make a move. An illegal one is a fault of the record, and an error as soon as another move follows."""
        self.begin()
        self.skips()
        number, ended = len(self.path), self.path[-1].end
        if ended or not MOVE.fullmatch(text):
            raise self.fail("a move after the end" if ended else "not a move", text, move=number)
        if text[0] != "+-"[self.board.turn]:
            raise self.fail("a move of the other side", text, move=number)
        self.make(usi_of_csa(text[1:], self.board), Fault("illegal move", self.line, number, excerpt(text)))

    def add_moves(self, parts: Sequence[tuple[str, ...]]) -> int:
        """Make the moves of parts that follow each other, up to the first that is not legal; return how many."""
        self.begin()
        if self.stopped or self.path[-1].end:
            return 0
        made = push_csa(self.board, [part[2] for part in parts])
        self.add_made(
            (move, int(seconds) * 1000 if seconds else None, comment_in(lines) if lines else None)
            for move, (_, _, _, seconds, lines) in zip(made, parts, strict=False)
        )
        self.line += sum(part[0].count("\n") for part in parts[: len(made)])
        return len(made)

    def set_time(self, text: str) -> None:
        """Set the time of the last move or of the end."""
        time = TIME.fullmatch(text)
        if time is None or not self.record.start:
            raise self.fail("cannot be read", text)
        if not self.stopped:
            self.owner().milliseconds = int(time[1]) * 1000 + int((time[2] or "").ljust(3, "0"))

    def read_end(self, text: str) -> None:
        """Read an end."""
        self.begin()
        if text[1:] not in CSA_NAMES or self.path[-1].end:
            raise self.fail("not a move", text, move=len(self.path))
        self.set_end(End(text[1:]))

    def finish(self) -> Record:
        """Return the record."""
        self.line = 0
        self.begin()
        self.keep_comment()
        return self.record


def statements(line: str) -> list[str]:
    """Return the statements of a line, which commas separate; a comment takes the rest of the line."""
    code, mark, comment = line.partition("'")
    words = map(str.strip, code.split(",") if "," in code else [code])
    return [*filter(None, words), *([mark + comment] if mark else [])]


def comment_in(lines: str) -> str | None:
    """Return the comment in lines of comments and notes; None if there is none."""
    texts = [unmarked_text(line[2:]) for line in lines.split("\n") if line.startswith("'*")]
    return "\n".join(texts) if texts else None


@lru_cache(maxsize=256)
def start_of(lines: str) -> str:
    """Return the sfen of a position, that of many games. ValueError."""
    return read_position(lines[:-1].split("\n"))


def read(text: str) -> Record:
    """Read one game. FaultyText."""
    reader = Reader()
    for are_moves, group in groupby(PARTS.findall(text), lambda part: part[2] != ""):
        parts = list(group)
        for part, position, *_ in parts[reader.add_moves(parts) if are_moves else 0 :]:
            if not (position and reader.add_start(part)):
                for line in part.removesuffix("\n").split("\n"):
                    reader.feed(line)
    return reader.finish()


def split(text: str) -> list[tuple[int, str]]:
    """Return the games between lines of `/`, each with the number of its first line, from 0."""
    if not SEPARATOR.search(text):
        return [(0, text + "\n")] if STATEMENT.search(text) else []
    lines = text.split("\n")
    ends = [at for at, line in enumerate(lines) if line.strip() == "/"]
    spans = zip([0, *(at + 1 for at in ends)], [*ends, len(lines)], strict=True)
    games = [(begin, "\n".join(lines[begin:end]) + "\n") for begin, end in spans]
    return [(at, game) for at, game in games if STATEMENT.search(game)]


# ---- writing ----


def write(record: Record) -> str:
    """Return the main line as CSA: version 2.2 if that has all times. An end that CSA lacks is left out."""
    nodes = record.main_line
    times = [owner.milliseconds for node in nodes for owner in (node, node.end) if owner and owner.milliseconds]
    header = list(header_lines(record.header))
    is_new = any(time % 1000 for time in times) or any(re.match(r"\$TIME[-+]?:", line) for line in header)
    version = ["'CSA encoding=UTF-8", "V3.0"] if is_new else ["V2.2"]
    board = Board(record.start)
    lines = [*version, *header, *position_lines(board), *comment_lines(record.root.comment)]
    for node in [record.root, *nodes]:
        if node.parent is not None:
            lines += statement_lines(board.csa(node.move), node)
            board.push(node.move)
    if record.end and record.end.name:
        lines += statement_lines(f"%{record.end.name}", record.end)
    return "\n".join(lines) + "\n"


def statement_lines(statement: str, owner: Node | End) -> list[str]:
    """Return the lines of a move or end, with its time and comment."""
    return [statement, *time_lines(owner.milliseconds), *comment_lines(owner.comment)]


def header_lines(header: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the players and the lines of `$`."""
    for mark, keys in (("N+", ("先手", "下手")), ("N-", ("後手", "上手"))):
        yield from (mark + one_line(header[key]) for key in keys if header.get(key))
    for key, value in standard(header).items():
        if key == "持ち時間" or key in LIMIT_KEYWORDS:
            yield limit_line(key, value)
        elif key not in ("先手", "下手", "後手", "上手", "手合割"):
            yield f"${KEYWORDS.get(key, one_line(key).replace(':', '：'))}:{one_line(value)}"


def standard(header: Mapping[str, str]) -> dict[str, str]:
    """Return the header with byoyomi as a part of the time control, and the date as the time of the start."""
    rest = dict(header)
    whole = f"{rest.get('持ち時間')}秒読み{rest.get('秒読み')}"
    if control_of(whole) is not None:
        rest["持ち時間"] = whole
        del rest["秒読み"]
    if DATE.match(rest.get("対局日", "")) and "開始日時" not in rest:
        rest["開始日時"] = rest.pop("対局日")
    return rest


def limit_line(key: str, words: str) -> str:
    """Return a time control; version 2.2 has hours, minutes and byoyomi, version 3.0 also seconds and increments."""
    control, keyword = control_of(words), LIMIT_KEYWORDS.get(key, "TIME")
    if control is None:
        return f"${key}:{one_line(words)}"
    main, byoyomi, increment = (part // 1000 for part in (control.main, control.byoyomi, control.increment))
    minutes, seconds = divmod(main, 60)
    if keyword == "TIME" and not seconds and not increment and minutes < 6000 and byoyomi < 100:
        return f"$TIME_LIMIT:{minutes // 60:02}:{minutes % 60:02}+{byoyomi:02}"
    return f"${keyword}:{main}+{byoyomi}+{increment}"


def time_lines(milliseconds: int | None) -> Iterator[str]:
    """Yield the time of a move in seconds."""
    if milliseconds is not None:
        seconds, fraction = divmod(milliseconds, 1000)
        yield f"T{seconds}" + (f".{fraction:03}".rstrip("0") if fraction else "")


def comment_lines(comment: str | None) -> Iterator[str]:
    """Yield the lines of a comment."""
    for line in comment.split("\n") if comment is not None else ():
        yield "'*" + marked_text(line)


# ---- time controls ----


def control_of(words: str) -> TimeControl | None:
    """Return the time control that the words give; None if they cannot be read."""
    numbers = seconds_in("".join(unicodedata.normalize("NFKC", words[:100]).split()))
    return TimeControl(*(number * 1000 for number in numbers)) if numbers else None


def seconds_in(text: str) -> tuple[int, int, int] | None:
    """Return main time, byoyomi and increment in seconds."""
    if clock := LIMIT_CLOCK.fullmatch(text):
        return int(clock[1]) * 3600 + int(clock[2]) * 60, int(clock[3]), 0
    if seconds := LIMIT_SECONDS.fullmatch(text):
        return int(seconds[1]), int(seconds[2]), int(seconds[3])
    if named := LIMIT_WORDS.fullmatch(text):
        hours, minutes, rest, byoyomi, unit, increment = (named[group] or 0 for group in range(1, 7))
        main = int(hours) * 3600 + int(minutes) * 60 + int(rest)
        return main, int(byoyomi) * (60 if unit == "分" else 1), int(increment)
    return None


def words_of(control: TimeControl) -> str:
    """Return the words for KIF, in whole seconds."""
    main, byoyomi, increment = (part // 1000 for part in (control.main, control.byoyomi, control.increment))
    minutes, seconds = divmod(main, 60)
    hours = f"{minutes // 60}時間" if minutes >= 60 else ""
    words = f"{hours}{minutes % 60}分" + (f"{seconds}秒" if seconds else "")
    words += f"秒読み{byoyomi}秒" if byoyomi else ""
    return words + (f"加算{increment}秒" if increment else "")
