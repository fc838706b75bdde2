"""Games saved and resumed: in any record format, by the file's suffix, and by the program itself.

The library has KIF files in the user's data folder, each from its game's first move on. A header line `Komadori：{...}`
has what KIF has no place for: settings, clock, end. Another program may read the files.
"""

import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from usi_engine import NAME
from usi_engine.files import INVALID, write_blocks
from usi_engine.language import _
from usi_engine.play.game import SIDES, PersonGame, Settings
from usi_engine.records import ends
from usi_engine.records.ends import BY_REASON
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import FORMATS, SUFFIXES, encoded, local_time, record_of_moves, text_of, write_text
from usi_engine.records.games import Game, read_games
from usi_engine.records.position import EVEN_SIDES, HANDICAP_SIDES, sides_at
from usi_engine.records.tree import Node, Record
from usi_engine.rules import End, MoveError

LEVEL = re.compile(rf"{NAME}.* level (1?\d|20)$")
DATE, END_DATE = "開始日時", "終了日時"
HEADER = {*EVEN_SIDES, *HANDICAP_SIDES, DATE, END_DATE}


def convert_end(game: PersonGame) -> ends.End:
    """Return the end in the record of a game. A game that goes on from a record has its end until a move is made."""
    known = game.record.end
    if known and game.end is None and game.moves == list(game.record.moves):
        return known
    return ends.end_of(game.end or End("interrupted"), game.turn)


def save(game: PersonGame, path: Path) -> None:
    """Write the game. RecordError, OSError."""
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        suffixes = ", ".join("." + name for name in FORMATS)
        raise RecordError(_("{file}: name the format by the suffix: {suffixes}").format(file=path, suffixes=suffixes))
    write_text(path, text_of(make_record(game), kind))


def make_record(game: PersonGame) -> Record:
    """Return the record of a game. One that goes on from a record keeps its date."""
    header = dict(zip(sides_at(game.start), game.players, strict=True))
    header[DATE] = game.record.header.get(DATE) or game.begun
    game.ended = (game.ended or local_time()) if game.end else ""
    header[END_DATE] = game.ended
    return record_of_moves(game.start, map(Node, game.moves, game.milliseconds), convert_end(game), header)


def load(path: Path) -> Record:
    """Return the first game of a file. RecordError."""
    first = next(read_games(path))
    if isinstance(first, RecordError):
        raise first
    if first.fault:
        raise RecordError(f"{path}, {first.fault.text()}")
    return first


def is_own(path: Path) -> bool:
    """Return True if the file holds one game and nothing that `save` would not write."""
    game, *others = read_games(path)
    if others or not isinstance(game, Game):
        return False
    plain = all(owner.comment is None for node in game.root.nodes() for owner in (node, node.end) if owner)
    named = all(name in ("", "Player", _("Player")) or LEVEL.match(name) for name in game.players)
    return plain and named and not game.count_variations() and set(game.header) <= HEADER


def side_and_level(record: Record) -> tuple[str, int | None]:
    """Return the person's side, as an option names it, and the level of a game that `save` wrote."""
    for side, name in zip(("white", "black"), record.players, strict=True):
        match = LEVEL.match(name)
        if match:
            return side, int(match[1])
    return "", None


SUFFIX = ".kifu"
HEAD_BYTES = 4000  # of a file, which hold its header
NAMES = re.compile(r"\w[\w.-]*")  # of games: no path leads out of the folder


class Library:
    """The saved games of a folder, by name; without one, nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder / "games" if folder else None
        self._read = dict[Path, tuple[int, dict[str, Any] | None]]()  # entries, with the times of their files

    def new_name(self) -> str:
        """Return the name of a new game; later ones come later in the alphabet."""
        return time.strftime("%Y%m%d-%H%M%S-") + secrets.token_hex(2)

    def keep(self, game: PersonGame, name: str) -> None:
        """Write a game as it is now. RecordError, OSError."""
        if self._folder:
            record = make_record(game)
            record.header[NAME] = json.dumps(facts_of(game), ensure_ascii=False)
            path = self._path(name)
            write_blocks(path, [encoded(path, FORMATS["kif"].write(record), "utf-8")])

    def game(self, name: str) -> PersonGame:
        """Return a saved game. MoveError, RecordError."""
        record = load(self._known(name))
        try:
            return game_of(json.loads(record.header.pop(NAME, "")), record)
        except INVALID:
            raise MoveError(_("{name} is not a game of this program").format(name=name)) from None

    def file(self, name: str) -> bytes:
        """Return the file of a game. MoveError, OSError."""
        return re.sub(rf"^{NAME}：.*\n".encode(), b"", self._known(name).read_bytes(), flags=re.M)

    def delete(self, name: str) -> None:
        """Delete a game. MoveError, OSError."""
        self._known(name).unlink()

    def entries(self) -> list[dict[str, Any]]:
        """Return the facts of all games, the latest first."""
        if not self._folder or not self._folder.is_dir():
            return []
        paths = sorted(self._folder.glob(f"*{SUFFIX}"), reverse=True)
        return [entry for path in paths if (entry := self._entry(path))]

    def unfinished(self) -> str:
        """Return the name of the latest game that goes on. MoveError if there is none."""
        for entry in self.entries():
            if entry["end"] is None:
                return str(entry["name"])
        raise MoveError(_("there is no unfinished game"))

    def _entry(self, path: Path) -> dict[str, Any] | None:
        """Return the facts of a game, read again only if its file has changed."""
        try:
            changed = path.stat().st_mtime_ns
        except OSError:  # deleted meanwhile
            return None
        if self._read.get(path, (0, None))[0] != changed:
            self._read[path] = changed, entry_of(path)
        return self._read[path][1]

    def _path(self, name: str) -> Path:
        assert self._folder
        return self._folder / f"{name}{SUFFIX}"

    def _known(self, name: object) -> Path:
        if self._folder and isinstance(name, str) and NAMES.fullmatch(name) and self._path(name).is_file():
            return self._path(name)
        raise MoveError(_("there is no game '{name}'").format(name=name))


def facts_of(game: PersonGame) -> dict[str, Any]:
    """Return what a saved game needs beside its record to go on."""
    end = game.end and [game.end.reason, game.end.winner]
    return {
        "settings": asdict(game.settings), "person": game.person, "level": game.level, "left": game.clock.left,
        "end": end, "begun": game.begun, "moves": len(game.moves), "shown": [game.shown_name(0), game.shown_name(1)],
    }  # fmt: skip


def game_of(facts: Mapping[str, Any], record: Any) -> PersonGame:
    """Return the game with these facts. One of INVALID if they are damaged."""
    game = PersonGame(Settings.read(facts["settings"]), record)
    if facts["person"] not in SIDES.values() or not all(isinstance(left, int) for left in facts["left"]):
        raise ValueError(facts)
    game.person, game.level = facts["person"], int(facts["level"])
    end = facts["end"] and End(*facts["end"])
    game.go_on(facts["left"], game.end or end)
    game.begun, game.ended = facts["begun"], record.header.get(END_DATE, "")
    return game


def entry_of(path: Path) -> dict[str, Any] | None:
    """Return the facts of a game for a list; None if it is none of ours."""
    try:
        with path.open("rb") as file:
            facts = json.loads(re.findall(rf"^{NAME}：(.*)", file.read(HEAD_BYTES).decode(errors="replace"), re.M)[0])
        end, entry = facts["end"], {key: facts[key] for key in ("begun", "moves", "shown", "person")}
        ending = _(BY_REASON[end[0]].sentence).format(winner=facts["shown"][end[1] or 0]) if end else ""
        return {"name": path.stem, "end": end and {"winner": end[1], "text": ending}, **entry}
    except (OSError, *INVALID):
        return None
