"""Weights of progress, by which some networks select the layer stack. Training fits them before the network.

A position's progress is the share of the corpus's plies that are below its own, so that all stacks are used equally.
The logit is a sum of weights of own king and piece from both perspectives, each a part of the piece and one of the
king's square, and is fitted by logistic regression.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from core_ext.engine import BONAPIECES, SQUARES
from usi_engine.learn.nnue.device import Ranks
from usi_engine.learn.nnue.inputs import LISTED, PLY, Expander

UNIT = 65536  # of a logit
RATE, LAST_RATE = 0.02, 0.001


def fit_progress(expander: Expander, batches: Iterable[tuple[Tensor, Tensor]], steps: int, ranks: Ranks) -> None:
    """Set the expander's weights of progress from batches of words and mirror bits."""
    device = expander.starts.device
    pieces, kings = (torch.zeros(size, device=device, requires_grad=True) for size in (BONAPIECES, SQUARES))
    bias = torch.zeros((), device=device, requires_grad=True)
    optimizer = torch.optim.Adam([pieces, kings, bias], lr=RATE)
    plies: Tensor | None = None
    for step, (words, mirror) in enumerate(batches):
        ply = words[:, PLY].long() & 0xFFFF
        plies = ply.sort()[0] if plies is None else plies
        if plies[len(plies) // 4] == plies[len(plies) * 3 // 4]:
            raise ValueError("half of the positions have the same ply: .hcpe has none; use other stacks than progressN")
        target = torch.searchsorted(plies, ply) / len(plies)
        own, _, numbers = expander.seen(words, expander.sides(words), mirror.expand(2, -1))
        logit = bias + pieces[numbers].sum((0, 2)) + kings[own].sum(0)
        optimizer.param_groups[0]["lr"] = RATE * (LAST_RATE / RATE) ** (step / steps)
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(logit, target).backward()
        ranks.add_up(value.grad for value in (pieces, kings, bias))
        optimizer.step()
        with torch.no_grad():
            pieces[0] = 0  # no piece
    with torch.no_grad():
        weights = ((pieces + kings[:, None] / LISTED) * UNIT).round().int().cpu().numpy()
        weights[:, 0] = 0
    expander.set_progress(round(bias.item() * UNIT), weights)


def export_progress(expander: Expander) -> tuple[int, npt.NDArray[np.int32]]:
    """Return bias and weights as in the file."""
    return expander.progress_bias, expander.progress.cpu().numpy().astype(np.int32)
