"""Games to corpus to weights: what is kept, that it repeats, the gradient, and that play computes what was learned."""

import random
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core_ext.board import Board
from core_ext.engine import StopToken, Table, Weights, Worker
from core_ext.records import NO_RESULT, NO_SCORE, RECORD, GameReader
from core_ext.training import LOGIT, ROW, Meeting, Trainer, king_zones
from tests.eval.turning import mirrored, turned
from usi_engine.core import INTERNAL
from usi_engine.learn import selfplay as selfplay_module
from usi_engine.learn import train as train_module
from usi_engine.learn.command import main
from usi_engine.learn.corpus import HELD_OUT, TRAINING, build_corpus
from usi_engine.learn.export import export, weights_of
from usi_engine.learn.selfplay import Played, Rules, games_in, opening_of, play_games, selfplay
from usi_engine.learn.sources import START, SourceError, items_of, parse_line, parse_teacher_line
from usi_engine.learn.start import begin_with
from usi_engine.learn.strays import make_strays
from usi_engine.learn.train import MODELS, Plan, Training, measure, side_by_side
from usi_engine.weights import BONAPIECES, HALF_SQUARES, load_weights, read_card

STEPS = Plan().steps
PAIRS = BONAPIECES * (BONAPIECES + 1) // 2
SMALL = ("piece", "tempo", "kp", "relative", "pp")


def random_game(seed, plies=120):
    """Moves of a random game with a made-up score each: the material a pawn a piece, and noise."""
    chance = random.Random(seed)
    board, words = Board(), []
    for _ in range(plies):
        moves = board.legal_moves()
        if not moves:
            break
        words += [chance.choice(moves), str(chance.randint(-900, 900))]
        board.push(words[-2])
    return f"{'bwd'[seed % 3]}\tlength\tstartpos\t{' '.join(words)}\n"


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "games.tsv"
    path.write_text("".join(random_game(seed) for seed in range(60)))
    return path


def records_of(games, room=20000):
    reader, out, used = GameReader(), np.zeros(room, RECORD), 0
    for number, game in enumerate(games):
        used += reader.read(game.start, game.moves, game.scores, game.result, number, out[used:])
    return out[:used]


@pytest.fixture(scope="module")
def records(teacher):
    return records_of(items_of(teacher))


# ---- games ----


def test_only_quiet_positions_are_kept():
    line = "b\tscore\tstartpos\t7g7f 10 3c3d 20 8h2b+ 30 3a2b 40 B*5e 50 1c1d 4000"
    game = parse_teacher_line(line)
    found = records_of([game])
    # The captures and the answer to a check are out, and so is the huge score.
    assert [int(score) for score in found["score"]] == [10, -20, 50]
    assert [int(side) for side in found["side"]] == [0, 1, 0]
    assert set(found["result"]) == {1}


@pytest.mark.parametrize(
    ("sfen", "move", "score", "found"),
    [
        # A rook left to be taken: the position after it is taken, and the score for who moves then.
        ("4k4/9/9/9/4r4/4P4/9/9/4K4 b -", "5f5e", 900, ["4k4/9/9/9/4P4/9/9/9/4K4 w R"]),
        # Where the chosen move leaves it alone, the position itself too.
        (
            "4k4/9/9/9/4r4/4P4/9/9/4K4 b -",
            "5i6h",
            -40,
            ["4k4/9/9/9/4r4/4P4/9/9/4K4 b -", "4k4/9/9/9/4P4/9/9/9/4K4 w R"],
        ),
        # A pawn that is defended is left alone, and so the position is its own quiet end.
        ("4k4/9/9/4r4/4p4/9/9/4R4/4K4 b -", "5h6h", 70, ["4k4/9/9/4r4/4p4/9/9/4R4/4K4 b -"]),
    ],
)
def test_positions_settle_where_captures_end(sfen, move, score, found):
    reader, out = GameReader(load_weights(INTERNAL, Weights)), np.zeros(2, RECORD)
    assert reader.read(sfen, [move], [score], 1, 0, out) == len(found)
    assert [int(record["key"]) for record in out[: len(found)]] == [Board(sfen).key for sfen in found]
    assert {int(record["score"]) for record in out[: len(found)]} == {score}  # for Black, who was to move


def test_a_game_stops_where_its_records_have_no_room():
    reader, out = GameReader(load_weights(INTERNAL, Weights)), np.zeros(5, RECORD)
    moves = ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e"]
    assert reader.read(START, moves, [10] * len(moves), 1, 0, out) == 4  # one a move here, room for two


def test_a_capture_that_does_not_seem_to_pay_teaches_nothing():
    """The score stands for reasons that lie behind it."""
    sfen = "4k4/9/9/4r4/4p4/9/9/4R4/4K4 b -"
    assert GameReader(load_weights(INTERNAL, Weights)).read(sfen, ["5h5e"], [70], 1, 0, np.zeros(2, RECORD)) == 0


def test_records_say_where_the_kings_are():
    found = records_of([parse_teacher_line("w\tscore\tstartpos\t5i6h 1 5a4b 2 6h7h 3")])
    assert [tuple(kings) for kings in found["king"]] == [(44, 44), (52, 44), (52, 80 - 28)]


@pytest.mark.parametrize(
    "line", ["", "x\tscore\tstartpos\t7g7f 1", "b\tscore\tstartpos\t7g7f", "b\tscore\tstartpos\t7g7f ten"]
)
def test_a_line_that_is_no_game_is_quoted(line):
    with pytest.raises(SourceError):
        parse_teacher_line(line)


def test_illegal_moves_are_refused():
    with pytest.raises(ValueError, match="7g7e"):
        GameReader().read(START, ["7g7e"], [0], 1, 0, np.zeros(4, RECORD))


def test_csa_and_packed_sfen_come_through_the_same_door(tmp_path):
    record = pytest.importorskip("rsshogi.record", reason="rsshogi reads other programs' records")
    made = record.Record.from_csa_str("V2.2\nPI\n+\n+7776FU\n'** 54\n-3334FU\n'** -30\n+2726FU\n'** 12\n%TORYO\n")
    (tmp_path / "game.csa").write_text(made.to_csa())
    # Byte 38 is the result for the side to move; White resigned, so Black won.
    values = [value[:38] + bytes([1 if i % 2 == 0 else 255]) + value[39:] for i, value in enumerate(made.to_psv())]
    (tmp_path / "game.psv").write_bytes(b"".join(values))
    games = list(items_of(tmp_path / "game.csa"))
    assert games[0].moves == ["7g7f", "3c3d", "2g2f"]
    assert games[0].scores == [54, 30, 12]
    packed = list(items_of(tmp_path / "game.psv"))
    assert [game.moves for game in packed] == [["7g7f"], ["3c3d"], ["2g2f"]]
    assert {game.result for game in packed} == {games[0].result}
    assert list(records_of(packed)["key"]) == list(records_of(games)["key"])


def test_sbinpack_scores_are_the_movers(tmp_path):
    """As ShogiArena writes them: engines speak for themselves."""
    record = pytest.importorskip("rsshogi.record", reason="rsshogi reads other programs' records")
    moves = "+7776FU\n'** 54\n-3334FU\n'** -30\n+2726FU\n'** 12\n"
    made = [record.Record.from_csa_str(f"V2.2\nPI\n+\n{moves}%{end}\n") for end in ("TORYO", "SENNICHITE")]
    record.write_sbinpack_file(str(tmp_path / "games.sbinpack"), made)
    games = list(items_of(tmp_path / "games.sbinpack"))
    assert [game.result for game in games] == [1, 0]
    assert [game.scores for game in games] == [[54, -30, 12]] * 2
    assert {tuple(game.moves) for game in games} == {("7g7f", "3c3d", "2g2f")}


def test_a_book_gives_the_settled_positions_after_its_moves(tmp_path):
    """Values are for the mover; a check, a rook left to be taken and a value beyond the window teach nothing."""
    start, path = "4k4/9/9/9/9/9/4p4/7R1/4K4 b -", tmp_path / "book.tsv"
    path.write_text(f"{start}\t2h2i:50 5i6h:10 2h2a+:60 2h5h:20 5i4h:-400\n")
    card = build_corpus([], tmp_path / "corpus", also=[path])
    found = np.fromfile(tmp_path / "corpus" / TRAINING, dtype=RECORD)
    told = {int(record["key"]): int(record["score"]) for record in found}
    assert told == {key_after(start, "2h2i"): 50, key_after(start, "5i6h"): 10}
    assert (set(found["result"]), set(found["game"]), set(found["side"])) == ({NO_RESULT}, {0}, {1})
    assert card["held_out"] == 0


def key_after(sfen, move):
    board = Board(sfen)
    board.push(move)
    return board.key


@pytest.mark.parametrize("words", ["7g7f", "7g7f:ten", "7g7f:"])
def test_a_book_line_without_its_values_is_quoted(words):
    with pytest.raises(SourceError, match="not a value"):
        parse_line(f"{START}\t{words}\n")


def test_of_other_games_none_is_held_out(teacher, tmp_path):
    split = build_corpus([teacher], tmp_path / "split", every=5)
    whole = build_corpus([], tmp_path / "whole", every=5, also=[teacher])
    assert split["held_out"] > 0 == whole["held_out"]
    assert split["held_out"] + split["training"] == whole["training"]


def test_an_unknown_ending_is_named(tmp_path):
    with pytest.raises(SourceError, match="expected a name ending"):
        items_of(tmp_path / "games.doc")


# ---- corpus ----


def test_the_corpus_is_split_by_game_without_twins_and_repeats(teacher, tmp_path):
    cards = [build_corpus([teacher, teacher], tmp_path / name, every=5, seed=3) for name in ("one", "two")]
    for name in (TRAINING, HELD_OUT):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    training, held = (np.fromfile(tmp_path / "one" / name, dtype=RECORD) for name in (TRAINING, HELD_OUT))
    keys = np.concatenate([training["key"], held["key"]])
    assert len(keys) == len(set(keys)) > 1000
    assert not set(training["game"]) & set(held["game"])
    assert cards[0]["games"] == 120
    assert cards[0]["training"] == len(training)
    assert 0 < len(held) < len(training)
    assert list(training["key"]) != sorted(training["key"])


def test_another_seed_shuffles_otherwise(teacher, tmp_path):
    for seed in (1, 2):
        build_corpus([teacher], tmp_path / str(seed), seed=seed)
    assert (tmp_path / "1" / TRAINING).read_bytes() != (tmp_path / "2" / TRAINING).read_bytes()


# ---- the model ----


def loss(trainer, record):
    """Logistic loss of one position."""
    p = 1 / (1 + np.exp(-trainer.values(record).astype(np.float64)[0]))
    t = 0.8 / (1 + np.exp(-record["score"][0] / 600)) + 0.2 * (record["result"][0] + 1) / 2
    return -(t * np.log(p) + (1 - t) * np.log(1 - p))


def noisy(terms, seed=1):
    """A trainer whose weights are small random numbers."""
    trainer = Trainer(terms)
    chance = np.random.default_rng(seed)
    for name in terms:
        cells = trainer.cells(name)
        size = len(cells) if name != "kpp" else 8 * PAIRS * ROW  # kings off the middle file
        cells[:size, 0] = chance.standard_normal(size, np.float32)
        cells[:size, 0] *= 0.02
    return trainer


@pytest.mark.parametrize("terms", [SMALL, MODELS["KPP"], MODELS["KPPT"]], ids=["KP+PP", "KPP", "KPPT"])
def test_the_gradient_is_that_of_finite_differences(records, terms):
    """After one step the sum of squares is the squared gradient, and the step went against it."""
    chance = random.Random(3)
    trainer = noisy(terms)
    # Values are single precision: where the model is nearly right, a slope drowns in their last digits.
    wrong = [number for number in range(100, 900) if abs(slope_of_value(trainer, records[number : number + 1])) > 0.15]
    for number in wrong[:3]:
        record = records[number : number + 1]
        for name in terms:
            trainer.cells(name)[:, 1] = 0
        before = {name: trainer.cells(name)[:, 0].copy() for name in terms}
        error = slope_of_value(trainer, record)
        trainer.learn(record, [1e-6] * len(STEPS), result_share=0.2)
        for name in terms:
            cells = trainer.cells(name)
            touched = np.flatnonzero(cells[:, 1])
            squares, moved = cells[touched, 1], cells[touched, 0] - before[name][touched]
            cells[touched, 0] = before[name][touched]
            assert len(touched)
            for i in chance.sample(range(len(touched)), min(6, len(touched))):
                uses = squares[i] / error**2
                check_slope(trainer, record, cells, place=touched[i], uses=uses, moved=moved[i], error=error)


def slope_of_value(trainer, record):
    """The derivative of the loss by the value: the error of the chance."""
    p = 1 / (1 + np.exp(-trainer.values(record).astype(np.float64)[0]))
    t = 0.8 / (1 + np.exp(-record["score"][0] / 600)) + 0.2 * (record["result"][0] + 1) / 2
    return p - t


def check_slope(trainer, record, cells, *, place, uses, moved, error):
    """A weight used `uses` times, for Black or for White: its slope is the difference of both times the error."""
    kept = cells[place, 0]
    losses = []
    for sign in (1, -1):
        cells[place, 0] = kept + sign * 0.02
        losses.append(loss(trainer, record))
    cells[place, 0] = kept
    slope = (losses[0] - losses[1]) / 0.04
    assert uses == pytest.approx(round(uses), rel=1e-3)
    difference = slope / error
    assert difference == pytest.approx(round(difference), abs=0.03)
    assert abs(round(difference)) <= round(uses)
    assert (round(difference) - round(uses)) % 2 == 0
    if round(uses) == 1:
        assert (moved < 0) == (slope > 0)


def test_the_same_seed_gives_the_same_bytes(records):
    made = []
    for _ in range(2):
        trainer = Trainer(SMALL)
        trainer.learn(records, STEPS)
        trainer.learn(records, STEPS)
        made.append([trainer.cells(name).tobytes() for name in SMALL])
    assert made[0] == made[1]


def test_learning_lowers_the_divergence(records):
    trainer = Trainer(SMALL)
    before = measure(trainer, records, Plan())["divergence"]
    for _ in range(5):
        trainer.learn(records, STEPS)
    assert measure(trainer, records, Plan())["divergence"] < 0.8 * before


def test_a_position_without_a_score_learns_from_the_result(records):
    won = records[:1].copy()
    won["score"], won["result"] = NO_SCORE, 1
    trainer = Trainer(SMALL)
    for _ in range(20):
        trainer.learn(won, STEPS)
    assert trainer.values(won)[0] > 0.1


def test_a_position_without_a_result_learns_from_the_score_alone(records):
    """Its target is the chance that the score means, whatever the share of results, and it has a tempo of its own."""
    valued = records[:1].copy()
    valued["score"], valued["result"] = 300, NO_RESULT
    trainer = Trainer(SMALL)
    trainer.learn(np.repeat(valued, 5000), STEPS, result_share=0.2)
    assert trainer.values(valued)[0] * LOGIT == pytest.approx(300, abs=3)
    assert measure(trainer, valued, Plan(result_share=0.2))["divergence"] < 1e-4
    assert trainer.cells("tempo")[0, 0] == 0 != trainer.cells("tempo")[1, 0]


@pytest.mark.parametrize(("share", "chance"), [(None, 0.5), (0.4, 0.7)])
def test_beside_a_score_the_result_counts_only_where_asked_for(records, share, chance):
    level = records[:1].copy()
    level["score"], level["result"] = 0, 1
    asked = {} if share is None else {"result_share": share}
    trainer = Trainer(SMALL)
    trainer.learn(np.repeat(level, 5000), STEPS, **asked)
    assert 1 / (1 + np.exp(-trainer.values(level)[0])) == pytest.approx(chance, abs=0.01)
    assert measure(trainer, level, Plan(**asked))["divergence"] < 1e-3


def sums_of(trainer):
    """A checksum of each term's weights and squares: the weights themselves are a gigabyte."""
    return {name: zlib.crc32(np.ascontiguousarray(trainer.cells(name))) for name in trainer.terms}


@pytest.mark.parametrize("model", ["PP", "KPPT"])
def test_two_threads_learn_what_one_does_to_the_byte(teacher, tmp_path, model):
    build_corpus([teacher], tmp_path / "corpus", every=5)
    made = []
    for threads in (1, 2):
        training = Training(tmp_path / "corpus", tmp_path / str(threads), Plan(model=model, passes=1, threads=threads))
        training.run()
        made.append(sums_of(training.trainer))
        del training
    assert made[0] == made[1]


def test_two_threads_share_the_work(records):
    """Each part alone moves weights, and no weight is moved by both."""
    moved = []
    for part in (0, 1):
        trainer = Trainer(MODELS["KPPT"])
        learn_parts(trainer, records, part)
        moved.append({name: np.flatnonzero(trainer.cells(name)[:, 1]) for name in trainer.terms})
    for name in MODELS["KPPT"]:
        assert not len(np.intersect1d(moved[0][name], moved[1][name])), name
    assert min(len(moved[part]["kpp"]) for part in (0, 1)) > 0.4 * max(len(moved[part]["kpp"]) for part in (0, 1))


def learn_parts(trainer, records, part):
    """One part of the trainer learns, the other one of a second trainer, so that what each moves can be told apart."""
    other, meeting = Trainer(MODELS["KPPT"]), Meeting()
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(which.learn_part, number, meeting, records, STEPS)
            for which, number in ((trainer, part), (other, 1 - part))
        ]
        for job in jobs:
            job.result()


def test_positions_side_by_side_are_the_same_ones(records, monkeypatch):
    monkeypatch.setattr(train_module, "SORTED", 500)
    ordered = side_by_side(records)
    for start in range(0, len(records), 500):
        part = ordered[start : start + 500]
        assert sorted(part["key"]) == sorted(records[start : start + 500]["key"])
        zones = king_zones()[part["king"]]
        places = zones[:, 0] * 11 + zones[:, 1]
        assert len(np.unique(places)) > 2
        assert (np.diff(places) >= 0).all()


def test_a_model_needs_its_pieces():
    with pytest.raises(ValueError, match="piece"):
        Trainer(["kpp"])
    for terms in (["piece", "pp_turn"], ["piece", "pp", "pp_turn", "relative_pp"]):
        with pytest.raises(ValueError, match="no pairs know the turn, or all do"):
            Trainer(terms)
    with pytest.raises(KeyError):
        Trainer(["piece"]).cells("kpp")
    with pytest.raises(ValueError, match="part 2"):
        Trainer(["piece"]).learn_part(2, Meeting(), np.zeros(1, RECORD), STEPS)


# ---- play ----


def walked_positions(count, seed=9):
    """(sfen, record) of quiet positions on random walks."""
    chance, reader, out = random.Random(seed), GameReader(), np.zeros(2, RECORD)
    found = []
    while len(found) < count:
        board = Board()
        for _ in range(200):
            moves = board.legal_moves()
            if not moves:
                break
            move = chance.choice(moves)
            if reader.read(board.sfen(), [move], [0], 1, 0, out):
                found.append((board.sfen(), out[0].copy()))
            board.push(move)
    return found[:count]


def test_play_computes_what_was_learned():
    """With weights that integers can say, the float model and the evaluation differ by their rounding alone."""
    trainer = noisy(MODELS["KPPT"])
    folded = export(trainer)
    begin_with(trainer, folded)
    positions = walked_positions(10000)
    floats = trainer.values(np.array([record for _, record in positions])) * LOGIT
    engine = Worker(Table(1), StopToken(), weights_of(folded))
    for (sfen, record), value in zip(positions, floats, strict=True):
        told = engine.evaluate(Board(sfen))[-1][1]
        assert abs(told - (value if record["side"] == 0 else -value)) < 2, sfen


def record_of(sfen):
    """The position as learning sees it."""
    out = np.zeros(2, RECORD)
    return next(out[:1].copy() for move in Board(sfen).legal_moves() if GameReader().read(sfen, [move], [0], 1, 0, out))


def test_images_of_a_position_are_learned_as_one():
    """In the mirror it is worth the same, with the colours changed the opposite, whatever the weights."""
    trainer = noisy(["piece", "pp", "pp_turn", "relative_pp", "relative_pp_turn"])
    for sfen, record in walked_positions(100, seed=6):
        value = trainer.values(np.array([record]))[0]
        assert trainer.values(record_of(mirrored(sfen)))[0] == pytest.approx(value, abs=1e-4), sfen
        assert trainer.values(record_of(turned(sfen)))[0] == pytest.approx(-value, abs=1e-4), sfen


def test_pairs_of_play_hold_the_relative_ones():
    """Each pair is rounded to 1/32 centipawn twice, and to 4/32 for the turn."""
    terms = ["piece", "pp", "pp_turn", "relative_pp", "relative_pp_turn"]
    trainer = noisy(terms)
    for name in terms:
        trainer.cells(name)[:, 0] *= 0.2
    positions = walked_positions(1000, seed=4)
    floats = trainer.values(np.array([record for _, record in positions])) * LOGIT
    engine = Worker(Table(1), StopToken(), weights_of(export(trainer)))
    for (sfen, record), value in zip(positions, floats, strict=True):
        told = engine.evaluate(Board(sfen))[-1][1]
        assert abs(told - (value if record["side"] == 0 else -value)) < 6, sfen


def test_all_of_learning_from_the_command_line(teacher, tmp_path, capsys):
    assert main(["corpus", str(teacher), "--out", str(tmp_path / "corpus"), "--every", "10"]) == 0
    command = ["train", str(tmp_path / "corpus"), "--out", str(tmp_path / "my.kpp"), "--model", "PP", "--passes", "2"]
    assert main(command) == 0
    first = (tmp_path / "my.kpp").read_bytes()
    assert read_card(str(tmp_path / "my.kpp"))["plan"]["passes"] == 2
    weights = load_weights(str(tmp_path / "my.kpp"), Weights)
    engine = Worker(Table(1), StopToken(), weights)
    assert len(engine.evaluate(Board())) == 6
    # Again: it finds its checkpoint, has nothing left to do, and writes the same.
    assert main(command) == 0
    assert (tmp_path / "my.kpp").read_bytes() == first
    assert main([*command, "--positions", "100"]) == 1
    assert "another plan" in capsys.readouterr().err


def test_a_run_broken_off_between_passes_ends_as_if_it_had_not(teacher, tmp_path, monkeypatch):
    build_corpus([teacher], tmp_path / "corpus")
    plan = Plan(model="PP", passes=2)
    whole = Training(tmp_path / "corpus", tmp_path / "whole", plan)
    whole.run()
    broken = Training(tmp_path / "corpus", tmp_path / "broken", plan)
    monkeypatch.setattr(broken, "steps", lambda number: interrupt() if number else plan.steps)
    with pytest.raises(KeyboardInterrupt):
        broken.run()
    resumed = Training(tmp_path / "corpus", tmp_path / "broken", plan)
    resumed.run()
    assert resumed.state.curve == whole.state.curve
    for name in whole.trainer.terms:
        assert resumed.trainer.cells(name).tobytes() == whole.trainer.cells(name).tobytes()


def interrupt():
    raise KeyboardInterrupt


def test_steps_fall_from_pass_to_pass_and_to_the_end(teacher, tmp_path):
    build_corpus([teacher], tmp_path / "corpus")
    plan = Plan(model="P", passes=2, steps=(1.0,) * len(STEPS), decay=0.5, last=0.1)
    training = Training(tmp_path / "corpus", tmp_path / "run", plan)
    assert training.steps(0) == [1.0] * len(STEPS)
    training.state.done = len(training.records)
    assert training.steps(1) == [0.5] * len(STEPS)
    training.state.done += len(training.records) // 2
    assert training.steps(1)[0] == pytest.approx(0.5 * 0.55, rel=1e-3)


def test_piece_values_cannot_tell_where_captures_end(teacher, tmp_path, capsys):
    assert main(["corpus", str(teacher), "--out", str(tmp_path / "corpus"), "--settle", "material"]) == 1
    assert "--settle material" in capsys.readouterr().err


def test_a_file_of_games_that_is_not_there_is_one_line(tmp_path, capsys):
    assert main(["corpus", str(tmp_path / "none.tsv"), "--out", str(tmp_path / "corpus")]) == 1
    assert "none.tsv" in capsys.readouterr().err


# ---- self-play ----


def test_self_play_goes_on_where_it_stopped_and_repeats(tmp_path):
    rules = Rules(nodes=60, longest=40)
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    assert selfplay(None, ["startpos"], whole, 6, rules=rules, threads=2) == 6
    assert selfplay(None, ["startpos"], broken, 2, rules=rules, threads=1) == 2
    broken.write_bytes(broken.read_bytes() + b"b\tscore\tstart")  # as if it had been killed while writing
    assert selfplay(None, ["startpos"], broken, 6, rules=rules, threads=1) == 4
    assert whole.read_bytes() == broken.read_bytes()
    assert games_in(whole) == 6
    assert len({tuple(game.moves) for game in items_of(whole)}) == 6
    assert len(records_of(items_of(whole))) > 60


def test_games_come_in_order_however_slowly_they_are_taken(monkeypatch):
    """A game may end while the one before it is being written."""

    class Quick:
        def __init__(self, *_):
            """Needs neither weights nor rules."""

        def play(self, start, number):
            time.sleep(1e-4)
            return Played(start, [], "d", str(number))

    monkeypatch.setattr(selfplay_module, "Player", Quick)
    taken = []
    for game in play_games(None, ["startpos"], Rules(), range(100), 3):
        taken.append(game.ending)
        time.sleep(1e-3)
    assert taken == [str(number) for number in range(100)]


def test_strays_go_on_where_they_stopped_and_repeat(teacher, tmp_path):
    rules = Rules(nodes=60)
    some = tmp_path / "some.tsv"
    some.write_text("".join(teacher.read_text().splitlines(keepends=True)[:6]))
    whole, broken = tmp_path / "whole.tsv", tmp_path / "broken.tsv"
    assert make_strays(None, [some], whole, 3, rules=rules, threads=2) == 6
    text = whole.read_text()
    broken.write_text(text[: len(text) // 2])  # as if it had been killed while writing
    assert 0 < make_strays(None, [some], broken, 3, rules=rules, threads=1) < 6
    assert broken.read_text() == text
    games = list(items_of(whole))
    assert 12 < len(games) <= 18
    assert all(len(game.moves) == 1 and game.scores[0] is not None for game in games)
    assert len(records_of(games)) > 3


def test_strays_spare_a_file_of_something_else(teacher, capsys):
    before = teacher.read_bytes()
    assert main(["stray", str(teacher), "--out", str(teacher), "--weights", "material"]) == 1
    assert "something else than strays" in capsys.readouterr().err
    assert teacher.read_bytes() == before


def test_openings_may_be_moves_or_sfens():
    assert opening_of("startpos moves 7g7f 3c3d").endswith("b - 3")
    assert opening_of(START) == START
    assert HALF_SQUARES == 45
