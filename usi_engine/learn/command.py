"""The command line of learning: `usi_engine learn corpus|train|selfplay|stray ...`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from usi_engine.core import INTERNAL, MATERIAL, WeightsError

NOT_SETTLED = "none"
DESCRIPTION = "Learn the evaluation from games: corpus -> train; selfplay makes more games, stray looks beside them."


def parser() -> argparse.ArgumentParser:
    """All options with their defaults."""
    top = argparse.ArgumentParser("usi_engine learn", description=DESCRIPTION)
    commands = top.add_subparsers(dest="command", required=True)
    corpus = commands.add_parser("corpus", help="games (.tsv[.xz|.gz] csa kif sbinpack psv bin) to training positions")
    corpus.add_argument("games", nargs="*", type=Path, help="files; `.tsv` also of positions with valued moves")
    corpus.add_argument("--also", nargs="+", default=[], type=Path, help="more files, of which no game is held out")
    corpus.add_argument("--out", type=Path, required=True, help="folder of the corpus")
    corpus.add_argument("--every", type=int, default=50, help="one game in so many is held out (default 50)")
    corpus.add_argument("--seed", type=int, default=1)
    corpus.add_argument(
        "--settle",
        metavar="WEIGHTS",
        default=INTERNAL,
        help=f"learn also from the quiet ends of captures, as these weights see them (default {INTERNAL}); "
        f"`{NOT_SETTLED}`: only from positions where no capture was chosen",
    )
    train = commands.add_parser("train", help="corpus to weights; goes on where it was broken off")
    train.add_argument("corpus", type=Path)
    train.add_argument("--out", type=Path, required=True, help="file of the weights; its checkpoint lies in FILE.run/")
    train.add_argument("--model", choices=["P", "KP", "PP", "KPP", "KPPT"], default="KPPT")
    train.add_argument("--passes", type=int, default=0, help="over the corpus (default 3; 1 with --start)")
    train.add_argument("--threads", type=int, choices=[1, 2], default=1, help="the weights come out the same")
    train.add_argument("--positions", type=int, default=0, help="use only so many (default: all)")
    train.add_argument("--results", type=float, default=0.0, help="share of the result beside the score (default 0)")
    train.add_argument(
        "--start", metavar="WEIGHTS", default="", help=f"go on from these weights, a file or {INTERNAL}, in small steps"
    )
    train.add_argument("--note", default="", help="a line for the weights' card")
    play = commands.add_parser("selfplay", help="games of the engine against itself; goes on where the file ends")
    play.add_argument("--out", type=Path, required=True, help="a .tsv file")
    play.add_argument("--games", type=int, required=True)
    play.add_argument("--nodes", type=int, default=1500)
    play.add_argument("--threads", type=int, default=1)
    play.add_argument("--openings", type=Path, help="a file of sfens or `startpos moves ...`")
    play.add_argument("--weights", default=INTERNAL, help=f"a file, or `{MATERIAL}`")
    play.add_argument("--seed", type=int, default=1)
    stray = commands.add_parser("stray", help="positions a weaker move away from games, valued by a search")
    stray.add_argument("games", nargs="+", type=Path, help="files of games")
    stray.add_argument("--out", type=Path, required=True, help="a .tsv file; goes on where it ends")
    stray.add_argument("--positions", type=int, default=20, help="of each game (default 20)")
    stray.add_argument("--nodes", type=int, default=800)
    stray.add_argument("--threads", type=int, default=1)
    stray.add_argument("--weights", default=INTERNAL, help=f"a file, or `{MATERIAL}`")
    stray.add_argument("--seed", type=int, default=1)
    return top


def run_corpus(chosen: argparse.Namespace) -> None:
    from usi_engine.core import load_weights  # noqa: PLC0415  (numpy and the core, when they are needed)
    from usi_engine.learn.corpus import build_corpus  # noqa: PLC0415

    settle = None if chosen.settle == NOT_SETTLED else load_weights(chosen.settle)
    if settle is None and chosen.settle != NOT_SETTLED:
        raise ValueError(f"--settle {chosen.settle}: the piece values alone do not tell where captures end")
    card = build_corpus(chosen.games, chosen.out, chosen.every, chosen.seed, also=chosen.also, settle=settle)
    print(f"{card['training']} positions to train with, {card['held_out']} held out, in {chosen.out}")


def run_train(chosen: argparse.Namespace) -> None:
    from usi_engine.learn.train import Plan, Training, going_on  # noqa: PLC0415

    plan = Plan(
        model=chosen.model,
        passes=chosen.passes or (1 if chosen.start else 3),
        threads=chosen.threads,
        positions=chosen.positions,
        result_share=chosen.results,
    )
    if chosen.start:
        plan = going_on(plan, chosen.start)
    training = Training(chosen.corpus, chosen.out.with_name(chosen.out.name + ".run"), plan)
    training.run()
    size = training.export(chosen.out, {"note": chosen.note} if chosen.note else {})
    print(f"{chosen.out}: {size / 1e6:.1f} MB; play with it: setoption name EvalFile value {chosen.out.resolve()}")


def run_selfplay(chosen: argparse.Namespace) -> None:
    from usi_engine.core import load_weights  # noqa: PLC0415
    from usi_engine.learn.selfplay import Rules, read_openings, selfplay  # noqa: PLC0415

    rules = Rules(nodes=chosen.nodes, seed=chosen.seed)
    weights, openings = load_weights(chosen.weights), read_openings(chosen.openings)
    played = selfplay(weights, openings, chosen.out, chosen.games, rules=rules, threads=chosen.threads)
    print(f"{played} games added to {chosen.out}")


def run_stray(chosen: argparse.Namespace) -> None:
    from usi_engine.core import load_weights  # noqa: PLC0415
    from usi_engine.learn.selfplay import Rules  # noqa: PLC0415
    from usi_engine.learn.strays import make_strays  # noqa: PLC0415

    rules = Rules(nodes=chosen.nodes, seed=chosen.seed)
    weights = load_weights(chosen.weights)
    games = make_strays(weights, chosen.games, chosen.out, chosen.positions, rules=rules, threads=chosen.threads)
    print(f"left {games} games, in {chosen.out}")


def main(arguments: list[str]) -> int:
    """Carry out one command; returns the exit status."""
    chosen = parser().parse_args(arguments)
    run = {"corpus": run_corpus, "train": run_train, "selfplay": run_selfplay, "stray": run_stray}[chosen.command]
    try:
        run(chosen)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from the last checkpoint", file=sys.stderr)
        return 130
    except (OSError, ValueError, WeightsError) as error:
        print(f"{error}", file=sys.stderr)
        return 1
    return 0
