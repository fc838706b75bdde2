"""The command line of training, `usi_engine learn corpus|train|selfplay|off-game|rescore|export ...`, and its calls.

run(Train...(corpus="corpus", network="SFNN_ka2_1024_7_64_k3k3", out="nn.bin"))
"""

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import MISSING, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from usi_engine.core import exit_status, load_core
from usi_engine.evaluation.architecture import parse_name
from usi_engine.evaluation.load import NETWORK_SUFFIXES
from usi_engine.evaluation.names import WeightsError
from usi_engine.learn.settings import COMMANDS, KPP_MODELS, Settings, TrainNetwork, flag_of, options_of, train_settings
from usi_engine.usi.arguments import Parser, suggestion
from usi_engine.usi.output import show

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DESCRIPTION = (
    "Train the evaluation on games: first corpus, then train. selfplay, off-game and rescore make training data; "
    "export writes it for other trainers."
)
CONFIG = "a TOML file of options, in a table of the command's name; the command line overrides it"
# What a second run does after the first was stopped, and what a finished one says.
RESUMES = "resumes where the file ends"
AGAIN = {"corpus": "resumes where it was stopped", "train": "resumes from the last checkpoint", "export": "begins anew"}
DONE = {
    "corpus": "{training} positions to train with, {held_out} held out, in {out}",
    "train": "{out}: {megabytes:.1f} MB; to play with it: setoption name EvalFile value {path}",
    "off-game": "positions of {games} games added to {out}",
    "export": "{positions} positions in {out}",
}


def parser() -> argparse.ArgumentParser:
    top = Parser("usi_engine learn", description=DESCRIPTION)
    commands = top.add_subparsers(dest="command", required=True)
    for name, settings in COMMANDS.items():
        command = commands.add_parser(name, help=settings.__doc__)
        command.add_argument("--config", metavar="FILE", type=Path, help=CONFIG)
        for one in options_of(settings).values():
            several = ("+" if one.metadata["flag"] else "*") if one.metadata["many"] else None
            command.add_argument(
                flag_of(one),
                nargs=several if several or one.metadata["flag"] else "?",
                type=one.metadata["read"],
                help=one.metadata["help"].replace("%", "%%"),
            )
    return top


def read_table(path: Path, command: str) -> dict[str, Any]:
    """Return the options in the command's table of a TOML file. ValueError, OSError."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None
    table = tables.get(command, {})
    if not isinstance(table, dict):
        raise ValueError(f"{path}: expected a table [{command}]")
    found = {name.replace("-", "_"): value for name, value in table.items()}
    for words, known in ((tables, COMMANDS), (found, options_of(COMMANDS[command]))):
        for word in words.keys() - known:
            raise ValueError(f"{path}: unknown '{word}'{suggestion(word, known)}")
    return found


def read_settings(args: argparse.Namespace) -> Settings:
    """Return the settings of a command line. ValueError, OSError."""
    options = options_of(COMMANDS[args.command])
    values = read_table(args.config, args.command) if args.config else {}
    values |= {name: value for name, value in vars(args).items() if name in options and value not in (None, [])}
    if missing := [flag_of(one) for name, one in options.items() if one.default is MISSING and not values.get(name)]:
        raise ValueError(f"{args.command}: {', '.join(missing)} expected")
    make = train_settings if args.command == "train" else COMMANDS[args.command]
    try:
        return make(**values)
    except ValueError as error:
        raise ValueError(f"{args.config}: {error}" if args.config else str(error)) from None


def run(settings: Settings) -> dict[str, Any]:
    """Run the command of these settings; return its figures, and in `skipped` a line about items that it cannot use.

    OSError, ValueError, WeightsError, MemoryError.
    """
    load_core()
    if isinstance(settings, TrainNetwork):
        return run_network(settings)
    module, _, function = settings.runs.rpartition(".")
    found: dict[str, Any] = getattr(import_module(f"usi_engine.learn.{module}"), function)(settings)
    return found


def run_network(settings: TrainNetwork) -> dict[str, Any]:
    """Train a network and write it; return its card and its size. Faults of the options are found without PyTorch."""
    from usi_engine.learn.files import check_output  # noqa: PLC0415  (imports the core)

    settings = replace(settings, network=full_name(settings.network))
    check_output(settings.out, NETWORK_SUFFIXES, weights=True)
    # Waiting torch threads spin for milliseconds, which makes training several times slower beside other programs. Let
    # them sleep sooner, but not at once: the next operation often follows in microseconds.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    try:
        from usi_engine.learn.nnue.train import train_network  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ValueError(
            f"training of networks needs the module '{error.name}': pip install 'komadori[learn]'"
        ) from None
    return train_network(settings)


def full_name(network: str) -> str:
    """Return the name of a network in YaneuraOu's form. ValueError if play cannot use such a network."""
    from core_ext.engine import check_architecture  # noqa: PLC0415

    try:
        architecture = parse_name(network)
        check_architecture(architecture)
    except ValueError as error:
        raise ValueError(f"--network {network}: {error}; KPP weights: {', '.join(KPP_MODELS)}") from None
    return architecture.name


def say(settings: Settings, command: str, found: Mapping[str, Any]) -> None:
    """Print what a command has done."""
    if found.get("skipped"):
        show(found["skipped"], file=sys.stderr)
    if found:  # other processes of torchrun find nothing
        print(DONE.get(command, "{games} games added to {out}").format_map({**vars(settings), **found}))


def main(arguments: list[str]) -> int:
    """Run one command; return the exit status."""
    args = parser().parse_args(arguments)

    def work() -> int:
        settings = read_settings(args)
        say(settings, args.command, run(settings))
        return 0

    stopped = f"stopped; the same command {AGAIN.get(args.command, RESUMES)}"
    return exit_status(work, ValueError, WeightsError, stopped=stopped)
