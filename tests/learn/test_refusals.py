"""Commands that are refused: one line names the fault, and no file is changed."""

from pathlib import Path

import pytest

from tests.eval.nnue.networks import random_network
from tests.learn.helpers import build_corpus, random_game
from usi_engine.evaluation.architecture import Architecture
from usi_engine.evaluation.network_file import write_network
from usi_engine.learn.command import main

FOREIGN = {"a": b"my notes\n", "b": b"my notes", "c": b"\0" * 5000, "d": b"b\tx\n"}
NETWORK = "SFNN_ka2_1024_7_64_k3k3"
QUICK = "--nodes 20 --weights material"
REFUSED = {
    # numbers out of range
    "corpus g.tsv --out c --threads 100000": "100000",
    "train corpus --out y.kpp --epochs -1": "'-1'",
    "train corpus --out y.kpp --results 0 7": "'7'",
    "selfplay --out y.tsv --games 1 --nodes 999999999": "'999999999'",
    f"selfplay --out y.tsv --games {'9' * 500}": "'99999",
    "selfplay --out y.tsv --games 0": "'0'",
    "selfplay --out y.tsv --games 1 --threads two": "'two'",
    "selfplay --out y.tsv --games 1 --random-moves=nan": "'nan'",
    # what is missing, and what does not fit
    "corpus none.tsv --out c": "none.tsv: No such file",
    "corpus --out c": "no files of games",
    "export --out y.psv": "export: games expected",
    "corpus g.tsv --out c --leaves material": "--leaves material",
    "corpus g.tsv --out c --leaves=": "--leaves ''",
    "train corpus --out y.kpp --rate 0.1": "--rate: for networks only",
    "train corpus --out y.kpp --seed 2 --device cpu": "--device, --seed: for networks only",
    "train corpus --out y.kpp --loss-exponent 2": "--loss-exponent: for networks only",
    "train corpus --out y.kpp --threads 3": "--threads: '3' is not a whole number from 1 to 2",
    "train corpus --out y.kpp --network PP --warm-start kpp": "not only piece, tempo",
    "train corpus --out y.kpp --warm-start nowhere.kpp": "'nowhere.kpp'",
    "train corpus --out y.bin --network nnue": "--network nnue: unknown network 'nnue'",
    "train corpus --out y.bin --network kp_256x2-32": "progress32; KPP weights: P, KP, PP, KPP, KPPT",
    "train corpus --out y.bin --network NNUE_kp_256x2_32_32_k3k3": "only SFNN has",
    "train corpus --out y.bin --network SFNN_kpe9_64_7_16": "k21k21",
    f"off-game illegal.tsv --out y.tsv {QUICK}": "no game for y.tsv: 1 not used; the first: illegal.tsv, line 1: ",
    f"rescore a.tsv --out y.tsv {QUICK}": "no game for y.tsv: 1 not used; the first: a.tsv, line 1: not a game",
    f"selfplay --games 1 --out none/y.tsv {QUICK}": "none/y.tsv: No such file or directory",
    f"selfplay --games 1 --out none/y.games {QUICK}": "none/y.games: No such file or directory",
    # names of outputs that belong to something else
    f"train corpus --out mynet --network {NETWORK}": "--out mynet: expected a name that ends in .bin or .nnue",
    f"train corpus --out mynet.txt --network {NETWORK}": "ends in .bin or .nnue",
    "train corpus --out net.bin --network KP": "ends in .kpp",
    "train corpus --out a.kpp --network P": "--out a.kpp: is not a file of weights; it is not replaced",
    "train corpus --out corpus.kpp --network P": "--out corpus.kpp: not a regular file",
    "rescore g.tsv --out y.games": "expected a name that ends in .tsv",
    "rescore g.tsv --out ./g.tsv": "is also an input",
    f"off-game g.tsv --out few.tsv {QUICK}": "is not a file of off-game positions",
    "export g.psv --out g.psv": "is also an input",
    "export g.tsv --out y.txt": "y.txt: expected a name that ends in .psv or .bin or .hcpe",
    "export g.tsv none.tsv --out g.psv": "none.tsv: No such file",
    **{f"export g.tsv --out {name}.bin": f"{name}.bin: is a file of weights" for name in ("net", "kpp1", "kpp2")},
    **{f"export g.tsv --out corpus/{name}.bin": "belongs to a corpus" for name in ("training", "held_out")},
    **{f"{command} --out {name}.tsv {QUICK}": f"{name}.tsv" for name in FOREIGN
       for command in ("selfplay --games 1", "rescore g.tsv", "off-game g.tsv")},
    **{f"selfplay --games 1 --out {name}.games {QUICK}": f"{name}.games" for name in FOREIGN},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, teacher: Path) -> Path:
    """A folder with games, a corpus, weights and foreign files."""
    folder = tmp_path_factory.mktemp("refusals")
    build_corpus([teacher], folder / "corpus", every=5)
    (folder / "corpus.kpp").mkdir()
    for name in ("g", "few"):
        (folder / f"{name}.tsv").write_text(random_game(1, 10))
    (folder / "illegal.tsv").write_text("b\tscore\tstartpos\t7g7f 1 7g7f 2\n")
    assert main(["export", str(folder / "g.tsv"), "--out", str(folder / "g.psv")]) == 0
    write_network(folder / "net.bin", random_network(Architecture("K+P", 128, 8, 8)))
    for version in (1, 2):
        (folder / f"kpp{version}.bin").write_bytes(f"KOMAKPP{version}rest".encode())
    for name, data in FOREIGN.items():
        for suffix in (".tsv", ".games", ".kpp"):
            (folder / f"{name}{suffix}").write_bytes(data)
    return folder


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the files that are not empty."""
    return {path: data for path in folder.rglob("*") if path.is_file() and (data := path.read_bytes())}


@pytest.mark.parametrize(("words", "fault"), REFUSED.items())
def test_a_refused_command_names_the_fault_and_changes_nothing(
    folder: Path, words: str, fault: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = contents(folder)
    try:
        status = main(words.split())
    except SystemExit as ended:
        status = int(str(ended.code))
    said = capsys.readouterr().err
    assert status == 2 and fault in said
    assert said.count("\n") == 1 or said.startswith("usage: ")
    assert contents(folder) == before and not list(folder.glob("*.run"))
