"""The program as a process: its start, its command line, its standard streams."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine.conftest import SMALL_TABLE
from tests.engine.fake_core import Script, make_core
from tests.engine.usi_transport import ROOT, Program
from tests.eval.nnue.reference import random_network
from tests.programs import INTERRUPTIBLE, quickest
from usi_engine.__main__ import main
from usi_engine.evaluation.network_file import Architecture, write_network
from usi_engine.game.loop import carry_out
from usi_engine.usi.output import Writer


def test_start_is_quick() -> None:
    """usiok within a second even on a busy machine, and nothing heavy imported before it."""
    assert quickest(seconds_to_usiok) < 1.0
    check = "import sys, usi_engine.__main__; print([n for n in sys.modules if n.startswith(('numpy', 'core_ext.'))])"
    heavy = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, cwd=ROOT)
    assert heavy.stdout.strip() == "[]"


def seconds_to_usiok() -> float:
    """From the start of the program."""
    begun = time.perf_counter()
    engine = Program()
    engine.send("usi")
    engine.expect("^usiok$")
    seconds = time.perf_counter() - begun
    engine.close()
    return seconds


READER = """
import sys
from usi_engine.game.loop import read

sys.platform = "win32"

class Source:
    lines = iter([b"usi\\n", b"setoption name Threads value 2\\n", b"isready\\n", b"quit\\n"])

    def readline(self, longest):
        print("numpy" in sys.modules)
        return next(self.lines)

class Session:
    def post(self, command):
        print(type(command).__name__, "numpy" in sys.modules)

read(Source(), Session())
"""


def test_numpy_is_loaded_between_two_reads() -> None:
    """On Windows, which cannot load it while a read blocks; before readyok, not during the first go."""
    done = subprocess.run([sys.executable, "-c", READER], capture_output=True, text=True, check=True, cwd=ROOT)
    printed = ["False", "Usi False", "False", "SetOption False", "False", "IsReady True", "True", "Quit True"]
    assert done.stdout.splitlines() == printed


WITHOUT_NUMPY = "import sys; sys.modules['numpy'] = None; from usi_engine.__main__ import main; sys.exit(main())"


@pytest.mark.parametrize(("evaluation", "refused"), [("nn.bin", False), ("kpp", True)])
def test_a_network_needs_neither_numpy_nor_a_cache(
    evaluation: str, refused: bool, tmp_path: Path, cache_folder: Path
) -> None:
    write_network(tmp_path / "nn.bin", random_network(Architecture("K+P", 128, 8, 8)))
    name = evaluation if refused else tmp_path / evaluation
    commands = [SMALL_TABLE, f"setoption name EvalFile value {name}", "isready", "position startpos", "go nodes 500"]
    start = [sys.executable, "-c", WITHOUT_NUMPY, *commands]
    done = subprocess.run(start, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "readyok" in done.stdout
    assert "bestmove" in done.stdout
    assert ("info string" in done.stdout) == refused, done.stdout
    assert not cache_folder.exists()


def test_from_another_folder(tmp_path: Path) -> None:
    """The program starts from any folder, be its name in Japanese and with a space."""
    folder = tmp_path / "将棋 エンジン"
    folder.mkdir()
    engine = Program(cwd=str(folder))
    engine.send("usi", "quit")
    engine.expect("^usiok$")
    engine.close()


def test_closed_output() -> None:
    """A GUI that closes the engine's output and goes: status 0, nothing on the error stream."""
    pipe = subprocess.PIPE
    engine = subprocess.Popen([sys.executable, "-m", "usi_engine"], stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT)
    assert engine.stdin and engine.stdout and engine.stderr
    engine.stdin.write(f"{SMALL_TABLE}\nusi\nisready\n".encode())
    engine.stdin.flush()
    for line in iter(engine.stdout.readline, b"readyok\n"):
        assert line, "the engine has gone"
    engine.stdout.close()
    engine.stdin.write(b"go infinite\nusi\nstop\n")
    engine.stdin.close()
    assert (engine.wait(10), engine.stderr.read()) == (0, b"")
    engine.stderr.close()


def test_closed_output_ends_a_search() -> None:
    """Nobody reads its answer, so it does not go on for ever, although the input stays open."""
    command = [sys.executable, "-m", "usi_engine", "setoption name PvInterval value 0", "go infinite"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT) as started:
        assert started.stdout and started.stderr
        assert started.stdout.readline()
        started.stdout.close()
        assert started.stderr.read() == b""
        started.wait(20)


def test_quit_as_an_argument_comes_after_what_stands_before_it() -> None:
    command = [sys.executable, "-m", "usi_engine", "setoption name USI_OwnBook value false", "go nodes 100000", "quit"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)
    assert int(re.findall(r" nodes (\d+)", done.stdout)[-1]) > 50_000


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
        (["getoption"], r"^MultiPV = 1$"),
        (["usi"], r"^usiok$"),
        (["help"], r"^quit .* end the program$"),
        (["position", "startpos", "moves", "7g7f", "sfen"], r"^lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/.* w - 2$"),
        (["position", "sfen", "4k4/9/4P4/9/9/9/9/9/9", "b", "G", "1", "checks"], r"^5c5b\+ .*G\*5b"),
        (["position", "startpos", "moves", "7g7f", "moves"], r"^1c1d "),
        (["position", "startpos", "side", "key"], r"^black$"),
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


def test_where_in_an_encoding_that_lacks_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Japanese folder on a Western Windows: question marks instead of an error."""
    program = tmp_path / "将棋" / "usi_engine"
    program.parent.mkdir()
    program.touch()
    written = io.BytesIO()
    western = io.TextIOWrapper(written, encoding="cp1252")
    monkeypatch.setattr(sys, "argv", [str(program), "--where"])
    monkeypatch.setattr(sys, "stdout", western)
    assert main() == 0
    assert b"??" in written.getvalue()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bogus"], "unknown command 'bogus'"),
        (["--bogus"], "unknown command '--bogus'"),
        (["go depth 2", "boo hoo"], "unknown command 'boo hoo'"),
        (["perft", "x"], "perft needs a depth of 1 or more, not 'x'"),
        (["position"], "give a position"),
        (["position", "startpos", "moves", "7g7g", "perft", "1"], "position refused: move 1 '7g7g': illegal move"),
        (["position sfen 9/9 b - 1", "d"], "position refused: "),
        (["b\nog"], "unknown command 'b\\x0aog'"),
        ([""], "unknown command ''"),
    ],
)
def test_unknown_arguments(arguments: list[str], message: str) -> None:
    """One line on the error stream, status 2; nothing is carried out."""
    command = [sys.executable, "-m", "usi_engine", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=60)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(message)


@pytest.mark.skipif(os.name == "nt", reason="sends Ctrl-C as Unix does")
@pytest.mark.parametrize("go", ["go", "go infinite", "go btime 3600000"])
def test_ctrl_c_ends_a_search_with_its_bestmove(go: str) -> None:
    command = [*INTERRUPTIBLE, "setoption name USI_OwnBook value false", "setoption name EvalFile value material", go]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as started:
        assert started.stdout is not None and started.stderr is not None
        while not started.stdout.readline().startswith("info depth"):
            assert started.poll() is None
        started.send_signal(signal.SIGINT)
        printed, errors = started.communicate(timeout=20)
    assert (started.returncode, errors) == (130, "")
    assert printed.splitlines()[-1].startswith("bestmove ")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_a_hint_for_people_alone() -> None:
    """On a terminal; a GUI starts the engine with a pipe."""
    import pty  # noqa: PLC0415  (not on Windows)

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "usi_engine"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, text=True, cwd=ROOT) as started:
        os.write(ours, b"HELP\n\nquit\n")
        printed, _ = started.communicate(timeout=20)
    os.close(ours)
    os.close(theirs)
    assert "help" in printed and "usi_engine play" in printed and printed.count("\n") == 2
    assert "info string unknown command 'HELP'; help lists them" in printed
    piped = subprocess.run(
        command, input="HELP\nquit\n", capture_output=True, text=True, check=True, cwd=ROOT, timeout=20
    )
    assert piped.stdout == ""


LIMITED = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
sys.argv[1:] = ["setoption name EvalFile value material", "setoption name USI_Hash value 4096",
                "setoption name Threads value 4", "isready", "go byoyomi 200", "go mate 100", "getoption Threads"]
runpy.run_module("usi_engine", run_name="__main__")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the address space")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer takes terabytes of it")
def test_too_little_memory() -> None:
    """Table and threads become fewer once, and then the engine plays."""
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)
    lines = done.stdout.splitlines()
    ready = lines.index("readyok")
    assert any("trying half of 4096 MB" in line for line in lines[:ready])
    assert not any("trying half" in line or "error" in line for line in lines[ready:])
    assert any(re.match("info depth .* pv ", line) for line in lines) and "checkmate nomate" in lines
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="closes streams as a Unix shell does")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("arguments", ["", "perft 2", "--help"])
def test_streams_that_are_closed(closed: str, arguments: str) -> None:
    """Closed input is input at its end; what is written to closed output is lost."""
    command = f"echo usi | {sys.executable} -m usi_engine {arguments} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, cwd=ROOT, timeout=30)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_pipes_that_do_not_block() -> None:
    """Input that is not there yet is not the end, and output that is not read at once is not lost."""
    (reading, out), (source, writing) = os.pipe(), os.pipe()
    os.set_blocking(out, False)
    os.set_blocking(source, False)
    with subprocess.Popen([sys.executable, "-m", "usi_engine"], stdin=source, stdout=out, cwd=ROOT) as started:
        os.close(out)
        os.close(source)
        time.sleep(0.5)
        os.write(writing, b"usi\n" * 100 + b"quit\n")
        time.sleep(0.5)
        with open(reading, "rb") as answers:
            assert answers.read().count(b"usiok\n") == 100
        os.close(writing)
        assert started.wait(10) == 0


def test_a_japanese_path_where_the_locale_is_ascii(tmp_path: Path) -> None:
    """It names the same file."""
    book = tmp_path / "定跡.db"
    book.write_text(
        "#YANEURAOU-DB2016 1.00\nsfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n9g9f\n"
    )
    ascii_locale = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    lines = ["setoption name EvalFile value material", f"setoption name BookFile value {book}", "go byoyomi 100", ""]
    command, pipe = [sys.executable, "-m", "usi_engine"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=ROOT, env=ascii_locale) as started:
        assert started.stdin is not None and started.stdout is not None
        started.stdin.write("\n".join(lines).encode())
        started.stdin.flush()
        # `quit` comes behind the answer: five seconds after it the engine ends, on a busy machine before it is ready.
        assert next(line for line in started.stdout if line.startswith(b"bestmove")) == b"bestmove 9g9f\n"
        started.stdin.write(b"quit\n")
    assert started.returncode == 0


def test_loading_is_not_on_the_clock_of_the_command_line() -> None:
    """The first search has its full time, however long loading takes."""
    script = Script(load_seconds=0.5, seconds=lambda depth: 0.02)
    written = io.BytesIO()
    carry_out(["go movetime 300"], Writer(written), lambda: make_core(script))
    lines = written.getvalue().decode().splitlines()
    assert max(int(line.split()[2]) for line in lines if line.startswith("info depth")) > 3
    assert sum(line.startswith("bestmove") for line in lines) == 1


@pytest.mark.parametrize("arguments", [["--help"], ["perft", "2"], ["learn", "--help"]])
def test_closed_output_of_a_command(arguments: list[str]) -> None:
    """As with `| head`: the program ends without an error message, even if its buffer is flushed only at the end."""
    command = [sys.executable, "-m", "usi_engine", *arguments]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=ROOT, env=buffered) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait(60) in (0, 1)


def test_a_command_that_lacks_a_library_is_one_line(tmp_path: Path) -> None:
    """As in the folder without Python, which leaves out the modules of some commands."""
    lacking = "import sys; sys.modules['usi_engine.csa.command'] = None; sys.argv = ['usi_engine', 'csa', 'host']; "
    start = lacking + "from usi_engine.__main__ import main; sys.exit(main())"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", start], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "this installation lacks 'usi_engine.csa.command', which the command needs\n"
