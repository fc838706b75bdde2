"""The dialogue of a game: reads commands and moves, lets the engine answer, shows what happens."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from usi_engine.columns import cells, padded
from usi_engine.language import _, reason_of
from usi_engine.play.game import PersonGame
from usi_engine.play.library import save
from usi_engine.play.moves import UnknownMove
from usi_engine.play.opponent import HINT, Opponent
from usi_engine.play.screen import View
from usi_engine.play.words import advice_on, help_text, split_command, value_text
from usi_engine.records.faults import RecordError
from usi_engine.records.notation import name_moves
from usi_engine.rules import MoveError
from usi_engine.search.results import PlayResult
from usi_engine.search.skill import FULL_STRENGTH

HINT_MOVES = 6  # of a hint's line


def file_named(text: str) -> Path:
    """Return the file of this name: KIF if it has no suffix, `~` is the home folder. MoveError."""
    if "\0" in text:
        raise MoveError(_("a file name cannot contain a zero byte"))
    path = Path(os.path.expanduser(text.strip('"')))
    return path if path.suffix or path.is_dir() else path.with_name(f"{path.name}.kif")


class Quit(Exception):
    """The end of the dialogue: the person has quit."""


class Dialogue:
    """One game after another, the first from `file`."""

    def __init__(self, game: PersonGame, opponent: Opponent, view: View, *, file: Path | None = None) -> None:
        self.game, self._opponent, self._view = game, opponent, view
        self._saved_moves: list[str] = list(game.moves)
        self._own_file = file
        self._refused_file: Path | None = None  # another game's: `save` replaces it the second time
        self._commands = self._all_commands()

    def run(self) -> None:
        """Play until the person quits or the input ends. KeyboardInterrupt."""
        self._opponent.new_game()
        self._show()
        moves = _("help lists the commands. Your move: 7g7f, 7776FU or ７六歩.")
        self._view.say(moves if self._view.screen.kanji else _("help lists the commands."))
        self._announce()
        self.game.clock.start()
        try:
            while True:
                if self.game.engine_moves:
                    self._engine_moves()
                else:
                    self._person_acts()
        except (EOFError, Quit):
            return

    @property
    def unsaved(self) -> bool:
        """True if there are moves that are not saved."""
        return self.game.moves != self._saved_moves

    # ---- moves ----

    def _engine_moves(self) -> None:
        self._view.wait(_("{name} is thinking ...").format(name=self.game.shown_name(self.game.turn)))
        found = self._opponent.think(self.game.board, self.game.go(), self.game.level)
        self._carry_out(lambda: self.game.reply(found.move or found.end), found.source == "book")

    def _carry_out(self, act: Callable[[], None], from_book: bool = False) -> None:
        """Make a move, or end the game; show what has happened. MoveError."""
        count = len(self.game.moves)
        act()
        if len(self.game.moves) > count:
            move = self.game.moves[-1]
            if not self.game.engine_moves:
                self._show()
            name = self._names([move], count)[0]
            text = f"{count + 1}. {name}" + (f" ({move})" if name != move else "")
            self._view.say(text + (_(", from the book") if from_book else ""))
        self._announce()

    def _named(self, moves: Sequence[str]) -> str:
        """Return the moves as ▲７六歩 if the screen has kanji, else in USI."""
        return " ".join(self._names(moves, len(self.game.moves)))

    def _names(self, moves: Sequence[str], played: int) -> list[str]:
        """Return the names of moves that follow the first `played` moves of the game."""
        if not self._view.screen.kanji:
            return list(moves)
        before = self.game.board.copy()
        while len(before.moves()) > played:
            before.pop()
        return [move.text for move in name_moves(before, moves)] or list(moves)

    # ---- the person ----

    def _person_acts(self) -> None:
        """Read a line and carry it out."""
        line = self._view.read(self._prompt()).strip()
        name, rest = split_command(line)
        try:
            if name:
                self._commands[name](rest)
            elif line:
                self._person_moves(line)
        except (MoveError, RecordError) as error:
            self._view.say(str(error))

    def _prompt(self) -> str:
        game = self.game
        if game.end:
            return _("game over> ")
        name = game.side_name(game.turn) + (f" {self._clock(game.turn)}" if game.clock else "")
        return _("{number}. {side}> ").format(number=len(game.moves) + 1, side=name)

    def _person_moves(self, text: str) -> None:
        if self.game.end:
            raise MoveError(_("the game is over: undo, save, new or quit"))
        try:
            self._carry_out(lambda: self.game.move(text))
        except UnknownMove as error:
            raise MoveError(_("{error}; {advice}").format(error=error, advice=advice_on(text))) from None

    def _all_commands(self) -> dict[str, Callable[[str], None]]:
        return {
            "help": lambda rest: self._view.say(help_text()),
            "board": lambda rest: self._show(),
            "undo": lambda rest: self._undo(),
            "hint": lambda rest: self._hint(),
            "flip": lambda rest: self._flip(),
            "level": self._level,
            "swap": lambda rest: self._swap(),
            "moves": lambda rest: self._view.say(self._list_of_moves()),
            "save": self._save,
            "resign": lambda rest: self._carry_out(lambda: self.game.person_replies("resign")),
            "declare": lambda rest: self._carry_out(lambda: self.game.person_replies("win")),
            "new": lambda rest: self._new(),
            "quit": self._quit,
        }

    def _undo(self) -> None:
        self.game.take_back()
        self._show()

    def _hint(self) -> None:
        self.game.check_person_moves()
        self._view.say(self._hint_text(self._opponent.think(self.game.board, HINT, FULL_STRENGTH)))

    def _hint_text(self, found: PlayResult) -> str:
        if found.move is None:
            return _("hint: declare") if found.end == "win" else _("hint: resign")
        line = self._named(found.pv[:HINT_MOVES])
        text = _("hint: {move} ({value}): {line}")
        return text.format(move=found.move, value=value_text(found.score), line=line)

    def _flip(self) -> None:
        self._view.screen.flipped = not self._view.screen.flipped
        self._show()

    def _level(self, rest: str) -> None:
        if rest and not (rest.isdecimal() and len(rest) < 4 and int(rest) <= FULL_STRENGTH):
            message = _("a level is a number from 0 to {most}, not '{text}'")
            raise MoveError(message.format(most=FULL_STRENGTH, text=rest))
        if rest:
            self.game.level = int(rest)
        self._view.say(_("level {level}").format(level=self.game.level))

    def _swap(self) -> None:
        self.game.person = 1 - self.game.turn
        self._view.screen.flipped = self.game.person == 1
        self.game.clock.start()
        if self.game.end:  # else the engine's move shows the board
            self._show()

    def _list_of_moves(self) -> str:
        """Return the numbered moves in columns."""
        texts = [f"{number:>3} {name}" for number, name in enumerate(self._names(self.game.moves, 0), 1)]
        widest = max(map(cells, texts), default=0) + 2
        in_row = max((self._view.width - 1) // widest, 1)
        filled = [padded(text, -widest) for text in texts]
        rows = ["".join(filled[first : first + in_row]).rstrip() for first in range(0, len(filled), in_row)]
        return "\n".join(rows) or _("no moves yet")

    def _save(self, rest: str) -> None:
        path: Path | str = rest
        try:
            path = self._file_to_save(rest)
            save(self.game, path)
        except OSError as error:
            message = _("{file} was not saved: {reason}; save it under another name or in another folder")
            raise MoveError(message.format(file=path, reason=reason_of(error))) from None
        self._saved_moves, self._own_file, self._refused_file = self.game.moves, path, None
        self._view.say(_("saved as {file}").format(file=path))

    def _file_to_save(self, name: str) -> Path:
        """Return the file of this name, or the game's own. MoveError if it may not be written."""
        if not name and self._own_file:
            return self._own_file
        path = file_named(name or time.strftime("komadori-%Y%m%d-%H%M%S"))
        if path.is_dir():
            raise MoveError(_("{file} is a folder; name a file").format(file=path))
        if not path.parent.is_dir():
            message = _("there is no folder {folder}; make it first, or save elsewhere")
            raise MoveError(message.format(folder=path.parent))
        known = [one for one in (self._own_file, self._refused_file) if one and one.exists()]
        if path.is_file() and not any(map(path.samefile, known)):
            self._refused_file = path
            message = _("{file} exists and was not written for this game; repeat the command to replace it")
            raise MoveError(message.format(file=path))
        return path

    def _new(self) -> None:
        self.game = self.game.again()
        self._saved_moves = []
        self._own_file = self._refused_file = None
        self._opponent.new_game()
        self._show()
        self.game.clock.start()

    def _quit(self, _rest: str) -> None:
        raise Quit

    # ---- what is shown ----

    def _show(self) -> None:
        self._view.show(self.game.board, (self._label(0), self._label(1)))

    def _label(self, side: int) -> str:
        """Return the name of a player with the clock."""
        name = self.game.shown_name(side)
        return f"{name} {self._clock(side)}" if self.game.clock else name

    def _clock(self, side: int) -> str:
        """Return what a side has left now."""
        running = side == self.game.turn and not self.game.end
        left = self.game.left(side) - (self.game.clock.spent if running else 0)
        byoyomi = self.game.clock.controls[side].byoyomi
        if left > 0 or not byoyomi:
            seconds = max(left, 0) // 1000
            return f"{seconds // 60}:{seconds % 60:02}"
        return _("byoyomi {seconds}").format(seconds=max(left + byoyomi, 0) // 1000)

    def _announce(self) -> None:
        if self.game.end:
            self._view.say(self.game.ending_text)
