"""A match of two USI engines through cshogi's runner: score and Elo with intervals, illegal moves, lateness.

    python -m bench.strength.match usi_engine /usr/games/fairy-stockfish --games 20 --byoyomi 100 --keep games/fairy

The runner tolerates a second on the clock and does not measure byoyomi, so this program measures every answer itself:
one that comes after the flag is an overstep, even where the runner accepts it. Games are kept as CSA and PGN, the
figures as JSON. Needs cshogi (`pip install --editable '.[match]'`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
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
from bench.strength.elo import Estimate, estimate

ENDINGS = {
    "反則負け": "illegal",
    "切れ負け": "time",
    "千日手": "repetition",
    "持将棋": "too long",
    "入玉宣言": "declaration",
}
USUAL_OPTIONS = {
    "fairy-stockfish": "Threads:1,Hash:64,UCI_Variant:shogi",
    "gpsusi": "Thread:1,BookDepth:0,Verbose:0",
    "usi_engine": "Threads:1,USI_OwnBook:false",
    "usi_engine.exe": "Threads:1,USI_OwnBook:false",
}


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


def summary(wins: int, draws: int, losses: int) -> dict[str, float]:
    """Number of games, score and the ends of its 95 % interval (from the games' points)."""
    points = [1.0] * wins + [0.5] * draws + [0.0] * losses
    return {"games": len(points), **asdict(estimate(points))}


def play(arguments: argparse.Namespace) -> dict[str, Any]:
    """Play the match; returns its figures."""
    endings: Counter[str] = Counter()
    begun = time.time()

    def print_line(*words: Any) -> None:
        text = " ".join(map(str, words))
        endings.update([ending(text)] if text.startswith("まで") else [])
        if not text.startswith(("Black vs", "Elo")) and " playing " not in text:
            print(text, flush=True)

    cli.print, cli.Engine = print_line, TimedEngine
    result = cli.main(**runner_arguments(arguments))
    figures = {"wins": result["engine1_won"], "draws": result["draw"], "losses": result["engine2_won"]}
    return {
        "engines": [result["engine1_name"], result["engine2_name"]],
        **figures,
        **summary(**figures),
        "endings": dict(endings),
        "minutes": round((time.time() - begun) / 60, 1),
        "time": {name: punctuality.figures() for name, punctuality in PUNCTUALITY.items()},
    }


def ending(text: str) -> str:
    """One word for how a game ended, from the runner's sentence."""
    return next((word for mark, word in ENDINGS.items() if mark in text), "resignation or mate")


def runner_arguments(arguments: argparse.Namespace) -> dict[str, Any]:
    """Arguments of the runner's main."""
    folder = Path(arguments.keep)
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "engine1": program(arguments.engine1),
        "engine2": program(arguments.engine2),
        "options1": options(arguments.options1, arguments.engine1),
        "options2": options(arguments.options2, arguments.engine2),
        "names": [arguments.name1, arguments.name2],
        "games": arguments.games,
        "byoyomi": arguments.byoyomi,
        "time": arguments.time,
        "inc": arguments.inc,
        "draw": arguments.draw,
        "ponder": arguments.ponder,
        "opening": arguments.opening,
        "opening_seed": arguments.seed,
        "csa": str(folder / "games.csa"),
        "multi_csa": True,
        "pgn": str(folder / "games.pgn"),
    }


def program(name: str) -> str:
    """Full path of a program, which the runner starts from its own folder."""
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"no program '{name}'")
    return os.path.abspath(found)


def options(text: str, engine: str) -> dict[str, str]:
    """`A:1,B:2` as the runner takes it, after what this engine needs to play shogi on one thread."""
    chosen = f"{USUAL_OPTIONS.get(Path(engine).name, '')},{text}"
    return dict(pair.split(":", 1) for pair in chosen.split(",") if pair)


def report(figures: dict[str, Any]) -> str:
    """The figures as text."""
    first, second = figures["engines"]
    lines = [
        f"{first} - {second}: +{figures['wins']} ={figures['draws']} -{figures['losses']} of {figures['games']}",
        Estimate(figures["score"], figures["low"], figures["high"]).text() + " (95 %)",
        f"endings: {figures['endings']}",
    ]
    for name, kept in figures["time"].items():
        least = f"{kept['least_slack']:.0f} ms"
        late = f"{kept['oversteps']} oversteps in {kept['games_late']} games"
        lines.append(f"{name}: {kept['moves']} moves, {late}, least slack {least}")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine1")
    parser.add_argument("engine2")
    for number in "12":
        parser.add_argument(
            f"--options{number}", default="", help="NAME:VALUE,NAME:VALUE; Threads:1 and no book unless set"
        )
        parser.add_argument(f"--name{number}")
    parser.add_argument("--games", type=int, default=10)
    for name in ("byoyomi", "time", "inc"):
        parser.add_argument(f"--{name}", type=int, nargs="+", help="milliseconds; two numbers: one for each engine")
    parser.add_argument("--draw", type=int, default=320, help="a game is drawn after so many moves")
    parser.add_argument("--ponder", action="store_true")
    parser.add_argument("--opening", default=str(OPENINGS), help="file of lines `startpos moves ...`")
    parser.add_argument("--seed", type=int, default=1, help="seed of the openings' order")
    parser.add_argument("--keep", default="build/match", help="folder for games and figures")
    return parser.parse_args()


def main() -> None:
    """Play, keep, report."""
    arguments = parse()
    figures = play(arguments)
    Path(arguments.keep, "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(report(figures))


if __name__ == "__main__":
    main()
