"""The data set of positions."""

from pathlib import Path

from torch.utils.data import DataLoader

from usi_engine import LabelledPosition, PositionDataset


def label(position: LabelledPosition) -> tuple[str, int]:
    return position.move, position.score or 0


def test_every_position_comes_once_in_the_order_of_seed_and_epoch(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.tsv" for number in range(4)]
    moves = ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e"]
    for number, file in enumerate(files):
        scored = " ".join(f"{move} {10 * number + ply}" for ply, move in enumerate(moves))
        file.write_text(f"b\tresign\tstartpos\t{scored}\n" * 3)
    data = PositionDataset(files, label, buffer=8)
    first, again = list(data), list(data)
    data.epoch = 1
    second, expected = list(data), [(move, 10 * number + ply) for number in range(4) for ply, move in enumerate(moves)]
    assert first == again != second
    assert sorted(first) == sorted(second) == sorted(expected * 3)
    shared = DataLoader(data, batch_size=None, num_workers=2)
    assert sorted((move, score) for move, score in shared) == sorted(expected * 3)
    assert list(PositionDataset(files[:1], label, buffer=0)) == expected[:6] * 3
