"""sfen: strict on meaning, lenient on form; an error quotes the text and leaves the board unchanged."""

import pytest

from core_ext.board import Board
from tests.positions import MATSURI, described_rows


@pytest.mark.parametrize(("name", "text", "sfen"), described_rows("sfens.jsonl"))
def test_reading(name: str, text: str, sfen: str | None) -> None:
    """Each text is read as the sfen beside it, or refused."""
    if sfen is not None:
        assert Board(text).sfen() == sfen
        return
    board = Board(MATSURI)
    board.push(board.legal_moves()[0])
    before, moves = board.sfen(), board.moves()
    with pytest.raises(ValueError) as error:
        board.set_sfen(text)
    assert f"'{text.strip().removeprefix('sfen ')}'" in str(error.value) or name == "no text after its name"
    assert (board.sfen(), board.moves()) == (before, moves)
