"""Files of games and positions: packed ones, text, other programs' records; their positions, damage, resumed files."""

import codecs
import errno
import gzip
import lzma
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from rsshogi import core as rsshogi
from rsshogi.record import Record

from core_ext.board import Board
from core_ext.corpus import NO_SCORE, RESULT_UNIT, TRAINING_POSITION, GameReader
from core_ext.engine import KppWeights
from tests.damage import accepted, random_flips
from tests.learn.conftest import build_corpus, items_of, positions_of, random_game, read_games
from tests.positions import MOST_MOVES
from usi_engine import HCPE_TYPE, PSV_TYPE, LabelledPosition, positions
from usi_engine.learn import game_file
from usi_engine.learn.command import main
from usi_engine.learn.corpus.build import ChunkTask, new_reader, read_chunk
from usi_engine.learn.corpus.packed import HCPE, HCPE3, HCPE3_MOVE, PSV
from usi_engine.learn.corpus.packed_games import decode_block, encode_block
from usi_engine.learn.corpus.positions import shuffled
from usi_engine.learn.corpus.sources import GameSource, read_chunks
from usi_engine.learn.files import write_whole
from usi_engine.learn.game import HEAD, START, ScoredGame, SourceError, parse_game_line, parse_line
from usi_engine.learn.game_file import appending
from usi_engine.records import csa
from usi_engine.records.faults import Fault
from usi_engine.records.formats import FORMATS, SUFFIXES

LINE = "w\tresign\tstartpos\t7g7f 35 3c3d -28 8h2b+ 41 3a2b - B*4e -3 2h3h+ 0"
GAME = (
    "b\tscore\tstartpos\t7g7f 35 3c3d -28 8h2b+ 41 3a2b - B*4e -3 1c1d 99999\n"
    "w\tscore\t4k4/9/9/9/9/9/4P4/9/4K4 w Gr2p 31\t5a5b 7 G*5c -8\n"
    "d\tscore\tstartpos\t2g2f 1\n"
)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A file of three games, some moves unscored."""
    path = tmp_path / "games.tsv"
    path.write_text(GAME)
    return path


def scored_positions(path: Path) -> Iterator[ScoredGame]:
    """Yield the scored positions of games as games of one move."""
    for game in read_games(path):
        board = Board(game.start)
        for move, score in zip(game.moves, game.scores, strict=True):
            if score is not None:
                yield ScoredGame(board.sfen(), [move], [min(score, 32767)], game.result)
            board.push(move)


def without_ply(game: ScoredGame) -> tuple[str, list[str], list[int | None], int]:
    return game.start.rpartition(" ")[0], game.moves, game.scores, game.result


@pytest.mark.parametrize(("ending", "size"), [("psv", 40), ("hcpe", 38)])
def test_positions_make_the_round_trip(games: Path, teacher: Path, tmp_path: Path, ending: str, size: int) -> None:
    """Long games contain promoted pieces and full hands. Only hcpe lacks the ply."""
    for source in (games, teacher):
        out = tmp_path / f"out.{ending}"
        assert main(["export", str(source), "--out", str(out)]) == 0
        found, expected = read_games(out), list(scored_positions(source))
        assert list(map(without_ply, found)) == list(map(without_ply, expected))
        assert ending == "hcpe" or found == expected
        assert out.stat().st_size == size * len(expected) > 0


@pytest.mark.parametrize(("layout", "kind"), [(PSV, rsshogi.Move), (HCPE, rsshogi.AperyMove)])
def test_a_position_is_as_the_library_writes_it(games: Path, tmp_path: Path, layout: Any, kind: Any) -> None:
    """Also the bits of a drop."""
    out, second = tmp_path / ("out.psv" if layout is PSV else "out.hcpe"), rsshogi.Board()
    main(["export", str(games), "--out", str(out)])
    second.apply_usi("7g7f")
    values = list(layout.iter_unpack(out.read_bytes()))
    assert values[1][0] == (second.to_packed_sfen() if layout is PSV else second.to_hcp())
    assert (values[1][1], values[1][-1]) == (-28, -1 if layout is PSV else 1)  # White is to move, Black won
    assert values[3][2] == kind.from_usi("B*4e").value and read_games(out)[3].moves == ["B*4e"]


def hcpe3_of(game: ScoredGame) -> bytes:
    """Return a game as hcpe3: two candidates at each move with a score."""
    data = HCPE3.pack(rsshogi.Board(game.start).to_hcp(), len(game.moves), {1: 1, -1: 2, 0: 4}[game.result], 0)
    for text, score in zip(game.moves, game.scores, strict=True):
        move = rsshogi.AperyMove.from_usi(text).value
        visited = 2 if score is not None else 0
        data += HCPE3_MOVE.pack(move, min(score or 0, 32767), visited) + bytes(4 * visited)
    return data


def test_hcpe3_games_are_read(tmp_path: Path) -> None:
    lines = [GAME.splitlines()[0].replace("99999", "-5"), GAME.splitlines()[2]]
    made = [parse_game_line(line) for line in lines] * 20
    (tmp_path / "games.hcpe3").write_bytes(b"".join(hcpe3_of(game) for game in made))
    assert read_games(tmp_path / "games.hcpe3") == [replace(game, ending="-") for game in made]


def test_results_of_hcpe_have_bits_for_the_kind_of_end(tmp_path: Path) -> None:
    data = bytearray(hcpe3_of(parse_game_line(GAME.splitlines()[2])))
    for kind, result in ((0x01, 1), (0x06, -1), (0x09, 1), (0x16, 0)):
        data[34] = kind
        (tmp_path / "games.hcpe3").write_bytes(data)
        assert [game.result for game in read_games(tmp_path / "games.hcpe3")] == [result]


def test_hcpe3_is_read_up_to_damage(tmp_path: Path) -> None:
    data = hcpe3_of(parse_game_line(GAME.splitlines()[2]))
    for damaged in (data[:-3], data[:40] + b"\xff\xff" + data):
        (tmp_path / "games.hcpe3").write_bytes(data + damaged)
        assert [type(item) for item in items_of(tmp_path / "games.hcpe3")] == [ScoredGame, Fault]


def test_values_out_of_range_are_faults_with_their_place(games: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.psv"
    main(["export", str(games), "--out", str(path)])
    good = [PSV.unpack(value) for value in (path.read_bytes()[at : at + 40] for at in range(0, 320, 40))]
    sfen, score, move, ply, _ = good[0]
    bad = [
        PSV.pack(b"\xff" * 32, score, move, ply, 1),  # kings nowhere
        PSV.pack(sfen, score, 0xFFFF, ply, 1),
        PSV.pack(sfen, score, move ^ 1, ply, 1),  # a pawn's move by two squares or none
        PSV.pack(sfen, score, move, ply, 7),
        PSV.pack(sfen, -32768, move, 0, 1),  # used: another program's mate, and no ply
    ]
    path.write_bytes(b"".join([*bad, path.read_bytes()[:40], b"end"]))
    card = build_corpus([path], tmp_path / "corpus")
    assert (card["games"], card["broken_games"], card["quiet_positions"]) == (7, 5, 2)
    assert f"{path}, position 1: not a packed position" in card["first_broken"]


def test_neighbours_are_held_out_together(teacher: Path, tmp_path: Path) -> None:
    """Positions that follow each other may be of one game."""
    main(["export", str(teacher), "--out", str(tmp_path / "out.psv")])
    parts = [read_chunk(new_reader(None), ChunkTask(chunk)) for chunk in read_chunks(tmp_path / "out.psv")]
    found = [set(part.positions["game"].tolist()) for part in parts]
    assert len(found) > 5 and found[:-1] == [set(range(1, 1024, 128))] * (len(found) - 1)


PASS = "手合割：平手\n   1 ２六歩(27)\n** 30\n   2 パス\n** 30\n   3 投了\n"
WRONG = f"{LINE}\nb\t-\t4k4/9/9/9/9/9/9/9/9 b P 1\tP*5e 5\n"
UNSCORED = "d\t-\tstartpos\t\nb\t-\tstartpos\t7g7f -\n"  # a game without moves is no fault


@pytest.mark.parametrize(
    ("text", "used", "fault"),
    [
        (f"{WRONG}b\t-\tstartpos\t7g7f 3\n", 1, "2 not used; the first: A, line 1: illegal move '2h3h+'"),
        (PASS, 0, "1 not used; the first: A, game 1: a side passes"),
        (UNSCORED, 0, "1 not used; the first: A, line 2: its moves have no scores; `learn rescore` gives them\n"),
        (f"{UNSCORED}b\t-\tstartpos\t7g7f - 3c3d 5\n", 1, "1 not used; the first: A, line 2: its moves have no scores"),
    ],
)
def test_games_that_cannot_be_written_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, used: int, fault: str
) -> None:
    games, out = tmp_path / ("a.kifu" if text == PASS else "a.tsv"), tmp_path / "out.psv"
    games.write_text(text, encoding="utf-8")
    assert main(["export", str(games), "--out", str(out)]) == (0 if used else 2)
    shown = capsys.readouterr()
    assert shown.err.startswith(("" if used else f"no position for {out}: ") + fault.replace("A", str(games), 1))
    assert shown.out.count("1 positions") == used


def some_games() -> list[ScoredGame]:
    """Random games with scores of all sizes, some moves without one, and places that need more than a byte."""
    rng = random.Random(3)
    games = [parse_game_line(random_game(seed, 90)) for seed in range(20)]
    games += (
        ScoredGame(MOST_MOVES, [move], [None], 1, "x") for move in rng.sample(Board(MOST_MOVES).legal_moves(), 30)
    )
    for game in games:
        scores = [None if rng.random() < 0.2 else rng.choice([rng.randint(-99, 99), -32767, 32767]) for _ in game.moves]
        game.scores[:] = scores
    return [*games, ScoredGame(Board().sfen(), [], [], 0)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of two blocks of packed games."""
    games, path = some_games(), tmp_path / "some.games"
    path.write_bytes(encode_block(games[:30]) + encode_block(games[30:]))
    return path


def slowly_decoded(data: bytes) -> list[ScoredGame]:
    """Decode a block byte by byte."""
    streams, at = [], 8
    for _ in range(3):
        size = int.from_bytes(data[at : at + 8], "little")
        streams.append(lzma.decompress(data[at + 8 : at + 8 + size]))
        at += 8 + size
    assert data[:8] == b"KGAMES1\n" and at == len(data)
    places, codes, games = iter(streams[1]), iter(streams[2]), []
    for head in streams[0].decode().splitlines():
        start, result, ending, plies = head.split("\t")
        board, moves, scores, last = Board(start), list[str](), list[int | None](), 0
        for _ in range(int(plies)):
            place = next(places)
            place = next(places) | next(places) << 8 if place == 255 else place
            moves.append(sorted(board.legal_moves())[place])
            board.push(moves[-1])
            code = shift = 0
            while (byte := next(codes)) >= 128:
                code, shift = code | (byte & 127) << shift, shift + 7
            code |= byte << shift
            gap = (code - 1) // 2 if code % 2 else -(code // 2)
            last = gap - last if code else -last
            scores.append(last if code else None)
        games.append(ScoredGame(start, moves, scores, {"b": 1, "w": -1, "d": 0}[result], ending))
    return games


def test_games_make_the_round_trip(path: Path) -> None:
    assert read_games(path) == some_games()
    assert slowly_decoded(encode_block(some_games())) == some_games()
    assert decode_block(b"", b"", b"") == []


def test_dominated_and_missing_moves_are_refused() -> None:
    reader, start = GameReader(), "4k4/9/1P7/9/9/9/9/9/4K4 b - 1"
    with pytest.raises(ValueError, match="a dominated move: '8c8b'"):
        reader.places_of(start, ["8c8b"])
    with pytest.raises(ValueError, match="illegal move '7c7b'"):
        reader.places_of(start, ["7c7b"])
    with pytest.raises(ValueError, match="move 2: there is no legal move 600"):
        reader.moves_at(start, [0, 600])


def test_damage_is_named_with_its_place(path: Path) -> None:
    """Each byte of the file may be wrong or the last one."""
    whole = path.read_bytes()
    second = len(encode_block(some_games()[:30]))
    for size in (1, 7, 12, 200, second + 3, len(whole) - 1):
        path.write_bytes(whole[:size])
        at = 0 if size < second else second
        with pytest.raises(SourceError, match=f"{path}: the block of games at byte {at} is cut off"):
            read_games(path)
    assert accepted(read_games, path, random_flips(whole, 300), SourceError, str(path)) < 20


def test_streams_that_do_not_fit_are_refused() -> None:
    head = f"{Board().sfen()}\tb\tscore\t1\n".encode()
    assert len(decode_block(head, b"\0", b"\1")) == 1
    wrong = [
        (head, b"", b"\1"), (head, b"\0", b""), (head, b"\0\0", b"\1\1"), (head, b"\xff\0", b"\1"),
        (head, b"\0", b"\x81"), (head, b"\0", b"\x81\x81\x81\1"), (head, b"\0", b"\xff\xff\x7f"),
        (head.replace(b"1\n", b"9999999999999999\n"), b"\0", b"\1"), (head.replace(b"\tb\t", b"\tx\t"), b"\0", b"\1"),
        (b"\xff" + head, b"\0", b"\1"), (b"no head\n", b"", b""),
    ]  # fmt: skip
    for streams in wrong:
        with pytest.raises(ValueError):
            decode_block(*streams)


def append(path: Path, games: list[ScoredGame]) -> None:
    with appending(path, HEAD + "{}\n") as file:
        for game in games:
            file.add(game)


def test_an_interrupted_file_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes do not depend on the interruptions, and only the games of a cut-off block are lost."""
    monkeypatch.setattr(game_file, "BLOCK", 20)
    games, whole, broken = some_games(), tmp_path / "whole.games", tmp_path / "broken.games"
    append(whole, games)
    append(broken, games[:30])
    append(broken, games[30:35])
    data = broken.read_bytes()
    first = len(encode_block(games[:20], HEAD + "{}\n"))
    for size, kept in ((len(data), 35), (len(data) - 1, 20), (first + 9, 20), (first, 20), (first - 1, 0), (3, 0)):
        broken.write_bytes(data[:size])
        with appending(broken) as file:
            assert len(file.keys) == kept
        append(broken, games[kept:])
        assert broken.read_bytes() == whole.read_bytes()
    assert read_games(whole) == games


def test_a_full_disk_costs_no_games_of_an_earlier_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games, path = some_games(), tmp_path / "some.games"
    append(path, games[:2])
    before, write = path.read_bytes(), write_whole

    def write_some(file: IO[bytes], data: Any) -> None:
        write(file, data[: len(before)])
        if len(data) > len(before):
            raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(game_file, "write_whole", write_some)
    with pytest.raises(OSError, match=f"no space left: '{path}'"):
        append(path, games[2:9])
    assert path.read_bytes() == before


def test_games_are_written_while_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_file, "WRITE_SECONDS", 0.0)
    with appending(tmp_path / "some.games") as file:
        for number, game in enumerate(some_games()[:3], 1):
            file.add(game)
            assert len(read_games(tmp_path / "some.games")) == number


# ---- games from files ----

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
