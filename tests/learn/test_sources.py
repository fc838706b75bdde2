"""Games from files, in text and other programs' records, and their positions."""

import codecs
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from rsshogi.record import Record

from core_ext.board import Board
from core_ext.corpus import NO_SCORE, RESULT_UNIT, TRAINING_POSITION, GameReader
from core_ext.engine import KppWeights
from tests.learn.helpers import items_of, positions_of, read_games
from usi_engine import HCPE_TYPE, PSV_TYPE, LabelledPosition, positions
from usi_engine.learn.command import main
from usi_engine.learn.corpus.positions import shuffled
from usi_engine.learn.corpus.sources import GameSource
from usi_engine.learn.game import START, ScoredGame, SourceError, parse_game_line, parse_line
from usi_engine.records import csa
from usi_engine.records.faults import Fault
from usi_engine.records.formats import FORMATS, SUFFIXES

RECORDS = Path(__file__).resolve().parents[1] / "data" / "records"
CSA = "V2.2\nPI\n+\n+7776FU\n'** 54\n-3334FU\n'** -30\n+2726FU\n'** 12\n"
MOVES = ["7g7f", "3c3d", "2g2f"]


def test_lines_that_are_not_games_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    game = "b\tscore\tstartpos\t7g7f"
    lines = [f"{game} 1", "no game", f"{START}\t7g7f:5", game, "d\t-\tstartpos\t"]
    path = tmp_path / "games.tsv"
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    source = GameSource([path, path])
    assert [number for number, *_ in source.games()] == [1, 2, 3, 4]
    assert source.skipped.line == f"8 not used; the first: {path}, line 2: not a game: 'no game'"
    path.write_text(lines[2])
    source = GameSource([path])
    assert not list(source.games())
    assert source.skipped.line == f"1 not used; the first: {path}, line 1: a position with scored moves is not a game"


@pytest.mark.parametrize("name", ["G.TSV", "G.tsv.XZ", "g.Tsv.Gz"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_file_names_of_any_case_and_byte_order_marks_are_read(tmp_path: Path, name: str, mark: bytes) -> None:
    text = mark + b"b\tscore\tstartpos\t7g7f 1\n" * 2
    packed = {".xz": lzma.compress(text), ".gz": gzip.compress(text)}.get(name[-3:].lower(), text)
    (tmp_path / name).write_bytes(packed)
    assert [game.moves for game in read_games(tmp_path / name)] == [["7g7f"]] * 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "not a game"),
        ("x\tscore\tstartpos\t7g7f 1", "not a game: 'x"),
        ("b\tscore\tstartpos\t7g7f", "a move without a score: '7g7f'"),
        ("b\tscore\tstartpos\t7g7f ten", "not a score: .*'ten'"),
        *((f"{START}\t{words}\n", "not a value") for words in ("7g7f", "7g7f:ten", "7g7f:")),
    ],
)
def test_wrong_lines_are_quoted(line: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parse_line(line)


def test_csa_and_packed_sfen_give_the_same_positions(tmp_path: Path) -> None:
    made = Record.from_csa_str(f"{CSA}%TORYO\n")
    (tmp_path / "game.csa").write_text(made.to_csa())
    # Byte 38 is the result for the side to move; White resigned, so Black won.
    values = [value[:38] + bytes([1 if i % 2 == 0 else 255]) + value[39:] for i, value in enumerate(made.to_psv())]
    (tmp_path / "game.psv").write_bytes(b"".join(values))
    games, packed = read_games(tmp_path / "game.csa"), read_games(tmp_path / "game.psv")
    assert (games[0].moves, games[0].scores, games[0].result) == (MOVES, [54, 30, 12], 1)
    assert [(game.moves, game.result) for game in packed] == [([move], 1) for move in MOVES]
    assert list(positions_of(packed)["key"]) == list(positions_of(games)["key"])


def test_every_format_of_records_gives_the_same_game(tmp_path: Path) -> None:
    """USI text has no scores."""
    record = csa.read(f"{CSA}%TORYO\n")
    for ending, kind in SUFFIXES.items():
        path = tmp_path / f"game{ending.upper()}"
        path.write_text(FORMATS[kind].write(record).strip() + " resign" * (kind == "usi"), encoding="utf-8")
        scores: list[int | None] = [None] * 3 if kind == "usi" else [54, 30, 12]
        assert read_games(path) == [ScoredGame(START, MOVES, scores, 1)], ending


def test_a_faulty_csa_game_does_not_affect_the_others(tmp_path: Path) -> None:
    """Its number is named; empty parts and comments between two `/` are not games."""
    good = "V2.2\nPI\n+\n+7776FU\n-3334FU\n%TORYO\n"
    path = tmp_path / "games.csa"
    path.write_text("/\n".join([good, good.replace("7776", "7775"), "\n' a comment\n", "\n", good]))
    source = GameSource([path])
    assert [place for _, place, _ in source.games()] == [f"{path}, game 1", f"{path}, game 3"]
    assert source.skipped.line == (f"1 not used; the first: {path}, game 2: line 11, move 1: illegal move: '+7775FU'")


@pytest.mark.parametrize("ending", [".csa", ".kif", ".jkf"])
def test_text_that_is_not_a_record_is_a_fault(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"game{ending}"
    path.write_text("What is this?\n+7776FU\n")
    assert [type(item) for item in items_of(path)] == [Fault]


def test_an_unknown_ending_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="expected a name ending"):
        list(items_of(tmp_path / "games.doc"))


def test_positions_of_every_format_have_their_labels(tmp_path: Path) -> None:
    """Move, score and result are for the side to move; a fault is raised, or passed on."""
    games, out = tmp_path / "games.tsv", tmp_path / "out"
    games.write_text(
        "w\tresign\tstartpos\t7g7f 35 3c3d -28\nd\t-\tstartpos\t7g7e 1\n4k4/9/9/9/9/9/9/9/4K4 b P 1\tP*5e:9\n"
    )
    found, faults = list[LabelledPosition](), list[ValueError]()
    found += positions(games, faults.append)
    assert [(one.board.ply, one.move, one.score, one.result) for one in found] == [
        (1, "7g7f", 35, -1), (2, "3c3d", -28, 1), (1, "P*5e", 9, None),
    ]  # fmt: skip
    assert [str(fault).startswith(f"{games}, line 2: illegal move '7g7e'") for fault in faults] == [True]
    with pytest.raises(ValueError, match="line 2: illegal move"):
        list(positions([games]))
    for ending, kind, position, score, read in (
        (".hcpe", HCPE_TYPE, "hcp", "eval", Board.from_hcp),
        (".psv", PSV_TYPE, "sfen", "score", Board.from_psv),
    ):
        assert main(["export", str(games), "--out", str(out.with_suffix(ending))]) == 0
        again = list(positions(out.with_suffix(ending)))
        assert [(one.board, one.move, one.score, one.result) for one in again] == [
            (one.board, one.move, one.score, one.result) for one in found[:2]
        ]
        packed = np.fromfile(out.with_suffix(ending), kind)
        assert [read(one) for one in packed[position]] == [one.board for one in found[:2]]
        assert packed[score].tolist() == [35, -28]


def test_a_buffer_shuffles() -> None:
    for size in (0, 1, 10, 200):
        orders = [list(shuffled(range(100), size, seed)) for seed in (1, 1, 2)]
        assert orders[0] == orders[1] and all(sorted(order) == [*range(100)] for order in orders)
        assert (orders[0] == [*range(100)]) == (size < 2) == (orders[0] == orders[2])
    assert max(place - value for place, value in enumerate(shuffled(range(1000), 10))) > 10


def test_only_quiet_positions_are_kept() -> None:
    found = positions_of([parse_game_line("b\tscore\tstartpos\t7g7f 10 3c3d 20 8h2b+ 30 3a2b 40 B*5e 50 1c1d 4000")])
    # Captures and the answer to a check are left out; scores are Black's.
    assert [int(score) for score in found["score"]] == [10, -20, 50, -4000]
    assert [int(side) for side in found["side"]] == [0, 1, 0, 1]
    assert set(found["result"]) == {RESULT_UNIT}


EN_PRISE, CAPTURED = "4k4/9/9/9/4r4/4P4/9/9/4K4 b -", "4k4/9/9/9/4P4/9/9/9/4K4 w R"
TWO_EN_PRISE = "4k4/9/9/9/4p3r/4P3L/9/9/4K4 b -"
DEFENDED = "4k4/9/9/4r4/4p4/9/9/4R4/4K4 b -"


@pytest.mark.parametrize(
    ("sfen", "move", "score", "found"),
    [
        (EN_PRISE, "5f5e", 900, [CAPTURED]),  # the chosen move captures the rook: the leaf
        (EN_PRISE, "5i6h", -40, [EN_PRISE]),  # it does not: the score is not that of the leaf
        (TWO_EN_PRISE, "5f5e", 300, []),  # the leaf is after the capture of the rook
        (DEFENDED, "5h6h", 70, [DEFENDED]),  # a defended pawn is not captured: the position is its own leaf
        (DEFENDED, "5h5e", 70, []),  # a capture from a leaf gives no position
    ],
)
def test_quiescence_leaves(weights: KppWeights, sfen: str, move: str, score: int, found: list[str]) -> None:
    reader, out = GameReader(weights), np.zeros(2, TRAINING_POSITION)
    assert reader.read_game(sfen, [move], [score], 1, 0, out) == len(found)
    assert [int(position["key"]) for position in out[: len(found)]] == [Board(sfen).key for sfen in found]
    assert [int(position["score"]) for position in out[: len(found)]] == [score] * len(found)  # for Black


def test_a_game_stops_when_there_is_no_room(weights: KppWeights) -> None:
    reader, out = GameReader(weights), np.zeros(4, TRAINING_POSITION)
    moves = ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e"]
    assert reader.read_game(START, moves, [10] * len(moves), 1, 0, out) == 4


def test_king_squares_are_from_each_perspective() -> None:
    found = positions_of([parse_game_line("w\tscore\tstartpos\t5i6h 1 5a4b 2 6h7h 3")])
    assert [tuple(kings) for kings in found["king"]] == [(44, 44), (52, 44), (52, 80 - 28)]


def test_a_position_without_score_is_left_out_unless_all_are() -> None:
    moves, out = ["7g7f", "3c3d", "2g2f"], np.zeros(8, TRAINING_POSITION)
    assert GameReader().read_game(START, moves, [10, None, 30], 1, 0, out) == 2
    assert list(out["score"][:2]) == [10, 30]
    assert GameReader().read_game(START, moves, [None] * 3, 1, 0, out) == 3
    assert set(out["score"][:3]) == {NO_SCORE}
