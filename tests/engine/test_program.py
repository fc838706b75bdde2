"""The program as a process: start, command line, standard streams; full disks, the longest games, free memory."""

import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from core_ext.board import Board
from tests.engine.conftest import SMALL_TABLE, ScriptedEngine
from tests.engine.fake_core import Script, make_core
from tests.engine.usi_transport import Program
from tests.eval.nnue.networks import random_network
from tests.positions import MATE_IN_ONE, MOST_MOVES
from tests.programs import ENGINE, ROOT, output_of, quickest, run_command, run_engine
from tests.shogi.slow_shogi import START
from usi_engine import memory
from usi_engine.__main__ import main
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.names import INTERNAL
from usi_engine.evaluation.network_file import write_network
from usi_engine.game import loop
from usi_engine.game.loop import carry_out
from usi_engine.memory import free_megabytes
from usi_engine.search.threads import WORKER_MEGABYTES
from usi_engine.usi.options import usable_cores
from usi_engine.usi.output import Writer
from usi_engine.usi.protocol import Word


def test_usiok_comes_within_a_second() -> None:
    """Even on a busy machine."""

    def seconds_to_usiok() -> float:
        begun = time.perf_counter()
        with closing(Program()) as engine:
            engine.ask("usi", answer="^usiok$")
            return time.perf_counter() - begun

    assert quickest(seconds_to_usiok) < 1.0


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
        print(command.name, "numpy" in sys.modules)

read(Source(), Session())
"""


def test_numpy_is_loaded_between_two_reads() -> None:
    """Windows cannot load it while a read blocks. It comes before readyok, not during the first go."""
    printed = ["False", "USI False", "False", "Threads False", "False", "IS_READY True", "True", "QUIT True"]
    assert output_of(READER).splitlines() == printed


WITHOUT_NUMPY = "import sys; sys.modules['numpy'] = None; from usi_engine.__main__ import main; sys.exit(main())"


@pytest.mark.parametrize(("evaluation", "refused"), [("nn.bin", False), ("kpp", True)])
def test_a_network_needs_neither_numpy_nor_a_cache(
    evaluation: str, refused: bool, tmp_path: Path, cache_folder: Path
) -> None:
    write_network(tmp_path / "nn.bin", random_network(parse_name("SFNN_kp_64_7_16")))
    name = evaluation if refused else tmp_path / evaluation
    commands = [SMALL_TABLE, f"setoption name EvalFile value {name}", "isready", "position startpos", "go nodes 500"]
    printed = output_of(WITHOUT_NUMPY, *commands)
    assert "readyok" in printed and "bestmove" in printed
    assert ("info string" in printed) == refused, printed
    assert not cache_folder.exists()


def test_an_uncompiled_clone_says_what_to_do(tmp_path: Path) -> None:
    """Python finds it in the working folder before the installed package."""
    for package in ("usi_engine", "core_ext"):
        unwanted = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__", "data")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=unwanted)
    advice = f"could not load the compiled core: '{tmp_path}' is not compiled; start Python in another folder, or"
    done = run_engine(cwd=tmp_path, input="isready\n")
    assert done.stdout.startswith("info string " + advice) and done.stdout.endswith("make run\nreadyok\n")
    for words in (["mate", MATE_IN_ONE], ["csa", "--help"], ["perft", "1"]):
        done = run_engine(*words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(advice)
    done = run_command([sys.executable, "-c", "from usi_engine import Board"], cwd=tmp_path)
    assert f"CoreError: {advice}" in done.stderr


def test_quit_as_an_argument_comes_after_what_stands_before_it() -> None:
    options = ["setoption name USI_OwnBook value false", "setoption name Threads value 1"]
    done = run_engine(*options, "go nodes 60000", "quit")
    assert int(re.findall(r" nodes (\d+)", done.stdout)[-1]) > 50_000


def test_command_line() -> None:
    """Arguments are carried out as commands, in their order; the status is 0."""
    words = "usi getoption help eval bench 2 perft 2 position startpos moves 7g7f side"
    done = run_engine(*words.split(" "), "go depth 2")
    patterns = ["^usiok$", "^MultiPV = 1$", "^quit .* end the program$", r"^total -?\d+$", r"^nodes \d+ time \d+",
                "^nodes 900 time", "^white$", "^bestmove [1-9]"]  # fmt: skip
    lines = iter(done.stdout.splitlines())
    assert all(any(re.search(pattern, line) for line in lines) for pattern in patterns), done.stdout
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("argument", "pattern"),
    [
        ("--version", r"^Komadori \d\S+ \((native|portable|x86-64-v[23]) build, (AVX|SSE|portable)"),
        ("--where", "usi_engine"),
    ],
)
def test_information(
    argument: str, pattern: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["pytest", argument])
    assert main() == 0
    assert re.search(pattern, capsys.readouterr().out, re.MULTILINE)


def test_where_in_an_encoding_that_lacks_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Question marks replace a Japanese folder on a Western Windows."""
    program = tmp_path / "将棋" / "usi_engine"
    program.parent.mkdir()
    program.touch()
    written = io.BytesIO()
    western = io.TextIOWrapper(written, encoding="cp1252")
    monkeypatch.setattr(sys, "argv", [str(program), "--where"])
    monkeypatch.setattr(sys, "stdout", western)
    assert main() == 0
    assert b"??" in written.getvalue()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_a_hint_for_people_alone() -> None:
    import pty  # noqa: PLC0415  (not on Windows)

    ours, theirs = pty.openpty()
    with subprocess.Popen(ENGINE, stdin=theirs, stdout=subprocess.PIPE, text=True, cwd=ROOT) as started:
        os.write(ours, b"HELP\n\nquit\n")
        printed, _ = started.communicate(timeout=20)
    os.close(ours)
    os.close(theirs)
    assert "help" in printed and "usi_engine play" in printed and printed.count("\n") == 2
    assert "info string unknown command 'HELP'; help lists them" in printed
    assert run_engine(input="HELP\n").stdout == ""


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
    """Table and threads are reduced once, and then the engine plays."""
    lines = output_of(LIMITED).splitlines()
    ready = lines.index("readyok")
    assert any("trying half of 4096 MB" in line for line in lines[:ready])
    assert not any("trying half" in line or "error" in line for line in lines[ready:])
    assert any(re.match("info depth .* pv ", line) for line in lines) and "checkmate nomate" in lines


@pytest.mark.skipif(os.name == "nt", reason="closes streams as a Unix shell does")
@pytest.mark.parametrize(
    "arguments", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "perft 2 >&-", "perft 2 <&- 2>&-", "--help >&-"]
)
def test_closed_streams(arguments: str) -> None:
    """Closed input is input at its end; output to a closed stream is lost."""
    command = f"echo usi | {sys.executable} -m usi_engine {arguments}"
    done = run_command(["sh", "-c", command])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_pipes_that_do_not_block() -> None:
    """Input that has not come yet is not the end, and output that is not read at once is not lost."""
    (reading, out), (source, writing) = os.pipe(), os.pipe()
    os.set_blocking(out, False)
    os.set_blocking(source, False)
    with subprocess.Popen(ENGINE, stdin=source, stdout=out, cwd=ROOT) as started:
        os.close(out)
        os.close(source)
        time.sleep(0.3)
        os.write(writing, b"usi\n" * 100 + b"quit\n")
        time.sleep(0.3)
        with open(reading, "rb") as answers:
            assert answers.read().count(b"usiok\n") == 100
        os.close(writing)
        assert started.wait(10) == 0


def test_a_japanese_folder_where_the_locale_is_ascii(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "将棋 エンジン"
    folder.mkdir()
    book = folder / "定跡.db"
    book.write_text(f"#YANEURAOU-DB2016 1.00\nsfen {START}\n9g9f\n")
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}.items():
        monkeypatch.setenv(name, value)
    with closing(Program(cwd=str(folder))) as engine:
        lines = "setoption name USI_OwnBook value true", f"setoption name BookFile value {book}", "go byoyomi 100"
        assert engine.ask(*lines) == "bestmove 9g9f"


def test_loading_is_not_on_the_clock_of_the_command_line(no_network: None) -> None:
    script = Script(load_seconds=0.5, seconds=lambda depth: 0.02)
    written = io.BytesIO()
    carry_out(["go movetime 300"], Writer(written), lambda: make_core(script))
    lines = written.getvalue().decode().splitlines()
    assert max(int(line.split()[2]) for line in lines if line.startswith("info depth")) > 3
    assert sum(line.startswith("bestmove") for line in lines) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["mate", "--help"], ["mate", MATE_IN_ONE], ["convert", "GAME", "--to", "usi"], ["perft", "2"],
     ["play", "--eval", "material"]],
)  # fmt: skip
def test_output_to_a_full_disk_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    game = tmp_path / "game.usi"
    game.write_text("startpos moves 7g7f\n")
    words = [str(game) if word == "GAME" else word for word in arguments]
    with open("/dev/full", "wb") as full:
        done = run_engine(*words, stdout=full, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (1, "cannot write the output: No space left on device\n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /dev/zero")
@pytest.mark.parametrize("words", ["convert /dev/zero --to usi", "mate /dev/zero", "suite /dev/zero"])
def test_a_file_without_end_is_one_line(words: str) -> None:
    done = run_engine(*words.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("/dev/zero: ")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["perft", "2"], ["learn", "--help"], ["setoption name PvInterval value 0", "go infinite"]]
)
def test_closed_output(arguments: list[str]) -> None:
    """As with `| head`: no error message, even if the buffer is flushed only at the end; a search ends."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen([*ENGINE, *arguments], stdout=pipe, stderr=pipe, cwd=ROOT, env=buffered) as started:
        assert started.stdout and started.stderr
        if "go infinite" in arguments:
            assert started.stdout.readline()
        started.stdout.close()
        assert started.stderr.read() == b""
        assert started.wait(60) in (0, 1)


@pytest.mark.parametrize(("command", "number"), [("suite", signal.SIGINT), ("match", signal.SIGTERM)])
def test_a_signal_that_a_command_does_not_expect(monkeypatch: pytest.MonkeyPatch, command: str, number: int) -> None:
    """It raises an exception, so that files are closed and locks removed."""
    tool = SimpleNamespace(main=lambda _words: signal.raise_signal(number))
    monkeypatch.setattr("usi_engine.__main__.import_module", lambda _name: tool)
    monkeypatch.setattr(sys, "argv", ["usi_engine", command])
    usual = signal.getsignal(signal.SIGTERM)
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell
    try:
        status: object = main()
    except SystemExit as end:
        status = end.code
    finally:
        signal.signal(signal.SIGTERM, usual)
        signal.signal(signal.SIGINT, ignored)
    assert status == 128 + number


MATCH = "match usi_engine B=usi_engine --nodes 5 --scheduler localhost:1 --keep"


@pytest.mark.parametrize(
    ("module", "words", "message"),
    [
        ("usi_engine.csa.command", "csa", "this command is not part of this installation; "),
        ("distributed", MATCH, "--scheduler needs `pip install 'komadori[cluster]'`"),
    ],
)
def test_a_command_that_lacks_a_library_is_one_line(tmp_path: Path, module: str, words: str, message: str) -> None:
    """The folder without Python leaves out the modules of some commands."""
    lacking = f"import sys; sys.modules['{module}'] = None; from usi_engine.__main__ import main; sys.exit(main())"
    done = run_command([sys.executable, "-c", lacking, *words.split(), str(tmp_path / "kept")])
    assert done.returncode != 0
    assert done.stderr.startswith(message) and done.stderr.count("\n") == 1


# ---- concurrent starts, the longest games, free memory ----

AT_ONCE = """
import sys
from pathlib import Path
from tests.eval.test_weights import Arrays
from usi_engine.evaluation import cache
path, content = Path(sys.argv[1]), bytes(range(256)) * 2000
for _ in range(20):
    empty = Arrays(bytes(len(content)))
    if cache.fetch(empty, path):
        assert empty.arrays == [content]
    else:
        cache.keep(Arrays(content), path)
    if sys.argv[2] == "0":
        path.unlink(missing_ok=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
def test_four_starts_at_once_on_an_empty_cache(tmp_path: Path) -> None:
    """One start deletes the file repeatedly; the others always read a complete one."""
    path = tmp_path / "cache" / "x.unfolded"
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda number: output_of(AT_ONCE, str(path), str(number)), range(4)))
    assert done == [""] * 4
    assert len(list(path.parent.iterdir())) <= 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer takes far more memory")
def test_512_threads() -> None:
    """The engine starts eight for each core: it is ready soon, without 8 GB of memory, and answers `stop` at once."""
    engine = Program(evaluation=INTERNAL)
    engine.send("setoption name Threads value 512", "setoption name USI_Hash value 16", "isready")
    begun = time.monotonic()
    engine.expect("^readyok$", timeout=30)
    assert time.monotonic() - begun < 15  # 2 s on two idle cores
    assert engine.megabytes() < 1000
    most = min(8 * usable_cores(), 512)
    said = f"info string 512 threads are too many for {usable_cores()} cores; searching with {most}"
    assert (said in engine.seen) == (most < 512)
    assert quickest(lambda: seconds_to_stop(engine), 0.3, tries=5) < 0.3
    engine.ask("getoption Threads", answer=f"^Threads = {most}$")
    engine.close()


def seconds_to_stop(engine: Program) -> float:
    engine.send("position startpos", "go infinite")
    engine.silent("^bestmove", 0.5)
    begun = time.monotonic()
    engine.send("stop")
    engine.expect("^bestmove", timeout=60)
    return time.monotonic() - begun


def test_games_of_1000_and_5000_moves(program: Program) -> None:
    rng, board = random.Random(13), Board()  # the first seed whose random game is so long
    for _ in range(1000):
        board.push(rng.choice(board.legal_moves()))
    moves = board.moves()
    for plies in range(0, 1001, 250):
        program.ask(f"position startpos moves {' '.join(moves[:plies])}", "go nodes 300")
    shuffle = " ".join(["2h1h", "8b9b", "1h2h", "9b8b"] * 1250)
    program.ask(f"position startpos moves {shuffle}", "go byoyomi 100", "go mate 100", "eval",
                answer=["^bestmove [1-9]", "^checkmate", "^total "])  # fmt: skip


def test_a_line_for_each_of_593_moves(program: Program) -> None:
    """In the position with the most legal moves, each line begins with another move."""
    program.send("setoption name MultiPV value 593", "setoption name GenerateAllLegalMoves value true")
    program.send(f"position sfen {MOST_MOVES}", "go depth 2")
    program.expect("^bestmove", timeout=60)
    last = [line for line in program.seen if " multipv " in line][-593:]
    assert [int(line.split(" multipv ")[1].split()[0]) for line in last] == list(range(593, 0, -1))
    assert len({line.split(" pv ")[1].split()[0] for line in last}) == 593


def test_an_error_of_the_reader_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the program would wait for a command for ever."""

    def fail(line: str) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(loop, "parse", fail)
    posted = list[object]()
    with pytest.raises(RecursionError):
        loop.read(io.BytesIO(b"usi\n"), SimpleNamespace(post=posted.append))  # type: ignore[arg-type]
    assert posted == [Word.QUIT]


# ---- free memory by /proc and cgroups, and the tables that fit into it ----

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse the allocation")

MB = 1 << 20


def free(folder: Path, files: dict[str, str]) -> int | None:
    """Write the files into the folder; return the free megabytes by them."""
    meminfo = "MemTotal: 8192000 kB\nMemFree: 1 kB\nMemAvailable: 4096000 kB\n"
    for name, text in {"proc/meminfo": meminfo, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    return free_megabytes(folder / "proc", folder / "cgroup")


def cgroup(folder: str, limit: str) -> dict[str, str]:
    """Return the files of a cgroup v2 with a limit in MB; 200 MB are in use, 30 of them by files."""
    bytes_of = limit if limit == "max" else str(int(limit) * MB)
    stat = f"anon 1\nfile 2\ninactive_file {20 * MB}\nactive_file {10 * MB}\n"
    texts = {"memory.max": f"{bytes_of}\n", "memory.current": f"{200 * MB}\n", "memory.stat": stat}
    return {f"cgroup/{folder}/{name}": text for name, text in texts.items()}


VERSION_1 = {
    "proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/ab\n0::/\n",
    "cgroup/memory/docker/ab/memory.limit_in_bytes": str(500 * MB),
    "cgroup/memory/docker/ab/memory.usage_in_bytes": str(100 * MB),
    "cgroup/memory/docker/ab/memory.stat": f"total_inactive_file {20 * MB}\ntotal_active_file {30 * MB}\n",
}


@LINUX
@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({}, 4000),
        (VERSION_1, 450),
        # One container in another: the tightest limit counts; file pages in use can be freed.
        *(({"proc/self/cgroup": "0::/outer/inner\n"} | cgroup("outer", outer) | cgroup("outer/inner", inner), left)
          for inner, outer, left in (("max", "max", 4000), ("1024", "max", 854), ("2048", "1024", 854),
                                     ("100", "1024", 0), ("9000", "9000", 4000))),
        # Files that cannot be read are skipped.
        *(({"proc/self/cgroup": text}, 4000) for text in ("0::/\n", "", "4:memory\n", "0::/../..\n", "nonsense\n")),
    ],
)  # fmt: skip
def test_free_memory(tmp_path: Path, files: dict[str, str], left: int) -> None:
    assert free(tmp_path, files) == left
    assert free_megabytes(tmp_path / "none", tmp_path / "none") is None and (free_megabytes() or 0) > 0


@LINUX
def test_a_table_beyond_the_free_memory(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not tried, because Linux would kill the engine while it fills the table."""
    monkeypatch.setattr(memory, "free_megabytes", lambda: 100)
    script = Script()
    engine = scripted(script)
    halved = [f"no memory .* of {size} MB: 100 MB are free; trying half of {size} MB$" for size in (128, 64)]
    commands = "isready", "getoption USI_Hash", "go depth 1"
    answer = [*halved, "^readyok$", "^USI_Hash = 32$", "^bestmove"]
    engine.ask("setoption name USI_Hash value 128", *commands, answer=answer)
    assert script.made["tables"] == 1
    monkeypatch.setattr(memory, "free_megabytes", lambda: 10)  # a small table is always tried
    engine.ask("setoption name USI_Hash value 64", *commands, answer=["^USI_Hash = 16$", "^bestmove [1-9]"])


@LINUX
def test_threads_beyond_the_free_memory(scripted: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_megabytes", lambda: memory.RESERVE + 3 * WORKER_MEGABYTES + 1)
    engine = scripted(Script())
    fewer = "^info string could not start 8 threads; searching with 4$"
    commands = "setoption name Threads value 8", "isready", "getoption Threads", "go depth 1"
    engine.ask(*commands, answer=[fewer, "^Threads = 4$", "^bestmove"])
