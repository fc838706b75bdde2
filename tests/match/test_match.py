"""Matches: colours and pairs, clocks, adjudication, engines that fail, resumed matches; Elo, tests, tuning."""

import argparse
import json
import math
import random
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import pytest

from tests.records.common import page_json
from tests.scripted_engine import scripted
from usi_engine.clock import TimeControl
from usi_engine.files import KeptRows, locked
from usi_engine.match import command, elo, game
from usi_engine.match.engines import checked, clock, digests
from usi_engine.match.game import EngineConfig, Engines, Rules, Task, play_game
from usi_engine.match.report import pairs_text, save_record
from usi_engine.match.runs import OPENINGS, MatchError, kept_rows
from usi_engine.match.spsa import Tuning
from usi_engine.records.games import load_games
from usi_engine.rules import Lead
from usi_engine.search.results import Limit
from usi_engine.usi.process import Answer, EngineProcess, own_engine

START = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
RULES, NODES, AHEAD = Rules(), Limit(nodes=1), "info score cp 4000"
SCORE = Rules(resign=(3000, 1))
FIRST, SECOND = (0, 1), (1, 0)
Players = Callable[..., Engines]


@pytest.fixture
def engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Players:
    """Return a function that makes two engines with these answers."""
    monkeypatch.setattr(game, "GRACE", 0.2)

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
    assert {text: clock(text) for text in clocks} == {text: TimeControl(*clock) for text, clock in clocks.items()}
    for text in ("", "0", "ten", "1..2", "-1", "10/", "10+0.1+1"):
        with pytest.raises(argparse.ArgumentTypeError, match=re.escape(f"'{text}' is not MAIN")):
            clock(text)


def test_an_engine_plays_on_one_thread_without_a_book() -> None:
    engine = EngineConfig("own", tuple(own_engine()), {"multipv": "2"}, NODES)
    assert checked(engine)[0].options == {"Threads": "1", "USI_OwnBook": "false", "multipv": "2"}
    assert checked(replace(engine, options={"threads": "2"}))[0].options == {"USI_OwnBook": "false", "threads": "2"}
    with pytest.raises(MatchError, match=r"has no option 'Hash'$"):
        checked(replace(engine, options={"Hash": "2"}))


@pytest.mark.parametrize(
    ("answer", "ending", "text"),
    [
        ("die", "crash", "A: Fake has ended (exit status 0)\n    option"),
        ("info string boom | 5a5b", "illegal move", f"A: played '5a5b' in {START}"),
        ("win", "illegal move", "A: played 'win'"),
        ("", "illegal move", "A: played ''"),
        ("think", "hang", "A: Fake does not answer `go nodes 1`\n    option"),
        ("hang", "hang", "A: Fake does not answer stop\n    option"),
    ],
)
def test_an_engine_that_fails_loses_and_is_started_again(engines: Players, answer: str, ending: str, text: str) -> None:
    players = engines([answer, "7g7f"], [], Rules(patience=0.2 if ending == "hang" else 120))
    lost = play_game(players, Task(0, START, FIRST))
    assert (lost["points"], lost["ending"], lost["moves"]) == (0.0, ending, "")
    assert text in lost["fault"]
    players.rules = Rules()
    won = play_game(players, Task(2, START, FIRST))
    assert (won["points"], won["ending"], won["fault"], won["moves"]) == (1.0, "resignation", "", "7g7f")


def test_an_engine_that_does_not_start_loses(engines: Players) -> None:
    players = engines(["7g7f"], [])
    broken = EngineConfig("broken", (sys.executable, "-c", "raise SystemExit('no licence')"), {}, NODES)
    players.processes[1] = broken.process()
    row = play_game(players, Task(1, START, SECOND))
    assert (row["players"], row["points"], row["ending"]) == (["B", "A"], 0.0, "crash")
    assert "has ended (exit status 1)\n    no licence" in row["fault"]


def test_clocks(engines: Players, tmp_path: Path) -> None:
    """Each engine is told its clocks, and its answers are counted."""
    clock = TimeControl(60_000, 0, 1_000)
    row = play_game(engines(["7g7f"], ["3c3d"], limit=clock), Task(0, START, FIRST))
    assert row["ending"] == "resignation"
    assert [len(left) for left in row["left"]] == [2, 1] and 60_000 < min(map(min, row["left"])) < 61_000
    assert received(tmp_path, "A", "go")[0] == "go btime 60000 wtime 60000 binc 1000 winc 1000"


def test_a_declaration_and_late_answers(engines: Players) -> None:
    row = play_game(engines([], ["win"]), Task(1, "KG7/PPPPPPPPP/9/9/9/9/9/9/8k b 2R2B3G4S4N4L9P 1", SECOND))
    assert (row["ending"], row["points"]) == ("declaration", 1.0)
    silent = play_game(engines([], ["win", "think"], limit=Limit(0.001)), Task(1, START, SECOND))
    assert (silent["ending"], silent["points"]) == ("time", 0.0)


@pytest.mark.parametrize(("margin", "ending"), [(49, "time"), (50, "resignation")])
def test_an_answer_may_be_late_by_the_margin(
    engines: Players, monkeypatch: pytest.MonkeyPatch, margin: int, ending: str
) -> None:
    monkeypatch.setattr(EngineProcess, "search", lambda *_: Answer(1, "resign", seconds=1.05))
    row = play_game(engines([], [], Rules(margin=margin), TimeControl(1000)), Task(0, START, FIRST))
    assert (row["ending"], row["left"]) == (ending, [[-50.0], []])
    assert (row["fault"] == "A: used 1050 of 1000 ms") == (ending == "time")


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
        ((f"{AHEAD} | 7g7f", "info score cp -4000 | 3c3d", f"{AHEAD} | 2g2f"), SCORE, ("score", 1.0)),
        ((f"{AHEAD} | 7g7f", f"{AHEAD} | 3c3d"), SCORE, ("resignation", 0.0)),
        ((f"{AHEAD} | 7g7f", "info score cp -4000 | 3c3d"), Rules(), ("resignation", 0.0)),
        ((f"{AHEAD} | 7g7f", "3c3d"), SCORE, ("resignation", 0.0)),
        (("7g7f", "3c3d"), Rules(max_moves=2), ("move limit", 0.5)),
        (("info score cp 9 | 7g7f", "info score cp -9 | 3c3d"), Rules(draw=(9, 1, 2)), ("draw", 0.5)),
        (("info score cp 9 | 7g7f", "info score cp -9 | 3c3d"), Rules(draw=(9, 1, 3)), ("resignation", 0.0)),
        (("info score cp 9 | 7g7f", "3c3d"), Rules(draw=(9, 1, 2)), ("resignation", 0.0)),
        (
            (f"{AHEAD} lowerbound | 7g7f", "info score cp -4000 upperbound | 3c3d", f"{AHEAD} | 2g2f"),
            SCORE,
            ("score", 1.0),
        ),
        (("2h3h", "8b7b", "3h2h", "7b8b") * 3, Rules(), ("repetition", 0.5)),
    ],
)
def test_games_end(
    engines: Players, tmp_path: Path, answers: tuple[str, ...], rules: Rules, end: tuple[str, float]
) -> None:
    players = engines(answers[::2], answers[1::2], rules)
    row = play_game(players, Task(0, START, FIRST))
    assert (row["ending"], row["points"]) == end
    del players  # ends the engines
    told = {1.0: "win", 0.5: "draw", 0.0: "lose"}
    assert received(tmp_path, "A", "gameover") == [f"gameover {told[row['points']]}"]


@pytest.mark.parametrize(
    ("reply", "told"), [("3c3d", ["go", "ponderhit"]), ("8c8d", ["go", "stop", "go"]), ("resign", ["go", "stop"])]
)
def test_pondering(engines: Players, tmp_path: Path, reply: str, told: list[str]) -> None:
    """The search of a move that was not expected is stopped, and its answer is ignored."""
    players = engines(["7g7f ponder 3c3d", "2g2f"], [reply], Rules(ponder=True), TimeControl(60_000, 0, 1_000))
    row = play_game(players, Task(0, f"{START} moves", FIRST))
    assert row["moves"].split() == ["7g7f", *([reply, "2g2f"] if reply != "resign" else [])]
    heard = (tmp_path / "A").read_text(encoding="utf-8").splitlines()
    at = next(place for place, line in enumerate(heard) if line.startswith("go ponder btime 6"))
    assert heard[at - 1] == "position startpos moves 7g7f 3c3d"
    assert [line.split()[0] for line in heard[at:] if line.split()[0] not in ("position", "gameover")] == told


Play = Callable[..., str]


@pytest.fixture
def play(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Play:
    """Return a function that plays a match of engines that resign at once, and so lose with Black."""

    def run(names: str, line: str, status: int = 0) -> str:
        engines = [f"{name}={shlex.join(scripted(tmp_path / name))}" for name in names]
        assert command.main([*engines, *line.split(), "--keep", str(tmp_path / "kept")]) == status
        shown = capfd.readouterr()  # of the worker processes too
        assert "Traceback" not in shown.err
        return " ".join((shown.out + shown.err).split())

    return run


def test_a_match_is_kept_and_continued(tmp_path: Path, play: Play) -> None:
    """A row that was not written to its end is played again."""
    usual, kept = "--nodes 5 --option USI_Hash=1 --record csa --concurrency", tmp_path / "kept"
    first = play("AB", f"{usual} 1 --games 2")
    assert "A 2 1 0 1 50.0" in first and "pairs of A: 0-0-1-0-0, " in first and "endings: resignation 2" in first
    rows = (kept / "games.jsonl").read_text(encoding="utf-8")
    (kept / "games.jsonl").write_text(rows[: rows.rindex("points")], encoding="utf-8")
    with locked(kept, kept / "lock"):
        assert f"{kept}: another run is writing to it" in play("AB", f"{usual} 2 --games 4", 2)
    assert "A 4 2 0 2 50.0" in play("AB", f"{usual} 2 --games 4")
    assert [len(received(tmp_path, name, "go")) for name in "AB"] == [2, 3]
    again = sorted(KeptRows(kept / "games.jsonl").rows[1:], key=itemgetter("game"))
    assert [(row["game"], row["players"], row["points"]) for row in again] == [
        (0, ["A", "B"], 0.0), (1, ["B", "A"], 0.0), (2, ["A", "B"], 0.0), (3, ["B", "A"], 0.0),
    ]  # fmt: skip
    assert again[0]["opening"] == again[1]["opening"] != again[2]["opening"] == again[3]["opening"]
    assert {row["opening"] for row in again} <= set(OPENINGS.read_text(encoding="utf-8").splitlines())
    assert next(load_games(kept / "game-0002.csa")).players == ("B", "A")
    assert "under other conditions (nodes); name another folder" in play("AB", "--nodes 6 --option USI_Hash=1", 2)


@pytest.mark.parametrize(("line", "games"), [("", "AB BA AC CA BC CB"), ("--gauntlet", "AB BA AC CA")])
def test_a_tournament(tmp_path: Path, play: Play, line: str, games: str) -> None:
    """Each value is for all engines or for one. The page has a row of each engine, and each game."""
    shown = play("ABC", f"--nodes 5 --nodes C:7 --option B:Style=Wild --games 2 --concurrency 1 {line}")
    rows = KeptRows(tmp_path / "kept" / "games.jsonl").rows[1:]
    assert ["".join(row["players"]) for row in rows] == games.split()
    assert [received(tmp_path, name, "go")[0] for name in "ABC"] == ["go nodes 5", "go nodes 5", "go nodes 7"]
    told = [{*received(tmp_path, name, "setoption")} for name in "ABC"]
    assert ["setoption name Style value Wild" in lines for lines in told] == [False, True, False]
    assert all(f"{name} {games.count(name)} " in shown for name in "ABC")
    page = (tmp_path / "kept" / "index.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="(?!data:)|^import ', page, re.M)  # it needs no other file
    data = page_json(page)
    assert [game["players"] for game in data["games"]] == [" - ".join(game) for game in games.split()]
    assert data["cross"][0][1] == "+1 =0 -1" and [one["name"] for one in data["curves"]] == ["A", "B", "C"]


def test_a_sequential_test_ends_the_match(tmp_path: Path, play: Play) -> None:
    """A has won all games, so none is played."""
    play("AB", "--nodes 5 --games 1 --concurrency 1")
    file = tmp_path / "kept" / "games.jsonl"
    head, row, _row = file.read_text(encoding="utf-8").splitlines()
    won = [{"game": game, "players": list("ABA"[game % 2 :][:2]), "points": 1.0 - game % 2} for game in range(40)]
    file.write_text("\n".join([head, *(json.dumps(json.loads(row) | one) for one in won), ""]), encoding="utf-8")
    shown = play("AB", "--nodes 5 --elo1 200 --alpha 0.01 --concurrency 1")
    assert "SPRT of 200 against 0 Elo" in shown and "within -2.99 to +4.55: 200 Elo accepted" in shown
    assert len(KeptRows(file).rows) == 41


@pytest.mark.parametrize("change", ["program", "weights", "folder", "nodes"])
def test_a_run_of_other_conditions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """Another argument, a file that it names, the network of a folder, or the program."""
    network = tmp_path / "network" / "nn.bin"
    network.parent.mkdir()
    network.write_bytes(b"one")
    monkeypatch.setattr("usi_engine.match.runs.FOLDER", tmp_path)
    (tmp_path / "usi_engine" / "data").mkdir(parents=True)
    values = {"nodes": 1, "weights": network, "folder": str(network.parent)}
    arguments = argparse.Namespace(keep=tmp_path / "kept", **{change: values.get(change)})
    for _ in range(2):
        kept_rows(arguments, "rows")
    if change == "nodes":
        arguments.nodes = 2
    else:
        (tmp_path / "usi_engine" / "data" / "nn.bin" if change == "program" else network).write_bytes(b"two")
    with pytest.raises(MatchError, match=rf"other conditions \({change}\); name another folder"):
        kept_rows(arguments, "rows")


def test_a_network_that_an_option_names_is_a_condition(tmp_path: Path) -> None:
    """A program without arguments finds it in its own folder."""
    (tmp_path / "nn.bin").write_bytes(b"one")
    options = {"EvalFile": "nn.bin", "EvalDir": str(tmp_path), "Threads": "1", "BookFile": ""}
    engine = EngineConfig("own", (str(tmp_path / "engine"),), options, NODES)
    before = digests(engine)
    (tmp_path / "nn.bin").write_bytes(b"two")
    after = digests(engine)
    assert before[1] == before[2] != after[1] == after[2] and before[3:] == after[3:] == ["", ""]


def test_a_record_has_times_values_and_the_reason_of_its_end(tmp_path: Path) -> None:
    row = {
        "game": 6, "players": ["B", "A"], "points": 0.0, "ending": "time", "fault": "B: used 9 of 8 ms", "begun": 0,
        "opening": "startpos moves 2g2f 8c8d", "moves": "7g7f 3c3d", "values": [30, -40], "milliseconds": [2000, 3000],
    }  # fmt: skip
    save_record(tmp_path, row, "csa")
    text = (tmp_path / "game-0007.csa").read_text(encoding="utf-8")
    assert re.search(r"N\+B\nN-A\n", text)
    assert re.search(r"\+7776FU,?\n?T2\n'\*\* 30\n-3334FU,?\n?T3\n'\*\* 40\n%TIME_UP\n'\*B: used", text)
    save_record(tmp_path, row | {"ending": "score"}, "kif")
    game = next(load_games(tmp_path / "game-0007.kif"))
    assert len(game.moves) == 4 and game.end and game.end.name == "TORYO"


# ---- Elo, sequential tests, tuning ----


@pytest.mark.parametrize("difference", [-300.0, -20.0, 0.0, 35.0, 400.0])
def test_elo_and_expected_score_are_inverse(difference: float) -> None:
    assert elo.elo(elo.expected(difference)) == pytest.approx(difference)


def test_interval_covers_the_truth_about_95_times_in_100() -> None:
    """Pairs of games with a score of 0.5 and of 0.9."""
    rng = random.Random(3)
    for likely, count in ((0.5, 10), (0.5, 100), (0.9, 12), (0.9, 100)):
        matches = ([sum(rng.random() < likely for _ in range(2)) / 2 for _ in range(count)] for _ in range(400))
        covered = sum(found.low <= likely <= found.high for found in map(elo.estimate, matches))
        assert covered >= 368, (likely, count, covered)


def test_many_games_have_the_classical_interval() -> None:
    few, many = elo.estimate([0.0, 1.0] * 50), elo.estimate([0.0, 1.0] * 5000)
    assert few.score == many.score == 0.5
    assert few.high - 0.5 == pytest.approx(0.5 - few.low) == pytest.approx(0.096, abs=0.001)
    assert many.high - 0.5 == pytest.approx(1.96 * 0.5 / 100, rel=0.01)
    pairs = elo.estimate([0.5] * 4000 + [0.0, 1.0] * 500)
    assert pairs.high - 0.5 == pytest.approx(1.96 * math.sqrt(0.05 / 5000), rel=0.01)


def test_text_and_wilsons_interval() -> None:
    """Published tables give 70 to 95 % for 26 wins in 30 games."""
    assert elo.estimate([1.0] * 26 + [0.0] * 4).texts() == ["86.7", "70.3 to 94.7", "+325", "+150 to +500"]
    assert elo.estimate([0.5, 0.5]).texts()[2] == "+0"
    assert elo.estimate([1.0, 1.0]).texts() == ["100.0", "34.2 to 100.0", "+inf", "-113 to +inf"]


def test_sequential_test_decides_both_ways() -> None:
    good, bad = [1.0] * 60 + [0.5] * 40 + [0.0] * 20, [0.0] * 60 + [0.5] * 40 + [1.0] * 20
    assert (elo.Sprt(0, 50).accepted(good), elo.Sprt(0, 50).accepted(bad)) == (50, 0)
    assert elo.Sprt(0, 20).accepted([0.5, 1.0, 0.0] * 8) is None
    assert elo.Sprt(0, 10).accepted([0.5] * 20) is None  # few equal scores are no certainty
    assert elo.Sprt(0, 50).accepted([1.0] * 19) is None and elo.Sprt(0, 50).accepted([1.0] * 20) == 50
    assert elo.Sprt(0, 50).bounds() == pytest.approx((-2.944, 2.944), abs=0.001)
    assert elo.Sprt(0, 50, 0.01, 0.1).bounds() == pytest.approx((-2.293, 4.500), abs=0.001)


def test_errors_of_the_sequential_test_are_as_rare_as_asked() -> None:
    """Drawn from the two values that are tested, as pairs of independent games."""
    rng, test = random.Random(5), elo.Sprt(0, 60, 0.05, 0.05)
    for true in (0.0, 60.0):
        wrong = 0
        for _match in range(100):
            scores = list[float]()
            while (accepted := test.accepted(scores)) is None:
                scores.append(sum(rng.random() < elo.expected(true) for _ in range(2)) / 2)
            wrong += accepted != true
        assert wrong <= 12, true


def test_pairs_of_games() -> None:
    """The second text, computed by hand: mean 0.4875, sum of squared deviations 1.184375, variance (that + 0.25) / 21.

    A game's deviation is then 0.3696, that of the mean 0.05844.
    """
    many = [0.0] * 20 + [0.25] * 60 + [0.5] * 140 + [0.75] * 160 + [1.0] * 20
    assert elo.normalized_elo(many) == pytest.approx((64.91, 24.08), abs=0.01)
    few = [0.0] * 2 + [0.25] * 3 + [0.5] * 10 + [0.75] * 4 + [1.0]
    assert pairs_text("A", few) == "pairs of A: 2-3-10-4-1, normalized Elo -12 (-119 to +96), LOS 41.5 %"
    assert elo.superiority([0.5] * 20) == 0.5


RANGES = {"Base": (300, 0, 1000), "Move": (5, 0, 9)}


def test_tuning_moves_towards_the_winner_within_the_range() -> None:
    tuning = Tuning({"Base": 100.0, "Move": 2.0}, RANGES, 100, 1)
    before = dict(tuning.values)
    _pair, shift, raised, lowered = tuning.perturbed(0)
    assert all(raised[name] != lowered[name] for name in before)
    tuning.learn(0, shift, 2.0)
    assert all((tuning.values[name] - before[name]) * shift[name] > 0 for name in before)
    for pair in range(1, 3000):
        tuning.learn(pair, {"Base": -500.0, "Move": -50.0}, 2.0)
    assert tuning.values == {"Base": 0.0, "Move": 0.0} and tuning.text() == "Base=0 Move=0"


def test_tuning_plays_its_pairs_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both sides resign with Black, so nothing is learned. Each side gets its own value."""
    engine, kept = f"A={shlex.join(scripted(tmp_path / 'A'))}", tmp_path / "kept"
    words = [engine, "--nodes", "5", "--tune", "MultiPV=2", "--option", "MultiPV=5", "--keep", str(kept)]
    for games, pairs, processes in (("6", 3, "2"), ("10", 5, "1"), ("10", 5, "1")):
        assert command.main([*words, "--games", games, "--concurrency", processes]) == 0
        shown = capsys.readouterr()
        assert shown.out == "MultiPV=5\n" and "\n\n" not in f"\n{shown.err}"
        rows = KeptRows(kept / "pairs.jsonl").rows[1:]
        assert sorted(row["pair"] for row in rows) == [*range(pairs)] and not any(row["balance"] for row in rows)
    lines = (tmp_path / "A").read_text(encoding="utf-8").splitlines()
    values = [int(line.split()[-1]) for line in lines if line.startswith("setoption name MultiPV")]
    assert min(values) < 5 < max(values) and set(values) <= {*range(1, 10)}


@pytest.mark.parametrize(
    ("tune", "text"),
    [
        ("None=1", "--tune None: A declares no such number"),
        ("Style=1", "--tune Style: A declares no such number"),
        ("MultiPV=9", "--tune MultiPV: the step must be from 0 to 8, not 9"),
    ],
)
def test_an_option_that_cannot_be_tuned_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tune: str, text: str
) -> None:
    engine = f"A={shlex.join(scripted(tmp_path / 'A'))}"
    assert command.main([engine, "--nodes", "5", "--tune", tune, "--keep", str(tmp_path / "kept")]) == 2
    assert text in capsys.readouterr().err and not (tmp_path / "kept").exists()
