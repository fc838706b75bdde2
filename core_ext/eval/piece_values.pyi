from collections.abc import Mapping

HIGHEST: int  # 10000

class PieceValues:
    def __init__(self, values: Mapping[str, int] | None = ...) -> None: ...
    def as_dict(self) -> dict[str, int]: ...
