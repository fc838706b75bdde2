# `make run` and `make test` set up everything by themselves: python3, a C compiler and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

.PHONY: help setup run build test test-all debug sanitize fuzz fuzz-sanitize soak wine coverage coverage-core \
	perft signature bench figures match lint format annotate sdist wheel folder release clean

help:
	@echo "make run        set up, search the start position for 3 s, print the path to register in a GUI"
	@echo "make test       set up, build, run the tests; test-all: with the slow ones"
	@echo "make debug      the tests with C asserts and bounds checks; sanitize: under ASan and UBSan too"
	@echo "make fuzz       random conversations and damaged files (SECONDS=600 SEED=N; fuzz-sanitize); soak: many games (GAMES=2000)"
	@echo "make wine       installs Wine and CPython for Windows and runs the tests with them (TESTS=tests/engine: a part)"
	@echo "make coverage   line coverage of Python in coverage/python; coverage-core: of the Cython core in coverage/core"
	@echo "make perft      move generation against known counts; bench: speed; signature: node count of the search"
	@echo "make lint       ruff (rules and format), mypy, cython-lint; format: reformat; annotate: Cython's HTML in build/annotate"
	@echo "make match      games against another engine (OPPONENT=PATH GAMES=10 TIME=0/0.1); figures: draw the charts of docs/figures"
	@echo "make wheel      a wheel in dist/ (ARCH=x86-64-v2), tried without a compiler; folder: a folder without Python"
	@echo "make sdist      a source package in dist/; release: check, test and tag a version (DRY_RUN=1: no tag)"
	@echo "make clean      remove what was built, but not .venv"

# ---- set-up ----------------------------------------------------------------------------------------------------------

# Dependencies and the program, without compiling: pip would compile the core anew at each installation, `build` compiles
# what changed. setuptools warns of every editable installation.
INSTALL = CORE_EXT_SKIP=1 PYTHONWARNINGS='ignore:Editable installation' $(PY) -m pip install --quiet --no-build-isolation --editable
BUILD = $(PY) setup.py --quiet build_ext --inplace

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml bootstrap.py
	@command -v $(PYTHON) >/dev/null || \
		{ echo "there is no '$(PYTHON)'; with Python 3.10 or newer by another name: make run PYTHON=NAME" >&2; exit 1; }
	@echo "Installing Cython and numpy into $(VENV)"
	@$(PYTHON) bootstrap.py $(VENV)
	@$(INSTALL) .
	@touch $@

# The optional dependencies of pyproject.toml by their names there.
EXTRAS := test lint match coverage bench charts folder
$(EXTRAS:%=$(VENV)/.%): $(VENV)/.%: $(VENV)/.done
	@$(INSTALL) '.[$*]'
	@touch $@

# setup.py compiles only what changed.
build: $(VENV)/.done
	@test -d build || echo "Compiling the core: a minute or two, once"
	@$(BUILD)

run: build
	@$(BIN)/usi_engine go movetime 3000
	@echo
	@echo "Start it as $(BIN)/usi_engine, or as usi_engine after: . $(BIN)/activate"
	@echo "A game in the terminal: usi_engine play. All commands: usi_engine --help"
	@echo "Register this file in your shogi GUI:"
	@$(BIN)/usi_engine --where

# ---- tests -----------------------------------------------------------------------------------------------------------

PYTEST = $(PY) -m pytest -q

test: $(VENV)/.test build
	$(PYTEST)

test-all: $(VENV)/.test build
	$(PYTEST) -m ''

debug: export CORE_EXT_PROFILE = debug
debug: $(VENV)/.test
	$(BUILD)
	$(PYTEST)

# The interpreter itself is not built with AddressSanitizer, so its library is preloaded; Python frees little at its end,
# so leaks are not counted.
sanitize fuzz-sanitize: export CORE_EXT_PROFILE = debug
sanitize fuzz-sanitize: export CORE_EXT_SANITIZE = 1
sanitize fuzz-sanitize: export ASAN_OPTIONS = detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1
sanitize fuzz-sanitize: export UBSAN_OPTIONS = print_stacktrace=1
sanitize fuzz-sanitize: export PYTHONMALLOC = malloc
WITH_SANITIZERS = LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) $$($${CC:-cc} -print-file-name=libubsan.so)"
sanitize: $(VENV)/.test
	$(BUILD)
	$(WITH_SANITIZERS) $(PYTEST) -s

# Each round of five minutes has the next seed; a failure is printed with its seed. make fuzz SECONDS=36000 SEED=1
SECONDS ?= 600
FUZZ = $(PY) -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))
fuzz: $(VENV)/.test build
	$(FUZZ)

fuzz-sanitize: $(VENV)/.test
	$(BUILD)
	$(WITH_SANITIZERS) $(FUZZ)

# Fast games with pondering; build/soak.jsonl has a line for each, and the same command goes on where it ends.
# CLOCKS=0.2 shortens all clocks.
soak: GAMES = 2000
CLOCKS ?= 1
soak: $(VENV)/.test build
	$(PY) -m tests.fuzz.soak --games $(GAMES) --clock-share $(CLOCKS)

# The core compiled by mingw-w64; WINDOWS_PYTHON=FOLDER takes another CPython 3.11 for Windows. Afterwards
# build/wine/usi_engine starts the engine of Windows: make match OPPONENT=build/wine/usi_engine
wine: build
	sh scripts/wine.sh $(PY) -q $(TESTS)

# Both print their report even where a test fails: some of them measure time.
coverage: $(VENV)/.coverage build
	-$(PYTEST) --cov --cov-report=html:coverage/python --cov-report=term

# The core compiled for gcc's gcov, which counts Cython's lines without slow tracing; `make build` restores the fast one.
# Cython's functions count as internal by their names, and its fragments of code without a file are no error.
coverage-core: export CORE_EXT_PROFILE = coverage
coverage-core: $(VENV)/.coverage
	$(BUILD)
	@find build -name '*.gcda' -delete ; mkdir -p coverage/core
	-$(PYTEST) tests/shogi tests/eval tests/mate tests/search tests/learn tests/api
	$(BIN)/gcovr --root . --filter core_ext/ --include-internal-functions --gcov-ignore-errors=all \
		--html-details coverage/core/index.html --txt -

# ---- measurements ----------------------------------------------------------------------------------------------------

perft: $(VENV)/.bench build
	$(PY) -m bench.speed.perft
	$(PY) -m bench.speed.perft --check

# CHECK=--check fails where the count differs from the last `Bench: N` in the history.
signature: build
	@$(PY) -m bench.signature $(CHECK)

bench: $(VENV)/.bench build
	$(PY) -m bench.speed.perft
	$(PY) -m bench.speed.movegen
	$(PY) -m bench.speed.nps

figures: $(VENV)/.charts
	$(PY) docs/figures/rules.py
	$(PY) docs/figures/learning_curve.py
	$(PY) docs/figures/levels.py

# make match OPPONENT=/path/to/engine GAMES=20 TIME=10+0.1. TIME in seconds: MAIN, MAIN+INCREMENT or MAIN/BYOYOMI.
# OPTIONS of the opponent: NAME:VALUE,NAME:VALUE. The same command again continues a match that was interrupted.
OPPONENT ?= $(BIN)/usi_engine
GAMES ?= 10
TIME ?= 0/0.1
OPTIONS ?=
KEEP ?= runs/match-$(notdir $(OPPONENT))
match: $(VENV)/.match build
	$(PY) -m bench.strength.match $(BIN)/usi_engine $(OPPONENT) --games $(GAMES) --clock $(TIME) \
		--options2 '$(OPTIONS)' --keep $(KEEP)

# ---- maintenance -----------------------------------------------------------------------------------------------------

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(abspath $(BIN)):$$PATH" cython-lint core_ext  # it runs pycodestyle from PATH

format: $(VENV)/.lint
	$(BIN)/ruff format .

annotate: $(VENV)/.done
	$(PY) -c "from setup import extensions; extensions(annotate=True)"
	@echo "open build/annotate/core_ext/search/search.html"

sdist: $(VENV)/.done
	$(PY) setup.py --quiet sdist

# For other machines: any x86-64 processor since 2009 has what x86-64-v2 asks for. ARCH=x86-64-v3 is for those since 2013.
ARCH ?= x86-64-v2
wheel: export CORE_EXT_ARCH = $(ARCH)
wheel: $(VENV)/.done
	$(PY) -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .
	$(PY) scripts/check_package.py "$$(ls -t dist/komadori-$(VERSION)-*.whl | head -1)"

# The modules in place become those for ARCH; `make build` restores those for this machine.
folder: export CORE_EXT_ARCH = $(ARCH)
folder: $(VENV)/.folder
	$(BUILD)
	$(BIN)/pyinstaller --noconfirm --log-level WARN --distpath dist --workpath build/folder scripts/folder.spec
	$(PY) scripts/check_package.py dist/komadori

# The version of pyproject.toml, written in CHANGELOG.md as `## VERSION - YYYY-MM-DD`, is tested and tagged.
release:
	@test -z "$$(git status --porcelain)" || { echo "commit or stash first: the tree is not clean"; exit 1; }
	@grep '^## ' CHANGELOG.md | grep -v Unreleased | head -1 | \
		grep -Eq '^## \[?$(VERSION)\]? - [0-9]{4}-[0-9]{2}-[0-9]{2}$$' || \
		{ echo "the newest version in CHANGELOG.md is not '$(VERSION) - DATE'"; exit 1; }
	@! git rev-parse --quiet --verify refs/tags/v$(VERSION) || { echo "v$(VERSION) is tagged already"; exit 1; }
	$(MAKE) lint test sdist
	$(MAKE) signature CHECK=--check
	$(if $(DRY_RUN),@echo not done:) git tag --annotate --message "Komadori $(VERSION)" v$(VERSION)

clean:
	rm -rf build dist *.egg-info coverage .pytest_cache .mypy_cache .ruff_cache
	find core_ext -name '*.so' -delete -o -name '*.pyd' -delete
