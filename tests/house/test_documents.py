"""The documents against what they describe: layers, commands, options, links, files, length of lines.

    python -m tests.house.test_documents            prints the tables of ARCHITECTURE.md that are generated
    python -m tests.house.test_documents --write    puts them there

Pages of reference are checked for all of it, the notebook (docs/lab) for its links and programs.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import pytest

import usi_engine
from tests.house.test_layers import LAYERS
from tests.house.test_product_layers import ORDER
from usi_engine.__main__ import TOOLS, commands_of
from usi_engine.book_tool.command import parser as book_parser
from usi_engine.csa.command import arguments_of as csa_arguments
from usi_engine.learn.command import parser as learn_parser
from usi_engine.usi.options import DECLARED, MOST_THREADS_BY_DEFAULT, Combo, Options, Spin
from usi_engine.usi.protocol import Ignored, Malformed, parse

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
USI = ROOT / "docs" / "usi.md"
USI_JAPANESE = ROOT / "docs" / "usi.ja.md"
READMES = [ROOT / "README.md", ROOT / "README.ja.md"]
# Pages to look things up in, and all pages, with the notebook.
REFERENCE = READMES + [ROOT / name for name in ("CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md")]
REFERENCE += sorted((ROOT / "docs").glob("*.md"))
NOTEBOOK = sorted((ROOT / "docs" / "lab").glob("*.md"))
INDEXES = sorted(path for folder in ("bench", "tests") for path in (ROOT / folder).rglob("*.md"))
PAGES = REFERENCE + NOTEBOOK + INDEXES
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

COLUMNS = 100
README_LINES = 150
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.M | re.S)
INLINE_CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
LEVEL = re.compile(r"^#+(?= )", re.M)
# Folders whose files a page may name in code; a name with a placeholder or a wildcard is no file.
REPOSITORY_FILE = re.compile(r"(?:core_ext|usi_engine|tests|bench|docs|scripts|\.github|\.ci)/[\w./-]*")
MODULE_ROW = re.compile(r"^\| `([a-z_.]+)` \|", re.M)
OPTION_ROW = re.compile(r"^\| `(\w+)` \| ([^|]+?) \| ([^|]*)\|", re.M)
WORDS_OF_A_SHELL = frozenset({"|", "||", "&&", ";", "#", ">"})
# What a page tells to type.
PROGRAMS = frozenset({"usi_engine", "make", "pip", "python", "py", "git", "sudo", "xboard"})

page_cases = pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
reference_cases = pytest.mark.parametrize("page", REFERENCE + INDEXES, ids=lambda path: str(path.relative_to(ROOT)))


# ---- what a page holds ----


def prose(text: str) -> str:
    """The text without its blocks of code."""
    return FENCE.sub("", text)


def code(text: str) -> Iterator[str]:
    """Each line of a block of code, continued lines joined, and each piece of code within the prose."""
    for block in FENCE.findall(text):
        yield from block.replace("\\\n", " ").splitlines()
    yield from INLINE_CODE.findall(prose(text))


def words_of(line: str) -> list[str]:
    """A line of code as a shell splits it, up to a comment or another command; empty where it is no shell's."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return []
    ends = [place for place, word in enumerate(words) if word in WORDS_OF_A_SHELL]
    return words[: min(ends, default=len(words))]


def commands(text: str, first: str) -> Iterator[list[str]]:
    """The words after `first` of each command in the code of a page."""
    for line in code(text):
        words = words_of(line)
        if words[:1] == [first]:
            yield words[1:]


def anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    plain = INLINE_CODE.sub(r"\1", LINK.sub("", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(path: Path) -> set[str]:
    return {anchor(heading) for heading in HEADING.findall(prose(path.read_text(encoding="utf-8")))}


# ---- the generated tables ----


def core_layers() -> str:
    """The folders of core_ext from the bottom, each with its modules in order."""
    rows = [
        f"| {f'`{folder}/`' if folder else 'top of `core_ext`'} | {', '.join(f'`{name}`' for name in names)} |\n"
        for folder, names in LAYERS.items()
    ]
    return "| folder | modules |\n|---|---|\n" + "".join(rows)


def product_layers() -> str:
    """The modules of usi_engine in order, as wrapped text."""
    lines, line = [], ""
    for name in ORDER:
        item = f"`{name}`" + ("" if name == ORDER[-1] else ",")
        if len(line) + 1 + len(item) > COLUMNS:
            lines.append(line)
            line = ""
        line = f"{line} {item}".strip()
    return "\n".join([*lines, line]) + "\n"


GENERATED = {"core_ext": core_layers, "usi_engine": product_layers}


def with_tables(text: str) -> str:
    """ARCHITECTURE.md with the generated tables between its marks."""
    for package, table in GENERATED.items():
        head, mark, rest = text.partition(f"<!-- layers of {package} -->\n")
        _, end, tail = rest.partition("<!-- end -->\n")
        assert end, f"ARCHITECTURE.md has no place for the layers of {package}"
        text = head + mark + table() + end + tail
    return text


def described(section: str) -> list[str]:
    """The modules in the table below a heading of ARCHITECTURE.md."""
    _, _, rest = ARCHITECTURE.read_text(encoding="utf-8").partition(f"### {section}\n")
    return MODULE_ROW.findall(re.split(r"^#+ ", rest, maxsplit=1, flags=re.M)[0])


def test_layers_are_those_of_the_tests() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    assert with_tables(text) == text, "run: python -m tests.house.test_documents --write"


def test_every_module_is_described() -> None:
    """In the order of the layers."""
    names = [f"{folder.replace('/', '.')}.{name}".lstrip(".") for folder, names in LAYERS.items() for name in names]
    assert described("Modules of core_ext") == names
    assert described("Modules of usi_engine") == ORDER


# ---- commands ----


@page_cases
def test_modules_that_are_run_exist(page: Path) -> None:
    ours = [
        words[1]
        for words in commands(page.read_text(encoding="utf-8"), "python")
        if len(words) > 1 and words[0] == "-m" and words[1].split(".")[0] in ("bench", "tests", "usi_engine")
    ]
    assert [name for name in ours if find_spec(name) is None] == []


@page_cases
def test_programs_that_are_run_exist(page: Path) -> None:
    """`python FILE` and `sh FILE`."""
    text = page.read_text(encoding="utf-8")
    files = [words[0] for first in ("python", "sh") for words in commands(text, first) if words and "/" in words[0]]
    assert [name for name in files if not (ROOT / name).is_file()] == []


def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    heads = re.findall(r"^((?:[\w$()/.-]+ ?)+):(?!=)", text, re.M)
    return {name for head in heads for name in head.split()}


@pytest.mark.parametrize("page", REFERENCE + INDEXES + WORKFLOWS, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"\brun: (make .*)", text) if page in WORKFLOWS else list(code(text))
    called = [word for line in lines for word in words_of(line)[1:] if words_of(line)[0] == "make" and "=" not in word]
    assert set(called) <= make_targets()


def known_options(command: str) -> set[str]:
    """Of `usi_engine learn COMMAND`."""
    chosen = next(action.choices for action in learn_parser()._actions if action.dest == "command")
    assert chosen is not None
    found: set[str] = set(dict(chosen)[command]._option_string_actions)
    return found


def check_learn(words: list[str]) -> None:
    """The command and its options exist."""
    if words[0].startswith("--"):
        assert words == ["--help"]
        return
    unknown = {word for word in words if word.startswith("--")} - known_options(words[0])
    assert not unknown, f"usi_engine learn {words[0]} has no {unknown}"


def check_csa(words: list[str]) -> None:
    """The options exist; the rest is there, but for `...`."""
    if words and words != ["--help"]:
        csa_arguments([word for word in words if word != "..."])


def check_book(words: list[str]) -> None:
    """The command exists, and the arguments that it is given."""
    if len(words) > 1:
        book_parser().parse_args(words)
    else:
        assert words in ([], ["build"], ["show"])


def check_engine(words: list[str]) -> None:
    """The arguments of `usi_engine` are something it does."""
    if not words or set(words) <= {"--help", "--version", "--where", "|"}:
        return
    if words[0] == "learn":
        check_learn(words[1:])
    elif words[0] == "csa":
        check_csa(words[1:])
    elif words[0] == "book":
        check_book(words[1:])
    elif words[0] in TOOLS:
        import_module(TOOLS[words[0]]).parser().parse_args(words[1:])
    else:
        for command in commands_of(words):
            assert not isinstance(parse(command), Ignored | Malformed), command


@reference_cases
def test_engine_commands_exist(page: Path) -> None:
    for words in commands(page.read_text(encoding="utf-8"), "usi_engine"):
        check_engine(words)


# ---- options ----


# Defaults that depend on the machine.
DEFAULTS_IN_WORDS = {"Threads": f"min({MOST_THREADS_BY_DEFAULT}, cores)"}


def shown_default(name: str) -> str:
    """As the pages give it."""
    return DEFAULTS_IN_WORDS.get(name, Options().shown(name))


def shown_range(name: str) -> str:
    """As the pages give it; empty where there is none."""
    kind = DECLARED[name]
    return f"{kind.least} to {kind.most}" if isinstance(kind, Spin) else ""


def option_rows(page: Path) -> dict[str, tuple[str, str]]:
    """Default and range of each option in the tables of a page; what is Japanese in them is put into English."""
    text = page.read_text("utf-8").replace("コア数)", "cores)").replace("〜", " to ")
    return {name: (default.strip("`"), limits.strip()) for name, default, limits in OPTION_ROW.findall(text)}


def test_options_table_is_the_declared_one() -> None:
    """Every option with its default and its range."""
    assert option_rows(USI) == {name: (shown_default(name), shown_range(name)) for name in DECLARED}


@pytest.mark.parametrize("name", DECLARED)
def test_options_are_explained_in_japanese(name: str) -> None:
    """Each with its default and its range."""
    default, limits = option_rows(USI_JAPANESE)[name]
    assert limits == shown_range(name)
    assert default == shown_default(name)


@pytest.mark.parametrize("page", [USI, USI_JAPANESE], ids=lambda page: page.name)
def test_words_of_options_are_listed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for kind in DECLARED.values():
        if isinstance(kind, Combo):
            assert [word for word in kind.words if f"`{word}`" not in text] == []


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_readme_names_options_that_exist(page: Path) -> None:
    readme = page.read_text(encoding="utf-8").replace("コア数)", "cores)")
    table = re.findall(r"^\| `(\w+)` \| ([^|]*?) ?\|", readme, re.M)
    assert table
    for name, default in table:
        shown = shown_default(name)
        assert default.strip("`") == ("" if shown == "<empty>" else shown), name


# ---- pages in two languages ----

TWINS = [(path.with_name(path.name.replace(".ja.", ".")), path) for path in REFERENCE if ".ja." in path.name]
# usi.ja.md explains the options alone.
WHOLE_TWINS = [(english, japanese) for english, japanese in TWINS if japanese != USI_JAPANESE]


@pytest.mark.parametrize(("english", "japanese"), TWINS, ids=lambda path: path.name)
def test_languages_are_linked(english: Path, japanese: Path) -> None:
    """Each from the first lines of the other."""
    heads = ["\n".join(path.read_text(encoding="utf-8").splitlines()[:5]) for path in (english, japanese)]
    assert f"]({japanese.name})" in heads[0]
    assert f"[English]({english.name})" in heads[1]


@pytest.mark.parametrize(("english", "japanese"), WHOLE_TWINS, ids=lambda path: path.name)
def test_languages_show_the_same_commands(english: Path, japanese: Path) -> None:
    """The same blocks of code, pictures and levels of headings, in the same order."""
    pages = [path.read_text(encoding="utf-8") for path in (english, japanese)]
    for pattern in (FENCE, PICTURE, LEVEL):
        first, second = [pattern.findall(prose(page) if pattern is LEVEL else page) for page in pages]
        assert first == second


def called(page: Path) -> set[str]:
    """The commands in the code of a page that call one of PROGRAMS, without comments."""
    lines = map(words_of, code(page.read_text(encoding="utf-8")))
    return {shlex.join(words) for words in lines if words[:1] and words[0] in PROGRAMS}


@pytest.mark.parametrize(("english", "japanese"), TWINS, ids=lambda path: path.name)
def test_commands_in_japanese_are_the_english_ones(english: Path, japanese: Path) -> None:
    """So what is tested of the English page's commands holds for the Japanese page's."""
    assert called(japanese) <= called(english)


# ---- links, files, lines ----


@page_cases
def test_links_lead_somewhere(page: Path) -> None:
    """To a file, and to a heading of it where one is named."""
    for target in LINK.findall(prose(page.read_text(encoding="utf-8"))):
        if "://" in target:
            continue
        name, _, heading = unquote(target).partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        assert not heading or heading in anchors(path), target


@reference_cases
def test_files_that_are_named_exist(page: Path) -> None:
    for line in code(page.read_text(encoding="utf-8")):
        for word in line.split():
            name = word.strip("\"',:;()").split("#")[0]
            if REPOSITORY_FILE.fullmatch(name) and not re.search(r"\d\.0$", name):
                assert (ROOT / name).exists(), name


def test_charts_are_the_drawn_ones() -> None:
    """Each picture in docs/figures is shown by some page."""
    shown = {
        (page.parent / target).resolve() for page in PAGES for target in LINK.findall(page.read_text(encoding="utf-8"))
    }
    pictures = [path for path in (ROOT / "docs" / "figures").iterdir() if path.suffix in (".svg", ".png")]
    assert pictures
    assert [path.name for path in pictures if path.resolve() not in shown] == []


@reference_cases
def test_lines_are_short(page: Path) -> None:
    """Tables and code aside."""
    lines = prose(page.read_text(encoding="utf-8")).splitlines()
    text = [line for line in lines if not line.startswith(("|", "    "))]
    assert [line for line in text if len(line) > COLUMNS] == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < README_LINES


def test_every_page_is_in_an_index() -> None:
    """docs/index.md names the reference pages, docs/lab/README.md the notebook's."""
    for folder, index in ((ROOT / "docs", "index.md"), (ROOT / "docs" / "lab", "README.md")):
        named = set(LINK.findall((folder / index).read_text(encoding="utf-8")))
        assert {path.name for path in folder.glob("*.md")} - named == {index}


# ---- the changelog ----


def test_changelog_has_this_version_with_a_date() -> None:
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
    assert version
    assert version[1] == usi_engine.__version__
    heads = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert heads[0] == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(version[1])}\] - \d{{4}}-\d\d-\d\d", heads[1])


def main() -> None:
    """Print the generated tables, or write them."""
    if "--write" in sys.argv[1:]:
        ARCHITECTURE.write_text(with_tables(ARCHITECTURE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print("\n".join(table() for table in GENERATED.values()))


if __name__ == "__main__":
    main()
