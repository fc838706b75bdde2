"""Misuse of every public class and function of core_ext, found by reflection: `python -m tests.fuzz.misuse`.

Each is called with good, wrong and hostile arguments: in any order, twice, in two threads at once, from inside another
call, on objects without `__init__` and after a second one. Any exception is an answer; a crash ends the process.
`make fuzz-sanitize` runs it under AddressSanitizer.
"""

import argparse
import faulthandler
import gc
import importlib
import inspect
import random
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import core_ext
from core_ext.board import Board
from core_ext.corpus import TRAINING_POSITION
from core_ext.engine import BONAPIECES, HALF_SQUARES, PAIRS, StopToken
from core_ext.training import SIZES
from usi_engine.evaluation.parts import FEATURE_SETS

# These wait for a second thread, or allocate and fill as much as they are told.
LEFT_OUT = {"learn_shard"}
KEPT = 4  # objects of a class
TRIES = 3  # calls in a row of one method, before it and its object change
SEARCH_SECONDS = 0.05  # between two stops of everything that searches
TEXTS = [
    "startpos", "7g7f", "P*5e", "pass", "", "x" * 3000, "駒", "\udcff", "5e", "+7776FU", "７六歩", "▲７六歩", "first",
    "shortest", "piece", "kp", "pp_tempo", "CSARule27", "TryRule", "R", "+P", "4k4/9/9/9/9/9/9/9/4K4 b 2G 1", "K+P",
    "9/9/9/9/9/9/9/9/9 b - 1", "7k1/9/9/9/9/9/9/9/9 b 2G 1", "NullMargin", "b", "b G 1", "tempo", "kpp", "relative",
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 3, 5, 44, 45, 80, 81, 247, 32000, -32000, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 2**63, 2**64]
SMALL = {"megabytes": [1, 2, 0, -1, 2**31, 2**63], "depth": [0, 1, 2, 3, -1, 250], "size": [0, 1, 7, 4096, -1, 2**62],
         "count": [0, 1, 3, 65, -1, 2**25, 2**62], "threads": [1, 2, 4, 0, 65, 2**31],
         "room": [1, 256, 0, 2**16, 2**17, -1], "node_limit": [0, 1, 500, 5000, -1, 2**63]}  # fmt: skip
CORE = Path(core_ext.__file__).parent
ARRAYS = "positions record numbers data piece kp kkp pp kpp bias weight dense progress pairs relative"
STRINGS = "sfen move text square name aim declaration rule previous"
SHAPES = [0, 1, 2, 8, 38, 64, BONAPIECES, 1710, SIZES["piece"]]


class Sly(int):
    """A number that claims to be in every range and is not the same twice."""

    answers = random.Random(1)

    def __lt__(self, other: object) -> bool:
        return Sly.answers.random() < 0.5

    __gt__ = __le__ = __ge__ = __eq__ = __ne__ = __lt__
    __hash__ = int.__hash__

    def __index__(self) -> int:
        return Sly.answers.choice(NUMBERS)

    __int__ = __index__


class Index:
    """An integer by `__index__` alone, which makes another call of the fuzzer before it answers."""

    def __init__(self, call: Callable[[], None], value: int) -> None:
        self._call, self._value = call, value

    def __index__(self) -> int:
        self._call()
        return self._value

    def __lt__(self, other: object) -> bool:
        self._call()
        return True

    __gt__ = __le__ = __ge__ = __eq__ = __lt__
    __hash__ = None  # type: ignore[assignment]

    def __float__(self) -> float:
        return float(self.__index__())


def parameters(callable_: Any) -> list[str]:
    """Return the names of the parameters, from the signature or the first line of the docstring."""
    with suppress(ValueError, TypeError):
        return [name for name in inspect.signature(callable_).parameters if name != "self"]
    head = re.match(r"[\w.]+\((.*?)\)\s*(?:->.*)?$", (callable_.__doc__ or "").partition("\n")[0])
    parts = head[1].split(",") if head else []
    names = [re.split("[:=]", part)[0].split()[-1] for part in parts if part.strip()]
    return [name for name in names if name not in ("self", "*", "/", "args", "kwargs")]


def public_names() -> set[Any]:
    """Return the public classes and functions of all modules of the core that are not for tests."""
    found = set()
    for path in [*CORE.rglob("*.pyx"), *CORE.rglob("*.py")]:
        if not path.name.startswith("_"):
            name = ".".join(("core_ext", *path.relative_to(CORE).with_suffix("").parts))
            offered = [value for key, value in vars(importlib.import_module(name)).items() if not key.startswith("_")]
            found |= {value for value in offered if callable(value) and getattr(value, "__module__", "") == name}
    return found


class Misuse:
    """Calls with random arguments; `counts` has how often each name was called."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.live: dict[type, list[Any]] = {}
        self.depth = 0
        found = public_names()
        self.classes = sorted((one for one in found if inspect.isclass(one)), key=lambda one: one.__qualname__)
        self.functions = sorted(
            (one for one in found if not inspect.isclass(one) and one.__name__ not in LEFT_OUT),
            key=lambda one: (one.__module__, one.__qualname__),
        )
        self.stops: list[StopToken] = []
        self.ended = threading.Event()

    # Arguments.

    def argument(self, name: str) -> Any:
        """Return a value for a parameter of this name, sometimes one of any kind."""
        if self.rng.random() < 0.15:
            return self.rng.choice(self.anything())()
        makers: list[tuple[str, Callable[[], Any]]] = [
            (
                "boards",
                lambda: self.rng.choice([self.of_class("Board"), self.of_class("BoardBatch"), self.live[Board]]),
            ),
            ("described", lambda: self.rng.choice([*FEATURE_SETS.values()])),
            ("numbers", lambda: self.rng.choice([self.of_class("FeatureNumbers"), self.array(name)])),
            ("board table rendezvous", lambda: self.of_class(name.capitalize())),
            ("other", lambda: self.of_class("Board")),
            ("stop", lambda: self.of_class("StopToken")),
            ("weights", lambda: self.of_class(self.rng.choice(["KppWeights", "Network", "PieceValues"]))),
            ("architecture", self.architecture),
            ("terms moves legal texts", lambda: [self.rng.choice(TEXTS) for _ in range(self.rng.randrange(4))]),
            ("scores values places rates", self.rng.choice([self.numbers, self.array])),
            (ARRAYS, lambda: self.array(name)),
            (STRINGS, lambda: self.rng.choice(TEXTS)),
        ]
        return next((make() for names, make in makers if name in names.split()), self.number(name))

    def numbers(self) -> list[Any]:
        return [self.number("") for _ in range(self.rng.choice([1, 2, 9]))]

    def number(self, name: str) -> Any:
        value = self.rng.choice(SMALL.get(name, NUMBERS))
        kind = self.rng.randrange(12)
        if kind == 0 and name not in SMALL:
            return Sly(value)
        if kind == 1:
            return Index(self.step, value)
        return value

    def array(self, name: str = "") -> Any:
        """Return an array of any type and size, often of the right ones."""
        rng = self.rng
        right = {"kp": HALF_SQUARES * BONAPIECES, "pp": PAIRS, "kpp": PAIRS, "piece": BONAPIECES, "pairs": PAIRS}
        count = right[name] if name in right and rng.random() < 0.4 else rng.choice(SHAPES)
        if name == "positions" or rng.random() < 0.1:
            made: Any = np.zeros(min(count, 64), TRAINING_POSITION)
            made["king"] = rng.choice([0, 40, 80, 81, 255])
            made["pieces"][:, : rng.randrange(39)] = rng.choice([0, 1, 77, 1547, 1548, 65535])
        else:
            kind = rng.choice(["i2", "i4", "u1", "f4", "f8", "i1", "O"])
            made = np.full(count, rng.choice([0, 1, -1, 100]) if kind != "u1" else 255).astype(kind)
        shape = rng.randrange(7)
        if shape == 0:
            made = made[::-1] if rng.random() < 0.5 else made[::2]
        elif shape == 1:
            made.setflags(write=False)
        elif shape == 2:
            made = made.reshape(-1, 1) if rng.random() < 0.5 else np.zeros((1710, 64), np.int16)
        elif shape == 3:
            made = made.tobytes()
        return made

    def architecture(self) -> Any:
        choices: dict[str, list[Any]] = {
            "feature_set": [*FEATURE_SETS.values(), SimpleNamespace(buckets=Sly(81), kings=[(Sly(0), 1), (2, Sly(3))])],
            "width": [64, 128, 0, Sly(64)], "hidden1": [8, 7, 15, 0, Sly(8)], "hidden2": [8, 32, -1, Sly(8)],
            "sfnn": [0, 1], "common": [0, 32, Sly(0)], "shards": [1, 2, 0, Sly(1)],
            "hand_classes": [None, SimpleNamespace(kinds=[1, 1, 1, 2, 2, Sly(4), 8], points=Sly(0))],
            "king_zones": [(), [0] * 80 + [Sly(1)], "x"], "progress_starts": [(), (0, Sly(5)), (2**40,)],
        }  # fmt: skip
        return SimpleNamespace(**{name: self.rng.choice(values) for name, values in choices.items()})

    def anything(self) -> list[Callable[[], Any]]:
        return [
            lambda: None, lambda: self.rng.choice(TEXTS), lambda: self.number("megabytes"), self.array, dict, list,
            lambda: self.of_class(""), self.architecture, lambda: float("nan"), lambda: 1e300, lambda: iter(TEXTS),
            lambda: map(self.disturbed, TEXTS), lambda: b"\xff" * 9, object,
            lambda: self.rng.choice(self.classes),
        ]  # fmt: skip

    def disturbed(self, text: str) -> str:
        """Return the text after another call."""
        self.step()
        return text

    def of_class(self, name: str) -> Any:
        """Return a living object of the class; "" is any class."""
        found = [one for kind, those in list(self.live.items()) if name in ("", kind.__name__) for one in those]
        return self.rng.choice(found) if found else None

    # Calls.

    def call(self, action: Any, *arguments: Any) -> Any:
        name = getattr(action, "__qualname__", type(action).__name__)
        self.counts[name] += 1
        try:
            return action(*arguments)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:
            return None

    def arguments_for(self, action: Any) -> list[Any]:
        names = parameters(action)
        made = [self.argument(name) for name in names]
        kind = self.rng.randrange(10)
        if kind == 0:
            return made[: self.rng.randrange(len(made) + 1)]
        if kind == 1:
            return [*made, self.argument("")]
        return made

    def make(self) -> None:
        """Make an object, by its constructor or by `__new__` alone."""
        kind = self.rng.choice(self.classes)
        arguments = self.arguments_for(kind)
        if self.rng.random() < 0.15:
            made = self.call(kind.__new__, kind, *self.rng.choice([arguments, []]))
        else:
            made = self.call(kind, *arguments)
        if made is None:
            return
        kept = self.live.setdefault(kind, [])
        kept.append(made)
        if isinstance(made, StopToken):
            self.stops = [*self.stops[-KEPT:], made]
        if len(kept) > KEPT:
            del kept[self.rng.randrange(KEPT)]

    def use(self) -> None:
        """Use a method or attribute of an object a few times, or initialise it again."""
        one = self.of_class("")
        if one is None:
            return
        names = [name for name in dir(type(one)) if not name.startswith("__") and name not in LEFT_OUT]
        names += ["__init__", "__eq__", "__reduce__", "__iter__", "__call__", "__repr__", "__contains__", "__len__"]
        name = self.rng.choice(names)
        value = self.call(getattr, one, name)
        self.counts[f"{type(one).__name__}.{name}"] += 1
        for _ in range(self.rng.randrange(1, TRIES + 1)):
            if callable(value):
                self.call(value, *(self.arguments_for(value) or self.arguments_for(type(one))))

    def train_together(self) -> None:
        """Train two shards on the same positions, which a third thread changes."""
        trainer, rendezvous, positions = self.of_class("Trainer"), self.of_class("Rendezvous"), self.array("positions")
        if trainer is None or rendezvous is None:
            return
        with ThreadPoolExecutor(2) as pool:
            for shard in (0, 1):
                pool.submit(self.call, trainer.learn_shard, shard, rendezvous, positions, [1e-6] * 9)
            with suppress(Exception):
                positions["pieces"] = 65535

    def step(self) -> None:
        """Make one random call; calls from inside calls go two deep."""
        if self.depth >= 2:
            return
        self.depth += 1
        try:
            kind = self.rng.random()
            if kind < 0.25:
                self.make()
            elif kind < 0.45:
                action = self.rng.choice(self.functions)
                self.call(action, *self.arguments_for(action))
            elif kind < 0.97 or self.depth > 1:
                self.use()
            else:
                self.train_together()
        finally:
            self.depth -= 1

    # A run.

    def stop_searches(self) -> None:
        while not self.ended.wait(SEARCH_SECONDS):
            for stop in self.stops:
                stop.set()

    def repeat(self, deadline: float) -> None:
        while time.monotonic() < deadline:
            self.step()

    def run(self, seconds: float, threads: int) -> None:
        """Call everything once, then whatever comes, in several threads."""
        for action in (*self.functions, *self.classes):
            self.call(action, *self.arguments_for(action))
        deadline = time.monotonic() + seconds
        with ThreadPoolExecutor(threads + 1) as pool:
            pool.submit(self.stop_searches)
            try:
                for repeating in [pool.submit(self.repeat, deadline) for _ in range(threads)]:
                    repeating.result()
            finally:  # otherwise a failure would wait for stop_searches for ever
                self.ended.set()


def main(words: list[str]) -> int:
    """Run for some seconds; print the figures."""
    parser = argparse.ArgumentParser("python -m tests.fuzz.misuse", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args(words)
    faulthandler.enable()
    print(f"seed {chosen.seed}", flush=True)
    np.seterr(all="ignore")
    misuse = Misuse(chosen.seed)
    misuse.live[Board] = [Board(), Board(), Board.__new__(Board)]
    misuse.run(chosen.seconds, chosen.threads)
    misuse.live.clear()
    gc.collect()
    print(f"{sum(misuse.counts.values())} calls of {len(misuse.counts)} names")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
