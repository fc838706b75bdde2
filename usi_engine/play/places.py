"""Places of the page beside the game: the saved games, and the user's preferences."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from usi_engine.files import write_json
from usi_engine.language import _
from usi_engine.play.browser_server import Answer, Events, Place
from usi_engine.play.library import Library
from usi_engine.rules import MoveError


class MyGames(Place):
    """The list of saved games."""

    name = "games"

    def __init__(self, library: Library, events: Events) -> None:
        self._library, self._events = library, events
        self.gets = {"file.kifu": self._file}
        self.posts = {"delete": self._delete, "refresh": lambda _wanted: events.changed(self.name)}

    def state(self) -> dict[str, Any]:
        """Return the games, the latest first."""
        return {"games": self._library.entries()}

    def _file(self, query: str) -> Answer:
        return Answer(self._library.file(query), "application/octet-stream", download=f"komadori-{query}.kifu")

    def _delete(self, wanted: Mapping[str, Any]) -> None:
        self._library.delete(str(wanted.get("name", "")))
        self._events.changed(self.name)


class Preferences(Place):
    """What a user likes, the same on all pages and in the next game. Without a file it is forgotten at the end."""

    name = "preferences"
    # The values that each can have; the first is the default.
    CHOICES: Mapping[str, tuple[str | bool, ...]] = {"pieces": ("kanji", "two", "letters"), "mute": (False, True)}

    def __init__(self, folder: Path | None, events: Events) -> None:
        self._file, self._events = folder and folder / "preferences.json", events
        self._values = {name: values[0] for name, values in self.CHOICES.items()}
        self._values |= {name: value for name, value in self._read().items() if value in self.CHOICES.get(name, ())}
        self.posts = {"set": self._set}

    def state(self) -> dict[str, Any]:
        """Return all preferences."""
        return self._values

    def _read(self) -> dict[str, Any]:
        try:
            kept = json.loads(self._file.read_bytes()) if self._file else {}
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def _set(self, wanted: Mapping[str, Any]) -> None:
        for name, value in wanted.items():
            if value not in self.CHOICES.get(name, ()):
                raise MoveError(_("{name} cannot be '{value}'").format(name=name, value=value))
        self._values = {**self._values, **wanted}
        self._events.changed(self.name)
        if self._file:
            write_json(self._file, self._values)
