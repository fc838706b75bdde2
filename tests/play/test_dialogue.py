"""Games in the terminal with a scripted engine: commands, endings, clocks, saved games."""

from __future__ import annotations

import errno
import io
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.fake_core import Script
from tests.play.test_rules import DECLARABLE, MATE_IN_ONE, quick_opponent
from tests.programs import ROOT, run_command
from tests.records.common import japanese
from usi_engine.core import load_core
from usi_engine.play import command
from usi_engine.play.dialogue import Dialogue
from usi_engine.play.game import HANDICAPS, PersonGame, Settings
from usi_engine.play.library import load, save, side_and_level
from usi_engine.play.screen import Screen, View
from usi_engine.play.words import value_text
from usi_engine.records.tree import Record
from usi_engine.search.results import Score
from usi_engine.usi.protocol import STARTPOS

CORE = load_core()


class Played:
    """A dialogue with scripted input whose output is kept."""

    def __init__(self, lines: list[str], game: PersonGame, script: Script) -> None:
        self._lines: Iterator[str] = iter(lines)
        self.said: list[str] = []
        self.opponent = quick_opponent(self.said.append, script)
        view = View(Screen(), self._read)
        vars(view)["say"] = self.said.append
        self.dialogue = Dialogue(game, self.opponent, view)

    def run(self) -> Played:
        try:
            self.dialogue.run()
        finally:
            self.opponent.close()
        return self

    def _read(self, prompt: str) -> str:
        self.said.append(prompt)
        line = next(self._lines, None)
        if line is None:
            raise EOFError
        if line.startswith("wait "):
            time.sleep(float(line[5:]))
            return ""
        return line

    @property
    def moves(self) -> list[str]:
        return self.dialogue.game.moves

    def has(self, text: str) -> bool:
        return any(text in said for said in self.said)


def play(*lines: str, start: str = STARTPOS, **settings: Any) -> Played:
    """Play these lines to their end against an engine that answers with its first move."""
    quick = Script(seconds=lambda depth: 0.0)
    return Played(list(lines), new_game(start, **settings), quick).run()


def new_game(start: str = STARTPOS, **settings: Any) -> PersonGame:
    return PersonGame(Settings(**{"seconds": 0.05} | settings), Record(start))


def test_a_move_is_answered() -> None:
    played = play("７六歩", "2g2f")
    assert played.moves[::2] == ["7g7f", "2g2f"]
    assert len(played.moves) == 4
    assert played.has("▲７六歩 (7g7f)")
    assert played.dialogue.unsaved


def test_moves_of_the_book_are_named() -> None:
    """Also in a game without a clock."""
    played = Played(["7g7f"], new_game(), Script(seconds=lambda depth: 0.0))
    played.opponent.set("USI_OwnBook", "true")
    assert played.run().said[-2].startswith("2. △") and played.said[-2].endswith("), from the book")
    assert not play("7g7f").has("book")


@pytest.mark.parametrize(
    ("words", "side", "own"),
    [
        ("3c3d", "white", "3c3d"),  # the engine begins
        ("swap 3c3d", "black", "3c3d"),
        ("7g7f undo", "black", ""),
        ("7g7f 2g2f 待った", "black", "7g7f"),
        ("undo 3c3d undo", "white", ""),  # its first move stays
        ("7g7f resign undo", "black", "7g7f"),  # only the resignation
        ("7g7f resign undo undo", "black", ""),
        ("7g7f 3c3d undo 8c8d", "both", "7g7f 8c8d"),  # two people
        ("7g7f new quit 2g2f", "black", ""),
    ],
)
def test_moves_of_the_person(words: str, side: str, own: str) -> None:
    played = play(*words.split(), side=side)
    person = played.dialogue.game.person
    assert [move for number, move in enumerate(played.moves) if person in (None, number % 2)] == own.split()
    assert played.dialogue.game.end is None


@pytest.mark.parametrize(
    ("words", "start", "side", "said"),
    [
        ("undo", STARTPOS, "black", "no move to take back"),
        ("", "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1", "black", "Black wins: the king is mated."),
        ("G*5b undo", MATE_IN_ONE, "black", "Black wins: the king is mated."),
        ("G*5b 5i5h hint resign", MATE_IN_ONE, "black", "the game is over: undo, save, new or quit"),
        ("7g7f 投了", STARTPOS, "black", "White wins by resignation."),
        ("declare", STARTPOS, "black", "a win cannot be declared here"),
        ("declare", DECLARABLE, "black", "Black wins by declaration"),
        ("5i5h", DECLARABLE.replace(" b ", " w "), "white", "Black wins by declaration"),
        ("2h3h 8b7b 3h2h 7b8b " * 3, STARTPOS, "both", "A draw by fourfold repetition."),
    ],
)
def test_ends_of_the_game(words: str, start: str, side: str, said: str) -> None:
    assert play(*words.split(), start=start, side=side).has(said)


def test_the_engine_resigns() -> None:
    lost = Script(value=lambda depth: -30000)
    played = Played(["7g7f"], new_game(), lost)
    played.opponent.set("ResignValue", 1000)
    assert played.run().has("Black wins by resignation.")


def test_hint_is_at_full_strength_and_the_level_stays() -> None:
    played = play("hint", "level", level=3)
    hint = next(said for said in played.said if said.startswith("hint: "))
    assert "pawns" in hint
    assert played.has("level 3")


@pytest.mark.parametrize(
    ("score", "text"), [(Score(-35), "-0.3 pawns"), (Score(120), "+1.2 pawns"), (None, ""),
                        (Score.mate_in(5, 0), "mate in 5 plies"), (Score.mate_in(4, 1).pov(0), "mated in 4 plies")],
)  # fmt: skip
def test_values_in_words(score: Score | None, text: str) -> None:
    assert value_text(score) == text


def test_flip_board_and_level() -> None:
    played = play("board", "flip", "moves", "level 7", "level 21", "level x", "level " + "1" * 5000, "swap")
    boards = [text for text in played.said if "+---" in text]
    assert boards[0] == boards[1] != boards[2]
    assert len(boards) == 4 and len(played.moves) == 1  # one of them after `swap` and the engine's move
    assert boards[2].splitlines()[1].startswith(" ▲")
    assert all(played.has(text) for text in ("no moves yet", "level 7", "0 to 20", "not 'x'"))


def test_help_names_every_command() -> None:
    played = play("help")
    text = next(said for said in played.said if said.startswith("Moves: "))
    assert [name for name in played.dialogue._commands if name != "help" and name not in text] == []


def test_nonsense_is_named_and_the_game_goes_on() -> None:
    played = play("", "abc", "5e5d", "7g7f")
    assert played.has("'abc' is neither a command nor a move")
    assert played.moves[0] == "7g7f"


# ---- clocks ----


def test_a_clock_is_shown_and_runs_out() -> None:
    """In the prompt, and beside the board."""
    played = play("wait 0.4", "7g7f", "board", minutes=0.2 / 60)
    assert played.has("1. Black 0:00> ") and played.has("White wins on time.")
    assert played.said[-2].splitlines()[-1] == " ▲ Player 0:00  [-]"
    assert played.moves == []


@pytest.mark.parametrize(
    ("settings", "side", "label"),
    [({"byoyomi": 9.99}, "both", "1. Black byoyomi 9> "),
     ({"byoyomi": 30}, "black", " △ Komadori level 20 byoyomi 30  [-]"),
     ({"minutes": 1, "byoyomi": 30, "increment": 5}, "black", " △ Komadori level 20 1:05  [-]")],
)  # fmt: skip
def test_byoyomi_is_shown_after_main_time(settings: dict[str, Any], side: str, label: str) -> None:
    assert play(side=side, **settings).has(label)


def test_undo_gives_the_time_back() -> None:
    taken_back = ("wait 0.4", "3c3d", "undo")
    played = play("7g7f", *taken_back, *taken_back, "8c8d", side="both", minutes=0.01)
    assert played.moves == ["7g7f", "8c8d"]
    after_the_end = play("7g7f", "wait 0.7", "3c3d", "undo", "2g2f", side="both", minutes=0.01)
    assert after_the_end.has("Black wins on time.")
    assert after_the_end.moves == ["2g2f"]


@pytest.mark.parametrize("settings", [{"minutes": 0.1 / 60, "byoyomi": 5}, {"increment": 5}])
def test_byoyomi_or_increment_keep_the_game_going(settings: dict[str, Any]) -> None:
    played = play("wait 0.3", "7g7f", "2g2f", **settings)
    assert len(played.moves) >= 3
    assert played.dialogue.game.milliseconds[0] >= 300


# ---- saved games ----


@pytest.mark.parametrize("suffix", ["kif", "csa", "ki2", "jkf", "usi"])
def test_a_saved_game_is_resumed(suffix: str, tmp_path: Path) -> None:
    """With moves from every format; with side and level if the format has names. Without a suffix it is KIF."""
    path, name = tmp_path / f"game.{suffix}", tmp_path / ("game" if suffix == "kif" else f"game.{suffix}")
    played = play("3c3d", f"save {name}", side="white", level=4)
    assert not played.dialogue.unsaved
    record = load(path)
    assert list(record.moves) == played.moves
    assert suffix == "usi" or side_and_level(record) == ("white", 4)
    times = [1000 * (spent // 1000) for spent in played.dialogue.game.milliseconds]
    assert suffix != "kif" or [node.milliseconds for node in record.main_line] == times


@pytest.mark.parametrize(("undone", "end"), [(0, "   2 投了         ( 0:05"), (1, "   1 中断")])
def test_a_saved_game_keeps_its_date_and_its_end(undone: int, end: str, tmp_path: Path) -> None:
    path = tmp_path / "game.kifu"
    path.write_text("開始日時：2020/01/01\n   1 ７六歩(77)\n   2 投了   ( 0:05/00:00:05)\n", encoding="utf-8")
    game = PersonGame(Settings(), load(path))
    for _ in range(undone):
        game.pop()
    save(game, path)
    text = path.read_text(encoding="utf-8")
    assert "開始日時：2020/01/01\n" in text and end in text


def test_the_command_that_goes_on_has_drops_in_quotes() -> None:
    """Shells take `*` for a pattern."""
    start = "4k4/9/9/9/9/9/9/9/4K4 b P 1"
    assert f'"sfen {start} moves P*5e ' in play("P*5e", start=start).dialogue.game.continuation()


def test_another_file_is_replaced_only_at_the_second_command(tmp_path: Path) -> None:
    """The game's own file at once, but not that of the game before."""
    path, other = tmp_path / "game.kif", tmp_path / "other.kif"
    path.write_text("a diary")
    other.write_text("another")
    once = play(f"save {path}", f"save {other}")
    assert [said for said in once.said if "exists" in said] == [
        f"{name} exists and was not written for this game; repeat the command to replace it" for name in (path, other)
    ]
    assert (path.read_text(), other.read_text(), once.dialogue.unsaved) == ("a diary", "another", False)
    played = play(*[f"save {path}"] * 2, "7g7f", f"save {path}", "new", "2g2f", f"save {path}")
    assert sum(said.startswith("saved") for said in played.said) == 2
    assert load(path).moves[0] == "7g7f"


def test_save_without_a_name_goes_to_the_games_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named by the time at first, and the same file later, however it is written."""
    monkeypatch.chdir(tmp_path)
    played = play("save", "7g7f", "save")
    (path,) = tmp_path.iterdir()
    assert path.name.startswith("komadori-") and path.suffix == ".kif"
    assert load(path).moves[0] == "7g7f"
    assert sum(said.startswith("saved") for said in played.said) == 2
    again = play("save game", f'save "{tmp_path / "game.kif"}"')
    assert not any("exists" in said for said in again.said)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("game.txt", "name the format by the suffix"), ("", "is a folder; name a file"), ("a\0.kif", "zero byte"),
     ("none/game.kif", "there is no folder"), ("a" * 300, "was not saved"), ("file/game.kif", "there is no folder")],
)  # fmt: skip
def test_what_cannot_be_saved(name: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert play(f"save {tmp_path}/{name}").has(reason)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the person's file, not the temporary one, and the game goes on."""

    def fail(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path.parent / "tmp123.part"))

    monkeypatch.setattr("usi_engine.play.library.write_text", fail)
    played = play("7g7f", f"save {tmp_path}/game.kif", "2g2f")
    assert played.has(f"{tmp_path}/game.kif was not saved: No space left on device; save it under another name")
    assert played.dialogue.unsaved and len(played.moves) == 4


# ---- the command ----

Run = Callable[[list[str], str], tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command with these words and lines; returns status, output, errors."""

    def run(words: list[str], lines: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        status = command.main(["--eval", "material", "--seconds", "0.05", *words])
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("handicap", ["lance", "ten"])
def test_handicaps(run: Run, handicap: str) -> None:
    """White, the engine, moves first."""
    status, printed, _ = run(["--handicap", handicap], "")
    assert status == 0 and "2. Black> " in printed
    assert f"sfen {HANDICAPS[handicap]} moves " in printed


def test_another_evaluation_is_named_in_japanese(run: Run) -> None:
    with japanese():
        _, printed, errors = run(["--eval", "none.bin"], "")
    assert "'none.bin' を使えません：ファイルがありません; EvalFile <internal> を使います\n" in printed + errors


def test_going_on(run: Run) -> None:
    """The command printed at the end continues the game."""
    _, printed, _ = run(["--level", "2", "--side", "white"], "3c3d\n")
    words = next(line for line in printed.splitlines() if line.startswith("To go on: ")).split()[5:]
    assert words[:2] == ["startpos", "moves"]
    status, again, _ = run(words, "")
    assert status == 0 and "4. White> " in again and "level 2" in again


@pytest.mark.parametrize("suffix", ["kif", "csa", "jkf", "usi"])
@pytest.mark.parametrize("start", [STARTPOS, HANDICAPS["two"]])
def test_a_resumed_game_is_saved_to_its_file(run: Run, start: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"game.{suffix}"
    save(new_game(start, level=2), path)
    move = next(iter(CORE.board(start).legal_moves())) if start == STARTPOS else ""
    _, printed, _ = run([str(path)], f"{move}\nsave {path}\nsave\n")
    assert printed.count(f"saved as {path}") == 2
    assert not move or load(path).main_line[0].move == move


@pytest.mark.parametrize(
    "added",
    ["先手：羽生\n", "棋戦：竜王戦\n", "*a\n", "1 7六歩(77)\n2 中断\n*a\n", "1 7六歩(77)\n変化：1手\n1 2六歩(27)\n"],
)
def test_a_resumed_game_never_replaces_the_record_of_others(
    run: Run, added: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`save` writes no comments, variations and headers of other programs."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "game.kifu"
    path.write_text("手合割：平手\n" + added, encoding="utf-8")
    _, printed, _ = run([str(path), "--side", "black"], f"3g3f\nsave {path}\nsave\n")
    assert f"{path} exists" in printed and "saved as komadori" in printed


def test_the_program_ends_with_its_input() -> None:
    """Letters without colour, and without rich, if the output is neither UTF-8 nor a terminal."""
    python = [sys.executable, "-X", "utf8=0", "-X", "importtime"]
    program = [*python, "-m", "usi_engine", "play", "--level", "1", "--eval", "material"]
    environment = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}
    done = run_command(program, input="7g7f\n\xff\xfe\nflip\n", encoding="latin-1", env=environment)
    assert done.returncode == 0 and "rich" not in done.stderr
    assert all(line.startswith("import time:") for line in done.stderr.splitlines())
    assert "  9  8  7" in done.stdout and "\x1b" not in done.stdout
    assert "3. Black> " in done.stdout
