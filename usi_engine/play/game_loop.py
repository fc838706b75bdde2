"""The dialogue of a game: reads commands and moves, lets the engine answer, prints what happens."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from usi_engine.csa.clock import Clocks, TimeControl
from usi_engine.game.skill import FULL_STRENGTH
from usi_engine.play.game import NAMES, OTHER, LiveGame
from usi_engine.play.moves import MoveError, read_move
from usi_engine.play.opponent import Opponent, Thought
from usi_engine.play.record import PLAYER, engine_name, save
from usi_engine.play.screen import Screen
from usi_engine.records.faults import RecordError
from usi_engine.records.notation import name_moves

HINT_MILLISECONDS = 1000
SIGNS = {"b": "+", "w": "-"}  # the names of the players in Clocks
HELP = """Moves: 7g7f, 8h2b+, P*5e; 7776FU; ７六歩, 76歩, 同銀, ５八金右, ２二角成
undo        take your last move back             hint        what the engine would play at full strength
flip        turn the board                       board       show the board again
level N     change the level (0 to 20)           swap        change sides
moves       the moves so far                     save FILE   as KIF, or CSA ... by the suffix
resign      resign                               declare     win by declaration (entering king)
new         another game                         quit        end (also Ctrl-C, Ctrl-D)"""
ALIASES = {
    "u": "undo", "h": "hint", "?": "help", "b": "board", "d": "board", "q": "quit", "exit": "quit",
    "待った": "undo", "投了": "resign", "反転": "flip", "宣言": "declare", "終了": "quit",
}  # fmt: skip


@dataclass
class Settings:
    """Settings of the game. `side`: the person's, `b` or `w`; empty: two people. `seconds`: the engine's time for a
    move in a game without a clock.
    """

    side: str = "b"
    level: int = FULL_STRENGTH
    seconds: float = 2.0
    control: TimeControl = field(default_factory=TimeControl)


def file_named(text: str) -> Path:
    """Return the file of this name: KIF if it has no suffix, `~` is the home folder. MoveError."""
    if "\0" in text:
        raise MoveError("a file name cannot contain a zero byte")
    path = Path(os.path.expanduser(text))
    return path if path.suffix or path.is_dir() else path.with_name(f"{path.name}.kif")


class Quit(Exception):
    """The end of the dialogue: the person has quit."""


class GameLoop:
    """One game after another, the first from `file`. `read` returns a line for a prompt (EOFError at the end), `say`
    prints one.
    """

    def __init__(
        self,
        game: LiveGame,
        opponent: Opponent,
        settings: Settings,
        screen: Screen,
        *,
        file: Path | None = None,
        read: Callable[[str], str] = input,
        say: Callable[[str], None] = print,
    ) -> None:
        self.game, self.settings = game, settings
        self._opponent, self._screen, self._read, self._say = opponent, screen, read, say
        self._saved_moves: list[str] = list(game.moves)
        self._own_file = file
        self._refused_file: Path | None = None  # another game's: `save` replaces it the second time
        self._clocks = self._new_clocks()
        self._unclocked = len(game.moves)  # a resumed game was played on other clocks
        self._spent = 0.0  # seconds of the person's move so far
        self._commands = self._all_commands()

    def run(self) -> None:
        """Play until the person quits or the input ends. KeyboardInterrupt."""
        self._opponent.new_game()
        self._opponent.set("SkillLevel", self.settings.level)
        self._show()
        if self.game.ending:
            self._announce()
        try:
            while True:
                if self.game.ending is None and self.game.turn == OTHER.get(self.settings.side):
                    self._engine_moves()
                else:
                    self._person_acts()
        except (EOFError, Quit):
            return

    @property
    def unsaved(self) -> bool:
        """True if there are moves that are not saved."""
        return self.game.moves != self._saved_moves

    def players(self) -> tuple[str, str]:
        """Return the names of Black and White."""
        engine = engine_name(self.settings.level)
        by_side = {"b": (PLAYER, engine), "w": (engine, PLAYER), "": (PLAYER, PLAYER)}
        return by_side[self.settings.side]

    # ---- the engine ----

    def _engine_moves(self) -> None:
        begun = time.monotonic()
        thought = self._opponent.think(self.game.position, self._go())
        spent = time.monotonic() - begun
        if thought.move == "resign":
            self.game.end("resignation", self.settings.side)
            self._announce()
        elif thought.move == "win":
            self.game.end("declaration", OTHER[self.settings.side])
            self._announce()
        else:
            self._make_move(thought.move, spent)

    def _go(self) -> str:
        if self.settings.control.is_unlimited():
            return f"movetime {int(self.settings.seconds * 1000)}"
        return self._clocks.go_words(SIGNS[self.game.turn])

    # ---- moves ----

    def _make_move(self, move: str, seconds: float) -> None:
        """Make a legal move that took this time, or lose on time."""
        mover, milliseconds = self.game.turn, int(seconds * 1000)
        if self._time_is_up(mover, milliseconds):
            self.game.end("time", OTHER[mover])
        else:
            text = self._named([move])
            self.game.push(move, milliseconds)
            if self.game.turn != OTHER.get(self.settings.side) or self.game.ending:
                self._show()
            self._say(f"{text} ({move})" if text != move else f"{len(self.game.moves)}. {move}")
        if self.game.ending:
            self._announce()

    def _time_is_up(self, mover: str, milliseconds: int) -> bool:
        """Subtract a move's time from the clock; return True if it has run out."""
        control, sign = self.settings.control, SIGNS[mover]
        if control.is_unlimited():
            return False
        late = milliseconds > self._clocks.left[sign] + control.byoyomi + control.increment
        self._clocks.spend(sign, milliseconds)
        return late

    def _named(self, moves: Sequence[str]) -> str:
        """Return the moves as ▲７六歩 if the screen has kanji, else in USI."""
        named = name_moves(self.game.start, moves, self.game.moves) if self._screen.style.kanji else []
        return " ".join(move.text for move in named) or " ".join(moves)

    # ---- the person ----

    def _person_acts(self) -> None:
        """Read a line and carry it out."""
        begun = time.monotonic()
        line = self._read(self._prompt()).strip()
        self._spent += time.monotonic() - begun
        word, _, rest = line.partition(" ")
        command = self._commands.get(ALIASES.get(word.lower(), word.lower()))
        try:
            if command:
                command(rest.strip())
            elif line:
                self._person_moves(line)
        except (MoveError, RecordError, OSError) as error:
            self._say(str(error))

    def _prompt(self) -> str:
        return "game over> " if self.game.ending else f"{len(self.game.moves) + 1}. {NAMES[self.game.turn]}> "

    def _person_moves(self, text: str) -> None:
        if self.game.ending:
            raise MoveError("the game is over: undo, save, new or quit")
        move = read_move(text, self.game.board)
        spent, self._spent = self._spent, 0.0
        self._make_move(move, spent)

    def _all_commands(self) -> dict[str, Callable[[str], None]]:
        return {
            "help": lambda rest: self._say(HELP),
            "board": lambda rest: self._show(),
            "undo": lambda rest: self._undo(),
            "hint": lambda rest: self._hint(),
            "flip": lambda rest: self._flip(),
            "level": self._level,
            "swap": lambda rest: self._swap(),
            "moves": lambda rest: self._say(" ".join(self.game.moves) or "no moves yet"),
            "save": self._save,
            "resign": lambda rest: self._resign(),
            "declare": lambda rest: self._declare(),
            "new": lambda rest: self._new(),
            "quit": lambda rest: self._quit(),
        }

    def _undo(self) -> None:
        """Go back to the person's last turn: take back the person's move and the answer to it, if any."""
        own_turn = self.game.turn == self.settings.side and (self.game.ending is None or len(self.game.moves) > 1)
        count = 2 if own_turn and self.settings.side else 1
        if len(self.game.moves) < count:
            raise MoveError("there is no move to take back")
        for _ in range(count):
            self.game.pop()
        self._reset_clocks()
        self._show()

    def _hint(self) -> None:
        if self.game.ending:
            raise MoveError("the game is over")
        self._opponent.set("SkillLevel", FULL_STRENGTH)
        try:
            thought = self._opponent.think(self.game.position, f"movetime {HINT_MILLISECONDS}")
        finally:
            self._opponent.set("SkillLevel", self.settings.level)
        self._say(f"hint: {self._thought_text(thought)}")

    def _thought_text(self, thought: Thought) -> str:
        if thought.move in ("win", "resign"):
            return "declare" if thought.move == "win" else "resign"
        kind, _, number = thought.score.partition(" ")
        value = f" ({int(number) / 100:+.1f} pawns)" if kind == "cp" else f" ({thought.score})" if kind else ""
        return f"{thought.move}{value}: {self._named(thought.pv or [thought.move])}"

    def _flip(self) -> None:
        self._screen.flipped = not self._screen.flipped
        self._show()

    def _level(self, rest: str) -> None:
        if rest and not (rest.isdecimal() and int(rest) <= FULL_STRENGTH):
            raise MoveError(f"a level is a number from 0 to {FULL_STRENGTH}, not '{rest}'")
        if rest:
            self.settings.level = int(rest)
            self._opponent.set("SkillLevel", self.settings.level)
        self._say(f"level {self.settings.level}")

    def _swap(self) -> None:
        self.settings.side = OTHER[self.game.turn]
        self._screen.flipped = self.settings.side == "w"
        self._show()

    def _save(self, rest: str) -> None:
        path = file_named(rest or time.strftime("komadori-%Y%m%d-%H%M%S"))
        if path.is_file() and path not in (self._own_file, self._refused_file):
            self._refused_file = path
            raise MoveError(f"{path} exists and was not written for this game; the same command again replaces it")
        save(self.game, path, self.players())
        self._saved_moves, self._own_file, self._refused_file = self.game.moves, path, None
        self._say(f"saved as {path}")

    def _resign(self) -> None:
        if self.game.ending:
            raise MoveError("the game is over")
        self.game.end("resignation", OTHER[self.game.turn])
        self._announce()

    def _declare(self) -> None:
        if self.game.ending or not self.game.board.can_declare():
            raise MoveError("a win cannot be declared here")
        self.game.end("declaration", self.game.turn)
        self._announce()

    def _new(self) -> None:
        self.game = self.game.again()
        self._saved_moves, self._clocks, self._spent, self._unclocked = [], self._new_clocks(), 0.0, 0
        self._own_file = self._refused_file = None
        self._opponent.new_game()
        self._show()

    def _quit(self) -> None:
        raise Quit

    # ---- what is shown ----

    def _new_clocks(self) -> Clocks:
        return Clocks({"+": self.settings.control, "-": self.settings.control})

    def _reset_clocks(self) -> None:
        """Set the clocks to the time after the last remaining move."""
        self._clocks, self._spent = self._new_clocks(), 0.0
        self._unclocked = min(self._unclocked, len(self.game.moves))
        mover = self.game.start.split()[1]
        for number, milliseconds in enumerate(self.game.milliseconds):
            if number >= self._unclocked:
                self._time_is_up(mover, milliseconds)
            mover = OTHER[mover]

    def _show(self) -> None:
        black, white = (self._label(side, name) for side, name in zip("bw", self.players(), strict=True))
        self._say("\n" + self._screen.draw(self.game.board, (black, white)))

    def _label(self, side: str, name: str) -> str:
        if self.settings.control.is_unlimited():
            return name
        seconds = self._clocks.left[SIGNS[side]] // 1000
        return f"{name} {seconds // 60}:{seconds % 60:02}"

    def _announce(self) -> None:
        assert self.game.ending
        self._say(self.game.ending.text)
