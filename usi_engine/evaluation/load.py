"""What EvalFile and EvalDir name, loaded for play: piece values, KPP weights or a network (NNUE)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from usi_engine.evaluation.names import INTERNAL, KPP, MATERIAL, WeightsError
from usi_engine.evaluation.piece_values import SUFFIX as PIECE_VALUES
from usi_engine.evaluation.piece_values import read_piece_values
from usi_engine.usi.options import FV_SCALE

if TYPE_CHECKING:
    from core_ext.engine import Evaluation, Network

NETWORK_SUFFIXES = (".bin", ".nnue")
KPP_SUFFIX = ".kpp"
# Titles of what needs no path. The packaged network's is written here, as importing the reader of networks takes a
# twentieth of the time to `usiok`; a test compares it with the file.
TITLES = {INTERNAL: "NNUE K+P 1024", KPP: "KPP", MATERIAL: "material"}


def is_network(path: Path) -> bool:
    """Whether a path names a network: a folder, which holds an nn.bin, or a file of that format by its suffix."""
    return path.suffix.lower() in NETWORK_SUFFIXES or path.is_dir()


def packaged_network() -> Path:
    """The network that comes with the program."""
    return Path(__file__).parents[1] / "data" / "nn.bin"


def evaluation_file(name: str) -> Path | None:
    """The file that an EvalFile names, which need not exist; None for `material`. WeightsError where there is no such
    user.
    """
    from usi_engine.evaluation.network_file import file_of  # noqa: PLC0415  (when it is needed)

    if name == MATERIAL:
        return None
    if name in (INTERNAL, KPP):
        return packaged_network() if name == INTERNAL else packaged_network().with_name("komadori.kpp")
    try:
        return file_of(Path(name).expanduser())
    except RuntimeError as error:
        raise WeightsError(f"cannot read the evaluation '{name}': {error}") from None


def load_network(path: Path, fv_scale: int) -> Network:
    """A network in the standard format, nn.bin. WeightsError, MemoryError."""
    from core_ext.engine import Network  # noqa: PLC0415  (when it is needed)
    from usi_engine.evaluation.network_file import read_network  # noqa: PLC0415

    file = read_network(path)
    try:
        return Network(file.architecture.features, file.ft_bias, file.ft_weight, file.layers, fv_scale)
    except ValueError as error:
        raise WeightsError(f"the network '{path}' cannot be used: {error}") from None


def load_evaluation(name: str, fv_scale: int = FV_SCALE) -> Evaluation | None:
    """What an EvalFile names; None for `material`. WeightsError, MemoryError.

    `<internal>` names the network of the package, `kpp` its KPP weights; anything else is a path: of a network, an
    nn.bin or its folder, whose output has `fv_scale` units in a centipawn, of piece values, a text file with the suffix
    .txt, or of KPP weights.
    """
    if name == MATERIAL:
        return None
    try:
        if name == INTERNAL:
            return load_network(packaged_network(), FV_SCALE)
        path = Path() if name == KPP else Path(name).expanduser()
        if path.suffix.lower() == PIECE_VALUES:
            return read_piece_values(path)
        if name != KPP and is_network(path):
            return load_network(path, fv_scale)
        from usi_engine.evaluation.kpp_file import load_weights  # noqa: PLC0415  (brings numpy: for KPP alone)

        return load_weights(name)
    except ModuleNotFoundError as error:
        raise WeightsError(f"KPP weights cannot be read without the Python module '{error.name}'") from None
    except (OSError, ValueError, RuntimeError) as error:
        raise WeightsError(f"cannot read the evaluation '{name}': {error}") from None


def evaluation_title(name: str) -> str:
    """What an EvalFile names, for `id name`: one of TITLES, `NNUE` with features and width, or empty where that cannot
    be told. Of a network only the head of its file is read, of KPP weights nothing.
    """
    if name in TITLES:
        return TITLES[name]
    try:
        path = Path(name).expanduser()
        if is_network(path):
            return network_title(path)
    except (OSError, ValueError, RuntimeError):
        return ""
    return TITLES[KPP] if path.suffix.lower() == KPP_SUFFIX else ""


def network_title(path: Path) -> str:
    """`NNUE K+P 1024`: features and width. OSError, ValueError."""
    from usi_engine.evaluation.network_file import read_architecture  # noqa: PLC0415  (when it is needed)

    architecture = read_architecture(path)
    return f"NNUE {architecture.features} {architecture.width}"
