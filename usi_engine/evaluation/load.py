"""Loading of the evaluation that EvalFile and EvalDir name: piece values, KPP weights or a network (NNUE)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from usi_engine.core import Evaluation, Network, PieceValues
from usi_engine.evaluation.names import INTERNAL, KPP, MATERIAL, PACKAGED, Fault, WeightsError, named_errors, read_bytes
from usi_engine.language import _
from usi_engine.usi.options import FV_SCALE, Options
from usi_engine.usi.output import excerpt

NETWORK_SUFFIXES = (".bin", ".nnue")
KPP_SUFFIX = ".kpp"
PIECE_VALUES_SUFFIX = ".txt"
OPTIONS_FILE = "eval_options.txt"  # beside a network, with the values of options that its author advises
LARGEST_TEXT = 1 << 16  # bytes of a text of options or piece values
SHOWN = 60  # characters of a line of piece values in a message, and of a number
# Titles of the special values. Reading the packaged network's header would import network_file, which takes a
# twentieth of the time to `usiok`; a test compares its title with the file.
TITLES = {INTERNAL: "SFNN K+A2 1024", KPP: "KPP", MATERIAL: "material"}


def is_network(path: Path) -> bool:
    """Return True for a folder (which should contain nn.bin) and for a file with a network's suffix."""
    return path.suffix.lower() in NETWORK_SUFFIXES or path.is_dir()


def evaluation_file(name: str) -> Path | None:
    """Return the file that an EvalFile names, whether it exists or not; None for `material`. WeightsError."""
    from usi_engine.evaluation.network_file import network_path  # noqa: PLC0415  (slow to import, see TITLES)

    if name == MATERIAL:
        return None
    with named_errors("evaluation", name):
        return PACKAGED.get(name) or network_path(Path(name).expanduser())


def file_stamp(name: str) -> tuple[int, int] | None:
    """Return time and size of the file that an EvalFile names; None without one."""
    with suppress(WeightsError, OSError, ValueError):
        if file := evaluation_file(name):
            return file.stat().st_mtime_ns, file.stat().st_size
    return None


def load_network(path: Path, fv_scale: int) -> Network:
    """Load a network in the standard format, nn.bin. WeightsError, MemoryError."""
    from core_ext.engine import Network  # noqa: PLC0415  (`id name` needs no core)
    from usi_engine.evaluation.network_file import read_network  # noqa: PLC0415

    file = read_network(path)
    with named_errors("network", path):
        try:
            return Network(file.architecture, file.bias, file.weight, file.dense, file.progress, fv_scale)
        except ValueError as error:
            raise Fault(str(error)) from None


def named_network(name: str) -> Path | None:
    """Return the file of a network that EvalFile names by its path, whether it exists or not; else None."""
    with suppress(WeightsError):  # load_evaluation reports it
        file = evaluation_file(name)
        if name not in PACKAGED and file is not None and is_network(file):
            return file
    return None


def eval_options(name: str) -> list[str]:
    """Return the lines of the eval_options.txt beside the network that an EvalFile names. WeightsError.

    There are none without both files, and for other evaluations.
    """
    file = named_network(name)
    if file is None:
        return []
    with named_errors("options", path := file.parent / OPTIONS_FILE):
        if not (file.exists() and path.exists()):
            return []
        return read_bytes(path, LARGEST_TEXT).decode("utf-8-sig", "replace").splitlines()


def load_evaluation(name: str, fv_scale: int = 0) -> Evaluation | None:
    """Load the evaluation that an EvalFile names; None for `material`. WeightsError, MemoryError.

    A name that is not special is a path: of a network (an nn.bin or its folder), of piece values (.txt), or of KPP
    weights. `fv_scale` is the number of a network's output units per centipawn, 0 for that of its eval_options.txt,
    FV_SCALE without one; the packaged network has its own.
    """
    if name == MATERIAL:
        return None
    if name == INTERNAL:
        return load_network(PACKAGED[INTERNAL], FV_SCALE)
    try:
        with named_errors("evaluation", name):
            path = PACKAGED.get(name) or Path(name).expanduser()
            if is_network(path):
                return load_network(path, fv_scale or file_scale(name))
            if path.suffix.lower() == PIECE_VALUES_SUFFIX:
                return read_piece_values(path)
            if not path.exists():
                raise Fault("there is no such file")
            from usi_engine.evaluation.kpp_file import load_weights  # noqa: PLC0415  (imports numpy)

            return load_weights(name)
    except ModuleNotFoundError as error:
        message = _("KPP weights need the Python module '{name}'; pip install {name}")
        raise WeightsError(message.format(name=error.name)) from None


def advised_scale(lines: Iterable[str]) -> int:
    """Return the FV_SCALE in the lines of an eval_options.txt, or the usual one."""
    options = Options()
    options.advise(lines)
    return options.number("FV_SCALE") or FV_SCALE


def file_scale(name: str) -> int:
    """Return the FV_SCALE of a network's eval_options.txt, or the usual one, also if the file is refused."""
    with suppress(WeightsError):  # play reports it
        return advised_scale(eval_options(name))
    return FV_SCALE


def evaluation_title(name: str) -> str:
    """Return a title for `id name`, such as `SFNN HalfKA2 1024`; empty if unknown. Reads only a network's header."""
    if name in TITLES:
        return TITLES[name]
    with suppress(OSError, ValueError, RuntimeError):
        path = Path(name).expanduser()
        if is_network(path):
            return network_title(path)
        if path.suffix.lower() == KPP_SUFFIX:
            return TITLES[KPP]
    return ""


def network_title(path: Path) -> str:
    """Return form, features and width, as `SFNN HalfKA2 1024` or `NNUE K+P 256`. OSError, ValueError."""
    from usi_engine.evaluation.network_file import read_architecture  # noqa: PLC0415  (slow to import, see TITLES)

    architecture = read_architecture(path)
    return f"{'SFNN' if architecture.sfnn else 'NNUE'} {architecture.features} {architecture.width}"


def read_piece_values(path: Path) -> PieceValues:
    """Read piece values from a text file, for the material evaluation. WeightsError.

    A line has a piece as in an sfen and its value in centipawns, such as `P 100`; `#` begins a comment. Pieces that are
    not named keep their usual values.
    """
    with named_errors("piece values", path):
        try:
            text = read_bytes(path, LARGEST_TEXT).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Fault("it is not UTF-8 text") from None
        return parse_piece_values(text)


def parse_piece_values(text: str) -> PieceValues:
    """Read the values from text. Fault, which quotes the line."""
    from core_ext.engine import PieceValues  # noqa: PLC0415  (`id name` needs no core)

    values: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            try:
                values.update(_parse_line(words, values))
                PieceValues(values)
            except ValueError as error:
                raise Fault(f"line {number} '{excerpt(line, SHOWN)}': {error}") from None
    return PieceValues(values)


def _parse_line(words: list[str], known: dict[str, int]) -> dict[str, int]:
    if len(words) != 2 or not (words[1].isascii() and words[1].lstrip("-").isdigit()) or len(words[1]) > SHOWN:
        raise ValueError("this is not a piece and its value, as in 'P 90'")
    if words[0] in known:
        raise ValueError(f"'{words[0]}' has a value already")
    return {words[0]: int(words[1])}
