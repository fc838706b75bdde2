"""The command line of training: `usi_engine learn corpus|train|selfplay|off-game|rescore|export ...`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from usi_engine.core import exit_status, load_core
from usi_engine.evaluation.load import KPP_SUFFIX, NETWORK_SUFFIXES
from usi_engine.evaluation.names import INTERNAL, KPP, MATERIAL, WeightsError
from usi_engine.learn.nnue.plan import MOST_TEMPO, WARM_START_RATE, NetworkPlan
from usi_engine.usi.arguments import Parser, real, spin, whole
from usi_engine.usi.output import show

NO_LEAVES = "none"
DESCRIPTION = (
    "Train the evaluation on games: first corpus, then train. selfplay, off-game and rescore make training data; "
    "export writes it for other trainers."
)
GAMES_HELP = "files of games"
WEIGHTS_HELP = f"weights file, nn.bin, {INTERNAL}, {KPP} or {MATERIAL}"
MOST_EPOCHS = 1000
MOST_BATCH = 1 << 20
KPP_MODELS = ("P", "KP", "PP", "KPP", "KPPT")
NETWORK_OPTIONS = ("device", "batch", "tempo", "rate", "decay", "loss_exponent", "seed")  # of train, not for KPP
# Options of train that are fields of the plan of a network.
NETWORK_SETTINGS = ["batch", "device", "threads", "positions", "result_share", "tempo", "warm_start", "decay", "seed"]
NETWORK_SETTINGS += ["loss_exponent"]
# Options of selfplay that are fields of its rules.
SELFPLAY_SETTINGS = ["random_plies", "opening_margin", "later_random_share", "play_out_share"]
MOST_SAMPLES = 50  # positions of one search of off_game.SEARCH_NODES
MOST_NODES = 10**8  # of a search: its TT takes 160 bytes a node
if TYPE_CHECKING:
    from usi_engine.learn.selfplay import PlayerPool

    Commands = argparse._SubParsersAction[Parser]


def parser() -> argparse.ArgumentParser:
    top = Parser("usi_engine learn", description=DESCRIPTION)
    commands = top.add_subparsers(dest="command", required=True)
    add_corpus(commands)
    add_train(commands)
    add_selfplay(commands)
    add_off_game(commands)
    add_rescore(commands)
    add_export(commands)
    return top


def add_corpus(commands: Commands) -> None:
    add = commands.add_parser("corpus", help="convert games to training positions").add_argument
    add("games", nargs="*", type=Path, help="records as for analyze, .tsv[.xz|.gz] .games .psv .bin .hcpe[3]")
    add("--also", nargs="+", default=[], type=Path, help="more files, used for training only")
    add("--out", type=Path, required=True, help="folder of the corpus")
    add("--every", type=whole(1), default=50, help="hold out one game in EVERY (default 50)")
    add("--seed", type=whole(), default=1, help="seed of the shuffle (default 1)")
    add("--threads", type=spin("Threads"), default=1, help="processes; the corpus does not depend on it (default 1)")
    add("--smooth", type=real(0, 1), default=0.0, help="share of later scores of the game in each score (default 0)")
    add(
        "--leaves",
        metavar="WEIGHTS",
        default=INTERNAL,
        help="before captures use the quiescence leaf, found with these weights, KPP or nn.bin "
        f"(default {INTERNAL}); `{NO_LEAVES}`: use only positions in which the move played is not a capture",
    )


def add_train(commands: Commands) -> None:
    add = commands.add_parser("train", help="train weights from a corpus; resumes from its checkpoint").add_argument
    add("corpus", type=Path)
    add(
        "--network",
        default="KPPT",
        help="such as SFNN_ka2_1024_7_64_k3k3, or KPP terms: P, KP, PP, KPP, KPPT (default)",
    )
    add("--out", type=Path, required=True, help="file of weights, .bin, .nnue or .kpp (KPP); the checkpoint: FILE.run/")
    add(
        "--epochs",
        type=whole(1, MOST_EPOCHS),
        default=0,
        help=f"default: {NetworkPlan.epochs}; KPP 3, or 1 with --warm-start",
    )
    add("--device", default="auto", help="device of torch: auto (default), cpu, cuda, cuda:1; not for KPP")
    batch, tempo, decay = NetworkPlan.batch, NetworkPlan.tempo, NetworkPlan.decay
    add("--batch", type=whole(1, MOST_BATCH), default=batch, help=f"positions of a step (default {batch}); not for KPP")
    add("--threads", type=spin("Threads"), default=0, help="default: all cores; KPP: 1 or 2, the default is 1")
    add("--positions", type=whole(), default=0, help="use only the first POSITIONS (default: all)")
    add(
        "--results",
        dest="result_share",
        type=real(0, 1),
        default=0.0,
        help="share of the game result in the target, 0 to 1 (default 0)",
    )
    exponent = "exponent of the error of the winning chance, such as 2.5 (default: the cross entropy); not for KPP"
    add("--loss-exponent", type=real(1, 8), default=0.0, help=exponent)
    add("--keep", type=whole(), default=0, help="keep the weights of every KEEP-th epoch too, as FILE.EPOCH (0: none)")
    add("--tempo", type=whole(0, MOST_TEMPO), default=tempo, help=f"centipawns left out of network values ({tempo})")
    add(
        "--warm-start",
        metavar="WEIGHTS",
        default="",
        help=f"continue from these weights at small rates: a file, {INTERNAL} for a network, {KPP} for KPPT",
    )
    add(
        "--rate",
        type=real(0, 1),
        default=0.0,
        help=f"highest rate of a network (default 0: {NetworkPlan.rate}, after a warm start {WARM_START_RATE})",
    )
    add("--decay", type=real(0, 1), default=decay, help=f"weight decay of a network's transformer (default {decay})")
    add("--seed", type=whole(), default=1, help="seed of a network's first weights and of its order (default 1)")
    add("--note", default="", help="a line for the card (the metadata) of the weights")


def add_selfplay(commands: Commands) -> None:
    play = commands.add_parser("selfplay", help="play games against itself; resumes at the end of the file")
    add = play.add_argument
    add("--out", type=Path, required=True, help="a .tsv or, packed, a .games file")
    add("--games", type=whole(1), required=True, help="games in the file when it is complete")
    add("--openings", type=Path, help="a file of sfens or `startpos moves ...` (default: the start position)")
    add(
        "--opening-plies",
        dest="random_plies",
        type=whole(),
        default=8,
        help="plies after the opening that may be random (default 8)",
    )
    add("--opening-margin", type=whole(), default=0, help="draw these from moves within this many centipawns (0)")
    share = "share of random moves after the opening (default 0)"
    add("--random-moves", dest="later_random_share", type=real(0, 1), default=0.0, help=share)
    share = "share of games that are played to mate (default 0.1)"
    add("--play-out", dest="play_out_share", type=real(0, 1), default=0.1, help=share)
    add("--weights", nargs="+", default=[INTERNAL], help=f"{WEIGHTS_HELP}; pairs of several play in turn")
    add_search_options(play, nodes=1500)


def add_off_game(commands: Commands) -> None:
    off_game = commands.add_parser("off-game", help="score positions that searches of game positions evaluate")
    add = off_game.add_argument
    add("games", nargs="+", type=Path, help=GAMES_HELP)
    add("--out", type=Path, required=True, help="a .tsv file; resumes at its end")
    add("--positions", type=whole(1), default=20, help="positions of each game (default 20)")
    add("--samples", type=whole(1, MOST_SAMPLES), default=4, help="most positions of each search (default 4)")
    turns = f"{WEIGHTS_HELP}; several score in turn, a game each; the searches of the first are sampled"
    add("--weights", nargs="+", default=[INTERNAL], help=turns)
    add_search_options(off_game, nodes=200)


def add_rescore(commands: Commands) -> None:
    rescore = commands.add_parser("rescore", help="score games by new searches; moves and results stay")
    add = rescore.add_argument
    add("games", nargs="+", type=Path, help=GAMES_HELP)
    add("--out", type=Path, required=True, help="a .tsv file; resumes at its end")
    add("--share", type=real(0, 1), default=1.0, help="share of positions; the others keep their score (default 1)")
    add("--weights", default=INTERNAL, help=WEIGHTS_HELP)
    add_search_options(rescore, nodes=800)


def add_export(commands: Commands) -> None:
    add = commands.add_parser("export", help="write scored positions for other trainers, as psv or hcpe").add_argument
    add("games", nargs="+", type=Path, help=GAMES_HELP)
    add("--out", type=Path, required=True, help="a file ending in .psv, .bin (the same) or .hcpe")


def add_search_options(command: argparse.ArgumentParser, nodes: int) -> None:
    add = command.add_argument
    add("--nodes", type=whole(1, MOST_NODES), default=nodes, help=f"nodes of each search (default {nodes})")
    add("--threads", type=spin("Threads"), default=1, help="games processed in parallel (default 1)")
    add("--scheduler", metavar="HOST:PORT", default="", help="use the workers of this Dask cluster, not --threads")
    add("--seed", type=whole(), default=1, help="seed of the random choices (default 1)")


def run_corpus(args: argparse.Namespace) -> None:
    from usi_engine.learn.corpus.build import build_corpus  # noqa: PLC0415  (numpy and the core are slow to import)

    if not args.leaves:
        raise ValueError(f"--leaves '': expected weights, or `{NO_LEAVES}`")
    if args.leaves == MATERIAL:
        raise ValueError(f"--leaves {args.leaves}: piece values alone do not find quiescence leaves")
    leaves = None if args.leaves == NO_LEAVES else args.leaves
    card = build_corpus(
        args.games,
        args.out,
        args.every,
        args.seed,
        also=args.also,
        leaves=leaves,
        smooth=args.smooth,
        threads=args.threads,
    )
    print_skipped(card["first_broken"])
    print(f"{card['training']} positions to train with, {card['held_out']} held out, in {args.out}")


def print_skipped(line: str) -> None:
    if line:
        show(line, file=sys.stderr)


def run_train(args: argparse.Namespace) -> None:
    from usi_engine.learn.files import check_suffix, check_weights_replaceable  # noqa: PLC0415

    is_kpp = args.network.upper() in KPP_MODELS
    name = args.network if is_kpp else full_name(args.network)
    check_weights_replaceable(args.out)
    check_suffix(args.out, *([KPP_SUFFIX] if is_kpp else NETWORK_SUFFIXES))
    extra = {"note": args.note} if args.note else {}
    size = train_kpp(args, extra) if is_kpp else train_nnue(args, name, extra)
    if size:
        print(f"{args.out}: {size / 1e6:.1f} MB; to play with it: setoption name EvalFile value {args.out.resolve()}")


def full_name(network: str) -> str:
    """Return the name of a network in YaneuraOu's form. ValueError if play cannot use such a network."""
    from core_ext.engine import check_architecture  # noqa: PLC0415
    from usi_engine.evaluation.architecture import parse_name  # noqa: PLC0415

    try:
        architecture = parse_name(network)
        check_architecture(architecture)
    except ValueError as error:
        raise ValueError(f"--network {network}: {error}; KPP weights: {', '.join(KPP_MODELS)}") from None
    return architecture.name


def train_nnue(args: argparse.Namespace, network: str, extra: dict[str, str]) -> int:
    """Train a network and write it; return its size, 0 if another process of torchrun does."""
    # Waiting torch threads spin for milliseconds, which makes training several times slower beside other programs. Let
    # them sleep sooner, but not at once: the next operation often follows in microseconds.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    try:
        from usi_engine.learn.nnue.device import first_sentence  # noqa: PLC0415
        from usi_engine.learn.nnue.train import train_network  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ValueError(
            f"training of networks needs the module '{error.name}': pip install 'komadori[learn]'"
        ) from None
    epochs = args.epochs or NetworkPlan.epochs
    rate = args.rate or (WARM_START_RATE if args.warm_start else NetworkPlan.rate)
    plan = NetworkPlan(network, epochs, rate=rate, **{name: getattr(args, name) for name in NETWORK_SETTINGS})
    try:
        return train_network(plan, args.corpus, args.out, extra, args.keep)
    except RuntimeError as error:  # of torch: too little memory, or an operation that the device lacks
        raise ValueError(f"torch: {first_sentence(error)}") from None


def check_kpp_options(args: argparse.Namespace) -> None:
    """Raise ValueError for options that KPP weights do not have."""
    usual = parser().parse_args(["train", "", "--out", ""])
    given = [f"--{name.replace('_', '-')}" for name in NETWORK_OPTIONS if getattr(args, name) != getattr(usual, name)]
    if given:
        raise ValueError(f"{', '.join(given)}: for networks only, not for KPP weights")
    if args.threads > 2:
        raise ValueError(f"--threads {args.threads}: KPP weights are trained by 1 or 2")


def train_kpp(args: argparse.Namespace, extra: dict[str, str]) -> int:
    """Train KPP weights and write them; return the size of the file."""
    from usi_engine.learn.checkpoint import keeping  # noqa: PLC0415
    from usi_engine.learn.kpp import Plan, Training, warm_start_plan  # noqa: PLC0415

    check_kpp_options(args)
    plan = Plan(
        args.network.upper(),
        args.epochs or (1 if args.warm_start else 3),
        threads=args.threads or 1,
        positions=args.positions,
        result_share=args.result_share,
    )
    if args.warm_start:
        plan = warm_start_plan(plan, args.warm_start)
    training = Training(args.corpus, args.out.with_name(args.out.name + ".run"), plan)
    training.run(keeping(lambda path: training.export(path, extra), args.out, args.keep))
    return training.export(args.out, extra)


def run_selfplay(args: argparse.Namespace) -> None:
    from usi_engine.learn.player import read_openings  # noqa: PLC0415
    from usi_engine.learn.selfplay import selfplay  # noqa: PLC0415

    pool = player_pool(args, args.weights, **{name: getattr(args, name) for name in SELFPLAY_SETTINGS})
    played = selfplay(pool, read_openings(args.openings), args.out, args.games)
    print(f"{played} games added to {args.out}")


def player_pool(args: argparse.Namespace, weights: list[str], **rules: Any) -> PlayerPool:
    """Return the players with the options of add_search_options and other `rules`."""
    from usi_engine.learn.player import FULL_WIDTH_NODES, PlayRules  # noqa: PLC0415
    from usi_engine.learn.selfplay import PlayerPool  # noqa: PLC0415

    play_rules = PlayRules(nodes=args.nodes, full_width=args.nodes <= FULL_WIDTH_NODES, seed=args.seed, **rules)
    return PlayerPool(tuple(weights), play_rules, args.threads, args.scheduler)


def run_off_game(args: argparse.Namespace) -> None:
    from usi_engine.learn.selfplay import OffGamePlan, append_off_game  # noqa: PLC0415

    plan = OffGamePlan(args.positions, args.samples)
    games, skipped = append_off_game(player_pool(args, args.weights), args.games, args.out, plan)
    print_skipped(skipped.line)
    print(f"positions of {games} games added to {args.out}")


def run_rescore(args: argparse.Namespace) -> None:
    from usi_engine.learn.selfplay import rescore  # noqa: PLC0415

    games, skipped = rescore(player_pool(args, [args.weights]), args.games, args.out, args.share)
    print_skipped(skipped.line)
    print(f"{games} games added to {args.out}")


def run_export(args: argparse.Namespace) -> None:
    from usi_engine.learn.corpus.sources import export_packed  # noqa: PLC0415

    positions, skipped = export_packed(args.games, args.out)
    print_skipped(skipped.line)
    print(f"{positions} positions in {args.out}")


BEGINS_ANEW, RESUMES = "begins anew", "resumes where the file ends"
# Each command's function, and what a second run does after the first was stopped.
COMMANDS = {
    "corpus": (run_corpus, "resumes where it was stopped"),
    "train": (run_train, "resumes from the last checkpoint"),
    "selfplay": (run_selfplay, RESUMES),
    "off-game": (run_off_game, RESUMES),
    "rescore": (run_rescore, RESUMES),
    "export": (run_export, BEGINS_ANEW),
}


def main(arguments: list[str]) -> int:
    """Run one command; return the exit status."""
    args = parser().parse_args(arguments)
    command, again = COMMANDS[args.command]

    def run() -> int:
        load_core()
        command(args)
        return 0

    return exit_status(run, ValueError, WeightsError, stopped=f"stopped; the same command {again}")
