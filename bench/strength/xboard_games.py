"""Games in XBoard, a real GUI, on a virtual screen through the adapter uci2wb, with a screenshot.

    python -m bench.strength.xboard_games usi_engine --games 4 --keep games/xboard --screenshot game.png

Debian: xboard uci2wb xvfb imagemagick. XBoard checks the rules and keeps the clocks: it adjudicates an illegal move and
calls a flag. The game file and XBoard's log of all USI lines are kept; figures are printed at the end.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

GAMES_FOLDER = "/usr/games"
THEME = Path("/usr/share/games/xboard/themes")
WOOD = str(THEME / "textures/wood_l.png")
LOOK = [
    "-pid", str(THEME / "shogi"), "-flipBlack", "true", "-trueColors", "true",
    "-liteBackTextureFile", WOOD, "-darkBackTextureFile", WOOD,
    "-lightSquareColor", "#FF8040", "-darkSquareColor", "#FF8040", "-boardSize", "Medium",
]  # fmt: skip
FAULTS = re.compile(r"illegal|forfeits|time out|hung|disconnect|crash", re.IGNORECASE)


class Screen:
    """A virtual X display."""

    def __enter__(self) -> str:
        reading, writing = os.pipe()
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "900x760x24"]
        self._server = subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(reading) as answer:
            return ":" + answer.readline().strip()

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait()


def command(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """XBoard's command line for a match."""
    players = (arguments.engine, arguments.opponent or arguments.engine)
    first, second = (f"uci2wb debug -s {program(name)}" for name in players)
    match = ["-fcp", first, "-scp", second, "-mg", str(arguments.games)]
    clock = ["-tc", f"0:{arguments.seconds}", "-inc", str(arguments.increment)]
    files = ["-sgf", str(folder / "games.pgn"), "-debug", "-nameOfDebugFile", str(folder / "xboard.log")]
    ponder = "-ponder" if arguments.ponder else "-xponder"
    return ["xboard", "-variant", "shogi", *match, *clock, ponder, *files, *LOOK]


def program(name: str) -> str:
    """Full path of an engine."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:{GAMES_FOLDER}")
    if found is None:
        raise SystemExit(f"no program '{name}'")
    return os.path.abspath(found)


def finished(folder: Path) -> list[str]:
    """Results and reasons of the games so far: `1-0 {Xboard adjudication: Checkmate}`."""
    games = folder / "games.pgn"
    text = games.read_text(encoding="utf-8", errors="replace") if games.exists() else ""
    endings = re.findall(r"\{([^{}]*)\}\s+(1-0|0-1|1/2-1/2|\*)\s", text)
    return [f"{result} {' '.join(reason.split())}" for reason, result in endings]


def moves_so_far(folder: Path) -> int:
    """Moves that XBoard has handed to an engine."""
    log = folder / "xboard.log"
    return log.read_text(encoding="utf-8", errors="replace").count("usermove") if log.exists() else 0


def watch(
    folder: Path, arguments: argparse.Namespace, environment: dict[str, str], process: subprocess.Popen[bytes]
) -> None:
    """Wait for the last game; take the picture when a game is well under way."""
    deadline = time.monotonic() + arguments.timeout
    pictured = not arguments.screenshot
    while len(finished(folder)) < arguments.games and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.5)
        if not pictured and moves_so_far(folder) > 60:
            Path(arguments.screenshot).parent.mkdir(parents=True, exist_ok=True)
            picture = ["import", "-window", "root", "-trim", arguments.screenshot]
            subprocess.run(picture, env=environment, check=True)
            pictured = True


def play(arguments: argparse.Namespace) -> int:
    """Play all games; returns the number of faults in XBoard's log, missing games included."""
    folder = Path(arguments.keep)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("games.pgn", "xboard.log"):
        (folder / name).unlink(missing_ok=True)
    with Screen() as display:
        home = {"DISPLAY": display, "HOME": str(folder.resolve()), "PATH": f"{os.environ['PATH']}:{GAMES_FOLDER}"}
        environment = {**os.environ, **home}
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command(arguments, folder), env=environment, stdout=quiet, stderr=quiet)
        watch(folder, arguments, environment, process)
        process.terminate()
        process.wait(10)
    return report(folder, arguments.games)


def report(folder: Path, games: int) -> int:
    """Print results and faults; returns the number of faults."""
    results = finished(folder)
    faults = [result for result in results if FAULTS.search(result)]
    log = (folder / "xboard.log").read_text(encoding="utf-8", errors="replace").splitlines()
    faults += [line for line in log if FAULTS.search(line) and "feature" not in line and "result" not in line]
    print("\n".join(results))
    pondered, hits = (sum(word in line for line in log) for word in ("go ponder", "ponderhit"))
    print(f"{len(results)} of {games} games, {len(faults)} faults; pondered {pondered} times, {hits} hits")
    print("\n".join(faults[:20]))
    return len(faults) + max(games - len(results), 0)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("--opponent", help="another USI engine; without it the engine plays itself")
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--seconds", type=int, default=20, help="main time")
    parser.add_argument("--increment", type=float, default=0.2, help="seconds a move")
    parser.add_argument("--ponder", action="store_true")
    parser.add_argument("--keep", required=True, help="folder for games and log")
    parser.add_argument("--screenshot", help="picture of a game under way")
    parser.add_argument("--timeout", type=float, default=1200, help="seconds to wait for all games")
    sys.exit(min(play(parser.parse_args()), 1))


if __name__ == "__main__":
    main()
