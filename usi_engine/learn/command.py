"""The command line of learning: `usi_engine learn corpus|train|selfplay|off-game ...`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.core import INTERNAL, KPP, MATERIAL, WeightsError

NO_LEAVES = "none"
DESCRIPTION = "Train the evaluation on games: corpus, then train. selfplay and off-game make training data."
if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def parser() -> argparse.ArgumentParser:
    """All commands and their options with defaults."""
    top = argparse.ArgumentParser("usi_engine learn", description=DESCRIPTION)
    commands = top.add_subparsers(dest="command", required=True)
    add_corpus(commands)
    add_train(commands)
    add_selfplay(commands)
    add_off_game(commands)
    return top


def add_corpus(commands: Commands) -> None:
    corpus = commands.add_parser("corpus", help="games (.tsv[.xz|.gz] csa kif sbinpack psv bin) to training positions")
    corpus.add_argument("games", nargs="*", type=Path, help="files; a `.tsv` may hold positions with valued moves")
    corpus.add_argument("--also", nargs="+", default=[], type=Path, help="more files, from which no game is held out")
    corpus.add_argument("--out", type=Path, required=True, help="folder of the corpus")
    corpus.add_argument("--every", type=int, default=50, help="one game in so many is held out (default 50)")
    corpus.add_argument("--seed", type=int, default=1, help="of the order of the positions (default 1)")
    corpus.add_argument(
        "--leaves",
        metavar="WEIGHTS",
        default=INTERNAL,
        help=f"add the quiescence leaf of each position, by these weights (default {INTERNAL}); "
        f"`{NO_LEAVES}`: only positions in which the chosen move is no capture",
    )


def add_train(commands: Commands) -> None:
    train = commands.add_parser("train", help="corpus to weights; resumes from its checkpoint")
    train.add_argument("corpus", type=Path)
    train.add_argument("--out", type=Path, required=True, help="the weights file; the checkpoint is in FILE.run/")
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
    train.add_argument("--epochs", type=int, default=0, help="default: nnue 10, KPP 3, with --warm-start 1")
    train.add_argument("--threads", type=int, choices=[1, 2], default=1, help="the weights are the same with either")
    train.add_argument("--positions", type=int, default=0, help="use only so many (default: all)")
    train.add_argument(
        "--results", type=float, default=0.0, help="share of the game result in the target, 0 to 1 (default 0)"
    )
    train.add_argument(
        "--warm-start",
        metavar="WEIGHTS",
        default="",
        help=f"continue from these weights, a file or, with --model nnue, {INTERNAL}, else {KPP}, at small rates",
    )
    train.add_argument("--note", default="", help="a line for the card (the metadata) of the weights")


def add_selfplay(commands: Commands) -> None:
    play = commands.add_parser("selfplay", help="self-play games; resumes where the file ends")
    play.add_argument("--out", type=Path, required=True, help="a .tsv file")
    play.add_argument("--games", type=int, required=True, help="games in the file when it is complete")
    play.add_argument(
        "--openings", type=Path, help="a file of sfens or `startpos moves ...` (default: the start position)"
    )
    play.add_argument(
        "--random-moves", type=float, default=0.0, help="share of random moves after the opening (default 0)"
    )
    add_search_options(play, nodes=1500)


def add_off_game(commands: Commands) -> None:
    off_game = commands.add_parser("off-game", help="positions one weaker move away from games, labelled by a search")
    off_game.add_argument("games", nargs="+", type=Path, help="files of games")
    off_game.add_argument("--out", type=Path, required=True, help="a .tsv file; resumes where it ends")
    off_game.add_argument("--positions", type=int, default=20, help="of each game (default 20)")
    add_search_options(off_game, nodes=800)


def add_search_options(command: argparse.ArgumentParser, nodes: int) -> None:
    """The options of a command that searches."""
    command.add_argument("--nodes", type=int, default=nodes, help=f"of each search (default {nodes})")
    command.add_argument("--threads", type=int, default=1, help="games treated at a time (default 1)")
    command.add_argument(
        "--weights", default=INTERNAL, help=f"weights file, {INTERNAL}, {KPP} or {MATERIAL} (default {INTERNAL})"
    )
    command.add_argument("--seed", type=int, default=1, help="of the random choices (default 1)")


def run_corpus(chosen: argparse.Namespace) -> None:
    from usi_engine.core import load_weights  # noqa: PLC0415  (numpy and the core, when they are needed)
    from usi_engine.learn.corpus import build_corpus  # noqa: PLC0415

    weights = None if chosen.leaves == NO_LEAVES else load_weights(chosen.leaves)
    if weights is None and chosen.leaves != NO_LEAVES:
        raise ValueError(f"--leaves {chosen.leaves}: piece values alone do not find quiescence leaves")
    card = build_corpus(chosen.games, chosen.out, chosen.every, chosen.seed, also=chosen.also, leaf_weights=weights)
    print(f"{card['training']} positions to train with, {card['held_out']} held out, in {chosen.out}")


def run_train(chosen: argparse.Namespace) -> None:
    if chosen.model == "nnue":
        from usi_engine.learn.nnue import train_nnue  # noqa: PLC0415

        train_nnue(chosen)
        return
    from usi_engine.learn.train import Plan, Training, warm_start_plan  # noqa: PLC0415

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


def run_selfplay(chosen: argparse.Namespace) -> None:
    from usi_engine.core import load_weights  # noqa: PLC0415
    from usi_engine.learn.selfplay import PlayRules, read_openings, selfplay  # noqa: PLC0415

    rules = PlayRules(nodes=chosen.nodes, seed=chosen.seed, later_random_share=chosen.random_moves)
    weights, openings = load_weights(chosen.weights), read_openings(chosen.openings)
    played = selfplay(weights, openings, chosen.out, chosen.games, rules=rules, threads=chosen.threads)
    print(f"{played} games added to {chosen.out}")


def run_off_game(chosen: argparse.Namespace) -> None:
    from usi_engine.core import load_weights  # noqa: PLC0415
    from usi_engine.learn.off_game import make_off_game  # noqa: PLC0415
    from usi_engine.learn.selfplay import PlayRules  # noqa: PLC0415

    rules = PlayRules(nodes=chosen.nodes, seed=chosen.seed)
    weights = load_weights(chosen.weights)
    games = make_off_game(weights, chosen.games, chosen.out, chosen.positions, rules=rules, threads=chosen.threads)
    print(f"positions of {games} games added to {chosen.out}")


def main(arguments: list[str]) -> int:
    """Carry out one command; returns the exit status."""
    chosen = parser().parse_args(arguments)
    run = {"corpus": run_corpus, "train": run_train, "selfplay": run_selfplay, "off-game": run_off_game}[chosen.command]
    try:
        run(chosen)
    except KeyboardInterrupt:
        print("stopped; the same command resumes from the last checkpoint", file=sys.stderr)
        return 130
    except (OSError, ValueError, WeightsError) as error:
        print(f"{error}", file=sys.stderr)
        return 1
    return 0
