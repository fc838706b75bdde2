"""Names of the evaluations: the special values of EvalFile, the files of the package, the error."""

from pathlib import Path

# Special values of EvalFile: plain piece values, the packaged network, the packaged KPP weights.
MATERIAL, INTERNAL, KPP = "material", "<internal>", "kpp"
DATA = Path(__file__).parents[1] / "data"
NETWORK_FILE = "nn.bin"  # in a folder that is named as a network
PACKAGED = {INTERNAL: DATA / NETWORK_FILE, KPP: DATA / "komadori.kpp"}


class WeightsError(Exception):
    """Weights that are missing, damaged or made for another version. The text is one sentence for the user."""
