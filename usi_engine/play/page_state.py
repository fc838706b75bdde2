"""The data of a game for the page."""

from dataclasses import asdict
from typing import Any

from core_ext.board import Board
from usi_engine.analysis.words import marked
from usi_engine.language import _
from usi_engine.play.game import PersonGame, pair
from usi_engine.play.words import value_text
from usi_engine.records.notation import NamedMove, move_text, name_moves
from usi_engine.search.results import PlayResult

LETTERS = "bw"  # of Black and White, as the page names them
HINT_MOVES = 6  # of a hint's line
CLOCK = ("minutes", "byoyomi", "increment")


class MoveNames:
    """The named moves of a game, each made once."""

    def __init__(self) -> None:
        self._start, self._named = "", list[NamedMove]()

    def of(self, game: PersonGame) -> list[NamedMove]:
        """Return the moves of the game with their names."""
        moves, known = game.moves, self._named if self._start == game.start else []
        same = next((at for at, (move, named) in enumerate(zip(moves, known, strict=False)) if move != named.usi),
                    min(len(moves), len(known)))  # fmt: skip
        board = Board(known[same - 2].sfen if same > 1 else game.start)
        if same:
            board.push(moves[same - 1])  # names depend on the move before
        self._start, self._named = game.start, known[:same] + name_moves(board, moves[same:], move_text)
        return self._named


def state_of(game: PersonGame, names: MoveNames, hint: PlayResult | None, *, started: bool) -> dict[str, Any]:
    """Return the data of a game."""
    end = game.end
    return {
        "ply": len(game.moves),
        "started": started,
        "terms": terms_of(game),
        "start": game.start,
        "moves": [{"usi": move.usi, "text": marked(move.text), "sfen": move.sfen} for move in names.of(game)],
        "check": game.board.is_check(),
        "turn": LETTERS[game.turn],
        "side": "" if game.person is None else LETTERS[game.person],
        "players": {letter: game.shown_name(side) for side, letter in enumerate(LETTERS)},
        "legal": game.board.legal_moves(include_all=True) if game.person_moves else [],
        "canDeclare": game.can_declare(),
        "hint": hint_data(game, hint) if hint else None,
        "clock": clock_data(game, started) if game.clock else None,
        "ending": game.ending_text,
        "won": None if end is None or end.winner is None or game.person is None else end.winner == game.person,
    }


def terms_of(game: PersonGame) -> dict[str, Any]:
    """Return the settings, with what both sides have of the clock."""
    settings = game.settings
    return asdict(settings) | {name: pair(getattr(settings, name)) for name in CLOCK} | {"level": game.level}


def hint_data(game: PersonGame, hint: PlayResult) -> dict[str, Any]:
    """Return the hinted move, its value and its line; only a text if it is none."""
    if hint.move is None:
        return {"usi": "", "text": _("declare") if hint.end == "win" else _("resign"), "value": "", "line": []}
    line = [marked(move.text) for move in name_moves(game.board, hint.pv[:HINT_MOVES] or [hint.move], move_text)]
    return {"usi": hint.move, "text": line[0], "value": value_text(hint.score), "line": line}


def clock_data(game: PersonGame, started: bool) -> dict[str, Any]:
    """Return both sides' main time at the start of this turn, their byoyomi, and how long the turn has lasted."""
    running = LETTERS[game.turn] if started and game.end is None else ""
    sides = list(enumerate(LETTERS))
    return {
        **{letter: game.left(side) for side, letter in sides},
        "byoyomi": {letter: game.clock.controls[side].byoyomi for side, letter in sides},
        "timed": {letter: bool(game.clock.controls[side]) for side, letter in sides},
        "running": running,
        "spent": game.clock.spent if running else 0,
    }
