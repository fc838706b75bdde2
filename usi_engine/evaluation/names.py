"""Names of the evaluations: the special values of EvalFile, the error."""

# Special values of EvalFile: plain piece values, the packaged network, the packaged KPP weights.
MATERIAL, INTERNAL, KPP = "material", "<internal>", "kpp"


class WeightsError(Exception):
    """Weights are missing, damaged or made for another version. The text is one sentence for the user."""
