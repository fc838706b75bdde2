"""The device that trains, its recorded steps, and the processes that share a training under torchrun."""

import atexit
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Ranks:
    """This process among those that train together. Each takes its part of every batch."""

    rank: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def add_up(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its sum over the processes."""
        if self.count > 1:
            for tensor in tensors:
                dist.all_reduce(tensor)

    def wait(self) -> None:
        """Wait for all processes, as after the first has written a file."""
        if self.count > 1:
            dist.barrier()


class Recorded:
    """A step of fixed shapes that a GPU repeats from a recording (CUDA graph).

    Without one, a step of hundreds of small operations takes twice as long to launch as to compute.
    """

    def __init__(self, step: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.step, self.first_steps = step, 3  # not recorded: libraries allocate their buffers in them
        self.graph = torch.cuda.CUDAGraph()
        self.given: tuple[Tensor, Tensor] | None = None
        self.result = torch.empty(0)

    def __call__(self, words: Tensor, mirror: Tensor) -> Tensor:
        if self.first_steps:
            self.first_steps -= 1
            return self.step(words, mirror)
        if self.given is None:
            self.given = words.clone(), mirror.clone()
            # Threads that read positions allocate memory meanwhile, which other error modes forbid.
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self.result = self.step(*self.given)
        self.given[0].copy_(words)
        self.given[1].copy_(mirror)
        self.graph.replay()
        return self.result.clone()


def first_sentence(error: Exception) -> str:
    """Return the beginning of a message of torch, which may be long."""
    return str(error).partition("\n")[0].partition(". ")[0]


def choose_device(name: str, threads: int) -> str:
    """Return the torch device of this process for `auto` or a name of torch's. ValueError."""
    if threads:
        torch.set_num_threads(threads)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:  # torch without CUDA raises the latter
        raise ValueError(f"--device {name}: {first_sentence(error)}") from None
    if name == "cuda":
        name = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    if name.startswith("cuda"):
        torch.cuda.set_device(name)
        torch.set_float32_matmul_precision("high")  # TF32: exact for the integers of the rounded steps
    return name


def join_ranks(device: str) -> Ranks:
    """Join the processes that torchrun started, if it did."""
    if "WORLD_SIZE" not in os.environ:
        return Ranks()
    if not dist.is_initialized():
        dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
        atexit.register(dist.destroy_process_group)
    return Ranks(dist.get_rank(), dist.get_world_size())
