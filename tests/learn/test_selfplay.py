"""Self-play: resumable, reproducible, in order, varied."""

from dataclasses import replace
from pathlib import Path

import pytest

from core_ext.board import Board
from tests.learn.helpers import positions_of, read_games
from tests.records.common import RECORDS
from usi_engine.learn import player as player_module
from usi_engine.learn import selfplay
from usi_engine.learn.command import main, run
from usi_engine.learn.game import START, ScoredGame
from usi_engine.learn.game_file import complete_games
from usi_engine.learn.player import Player
from usi_engine.learn.selfplay import game_tasks
from usi_engine.learn.settings import PlayRules, SelfPlay
from usi_engine.records.games import load_games, opening_boards

ROOK_EN_PRISE = "4k4/9/9/4r4/9/9/9/4L4/4K4 b - 1"  # 5h5d captures it


@pytest.fixture
def piece_values(tmp_path: Path) -> Path:
    """An evaluation in a file."""
    path = tmp_path / "values.txt"
    path.write_text("P 150\n")
    return path


@pytest.mark.parametrize(("suffix", "cut"), [(".tsv", b"b\tscore\tstart"), (".games", b"KGAMES1\n\0")])
def test_a_run_resumes_and_repeats(tmp_path: Path, suffix: str, cut: bytes, piece_values: Path) -> None:
    """Two evaluations play."""
    whole, broken = tmp_path / f"whole{suffix}", tmp_path / f"broken{suffix}"
    one = SelfPlay(out=broken, games=6, weights=("material", str(piece_values)), nodes=60, longest=40)
    assert run(replace(one, out=whole, threads=2)) == {"games": 6}
    assert run(replace(one, games=2)) == {"games": 2}
    broken.write_bytes(broken.read_bytes() + cut)  # killed while writing
    assert run(one) == {"games": 4}
    assert whole.read_bytes() == broken.read_bytes()
    games = read_games(whole)
    assert len({game.key for game in games}) == 6
    assert len(positions_of(games)) > 60


def test_pairs_of_networks_play_in_turn() -> None:
    tasks = list(game_tasks(["startpos"], 3, 1, range(18)))
    pairs = [task[2:] for task in tasks]
    assert len(set(pairs[:9])) == 9 and pairs[:9] == pairs[9:]
    assert tasks[4:] == list(game_tasks(["startpos"], 3, 1, range(4, 18)))
    assert len({(start, *players) for start, _, *players in game_tasks("abcdef", 2, 1, range(24))}) == 24


def test_white_may_be_another_player() -> None:
    class Last(Player):
        def _choose(self, board: Board, *_: object) -> tuple[str, int | None]:
            return board.legal_moves()[-1], 7

    rules = PlayRules(nodes=40, longest=10, opening_plies=0)
    scores = Player(None, rules).play("startpos", 1, white=Last(None, rules)).scores
    assert scores[1::2] == [7] * 5 != scores[::2]


def test_only_a_side_that_both_see_ahead_wins() -> None:
    class Sure(Player):
        winner = 0

        def _choose(self, board: Board, *_: object) -> tuple[str, int | None]:
            return board.legal_moves()[-1], 1600 if board.turn == self.winner else -1600

    rules = PlayRules(longest=10, play_out=0.0)
    players = Sure(None, rules), Sure(None, rules)
    for own, others, ending in ((0, 1, (0, "length")), (1, 1, (-1, "score"))):
        players[0].winner, players[1].winner = own, others
        played = players[0].play("startpos", 1, white=players[1])
        assert (played.result, played.ending) == ending


def test_openings_are_positions_in_any_form_of_usi(tmp_path: Path) -> None:
    """A wrong line is named."""
    sfen, file = f"sfen {START}", tmp_path / "openings.sfen"
    lines = ["startpos moves 7g7f 3c3d", "position startpos", START, sfen, f"position {sfen} moves 7g7f"]
    file.write_text("\n".join(lines), encoding="utf-8-sig")  # with a byte order mark
    one, two = (Board.from_moves(moves).sfen() for moves in (["7g7f"], ["7g7f", "3c3d"]))
    assert [board.sfen() for board in opening_boards(file)] == [two, START, START, START, one]
    file.write_text("startpos\nstartpos moves 7g7f 7g7f\n")
    with pytest.raises(ValueError, match="line 2: move 2 '7g7f'"):
        list(opening_boards(file))
    file.write_text(f"b\tscore\t{'7g7f ' * 99}\n")  # a game
    with pytest.raises(ValueError, match=r"line 1: an sfen has .*: 'b score [7gf ]{70,90}$"):
        list(opening_boards(file))


def test_openings_are_the_first_moves_of_records() -> None:
    game = next(load_games(RECORDS / "game.kif"))
    (board,) = opening_boards(RECORDS / "game.kif")
    assert board.moves() == list(game.moves[:24]) and len(board.moves()) == 20


def random_plies(game: ScoredGame) -> list[int]:
    """Return the plies of random moves."""
    return [ply for ply, score in enumerate(game.scores) if score is None]


def test_random_moves_are_sprinkled_over_the_game() -> None:
    rules = PlayRules(nodes=40, longest=60, opening_plies=0, random_moves=0.25, random_score=99999)
    games = [Player(None, rules).play("startpos", number) for number in range(6)]
    found = [ply for game in games for ply in random_plies(game)]
    plies = sum(len(game.moves) for game in games)
    assert 0.15 < len(found) / plies < 0.35 and max(found) > 30


def test_no_random_moves_unless_asked_for_or_in_a_decided_position() -> None:
    game = Player(None, PlayRules(nodes=40, longest=40, opening_plies=6)).play("startpos", 1)
    assert random_plies(game) and max(random_plies(game)) < 6
    rules = PlayRules(nodes=40, longest=12, opening_plies=0, random_moves=1.0, random_score=300)
    assert len(random_plies(Player(None, rules).play("startpos", 1))) == 12
    assert not random_plies(Player(None, rules).play("4k4/9/9/9/9/9/9/9/4K4 b 2R2B4G 1", 1))


@pytest.mark.parametrize(("margin", "some"), [(30, False), (4000, True)])
def test_opening_moves_are_near_the_best_one(margin: int, some: bool) -> None:
    near = Player(None, PlayRules(nodes=500)).near_best(Board(ROOK_EN_PRISE), margin)
    assert "5h5d" in near
    assert (len(near) > 1) == some
    assert len(set(near)) == len(near) <= player_module.OPENING_LINES


def test_with_a_margin_all_opening_moves_are_random() -> None:
    rules = PlayRules(nodes=40, longest=12, opening_plies=6, opening_margin=50)
    games = [Player(None, rules).play("startpos", number) for number in range(8)]
    assert {tuple(random_plies(game)) for game in games} == {tuple(range(6))}
    assert len({tuple(game.moves[:6]) for game in games}) > 4


class Repeating:
    """A player that plays the same game at every first attempt."""

    def __init__(self, *_: object) -> None: ...

    def play(self, start: str, number: int, attempt: int = 0, _: object = None) -> ScoredGame:
        moves = Board(start).legal_moves()
        return ScoredGame(START, [moves[attempt % 3]], [number], 0, "length")


def test_a_known_game_is_replaced_by_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(selfplay, "Player", Repeating)
    path = tmp_path / "games.tsv"
    for games in (2, 5):
        run(SelfPlay(out=path, games=games, weights=("material",)))
    moves = [game.moves[0] for game in read_games(path)]
    first, second, third = Board().legal_moves()[:3]
    assert moves == [first, second, third, first, first]  # it has no fourth game
    assert [game.scores for game in read_games(path)] == [[number] for number in range(5)]


def test_scores_do_not_make_games_different(tmp_path: Path) -> None:
    path = tmp_path / "games.tsv"
    path.write_text("b\tscore\tstartpos\t7g7f - 3c3d 5\nw\tmate\tstartpos\t7g7f 7 3c3d 5\nb\tscore\tstartpos\t7g7f 7\n")
    keys = [game.key for game, _ in complete_games(path)]
    assert keys[0] == keys[1] != keys[2]


def test_random_moves_depend_on_the_attempt() -> None:
    player = Player(None, PlayRules(nodes=40, longest=8, random_share=1.0))
    first, again, other = (player.play("startpos", 3, attempt) for attempt in (0, 0, 1))
    assert first == again != other


@pytest.mark.parametrize(("share", "ending"), [("0", "score"), ("1", "mate")])
def test_a_lost_game_is_resigned_or_played_out(tmp_path: Path, share: str, ending: str) -> None:
    """Black has everything but one gold, too few to mate at once."""
    opening, out = tmp_path / "opening.sfen", tmp_path / "games.tsv"
    opening.write_text("3g1k3/9/9/9/9/9/9/9/R3K4 b 2B2SN 1\n")
    words = f"selfplay --openings {opening} --out {out} --games 1 --nodes 1000 --opening-plies 0 --play-out {share}"
    assert main(words.split()) == 0
    assert [(game.result, game.ending) for game in read_games(out)] == [(1, ending)]
