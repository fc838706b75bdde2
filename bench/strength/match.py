"""Play a match of two USI engines: score, Elo and intervals; one game a core, each opening with both colours.

    python -m bench.strength.match --engine usi_engine --engine /usr/games/fairy-stockfish --option Hash=64 \\
        --nodes 100000 --games 100 --keep runs/fairy

An --option belongs to the engine before it, or to both if it comes first. Engines play on one thread and without a book
unless an option says otherwise. --nodes, --time and --movetime take one value, or two for different limits. An engine
that ends, hangs, oversteps its time or plays an illegal move loses the game and is started again. FOLDER/games.jsonl
has a line of JSON a game, with its moves; the same command resumes the match, and a greater --games continues it.
"""

import argparse
import os
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.command import new_parser, one_line
from bench.strength.elo import counts, estimate, pairs_text, verdict_text
from bench.strength.run import (
    Row,
    add_run_options,
    add_test_options,
    file_digest,
    kept_rows,
    play_missing,
    shuffled_openings,
)
from bench.strength.usi_game import EngineConfig, Engines, Rules, Task, find_folder, make_process, play_game
from usi_engine.clock import TimeControl
from usi_engine.files import digest_of
from usi_engine.learn.workers import Work
from usi_engine.records import ends
from usi_engine.records.ends import End
from usi_engine.records.formats import record_of_moves, text_of, write_text
from usi_engine.records.tree import Node
from usi_engine.rules import End as GameEnd
from usi_engine.search.results import Limit
from usi_engine.usi.arguments import name_value, real, whole
from usi_engine.usi.process import EngineError

# Set if the engine declares them and no --option does.
USUAL_OPTIONS = {
    "Threads": "1", "Thread": "1", "USI_OwnBook": "false", "BookDepth": "0", "UCI_Variant": "shogi",
    "USI_Variant": "shogi", "Verbose": "0",
}  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    """Play the missing games and print the result."""
    configs = find_engines(arguments)
    names = [config.name for config in configs]
    openings = shuffled_openings(arguments, arguments.games)
    arguments.programs = [digest_of(Path(each.command[0])) for each in configs]
    arguments.option_files = [option_digests(each) for each in configs]
    kept = kept_rows(arguments, "games.jsonl", ("record",))
    played = {row["game"] for row in kept.rows}
    tasks = [Task(game, openings[game // 2], game % 2) for game in range(arguments.games) if game not in played]
    work = Work(Engines, (configs, match_rules(arguments)), play_game)
    total = arguments.games
    for row in play_missing(kept, work, tasks, arguments, total=total, standing=standing, scores=pair_scores):
        if row["fault"]:
            print(f"game {row['game']}: {row['fault']}", file=sys.stderr, flush=True)
        if arguments.record:
            save_record(kept.path.parent, row, names, arguments.record)
    print(report(arguments, names, kept.rows))


def find_engines(arguments: argparse.Namespace) -> tuple[EngineConfig, EngineConfig]:
    """Return both engines with their options, after starting each once. Raises SystemExit."""
    found = []
    for number, words in enumerate(arguments.engine):
        program = shutil.which(words[0])
        if program is None:
            raise SystemExit(f"match: no program '{words[0]}'")
        options = dict(pair for at, pair in arguments.option if at in (0, number + 1))
        limits = arguments.limits[number % len(arguments.limits)]
        name = (arguments.name or [])[number : number + 1] or [Path(program).stem]
        found.append(checked(EngineConfig(name[0], (os.path.abspath(program), *words[1:]), options, limits)))
    first, second = found
    return first, second if second.name != first.name else replace(second, name=f"{second.name} 2")


def checked(config: EngineConfig) -> EngineConfig:
    """Start the engine once; return the config with the usual options that it declares. Raises SystemExit."""
    process = make_process(config, lambda text: print(f"{config.name}: {text}", file=sys.stderr))
    try:
        process.prepare()
    except EngineError as error:
        raise SystemExit(f"match: {error}") from None
    finally:
        process.quit()
    given = {name.lower() for name in config.options}
    free = {name for name in process.declared if name.lower() not in given}
    usual = {name: text for name, text in USUAL_OPTIONS.items() if name in free}
    return replace(config, options=usual | dict(config.options))


def option_digests(config: EngineConfig) -> list[str]:
    """Return the hash of each file, or network's folder, that an option names; empty for other values."""
    folder = find_folder(config)
    return [text and file_digest(folder / os.path.expanduser(text)) for text in config.options.values()]


def match_rules(arguments: argparse.Namespace) -> Rules:
    score, moves = (0, 1) if arguments.no_adjudication else arguments.resign
    return Rules(arguments.draw, score, moves, arguments.margin, arguments.patience)


def pair_scores(rows: Sequence[Row]) -> list[float]:
    """Return the score of the first engine, 0 to 1, in each pair of games that is complete."""
    points = {row["game"]: row["points"] for row in rows}
    return [(points[game] + points[game + 1]) / 2 for game in sorted(points) if game % 2 == 0 and game + 1 in points]


def standing(rows: Sequence[Row]) -> str:
    """Return wins, draws, losses and score of the first engine, with Wilson's 95 % interval over games."""
    points = [row["points"] for row in rows]
    return f"{counts(points)}, {estimate(points).score_text()}" if points else "no games"


def report(arguments: argparse.Namespace, names: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the result as text, the score first."""
    lines = [f"{names[0]} - {names[1]}: {standing(rows)}"]
    scores = pair_scores(rows)
    if scores:
        lines.append(f"pairs {pairs_text(scores)}; {estimate(scores).text()}")
    if scores and arguments.elo1 is not None:
        lines.append(f"sequential test: {verdict_text(scores, arguments.elo0, arguments.elo1)}")
    lines.append(f"endings: {count_endings(rows, names)}")
    times = [time_line(name, [row["time"][side] for row in rows]) for side, name in enumerate(names)]
    return "\n".join(lines + [line for line in times if line])


def count_endings(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Return the kinds of endings and their numbers, with the name of an engine at fault."""
    kinds = Counter(
        f"{row['ending']} of {names[int(row['points'])]}" if row["fault"] else row["ending"] for row in rows
    )
    return ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())


def time_line(name: str, uses: Sequence[dict[str, Any]]) -> str:
    """Return one line about how an engine kept its time; empty without a clock."""
    least = min((use["least"] for use in uses if use["least"] is not None), default=None)
    if least is None:
        return ""
    moves, late = (sum(use[key] for use in uses) for key in ("moves", "late"))
    return f"{name}: {moves} moves, {late} late, least time left {least:.0f} ms"


def save_record(folder: Path, row: Row, names: Sequence[str], kind: str) -> None:
    """Write a game as a record in this format, with values in floodgate's comments (Black's). RecordError, OSError."""
    sign = -1 if is_white(row["opening"]) else 1
    comments = ["" if value is None else f"** {value * sign * (-1) ** ply}" for ply, value in enumerate(row["values"])]
    moves = map(Node, row["moves"].split(), row["milliseconds"], comments)
    players = {"先手": names[row["black"]], "後手": names[1 - row["black"]]}
    path = folder / f"game-{row['game'] + 1:04}.{kind}"
    write_text(path, text_of(record_of_moves(row["opening"], moves, record_end(row), players), kind))


def record_end(row: Row) -> End:
    """Return the end of a game in its record. CSA has no adjudication: the game is interrupted or the loser resigns."""
    reason = row["ending"] if row["ending"] in ends.BY_REASON else "resignation"
    winner = None if row["points"] == 0.5 or reason == "declaration" else int(row["points"] == row["black"])
    return ends.end_of(GameEnd(reason, winner), (len(row["moves"].split()) + is_white(row["opening"])) % 2)


def is_white(sfen: str) -> bool:
    return sfen.split()[1] == "w"


def clock(text: str) -> TimeControl:
    """Read `MAIN`, `MAIN+INCREMENT` or `MAIN/BYOYOMI` in seconds."""
    found = re.fullmatch(r"([\d.]+)(?:([+/])([\d.]+))?", text)
    try:
        main, extra = (round(float(part or 0) * 1000) for part in (found[1], found[3])) if found else (0, 0)
    except ValueError:
        main = extra = 0
    if not found or main + extra == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not MAIN, MAIN+INCREMENT or MAIN/BYOYOMI in seconds")
    return TimeControl(main, *((0, extra) if found[2] == "+" else (extra, 0)))


def command(text: str) -> list[str]:
    """Split a command line; on Windows a backslash is part of a path."""
    words = [word.strip('"') for word in shlex.split(text, posix=os.name != "nt")]
    if not words:
        raise argparse.ArgumentTypeError("the command is empty")
    return words


class AddOption(argparse.Action):
    """Keep NAME=VALUE with the number of the engine before it, 0 for both engines."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        namespace.option = [*namespace.option, (len(namespace.engine or []), values)]


def parse() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument("--engine", type=command, action="append", required=True, metavar="COMMAND")
    parser.add_argument("--option", type=name_value, action=AddOption, default=[], metavar="NAME=VALUE")
    parser.add_argument("--name", nargs=2, help="names of the engines in records and results")
    limits = parser.add_mutually_exclusive_group(required=True)
    limits.add_argument("--nodes", dest="limits", type=lambda text: Limit(nodes=whole(1)(text)), nargs="+")
    limits.add_argument("--movetime", dest="limits", type=lambda text: Limit(whole(1)(text) / 1000), nargs="+")
    text = "MAIN, MAIN+INCREMENT or MAIN/BYOYOMI in seconds"
    limits.add_argument("--time", dest="limits", type=clock, nargs="+", help=text)
    parser.add_argument("--margin", type=whole(), default=50, help="milliseconds that an answer may be late")
    text = "seconds for a move without a clock, after which an engine hangs"
    parser.add_argument("--patience", type=real(0, 1e6), default=120, help=text)
    text = "a game ends when both engines report this lead for this many moves each (3000 4)"
    parser.add_argument(
        "--resign", type=whole(1), nargs=2, default=[3000, 4], metavar=("CENTIPAWNS", "MOVES"), help=text
    )
    parser.add_argument("--no-adjudication", action="store_true", help="play until mate or resignation")
    parser.add_argument("--draw", type=whole(1), default=320, help="moves after which a game is drawn")
    add_test_options(parser, 10)
    add_run_options(parser, os.cpu_count() or 1, "runs/match")
    parser.add_argument("--record", choices=("kif", "csa", "usi"), help="also write each game as a record")
    chosen = parser.parse_args()
    if len(chosen.engine) != 2 or len(chosen.limits) > 2:
        parser.error("name two engines, and one or two limits")
    return chosen


if __name__ == "__main__":
    with one_line("match"):
        run(parse())
