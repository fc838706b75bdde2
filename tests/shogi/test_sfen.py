"""sfen and move text: strict on meaning, lenient on form; an error quotes the text and leaves the board unchanged."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core_ext.board import Board
from tests import positions
from tests.shogi.slow_shogi import HAND_ORDER, RANKS, START

deterministic = settings(derandomize=True, max_examples=100, deadline=None, database=None)

ACCEPTED = {
    "startpos": START,
    f"sfen {START}": START,
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -": START,
    "  4k4/9/9/9/9/9/9/9/4K4   w  -  7 ": "4k4/9/9/9/9/9/9/9/4K4 w - 7",
    "4k4/9/9/9/9/9/9/9/4K4 b p2Rb 1": "4k4/9/9/9/9/9/9/9/4K4 b 2Rbp 1",
    "4k4/9/9/9/9/9/9/9/4K4 b PP2P 1": "4k4/9/9/9/9/9/9/9/4K4 b 4P 1",
    "4k4/9/9/9/9/9/9/9/4K4 b 2p10PG 1": "4k4/9/9/9/9/9/9/9/4K4 b G10P2p 1",
    "4k4/9/9/9/9/9/9/9/111111111 b 2R 1": "4k4/9/9/9/9/9/9/9/9 b 2R 1",  # one king: a mate problem
    "9/9/9/9/9/9/9/9/4K4 b - 1": "9/9/9/9/9/9/9/9/4K4 b - 1",
    "4k4/9/9/9/9/9/9/9/4K4 b - 0": "4k4/9/9/9/9/9/9/9/4K4 b - 1",
    # Published problems contain such pieces: the rules forbid the moves, not the positions.
    "4k4/9/9/4P4/4P4/9/9/9/4K4 b - 1": "4k4/9/9/4P4/4P4/9/9/9/4K4 b - 1",
    "P3k4/9/9/9/9/9/9/9/4K4 b - 1": "P3k4/9/9/9/9/9/9/9/4K4 b - 1",
    "4k4/9/9/9/9/9/9/9/l3K4 b - 1": "4k4/9/9/9/9/9/9/9/l3K4 b - 1",
    "4k4/N8/9/9/9/9/9/9/4K4 b - 1": "4k4/N8/9/9/9/9/9/9/4K4 b - 1",
}

REJECTED = {
    "no text": "",
    "one field": "lnsgkgsnl",
    "five fields": f"{START} 1",
    "eight ranks": "4k4/9/9/9/9/9/9/4K4 b - 1",
    "ten ranks": "4k4/9/9/9/9/9/9/9/9/4K4 b - 1",
    "short rank": "4k3/9/9/9/9/9/9/9/4K4 b - 1",
    "long rank of gaps": "4k5/9/9/9/9/9/9/9/4K4 b - 1",
    "long rank of pieces": "lnsgkgsnll/9/9/9/9/9/9/9/4K4 b - 1",
    "empty rank": "4k4//9/9/9/9/9/9/4K4 b - 1",
    "gap of nothing": "4k40/9/9/9/9/9/9/9/4K4 b - 1",
    "unknown piece": "4k4/9/9/9/4x4/9/9/9/4K4 b - 1",
    "lone plus": "4k3+/9/9/9/9/9/9/9/4K4 b - 1",
    "two pluses": "4k4/9/9/9/4++P4/9/9/9/4K4 b - 1",
    "plus before a gap": "4k4/9/9/9/+9/9/9/9/4K4 b - 1",
    "promoted gold": "4k4/9/9/9/4+G4/9/9/9/4K4 b - 1",
    "promoted king": "4+k4/9/9/9/9/9/9/9/4K4 b - 1",
    "bad side": "4k4/9/9/9/9/9/9/9/4K4 x - 1",
    "upper-case side": "4k4/9/9/9/9/9/9/9/4K4 B - 1",
    "king in hand": "4k4/9/9/9/9/9/9/9/4K4 b K 1",
    "promoted piece in hand": "4k4/9/9/9/9/9/9/9/4K4 b +P 1",
    "number without a piece": "4k4/9/9/9/9/9/9/9/4K4 b 2 1",
    "none of a piece in hand": "4k4/9/9/9/9/9/9/9/4K4 b 0P 1",
    "huge number in hand": "4k4/9/9/9/9/9/9/9/4K4 b 99999999999P 1",
    "nineteen pawns": "4k4/9/9/9/9/9/9/9/4K4 b 19P 1",
    "nineteen pawns in two hands": "4k4/9/9/9/9/9/9/9/4K4 b 10P9p 1",
    "nineteen pawns on board and in hand": "4k4/9/9/4+P4/9/9/9/9/4K4 b 18P 1",
    "five golds": "4k4/9/9/4G4/9/9/9/9/4K4 b 4g 1",
    "three rooks": "4k4/9/9/3+R5/9/9/9/9/4K4 b Rr 1",
    "two kings of a colour": "4k4/9/9/9/9/9/9/4K4/4K4 b - 1",
    "no king": "9/9/9/9/9/9/9/9/9 b - 1",
    "king to be captured": "4k4/9/9/9/9/9/9/4R4/4K4 b - 1",
    "word for a number": "4k4/9/9/9/9/9/9/9/4K4 b - one",
    "negative number": "4k4/9/9/9/9/9/9/9/4K4 b - -1",
    "other digits": "4k4/9/9/9/9/9/9/9/4K4 b - ５",
    "number beyond all games": "4k4/9/9/9/9/9/9/9/4K4 b - 99999999999999999999",
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted(text: str) -> None:
    assert Board(text).sfen() == ACCEPTED[text]


@pytest.mark.parametrize("name", REJECTED)
def test_rejected(name: str) -> None:
    board = Board(positions.MATSURI)
    board.push(board.legal_moves()[0])
    before, moves = board.sfen(), board.moves()
    with pytest.raises(ValueError) as error:
        board.set_sfen(REJECTED[name])
    assert REJECTED[name] in str(error.value)
    assert (board.sfen(), board.moves()) == (before, moves)


def test_order_of_hand_pieces_does_not_matter() -> None:
    rng = random.Random(3)
    pieces = list("RBGSNLPrbgsnlp")
    board, side, _, ply = positions.HANDS.split()
    for _ in range(20):
        rng.shuffle(pieces)
        shuffled = Board(f"{board} {side} {''.join(pieces)} {ply}")
        assert shuffled.sfen() == f"{board} {side} RBGSNLPrbgsnlp {ply}"


# ---- properties ----

LETTERS = ["P", "L", "N", "S", "G", "B", "R", "+P", "+L", "+N", "+S", "+B", "+R"]
pieces = st.sampled_from(LETTERS + [letter.lower() for letter in LETTERS])
# Well-formed and often of the right form only: the texts reach every branch of the reader.
ranks = st.lists(pieces | st.sampled_from("123456789kK"), min_size=1, max_size=9).map("".join)
hands = st.just("-") | st.lists(st.sampled_from(["2", "10", *HAND_ORDER, *HAND_ORDER.lower()]), max_size=8).map("".join)
sfen_like = st.builds(
    "{} {} {} {}".format,
    st.lists(ranks, min_size=9, max_size=9).map("/".join), st.sampled_from("bw"), hands, st.integers(-1, 10**6),
)  # fmt: skip


@st.composite
def placements(draw: st.DrawFn) -> str:
    """An sfen with both kings and pieces anywhere, never too many of them; the opponent may be in check."""
    cells = draw(st.lists(st.integers(0, 80), min_size=2, max_size=9, unique=True))
    placed = dict(zip(cells, ["k", "K", *draw(st.permutations("PLNSGBR"))], strict=False))
    rows = ["".join(placed.get(9 * rank + file, "1") for file in range(9)) for rank in range(9)]
    return f"{'/'.join(rows)} {draw(st.sampled_from('bw'))} {draw(st.sampled_from(['-', 'RB', 'g2p', '2Ln']))} 1"


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """One of the fixed positions with up to four characters replaced."""
    text = list(draw(st.sampled_from(positions.STARTS)))
    for place in draw(st.lists(st.integers(0, len(text) - 1), min_size=1, max_size=4)):
        text[place] = draw(st.sampled_from("+-/0123456789kKpPrRgGwb xé玉"))
    return "".join(text)


@st.composite
def played(draw: st.DrawFn) -> Board:
    """A position reached by up to forty random legal moves."""
    board = Board(draw(st.sampled_from(positions.STARTS)))
    for choice in draw(st.lists(st.integers(0, 600), max_size=40)):
        moves = board.legal_moves(include_all=True)
        if not moves:
            break
        board.push(moves[choice % len(moves)])
    return board


def read_or_refused(text: str) -> Board | None:
    """None if the text is refused, which must be by a ValueError that quotes it."""
    try:
        return Board(text)
    except ValueError as error:
        quoted = text.strip().removeprefix("sfen ")
        assert f"'{quoted}'" in str(error)
        return None


@deterministic
@given(st.text() | sfen_like | damaged())
@example("")
@example("sfen ")
@example("startpos")
@example("\0" * 9 + " b - 1")
@example("4k4/9/9/9/9/9/9/9/4K4 b - \ud800")
def test_any_text_is_read_or_refused(text: str) -> None:
    """What is read has a canonical form that reads as itself."""
    board = read_or_refused(text)
    if board is not None:
        board.legal_moves(include_all=True)
        assert Board(board.sfen()).sfen() == board.sfen()


@deterministic
@given(placements())
def test_placements_come_back(sfen: str) -> None:
    board = read_or_refused(sfen)
    if board is not None:
        assert Board(board.sfen()).sfen() == board.sfen()
        assert Board(board.sfen()).key == board.key


@deterministic
@given(played())
def test_positions_of_games_come_back(board: Board) -> None:
    twin = Board(board.sfen())
    assert (twin.sfen(), twin.key) == (board.sfen(), board.key)
    assert twin.legal_moves(include_all=True) == board.legal_moves(include_all=True)


@deterministic
@given(played())
def test_moves_come_back(board: Board) -> None:
    """The text of every legal move reads as that move."""
    sfen = board.sfen()
    for move in board.legal_moves(include_all=True):
        assert board.is_legal(move)
        board.push(move)
        assert board.pop() == move
    assert board.sfen() == sfen


squares = st.builds("{}{}".format, st.integers(0, 10), st.sampled_from(RANKS + "jA"))
move_like = st.builds("{}{}{}".format, squares | st.sampled_from([f"{letter}*" for letter in "PRKpx+"]), squares,
                      st.sampled_from(["", "+", "++", " "]))  # fmt: skip


@deterministic
@given(played(), st.lists(st.text(max_size=6) | move_like, min_size=1, max_size=20))
def test_any_text_is_a_legal_move_or_refused(board: Board, texts: list[str]) -> None:
    sfen, legal = board.sfen(), set(board.legal_moves(include_all=True))
    for text in texts:
        assert board.is_legal(text) == (text in legal)
        if text not in legal:
            with pytest.raises(ValueError) as error:
                board.push(text)
            assert f"'{text}'" in str(error.value)
    assert board.sfen() == sfen
