"""Matches of USI engines: colours and pairs, clocks, adjudication, engines that fail, resumed matches."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import pytest

from bench import OPENINGS
from bench.strength import match, usi_game
from bench.strength.usi_game import EngineConfig, Engines, GameLost, Rules, Task, TimeUse, play_game
from tests.scripted_engine import scripted
from usi_engine.clock import TimeControl
from usi_engine.csa.command import own_engine
from usi_engine.files import KeptRows
from usi_engine.learn.player import Lead, read_openings
from usi_engine.records.games import load_games
from usi_engine.search.results import Limit

START = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
RULES, NODES, AHEAD = Rules(), Limit(nodes=1), "info score cp 4000"
SCORE = Rules(resign=3000, resign_moves=1)
Players = Callable[..., Engines]


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Players:
    """Return a function that makes two engines with these answers."""
    monkeypatch.setattr(usi_game, "GRACE", 0.2)

    def config(name: str, answers: Sequence[str], limit: Limit | TimeControl) -> EngineConfig:
        return EngineConfig(name, tuple(scripted(tmp_path / name, *answers)), {}, limit)

    def new(
        first: Sequence[str], second: Sequence[str], rules: Rules = RULES, limit: Limit | TimeControl = NODES
    ) -> Engines:
        return Engines((config("A", first, limit), config("B", second, limit)), rules)

    return new


def received(folder: Path, name: str, word: str) -> list[str]:
    """Return the lines beginning with this word that an engine has received."""
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.split()[0] == word]


def test_a_clock_is_read() -> None:
    clocks = {"10": (10000, 0, 0), "10+0.1": (10000, 0, 100), "0/0.1": (0, 100, 0), "60/1": (60000, 1000, 0)}
    assert {text: match.clock(text) for text in clocks} == {text: TimeControl(*clock) for text, clock in clocks.items()}
    for text in ("", "0", "ten", "1..2", "-1", "10/", "10+0.1+1"):
        with pytest.raises(argparse.ArgumentTypeError, match=re.escape(f"'{text}' is not MAIN")):
            match.clock(text)


def test_an_engine_plays_on_one_thread_without_a_book() -> None:
    engine = EngineConfig("own", tuple(own_engine()), {"multipv": "2"}, NODES)
    assert match.checked(engine).options == {"Threads": "1", "USI_OwnBook": "false", "multipv": "2"}
    assert match.checked(replace(engine, options={"threads": "2"})).options == {"USI_OwnBook": "false", "threads": "2"}
    with pytest.raises(SystemExit, match="has no option 'Hash'"):
        match.checked(replace(engine, options={"Hash": "2"}))


@pytest.mark.parametrize(
    ("answer", "ending", "text"),
    [
        ("die", "crash", "A: Fake has ended (exit status 0)\n    option"),
        ("info string boom | 5a5b", "illegal move", f"A: played '5a5b' in sfen {START}"),
        ("win", "illegal move", "A: played 'win'"),
        ("", "illegal move", "A: played ''"),
        ("think", "hang", "A: Fake does not answer `go nodes 1`\n    option"),
        ("hang", "hang", "A: Fake does not answer stop\n    option"),
    ],
)
def test_an_engine_that_fails_loses_and_is_started_again(engines: Players, answer: str, ending: str, text: str) -> None:
    players = engines([answer, "7g7f"], [], Rules(patience=0.2 if ending == "hang" else 120))
    lost = play_game(players, Task(0, START, 0))
    assert (lost["points"], lost["ending"], lost["moves"]) == (0.0, ending, "")
    assert text in lost["fault"]
    players.rules = Rules()
    won = play_game(players, Task(2, START, 0))
    assert (won["points"], won["ending"], won["fault"], won["moves"]) == (1.0, "resignation", "", "7g7f")


def test_an_engine_that_does_not_start_loses(engines: Players) -> None:
    players = engines(["7g7f"], [])
    broken = EngineConfig("broken", (sys.executable, "-c", "raise SystemExit('no licence')"), {}, NODES)
    players.processes[1] = usi_game.make_process(broken)
    row = play_game(players, Task(1, START, 1))
    assert (row["points"], row["ending"]) == (1.0, "crash")
    assert "has ended (exit status 1)\n    no licence" in row["fault"]


def test_clocks(engines: Players, tmp_path: Path) -> None:
    """Each engine is told its clocks, and its answers are counted."""
    clock = TimeControl(60_000, 0, 1_000)
    row = play_game(engines(["7g7f"], ["3c3d"], limit=clock), Task(0, START, 0))
    assert row["ending"] == "resignation"
    assert [use["moves"] for use in row["time"]] == [2, 1]
    assert received(tmp_path, "A", "go")[0] == "go btime 60000 wtime 60000 binc 1000 winc 1000"


def test_a_declaration_and_late_answers(engines: Players) -> None:
    row = play_game(engines([], ["win"]), Task(1, "KG7/PPPPPPPPP/9/9/9/9/9/9/8k b 2R2B3G4S4N4L9P 1", 1))
    assert (row["ending"], row["points"]) == ("declaration", 0.0)
    silent = play_game(engines([], ["win", "think"], limit=Limit(0.001)), Task(1, START, 1))
    assert (silent["ending"], silent["points"]) == ("time", 1.0)
    use = TimeUse()
    use.count(900, 1000, 50)
    use.count(1050, 1000, 50)
    assert (use.moves, use.late, use.least) == (2, 1, -50)
    with pytest.raises(GameLost, match="used 1051 of 1000 ms"):
        use.count(1051, 1000, 50)


@pytest.mark.parametrize(
    ("values", "side", "plies"),
    [
        ((1000, -1000, 2000, -1500), "b", 4),
        ((-1000, 1000, -1000, 1000), "w", 4),
        ((1000, -999, 1000, -1000), "b", 2),
        ((1000, -1000, 1000, 1000), "w", 0),
        ((1000, -1000, 0, -1000, 1000, -1000), "b", 3),
    ],
)
def test_lead(values: tuple[int, ...], side: str, plies: int) -> None:
    """Both must see the same side ahead; a smaller value or one for the other side ends the lead."""
    lead = Lead(1000)
    for ply, value in enumerate(values):
        lead.add(ply % 2, value)
    assert ("bw"[lead.winner], lead.plies) == (side, plies)


@pytest.mark.parametrize(
    ("answers", "rules", "end"),
    [
        ((f"{AHEAD} | 7g7f", "info score cp -4000 | 3c3d"), SCORE, ("score", 1.0)),
        ((f"{AHEAD} | 7g7f", f"{AHEAD} | 3c3d"), SCORE, ("resignation", 0.0)),
        ((f"{AHEAD} | 7g7f", "info score cp -4000 | 3c3d"), Rules(), ("resignation", 0.0)),
        ((f"{AHEAD} | 7g7f", "3c3d"), SCORE, ("resignation", 0.0)),
        (("7g7f", "3c3d"), Rules(longest=2), ("move limit", 0.5)),
        ((f"{AHEAD} lowerbound | 7g7f", "info score cp -4000 upperbound | 3c3d"), SCORE, ("score", 1.0)),
        (("2h3h", "8b7b", "3h2h", "7b8b") * 3, Rules(), ("repetition", 0.5)),
    ],
)
def test_games_end(
    engines: Players, tmp_path: Path, answers: tuple[str, ...], rules: Rules, end: tuple[str, float]
) -> None:
    players = engines(answers[::2], answers[1::2], rules)
    row = play_game(players, Task(0, START, 0))
    assert (row["ending"], row["points"]) == end
    del players  # ends the engines
    told = {1.0: "win", 0.5: "draw", 0.0: "lose"}
    assert received(tmp_path, "A", "gameover") == [f"gameover {told[row['points']]}"]


def test_a_match_is_kept_and_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Engines that resign at once lose with Black. A row that was not written to its end is played again."""
    kept = tmp_path / "kept"

    def play(games: int, nodes: int = 5, processes: int = 1) -> str:
        words = ["match", "--option", "USI_Hash=1", "--name", "A", "B", "--nodes", str(nodes), "--keep", str(kept)]
        for name in "AB":
            words += ["--engine", shlex.join(scripted(tmp_path / name))]
        words += ["--record", "csa", "--games", str(games), "--concurrency", str(processes)]
        monkeypatch.setattr(sys, "argv", words)
        match.run(match.parse())
        return capsys.readouterr().out

    first = play(2)
    assert first.startswith("A - B: +1 =0 -1 of 2, score 50.0 %")
    assert "pairs 0-0-1-0-0," in first and "endings: resignation 2" in first
    rows = (kept / "games.jsonl").read_text(encoding="utf-8")
    (kept / "games.jsonl").write_text(rows[: rows.rindex("points")], encoding="utf-8")
    assert play(4, processes=2).startswith("A - B: +2 =0 -2 of 4, score 50.0 %")
    assert [len(received(tmp_path, name, "go")) for name in "AB"] == [2, 3]
    again = sorted(KeptRows(kept / "games.jsonl").rows[1:], key=itemgetter("game"))
    assert [(row["game"], row["black"], row["points"]) for row in again] == [
        (0, 0, 0.0), (1, 1, 1.0), (2, 0, 0.0), (3, 1, 1.0),
    ]  # fmt: skip
    assert again[0]["opening"] == again[1]["opening"] != again[2]["opening"] == again[3]["opening"]
    assert {row["opening"] for row in again} <= set(read_openings(OPENINGS))
    assert next(load_games(kept / "game-0002.csa")).players == ("B", "A")
    with pytest.raises(SystemExit, match=r"under other conditions \(limits\): name another folder"):
        play(4, nodes=6)


def test_a_network_that_an_option_names_is_a_condition(tmp_path: Path) -> None:
    """A program without arguments finds it in its own folder."""
    (tmp_path / "nn.bin").write_bytes(b"one")
    options = {"EvalFile": "nn.bin", "EvalDir": str(tmp_path), "Threads": "1", "BookFile": ""}
    engine = EngineConfig("own", (str(tmp_path / "engine"),), options, NODES)
    before = match.option_digests(engine)
    (tmp_path / "nn.bin").write_bytes(b"two")
    after = match.option_digests(engine)
    assert before[0] == before[1] != after[0] == after[1] and before[2:] == after[2:] == ["", ""]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--engine", "none/here", "--engine", sys.executable, "--nodes", "1"], "no program 'none/here'"),
        (["--engine", sys.executable, "--nodes", "1"], "name two engines"),
        (["--engine", "", "--nodes", "1"], "the command is empty"),
        (["--engine", "a", "--option", "Hash", "--nodes", "1"], "--option: 'Hash' is not NAME=VALUE"),
        (["--engine", "a", "--engine", "b"], "--nodes --movetime --time is required"),
    ],
)
def test_wrong_command_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], text: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["match", "--keep", str(tmp_path), *words])
    with pytest.raises(SystemExit) as error:
        match.run(match.parse())
    assert text in f"{error.value}{capsys.readouterr().err}"


def test_a_record_has_times_and_values(tmp_path: Path) -> None:
    row = {
        "game": 6, "black": 1, "points": 1.0, "ending": "time", "opening": START, "moves": "7g7f 3c3d",
        "values": [30, -40], "milliseconds": [2000, 3000],
    }  # fmt: skip
    match.save_record(tmp_path, row, ["A", "B"], "csa")
    text = (tmp_path / "game-0007.csa").read_text(encoding="utf-8")
    assert re.search(r"N\+B\nN-A\n", text)
    assert re.search(r"\+7776FU,?\n?T2\n'\*\* 30\n-3334FU,?\n?T3\n'\*\* 40\n", text)
