"""The USI conversation through both transports."""

from __future__ import annotations

import importlib.util
import io
import itertools
import os
import re
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.fake_core import Script, make_core
from tests.engine.transcripts import TRANSCRIPTS
from tests.engine.usi_transport import InProcess, Program, Transport
from usi_engine.core import CoreError
from usi_engine.output import Writer
from usi_engine.usi import carry_out

HAVE_CORE = importlib.util.find_spec("core_ext.engine") is not None
needs_core = pytest.mark.skipif(not HAVE_CORE, reason="core_ext.engine is not built")
ROOT = str(Path(__file__).resolve().parents[2])
SMALL = "setoption name USI_Hash value 4"


@pytest.fixture(params=["in_process", pytest.param("program", marks=needs_core)])
def engine(request: pytest.FixtureRequest) -> Iterator[Transport]:
    """An engine to talk to: with the scripted core, or the real program."""
    script = Script()
    transport: Transport = Program() if request.param == "program" else InProcess(lambda: make_core(script))
    yield transport
    transport.close()


def converse(engine: Transport, text: str) -> tuple[int, int]:
    """Hold a conversation; returns how many goes and go mates were sent."""
    goes = mates = 0
    for step in textwrap.dedent(text).strip().splitlines():
        kind, _, rest = step.partition(" ")
        if kind == ">":
            lines = rest.split("\\n")
            engine.send(*lines)
            goes += sum(line.split()[:1] == ["go"] for line in lines)
            mates += sum(line.split()[:2] == ["go", "mate"] for line in lines)
        elif kind == "<":
            engine.expect(rest)
        elif kind == "!":
            seconds, _, pattern = rest.partition(" ")
            engine.silent(pattern, float(seconds))
        else:
            assert kind == "|", step
            engine.end_input()
    return goes - mates, mates


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript(engine: Transport, name: str) -> None:
    """Each conversation holds; every go has one answer; the engine leaves when it is told to."""
    if name != "usi":
        engine.send(SMALL)
    goes, mates = converse(engine, TRANSCRIPTS[name])
    if "|" not in TRANSCRIPTS[name].split() and "quit" not in TRANSCRIPTS[name]:
        engine.send("quit")
    engine.drain()
    assert sum(line.startswith("bestmove") for line in engine.seen) == goes
    assert sum(line.startswith("checkmate") for line in engine.seen) == mates


def test_enough_transcripts() -> None:
    """The brief of these tests: sixty conversations at least."""
    assert len(TRANSCRIPTS) >= 60


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfusi\r\n",
        b"usi\r\n",
        b"  usi  \n",
        "setoption name BookFile value 定跡.db\nusi\n".encode("cp932"),
        "setoption name BookFile value 定跡.db\nusi\n".encode(),
        b"\x00\xff\xfe\nusi\n",
    ],
)
def test_bytes(engine: Transport, data: bytes) -> None:
    """BOM, line ends, encodings: nothing of that disturbs."""
    engine.send_bytes(data)
    engine.expect("^usiok$")


def test_last_line_without_its_end(engine: Transport) -> None:
    """Input may end in the middle of a line; what stands there counts."""
    engine.send_bytes(b"usi")
    engine.end_input()
    assert "usiok" in engine.drain()


@pytest.fixture
def program() -> Iterator[Program]:
    """The real program."""
    if not HAVE_CORE:
        pytest.skip("core_ext.engine is not built")
    transport = Program()
    yield transport
    transport.close()


def test_stop_is_answered_at_once(program: Program) -> None:
    """Stop to bestmove: 20 ms at most, as the middle of 15; in a deep search, with two threads."""
    program.send("setoption name Threads value 2", SMALL, "isready")
    program.expect("^readyok$")
    delays = []
    for number in range(15):
        program.send("go infinite")
        program.silent("^bestmove", 0.02 * number)
        begun = time.perf_counter()
        program.send("stop")
        program.expect("^bestmove")
        delays.append(time.perf_counter() - begun)
    assert statistics.median(delays) < 0.020, delays


@pytest.mark.parametrize(("go", "most"), [("go byoyomi 100", 0.1), ("go btime 0 wtime 0 byoyomi 1000", 1.0)])
def test_time_is_kept(program: Program, go: str, most: float) -> None:
    """Answers come before the flag falls and no sooner than after a fifth of the byoyomi (a machine that makes us late
    makes us careful); the middle one of five, as other programs may hold the processor.
    """
    program.send(SMALL, "isready")
    program.expect("^readyok$")
    taken = []
    for _ in range(5 if most < 1 else 1):
        begun = time.perf_counter()
        program.send(go)
        program.expect("^bestmove")
        taken.append(time.perf_counter() - begun)
    assert most / 5 < statistics.median(taken) < most, taken


def test_start_is_quick() -> None:
    """usiok within a second even on a busy machine, and nothing heavy imported before it."""
    begun = time.perf_counter()
    engine = Program()
    engine.send("usi")
    engine.expect("^usiok$")
    assert time.perf_counter() - begun < 1.0
    engine.close()
    check = "import sys, usi_engine.__main__; print([n for n in sys.modules if n.startswith(('numpy', 'core_ext.'))])"
    heavy = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, cwd=ROOT)
    assert heavy.stdout.strip() == "[]"


READER = """
import sys
from usi_engine.usi import read

class Source:
    lines = iter([b"usi\\n", b"setoption name Threads value 2\\n", b"isready\\n", b"quit\\n"])

    def readline(self):
        print("numpy" in sys.modules)
        return next(self.lines)

class Session:
    def post(self, command):
        print(type(command).__name__, "numpy" in sys.modules)

read(Source(), Session())
"""


def test_numpy_is_loaded_between_two_reads() -> None:
    """While a read waits, Windows lets nobody load it, and before readyok, or the first go would wait for it."""
    done = subprocess.run([sys.executable, "-c", READER], capture_output=True, text=True, check=True, cwd=ROOT)
    told = ["False", "Usi False", "False", "SetOption False", "False", "IsReady True", "True", "Quit True"]
    assert done.stdout.splitlines() == told


def test_from_another_folder(tmp_path: Path) -> None:
    """The program starts from any folder, be its name in Japanese and with a space."""
    folder = tmp_path / "将棋 エンジン"
    folder.mkdir()
    engine = Program(cwd=str(folder))
    engine.send("usi", "quit")
    engine.expect("^usiok$")
    engine.close()


@needs_core
def test_output_that_nobody_reads() -> None:
    """A GUI that closes the engine's output and goes: status 0, nothing on the error stream."""
    pipe = subprocess.PIPE
    engine = subprocess.Popen([sys.executable, "-m", "usi_engine"], stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT)
    assert engine.stdin and engine.stdout and engine.stderr
    engine.stdin.write(f"{SMALL}\nusi\nisready\n".encode())
    engine.stdin.flush()
    for line in iter(engine.stdout.readline, b"readyok\n"):
        assert line, "the engine has gone"
    engine.stdout.close()
    engine.stdin.write(b"go infinite\nusi\nstop\n")
    engine.stdin.close()
    assert (engine.wait(10), engine.stderr.read()) == (0, b"")
    engine.stderr.close()


@needs_core
@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (["perft", "2"], r"^nodes 900 time"),
        (["go", "depth", "3"], r"^bestmove [1-9]"),
        (["position startpos moves 7g7f", "d", "go depth 2"], r"^bestmove [1-9]"),
        (["position", "startpos", "moves", "7g7f", "d", "go", "depth", "2"], r"w - 2$"),
        (["bench", "2"], r"^nodes \d+ time \d+ nps \d+$"),
        (["--version"], r"^Komadori \d"),
        (["--help"], r"^usi_engine --where"),
        (["--where"], r"usi_engine"),
        (["eval"], r"^total -?\d+$"),
        (["getoption"], r"^Threads = 1$"),
        (["usi"], r"^usiok$"),
    ],
)
def test_command_line(arguments: list[str], pattern: str) -> None:
    """Arguments are carried out as commands; the status is 0."""
    done = subprocess.run(
        [sys.executable, "-m", "usi_engine", *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=60,
    )
    assert any(re.search(pattern, line) for line in done.stdout.splitlines()), done.stdout
    assert done.stderr == ""


def test_loading_is_not_on_the_clock_of_the_command_line() -> None:
    """The first search after the installation has its time, however long the weights take."""
    script = Script(load_seconds=0.5, seconds=lambda depth: 0.02)
    written = io.BytesIO()
    carry_out(["go movetime 300"], Writer(written), lambda: make_core(script))
    lines = written.getvalue().decode().splitlines()
    assert max(int(line.split()[2]) for line in lines if line.startswith("info depth")) > 3
    assert sum(line.startswith("bestmove") for line in lines) == 1


@needs_core
@pytest.mark.parametrize("arguments", [["--help"], ["perft", "2"], ["learn", "--help"]])
def test_a_reader_that_has_gone_is_no_fault(arguments: list[str]) -> None:
    """As with `| head`: the program ends without a word, though what it wrote may leave its buffer only at the end."""
    command = [sys.executable, "-m", "usi_engine", *arguments]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=ROOT, env=buffered) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait(60) in (0, 1)


FakeFactory = Callable[[Script], InProcess]


@pytest.fixture
def fake() -> Iterator[FakeFactory]:
    """Makes engines with scripted cores."""
    made: list[InProcess] = []

    def make(script: Script) -> InProcess:
        made.append(InProcess(lambda: make_core(script)))
        made[-1].send(SMALL)
        return made[-1]

    yield make
    for transport in made:
        transport.close()


def depth_of(line: str) -> int:
    """The depth an info line tells."""
    return int(line.split()[2])


def test_mate_found_ends_the_search_in_a_game(fake: FakeFactory) -> None:
    """A mate that the depth has proved is played at once, whatever the clock still holds."""
    engine = fake(Script(value=lambda depth: 31997 if depth >= 5 else 50))
    engine.send("go btime 600000 wtime 600000")
    last = engine.expect("^bestmove", patience=2)
    assert last and depth_of(engine.seen[-2]) == 5
    assert " score mate 3 " in engine.seen[-2]


def test_mated_is_negative(fake: FakeFactory) -> None:
    """Being mated in four plies is `mate -4`."""
    engine = fake(Script(value=lambda depth: -31996))
    engine.send("go btime 600000 wtime 600000")
    engine.expect("^info .* score mate -4 ")
    engine.expect("^bestmove [1-9]")


def test_resign_value(fake: FakeFactory) -> None:
    """In a game a value at or below -ResignValue resigns, in analysis it does not."""
    engine = fake(Script(value=lambda depth: -1500))
    engine.send("setoption name ResignValue value 1500", "go byoyomi 100")
    engine.expect("^bestmove resign$")
    engine.send("go depth 2")
    engine.expect("^bestmove [1-9]")


def test_fail_high_and_low_are_reported(fake: FakeFactory) -> None:
    """A jump out of the window prints its bound, then the exact value; no bound stands right before pv."""
    engine = fake(Script(value=lambda depth: 800 if depth == 6 else 0))
    engine.send("go infinite")
    low = engine.expect("lowerbound")
    assert depth_of(low) == 6 and "lowerbound nodes" in low
    exact = engine.expect("^info depth 6 ")
    while "bound" in exact:
        exact = engine.expect("^info depth 6 ")
    assert "score cp 800 nodes" in exact
    assert "upperbound nodes" in engine.expect("upperbound")
    engine.send("stop")
    engine.expect("^bestmove")
    assert "bound" not in engine.seen[-2] and "multipv 1 pv" in engine.seen[-2]


def test_windows_widen_until_they_hold(fake: FakeFactory) -> None:
    """Depth 6 is searched in growing windows, the last of which holds the value."""
    script = Script(value=lambda depth: 500 if depth == 6 else 0)
    engine = fake(script)
    engine.send("go depth 6")
    engine.expect("^bestmove")
    tried = [(alpha, beta) for depth, alpha, beta, _ in script.windows if depth == 6]
    assert len(tried) >= 3 and all(new[1] >= old[1] for old, new in itertools.pairwise(tried))
    assert tried[-1][0] < 500 < tried[-1][1]


def test_pv_interval(fake: FakeFactory) -> None:
    """In a game a fast search prints only its last line; with PvInterval 0 it prints every depth."""
    engine = fake(Script(seconds=lambda depth: 0.0))
    engine.send("go depth 9")
    engine.expect("^bestmove")
    assert [depth_of(line) for line in engine.seen if line.startswith("info depth")] == [9]
    engine.seen.clear()
    engine.send("setoption name PvInterval value 0", "go depth 9")
    engine.expect("^bestmove")
    assert [depth_of(line) for line in engine.seen if line.startswith("info depth")] == [*range(1, 10), 9]


def test_consideration_mode_prints_all(fake: FakeFactory) -> None:
    """ConsiderationMode prints every depth too."""
    engine = fake(Script(seconds=lambda depth: 0.0))
    engine.send("setoption name ConsiderationMode value true", "go depth 4")
    engine.expect("^info depth 1 ")
    engine.expect("^bestmove")


def test_stop_in_mid_depth_keeps_the_last_depth(fake: FakeFactory) -> None:
    """A depth that was cut short does not spoil the result of the one before."""
    engine = fake(Script(seconds=lambda depth: 0.0 if depth < 4 else 30.0))
    engine.send("go infinite")
    engine.expect("^info depth 3 ")
    engine.send("stop")
    engine.expect("^bestmove", patience=1)
    assert depth_of(engine.seen[-2]) == 3


def test_memory_that_cannot_be_had(fake: FakeFactory) -> None:
    """The table is made smaller, one info string a step, and the game goes on."""
    engine = fake(Script(most_megabytes=8))
    engine.send("setoption name USI_Hash value 32", "isready")
    engine.expect("^info string 32 MB cannot be had")
    engine.expect("^info string 16 MB cannot be had")
    engine.expect("^readyok$")
    engine.send("getoption USI_Hash", "go depth 1")
    engine.expect("^USI_Hash = 8$")
    engine.expect("^bestmove")


def test_loading_keeps_guis_patient(fake: FakeFactory) -> None:
    """While loading takes long, empty lines come; a stop and a quit that come then do no harm."""
    engine = fake(Script(load_seconds=2.3))
    engine.send("isready")
    engine.expect("^$")
    engine.expect("^$")
    engine.expect("^readyok$")


def test_new_game_clears_only_what_was_used(fake: FakeFactory) -> None:
    """Table and histories are cleared between games, and not before anything was searched."""
    script = Script()
    engine = fake(script)
    engine.send("isready", "usinewgame", "go depth 1", "usinewgame", "isready")
    for pattern in ("^readyok$", "^bestmove", "^readyok$"):
        engine.expect(pattern)
    assert script.made == {"tables": 1, "workers": 1, "cleared": 2, "new_games": 1}


def test_settings_reach_the_core(fake: FakeFactory) -> None:
    """Draw values, move limit, rule and useless moves are handed to the workers."""
    script = Script()
    engine = fake(script)
    for name, value in (("DrawValueBlack", -100), ("DrawValueWhite", 50), ("MaxMovesToDraw", 320)):
        engine.send(f"setoption name {name} value {value}")
    engine.send("setoption name EnteringKingRule value CSARule24", "setoption name GenerateAllLegalMoves value true")
    engine.send("go depth 1")
    engine.expect("^bestmove")
    wanted = {"draw_black": -100, "draw_white": 50, "max_moves": 320, "declaration": "CSARule24", "include_all": True}
    assert script.configured == wanted


def test_a_crash_in_the_search_still_answers(fake: FakeFactory) -> None:
    """An error in the search is one info string and a legal move."""
    engine = fake(Script(crash=True))
    engine.send("go depth 3")
    engine.expect("^info string error in search: RuntimeError")
    engine.expect("^bestmove [1-9]")
    engine.send("isready")
    engine.expect("^readyok$")


def test_mate_solver_is_used(fake: FakeFactory) -> None:
    """With a solver in the core, its verdict is printed."""
    place = "position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1"
    for solution, answer in ((("mate", ["G*2b"]), "G*2b"), (("nomate", []), "nomate"), (("unknown", []), "timeout")):
        engine = fake(Script(solution=solution))
        engine.send(place, "go mate infinite")
        assert engine.expect("^checkmate") == f"checkmate {answer}"


def test_mate_solver_is_stopped_by_its_clock(fake: FakeFactory) -> None:
    """`go mate MS` that finds nothing in time is a timeout."""
    engine = fake(Script(solution=("nomate", []), solve_seconds=30))
    engine.send("position sfen 7k1/9/9/9/9/9/9/9/4K4 b 2G 1", "go mate 50")
    assert engine.expect("^checkmate", patience=1) == "checkmate timeout"


def test_a_core_that_cannot_run() -> None:
    """On the wrong processor the engine says so once a command, and lives."""
    def load() -> None:
        raise CoreError("this processor lacks AVX2")

    engine = InProcess(load)  # type: ignore[arg-type]
    engine.send("usi", "isready")
    engine.expect("^usiok$")
    engine.expect("^info string this processor lacks AVX2$")
    engine.expect("^readyok$")
    engine.send("go btime 1000 wtime 1000")
    engine.expect("^bestmove resign$")
    engine.send("d", "quit")
    engine.expect("^info string this processor lacks AVX2$")
    engine.close()
