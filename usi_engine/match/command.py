"""`usi_engine match A B ...`: games between USI engines, and tuning of an engine's options by games."""

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from usi_engine.core import exit_status
from usi_engine.files import KeptRows
from usi_engine.language import _
from usi_engine.match import report
from usi_engine.match.elo import Sprt
from usi_engine.match.engines import checked, digests, read_engines
from usi_engine.match.game import EngineConfig, Engines, Rules, Task, play_game
from usi_engine.match.runs import MatchError, Row, add_run_options, kept_rows, play_missing, shuffled_openings
from usi_engine.match.spsa import tune
from usi_engine.records.faults import RecordError
from usi_engine.usi.arguments import Parser, adder, name_value, real, whole
from usi_engine.usi.options import usable_cores
from usi_engine.usi.output import show
from usi_engine.workers import Work

MODELS = ("pentanomial", "trinomial")
# Arguments that may change when a match is resumed.
FREE = ("record", "elo0", "elo1", "alpha", "beta", "model")


def parser() -> Parser:
    """Return the command line's parser."""
    usage = "usi_engine match ENGINE [ENGINE ...] [--OPTION ...]"
    made = Parser("usi_engine match", usage=usage, description=_("Play a match or a tournament of USI engines."))
    add_engines(made)
    add_rules(made)
    add_test(made)
    add = adder(run := made.add_argument_group(_("the run")))
    add_run_options(run, usable_cores())
    add("--keep FOLDER", _("folder of games.jsonl, index.html and records; a match there is resumed (match-A-B)"), Path)
    add("--record", _("also write each game as a record"), choices=("kif", "csa", "usi"))
    return made


def add_engines(made: Parser) -> None:
    """Add the engines, their options and limits."""
    engines = _("COMMAND or NAME=COMMAND, in quotes if it has spaces; usi_engine is this program")
    made.add_argument("engines", nargs="+", metavar="ENGINE", help=engines)
    add = adder(made.add_argument_group(_("engines; a value is for all of them, or after NAME: for one")))
    option = _("an option, [NAME:]OPTION=VALUE; repeatable. Usually one thread, no book")
    add("--option OPTION=VALUE", option, default=[], action="append")
    texts = {
        "time": _("seconds: MAIN, MAIN+INCREMENT or MAIN/BYOYOMI, e.g. 10+0.1"),
        "movetime": _("milliseconds a move"), "nodes": _("nodes a move"), "depth": _("depth of each search"),
    }  # fmt: skip
    for kind, text in texts.items():
        add(f"--{kind} N", text, default=[], action="append")
    add("--ponder", _("engines think on the opponent's time"))
    add("--margin MS", _("milliseconds that an answer may be late (50)"), whole(), 50)
    patience = _("seconds for a move without a clock, after which an engine hangs (120)")
    add("--patience S", patience, real(0, 1e6), 120.0)


def add_rules(made: Parser) -> None:
    """Add the pairings and the rules of the games."""
    group = made.add_argument_group(_("pairings and rules"))
    add = adder(group)
    games = _("games of each two engines, in pairs: each opening with both colours (10; with --elo1 all openings)")
    add("--games N", games, whole(1))
    add("--gauntlet", _("only the games of the first engine"))
    add("--max-moves N", _("a game is drawn after N moves (320)"), whole(1), 320)
    text, shown = (
        _("a game ends when both report this lead for so many moves each (3000 4; 0 0: never)"),
        ("CENTIPAWNS", "MOVES"),
    )
    group.add_argument("--resign", type=whole(), nargs=2, default=[3000, 4], metavar=shown, help=text)
    text = _("a game is drawn when both report at most this lead for so many moves each, after N moves")
    group.add_argument("--draw", type=whole(), nargs=3, default=[0, 0, 0], metavar=(*shown, "N"), help=text)


def add_test(made: Parser) -> None:
    """Add the sequential test and the tuning."""
    add = adder(made.add_argument_group(_("sequential test (SPRT) of two engines, and tuning of one")))
    add("--elo1 ELO", _("stop when a test accepts --elo0 or --elo1"), real(-1000, 1000))
    add("--elo0 ELO", _("Elo that --elo1 is tested against (0)"), real(-1000, 1000), 0.0)
    add("--alpha ALPHA", _("risk of accepting --elo1 wrongly (0.05)"), real(1e-6, 0.5), 0.05)
    add("--beta BETA", _("risk of accepting --elo0 wrongly (0.05)"), real(1e-6, 0.5), 0.05)
    add("--model", _("scores of pairs (pentanomial, the default) or of games"), default=MODELS[0], choices=MODELS)
    text = _("tune an option of a single engine by SPSA; repeatable. The step is that at the end of the run")
    add("--tune OPTION=STEP", text, step, [], action="append")


def step(text: str) -> tuple[str, float]:
    """Read OPTION=STEP."""
    name, value = name_value(text)
    return name, real(0, 1e9)(value)


def match_rules(arguments: argparse.Namespace) -> Rules:
    """Return the rules of the games."""
    a = arguments
    return Rules(a.max_moves, tuple(a.resign), tuple(a.draw), a.margin, a.patience, a.ponder)


def sprt(arguments: argparse.Namespace, engines: int) -> Sprt | None:
    """Return the sequential test, if there is one. MatchError."""
    a = arguments
    if a.elo1 is None:
        return None
    if a.elo1 <= a.elo0:
        raise MatchError(_("--elo1 {elo1:g}: expected more than --elo0 {elo0:g}").format(elo1=a.elo1, elo0=a.elo0))
    if engines != 2:
        raise MatchError(_("--elo1 tests two engines, not {count}").format(count=engines))
    return Sprt(a.elo0, a.elo1, a.alpha, a.beta)


def pairings(engines: int, gauntlet: bool) -> list[tuple[int, int]]:
    """Return the pairs of engines that play, in each round."""
    every = itertools.combinations(range(engines), 2)
    return [pair for pair in every if pair[0] == 0 or not gauntlet]


def schedule(pairs: Sequence[tuple[int, int]], games: int, openings: Sequence[str]) -> Iterator[Task]:
    """Yield the games: in each round each pair plays one opening with both colours."""
    numbers = itertools.count()
    for opening in openings[: (games + 1) // 2]:
        for first, second in pairs:
            yield Task(next(numbers), opening, (first, second))
            yield Task(next(numbers), opening, (second, first))


class Match:
    """A match in its folder."""

    def __init__(self, arguments: argparse.Namespace, configs: tuple[EngineConfig, ...], kept: KeptRows) -> None:
        self.arguments, self.configs, self.kept = arguments, configs, kept
        self.names = [config.name for config in configs]
        self.test = sprt(arguments, len(configs))

    def play(self, openings: Sequence[str]) -> None:
        """Play the missing games."""
        a, rows = self.arguments, self.kept.rows
        played = {row["game"] for row in rows}
        tasks = list(schedule(pairings(len(self.configs), a.gauntlet), a.games, openings))
        missing = [task for task in tasks if task.game not in played]
        work, note = Work(Engines, (self.configs, match_rules(a)), play_game), partial(report.note, name=self.names[0])
        for row in play_missing(self.kept, work, missing, a, total=len(tasks), note=note, is_decided=self.decided):
            if row["fault"]:
                show(_("game {number}: {fault}").format(number=row["game"] + 1, fault=row["fault"]), file=sys.stderr)
            if a.record:
                report.save_record(self.kept.path.parent, row, a.record)

    def decided(self, rows: Sequence[Row]) -> bool:
        """Return True if the sequential test has accepted one of its values."""
        scores = report.test_scores(rows, self.names[0], self.arguments.model)
        return self.test is not None and self.test.accepted(scores) is not None

    def report(self) -> None:
        """Print the table and write the page. OSError."""
        rows, folder = self.kept.rows, self.kept.path.parent
        text = report.lines(rows, self.names, self.test, self.arguments.model)
        report.print_table(report.titles(), [standing.cells() for standing in report.standings(rows, self.names)])
        report.write_page(folder, rows, self.names, text, self.arguments.record or "")
        show(*text, _("games and page: {folder}").format(folder=folder))


def run(arguments: argparse.Namespace) -> int:
    """Play a match or tune an engine; return 0. MatchError, RecordError, OSError."""
    configs = read_engines(arguments)
    if len(configs) != 1 and arguments.tune:
        raise MatchError(_("--tune plays a single engine against itself, not {count}").format(count=len(configs)))
    if len(configs) == 1 and not arguments.tune:
        raise MatchError(_("name two or more engines, or options to --tune"))
    sprt(arguments, len(configs))
    names = [config.name for config in configs]
    arguments.keep = arguments.keep or Path("-".join(["tune" if arguments.tune else "match", *names]))
    openings = shuffled_openings(arguments, 0 if arguments.tune else arguments.games or 0)
    arguments.games = arguments.games or (10 if arguments.elo1 is None else 2 * len(openings))
    found = [checked(config) for config in configs]
    configs = tuple(config for config, _declared in found)
    arguments.files = [digests(config) for config in configs]
    if arguments.tune:
        tune(arguments, configs[0], found[0][1], match_rules(arguments))
        return 0
    match = Match(arguments, configs, kept_rows(arguments, "games.jsonl", FREE))
    try:
        match.play(openings)
    finally:
        match.report()
    return 0


def main(words: list[str]) -> int:
    """Return 0, 2 if a match cannot be played, 130 after Ctrl-C."""
    arguments = parser().parse_args(words)
    stopped = _("stopped; the same command goes on")
    return exit_status(lambda: run(arguments), MatchError, RecordError, stopped=stopped)
