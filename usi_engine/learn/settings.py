# ruff: noqa: RUF009  (`option` makes fields)
"""Settings of the commands. One dataclass each serves the command line, TOML files and calls from Python."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from usi_engine.evaluation.names import INTERNAL, KPP, MATERIAL
from usi_engine.usi.arguments import real, spin, whole

NO_LEAVES = "none"
KPP_MODELS = ("P", "KP", "PP", "KPP", "KPPT")
MOST_SAMPLES = 50  # positions of one search of selfplay.SEARCH_NODES
MOST_NODES = 10**8  # of a search: its TT takes 160 bytes a node
# Up to so many nodes a full-width search plays as well, and its values are closer to those of deep searches
# (docs/findings.md).
FULL_WIDTH_NODES = 5000
MOST_TEMPO = 1000  # centipawns
NETWORK_RATE, WARM_START_RATE = 4e-3, 8e-4
GAMES = "files of games"
WEIGHTS = f"weights file, nn.bin, {INTERNAL}, {KPP} or {MATERIAL}"


def option(
    read: Callable[[str], Any], text: str, default: Any = MISSING, *, many: bool = False, flag: bool = True
) -> Any:
    """Return a field that is an option with a reader and a help text. `many`: several values; no flag: an argument."""
    shown = " ".join(map(str, default)) if many and default is not MISSING else default
    ending = "" if shown in (MISSING, None, "") or "default" in text else f" (default {shown})"
    return field(default=default, metadata={"read": read, "help": text + ending, "many": many, "flag": flag})


def options_of(settings: type[Settings]) -> dict[str, Field[Any]]:
    """Return the options by name, without the fields that only Python sets."""
    return {one.name: one for one in fields(settings) if one.metadata}


def flag_of(one: Field[Any]) -> str:
    """Return the option's name on the command line."""
    return f"--{one.name.replace('_', '-')}" if one.metadata["flag"] else one.name


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings, read by their options' readers, also if they are not text. ValueError.

    `runs` names the function of the command, whose module is slow to import.
    """

    runs: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for one in options_of(type(self)).values():
            value = getattr(self, one.name)
            if value != one.default:
                object.__setattr__(self, one.name, read_value(one, value))


def read_value(one: Field[Any], value: Any) -> Any:
    """Read the value of an option, or its several values. ValueError."""
    read, single = one.metadata["read"], isinstance(value, (str, Path, int, float))
    try:
        if one.metadata["many"]:
            return tuple(read(str(part)) for part in ([value] if single else value))
        return read(str(value))
    except (ArgumentTypeError, TypeError) as error:
        raise ValueError(f"{flag_of(one)}: {error}") from None


@dataclass(frozen=True, kw_only=True)
class Corpus(Settings):
    """Convert games to training positions."""

    runs = "corpus.build.build_corpus"
    games: tuple[Path, ...] = option(
        Path, "records as for analyze, .tsv[.xz|.gz] .games .psv .bin .hcpe[3]", (), many=True, flag=False
    )
    also: tuple[Path, ...] = option(Path, "more files, used for training only", (), many=True)
    out: Path = option(Path, "folder of the corpus")
    every: int = option(whole(1), "hold out one game in EVERY", 50)
    seed: int = option(whole(), "seed of the shuffle", 1)
    threads: int = option(spin("Threads"), "processes; the corpus does not depend on it", 1)
    smooth: float = option(real(0, 1), "share of later scores of the game in each score", 0.0)
    leaves: str = option(
        str,
        "before captures use the quiescence leaf, found with these weights, KPP or nn.bin; "
        f"`{NO_LEAVES}`: use only positions in which the move played is not a capture",
        INTERNAL,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.leaves:
            raise ValueError(f"--leaves '': expected weights, or `{NO_LEAVES}`")
        if self.leaves == MATERIAL:
            raise ValueError(f"--leaves {MATERIAL}: piece values alone do not find quiescence leaves")


@dataclass(frozen=True, kw_only=True)
class Train(Settings):
    """Train weights from a corpus."""

    corpus: Path = option(Path, "folder of the corpus", flag=False)
    network: str = option(str, f"such as SFNN_ka2_1024_7_64_k3k3, or KPP terms: {', '.join(KPP_MODELS)}", "KPPT")
    out: Path = option(Path, "file of weights, .bin, .nnue or .kpp (KPP); the checkpoint: FILE.run/")
    epochs: int = option(whole(1, 1000), "passes over the corpus (default 10; KPP 3, or 1 with --warm-start)", 0)
    threads: int = option(spin("Threads"), "default: all cores; KPP: 1 or 2, the default is 1", 0)
    positions: int = option(whole(), "use only the first POSITIONS (default: all)", 0)
    results: tuple[float, ...] = option(
        real(0, 1), "share of the game result in the target; several: spread over the run, linear between", (0.0,),
        many=True,
    )  # fmt: skip
    keep: int = option(whole(), "keep the weights of every KEEP-th epoch too, as FILE.EPOCH (0: none)", 0)
    warm_start: str = option(
        str, f"continue from these weights at small rates: a file, {INTERNAL} for a network, {KPP} for KPPT", ""
    )
    note: str = option(str, "a line for the card (the metadata) of the weights", "")
    checkpoint_minutes: float = 10.0

    @property
    def plan(self) -> dict[str, Any]:
        """The settings that are not only about files."""
        return {name: value for name, value in asdict(self).items() if name not in ("corpus", "out", "keep", "note")}

    def fill(self, **values: Any) -> None:
        """Set these fields unless they have a value."""
        for name, value in values.items():
            object.__setattr__(self, name, getattr(self, name) or value)


@dataclass(frozen=True, kw_only=True)
class TrainKpp(Train):
    """Settings of KPP weights."""

    runs = "kpp.train_kpp"
    threads: int = option(whole(1, 2), "threads; the weights are the same", 1)
    # Rates of P and tempo, KP, KKP, PP, PP by king zone, KPP, PP tempo, relative PP, relative PP tempo.
    rates: tuple[float, ...] = (0.02, 0.02, 0.003, 0.009, 0.003, 0.0008, 0.001, 0.006, 0.002)
    rate_decay: float = 0.6  # factor from epoch to epoch
    last_decay: float = 0.1  # factor over the last epoch, linear

    def __post_init__(self) -> None:
        super().__post_init__()
        self.fill(epochs=1 if self.warm_start else 3)
        object.__setattr__(self, "network", self.network.upper())


@dataclass(frozen=True, kw_only=True)
class TrainNetwork(Train):
    """Settings of a network. Rates are those of Adam for weights in natural units."""

    device: str = option(str, "device of torch: auto, cpu, cuda, cuda:1; not for KPP", "auto")
    batch: int = option(whole(1, 1 << 20), "positions of a step; not for KPP", 16384)
    loss_exponent: float = option(
        real(1, 8),
        "exponent of the error of the winning chance, such as 2.5 (default: cross entropy); not for KPP",
        0.0,
    )
    # Scores include the right to move; pruning margins and quiescence need values without it. Chosen by games
    # (docs/findings.md).
    tempo: int = option(whole(0, MOST_TEMPO), "centipawns left out of network values", 60)
    rate: float = option(
        real(0, 1), f"highest rate of a network (default 0: {NETWORK_RATE}, after a warm start {WARM_START_RATE})", 0.0
    )
    decay: float = option(real(0, 1), "weight decay of a network's transformer, times the rate", 0.3)
    seed: int = option(whole(), "seed of a network's first weights and of its order", 1)
    last_rate: float = 0.01  # share of the rate at the end
    epsilon: float = 1e-8  # of Adam; larger values slow down weights with small gradients
    rounded: float = 0.3  # last share of the steps, with rounded weights in the forward pass

    def __post_init__(self) -> None:
        super().__post_init__()
        self.fill(epochs=10, rate=WARM_START_RATE if self.warm_start else NETWORK_RATE)


def train_settings(**values: Any) -> Train:
    """Return the settings of the network or the KPP weights that `network` names. ValueError."""
    if str(values.get("network", Train.network)).upper() not in KPP_MODELS:
        return TrainNetwork(**values)
    wrong = values.keys() - options_of(TrainKpp)
    others = [flag_of(one) for name, one in options_of(TrainNetwork).items() if name in wrong]
    if others:
        raise ValueError(f"{', '.join(others)}: for networks only, not for KPP weights")
    return TrainKpp(**values)


@dataclass(frozen=True, kw_only=True)
class PlayRules(Settings):
    """How a player searches and plays its games."""

    nodes: int = 1500
    full_width: bool = False  # searches without late move pruning, reductions and quiescence limits
    seed: int = 1
    opening_plies: int = 8
    random_share: float = 0.5  # of opening moves; the others are searched
    opening_margin: int = 0  # centipawns; if set, every opening move is drawn from the moves within it of the best
    random_moves: float = 0.0  # share of later moves, while the score is within `random_score`
    random_score: int = 1500
    longest: int = 320  # plies; then the game is a draw
    resign: int = 1500  # centipawns for the same side that end a game after RESIGN_PLIES in a row
    play_out: float = 0.1  # share of games that are played to the end, so that endings are learned


@dataclass(frozen=True, kw_only=True)
class Searches(PlayRules):
    """Settings of commands that search positions of games."""

    out: Path = option(Path, "a .tsv file; resumes at its end")
    weights: tuple[str, ...] = option(str, f"{WEIGHTS}; several take turns", (INTERNAL,), many=True)
    nodes: int = option(whole(1, MOST_NODES), "nodes of each search", 800)
    threads: int = option(spin("Threads"), "games processed in parallel", 1)
    scheduler: str = option(str, "HOST:PORT of a Dask cluster whose workers are used instead of --threads", "")
    seed: int = option(whole(), "seed of the random choices", 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "full_width", self.nodes <= FULL_WIDTH_NODES)

    @property
    def rules(self) -> PlayRules:
        """The rules alone, for workers, which may lack the files."""
        return PlayRules(**{one.name: getattr(self, one.name) for one in fields(PlayRules)})

    @property
    def made(self) -> dict[str, Any]:
        """The settings that the games depend on."""
        others = ("out", "games", "openings", "threads", "scheduler")
        return {name: value for name, value in asdict(self).items() if name not in others}


@dataclass(frozen=True, kw_only=True)
class SelfPlay(Searches):
    """Play games against itself."""

    runs = "selfplay.selfplay"
    out: Path = option(Path, "a .tsv or, packed, a .games file")
    games: int = option(whole(1), "games in the file when it is complete")
    openings: Path | None = option(Path, "a file of sfens or `startpos moves ...` (default: the start position)", None)
    opening_plies: int = option(whole(), "plies after the opening that may be random", 8)
    opening_margin: int = option(whole(), "draw these from moves within this many centipawns", 0)
    random_moves: float = option(real(0, 1), "share of random moves after the opening", 0.0)
    play_out: float = option(real(0, 1), "share of games that are played to mate", 0.1)
    nodes: int = option(whole(1, MOST_NODES), "nodes of each search", 1500)


@dataclass(frozen=True, kw_only=True)
class OffGame(Searches):
    """Score positions that searches of game positions evaluate."""

    runs = "selfplay.append_off_game"
    games: tuple[Path, ...] = option(Path, GAMES, many=True, flag=False)
    positions: int = option(whole(1), "positions of each game", 20)
    samples: int = option(whole(1, MOST_SAMPLES), "most positions of each search", 4)
    nodes: int = option(whole(1, MOST_NODES), "nodes of each search", 200)


@dataclass(frozen=True, kw_only=True)
class Rescore(Searches):
    """Score games by new searches; moves and results stay."""

    runs = "selfplay.rescore"
    games: tuple[Path, ...] = option(Path, GAMES, many=True, flag=False)
    share: float = option(real(0, 1), "share of positions; the others keep their score", 1.0)


@dataclass(frozen=True, kw_only=True)
class Export(Settings):
    """Write scored positions for other trainers, as psv or hcpe."""

    runs = "corpus.sources.export_packed"
    games: tuple[Path, ...] = option(Path, GAMES, many=True, flag=False)
    out: Path = option(Path, "a file ending in .psv, .bin (the same) or .hcpe")


COMMANDS: dict[str, type[Settings]] = {
    "corpus": Corpus, "train": TrainNetwork, "selfplay": SelfPlay, "off-game": OffGame, "rescore": Rescore,
    "export": Export,
}  # fmt: skip
