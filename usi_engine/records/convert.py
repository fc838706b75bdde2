"""`usi_engine convert GAME...`: converts game records from one format to another."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from usi_engine.core import exit_status, report
from usi_engine.language import _
from usi_engine.records.faults import RecordError
from usi_engine.records.formats import FORMATS, SUFFIXES, encoded, losses, text_of, write_text
from usi_engine.records.games import Game, read_games
from usi_engine.usi.arguments import Parser
from usi_engine.usi.output import show


class Output:
    """Paths for one kind of file: `out` itself for a single game, otherwise names in the folder `out`.

    RecordError if a path is one of `read`, the files that are read, or would replace a record of another format.
    """

    def __init__(self, out: Path, suffix: str, several: bool, read: Sequence[Path]) -> None:
        self.suffix = suffix
        self._out, self._read = out, read
        self._by_name = several or out.is_dir()
        self._used: set[str] = set()
        if several and out.suffix.lower() in (*SUFFIXES, suffix) and not out.is_dir():
            raise RecordError(_("{path}: several games need a folder").format(path=out))
        if not self._by_name:
            refuse_replacing(out, read)
            if out.is_file() and SUFFIXES.get(out.suffix.lower(), suffix[1:]) != suffix[1:]:
                raise RecordError(_("{path} is a record of another format; it is not replaced").format(path=out))

    def path(self, stem: str) -> Path:
        """Return the file for a game of this name; a name that was used before gets a number."""
        if not self._by_name:
            return self._out
        name, number = stem, 2
        while name in self._used:
            name, number = f"{stem}-{number}", number + 1
        self._used.add(name)
        path = self._out / f"{name}{self.suffix}"
        refuse_replacing(path, self._read)
        return path


def refuse_replacing(path: Path, read: Sequence[Path]) -> None:
    """Raise RecordError if the path is one of the files that are read."""
    if path.exists() and any(one.exists() and path.samefile(one) for one in read):
        raise RecordError(_("{path} is also an input; it is not replaced").format(path=path))


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = Parser("usi_engine convert", description=_("Convert game records."))
    records = _("KIF, KI2, CSA, JKF or USI files, in UTF-8, Shift-JIS or EUC-JP")
    made.add_argument("games", nargs="+", type=Path, help=records)
    made.add_argument("--out", type=Path, help=_("the file to write; for several games, the folder (default: print)"))
    made.add_argument("--to", choices=FORMATS, help=_("the format (default: by the suffix of --out)"))
    made.add_argument("--encoding", choices=("utf-8", "shift_jis"), default="",
                      help=_("default: Shift-JIS for .kif and .ki2 if it has all letters, else UTF-8"))  # fmt: skip
    return made


def target_format(args: argparse.Namespace) -> str:
    """Return the format to write. RecordError if no option names it."""
    kind: str | None = args.to or SUFFIXES.get(args.out.suffix.lower() if args.out else "")
    if kind is None:
        raise RecordError(_("name the format: --to {formats}").format(formats="|".join(FORMATS)))
    return kind


def run(args: argparse.Namespace) -> int:
    """Convert all games; return 0, 1 if a record could not be read or written, 2 if none was written. OSError."""
    kind = target_format(args)
    items = [item for path in args.games for item in read_games(path)]
    texts, faults = list[tuple[Game, str]](), 0
    for item in items:
        try:
            if isinstance(item, RecordError):
                raise item
            texts.append((item, named_text(item, kind)))
        except RecordError as error:
            report(error)
            faults += 1
    failed = write_all(texts, kind, args)
    if not faults + failed:
        return 0
    return 1 if len(texts) > failed else 2


def named_text(game: Game, kind: str) -> str:
    """Return a game's text; print on standard error what the format cannot hold. RecordError, which names the game."""
    try:
        text = text_of(game, kind)
    except RecordError as error:
        raise RecordError(f"{game.name}: {error}") from None
    if lost := losses(game, kind):
        message = _("{name}: {kind} cannot hold {lost}")
        show(message.format(name=game.name, kind=kind.upper(), lost=lost), file=sys.stderr)
    return text


def write_all(texts: list[tuple[Game, str]], kind: str, args: argparse.Namespace) -> int:
    """Write each game to its own file, or print it; return the number of files that failed. RecordError, OSError."""
    if args.out is None:
        print_text("".join(text for _, text in texts), args.encoding)
        return 0
    # USI has one game a line, so all games go into one file.
    if kind == "usi" and texts and not args.out.is_dir():
        refuse_replacing(args.out, args.games)
        write_text(args.out, "".join(text for _, text in texts), args.encoding)
        return 0
    output, failed = Output(args.out, f".{kind}", len(texts) > 1, args.games), 0
    for game, text in texts:
        try:
            write_text(output.path(game.stem), text, args.encoding)
        except (OSError, RecordError) as error:
            report(error)
            failed += 1
    return failed


def print_text(text: str, encoding: str) -> None:
    """Print in a terminal's own encoding; to a file or pipe in `encoding`, by default UTF-8. RecordError."""
    if sys.stdout.isatty():
        sys.stdout.write(text)
    else:
        sys.stdout.buffer.write(encoded(Path("-"), text, encoding))


def main(words: list[str]) -> int:
    """Return 0, 1 if a record could not be read or written, 2 if nothing could be done, 130 after Ctrl-C."""
    args = parser().parse_args(words)
    return exit_status(lambda: run(args), RecordError)
