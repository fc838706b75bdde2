"""Games saved and resumed, in any record format, by the file's suffix."""

import re
from pathlib import Path

from usi_engine import NAME
from usi_engine.language import _
from usi_engine.play.game import PersonGame
from usi_engine.records import ends
from usi_engine.records.ends import End
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import FORMATS, SUFFIXES, local_time, record_of_moves, text_of, write_text
from usi_engine.records.games import Game, read_games
from usi_engine.records.position import EVEN_SIDES, HANDICAP_SIDES, sides_at
from usi_engine.records.tree import Node, Record
from usi_engine.rules import End as GameEnd

LEVEL = re.compile(rf"{NAME}.* level (1?\d|20)$")
DATE, END_DATE = "開始日時", "終了日時"
HEADER = {*EVEN_SIDES, *HANDICAP_SIDES, DATE, END_DATE}


def convert_end(game: PersonGame) -> End:
    """Return the end in the record of a game. A game that goes on from a record has its end until a move is made."""
    known = game.record.end
    if known and game.end is None and game.moves == list(game.record.moves):
        return known
    return ends.end_of(game.end or GameEnd("interrupted"), game.turn)


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
