"""The mate solver, mate in one and in three: proofs played out against every evasion, disproofs by brute force."""

import os
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core_ext.board import Board
from core_ext.engine import MateSolver, StopToken
from tests.conftest import MateProblem
from tests.positions import HANDS, HARD_MATE, MATSURI, MIDGAME, MOST_MOVES, SPARSE, flipped, random_boards, scatter
from tests.programs import quickest, resident_megabytes, wait_until
from tests.shogi.slow_shogi import Position
from tests.shogi.slow_shogi import other as opponent
from usi_engine.api.mate_lines import is_mate
from usi_engine.mate_tool.problems import ThreadShares

# The bare king of Shogi Zuko (1755), number 98: long, with every kind of interposition.
BARE_KING = "8k/9/9/9/9/9/9/9/9 b R2GSr2b2g3s4n4l18p 1"

# Astral Traveler, 579 plies on record: its line once repeated positions without end.
ASTRAL_TRAVELER = "lp2p3g/+R4p1Sn/1P1kgsp1p/3+p+p1s2/B1p+r1P3/L8/+n3NgB+pP/+p4G1+p1/P+pPsP4 b Lnl 1"


# Meta New World, 900 plies on. A silver's other choice of promotion mates: 2.0 million nodes if it has to wait.
META_NEW_WORLD = "1g1R5/1S2k1+p1B/N1N1p4/2p2L1n1/1g1p3g1/2sSL+p3/9/N1g2+p3/9 b LPrbsl11p 1"


# In a game: the first mate that is found has fifteen plies, the shortest nine.
FIRST_15_SHORTEST_9 = "7nl/5kP2/3p2g1p/2p1gp3/p6s1/5BP2/PP3P2P/7R1/LNSGK2NL b RBGSN2Ps3p 1"


def new_solver(megabytes: int = 16, *, count_all_interpositions: bool = False) -> MateSolver:
    return MateSolver(megabytes, StopToken(), count_all_interpositions)


def height_of_proof(solver: MateSolver, board: Board, seen: dict[int, int]) -> int:
    """Plies to mate if the solver's first moves are played against every evasion."""
    if board.key in seen:
        assert seen[board.key], "the proof contains a repetition"
        return seen[board.key]
    seen[board.key] = 0
    status, line = solver.solve(board)
    assert status == "mate", board.sfen()
    assert board.gives_check(line[0])
    checked = after(board, line[0])
    answers = (after(checked, answer) for answer in checked.legal_moves(include_all=True))
    seen[board.key] = max((2 + height_of_proof(solver, answered, seen) for answered in answers), default=1)
    return seen[board.key]


def after(board: Board, move: str) -> Board:
    following = board.copy()
    following.push(move)
    return following


def mates_within(board: Board, plies: int) -> bool:
    """Return whether there is a mate within so many plies, by brute force."""
    if board.mate_in_one():
        return True
    return plies > 1 and any(loses(board, move, plies - 1) for move in board.checking_moves(include_all=True))


def loses(board: Board, move: str, plies: int) -> bool:
    """Return whether every answer to the check loses."""
    checked = after(board, move)
    return all(mates_within(after(checked, answer), plies - 1) for answer in checked.legal_moves(include_all=True))


def ends_in_mate(board: Board, line: list[str]) -> bool:
    """Return whether the line gives check at every move and allows only futile interpositions at its end."""
    played = board.copy()
    for number, move in enumerate(line):
        played.push(move)
        assert number % 2 or played.is_check()
    answers = played.legal_moves(include_all=True)
    return all(blocks(played, answer) and mates_within(after(played, answer), 29) for answer in answers)


def attack_mates(board: Board, plies: int, slider: str = "") -> bool:
    """Return whether brute force finds a mate if futile interpositions do not count.

    `slider` is the square of the slider that the last move blocked.
    """
    if plies >= 1:
        checks = board.checking_moves(include_all=True)
        if any(all_answers_fail(after(board, move), plies - 1) for move in checks):
            return True
    return bool(slider) and any(takes_with_mate(board, slider, end) for end in ("", "+"))


def takes_with_mate(board: Board, slider: str, end: str) -> bool:
    """Return whether the slider mates by capturing the interposed piece; one that was dropped returns to the hand."""
    target, piece, us = board.moves()[-1][2:4], board.moves()[-1][0], "bw"[board.turn]
    if not board.is_legal(slider + target + end):
        return False
    taken = after(board, slider + target + end)
    if board.moves()[-1][1] != "*":
        return taken.is_check() and all_answers_fail(taken, 0)
    position = Position(taken.sfen())
    position.hands[us][piece] -= 1
    position.hands[opponent(us)][piece] += 1
    return taken.is_check() and all_answers_fail(Board(position.sfen()), 0)


def blocks(board: Board, answer: str) -> bool:
    """Return whether the evasion is neither a move of the king nor a capture."""
    return answer[:2] != board.king_square(board.turn) and board.piece_at(answer[2:4]) is None


def all_answers_fail(board: Board, plies: int) -> bool:
    checkers = board.checkers()
    for answer in board.legal_moves(include_all=True):
        slider = checkers[0] if blocks(board, answer) else ""
        if plies <= 0 and not slider:
            return False
        if not attack_mates(after(board, answer), plies - 1, slider):
            return False
    return True


def test_length_without_futile_interpositions(solver: MateSolver, mate_problems: list[MateProblem]) -> None:
    for length, sfen, _ in mate_problems[::8]:
        if length <= 5:
            _, line = solver.solve(Board(sfen))
            plies = next(plies for plies in (1, 3, 5) if plies == len(line) or attack_mates(Board(sfen), plies))
            assert plies == len(line), sfen


@pytest.mark.parametrize("count_all_interpositions", [True, False])
def test_problems(count_all_interpositions: bool, mate_problems: list[MateProblem]) -> None:
    """All are solved within the file's length; if all interpositions count, nearly all in exactly that length.

    White attacks if they do not.
    """
    solver = new_solver(count_all_interpositions=count_all_interpositions)
    equal = total = 0
    for length, sfen, _ in mate_problems:
        board = Board(sfen if count_all_interpositions else flipped(sfen))
        status, line = solver.solve(board)
        assert status == "mate" and solver.proved_shortest and is_mate(board, line), sfen
        assert len(line) <= length, sfen
        total += 1
        equal += len(line) == length
        if count_all_interpositions:
            assert Board.from_moves(line, sfen).is_checkmate(), sfen
            slow = total % 40 or not 1 < len(line) <= 7  # for brute force
            assert slow or not mates_within(Board(sfen), len(line) - 2), (length, sfen)
    assert equal >= total - (11 if count_all_interpositions else 31)


def test_proofs_hold_against_every_answer(solver: MateSolver, mate_problems: list[MateProblem]) -> None:
    for length, sfen, _ in mate_problems[::25]:
        assert height_of_proof(solver, Board(sfen), {}) >= min(length, 3), sfen


@pytest.mark.slow
def test_a_long_proof_holds_against_every_answer() -> None:
    assert height_of_proof(new_solver(256), Board(BARE_KING), {}) >= 31


def reply_that_stays(solver: MateSolver, board: Board, inside: set[int], queue: list[str]) -> bool | None:
    """Return whether an evasion leads to a position that the solver disproves too (None: unknown); queue new ones."""
    statuses = set()
    for answered in (after(board, answer) for answer in board.legal_moves(include_all=True)):
        status = "nomate" if answered.key in inside else solver.solve(answered, 5_000, "first")[0]
        if status == "nomate":
            queue += [answered.sfen()] * (answered.key not in inside)
            inside.add(answered.key)
            return True
        statuses.add(status)
    return None if "unknown" in statuses else False


def is_closed(solver: MateSolver, board: Board, most: int) -> bool | None:
    """Return whether the defender can always stay within a set of disproved positions: there is no mate.

    Return None if the set has more than `most` positions or an unknown one.
    """
    inside, queue = {board.key}, [board.sfen()]
    while queue and len(inside) <= most:
        now = Board(queue.pop())
        for check in now.checking_moves(include_all=True):
            stays = reply_that_stays(solver, after(now, check), inside, queue)
            if not stays:
                return stays
    return None if queue else True


@pytest.mark.parametrize("most", [16, pytest.param(80, marks=pytest.mark.slow)])
def test_answers_by_brute_force(most: int) -> None:
    """No `nomate` if brute force finds a mate within five plies; some are proved. Every mate found is one."""
    rng, solver = random.Random(40), new_solver()
    mates = closed = 0
    while closed < most or mates < most // 4:
        board = scattered(rng)
        checks = len(board.checking_moves(include_all=True))
        status, line = solver.solve(board, 20_000) if 0 < checks <= 10 else ("unknown", [])
        if status == "nomate":
            assert not mates_within(board, 5 if checks < 5 else 3), board.sfen()
            verdict = is_closed(solver, board, 200)
            assert verdict is not False, board.sfen()
            closed += verdict is True
        elif status == "mate":
            mates += 1
            assert ends_in_mate(board, line), board.sfen()


def test_a_proof_in_a_full_table_has_a_line() -> None:
    """Parts of the proof that the table has dropped are searched again, within the node limit and a grace."""
    solver, board = new_solver(1), Board(BARE_KING)
    status, line = solver.solve(board, 0, "first")
    assert status == "mate" and ends_in_mate(board, line)
    assert (board.sfen(), board.moves()) == (BARE_KING, [])
    assert solver.hashfull <= 751
    limit = solver.nodes * 3 // 4
    solver.clear()
    status, line = solver.solve(board, limit, "first")
    assert (status, line) == ("unknown", []) or ends_in_mate(board, line)
    assert solver.nodes < limit + 60_000


@pytest.mark.parametrize("sfen", [BARE_KING, HARD_MATE, ASTRAL_TRAVELER])
def test_an_enlarged_table_keeps_every_entry(sfen: str) -> None:
    """Partitions grow from 64 to 256 and 1,024 entries; with 1 MB to no more: the search is the same with 16 MB, and
    again in the cleared table.
    """
    solvers = new_solver(1), new_solver(16)
    counts = list[tuple[int, int]]()
    for solver in (*solvers, *solvers):
        solver.clear()
        solver.solve(Board(sfen), 24_000)
        counts.append((solver.nodes, solver.expanded))
    assert 188 < solvers[0].hashfull < 690
    assert len(set(counts)) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory in use from /proc")
def test_small_problems_touch_a_small_part_of_a_large_table(mate_problems: list[MateProblem]) -> None:
    before = resident_megabytes(os.getpid())
    solver = new_solver(512)
    for _plies, sfen, _solution in mate_problems[::5]:
        solver.solve(Board(sfen))
    solver.clear()
    assert resident_megabytes(os.getpid()) - before < 128


@pytest.mark.parametrize(
    ("sfen", "line"),
    [
        ("8k/9/9/9/9/9/9/9/1+R2K4 b - 1", []),  # perpetual check
        ("7k1/9/9/9/4+B4/9/9/9/4K4 b - 1", []),
        ("3lkl3/9/4G4/9/9/9/9/9/9 b P 1", []),  # a pawn may not mate by a drop
        ("3lkl3/9/4G4/9/9/9/9/9/9 b L 1", ["L*5b"]),
        ("9/9/9/9/9/9/9/9/4K4 b R 1", []),  # no king to mate
        ("startpos", []),  # no check
    ],
)
def test_known_results(sfen: str, line: list[str]) -> None:
    """The solver still has the numbers of another search in its memory."""
    solver = new_solver()
    solver.solve(Board(HARD_MATE), 2_000)
    assert solver.solve(Board(sfen)) == ("mate" if line else "nomate", line)


@pytest.mark.parametrize(
    ("sfen", "line", "plies"),
    [
        ("8k/6S2/9/8B/8L/9/9/9/9 b P2rb4g3s3n3l17p 1", ["1d2c+"], 3),
        # By moves: of the lance to 5i; of knights and silvers, which would defend if they returned to the hand
        # (tsumeshogi-solver issue 13).
        ("9/4l2+P1/9/1p7/9/9/5K3/1R1S4+r/5k3 b LP2np 1", ["8h8i"], 3),
        ("1p4g+b1/3l2gks/4sn2s/3pn1S1g/2pn1pl1l/2n1p1p2/R6g1/KR7/B6L1 b 12p 1", ["8h8g"], 13),
    ],
)
def test_futile_interpositions_are_not_counted(solver: MateSolver, sfen: str, line: list[str], plies: int) -> None:
    assert solver.solve(Board(sfen))[1] == line
    assert is_mate(Board(sfen), line)
    assert len(new_solver(count_all_interpositions=True).solve(Board(sfen))[1]) == plies


def test_an_interposition_that_opens_a_line_for_the_defender_is_counted() -> None:
    """The lance checks; rook, then bishop interpose (shtsume issue 14)."""
    board = Board("7lk/7p1/9/+P+PL3r2/+P+P+PN1b3/+P+P+P+P+P+P2p/1L+pNNN3/+R+bgss+P+P2/gggss+P+P1L b - 1")
    assert new_solver().solve_check(board, "1i1f")[0] == "nomate"


def test_missing_pieces_make_another_problem() -> None:
    """In the first the defender has no piece to interpose."""
    one, other = (new_solver(count_all_interpositions=True) for _ in range(2))
    full = Board("8k/9/8K/9/9/9/9/9/R8 b r2b4g4s4n4l18p 1")
    assert one.solve(Board("8k/9/8K/9/9/9/9/9/R8 b - 1"))[0] == "mate"
    assert one.solve(full) == other.solve(full)


@pytest.mark.parametrize(("megabytes", "threads"), [(1, 1), (64, 1), (64, 3)])
def test_a_stop_and_a_deadline_end_the_search(megabytes: int, threads: int) -> None:
    """Within 100 ms of the stop, and soon after the deadline of 0.3 s; with 1 MB also during a garbage collection."""
    solver = MateSolver(megabytes, stop := StopToken(), threads=threads)

    def seconds_to_stop() -> float:
        stop.clear()
        with ThreadPoolExecutor(1) as pool:
            solving = pool.submit(solver.solve, Board(HARD_MATE))
            time.sleep(0.4)
            begun = time.monotonic()
            stop.set()
            assert solving.result(5) == ("unknown", [])
            return time.monotonic() - begun

    def seconds_to_deadline() -> float:
        stop.clear()
        stop.set_in(0.3)
        begun = time.monotonic()
        assert solver.solve(Board(HARD_MATE), 2_000_000) == ("unknown", [])
        return time.monotonic() - begun

    assert quickest(seconds_to_stop, 0.1) < 0.1
    assert 0.25 < quickest(seconds_to_deadline, 0.5) < 0.5


def test_a_deadline_in_the_search_for_the_shortest_line() -> None:
    """The line is that of the first proof or a complete shortest one."""
    board = Board(FIRST_15_SHORTEST_9)
    begun = time.perf_counter()
    shortest = len(new_solver().solve(board, 0, "shortest")[1])
    whole = time.perf_counter() - begun
    seen = set()
    for percent in [*range(2, 110, 3), 3000]:
        solver = MateSolver(16, stop := StopToken())
        stop.set_in(whole * percent / 100)
        status, line = solver.solve(board, 0, "shortest")
        seen.add((status, solver.proved_shortest))
        if status == "mate":
            assert is_mate(board, line)
            assert len(line) == shortest or not solver.proved_shortest
            assert len(line) >= shortest
        else:
            assert (status, line) == ("unknown", [])
    assert ("mate", True) in seen


@pytest.mark.slow
def test_the_line_of_a_very_long_mate_ends_in_mate() -> None:
    status, line = new_solver(512).solve(Board(ASTRAL_TRAVELER), 30_000_000, "first")
    assert status == "mate" and Board.from_moves(line, ASTRAL_TRAVELER).is_checkmate()
    assert 200 < len(line) < 700


def test_promotion_waits_only_if_it_rarely_matters() -> None:
    board = Board(META_NEW_WORLD)
    status, line = new_solver(64).solve(board, 300_000, "first")
    assert status == "mate" and is_mate(board, line)


# Of scattered positions.
COUNTS = pytest.mark.parametrize("count", [2000, pytest.param(15_000, marks=pytest.mark.slow)])


def brute_force(board: Board) -> set[str]:
    """Return the moves that mate at once."""
    checks = board.checking_moves(include_all=True)
    return {move for move in checks if not after(board, move).legal_moves(include_all=True)}


def compare(board: Board) -> bool:
    """Compare mate_in_one with brute force; return whether there is a mate."""
    mates, found = brute_force(board), board.mate_in_one()
    assert (found in mates) if mates else found is None, f"{board.sfen()}: {found}, by force {sorted(mates)}"
    return bool(mates)


def scattered(rng: random.Random) -> Board:
    """A random position: kings and pieces anywhere, random hands."""
    kinds = ["P", "L", "N", "S", "G", "B", "R", "+P", "+L", "+N", "+S", "+B", "+R"]
    while True:
        pieces = [rng.choice([letter, letter.lower()]) for letter in rng.choices(kinds, k=rng.randint(4, 22))]
        kings = ["k", "K"][: rng.choice([1, 2, 2, 2, 2])]
        hands = "".join(letter * rng.randint(1, 2) for letter in "RBGSNLPrbgsnlp" if rng.random() < 0.25)
        if board := scatter(rng, kings + pieces, hands, "b"):
            return board


@pytest.mark.parametrize("start", ["startpos", MATSURI, MOST_MOVES, MIDGAME, HANDS, *SPARSE])
def test_random_games(start: str) -> None:
    for board in random_boards(1, 800, (start,), checks=0.4, include_all=True):
        compare(board)


@COUNTS
def test_scattered_positions(count: int) -> None:
    rng = random.Random(20)
    assert sum(compare(scattered(rng)) for _ in range(count)) > count // 100


def holds_in_three(board: Board, check: str) -> bool:
    """Return whether a mate in one follows every evasion of the check, by brute force."""
    checked = after(board, check)
    answers = checked.legal_moves(include_all=True)
    return bool(answers) and checked.is_check() and all(brute_force(after(checked, answer)) for answer in answers)


def compare_three(board: Board) -> bool:
    """Return whether a mate in three is found; check that it is one."""
    line = board.mate_in_three()
    if line:
        assert not board.mate_in_one()
        assert holds_in_three(board, line[0]), f"{board.sfen()}: {line}"
        assert len(line) == 3 and Board.from_moves(line, board.sfen()).is_checkmate()
    return bool(line)


@COUNTS
def test_a_mate_in_three_is_a_mate(count: int) -> None:
    rng = random.Random(33)
    assert sum(compare_three(scattered(rng)) for _ in range(count)) > count // 100
    assert sum(compare_three(board) for board in random_boards(4, 800, (MATSURI,), 0.4, True)) > 0


def test_no_mate_in_three_is_missed() -> None:
    rng, mates = random.Random(34), 0
    for _ in range(700):
        board = scattered(rng)
        if not brute_force(board):
            there = any(holds_in_three(board, check) for check in board.checking_moves())
            assert there == bool(board.mate_in_three(8)), board.sfen()
            mates += there
    assert mates > 5


def test_problems_of_one_and_three_plies(mate_problems: list[MateProblem]) -> None:
    for length, sfen, _ in mate_problems:
        assert compare(Board(sfen)) == (length == 1), sfen
        assert compare_three(Board(sfen)) == (length == 3), sfen


# ---- several threads on one problem ----

TASKS = Path("/proc/self/task")


def test_a_long_mate_is_found() -> None:
    for threads in (2, 4):
        solver = MateSolver(32, StopToken(), threads=threads)
        status, line = solver.solve(Board(BARE_KING), 0, "first")
        assert status == "mate" and is_mate(Board(BARE_KING), line)
        assert solver.nodes > 100_000 and solver.expanded > 40_000


def test_answers_by_brute_force_and_by_one_thread() -> None:
    """About 40 of these take so many nodes that helpers start."""
    rng, team, alone = random.Random(40), MateSolver(16, StopToken(), threads=4), MateSolver(16, StopToken())
    found = {"mate": 0, "nomate": 0, "unknown": 0}
    for _ in range(250):
        board = scattered(rng)
        team.clear()
        status, line = team.solve(board, 20_000)
        if team.nodes < 1500:
            continue
        found[status] += 1
        assert {status, alone.solve(board, 20_000)[0]} != {"mate", "nomate"}, board.sfen()
        assert status != "mate" or ends_in_mate(board, line), board.sfen()
        assert status != "nomate" or not mates_within(board, 3), board.sfen()
    assert found["mate"] > 5 and found["nomate"] > 10


def test_a_node_limit_counts_all_threads() -> None:
    for threads in (2, 4, 16):
        solver = MateSolver(16, StopToken(), threads=threads)
        assert solver.solve(Board(HARD_MATE), 60_000) == ("unknown", [])
        assert 60_000 <= solver.nodes < 62_000 + 300 * threads


def test_one_thread_repeats_exactly_after_several() -> None:
    solver, counts = MateSolver(16, StopToken()), set[int]()
    for threads in (1, 3, 1):
        solver.threads = threads
        solver.clear()
        solver.solve(Board(HARD_MATE), 30_000)
        counts |= {solver.nodes} if threads == 1 else set()
    assert len(counts) == 1


@pytest.mark.skipif(not TASKS.exists(), reason="counts threads in /proc")
def test_threads_join_a_running_solve_and_end_with_it() -> None:
    def threads_in_use() -> int:
        return len(os.listdir(TASKS))

    solver, before = MateSolver(16, stop := StopToken()), threads_in_use()
    thread = threading.Thread(target=solver.solve, args=(Board(HARD_MATE),))
    thread.start()
    solver.threads = 4
    wait_until(lambda: threads_in_use() == before + 4)
    stop.set()
    thread.join(60)
    assert not thread.is_alive()
    wait_until(lambda: threads_in_use() == before)  # the last one may still be leaving


@pytest.mark.parametrize("threads", [0, -1, 513, 1 << 70])
def test_a_number_of_threads_out_of_range_is_refused(threads: int) -> None:
    solver = MateSolver(1, StopToken())
    with pytest.raises(ValueError, match=f"^threads must be from 1 to 512, not {threads}$"):
        MateSolver(1, StopToken(), threads=threads)
    with pytest.raises(ValueError, match="threads must be"):
        solver.threads = threads
    assert solver.threads == 1


def test_the_last_problems_share_all_threads() -> None:
    first, second, third = solvers = [MateSolver(1, StopToken()) for _ in range(3)]
    shares = ThreadShares(5, 3)
    with shares.for_problem(first):
        with shares.for_problem(second):
            assert [solver.threads for solver in solvers] == [1, 1, 1]
            with shares.for_problem(third):
                assert sorted(solver.threads for solver in solvers) == [1, 2, 2]
            assert sorted(solver.threads for solver in (first, second)) == [2, 3]
        assert first.threads == 5
