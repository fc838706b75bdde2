"""Sentences that say why a move is bad: mates, material, tactics, the king's squares, threats.

What is said of material must come out of both searches of a position, if there was a second, longer one (`Node.quick`),
by the same moves.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from core_ext.board import Board
from usi_engine.analysis import tactics
from usi_engine.analysis.judgement import black_score, is_by_rule, judge, percent
from usi_engine.analysis.words import is_japanese, marked
from usi_engine.language import _
from usi_engine.records.ends import BY_REASON
from usi_engine.records.notation import move_text
from usi_engine.records.tree import Node, Step
from usi_engine.search.results import Analysis

EVEN_CHANCE = 50.0  # percent
BAD = 10.0  # points lost: a move that needs a reason, and is searched ten times as long
SQUARES = 2  # of a king; fewer lost explain nothing
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def explanations(step: Step, names: tuple[str, str]) -> list[str]:
    """Return sentences about a move and its position, `names` being those of the sides; none if all is usual."""
    score, move, sentences = black_score(step.node), judge(step.node), list[str]()
    if score and is_by_rule(score):
        sentences.append(_(BY_REASON["declaration"].sentence).format(winner=names[score.value < 0]))
    if move is None:
        return sentences
    missed = [_("Missed mate in {plies}.").format(plies=move.missed_mate)] if move.missed_mate else []
    if not missed and move.grade is None:
        return sentences
    sentences += [*missed, *mate_allowed(step.node)] or material_sentences(step)
    return sentences or (agreed_sentences(step)[:1] if move.loss >= BAD else [])


def mate_allowed(node: Node) -> Iterator[str]:
    """Yield the sentence about a mate that the move allows, if there is one."""
    assert node.analysis and node.parent and node.parent.analysis
    plies = node.analysis.score.mate or 0
    if plies > 0:
        sudden = percent(node.parent.analysis.score.value) >= EVEN_CHANCE
        yield (_("Walked into mate in {plies}.") if sudden else _("Allows mate in {plies}.")).format(plies=plies)


# ---- material ----


def material_sentences(step: Step) -> list[str]:
    """Return sentences about material that the move lost, or that the better line would have won, and how."""
    node, parent = step.node, step.node.parent
    assert node.analysis and parent and parent.analysis
    loses, exchange = exchange_of(step, parent.analysis, node.analysis)
    if exchange is None:
        return []
    first = exchange_of(step, parent.quick or parent.analysis, node.quick or node.analysis)
    if first != (loses, exchange):
        return []
    board, line, frame = (
        (step.board, node.analysis.pv, _("Allows {move}, {what}."))
        if loses
        else (step.before, parent.analysis.pv, _("Misses {move}, {what}."))
    )
    taken, given = (exchange.lost, exchange.won) if loses else (exchange.won, exchange.lost)
    kind, victims = tactics.find_tactic(board, line) or ("", ())
    how = [framed(frame, board, line[0], tactic_text(kind, victims))] if kind else []
    if kind == "hanging" and (given or taken == Counter(victims)):  # one sentence is enough
        return [exchange_text(loses, taken, given)] if given else how
    return [*how, exchange_text(loses, taken, given)]


def exchange_of(step: Step, before: Analysis, after: Analysis) -> tuple[bool, tactics.Exchange | None]:
    """Return whether the move lost material or missed some, and the exchange; None if neither explains the move."""
    played, better = (tactics.play_out(step.before, line) for line in ([step.node.move, *after.pv], before.pv))
    if min(better.balance, better.final) - max(played.balance, played.final) >= tactics.PIECE:
        if played.moves and is_kept(played) and played.balance <= -tactics.PIECE:
            return True, played
        if better.moves and is_kept(better) and better.balance >= tactics.PIECE:
            return False, better
    return False, None


def is_kept(exchange: tactics.Exchange) -> bool:
    """Return True if the end of the line has the balance of the exchange, or more of it."""
    sign = 1 if exchange.balance > 0 else -1
    return sign * exchange.final >= sign * exchange.balance - 1


def exchange_text(loses: bool, taken: Counter[str], given: Counter[str]) -> str:
    """Return the sentence about pieces taken for others: by the opponent, or by the side that missed it."""
    if is_two_for_one(taken, given):
        text = _("Loses {taken} for {given}, two for one.") if loses else _("Misses {taken} for {given}, two for one.")
    elif given:
        text = _("Loses {taken} for {given}.") if loses else _("Misses winning {taken} for {given}.")
    else:
        text = _("Loses {taken}.") if loses else _("Misses winning {taken}.")
    return text.format(taken=pieces(taken), given=pieces(given))


def is_two_for_one(taken: Counter[str], given: Counter[str]) -> bool:
    """Return True if two pieces, without pawns, are taken for one rook or bishop (二枚換え)."""
    two, one = Counter(taken), Counter(given)
    del two["P"], one["P"]
    return two.total() == 2 and one.total() == 1 and tactics.worth(next(iter(one))) >= tactics.WORTH["B"]


# ---- tactics, king, threats ----


def framed(frame: str, board: Board, move: str, what: str) -> str:
    """Return a sentence about a move from a position."""
    return frame.format(move=marked(move_text(board, move)), what=what)


def tactic_text(kind: str, victims: Sequence[str]) -> str:
    """Return what a move does, as it stands after the move's name."""
    names = [piece_name(letter) for letter in victims]
    text = {
        "fork": _("a fork of {pieces}"),
        "skewer": _("a skewer of {pieces}"),
        "pin": _("which pins the {front} to the {behind}"),
        "hanging": _("which takes the {front} for nothing"),
    }[kind]
    return text.format(pieces=_(" and ").join(names), front=names[0], behind=names[-1])


def agreed_sentences(step: Step) -> list[str]:
    """Return sentences about a bad move that lost no material, those of both searches, the most important first."""
    node, parent = step.node, step.node.parent
    assert node.analysis and parent and parent.analysis
    quick = [*positional_sentences(step, parent.quick or parent.analysis, node.quick or node.analysis)]
    return [one for one in positional_sentences(step, parent.analysis, node.analysis) if one in quick]


def positional_sentences(step: Step, before: Analysis, after: Analysis) -> Iterator[str]:
    """Yield sentences about the best reply to a move, and about the move that was better."""
    if after.pv and before.pv:
        allows, misses = _("Allows {move}, {what}."), _("Misses {move}, {what}.")
        if was_prevented(step, after.pv[0]):
            yield framed(allows, step.board, after.pv[0], _("which was prevented before"))
        yield from (framed(allows, step.board, after.pv[0], what) for what in effects(step.board, after.pv))
        yield from (framed(misses, step.before, before.pv[0], what) for what in effects(step.before, before.pv))
        yield from (framed(allows, step.board, after.pv[0], what) for what in prevents(step, before.pv[0], after.pv[0]))


def was_prevented(step: Step, reply: str) -> bool:
    """Return True if the reply was prevented before the move. To take back is nothing new."""
    at_once = step.before.copy()
    if reply[2:4] == step.node.move[2:4] or at_once.is_check():
        return False
    at_once.push_pass()
    return tactics.is_prevented(at_once, reply) and not tactics.is_prevented(step.board, reply)


def prevents(step: Step, better: str, reply: str) -> Iterator[str]:
    """Yield that the better move prevents the reply, or guards the square that it goes to, if it does."""
    instead, move = step.before.copy(), marked(move_text(step.before, better))
    instead.push(better)
    if reply[2:4] == step.node.move[2:4] or instead.is_check() or tactics.is_prevented(step.board, reply):
        return
    if tactics.is_prevented(instead, reply):
        yield _("which {better} prevents").format(better=move)
    elif tactics.is_guarded(instead, step.board, reply[2:4]):
        yield _("a square that {better} guards").format(better=move)


def effects(board: Board, line: Sequence[str]) -> Iterator[str]:
    """Yield what the first move of a line does to the other king and to the last move, and what it threatens."""
    side, move, after = 1 - board.turn, line[0], board.copy()
    after.push(move)
    if piece := tactics.taken(board, move):
        yield _("which takes the {piece}").format(piece=piece_name(piece))
    if move.endswith("+") and tactics.is_near_king(board, move[2:4], side) and not after.attackers(side, move[2:4]):
        yield _("which promotes near the king")
    lost = tactics.escapes(board, side) - tactics.escapes(after, side)
    if lost >= SQUARES and tactics.is_near_king(board, move[2:4], side):
        yield _("which takes {count} squares from the king").format(count=lost)
    if after.is_check():
        yield _("which gives check")
        return
    if attacked := [tactics.letter_at(after, square) for square in tactics.forked(after, move[2:4])]:
        yield _("which attacks the {piece}").format(piece=piece_name(max(attacked, key=tactics.worth)))
    threat = tactics.threatens(board, line)
    after.push_pass()
    if threat:
        yield _("which threatens {threat}").format(threat=marked(move_text(after, threat)))
    if piece := tactics.saved(board, move):
        yield _("which saves the {piece}").format(piece=piece_name(piece))
    if piece := tactics.guarded(board, after):
        yield _("which guards the {piece}").format(piece=piece_name(piece))


# ---- pieces ----


def pieces(counted: Counter[str]) -> str:
    """Return the pieces as text, the most valuable first."""
    names = []
    for letter in sorted(counted, key=lambda piece: -tactics.WORTH[piece]):
        name, count = piece_name(letter), counted[letter]
        text = _("a {piece}") if count == 1 else _("{count} {piece}s")
        in_words = count < len(NUMBERS) and not is_japanese()
        names.append(text.format(count=NUMBERS[count] if in_words else count, piece=name))
    return _(" and ").join(names)


def piece_name(letter: str) -> str:
    """Return the name of a piece by its letter, `+P` for a tokin."""
    names = {
        "P": _("pawn"), "L": _("lance"), "N": _("knight"), "S": _("silver"), "G": _("gold"), "B": _("bishop"),
        "R": _("rook"), "+P": _("tokin"), "K": _("king"),
    }  # fmt: skip
    return names[letter]
