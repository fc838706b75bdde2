"""The table of tune.pxd's constants and its door for tuning.

A row is (name, default, least, greatest), in the order of the enum.
"""

_TABLE = (
    ("ReverseFutilityDepth", 9, 0, 20),
    ("ReverseFutilitySlope", 143, 10, 400),
    ("NullMargin", 317, -400, 1000),
    ("NullSlope", 16, 0, 100),
    ("NullBase", 4, 1, 8),
    ("NullDivisor", 3, 2, 8),
    ("NullEval", 216, 20, 1000),
    ("NullVerify", 14, 4, 127),
    ("IirDepth", 4, 1, 127),
    ("ProbcutDepth", 5, 3, 127),
    ("ProbcutMargin", 232, 50, 800),
    ("LmpBase", 11, 1, 40),
    ("LmpDepth", 20, 0, 127),
    ("LmpSlope", 86, 4, 400),
    ("FutilityDepth", 11, 0, 30),
    ("FutilityBase", 144, 0, 800),
    ("FutilitySlope", 86, 10, 400),
    ("CaptureFutilityBase", 163, 0, 800),
    ("CaptureFutilitySlope", 192, 10, 600),
    ("HistoryPrune", 3536, 200, 30000),
    ("QuietSeeSlope", 15, 1, 200),
    ("CaptureSeeSlope", 102, 10, 400),
    ("SingularDepth", 7, 4, 127),
    ("SingularMargin", 36, 8, 400),
    ("DoubleMargin", 18, 0, 400),
    ("CheckExtensionDepth", 127, 0, 127),
    ("LmrScale", 18, 4, 60),
    ("LmrBase", -34, -3000, 4000),
    ("LmrNotImproving", 662, 0, 4000),
    ("LmrCut", 1719, 0, 5000),
    ("LmrPv", 1512, 0, 5000),
    ("LmrCheck", 1289, 0, 5000),
    ("LmrKiller", 2298, 0, 5000),
    ("LmrHistory", 16, 1, 100),
    ("QuiescenceFutility", 337, 0, 1000),
    ("QuiescenceChecks", 1, 0, 4),
    ("MateInOne", 1, 0, 1),
    ("CorrectionWeight", 83, 0, 400),
    ("BonusSlope", 210, 10, 1000),
    ("BonusLimit", 2521, 100, 7000),
    ("MalusSlope", 139, 10, 2000),
    ("MalusLimit", 1695, 100, 7000),
    ("PriorBonus", 65, 0, 200),
    ("ResearchBonus", 95, 0, 200),
    ("HashCutBonus", 30, 0, 200),
    ("CheckBonus", 4111, 0, 30000),
    ("CorrectionPawns", 46, 0, 400),
    ("CorrectionCastle", 73, 0, 400),
    ("LmrHashCapture", 1411, 0, 4000),
    ("LmrCutoffs", 359, 0, 4000),
    ("DeeperMargin", 50, 0, 300),
    ("CaptureWeight", 14, 1, 60),
    ("LosingShare", 28, 1, 200),
    ("ShapeOrder", 24, 0, 200),
    ("ShapeHistory", 39, 0, 200),
    ("StandPatShare", 50, 0, 100),
    ("QuiescenceMoves", 3, 1, 500),
    ("MateScout", 1, 0, 100),
)

_INDEX = {row[0]: i for i, row in enumerate(_TABLE)}


def tunables() -> list[tuple[str, int, int, int, int]]:
    """Every constant: name, value now, default, least, greatest."""
    return [(name, tune[<int>i], default, least, greatest) for i, (name, default, least, greatest) in enumerate(_TABLE)]


def tunable(name: str) -> int:
    """The value now. KeyError where there is none of that name."""
    return tune[<int>_INDEX[name]]


def set_tunable(name: str, value: int) -> None:
    """For the next searches of this process; ValueError where the name or the range is wrong."""
    if name not in _INDEX:
        raise ValueError(f"unknown constant '{name}'")
    _, _, least, greatest = _TABLE[_INDEX[name]]
    if not least <= value <= greatest:
        raise ValueError(f"{name} = {value} is not within {least} and {greatest}")
    tune[<int>_INDEX[name]] = value


for _i, _row in enumerate(_TABLE):
    tune[<int>_i] = _row[1]
if len(_TABLE) != TUNABLES:
    raise RuntimeError("tune.pxd and tune.pyx do not list the same constants")
