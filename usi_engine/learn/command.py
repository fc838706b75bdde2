"""The command line of learning: `usi_engine learn corpus|train|join|distil|selfplay|off-game|rescore|export ...`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.core import CoreError, load_core, text_of
from usi_engine.evaluation.names import INTERNAL, KPP, MATERIAL, WeightsError
from usi_engine.learn.nnue.network_card import MOST_TEMPO
from usi_engine.usi.arguments import real, spin, whole

NO_LEAVES = "none"
DESCRIPTION = (
    "Train the evaluation on games: corpus, then train. join makes one network of several, distil scores a corpus by "
    "them; selfplay, off-game and rescore make training data; export writes it for other trainers."
)
GAMES_HELP = "files of games"
MOST_EPOCHS = 1000
MOST_SAMPLES = 50  # positions of one search of off_game.SEARCH_NODES
MOST_PLIES = 6  # that are searched without pruning late moves
MOST_NODES = 10**8  # of a search: its table takes 160 bytes a node
if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def parser() -> argparse.ArgumentParser:
    """All commands and their options with defaults."""
    top = argparse.ArgumentParser("usi_engine learn", description=DESCRIPTION)
    commands = top.add_subparsers(dest="command", required=True)
    add_corpus(commands)
    add_train(commands)
    add_join(commands)
    add_distil(commands)
    add_selfplay(commands)
    add_off_game(commands)
    add_rescore(commands)
    add_export(commands)
    return top


def add_corpus(commands: Commands) -> None:
    corpus = commands.add_parser("corpus", help="games to training positions")
    corpus.add_argument(
        "games", nargs="*", type=Path, help="files: .tsv[.xz|.gz] .csa .kif .sbinpack .psv .bin .hcpe .hcpe3"
    )
    corpus.add_argument("--also", nargs="+", default=[], type=Path, help="more files, from which no game is held out")
    corpus.add_argument("--out", type=Path, required=True, help="folder of the corpus")
    corpus.add_argument("--every", type=whole(1), default=50, help="one game in so many is held out (default 50)")
    corpus.add_argument("--seed", type=whole(), default=1, help="of the order of the positions (default 1)")
    corpus.add_argument(
        "--threads", type=spin("Threads"), default=1, help="processes; the corpus is the same (default 1)"
    )
    corpus.add_argument(
        "--leaves",
        metavar="WEIGHTS",
        default=INTERNAL,
        help=f"add the quiescence leaf of each position, by these weights, KPP or nn.bin (default {INTERNAL}); "
        f"`{NO_LEAVES}`: only positions in which the chosen move is no capture",
    )


def add_train(commands: Commands) -> None:
    train = commands.add_parser("train", help="corpus to weights; resumes from its checkpoint")
    train.add_argument("corpus", type=Path)
    train.add_argument(
        "--out", type=Path, required=True, help="the weights file, .kpp or of nnue .bin; the checkpoint is in FILE.run/"
    )
    train.add_argument(
        "--model",
        choices=["nnue", "P", "KP", "PP", "KPP", "KPPT"],
        default="KPPT",
        help="a network (nnue), or KPP with its tempo terms (KPPT, the default) or with fewer terms",
    )
    train.add_argument(
        "--network", default="256x2-32-32", help="sizes for nnue: width and hidden units (default 256x2-32-32)"
    )
    train.add_argument("--features", choices=["K+P", "HalfKP"], default="K+P", help="inputs for nnue (default K+P)")
    train.add_argument(
        "--epochs", type=whole(1, MOST_EPOCHS), default=0, help="default: nnue 10, KPP 3, with --warm-start 1"
    )
    train.add_argument("--threads", type=int, choices=[1, 2], default=1, help="the weights are the same with either")
    train.add_argument("--positions", type=whole(), default=0, help="use only so many (default: all)")
    train.add_argument(
        "--results", type=real(0, 1), default=0.0, help="share of the game result in the target, 0 to 1 (default 0)"
    )
    train.add_argument(
        "--tempo",
        type=whole(0, MOST_TEMPO),
        default=120,
        help="centipawns of each score for the right to move, left out of a network's values (default 120; 0: none)",
    )
    train.add_argument(
        "--warm-start",
        metavar="WEIGHTS",
        default="",
        help=f"continue from these weights, a file or, with --model nnue, {INTERNAL}, else {KPP}, at small rates; "
        "a network may be narrower than --network",
    )
    train.add_argument(
        "--rate", type=real(0, 1), default=0.0, help="highest rate for nnue (default 0.004, with --warm-start 0.0008)"
    )
    train.add_argument(
        "--decay",
        type=real(0, 1),
        default=0.3,
        help="of the weights of a network's first layer, times the rate (default 0.3; 0: none)",
    )
    train.add_argument("--note", default="", help="a line for the card (the metadata) of the weights")


def add_join(commands: Commands) -> None:
    join = commands.add_parser("join", help="one network of several, whose value is their mean")
    join.add_argument("networks", nargs="+", help=f"files, or {INTERNAL}")
    join.add_argument("--out", type=Path, required=True, help="the new network, .bin")


def add_distil(commands: Commands) -> None:
    distil = commands.add_parser("distil", help="a corpus scored by the mean value of several networks")
    distil.add_argument("corpus", type=Path)
    distil.add_argument("--networks", nargs="+", required=True, help=f"files, or {INTERNAL}")
    distil.add_argument("--out", type=Path, required=True, help="folder of the new corpus")
    distil.add_argument(
        "--share", type=real(0, 1), default=0.85, help="of the mean value; the rest is the score (default 0.85)"
    )
    distil.add_argument(
        "--searched", metavar="GAMES", nargs="+", type=Path, default=[],
        help="add positions that searches of these games evaluate: some 600 of each of two searches a game",
    )  # fmt: skip
    distil.add_argument(
        "--searched-share", type=real(0, 1), default=1.0, help="of these games, chosen by chance (default 1: all)"
    )
    distil.add_argument(
        "--weights", default=INTERNAL, help="of these searches, best the network that will learn (default the packaged)"
    )
    distil.add_argument("--threads", type=spin("Threads"), default=1, help="games searched at a time (default 1)")
    distil.add_argument("--seed", type=whole(), default=1, help="of the choice of games and positions (default 1)")


def add_selfplay(commands: Commands) -> None:
    play = commands.add_parser("selfplay", help="self-play games; resumes where the file ends")
    play.add_argument("--out", type=Path, required=True, help="a .tsv file")
    play.add_argument("--games", type=whole(1), required=True, help="games in the file when it is complete")
    play.add_argument(
        "--openings", type=Path, help="a file of sfens or `startpos moves ...` (default: the start position)"
    )
    play.add_argument(
        "--opening-plies", type=whole(), default=8, help="plies after the opening that chance may choose (default 8)"
    )
    play.add_argument(
        "--opening-margin",
        metavar="CENTIPAWNS",
        type=whole(),
        default=0,
        help="choose all of these from the moves so near to the best one (default 0: half of them, from all moves)",
    )
    play.add_argument(
        "--random-moves", type=real(0, 1), default=0.0, help="share of random moves after the opening (default 0)"
    )
    play.add_argument(
        "--play-out", type=real(0, 1), default=0.1, help="share of the games that go on to mate (default 0.1: a tenth)"
    )
    add_search_options(play, nodes=1500)


def add_off_game(commands: Commands) -> None:
    off_game = commands.add_parser("off-game", help="positions that searches of games evaluate, labelled by a search")
    off_game.add_argument("games", nargs="+", type=Path, help=GAMES_HELP)
    off_game.add_argument("--out", type=Path, required=True, help="a .tsv file; resumes where it ends")
    off_game.add_argument("--positions", type=whole(1), default=20, help="of each game (default 20)")
    off_game.add_argument(
        "--samples", type=whole(1, MOST_SAMPLES), default=4, help="positions of each search, at most (default 4)"
    )
    off_game.add_argument(
        "--plies",
        type=whole(1, MOST_PLIES),
        default=0,
        help="score by a search of so many plies that prunes and reduces no late move (default: by --nodes)",
    )
    add_search_options(off_game, nodes=200)


def add_rescore(commands: Commands) -> None:
    again = commands.add_parser("rescore", help="games with the scores of new searches; moves and results stay")
    again.add_argument("games", nargs="+", type=Path, help=GAMES_HELP)
    again.add_argument("--out", type=Path, required=True, help="a .tsv file; resumes where it ends")
    again.add_argument(
        "--share", type=real(0, 1), default=1.0, help="of the positions; others keep their score (default 1)"
    )
    add_search_options(again, nodes=800)


def add_export(commands: Commands) -> None:
    export = commands.add_parser("export", help="scored positions of games for other trainers, as psv or hcpe")
    export.add_argument("games", nargs="+", type=Path, help=GAMES_HELP)
    export.add_argument("--out", type=Path, required=True, help="a file ending in .psv, .bin (the same) or .hcpe")


def add_search_options(command: argparse.ArgumentParser, nodes: int) -> None:
    """The options of a command that searches."""
    command.add_argument("--nodes", type=whole(1, MOST_NODES), default=nodes, help=f"of each search (default {nodes})")
    command.add_argument("--threads", type=spin("Threads"), default=1, help="games treated at a time (default 1)")
    command.add_argument("--weights", default=INTERNAL, help=f"weights file, nn.bin, {INTERNAL}, {KPP} or {MATERIAL}")
    command.add_argument("--seed", type=whole(), default=1, help="of the random choices (default 1)")


def run_corpus(chosen: argparse.Namespace) -> None:
    from usi_engine.learn.corpus.build import build_corpus  # noqa: PLC0415  (numpy and the core, when they are needed)

    if not chosen.leaves:
        raise ValueError(f"--leaves '': expected weights, or `{NO_LEAVES}`")
    if chosen.leaves == MATERIAL:
        raise ValueError(f"--leaves {chosen.leaves}: piece values alone do not find quiescence leaves")
    card = build_corpus(
        chosen.games,
        chosen.out,
        chosen.every,
        chosen.seed,
        also=chosen.also,
        leaves=None if chosen.leaves == NO_LEAVES else chosen.leaves,
        threads=chosen.threads,
    )
    print_refused(card["first_broken"])
    print(f"{card['training']} positions to train with, {card['held_out']} held out, in {chosen.out}")


def print_refused(line: str) -> None:
    """What was not used, if anything."""
    if line:
        print(line, file=sys.stderr)


def run_train(chosen: argparse.Namespace) -> None:
    check_weights_output(chosen.out, chosen.model)
    if chosen.model == "nnue":
        from usi_engine.learn.nnue.train import train_nnue  # noqa: PLC0415

        train_nnue(chosen)
        return
    from usi_engine.learn.kpp.train import Plan, Training, warm_start_plan  # noqa: PLC0415

    plan = Plan(
        model=chosen.model,
        epochs=chosen.epochs or (1 if chosen.warm_start else 3),
        threads=chosen.threads,
        positions=chosen.positions,
        result_share=chosen.results,
    )
    if chosen.warm_start:
        plan = warm_start_plan(plan, chosen.warm_start)
    training = Training(chosen.corpus, chosen.out.with_name(chosen.out.name + ".run"), plan)
    training.run()
    size = training.export(chosen.out, {"note": chosen.note} if chosen.note else {})
    print(f"{chosen.out}: {size / 1e6:.1f} MB; to play with it: setoption name EvalFile value {chosen.out.resolve()}")


def run_join(chosen: argparse.Namespace) -> None:
    from usi_engine.learn.nnue.join import join  # noqa: PLC0415

    check_weights_output(chosen.out, "nnue")
    sizes = join(chosen.networks, chosen.out)
    print(f"{chosen.out}: {sizes}; play with it: setoption name EvalFile value {chosen.out.resolve()}")


def run_distil(chosen: argparse.Namespace) -> None:
    from usi_engine.learn.nnue.distil import distil  # noqa: PLC0415
    from usi_engine.learn.selfplay.searched import Searched  # noqa: PLC0415

    searched = Searched(chosen.searched, chosen.searched_share, chosen.weights, chosen.threads, chosen.seed)
    card = distil(chosen.corpus, chosen.networks, chosen.out, chosen.share, searched if chosen.searched else None)
    print_refused(card["distilled"].get("not_used", ""))
    print(f"{card['training']} positions to train with in {chosen.out}")


def check_weights_output(out: Path, model: str) -> None:
    """Refuse, before hours of training, a file that the weights cannot replace, and a name by which the engine would
    take them for something else. ValueError, OSError.
    """
    from usi_engine.evaluation.load import KPP_SUFFIX, NETWORK_SUFFIXES  # noqa: PLC0415
    from usi_engine.learn.files import check_replaced, weights_beginnings  # noqa: PLC0415

    check_replaced(out, "weights", weights_beginnings())
    suffixes = NETWORK_SUFFIXES if model == "nnue" else (KPP_SUFFIX,)
    if out.suffix.lower() not in suffixes:
        raise ValueError(f"--out {out}: weights of --model {model} need a name that ends in {' or '.join(suffixes)}")


def run_selfplay(chosen: argparse.Namespace) -> None:
    from usi_engine.learn.selfplay.play import selfplay  # noqa: PLC0415
    from usi_engine.player import PlayRules, read_openings  # noqa: PLC0415

    rules = PlayRules(
        nodes=chosen.nodes,
        seed=chosen.seed,
        random_plies=chosen.opening_plies,
        opening_margin=chosen.opening_margin,
        later_random_share=chosen.random_moves,
        play_out_share=chosen.play_out,
    )
    openings = read_openings(chosen.openings)
    played = selfplay(chosen.weights, openings, chosen.out, chosen.games, rules=rules, threads=chosen.threads)
    print(f"{played} games added to {chosen.out}")


def run_off_game(chosen: argparse.Namespace) -> None:
    from usi_engine.learn.selfplay.off_game import OffGame, make_off_game  # noqa: PLC0415
    from usi_engine.player import PlayRules  # noqa: PLC0415

    rules = PlayRules(nodes=chosen.nodes, seed=chosen.seed)
    plan = OffGame(chosen.positions, chosen.samples, chosen.plies)
    games, refused = make_off_game(chosen.weights, chosen.games, chosen.out, plan, rules=rules, threads=chosen.threads)
    print_refused(refused.line)
    print(f"positions of {games} games added to {chosen.out}")


def run_rescore(chosen: argparse.Namespace) -> None:
    from usi_engine.learn.selfplay.rescore import rescore  # noqa: PLC0415
    from usi_engine.player import PlayRules  # noqa: PLC0415

    rules = PlayRules(nodes=chosen.nodes, seed=chosen.seed)
    games, refused = rescore(
        chosen.weights, chosen.games, chosen.out, chosen.share, rules=rules, threads=chosen.threads
    )
    print_refused(refused.line)
    print(f"{games} games added to {chosen.out}")


def run_export(chosen: argparse.Namespace) -> None:
    from usi_engine.learn.corpus.export_packed import export_packed  # noqa: PLC0415

    positions, refused = export_packed(chosen.games, chosen.out)
    print_refused(refused.line)
    print(f"{positions} positions in {chosen.out}")


RUN = {
    "corpus": run_corpus,
    "train": run_train,
    "join": run_join,
    "distil": run_distil,
    "selfplay": run_selfplay,
    "off-game": run_off_game,
    "rescore": run_rescore,
    "export": run_export,
}

# What the command does that was stopped, when it is run again.
AGAIN = {
    "corpus": "begins anew",
    "train": "resumes from the last checkpoint",
    "join": "begins anew",
    "distil": "begins anew",
    "selfplay": "resumes where the file ends",
    "off-game": "resumes where the file ends",
    "rescore": "resumes where the file ends",
    "export": "begins anew",
}


def main(arguments: list[str]) -> int:
    """Carry out one command; returns the exit status."""
    chosen = parser().parse_args(arguments)
    try:
        load_core()
        RUN[chosen.command](chosen)
    except KeyboardInterrupt:
        print(f"stopped; the same command {AGAIN[chosen.command]}", file=sys.stderr)
        return 130
    except (OSError, ValueError, CoreError, WeightsError, MemoryError) as error:
        print(text_of(error), file=sys.stderr)
        return 1
    return 0
