"""Inputs of a network from compact training positions, computed on the device by torch operations on small tables.

The caller decides which positions are mirrored. Both perspectives are listed, that of the side to move first. Squares
run file by file from 1a; every table is seen from the perspective of one side, whose home ranks are 6 to 8 counted from
0.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from core_ext.corpus import NO_RESULT, NO_SCORE, RESULT_UNIT, TRAINING_POSITION
from core_ext.features import FeatureNumbers
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.parts import BONAPIECES, MIRRORED, SQUARES, FeatureSet, Hands
from usi_engine.search.results import CENTIPAWNS

Table = npt.NDArray[np.int64]

HAND_SIZES = (19, 5, 5, 5, 5, 3, 3)  # numbers of a pawn, lance, knight, silver, gold, bishop, rook in one hand
HAND_END = 2 * sum(HAND_SIZES)
OFFSETS = 17  # differences of files or ranks

_SQUARE = np.arange(SQUARES)
_FILE, _RANK = _SQUARE // 9, _SQUARE % 9
MIRROR_SQUARE: Table = (8 - _FILE) * 9 + _RANK
# Words of 16 bits of a position that a device needs, from the pieces to the end.
_FIELDS = TRAINING_POSITION.fields
assert _FIELDS is not None
FIRST_WORD, WORDS = _FIELDS["pieces"][1] // 2, TRAINING_POSITION.itemsize // 2
LISTED = 38
PLY, SCORE, KING_PAIR, SIDE = (_FIELDS[name][1] // 2 - FIRST_WORD for name in ("ply", "score", "king", "side"))
LARGEST_BLOCK = 64


def compact(positions: npt.NDArray[np.void]) -> npt.NDArray[np.int16]:
    """Return the words of positions that a device needs: [positions][42]."""
    return positions.view(np.int16).reshape(len(positions), WORDS)[:, FIRST_WORD:]


# ---- tables ----


def offsets(kind: FeatureSet) -> Table:
    """Return the row that each bucket and number on the board shares with equal offsets from the king."""
    king, number = np.arange(kind.buckets)[:, np.newaxis], np.arange(HAND_END, kind.numbers)
    piece, square = np.divmod(number - HAND_END, SQUARES)
    files, ranks = square // 9 - king // 9 + 8, square % 9 - king % 9 + 8
    return (piece * OFFSETS + files) * OFFSETS + ranks


def offset_rows(kind: FeatureSet) -> int:
    return (kind.numbers - HAND_END) // SQUARES * OFFSETS**2


def hand_table(classes: Hands) -> Table:
    """Return the bit or the points of each number in the own hand, 0 for all other numbers."""
    table, at = np.zeros(BONAPIECES, np.int64), 0
    for size, value in zip(HAND_SIZES, classes.kinds, strict=True):
        table[at + 1 : at + size] = value
        at += 2 * size
    return table


# ---- inputs ----


@dataclass
class Inputs:
    """A batch in the order of its layer stacks, in blocks of equal size whose positions share a stack.

    Blocks are filled up with positions of weight 0. `rows` are the places in the batch before it was ordered.
    """

    features: Tensor  # [2][n][active], the side to move first; number 0 of a block of features is no piece
    stacks: Tensor  # of each block; a single 0 if there is one stack
    rows: Tensor
    weight: Tensor  # 1, or 0 for a position that fills up
    target: Tensor  # win probability of the side to move

    def chunks(self, most: int) -> Iterator[tuple[slice, Tensor]]:
        """Yield slices of about `most` positions and the stacks of their blocks."""
        n, blocks = len(self.rows), len(self.stacks)
        if blocks == 1:
            for at in range(0, n, most):
                yield slice(at, min(at + most, n)), self.stacks
            return
        size = n // blocks
        step = max(1, most // size)
        for at in range(0, blocks, step):
            stacks = self.stacks[at : at + step]
            yield slice(at * size, (at + len(stacks)) * size), stacks


def block_size(positions: int, stacks: int) -> int:
    """Return a size of blocks, a power of two, at which few places are filled up if all stacks occur."""
    size = LARGEST_BLOCK
    while size > 4 and size * 8 * stacks > positions:
        size //= 2
    return size


def in_blocks(stack: Tensor, stacks: int, size: int, fixed: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Order positions by stack in blocks: return the stack of each block, rows and weights of its positions.

    `fixed` appends empty blocks up to the largest possible number, so that the host need not wait for a GPU's counts.
    """
    order = torch.sort(stack, stable=True)[1]
    counts = torch.zeros(stacks, dtype=torch.long, device=stack.device).index_add_(0, stack, torch.ones_like(stack))
    blocks, total = (counts + size - 1) // size, None
    if fixed:
        total = min(len(stack) // size + stacks, len(stack))
        blocks[-1] += total - blocks.sum()
    of_block = torch.repeat_interleave(torch.arange(stacks, device=stack.device), blocks, output_size=total)
    number = torch.arange(len(of_block), device=stack.device) - (blocks.cumsum(0) - blocks)[of_block]
    place = number[:, None] * size + torch.arange(size, device=stack.device)
    rows = order[((counts.cumsum(0) - counts)[of_block, None] + place).clamp(max=len(stack) - 1)]
    return of_block, rows.flatten(), (place < counts[of_block, None]).flatten().float()


def own_kings(words: Tensor, sides: Tensor) -> Tensor:
    """Return the king of each perspective as its owner sees it, not mirrored: [2][n]."""
    pair = words[:, KING_PAIR].long()
    return torch.where(sides == 0, pair & 0xFF, pair >> 8)


class Expander:
    """The features, layer stacks and targets of positions on one device."""

    def __init__(self, architecture: Architecture, device: str) -> None:
        self.architecture, self.kind = architecture, architecture.feature_set
        self.result_share = torch.zeros((), device=device)  # in the targets
        self.fixed_blocks = device.startswith("cuda")
        self.views = torch.from_numpy(FeatureNumbers(self.kind).views().astype(np.int64)).to(device).flatten()
        self.squares = torch.from_numpy(np.stack([np.arange(SQUARES), MIRROR_SQUARE])).to(device).flatten()
        self.hands = self.zones = None
        if architecture.hand_classes:
            self.hands = torch.from_numpy(hand_table(architecture.hand_classes)).to(device)
        if architecture.king_zones:
            self.zones = torch.tensor(architecture.king_zones, device=device)
        self.set_progress(0, np.zeros((SQUARES, BONAPIECES), np.int32))
        self.starts = torch.tensor(architecture.progress_starts, device=device)

    def set_progress(self, bias: int, weights: npt.NDArray[np.int32]) -> None:
        """Set the weights of progress by the own king's square and the number, as in the file."""
        self.progress_bias, self.progress = bias, torch.from_numpy(weights.astype(np.int64)).to(self.views.device)

    def __call__(self, words: Tensor, mirror: Tensor) -> Inputs:
        """Return the inputs of positions, int16 [n][42], each mirrored or not (int64, 1 or 0)."""
        sides = self.sides(words)
        own, enemy, numbers = self.seen(words, sides, mirror.expand(2, -1))
        stack, target = self.stack(own, numbers), self.targets(words)
        if self.kind.buckets == MIRRORED:
            own, enemy, numbers = self.seen(words, sides, self.by_king(words, sides, mirror))
        features = self.features(own, enemy, numbers)
        if stack is None:
            rows = torch.arange(len(words), device=words.device)
            return Inputs(features, torch.zeros_like(rows[:1]), rows, torch.ones_like(target), target)
        count = self.architecture.stacks
        stacks, rows, weight = in_blocks(stack, count, block_size(len(words), count), self.fixed_blocks)
        return Inputs(features[:, rows], stacks, rows, weight, target[rows])

    @staticmethod
    def sides(words: Tensor) -> Tensor:
        """Return the colours of both perspectives, the side to move first: [2][n]."""
        side = words[:, SIDE].long() & 0xFF
        return torch.stack([side, 1 - side])

    def seen(self, words: Tensor, sides: Tensor, mirror: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the own king and the enemy's [2][n], and the numbers [2][n][38], from each perspective."""
        kings = own_kings(words, sides)
        numbers = words[:, :LISTED].long() + ((sides + 2 * mirror) * BONAPIECES)[:, :, None]
        own, enemy = (self.squares[square + mirror * SQUARES] for square in (kings, SQUARES - 1 - kings.flip(0)))
        return own, enemy, self.views[numbers]

    @staticmethod
    def by_king(words: Tensor, sides: Tensor, mirror: Tensor) -> Tensor:
        """Return whether each perspective is mirrored so that its king is on files 1 to 5."""
        files = own_kings(words, sides) // 9
        return torch.where(files == 4, mirror, (files > 4).long())

    def features(self, own: Tensor, enemy: Tensor, numbers: Tensor) -> Tensor:
        """Return the active features of both perspectives, int32 [2][n][active]."""
        kings = [(plane, king) for pair in self.kind.kings for plane, king in zip(pair, (own, enemy), strict=True)]
        planes = [BONAPIECES + plane * SQUARES + king for plane, king in kings]
        found = torch.cat([numbers, torch.stack(planes, 2)], 2) if planes else numbers
        return (found + (own * self.kind.numbers)[:, :, None] if self.kind.buckets > 1 else found).int()

    def stack(self, own: Tensor, numbers: Tensor) -> Tensor | None:
        """Return the layer stack of each position; None if there is only one."""
        parts = []
        if self.hands is not None and self.architecture.hand_classes:
            parts += [(self.hand_index(side), self.architecture.hand_classes.count) for side in numbers]
        if self.zones is not None:
            parts += [(self.zones[king], 1 + max(self.architecture.king_zones)) for king in own]
        if len(self.starts):
            parts += [(torch.bucketize(self.progress_sum(own, numbers), self.starts, right=True), len(self.starts) + 1)]
        if not parts:
            return None
        index = torch.zeros_like(own[0])
        for part, count in parts:
            index = index * count + part
        return index

    def hand_index(self, numbers: Tensor) -> Tensor:
        classes = self.architecture.hand_classes
        assert self.hands is not None and classes is not None
        given = self.hands[numbers]
        if classes.points:
            return ((given.sum(1) + classes.points - 1) // classes.points).clamp(max=classes.count - 1)
        bits = [1 << bit for bit in range(classes.count.bit_length() - 1)]
        return torch.stack([(given == bit).any(1).long() * bit for bit in bits]).sum(0)

    def progress_sum(self, own: Tensor, numbers: Tensor) -> Tensor:
        """Return the logit of progress times 65536."""
        return self.progress_bias + self.progress[own[:, :, None], numbers].sum((0, 2))

    def targets(self, words: Tensor) -> Tensor:
        """Return the win probability of the side to move that each position teaches."""
        last = words[:, SIDE].long()
        sign, result = 1 - 2 * (last & 0xFF), last >> 8
        score = words[:, SCORE].long()
        searched = torch.sigmoid(sign * score / CENTIPAWNS)
        won = (1 + sign * result / RESULT_UNIT) / 2
        share = torch.where(result == NO_RESULT, 0.0, self.result_share)
        return torch.where(score == NO_SCORE, won, (1 - share) * searched + share * won)
