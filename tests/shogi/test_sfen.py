"""sfen: strict on meaning, lenient on form; an error quotes the text and leaves the board unchanged."""

import pytest

from core_ext.board import Board
from tests import positions
from tests.shogi.slow_shogi import START

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
    "no text after its name": "sfen ",
    "null characters": "\0" * 9 + " b - 1",
    "a lone surrogate": "4k4/9/9/9/9/9/9/9/4K4 b - \ud800",
    "one field": "lnsgkgsnl",
    "five fields": f"{START} 1",
    "moves": "startpos moves 7g7f",
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
    assert f"'{REJECTED[name].strip().removeprefix('sfen ')}'" in str(error.value) or name == "no text after its name"
    assert (board.sfen(), board.moves()) == (before, moves)
