"""Puzzles from an analysed game: its mistakes, positions with one clearly best move, mates with a single solution.

A mistake is tried again: every move that loses at most ACCEPTED percentage points solves it, as on lichess. A best move
that the game found must win MARGIN points more than the second best, in the search of the analysis and in one with
EFFORT times its limits. A mate is proved by the mate solver; at each turn but the last no other check may mate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core_ext.board import Board
from usi_engine.analysis.analyst import EFFORT, LARGE, SMALL_EFFORT
from usi_engine.analysis.judgement import judge, percent
from usi_engine.analysis.words import marked, side_names
from usi_engine.api.mate_search import mate, second_solutions
from usi_engine.language import _
from usi_engine.records.notation import move_text
from usi_engine.records.tree import Node, Record
from usi_engine.search.results import Analysis

MARGIN = 20.0  # percentage points
ACCEPTED, LINES = 5.0, 6  # points that a solution may lose; lines searched: with so many solutions it is no puzzle
LEAST_CHANCE = 40.0  # percent; a best move that still loses makes no puzzle
MOST = 10  # puzzles of a game
LONGEST_MATE = 15  # plies; a mate in one is a puzzle only if it was missed
MATE_NODES = 1_000_000
MEGABYTES = 32

# Returns the best lines of a position, which is that after so many moves: with so many times the limits, so many lines.
Search = Callable[[int, Board, int, int], Analysis]


@dataclass(frozen=True)
class Puzzle:
    """A position after `ply` moves of the game, the moves of its solution by both sides, and the moves accepted at each
    of the solver's turns. `answer` says why it is the solution; `last` is the move before the position.
    """

    ply: int
    board: Board
    goal: str
    solution: tuple[str, ...]
    accept: tuple[tuple[str, ...], ...]
    answer: str
    last: str = ""


def find_puzzles(record: Record, search: Search) -> list[Puzzle]:
    """Return the puzzles of an analysed game, at most MOST: first those that the game missed, then the clearest."""
    found = list[Puzzle]()
    for ply, node in candidates(record, search):
        puzzle = mate_puzzle(record, ply, node)
        if puzzle is None:
            puzzle = (retry_puzzle if is_missed(node) else best_puzzle)(record, ply, node, search)
        found += [puzzle] if puzzle else []
        if len(found) == MOST:
            break
    return sorted(found, key=lambda puzzle: puzzle.ply)


def candidates(record: Record, search: Search) -> list[tuple[int, Node]]:
    """Return the positions of the main line that may be puzzles, with their plies, the best ones first."""
    ranked = list[tuple[float, int, Node]]()
    for ply, node in enumerate((record.root, *record.main_line)):
        missed, found = is_missed(node), node.analysis
        if not found or not found.pv or percent(found.score.value) < LEAST_CHANCE or (goes_on(node) and not missed):
            continue
        board = record.board(ply)
        gap = measure_gap(two_lines(ply, board, node, search))
        clear = gap >= MARGIN and found.pv[0][2:4] != node.move[2:4]  # to recapture is easy
        if has_mate(node) or ((missed or clear) and not is_dull(board, found.pv[0])):
            ranked.append((-(gap + 100 * missed), ply, node))
    return [(ply, node) for _gap, ply, node in sorted(ranked, key=lambda one: one[:2])]


def two_lines(ply: int, board: Board, node: Node, search: Search) -> Analysis:
    """Return the analysis of a node if it has two lines, otherwise a search of two."""
    return node.analysis if node.analysis and node.analysis.lines[1:] else search(ply, board, 1, 2)


def is_missed(node: Node) -> bool:
    """Return True if the game went on with a move that lost LARGE points or gave a mate away."""
    following = node.next()
    move = judge(following) if following else None
    return move is not None and (move.loss >= LARGE or move.missed_mate is not None)


def is_dull(board: Board, move: str) -> bool:
    """Return True for a quiet retreat, which only keeps what one has."""
    quiet = move[1] != "*" and not move.endswith("+") and not board.piece_at(move[2:4]) and not board.gives_check(move)
    return quiet and (move[3] > move[1]) == (board.turn == 0) and move[3] != move[1]


def measure_gap(found: Analysis) -> float:
    """Return by how many percentage points the best move wins more than the second best; 0 without a second."""
    chances = [percent(line.score.value) for line in found.lines[:2]]
    return round(chances[0] - chances[1], 1) if chances[1:] else 0.0


def has_mate(node: Node) -> bool:
    """Return True if the side to move mates."""
    return node.analysis is not None and (node.analysis.score.mate or 0) > 0


def goes_on(node: Node) -> bool:
    """Return True if the side to move is already carrying out a mate."""
    before = node.parent and node.parent.parent
    if node.parent is None or before is None:
        return False
    move = judge(node.parent)
    return has_mate(before) and move is not None and move.best


# ---- a mistake, one best move ----


def retry_puzzle(record: Record, ply: int, node: Node, search: Search) -> Puzzle | None:
    """Return the question to play better than the game; None if most moves do."""
    board, played = record.board(ply), node.next()
    found = search(ply, board, SMALL_EFFORT, LINES)
    best = percent(found.score.value)
    good = [line.move for line in found.lines if round(best - percent(line.score.value), 1) <= ACCEPTED]
    if best < LEAST_CHANCE or played is None or played.move in good or not 0 < len(good) < LINES:
        return None
    first, instead = (marked(move_text(board, move)) for move in (found.lines[0].move, played.move))
    goal = _("{side} to move: find a better move than {move}").format(side=side_names(record)[board.turn], move=instead)
    answer = _("{move} has a winning chance of {chance} %.").format(move=first, chance=f"{best:.1f}")
    return Puzzle(ply, board, goal, found.pv[:1], (tuple(good),), answer, node.move)


def best_puzzle(record: Record, ply: int, node: Node, search: Search) -> Puzzle | None:
    """Return the puzzle of a position if the deeper search confirms its one best move."""
    board = record.board(ply)
    first, found = two_lines(ply, board, node, search), search(ply, board, EFFORT, 2)
    chance = percent(found.score.value)
    if min(measure_gap(first), measure_gap(found)) < MARGIN or chance < LEAST_CHANCE or first.pv[0] != found.pv[0]:
        return None
    move, other = (marked(move_text(board, line.move)) for line in found.lines[:2])
    answer = _("{move} has a winning chance of {chance} %, the next best move, {other}, only {less} %.")
    less = percent(found.lines[1].score.value)
    answer = answer.format(move=move, chance=f"{chance:.1f}", other=other, less=f"{less:.1f}")
    goal = _("{side} to move: find the best move").format(side=side_names(record)[board.turn])
    return Puzzle(ply, board, goal, found.pv[:1], (found.pv[:1],), answer, board.moves()[-1] if ply else "")


# ---- mates ----


def mate_puzzle(record: Record, ply: int, node: Node) -> Puzzle | None:
    """Return the puzzle of a position if it has a mate with a single solution."""
    if not has_mate(node):
        return None
    board = record.board(ply)
    solution = mate(board, nodes=MATE_NODES, aim="shortest", megabytes=MEGABYTES).moves
    if not solution or len(solution) > LONGEST_MATE or (len(solution) == 1 and not is_missed(node)):
        return None
    accept = accepted(board, solution)
    if accept is None:
        return None
    goal = _("{side} to move: find the mate in {plies}")
    goal = goal.format(side=side_names(record)[board.turn], plies=len(solution))
    return Puzzle(ply, board, goal, solution, accept, _("Mate in {plies}.").format(plies=len(solution)), node.move)


def accepted(board: Board, solution: Sequence[str]) -> tuple[tuple[str, ...], ...] | None:
    """Return the accepted moves at each of the solver's turns; None if a turn before the last has several.

    The last turn accepts every move that mates at once.
    """
    turn, accept = board.copy(), list[tuple[str, ...]]()
    found = second_solutions(board, solution, nodes=MATE_NODES, megabytes=MEGABYTES)
    for ply, move in enumerate(solution, 1):
        if ply % 2:
            others = [other for other in found if other.ply == ply and other.moves[0] in turn.legal_moves()]
            if others and ply < len(solution):
                return None
            accept.append((move, *(other.moves[0] for other in others if other.moves[1:] == ())))
        turn.push(move)
    return tuple(accept)


# ---- data of the page ----


def puzzle_data(puzzle: Puzzle) -> dict[str, Any]:
    """Return the data for the page's script; `accept` and `legal` have the moves of each of the solver's turns."""
    board, names, legal = puzzle.board.copy(), list[str](), list[list[str]]()
    for number, move in enumerate(puzzle.solution):
        if number % 2 == 0:
            legal.append(list(board.legal_moves))
        names.append(marked(move_text(board, move)))
        board.push(move)
    return {
        "ply": puzzle.ply,
        "sfen": puzzle.board.sfen(),
        "side": ("black", "white")[puzzle.board.turn],
        "goal": puzzle.goal,
        "solution": puzzle.solution,
        "names": names,
        "accept": puzzle.accept,
        "legal": legal,
        "answer": puzzle.answer,
        "last": puzzle.last or None,
    }
