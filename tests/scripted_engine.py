"""A USI engine that plays moves from its command line, one a `go`, and writes every line it receives to a file.

    python scripted_engine.py LOG ANSWER ...

An ANSWER is what follows `bestmove`, as `7g7f` or `7g7f ponder 3c3d`; `think` answers only after `stop`, `die` ends
the process, `hang` reads and answers nothing any more, `leave` ends it as soon as a game is offered, and
`info ... | ANSWER` prints an info line before it. A
`go ponder` waits for `ponderhit` or `stop` and takes its answer then; without an answer left, a search resigns.
"""

import sys
import time
from pathlib import Path

OPTIONS = (
    "USI_Hash type spin default 1 min 1 max 9",
    "MaxMovesToDraw type spin default 0 min 0 max 999",
    "EnteringKingRule type combo default CSARule27 var CSARule27 var CSARule27H var NoEnteringKing",
    "MultiPV type spin default 1 min 1 max 9",
    "PvInterval type spin default 300 min 0 max 1000",
    "Style type combo default Calm var Calm var Wild",
)


def scripted(log: Path, *answers: str) -> list[str]:
    """Return the command of an engine with these answers."""
    return [sys.executable, str(Path(__file__).resolve()), str(log), *answers]


def say(text: str) -> None:
    print(text, flush=True)


def answer(text: str) -> None:
    info, bar, move = text.rpartition(" | ")
    if bar:
        say(info)
    say(f"bestmove {move}")


def main() -> None:
    log, answers = Path(sys.argv[1]), sys.argv[2:]
    # Answers already given, so that an engine that is started again goes on after them. Engines of several games at a
    # time may share the file if they have no answers.
    given = log.with_suffix(".given")
    used = int(given.read_text(encoding="utf-8")) if answers and given.exists() else 0
    offered = 0  # the first isready comes before any offer
    with open(log, "a", encoding="utf-8") as received:
        for line in sys.stdin:
            word = line.split()[0]
            received.write(line)
            received.flush()
            if word == "usi":
                for option in OPTIONS:
                    say(f"option name {option}")
                say("id name Fake\nusiok")
            elif word == "isready":
                say("readyok")
                offered += 1
                if offered > 1 and answers[used : used + 1] == ["leave"]:
                    given.write_text(str(used + 1), encoding="utf-8")
                    return
            elif word == "stop":
                say("bestmove resign")
            elif line.startswith("go ponder"):
                continue
            elif word in ("go", "ponderhit"):
                text = answers[used] if used < len(answers) else "resign"
                used += 1
                given.write_text(str(used), encoding="utf-8")
                if text == "die":
                    return
                if text == "hang":
                    time.sleep(1000)
                if text != "think":
                    answer(text)
            elif word == "quit":
                return


if __name__ == "__main__":
    main()
