"""A match of two USI engines through cshogi's runner: score and Elo with intervals, illegal moves, lateness.

    python -m bench.strength.match usi_engine /usr/games/fairy-stockfish --games 20 --clock 0/0.1 --keep games/fairy

The runner tolerates a second on the clock and does not measure byoyomi, so this program measures every answer itself:
one that comes after the flag is an overstep, even where the runner accepts it. It plays pairs of games, one opening
with both colours. After each pair the games are kept as CSA and KIF, the figures as JSON: called again, it goes on
after the last pair. Needs cshogi and rsshogi (`pip install cshogi rsshogi`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shutil
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cshogi import cli
from cshogi.usi import Engine

from bench import OPENINGS
from bench.strength.elo import estimate
from usi_engine.csa import driver
from usi_engine.records.convert import main as convert
from usi_engine.usi.arguments import whole

ENDINGS = {
    "反則負け": "illegal",
    "切れ負け": "time",
    "千日手": "repetition",
    "持将棋": "too long",
    "入玉宣言": "declaration",
}
# Set where an engine declares them: one thread, no book.
USUAL_OPTIONS = {"Threads": "1", "Thread": "1", "USI_OwnBook": "false", "BookDepth": "0"}
# What these need besides.
SPECIAL_OPTIONS = {"fairy-stockfish": "Hash:64,UCI_Variant:shogi", "gpsusi": "Verbose:0"}

FIGURES = "figures.json"

# An answer with less than this left, in milliseconds, is listed.
CLOSE = 20.0
INFO_TIME = re.compile(rb"\binfo\b.* time (\d+)")


@dataclass
class Punctuality:
    """How one engine kept its time: slack is what was left when it answered, in milliseconds."""

    moves: int = 0
    oversteps: int = 0
    least_slack: float = math.inf
    late: list[str] = field(default_factory=list)
    games_late: set[int] = field(default_factory=set)
    close: list[float] = field(default_factory=list)

    def answered(self, elapsed: float, allowed: float, command: str, reported: str, game: int) -> None:
        """Count one answer; `reported`: the time in its last info line."""
        self.moves += 1
        self.least_slack = min(self.least_slack, allowed - elapsed)
        if elapsed > allowed:
            self.oversteps += 1
            self.games_late.add(game)
            self.late.append(f"{elapsed:.0f} of {allowed:.0f} ms, {reported} by the engine, game {game}: {command}")
        if elapsed > allowed - CLOSE:
            self.close.append(round(allowed - elapsed, 1))

    def figures(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "games_late": len(self.games_late)}


class EndOfEngine(Exception):
    """An engine closed its output in the middle of a match."""


class Watched:
    """An engine's output; its end is an error, while the runner would read empty lines for ever."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name
        self.reported = "nothing"

    def readline(self) -> bytes:
        """The next line; EndOfEngine where there is none."""
        line: bytes = self._stream.readline()
        if not line:
            raise EndOfEngine(f"{self._name} ended in the middle of the match")
        found = INFO_TIME.match(line)
        self.reported = f"{found[1].decode()} ms" if found else self.reported
        return line

    def flush(self) -> None:
        """Nothing to do."""


PUNCTUALITY: dict[str, Punctuality] = {}


class TimedEngine(Engine):  # type: ignore[misc]
    """The runner's engine, with a stopwatch."""

    game = 0

    def usinewgame(self, listener: Any = None) -> None:
        """Count the games."""
        self.game += 1
        super().usinewgame(listener)

    def connect(self, listener: Any = None) -> None:
        """Start it, and watch its output from then on."""
        super().connect(listener=listener)
        self.proc.stdout = Watched(self.proc.stdout, self.name)

    def position(self, moves: Any = None, sfen: str = "startpos", listener: Any = None) -> None:
        """Record which side is to move, whose clock will run."""
        self.black_to_move = len(moves or []) % 2 == 0
        super().position(moves, sfen, listener)

    def go(self, ponder: bool = False, **limits: Any) -> Any:
        """Measure an answer that is given on the clock."""
        self.proc.stdout.reported = "nothing"
        begun = time.perf_counter()
        answer = super().go(ponder=ponder, **limits)
        if not ponder:
            elapsed = (time.perf_counter() - begun) * 1000
            words = " ".join(f"{name} {value}" for name, value in limits.items() if isinstance(value, int))
            punctuality = PUNCTUALITY.setdefault(self.name, Punctuality())
            punctuality.answered(
                elapsed, allowed_for(limits, self.black_to_move), words, self.proc.stdout.reported, self.game
            )
        return answer


def allowed_for(limits: dict[str, Any], black: bool) -> float:
    """Milliseconds that the side to move may take; the increment only where the clock is too low to contain it."""
    main = limits.get("btime" if black else "wtime") or 0
    increment = limits.get("binc" if black else "winc") or 0
    return float(main + (limits.get("byoyomi") or 0) + (increment if main < increment else 0))


def play_pair(arguments: argparse.Namespace, number: int, opening: int) -> dict[str, Any]:
    """Play the two games of one opening, one where an odd number is asked for; returns their figures."""
    endings: Counter[str] = Counter()
    begun = time.time()

    def print_line(*words: Any) -> None:
        text = " ".join(map(str, words))
        endings.update([ending(text)] if text.startswith("まで") else [])
        if text.startswith("まで") or text.endswith("start."):
            print(text, flush=True)

    PUNCTUALITY.clear()
    cli.print, cli.Engine = print_line, TimedEngine
    record = Path(arguments.keep, f"pair-{number:04}.csa")
    record.unlink(missing_ok=True)  # of a match that was interrupted in this pair
    games = min(2, arguments.games - 2 * (number - 1))
    result = cli.main(**runner_arguments(arguments), games=games, opening_index=opening, csa=str(record))
    convert([str(record), "--to", "kif", "--out", str(record.with_suffix(".kif") if games == 1 else arguments.keep)])
    return {
        "engines": [result["engine1_name"], result["engine2_name"]],
        "wins": result["engine1_won"],
        "draws": result["draw"],
        "losses": result["engine2_won"],
        "endings": dict(endings),
        "minutes": (time.time() - begun) / 60,
        "time": {name: punctuality.figures() for name, punctuality in PUNCTUALITY.items()},
    }


def play(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Play the pairs that are not kept yet; returns the figures of all."""
    conditions = {name: value for name, value in vars(arguments).items() if name not in ("games", "keep")}
    pairs = kept_pairs(arguments, conditions)
    with open(arguments.opening, encoding="ascii") as file:
        order = random.Random(arguments.seed).sample(range(count := len(file.readlines())), count)
    while games_of(pairs) < arguments.games:
        pairs.append(play_pair(arguments, len(pairs) + 1, order[len(pairs) % count]))
        keep(arguments, {"conditions": conditions, "summary": summary(pairs), "pairs": pairs})
        if games_of(pairs) < arguments.games:
            print(report(pairs).splitlines()[0], flush=True)
    return pairs


def games_of(pairs: list[dict[str, Any]]) -> int:
    """Number of games."""
    return sum(pair["wins"] + pair["draws"] + pair["losses"] for pair in pairs)


def kept_pairs(arguments: argparse.Namespace, conditions: dict[str, Any]) -> list[dict[str, Any]]:
    """The pairs that an earlier call played under the same conditions."""
    path = Path(arguments.keep, FIGURES)
    if not path.exists():
        return []
    kept = json.loads(path.read_text(encoding="utf-8"))
    if kept.get("conditions") != conditions:
        raise SystemExit(f"{arguments.keep} holds a match under other conditions: name another folder")
    pairs: list[dict[str, Any]] = kept["pairs"]
    whole = [pair for pair in pairs if games_of([pair]) == 2]
    print(f"{games_of(whole)} games are kept in {arguments.keep}", flush=True)
    return pairs if games_of(pairs) >= arguments.games else whole


def keep(arguments: argparse.Namespace, figures: dict[str, Any]) -> None:
    """Write the figures, whole or not at all."""
    path = Path(arguments.keep, FIGURES)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def totals(pairs: list[dict[str, Any]]) -> dict[str, int]:
    """Wins, draws and losses of the first engine."""
    return {name: sum(pair[name] for pair in pairs) for name in ("wins", "draws", "losses")}


def scores_of(pairs: list[dict[str, Any]]) -> list[float]:
    """The first engine's score in each pair, 0 to 1."""
    return [(pair["wins"] + pair["draws"] / 2) / games_of([pair]) for pair in pairs]


def summary(pairs: list[dict[str, Any]]) -> dict[str, float]:
    """Number of games, score and the ends of its 95 % interval, from the pairs' scores."""
    return {**totals(pairs), "games": games_of(pairs), **asdict(estimate(scores_of(pairs)))}


def ending(text: str) -> str:
    """One word for how a game ended, from the runner's sentence."""
    return next((word for mark, word in ENDINGS.items() if mark in text), "resignation or mate")


def runner_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """Arguments of the runner's main."""
    return {
        "engine1": program(arguments.engine1),
        "engine2": program(arguments.engine2),
        "options1": options(arguments.options1, arguments.engine1),
        "options2": options(arguments.options2, arguments.engine2),
        "names": names(arguments),
        "byoyomi": arguments.byoyomi,
        "time": arguments.time,
        "inc": arguments.inc,
        "draw": arguments.draw,
        "ponder": arguments.ponder,
        "opening": arguments.opening,
        "multi_csa": True,
    }


def names(arguments: argparse.Namespace) -> list[str]:
    """Of the engines in the records, and by which their clocks are told apart."""
    first, second = (arguments.name1 or Path(arguments.engine1).stem, arguments.name2 or Path(arguments.engine2).stem)
    return [first, second if second != first else f"{second} 2"]


def program(name: str) -> str:
    """Full path of a program, which the runner starts from its own folder."""
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"no program '{name}'")
    return os.path.abspath(found)


def options(text: str, engine: str) -> dict[str, str]:
    """`A:1,B:2` as the runner takes it, after what this engine needs to play shogi on one thread without a book.

    SystemExit where the text is none.
    """
    pairs = [pair for pair in f"{SPECIAL_OPTIONS.get(Path(engine).name, '')},{text}".split(",") if pair]
    if wrong := [pair for pair in pairs if ":" not in pair]:
        raise SystemExit(f"'{wrong[0]}' is no NAME:VALUE")
    declared = declared_options(program(engine))
    usual = {name: value for name, value in USUAL_OPTIONS.items() if name in declared}
    return usual | dict(pair.split(":", 1) for pair in pairs)


def declared_options(path: str) -> set[str]:
    """The names of an engine's options, which it is asked for. SystemExit where it does not answer."""
    engine = driver.Engine([path], {}, lambda event: None, Path(path).parent)
    try:
        engine.start()
    except driver.EngineError as error:
        raise SystemExit(str(error)) from None
    finally:
        engine.quit()
    return engine.declared


def report(pairs: list[dict[str, Any]]) -> str:
    """The figures as text, the score first."""
    first, second = pairs[-1]["engines"]
    result = totals(pairs)
    lines = [
        f"{first} - {second}: +{result['wins']} ={result['draws']} -{result['losses']} of {games_of(pairs)}, "
        + estimate(scores_of(pairs)).text()
        + " (95 %)",
        f"endings: {dict(sum((Counter(pair['endings']) for pair in pairs), Counter()))}",
    ]
    return "\n".join(lines + [time_line(name, [pair["time"][name] for pair in pairs]) for name in pairs[-1]["time"]])


def time_line(name: str, kept: list[dict[str, Any]]) -> str:
    """How one engine kept its time."""
    moves, oversteps, games = (sum(part[key] for part in kept) for key in ("moves", "oversteps", "games_late"))
    least = min(part["least_slack"] for part in kept)
    return f"{name}: {moves} moves, {oversteps} oversteps in {games} games, least slack {least:.0f} ms"


def clock(text: str) -> dict[str, list[int]]:
    """`MAIN`, `MAIN+INCREMENT` or `MAIN/BYOYOMI` in seconds, as the runner takes it, in milliseconds."""
    found = re.fullmatch(r"([\d.]+)(?:([+/])([\d.]+))?", text)
    try:
        main, extra = (round(float(part or 0) * 1000) for part in (found[1], found[3])) if found else (0, 0)
    except ValueError:
        main = extra = 0
    if not found or main + extra == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no MAIN, MAIN+INCREMENT or MAIN/BYOYOMI in seconds")
    kind = {"+": "inc", "/": "byoyomi"}.get(found[2])
    return {name: [value] for name, value in (("time", main), (kind, extra)) if name and value}


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine1")
    parser.add_argument("engine2")
    for number in "12":
        parser.add_argument(
            f"--options{number}", default="", help="NAME:VALUE,NAME:VALUE; one thread and no book unless set"
        )
        parser.add_argument(f"--name{number}")
    parser.add_argument("--games", type=whole(1), default=10)
    for name in ("byoyomi", "time", "inc"):
        parser.add_argument(f"--{name}", type=int, nargs="+", help="milliseconds; two numbers: one for each engine")
    text = "MAIN, MAIN+INCREMENT or MAIN/BYOYOMI in seconds, instead of the three above"
    parser.add_argument("--clock", type=clock, default={}, help=text)
    parser.add_argument("--draw", type=whole(1), default=320, help="a game is drawn after so many moves")
    parser.add_argument("--ponder", action="store_true")
    parser.add_argument("--opening", default=str(OPENINGS), help="file of lines `startpos moves ...`")
    parser.add_argument("--seed", type=int, default=1, help="seed of the openings' order")
    parser.add_argument("--keep", default="build/match", help="folder of games and figures; a match there is continued")
    chosen = parser.parse_args()
    vars(chosen).update(chosen.clock)
    if not (chosen.byoyomi or chosen.time or chosen.inc):
        parser.error("name the time: --clock or --byoyomi")
    return chosen


def main() -> None:
    """Play, keep, report."""
    arguments = parse()
    Path(arguments.keep).mkdir(parents=True, exist_ok=True)
    try:
        print(report(play(arguments)))
    except KeyboardInterrupt:
        raise SystemExit("\nstopped; the same command goes on after the last pair of games") from None
    except EndOfEngine as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
