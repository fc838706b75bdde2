"""KIF and KI2, formats of Kifu for Windows, http://kakinoki.o.oo7.jp/kif_format.html.

KIF has a numbered line for each move, `1 ７六歩(77)   ( 0:03/00:00:03)`; KI2 has moves as people write them, `▲７六歩
△３四歩 ▲６八金右`, six in a line. A line of moves is read as KIF if it begins with a number, else as KI2.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from core_ext.board import Board
from core_ext.replay import push_kif
from core_ext.shogi.ki2 import MOVE, ki2_text, read_move
from core_ext.shogi.notation import SIDE_MARKS
from usi_engine.columns import cells
from usi_engine.records.ends import BY_WORD, LOSSES, RESULT, End, end_of_result, result_text, word_of
from usi_engine.records.faults import Fault, FaultyText, one_line
from usi_engine.records.position import EVEN_SIDES, HANDICAP_SIDES, Start, sides_at, start_lines
from usi_engine.records.tree import Builder, Node, Record, Step, marked_text, unmarked_text
from usi_engine.usi.output import excerpt

LINE_END = re.compile(r"\r\n|\r|\n")
NUMBERED = re.compile(r"([0-9]{1,6})(?:\s+|[手.．]目?\s*|(?=\D))(.*)")
KI2_LINE = re.compile(r"[▲△▼▽☗☖]|[１-９同](?!.*：)|[1-9][1-9一二三四五六七八九][成歩香桂銀金角飛玉王と杏圭全馬龍竜]")
# The time of a move or end and what some programs write after it, a comment.
AFTER_MOVE = re.compile(r"(\s*(?:[(（]\s*[0-9]*:.*?)?\+?)(?:(?<=[)）+\s])(\*.*))?")
TIME = re.compile(r"[(（]\s*(?:([0-9]{1,4}):\s*)?([0-9]{1,6}):\s*([0-9]{1,2})(?:\.([0-9]{1,3}))?\s*(?:[/)）]|$)")
SPACE = " \t\u3000\xa0"
SPACES = re.compile(r"\s*")
# A part of a text: a move as programs write it, its time and comments; or a line. The groups are the line, the number
# and text of the move, minutes, seconds and the lines of the comment.
PARTS = re.compile(
    r"( *([0-9]{1,6}) +((?:同[　 ]?|[１-９][一二三四五六七八九])(?:成[香桂銀]|[歩香桂銀金角飛玉王と杏圭全馬龍竜])"
    r"(?:打|成?\([1-9]{2}\)))"
    r" *(?:\( ?([0-9]{1,4}):([0-9]{2})/[0-9:]+\)\+?)?(?=\n)|[^\r\n]*)(?:\r\n|\r|\n|$)((?:\*[^\r\n]*\n)*)"
)
# A move, however misspelt: it begins with a square, a piece and a square or as in CSA, or has an origin.
MISSPELT = re.compile(
    r"[1-9１-９同]|[歩香桂銀金角飛玉王と馬龍竜][1-9１-９]|[+-][0-9]{4}|.*[歩香桂銀金角飛玉王と馬龍竜成][(（]\d\d[)）]"
)
MARK = re.compile(f"[{''.join(SIDE_MARKS)}]")
COUNT = re.compile(r"まで、?\s*(?:[0-9０-９]*([0-9０-９])\s*手)?(?:にて|で)?")

# ---- reading ----


def read(text: str) -> Record:
    """Read KIF or KI2. FaultyText. A fault in a variation ends the variation and is the record's `fault`."""
    reader = Reader()
    for are_moves, group in groupby(PARTS.findall(text), lambda part: part[2] != ""):
        parts = list(group)
        begun = int(are_moves and len(reader.path) == 1)  # the first move tells the number of the others
        reader.read_lines(parts[:begun])
        made = reader.add_moves(parts[begun:]) if are_moves else 0
        reader.read_lines(parts[begun + made :])
    return reader.finish()


class Reader(Builder):
    """Builds a record line by line."""

    def __init__(self) -> None:
        super().__init__()
        self.start = Start()
        self.number, self.text = 0, ""
        self.first = 1  # the number of the first move in KIF
        self.last_square = "同"  # the square of the last move before a diagram
        self.start_line = (0, "")
        self.end_line = Fault("not a move")
        self.branches = False  # the first move of a variation comes next

    def fault(self, reason: str, quoted: str = "") -> FaultyText:
        """Return the fault of the present line."""
        move = len(self.path) if self.record.start else 0
        return FaultyText(Fault(reason, self.number, move, excerpt(quoted or self.text)))

    def read_lines(self, parts: Iterable[tuple[str, ...]]) -> None:
        """Read each line of some parts. FaultyText."""
        for line, *_, comment in parts:
            for each in (line, *comment.split("\n")[:-1]):
                self.read_line(each)

    def read_line(self, text: str) -> None:
        """Read a line. FaultyText."""
        self.number, self.text = self.number + 1, text
        line = text.strip(SPACE)
        try:
            if text.startswith(("*", "&")):
                self.comment.append(unmarked_text(text[1:]) if text[0] == "*" else text)
            elif line:
                method_for(line)(self, line)
        except FaultyText as error:
            if not self.in_variation:
                raise
            self.stop(error.fault)

    def finish(self) -> Record:
        """Return the record."""
        self.begin()
        self.keep_comment()
        return self.record

    def begin(self) -> Board:
        """Return the present position; set up the start before the first move. FaultyText."""
        if not self.record.start:
            try:
                self.set_up(self.start.sfen())
            except ValueError as error:
                number, text = self.start_line
                raise FaultyText(Fault(str(error).partition(": '")[0], number, 0, excerpt(text))) from None
        return self.board

    def add_moves(self, parts: Sequence[tuple[str, ...]]) -> int:
        """Make the moves of parts that follow each other, up to the first that is not legal; return how many."""
        first, is_over = len(self.path) + self.first - 1, self.path[-1].end and not self.branches
        if self.stopped or is_over or [int(part[1]) for part in parts] != [*range(first, first + len(parts))]:
            return 0
        made = push_kif(self.board, [part[2] for part in parts])
        self.add_made(
            (move, (int(minutes) * 60 + int(seconds)) * 1000 if seconds else None, comment_in(lines) if lines else None)
            for move, (_, _, _, minutes, seconds, lines) in zip(made, parts, strict=False)
        )
        self.branches = self.branches and not made
        self.number += sum(1 + part[5].count("\n") for part in parts[: len(made)])
        return len(made)

    # Lines before the moves.

    def skip(self, line: str) -> None:
        """Skip a line of no meaning."""

    def last_move(self, line: str) -> None:
        """Read the square in `手数＝3  ▲２二角成  まで` of a diagram."""
        mark = MARK.search(line)
        if mark and (move := MOVE.match(line, mark.start())):
            self.last_square = move[2] or self.last_square

    def header(self, line: str) -> None:
        key, value = HEADER.match(line).groups()  # type: ignore[union-attr]
        if self.record.start and key in HANDS[:4]:  # after an end, a player's time
            if not self.path[-1].end and self.record.header.get(key) != value.strip():
                raise self.fault("a player's name after the moves")
            return
        self.record.header[key.strip()] = value.strip()

    def part_of_start(self, line: str) -> None:
        """Read a line that gives a part of the start position."""
        if self.record.start:
            raise self.fault("a start position after the moves")
        self.start_line = (self.number, self.text)
        try:
            if line.startswith("+-"):
                self.start.is_drawn = True
            elif line[0] in "|｜│":
                self.start.add_row(line)
            elif line.startswith("手合割"):
                self.start.handicap = line[3:].lstrip("：: 　").strip()
            else:
                named, side, owner, hand = SIDE.match(line).groups()  # type: ignore[union-attr]
                if hand is None:
                    self.start.turn = int((named or side) in "後上")
                elif owner in HANDS:
                    self.start.set_hand(HANDS.index(owner) % 2, hand)
                else:
                    raise ValueError("a hand of neither side")
        except ValueError as error:
            raise self.fault(str(error).partition(": '")[0]) from None

    def other(self, line: str) -> None:
        """Refuse a line that is nothing known among the moves; before them it is skipped."""
        if self.record.start:
            raise FaultyText(Fault("cannot be read", self.number, quoted=excerpt(line)))

    # Lines of moves.

    def numbered(self, line: str) -> None:
        """Read a move or an end of KIF."""
        match = NUMBERED.fullmatch(line)
        number, text = (int(match[1]), match[2]) if match else (0, "")
        move = MOVE.match(text)
        after = AFTER_MOVE.fullmatch(text, move.end()) if move else None
        if not move or not after or MOVE.search(after[1]):
            self.end_word(text, number - self.first + 1)
            return
        if len(self.path) == 1 and not self.in_variation:
            self.first = number
        if self.play(move, line, number - self.first + 1):
            self.path[-1].milliseconds = time_of(after[1])
            self.comment += [unmarked_text(after[2][1:])] if after[2] else []

    def ki2(self, line: str) -> None:
        """Read the moves of a line of KI2."""
        end = 0
        while end < len(line):
            match = MOVE.match(line, end)
            if match:
                self.play(match, match[0])
                end = SPACES.match(line, match.end()).end()  # type: ignore[union-attr]
            else:
                following = MARK.search(line, end + 1)
                begin, end = end, following.start() if following else len(line)
                words = line[begin:end].strip()
                word = words.strip("".join(SIDE_MARKS)).strip()
                if word.startswith("まで"):
                    self.result(word)
                elif word in BY_WORD:
                    self.end_word(word)
                else:
                    raise self.fault("not a move", words)

    def play(self, match: re.Match[str], quoted: str, number: int | None = None) -> bool:
        """Make a move; return False if it is skipped. `number` is that of the move in KIF."""
        board = self.begin()
        if self.skips():
            return False
        if self.path[-1].end and not self.branches:
            raise FaultyText(self.end_line)
        if number not in (None, len(self.path)):
            raise self.fault("not the number of the next move")
        self.branches = False
        if len(self.path) == 1:
            match = MOVE.match(match[0].replace("同", self.last_square)) or match
        fault = self.fault("illegal move", quoted).fault
        try:
            return self.make(read_move(match, board), fault)
        except ValueError as error:
            if str(error) != fault.reason:
                raise self.fault(str(error), quoted) from None
            self.stop(fault)
            return False

    def end_word(self, text: str, number: int | None = None) -> None:
        """Read the word of an end and its time. `number` is that of the end in KIF."""
        time = TIME.search(text)
        word = text[: time.start() if time else None].strip().rstrip("+").strip("".join(SIDE_MARKS)).strip()
        board, node = self.begin(), self.path[-1]
        after = AFTER_MOVE.fullmatch(text, time.start() if time else len(text))
        if MISSPELT.match(word) or not word or not after or MOVE.search(after[1]):
            raise self.fault("not a move")
        if self.branches:
            raise self.fault("a variation without a move")
        if node.end:
            raise FaultyText(self.end_line)
        end = end_of_result(word, board.turn)
        lacking = max((number or 0) - len(self.path), 0) if len(self.path) > 1 and not self.stopped else 0
        if end.name in ("TORYO", "TIME_UP") and lacking % 2:  # the other side has lost
            raise self.fault("not the number of the next move")
        self.end_line = self.fault("not a move").fault
        self.set_end(end)
        if node.end:
            node.end.milliseconds = time_of(after[1])
        self.comment += [unmarked_text(after[2][1:])] if after[2] else []

    def result(self, line: str) -> None:
        """Read `まで120手で先手の勝ち`, which says nothing new if the end has a line of its own."""
        count: re.Match[str] = COUNT.match(line)  # type: ignore[assignment]
        text = line[count.end() :].strip()
        board = self.begin()
        if MISSPELT.match(text):
            raise self.fault("cannot be read")
        if count[1] and self.miscounts(int(count[1]), text):
            raise self.fault("not the number of moves read")
        if text and not self.path[-1].end and not self.branches:
            self.end_line = self.fault("not a move").fault
            self.set_end(end_of_result(text, board.turn))

    def miscounts(self, count: int, text: str) -> bool:
        """Return True if the winner depends on which is right, the moves read or their number before the text.

        After a diagram, that may count the game before it.
        """
        odd = {(count - len(self.path) + 1 - before) % 2 for before in (0, self.first - 1)}
        if odd != {1} or self.stopped or self.in_variation or self.start.ranks:
            return False
        found, own = end_of_result(text, self.begin().turn).name, self.path[-1].end
        if RESULT.fullmatch(text):  # the winner is named: the side to move, which ends by a loss?
            return not found and (own is None or own.name in LOSSES)
        return found in LOSSES and own is None

    def variation(self, line: str) -> None:
        """Go back to the position before `変化：N手`; before the moves it is a line of the header."""
        if not self.record.start:
            return
        self.go_back(len(self.path))
        self.branches = True
        match = VARIATION.match(line)
        number = int(match[1]) - self.first + 1 if match else 0
        if not 1 <= number <= len(self.path):
            raise self.fault("no such move")
        self.go_back(number - 1)


VARIATION = re.compile(r"変化[：:]\s*(\d{1,6})\s*手")
HEADER = re.compile(r"([^\s：:(]+)\s*[：:](.*)")
SIDE = re.compile(r"手番[：:]\s*([先後上下])手?$|([先後上下])手番$|([^\s：:]{0,9}?)の?持ち?駒\s*[：:](.*)")
HANDS = ("先手", "後手", "下手", "上手", "攻方", "玉方", "攻め方", "受方")  # Black's and White's in turn
# The first pattern that matches says how a line is read.
LINES: list[tuple[re.Pattern[str], Callable[[Reader, str], None]]] = [
    (re.compile(r"#|手数[-ー―─]|盤面回転|[1-9１-９](\s+[1-9１-９])+$"), Reader.skip),
    (re.compile(r"手数[＝=]"), Reader.last_move),
    (re.compile(rf"[|｜│]|\+-|手合割\s*[：:]|{SIDE.pattern}"), Reader.part_of_start),
    (re.compile(r"変化[：:]"), Reader.variation),
    (re.compile(r"まで"), Reader.result),
    (KI2_LINE, Reader.ki2),
    (re.compile(r"[0-9]"), Reader.numbered),
    (HEADER, Reader.header),
    (re.compile(""), Reader.other),
]  # fmt: skip


def method_for(line: str) -> Callable[[Reader, str], None]:
    """Return the method that reads a line."""
    return next(method for pattern, method in LINES if pattern.match(line))


def comment_in(lines: str) -> str:
    """Return the comment in its lines."""
    return "\n".join(unmarked_text(line[1:]) for line in lines.split("\n")[:-1])


def time_of(text: str) -> int | None:
    """Return the milliseconds of `( 0:05/00:01:25)` in a text; None if there is none."""
    match = TIME.search(text)
    if not match:
        return None
    seconds = (int(match[1] or 0) * 60 + int(match[2])) * 60 + int(match[3])
    return seconds * 1000 + int((match[4] or "0").ljust(3, "0"))


# ---- writing ----


MOVE_COLUMNS = 13
IN_LINE, COLUMNS = 6, 12  # of KI2
# Ends that all readers know in the line `まで120手で...`; the others only have their numbered line.
WITH_RESULT = ("TORYO", "TIME_UP", "ILLEGAL", "CHUDAN", "JISHOGI", "SENNICHITE", "TSUMI", "FUZUMI")

CommentOf = Callable[[Step], str | None]


# ---- both ----


def sides(record: Record) -> tuple[str, str]:
    """Return the names of the sides, those that the record's header has or else those of its start."""
    named = (names for names in (HANDICAP_SIDES, EVEN_SIDES) if {*names} & set(record.header))
    return next(named, sides_at(record.start))


def head_lines(record: Record) -> list[str]:
    """Return the lines of the header and the start."""
    lines = [line for line, is_held in header_lines(record).items() if is_held]
    return lines + start_lines(Board(record.start), sides(record))


def header_lines(record: Record) -> dict[str, bool]:
    """Return the lines of the header, without those that would give the start; True for those that are read back."""
    lines = {f"{one_line(key)}：{one_line(value)}": key for key, value in record.header.items()}
    methods = {line: method_for(line) for line in lines}
    # A key from another format may be none; `{` begins JKF.
    plain = [
        line for line, key in lines.items() if not line.startswith(("*", "&", "{")) and not re.search("[：:]", key)
    ]
    held = {line for line in plain if methods[line] == Reader.header}
    return {line: line in held for line in lines if methods[line] != Reader.part_of_start}


def comment_lines(comment: str | None) -> list[str]:
    """Return the lines of a comment. Bookmarks, lines of `&`, are kept as a part of it."""
    lines = [] if comment is None else LINE_END.split(comment)
    return [line if line.startswith("&") else "*" + marked_text(line) for line in lines]


# ---- KIF ----


def write_kif(record: Record, comment_of: CommentOf = lambda step: step.node.comment) -> str:
    """Write KIF with variations. Times are whole seconds."""
    return "\n".join([*head_lines(record), "手数----指手---------消費時間--", *kif_lines(record, comment_of)]) + "\n"


def kif_lines(record: Record, comment_of: CommentOf) -> Iterator[str]:
    """Yield the lines of all moves, ends and comments."""
    last = record.root.last()
    for step in record.walk():
        node = step.node
        if step.begins_variation:
            yield from ("", f"変化：{step.ply}手")
        if node.parent:
            yield numbered(
                step.ply, step.before.kif(node.move), node, step.spent[0], node is not node.parent.variations[-1]
            )
        yield from comment_lines(comment_of(step))
        if node.end:
            yield from end_lines(step, node.end, sides(record) if node is last else None)


def end_lines(step: Step, end: End, names: tuple[str, str] | None) -> Iterator[str]:
    """Yield the lines of an end; with the result if `names` of the sides are given."""
    turn, spent = step.board.turn, step.spent[1] + (end.milliseconds or 0)
    yield numbered(step.ply + 1, word_of(end, turn), end, spent, bool(step.node.variations))
    yield from comment_lines(end.comment)
    if names and not end.word and end.name.lstrip("+-").startswith(WITH_RESULT):
        yield f"まで{step.ply}手で{result_text(end, turn, names)}"


def numbered(number: int, text: str, owner: Node | End, spent: int, follows: bool) -> str:
    """Return the line of a move or end with its time and its side's total, `( 0:05/00:01:25)`."""
    mark = "+" if follows else ""
    if owner.milliseconds is None:
        return f"{number:4} {text}{mark}"
    minutes, seconds = divmod(owner.milliseconds // 1000, 60)
    total = f"{spent // 3600000:02}:{spent // 60000 % 60:02}:{spent // 1000 % 60:02}"
    return f"{number:4} {text}{' ' * max(MOVE_COLUMNS - cells(text), 1)}({minutes:2}:{seconds:02}/{total}){mark}"


# ---- KI2 ----


def write_ki2(record: Record) -> str:
    """Write KI2 with variations. It has no times."""
    return "\n".join([*head_lines(record), *ki2_lines(record)]) + "\n"


def ki2_lines(record: Record) -> Iterator[str]:
    """Yield the lines of all moves, ends and comments."""
    moves, names = list[str](), sides(record)
    for step in record.walk():
        if step.begins_variation or len(moves) == IN_LINE:
            yield from joined(moves)
        if step.begins_variation:
            yield from ("", f"変化：{step.ply}手")
        if step.ply:
            moves.append(ki2_text(step.before, step.node.move))
        end = step.node.end
        after = comment_lines(step.node.comment)
        if end:
            result = result_text(end, step.board.turn, names)
            after += ["", f"まで{step.ply}手で{result}", *comment_lines(end.comment)]
        if after:
            yield from joined(moves)
            yield from after
    yield from joined(moves)


def joined(moves: list[str]) -> Iterator[str]:
    """Yield the moves as one line and forget them; nothing if there are none."""
    if moves:
        yield "".join(move + " " * max(COLUMNS - cells(move), 1) for move in moves).rstrip()
        moves.clear()
