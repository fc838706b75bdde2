"""The texts of the page of a game."""

from __future__ import annotations

from usi_engine.language import _
from usi_engine.play.terms import EVEN


def labels() -> dict[str, str]:
    """Return the texts outside the board by name; `{...}` are filled in by the page's script."""
    return handicap_labels() | {
        "title": _("A game of shogi"),
        "yourMove": _("Your move"),
        "sideMoves": _("{side} to move"),
        "thinking": _("{engine} is thinking"),
        "hintSought": _("Looking for a hint"),
        "hintShown": _("Hint: {move}"),
        "notStarted": _("Choose the terms of the game"),
        "viewed": _("After move {ply} of {count}"),
        "back": _("Back to the game"),
        "offline": _("The program has ended. Start it again with: {command}"),
        "takeBack": _("Take back"),
        "hint": _("Hint"),
        "resign": _("Resign"),
        "declare": _("Declare a win"),
        "turn": _("Turn the board"),
        "save": _("Save as KIF"),
        "newGame": _("New game"),
        "moves": _("Moves"),
        "noMoves": _("No moves yet"),
        "reviewing": _("Analysing the game: {done} of {count} positions"),
        "review": _("Open the analysis"),
        "level": _("Level"),
        "levels": _("0: beginner, 20: full strength"),
        "side": _("You play"),
        "black": _("Black"),
        "white": _("White"),
        "random": _("Random"),
        "both": _("Both sides"),
        "handicap": _("Handicap"),
        "clock": _("Clock"),
        "minutes": _("Minutes"),
        "byoyomi": _("Byoyomi (seconds)"),
        "increment": _("Seconds added a move"),
        "noClock": _("No clock if all are 0."),
        "seconds": _("{seconds} s"),
        "start": _("Start the game"),
        "cancel": _("Cancel"),
    }


def handicap_labels() -> dict[str, str]:
    """Return the names of the handicaps."""
    return {
        EVEN: _("No handicap"),
        "lance": _("Lance"),
        "bishop": _("Bishop"),
        "rook": _("Rook"),
        "rook-lance": _("Rook and lance"),
        "two": _("Two pieces (rook, bishop)"),
        "four": _("Four pieces"),
        "six": _("Six pieces"),
        "eight": _("Eight pieces"),
        "ten": _("Ten pieces"),
    }
