"""The search of one depth: mates, ends by rule, limits and stops, samples, scores, constants; endings."""

import re
import threading
import time
from pathlib import Path

import pytest

from core_ext import engine
from core_ext.board import Board
from core_ext.engine import INFINITE, MATE, MATE_BOUND, MAX_EVALUATION, StopToken, Table, Worker, set_tunable, tunable
from tests import positions
from tests.conftest import MateProblem, NewWorker, deepen
from tests.positions import described_rows
from tests.shogi.slow_shogi import START, Game, Position
from usi_engine.evaluation.load import load_evaluation
from usi_engine.search.iterative import iterative_deepening

pytestmark = pytest.mark.usefixtures("usual_constants")

MIDDLE_GAME = "l2g2k1l/1sr2g3/ppnp+N2p1/6p2/P2Ps2np/2P2bP2/1PS1P3P/2BGR1GS1/LN5KL w 2P3p 54"


@pytest.mark.parametrize("length", [1, 3, 5])
def test_finds_short_mates(worker: Worker, mate_problems: list[MateProblem], length: int) -> None:
    for sfen in [sfen for plies, sfen, _ in mate_problems if plies == length][:5]:
        worker.new_game()
        assert deepen(worker, sfen, length + 8, 400_000) >= MATE_BOUND, sfen


def test_value_of_being_mated(worker: Worker, mate_problems: list[MateProblem]) -> None:
    sfen, solution = next((sfen, solution) for plies, sfen, solution in mate_problems if plies == 3)
    board = Board(sfen)
    board.push(solution[0])
    assert deepen(worker, board, 6) == 2 - MATE


def test_principal_variation_is_legal_and_leads_with_the_root_move(worker: Worker) -> None:
    deepen(worker, MIDDLE_GAME, 9)
    for line in worker.lines(600):
        board = Board(MIDDLE_GAME)
        for move in line.pv:
            board.push(move)
    assert len(worker.lines()[0].pv) >= 3 and worker.lines()[0].bound == "exact"


def test_values_outside_the_window_are_bounds(worker: Worker) -> None:
    value = deepen(worker, MIDDLE_GAME, 6)
    assert worker.search(7, value + 300, value + 301) <= value + 300
    assert worker.search(7, value - 301, value - 300) >= value - 300


def test_later_root_moves_can_be_searched_alone(worker: Worker) -> None:
    """Lines with values are sorted, also if a later one is better."""
    deepen(worker, MIDDLE_GAME, 5)
    best = worker.lines()[0].pv[0]
    worker.search(5, -INFINITE, INFINITE, first=1)
    first, second = worker.lines(2)
    assert best in (first.pv[0], second.pv[0]) and first.value >= second.value > -INFINITE
    worker.set_root(Board(), ["9g9f", "7g7f"])
    worker.search(1, -INFINITE, INFINITE, first=1)
    assert [line.pv[0] for line in worker.lines(2)] == ["7g7f", "9g9f"]


def test_root_moves_that_no_node_generates_are_searched(worker: Worker) -> None:
    board = Board.from_moves(["7g7f", "3c3d"])
    worker.configure(include_all=True)
    assert worker.set_root(board, ["8h2b+", "8h2b", "2g2f"]) == 3  # the picker leaves out 8h2b
    worker.search(3, -INFINITE, INFINITE)
    assert all(line.nodes for line in worker.lines(3))


def test_only_the_given_root_moves_are_searched(worker: Worker) -> None:
    """A move that is named several times counts once."""
    assert worker.set_root(Board(), ["7g7f"] * 700) == 1
    assert worker.set_root(Board(), ["2g2f", "7g7f"] * 2000) == 2
    assert [line.pv for line in worker.lines(9)] == [["2g2f"], ["7g7f"]]
    with pytest.raises(ValueError, match="7g7e"):
        worker.set_root(Board(), ["7g7f", "7g7e"])
    assert worker.set_root(Board(), ["9g9f", "1g1f"]) == 2
    worker.search(3, -INFINITE, INFINITE)
    assert {line.pv[0] for line in worker.lines(9)} == {"9g9f", "1g1f"}


def test_node_limit_is_exact(worker: Worker) -> None:
    for limit in (20_000, *range(6_000, 7_000, 10)):  # one search in thirty stops within a singular search
        deepen(worker, MIDDLE_GAME, 60, limit)
        assert (worker.stopped, worker.nodes) == (True, limit)


def test_a_past_deadline_stops_at_once(new_worker: NewWorker) -> None:
    stop = StopToken()
    worker = new_worker(megabytes=16, stop=stop)
    worker.set_root(Board(MIDDLE_GAME))
    stop.set_in(-1)
    assert stop.is_set()
    worker.search(60, -INFINITE, INFINITE)
    assert worker.stopped and worker.nodes <= 1
    stop.clear()
    assert not stop.is_set()
    worker.search(2, -INFINITE, INFINITE)
    assert not worker.stopped


def search_in_thread(worker: Worker) -> threading.Thread:
    worker.set_root(Board(MIDDLE_GAME))
    thread = threading.Thread(target=worker.search, args=(60, -INFINITE, INFINITE))
    thread.start()
    thread.join(0.05)
    assert thread.is_alive()
    return thread


def test_a_deadline_may_move_while_the_search_runs(new_worker: NewWorker) -> None:
    stop = StopToken()
    worker = new_worker(megabytes=16, stop=stop)
    stop.set_in(1000)
    thread, begun = search_in_thread(worker), time.perf_counter()
    stop.set_in(0.1)
    thread.join(10)
    assert not thread.is_alive() and worker.stopped
    assert 0.1 <= time.perf_counter() - begun < 5


def test_same_nodes_after_new_game() -> None:
    """Also with a far deadline."""
    counts = []
    for seconds in (None, 1e300):
        table, stop = Table(8), StopToken()
        worker = Worker(table, stop)
        worker.configure()
        if seconds:
            stop.set_in(seconds)
        for _ in range(2):
            table.clear()
            worker.new_game()
            counts.append([deepen(worker, sfen, 9) and worker.nodes for sfen in (START, MIDDLE_GAME)])
    assert all(game == counts[0] for game in counts)


def test_a_stop_takes_effect_within_20_ms(new_worker: NewWorker) -> None:
    stop, delays = StopToken(), []
    worker = new_worker(megabytes=16, stop=stop)
    for _ in range(5):
        stop.clear()
        thread, begun = search_in_thread(worker), time.perf_counter()
        stop.set()
        thread.join()
        delays.append(time.perf_counter() - begun)
        assert worker.stopped
    assert min(delays) < 0.02


def test_repetition_is_worth_a_draw(worker: Worker) -> None:
    board = Board.from_moves(["2h3h", "8b7b", "3h2h"])
    worker.configure(draw_white=-50)
    worker.set_root(board, ["7b8b"])
    assert worker.search(3, -INFINITE, INFINITE) == -50
    worker.configure(draw_white=-30_000)
    worker.set_root(board, ["7b8b"])
    assert worker.search(3, -INFINITE, INFINITE) == -20_000, "not a loss by rule"


def test_perpetual_check_loses(worker: Worker) -> None:
    board = Board.from_moves(["5a4a", "5h4h", "4a5a"], "4k4/9/9/9/9/9/9/4R4/3K5 w - 1")
    worker.set_root(board, ["4h5h"])
    assert worker.search(3, -INFINITE, INFINITE) < -20_000
    worker.set_root(board)
    assert worker.search(3, -INFINITE, INFINITE) > 0


def test_the_move_limit_is_a_draw_except_for_mate(worker: Worker) -> None:
    mate = "4k4/9/4P4/9/9/9/9/9/4K4 b G 10"
    worker.configure(draw_black=-7, draw_white=-7, max_moves=10)
    assert deepen(worker, mate, 3) == MATE - 1
    assert deepen(worker, "4k4/9/9/9/9/9/9/9/4K4 b R 10", 3) == -7
    stalemate = Board("8k/9/6GG1/9/9/9/9/9/K8 b - 10")
    worker.set_root(stalemate, ["3c3b"])
    assert worker.search(1, -INFINITE, INFINITE) == MATE - 1


def test_depths_and_windows_are_checked(worker: Worker, board: Board) -> None:
    worker.set_root(board)
    wrong = [(0, -1, 1, 0), (engine.MAX_DEPTH + 1, -1, 1, 0), (1, 1, 1, 0), (1, -1, 1, 30), (1, -1, 1, -1)]
    for depth, alpha, beta, first in wrong:
        with pytest.raises(ValueError, match=r"\d"):
            worker.search(depth, alpha, beta, first)


# ---- samples of evaluated positions ----


def search(worker: Worker, root: str, depth: int = 8) -> list[list[str]]:
    deepen(worker, root, depth)
    return worker.samples()


def test_lines_are_legal_and_of_several_lengths(worker: Worker) -> None:
    worker.sample(20)
    lines = search(worker, "startpos")
    assert worker.nodes // 200 < len(lines) <= worker.nodes // 20
    for line in lines:
        assert not Board.from_moves(line).is_check()  # ValueError for an illegal move
    assert len({len(line) for line in lines}) > 3
    assert len(set(map(tuple, lines))) > len(lines) // 2


def test_sampling_changes_nothing_and_can_be_switched_off(worker: Worker, new_worker: NewWorker) -> None:
    sampling = new_worker(megabytes=16)
    sampling.sample(3)
    assert search(worker, "startpos") == [] != search(sampling, "startpos")
    assert worker.nodes == sampling.nodes
    sampling.sample(0)
    assert search(sampling, "startpos", 4) == []
    sampling.sample(1, 10)  # at most ten, of the last root alone
    first, other = search(sampling, "startpos"), search(sampling, "4k4/9/9/9/9/9/9/3R5/4K4 b - 1")
    assert len(first) == len(other) == 10 and other != first


@pytest.mark.parametrize(("every", "room"), [(-1, 10), (1, 0), (1, -1), (1, 1 << 20)])
def test_numbers_out_of_range_are_refused(worker: Worker, every: int, room: int) -> None:
    with pytest.raises(ValueError, match=f"every {every}th position, {room} at most"):
        worker.sample(every, room)


# ---- scores ----


# Black is mated, but delays it by giving up pieces in hand for checks that change nothing on the board.
DELAYED_MATE = "5k1nl/5g3/4p2p1/2pB2p1p/1l1PS4/nPP3P1P/2SS5/1+p7/1KL+rG3L b G2N6Prbgsp 135"


def test_a_superior_position_has_no_score_of_its_own() -> None:
    worker = Worker(Table(16), StopToken(), load_evaluation("<internal>"))
    worker.set_root(Board(DELAYED_MATE))
    found = [worker.lines(1)[0].value for _ in iterative_deepening(worker, engine.MAX_DEPTH, 150_000)]
    assert len(found) > 6
    assert all(abs(value) <= MAX_EVALUATION or abs(value) >= MATE_BOUND for value in found)


# ---- constants: one list in tune.h, the same by name, by field and by place ----

CORE = Path(__file__).resolve().parents[2] / "core_ext"


def test_every_constant_is_listed_and_used() -> None:
    fields = re.findall(r"X\((\w+), -?\d", (CORE / "search" / "tune.h").read_text("utf-8"))
    assert [name for name, *_ in engine.tunables()] == [field.title().replace("_", "") for field in fields]
    source = "".join(path.read_text("utf-8") for path in (CORE / "search").glob("*.p[xy]*"))
    assert len(fields) > 60 and not [field for field in fields if not re.search(rf"\btune\.{field}\b", source)]


def test_setting_one_changes_that_one_alone() -> None:
    for name, _, default, least, greatest in engine.tunables():
        for value in (least, greatest):
            set_tunable(name, value)
            assert tunable(name) == value
            changed = {other for other, now, standard, *_ in engine.tunables() if now != standard}
            assert changed == ({name} if value != default else set())
        set_tunable(name, default)


def test_refusals_say_what_is_wrong() -> None:
    name, before, _, least, greatest = engine.tunables()[5]
    for value in (least - 1, greatest + 1):
        with pytest.raises(ValueError, match=rf"^{name} = {value} is not within {least} and {greatest}$"):
            set_tunable(name, value)
    assert tunable(name) == before
    with pytest.raises(ValueError, match=r"^unknown constant 'NoSuchName'$"):
        set_tunable("NoSuchName", 1)
    with pytest.raises(KeyError, match="NoSuchName"):
        tunable("NoSuchName")


# ---- repetition, judged by the whole game, and declaration by every rule ----

RULES = ("NoEnteringKing", "CSARule24", "CSARule24H", "CSARule27", "CSARule27H", "TryRule")


@pytest.mark.parametrize(("sfen", "moves", "verdict"), [row[1:] for row in described_rows("repetitions.jsonl")])
def test_known_repetitions(sfen: str, moves: str, verdict: str) -> None:
    board, twin, verdicts = Board(sfen), Game(sfen), list[str]()
    for move in moves.split():
        board.push(move)
        twin.push(move)
        verdicts.append(twin.repetition())
        assert board.repetition() == verdicts[-1]
    last = board.pop()
    assert (board.repetition(), verdicts[-1]) == (verdicts[-2], verdict)
    board.push(last)
    assert board.repetition() == verdict


@pytest.mark.parametrize("seed", range(36))
def test_repetition_is_that_of_the_twin(seed: int) -> None:
    game, moves = positions.cycling_game(seed)
    start = game.positions[0].sfen()
    board, twin = Board(start), Game(start)
    for move in moves:
        board.push(move)
        twin.push(move)
        assert board.repetition() == twin.repetition(), board.moves()


@pytest.mark.parametrize("rule", RULES)
def test_declaration_is_that_of_the_twin(rule: str) -> None:
    seen: dict[str | None, int] = {"win": 0, None: 0}
    for sfen in positions.entered():
        expected = Position(sfen).declaration_move(rule)
        board = Board(sfen)
        assert board.declaration_move(rule) == expected, sfen
        assert board.can_declare(rule) == (expected is not None)
        seen[expected] = seen.get(expected, 0) + 1
    assert seen[None] > 20
    assert rule == "NoEnteringKing" or sum(seen.values()) - seen[None] > 20


@pytest.mark.parametrize(("sfen", "rule", "move", "flipped"), [row[1:] for row in described_rows("declarations.jsonl")])
def test_known_declarations(sfen: str, rule: str, move: str | None, flipped: str | None) -> None:
    """In the position and in the flipped one, whose move is flipped back here."""
    assert Board(sfen).declaration_move(rule) == move
    found = Board(positions.flipped(sfen)).declaration_move(rule)
    assert (found if found in ("win", None) else positions.flipped_move(found)) == flipped


def test_a_try_named_by_searchmoves_wins() -> None:
    """Also on the last move before the limit, and if the other king could reach its square next."""
    tries = [("9/4K4/9/9/9/9/9/9/k8 b - 1", "5b5a"), ("8K/9/9/9/9/9/9/4k4/9 w - 1", "5h5i")]
    for sfen, move in [*tries, ("9/4K4/9/9/9/9/9/4k4/9 b - 10", "5b5a")]:
        worker = Worker(Table(1), StopToken())
        for rule, value in (("TryRule", engine.DECLARATION - 1), ("CSARule27", 0)):
            worker.configure(declaration=rule, max_moves=10)
            worker.set_root(Board(sfen), [move])
            found = worker.search(2, -INFINITE, INFINITE)
            assert found == value if value else abs(found) < MATE // 2
    worker.set_root(Board("+R+RK+B+B4/PPPPPPPPP/SSSS5/9/9/9/9/9/8k w 4G4N4L9P 10"))
    assert worker.search(1, -INFINITE, INFINITE) == 2 - engine.DECLARATION  # also a declaration after it
