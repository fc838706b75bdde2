"""The client against a scripted server: every end of a game, cut lines, refusals, clocks, comments."""

import time
from dataclasses import replace

import pytest
from rsshogi.record import Record

from tests.csa.conftest import ClientRunner
from tests.csa.server import START_POSITION, Step, Talk, game, script, summary
from usi_engine.csa import record as records
from usi_engine.csa.client import Client, SessionError
from usi_engine.usi.process import EngineProcess

# A king in the enemy camp, with rooks and bishops: Black may declare.
ENTERED = """P1+OU+KI+KI+GI+GI+KE+KE+KY+KY
P2+FU+FU+FU *  *  *  *  *  *
P9 *  *  *  *  *  *  * -KI-OU
P+00HI00HI00KA00KA00FU00FU00FU
+"""
resigns = game("resigned")  # the client resigns at once
refuse = script("LOGIN us secret", "> LOGIN:incorrect")


WON, LOST = ("win", "lose")
# Games: the engine's answers, the server's steps, our result, the end of the record, a part of a message.
GAMES: dict[str, tuple[list[str], tuple[Step, ...], str, str, str]] = {
    "won": (["7g7f"], ("+7776FU 1", "win"), WON, "%TORYO\nT1", "won at move 1 (RESIGN): "),
    "resigned": (["resign"], ("resigned",), LOST, "%TORYO\nT1", "lost at move 0 (RESIGN): "),
    "lost on time": (["think"], ("> #TIME_UP", "> #LOSE"), LOST, "%TIME_UP", "(TIME_UP)"),
    "lost on time at the opponent's turn": (["7g7f"], ("+7776FU", "> #TIME_UP", "> #LOSE"), LOST, "%CHUDAN", ""),
    **{
        f"{cause}, {outcome}": (["7g7f"], ("+7776FU", f"> #{cause}", f"> #{outcome}"), result, mark, f"({cause})")
        for cause, outcome, result, mark in (
            ("SENNICHITE", "DRAW", "draw", "%SENNICHITE"), ("OUTE_SENNICHITE", "LOSE", LOST, "%+ILLEGAL_ACTION"),
            ("OUTE_SENNICHITE", "WIN", WON, "%ILLEGAL_MOVE"), ("ILLEGAL_MOVE", "WIN", WON, "%ILLEGAL_MOVE"),
            ("MAX_MOVES", "CENSORED", "draw", "%MAX_MOVES"), ("JISHOGI", "DRAW", "draw", "%JISHOGI"),
        )
    },
    "broken off": (["7g7f"], ("+7776FU", "> #CHUDAN"), "unknown", "%CHUDAN", "broken off at move 1 (CHUDAN)"),
    "an illegal answer of the engine": (["7g7e"], ("resigned",), LOST, "%TORYO\nT1", "illegal move '7g7e'"),
    "an illegal move of the opponent, whose verdict follows": (
        ["7g7f"], ("+7776FU", "> -2288UM,T1", "> #ILLEGAL_MOVE", "> #WIN"), WON, "%ILLEGAL_MOVE", "move '-2288UM'",
    ),
    "a move that the server makes for the client": (
        ["think", "7g7f"], ("> +2726FU,T9", "> -3334FU,T1", "+7776FU", "win"), WON, "%TORYO\nT1", "",
    ),
    "an engine that ends": (["die", "7g7f"], ("+7776FU", "win"), WON, "%TORYO\nT1", "starting it again"),
    "an illegal reply is not pondered": (
        ["7g7f ponder 7g7f"], ("+7776FU", "> -3334FU,T1", "resigned"), LOST, "%TORYO\nT1", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GAMES)
def test_games(runner: ClientRunner, name: str) -> None:
    """The engine is told the result, after its last search has ended."""
    answers, steps, result, end, said = GAMES[name]
    run = runner.play(answers, game(*steps), ponder=True)
    assert run.client.tally == {result: 1}
    assert run.gameovers() == [result]
    assert run.record().endswith(f"\n{end}\n")
    assert any(said in note for note in run.notes), run.notes
    assert ("stop" in run.received) == ("think" in answers) and not any("go ponder" in go for go in run.goes())
    assert run.received.count("usi") == 1 + answers.count("die")


@pytest.mark.parametrize(
    ("rule", "option", "told", "sent"),
    [("", "", "NoEnteringKing", "%TORYO"), ("Jishogi 9.9", "", "NoEnteringKing", "%TORYO"),
     ("Jishogi 1.1", "", "CSARule27", "%KACHI"), ("", "CSARule27H", "CSARule27H", "%KACHI")],
)  # fmt: skip
def test_a_win_is_declared_under_the_announced_rule(
    runner: ClientRunner, rule: str, option: str, told: str, sent: str
) -> None:
    runner.options = {"enteringkingrule": option} if option else {}
    steps = (sent, f"> {sent},T1", "> #RESIGN", "> #LOSE")
    run = runner.play(["win"], game(*steps, position=ENTERED, limits=f"Declaration:{rule}" if rule else "Max_Moves:9"))
    assert [line for line in run.received if "EnteringKingRule" in line][-1].endswith(f" value {told}")
    said = f"rule of declaration is '{rule}': no win is declared without --option EnteringKingRule="
    assert any(said in note for note in run.notes) == (sent == "%TORYO")


def test_a_game_and_its_record(runner: ClientRunner) -> None:
    run = runner.play(["7g7f", "2g2f"], game("+7776FU 1", "> -3334FU,T3", "+2726FU 2", "win"))
    assert {"usinewgame", "position startpos moves 7g7f 3c3d", "setoption name MaxMovesToDraw value 256"} <= {
        *run.received
    }
    record = Record.from_csa_str(run.record())
    assert [(str(entry.move), entry.time_ms) for entry in record.moves] == [
        ("7g7f", 1000), ("3c3d", 3000), ("2g2f", 2000),
    ]  # fmt: skip
    assert record.result.is_black_win()
    assert "N+us\nN-them\n$EVENT:test+1\n" in run.record()
    assert run.client.summary() == "1 game: 1 won"


def test_declaration(runner: ClientRunner) -> None:
    run = runner.play(["win"], game("%KACHI", "> %KACHI,T1", "> %KACHI", "> #JISHOGI", "> #WIN", position=ENTERED))
    assert run.client.tally == {"win": 1}
    assert run.record().endswith("%KACHI\nT1\n")
    assert {"P2+FU+FU+FU *  *  *  *  *  * ", "P3 *  *  *  *  *  *  *  *  * "} <= {*run.record().splitlines()}
    assert Record.from_csa_str(run.record()).result.is_win_by_declaration()


def test_cut_line_and_resumed_game(runner: ClientRunner) -> None:
    """The server offers the game again with its moves and times."""
    cut = script("begin", "+7776FU 3")
    position = f"{START_POSITION}\n+7776FU,T3\n-3334FU,T4"
    run = runner.play(["7g7f", "2g2f"], cut, game("+2726FU", "win", position=position))
    assert run.client.tally == {"CUT": 1, "win": 1}
    assert run.gameovers() == ["unknown", "win"]
    assert run.goes()[-1] == "go btime 9000 wtime 8000 binc 2000 winc 2000"
    assert [str(entry.move) for entry in Record.from_csa_str(run.record()).moves] == ["7g7f", "3c3d", "2g2f"]
    assert any("the connection was cut during test+1" in note for note in run.notes)


def test_cut_line_keeps_the_record(runner: ClientRunner) -> None:
    """A game that is not resumed has its record up to the cut; the server may still hold the old line."""

    def cut(talk: Talk) -> None:
        talk.begin("test+cut")
        talk.move("+7776FU")

    run = runner.play(["7g7f", "resign"], cut, refuse, resigns)
    assert run.client.tally == {"CUT": 1, "lose": 1}
    assert run.record("test+cut").splitlines()[-3:] == ["+7776FU", "T0", "%CHUDAN"]


def test_pauses_grow_until_a_login(runner: ClientRunner) -> None:
    cut = script("begin", "+7776FU")
    run = runner.play(["7g7f", "7g7f", "resign"], cut, refuse, refuse, cut, resigns)
    pauses = [note.split()[-2] for note in run.notes if "connecting again" in note]
    assert pauses == ["0.01", "0.02", "0.04", "0.01"]


def test_no_server(runner: ClientRunner) -> None:
    """Nobody listens at the port, or the server refuses the login."""
    client = Client(replace(runner.settings, port=1), print)
    with pytest.raises(SessionError, match=r"no connection to 127\.0\.0\.1:1: it refuses the connection$"):
        client.run(EngineProcess(["none"], {}, client.post))
    with pytest.raises(SessionError, match="refuses the login of 'us'"):
        runner.play([], refuse)


def test_conditions_that_cannot_be_played(runner: ClientRunner) -> None:
    """The client refuses them; the opponent refuses the next offer; the third one is played."""
    broken = summary("bad", position=START_POSITION + "\n+7775FU,T1")
    refused = ("log_in", f"> {broken}", "REJECT bad", "> REJECT:bad by us")
    other = (f"> {summary('test+0')}", "AGREE test+0", "> REJECT:test+0 by them", "is_silent")
    run = runner.play(["resign"], script(*refused, *other, "offer", "resigned", "log_out"))
    assert run.client.tally == {"lose": 1}
    assert any("refused bad: illegal move: '+7775FU'" in note for note in run.notes), run.notes
    assert any("them refused test+0" in note for note in run.notes)


def test_two_games_in_a_row(runner: ClientRunner) -> None:
    """On one connection, and on a new one if the server closes it after each game."""
    second = (f"> {summary('test+2', '-')}", "AGREE test+2", "> START:test+2", "> +7776FU,T1", "resigned", "is_silent")
    third = (f"> {summary('test+3')}", "AGREE test+3", "> START:test+3", "resigned")
    two, closing = script("begin", "resigned", *second), script("log_in", *third)
    run = runner.play(["resign"] * 3, two, closing, games=3)
    assert run.client.tally == {"lose": 3}
    assert run.received.count("isready") == 4  # one before the login
    assert run.received.count("usinewgame") == 3
    assert sorted(path.name for path in run.folder.iterdir()) == ["test+1.csa", "test+2.csa", "test+3.csa"]
    assert not any("connecting again" in note for note in run.notes)


@pytest.mark.parametrize(
    ("time", "goes"),
    [
        ("Total_Time:10\nByoyomi:0\nIncrement:2",
         ["btime 10000 wtime 10000 binc 2000 winc 2000", "btime 9000 wtime 12000 binc 2000 winc 2000"]),
        ("Total_Time:2\nByoyomi:5\nIncrement:0",
         ["btime 2000 wtime 2000 byoyomi 5000", "btime 0 wtime 2000 byoyomi 5000"]),
        ("Total_Time:0\nByoyomi:0", ["btime 0 wtime 0 byoyomi 10000"] * 2),
    ],
)  # fmt: skip
def test_clocks(runner: ClientRunner, time: str, goes: list[str]) -> None:
    """Increments, byoyomi, no limit; our move takes 3 s, the opponent's none."""
    run = runner.play(["7g7f", "resign"], game("+7776FU 3", "> -3334FU,T0", "resigned", time=time))
    assert run.goes() == [f"go {words}" for words in goes]


def test_floodgate_comment(runner: ClientRunner) -> None:
    """Black's view of the value, and the line from the reply on, in the move and in the record."""
    comments = []

    def comment(talk: Talk) -> None:
        talk.begin(color="-")
        for move, reply in (("+7776FU", "-3334FU"), ("+2726FU", "-8384FU")):
            talk.send(f"{move},T1")
            comments.append(talk.move(reply))
        talk.play("win", "log_out")

    first = "info depth 9 score cp 55 nodes 10 pv 3c3d 2g2f 8c8d 9z9z | 3c3d"
    run = runner.play([first, "info depth 3 score mate 5 pv 8c8d | 8c8d"], comment)
    assert comments == ["* -55 +2726FU -8384FU", "* -31995"]
    assert "-3334FU\nT0\n'** -55 +2726FU -8384FU\n" in run.record()
    evals = [entry.engine_info.eval for entry in Record.from_csa_str(run.record()).moves if entry.engine_info]
    assert evals == [-55, -31995]


def test_ponder(runner: ClientRunner) -> None:
    """A hit continues; a miss is stopped and its answer dropped."""
    replies = game("+7776FU 1", "> -3334FU,T1", "+2726FU 1", "> -4344FU,T1", "resigned")
    run = runner.play(["7g7f ponder 3c3d", "2g2f ponder 8c8d", "resign"], replies, ponder=True)
    begin = run.received.index("usinewgame")
    times = "btime 11000 wtime 10000 binc 2000 winc 2000"
    assert [line for line in run.received[begin:] if not line.startswith("go btime")] == [
        "usinewgame", "position startpos", "position startpos moves 7g7f 3c3d", f"go ponder {times}", "ponderhit",
        "position startpos moves 7g7f 3c3d 2g2f 8c8d", "go ponder btime 12000 wtime 11000 binc 2000 winc 2000",
        "stop", "position startpos moves 7g7f 3c3d 2g2f 4c4d", "gameover lose", "quit",
    ]  # fmt: skip
    assert run.client.tally == {"lose": 1}


def test_engine_that_ends_before_the_game(runner: ClientRunner) -> None:
    """It is started again during the agreement."""
    late = script("log_in", "agree", lambda talk: time.sleep(0.3), "> START:test+1", "+7776FU", "win", "log_out")
    run = runner.play(["leave", "7g7f"], late)
    assert run.client.tally == {"win": 1}
    assert run.received.count("usi") == 2


def test_interrupt(runner: ClientRunner) -> None:
    """The first interrupt lets the game end, the second asks the server to break it off."""
    steps = ("+7776FU", runner.interrupt, "> -3334FU,T1", "+2726FU", runner.interrupt, "%CHUDAN", "> #CHUDAN")
    run = runner.play(["7g7f", "2g2f"], game(*steps), games=5)
    assert run.client.tally == {"unknown": 1}
    assert run.record().endswith("%CHUDAN\n")


def test_interrupt_between_agreement_and_start(runner: ClientRunner) -> None:
    """The game is played: it was agreed to. The second interrupt leaves at once."""
    agreed = ("log_in", "agree", runner.interrupt)
    played = script(*agreed, lambda talk: time.sleep(0.2), "> START:test+1", "+7776FU", "win", "log_out")
    assert runner.play(["7g7f"], played, games=5).client.tally == {"win": 1}
    assert not runner.play([], script(*agreed, runner.interrupt, "log_out"), games=5).client.tally


def test_interrupt_before_the_agreement(runner: ClientRunner) -> None:
    """The game is refused if the engine was not ready yet."""

    def refused(talk: Talk) -> None:
        talk.log_in()
        assert runner.client is not None
        runner.client._leaving.set()  # as from another thread, while the engine prepares
        talk.send(summary())
        talk.expect(r"REJECT test\+1|LOGOUT")

    assert not runner.play([], refused, games=5).client.tally


def test_no_fault_of_a_record_ends_the_client(runner: ClientRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OverflowError("too large")

    monkeypatch.setattr(records, "write_new", fail)
    run = runner.play(["7g7f"], game("+7776FU", "win"))
    assert run.client.tally == {"win": 1}
    assert run.notes[-1] == "won at move 1 (RESIGN): not saved: too large; position startpos moves 7g7f"
    assert run.client.lost_records == 1
    assert run.notes.count("test+1 is not saved while it is played: too large") == 1
