"""A position as text and as SVG, Black at the bottom.

`pieces` maps squares to sfen letters; `hands` has Black's hand and White's, each mapping letters to numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from core_ext.shogi.notation import KANJI_RANKS, KIF_PIECES, WIDE_FILES

Pieces = Mapping[str, str]
Hands = Sequence[Mapping[str, int]]

FILES, RANKS = "987654321", "abcdefghi"
# One-kanji names.
KANJI = {**KIF_PIECES, "+L": "杏", "+N": "圭", "+S": "全"}
HAND_ORDER = "RBGSNLP"
SIDES = ("先手", "後手")

# SVG sizes, in SVG units.
CELL, LEFT, TOP = 40, 50, 26
WIDTH, HEIGHT = 9 * CELL + 2 * LEFT, 9 * CELL + TOP + 12
STYLE = (
    "text{font-family:'Noto Serif CJK JP','Yu Mincho','Hiragino Mincho ProN',serif;text-anchor:middle;"
    "dominant-baseline:central;fill:#000}.promoted{fill:#b00}"
)


def ascii_diagram(pieces: Pieces, hands: Hands) -> str:
    """Draw the position with sfen letters."""
    rows = ["  " + "  ".join(FILES)]
    for rank in RANKS:
        rows.append("".join(f"{pieces.get(file + rank, '.'):>3}" for file in FILES) + f"  {rank}")
    held = [" ".join(f"{letter}{number}" for letter, number in hand.items()) or "-" for hand in hands]
    return "\n".join([f"White in hand: {held[1]}", *rows, f"Black in hand: {held[0]}"])


def kanji_diagram(pieces: Pieces, hands: Hands) -> str:
    """Draw the position as shogi books print it; `v` marks White's pieces."""
    border = f"+{'-' * 27}+"
    rows = ["  " + " ".join(reversed(WIDE_FILES)), border]
    for rank, numeral in zip(RANKS, KANJI_RANKS, strict=True):
        cells = "".join(kanji_cell(pieces.get(file + rank)) for file in FILES)
        rows.append(f"|{cells}|{numeral}")
    held = [f"{side}の持駒：{hand_text(hand)}" for side, hand in zip(SIDES, hands, strict=True)]
    return "\n".join([held[1], *rows, border, held[0]])


def kanji_cell(letters: str | None) -> str:
    """Return a cell two and a half terminal columns wide."""
    if letters is None:
        return " ・"
    return ("v" if letters.islower() else " ") + KANJI[letters.upper()]


def hand_text(hand: Mapping[str, int]) -> str:
    """Return `飛　歩十七　` as KIF has it, or なし for an empty hand."""
    counts = ((KANJI[letter], hand[letter]) for letter in HAND_ORDER if letter in hand)
    return "".join(f"{name}{kanji_number(number) if number > 1 else ''}　" for name, number in counts) or "なし"


def kanji_number(number: int) -> str:
    """Return a number from 1 to 18 in kanji."""
    ones = number % 10
    return "十" * (number > 9) + (KANJI_RANKS[ones - 1] if ones else "")


def svg_diagram(pieces: Pieces, hands: Hands, marked: Collection[str] = ()) -> str:
    """Draw a self-contained picture of about 5 kB; the `marked` squares have another colour."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
    parts = [head, f"<style>{STYLE}</style>", rectangle(0, 0, WIDTH, HEIGHT, "#fff")]
    parts.append(rectangle(LEFT, TOP, 9 * CELL, 9 * CELL, "#f7d9a0"))
    parts += [rectangle(*corner(square), CELL, CELL, "#f0b25a") for square in marked]
    parts += [grid(), *coordinates()]
    parts += [piece_text(*corner(square), letters) for square, letters in pieces.items()]
    parts += [*hand_texts(hands[0], black=True), *hand_texts(hands[1], black=False), "</svg>"]
    return "\n".join(parts) + "\n"


def corner(square: str) -> tuple[int, int]:
    """Return the upper left corner of a square."""
    return LEFT + FILES.index(square[0]) * CELL, TOP + RANKS.index(square[1]) * CELL


def rectangle(x: int, y: int, width: int, height: int, colour: str) -> str:
    """Draw a filled rectangle."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"/>'


def grid() -> str:
    """Draw the lines of the board."""
    lines = [f"M{LEFT} {TOP + at * CELL}h{9 * CELL}M{LEFT + at * CELL} {TOP}v{9 * CELL}" for at in range(10)]
    return f'<path d="{"".join(lines)}" stroke="#000" fill="none"/>'


def letter(x: float, y: float, size: int, text: str, attributes: str = "") -> str:
    """Draw text centred on a point."""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}"{attributes}>{text}</text>'


def coordinates() -> Iterator[str]:
    """Draw the files above the board, the ranks to the right."""
    for at, (file, numeral) in enumerate(zip(FILES, KANJI_RANKS, strict=True)):
        yield letter(LEFT + (at + 0.5) * CELL, TOP / 2, 14, file)
        yield letter(LEFT + 9 * CELL + 10, TOP + (at + 0.5) * CELL, 14, numeral)


def piece_text(x: int, y: int, letters: str) -> str:
    """Draw a piece on the square with this corner, White's upside down."""
    across, down = x + CELL // 2, y + CELL // 2
    turned = f' transform="rotate(180 {across} {down})"' if letters.islower() else ""
    promoted = ' class="promoted"' if letters.startswith("+") else ""
    return letter(across, down, 30, KANJI[letters.upper()], promoted + turned)


def hand_texts(hand: Mapping[str, int], *, black: bool) -> Iterator[str]:
    """Draw a hand as a column of kanji: Black's at the right, White's at the left and upside down."""
    turned = "" if black else f' transform="rotate(180 {WIDTH // 2} {TOP + 9 * CELL // 2})"'
    names = [("☗" if black else "☖", 1), *((KANJI[name], hand[name]) for name in HAND_ORDER if name in hand)]
    for at, (name, number) in enumerate(names):
        count = str(number) if number > 1 else ""
        yield letter(WIDTH - 20, TOP + 9 * CELL - 34 * (len(names) - at - 0.5), 20, name + count, turned)
