"""Play a match of two USI engines with cshogi's runner: score and Elo with intervals, illegal moves, late answers.

    python -m bench.strength.match usi_engine /usr/games/fairy-stockfish --games 20 --clock 0/0.1 --keep games/fairy

The runner tolerates a second on the clock and does not measure byoyomi, so this program times every answer itself: an
answer after the flag is an overstep even if the runner accepts it. It plays pairs of games, one opening with both
colours. After each pair it writes the games as CSA and KIF and the figures as JSON; the same command resumes after the
last pair. Needs cshogi (`pip install cshogi`).
"""

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
from bench.command import new_parser
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
USUAL_OPTIONS = {"Threads": "1", "Thread": "1", "USI_OwnBook": "false", "BookDepth": "0"}  # set if declared
SPECIAL_OPTIONS = {"fairy-stockfish": "Hash:64,UCI_Variant:shogi", "gpsusi": "Verbose:0"}

FIGURES = "figures.json"
CLOSE = 20.0  # milliseconds; answers with less left are listed
INFO_TIME = re.compile(rb"\binfo\b.* time (\d+)")


@dataclass
class Punctuality:
    """The timekeeping of one engine; slack is the time left when it answered, in milliseconds."""

    moves: int = 0
    oversteps: int = 0
    least_slack: float = math.inf
    late: list[str] = field(default_factory=list)
    games_late: set[int] = field(default_factory=set)
    close: list[float] = field(default_factory=list)

    def answered(self, elapsed: float, allowed: float, command: str, reported: str, game: int) -> None:
        """Count an answer; `reported` is the time in its last info line."""
        self.moves += 1
        self.least_slack = min(self.least_slack, allowed - elapsed)
        if elapsed > allowed:
            self.oversteps += 1
            self.games_late.add(game)
            self.late.append(f"{elapsed:.0f} of {allowed:.0f} ms, {reported} by the engine, game {game}: {command}")
        if elapsed > allowed - CLOSE:
            self.close.append(round(allowed - elapsed, 1))

    def figures(self) -> dict[str, Any]:
        return {**vars(self), "games_late": len(self.games_late)}


class EndOfEngine(Exception):
    """Raised when an engine ends in the middle of a match."""


class Watched:
    """Output of an engine. Its end is an error; without this the runner would read empty lines for ever."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name
        self.reported = "nothing"

    def readline(self) -> bytes:
        """Return the next line. Raises EndOfEngine at the end."""
        line: bytes = self._stream.readline()
        if not line:
            raise EndOfEngine(f"{self._name} ended in the middle of the match")
        found = INFO_TIME.match(line)
        self.reported = f"{found[1].decode()} ms" if found else self.reported
        return line

    def flush(self) -> None:
        """Do nothing."""


PUNCTUALITY: dict[str, Punctuality] = {}


class TimedEngine(Engine):  # type: ignore[misc]
    """The runner's engine with a stopwatch."""

    game = 0

    def usinewgame(self, listener: Any = None) -> None:
        self.game += 1
        super().usinewgame(listener)

    def connect(self, listener: Any = None) -> None:
        super().connect(listener=listener)
        self.proc.stdout = Watched(self.proc.stdout, self.name)

    def position(self, moves: Any = None, sfen: str = "startpos", listener: Any = None) -> None:
        self.black_to_move = len(moves or []) % 2 == 0
        super().position(moves, sfen, listener)

    def go(self, ponder: bool = False, **limits: Any) -> Any:
        """Time an answer unless the engine ponders."""
        self.proc.stdout.reported = "nothing"
        begun = time.perf_counter()
        answer = super().go(ponder=ponder, **limits)
        if not ponder:
            elapsed = (time.perf_counter() - begun) * 1000
            words = " ".join(f"{name} {value}" for name, value in limits.items() if isinstance(value, int))
            allowed, reported = allowed_for(limits, self.black_to_move), self.proc.stdout.reported
            PUNCTUALITY.setdefault(self.name, Punctuality()).answered(elapsed, allowed, words, reported, self.game)
        return answer


def allowed_for(limits: dict[str, Any], black: bool) -> float:
    """Return the milliseconds until the flag. A clock below the increment does not include it yet."""
    main = limits.get("btime" if black else "wtime") or 0
    increment = limits.get("binc" if black else "winc") or 0
    return float(main + (limits.get("byoyomi") or 0) + (increment if main < increment else 0))


def play_pair(arguments: argparse.Namespace, number: int, opening: int) -> dict[str, Any]:
    """Play the two games of an opening, or one if the number of games is odd; return their figures."""
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
    record.unlink(missing_ok=True)  # from a match interrupted in this pair
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
    """Play the missing pairs; return the figures of all."""
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
    return sum(pair["wins"] + pair["draws"] + pair["losses"] for pair in pairs)


def kept_pairs(arguments: argparse.Namespace, conditions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pairs of an earlier run. Raises SystemExit if its conditions differ."""
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
    """Write the figures atomically."""
    path = Path(arguments.keep, FIGURES)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def totals(pairs: list[dict[str, Any]]) -> dict[str, int]:
    return {name: sum(pair[name] for pair in pairs) for name in ("wins", "draws", "losses")}


def scores_of(pairs: list[dict[str, Any]]) -> list[float]:
    """Return the first engine's score in each pair, 0 to 1."""
    return [(pair["wins"] + pair["draws"] / 2) / games_of([pair]) for pair in pairs]


def summary(pairs: list[dict[str, Any]]) -> dict[str, float]:
    """Return number of games, score and the ends of its 95 % interval, from the scores of the pairs."""
    return {**totals(pairs), "games": games_of(pairs), **asdict(estimate(scores_of(pairs)))}


def ending(text: str) -> str:
    """Return how a game ended, from the runner's sentence."""
    return next((word for mark, word in ENDINGS.items() if mark in text), "resignation or mate")


def runner_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
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
    """Return different names of the engines for the records and clocks."""
    first, second = (arguments.name1 or Path(arguments.engine1).stem, arguments.name2 or Path(arguments.engine2).stem)
    return [first, second if second != first else f"{second} 2"]


def program(name: str) -> str:
    """Return the full path of a program, because the runner starts it in the program's folder."""
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"no program '{name}'")
    return os.path.abspath(found)


def options(text: str, engine: str) -> dict[str, str]:
    """Read `A:1,B:2` and add the engine's options for shogi, one thread and no book. Raises SystemExit."""
    pairs = [pair for pair in f"{SPECIAL_OPTIONS.get(Path(engine).name, '')},{text}".split(",") if pair]
    if wrong := [pair for pair in pairs if ":" not in pair]:
        raise SystemExit(f"'{wrong[0]}' is not NAME:VALUE")
    declared = declared_options(program(engine))
    usual = {name: value for name, value in USUAL_OPTIONS.items() if name in declared}
    return usual | dict(pair.split(":", 1) for pair in pairs)


def declared_options(path: str) -> set[str]:
    """Ask an engine for the names of its options. Raises SystemExit if it does not answer."""
    engine = driver.Engine([path], {}, lambda event: None, Path(path).parent)
    try:
        engine.start()
    except driver.EngineError as error:
        raise SystemExit(str(error)) from None
    finally:
        engine.quit()
    return engine.declared


def report(pairs: list[dict[str, Any]]) -> str:
    """Return the figures as text, the score first."""
    first, second = pairs[-1]["engines"]
    result, score = totals(pairs), estimate(scores_of(pairs)).text()
    counts = f"+{result['wins']} ={result['draws']} -{result['losses']} of {games_of(pairs)}"
    lines = [
        f"{first} - {second}: {counts}, {score} (95 %)",
        f"endings: {dict(sum((Counter(pair['endings']) for pair in pairs), Counter()))}",
    ]
    return "\n".join(lines + [time_line(name, [pair["time"][name] for pair in pairs]) for name in pairs[-1]["time"]])


def time_line(name: str, kept: list[dict[str, Any]]) -> str:
    """Return one line about how an engine kept its time."""
    moves, oversteps, games = (sum(part[key] for part in kept) for key in ("moves", "oversteps", "games_late"))
    least = min(part["least_slack"] for part in kept)
    return f"{name}: {moves} moves, {oversteps} oversteps in {games} games, least slack {least:.0f} ms"


def clock(text: str) -> dict[str, list[int]]:
    """Read `MAIN`, `MAIN+INCREMENT` or `MAIN/BYOYOMI` in seconds; return the runner's arguments in milliseconds."""
    found = re.fullmatch(r"([\d.]+)(?:([+/])([\d.]+))?", text)
    try:
        main, extra = (round(float(part or 0) * 1000) for part in (found[1], found[3])) if found else (0, 0)
    except ValueError:
        main = extra = 0
    if not found or main + extra == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not MAIN, MAIN+INCREMENT or MAIN/BYOYOMI in seconds")
    kind = {"+": "inc", "/": "byoyomi"}.get(found[2])
    return {name: [value] for name, value in (("time", main), (kind, extra)) if name and value}


def parse() -> argparse.Namespace:
    parser = new_parser(__doc__)
    parser.add_argument("engine1")
    parser.add_argument("engine2")
    for number in "12":
        text = "NAME:VALUE,NAME:VALUE; one thread and no book unless set"
        parser.add_argument(f"--options{number}", default="", help=text)
        parser.add_argument(f"--name{number}")
    parser.add_argument("--games", type=whole(1), default=10)
    for name in ("byoyomi", "time", "inc"):
        parser.add_argument(f"--{name}", type=int, nargs="+", help="milliseconds; two numbers: one for each engine")
    text = "MAIN, MAIN+INCREMENT or MAIN/BYOYOMI in seconds, instead of the three above"
    parser.add_argument("--clock", type=clock, default={}, help=text)
    parser.add_argument("--draw", type=whole(1), default=320, help="moves after which a game is drawn")
    parser.add_argument("--ponder", action="store_true")
    parser.add_argument("--opening", default=str(OPENINGS), help="file of lines `startpos moves ...`")
    parser.add_argument("--seed", type=int, default=1, help="seed of the openings' order")
    parser.add_argument("--keep", default="build/match", help="folder of games and figures; a match there is resumed")
    chosen = parser.parse_args()
    vars(chosen).update(chosen.clock)
    if not (chosen.byoyomi or chosen.time or chosen.inc):
        parser.error("name the time: --clock or --byoyomi")
    return chosen


def main() -> None:
    arguments = parse()
    Path(arguments.keep).mkdir(parents=True, exist_ok=True)
    try:
        print(report(play(arguments)))
    except KeyboardInterrupt:
        raise SystemExit("\nstopped; the same command continues after the last pair of games") from None
    except EndOfEngine as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
