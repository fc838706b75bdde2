# `make run` and `make test` set up everything they need from python3, a C compiler and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

.PHONY: help setup play run build probes test test-slow test-all test-learn test-page test-records examples debug sanitize threads \
	fuzz fuzz-sanitize fuzz-coverage soak arm wine folder-windows coverage coverage-core perft signature bench bench-python figures pictures match lint \
	format untranslated annotate sdist wheel folder release clean

help:
	@echo "make play       set up, play a game in the browser"
	@echo "make run        set up, search the start position for 3 s, print the path to register in a GUI"
	@echo "make test       set up, build, run the quick tests; test-slow: the others; test-all: both"
	@echo "make test-learn tests of network training (installs PyTorch); test-records: records, read by other programs' libraries (needs node)"
	@echo "make test-page  tests of the pages in a browser (needs chromium); pictures: pictures of all pages in build/pictures"
	@echo "make examples   runs examples/research (installs gymnasium, PettingZoo, OpenSpiel, PyTorch)"
	@echo "make debug      quick tests with C asserts and bounds checks; sanitize: also under ASan and UBSan; threads: a search under TSan"
	@echo "make fuzz       random conversations, damaged files, misuse of the core, coverage-guided fuzz of readers (SECONDS=600 SEED=N)"
	@echo "make fuzz-sanitize, fuzz-coverage: parts of it; soak: many games (GAMES=2000)"
	@echo "make wine       install Wine and CPython for Windows and run the tests with them (TESTS=tests/engine: a part); folder-windows: a folder"
	@echo "make coverage   line coverage of Python in coverage/python; coverage-core: of the Cython core in coverage/core"
	@echo "make perft      check move generation against known counts; bench: speed; bench-python: of the Python API; signature: node count of the search"
	@echo "make lint       ruff (rules and format), mypy, cython-lint, oxlint; format: reformat; annotate: Cython's HTML in build/annotate"
	@echo "make match      games against another engine (OPPONENT=PATH GAMES=10 TIME=0/0.1 or NODES=100000); figures: draw the charts of docs/figures"
	@echo "make arm        tests of the core by QEMU, compiled for ARM (TESTS=tests/eval CORE_EXT_ARCH=armv8)"
	@echo "make wheel      build a wheel for all processors in dist/ and try it; folder: a folder that needs no Python"
	@echo "make sdist      build a source package in dist/; release: check, test and tag a version (DRY_RUN=1: no tag)"
	@echo "make clean      remove everything built except .venv; untranslated: texts without a Japanese one"

# ---- set-up ----------------------------------------------------------------------------------------------------------

# Install dependencies and the program without compiling: pip would recompile the whole core each time, `build` only
# changed modules. setuptools warns about every editable installation.
INSTALL = CORE_EXT_SKIP=1 PYTHONWARNINGS='ignore:Editable installation' $(PY) -m pip install --quiet --no-build-isolation --editable
BUILD = $(PY) setup.py --quiet build_ext --inplace

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml bootstrap.py
	@command -v $(PYTHON) >/dev/null || \
		{ echo "there is no '$(PYTHON)'; name another Python, 3.10 or newer: make run PYTHON=NAME" >&2; exit 1; }
	@echo "Installing Cython, Babel, numpy and rich into $(VENV)"
	@$(PYTHON) bootstrap.py $(VENV)
	@$(INSTALL) .
	@touch $@

# Optional dependencies, as named in pyproject.toml.
EXTRAS := test lint records coverage charts folder fuzz page examples
$(EXTRAS:%=$(VENV)/.%): $(VENV)/.%: $(VENV)/.done
	@$(INSTALL) '.[$*]'
	@touch $@

# PyTorch for Linux brings 5 GB of CUDA; `make test` does not need it.
TORCH ?= torch==2.13.0
$(VENV)/.learn: $(VENV)/.done
	@$(INSTALL) '.[learn]' '$(TORCH)' tensorboard
	@touch $@

# setup.py compiles only changed modules. `probes` adds the core's test modules, for tests and benches.
build probes: $(VENV)/.done
	@test -d build || echo "Compiling the core: a minute or two, once"
	@$(BUILD)

probes: export CORE_EXT_PROBES = 1

play: build
	@$(BIN)/usi_engine play --browser

run: build
	@$(BIN)/usi_engine go movetime 3000
	@echo
	@echo "Start it as $(BIN)/usi_engine, or as usi_engine after: . $(BIN)/activate"
	@echo "A game in the terminal: usi_engine play. All commands: usi_engine --help"
	@echo "Register this file in your shogi GUI:"
	@$(BIN)/usi_engine --where

# ---- tests -----------------------------------------------------------------------------------------------------------

PYTEST = $(PY) -m pytest -q
# Two processes share the tests, on any machine: more need more memory (JOBS=8), and those that measure time a core each.
JOBS ?= 2
SHARED = $(PYTEST) -n $(JOBS) --dist worksteal

test: $(VENV)/.test probes
	$(SHARED)

test-learn: $(VENV)/.test $(VENV)/.learn probes
	$(PYTEST) tests/learn/nnue

test-page: $(VENV)/.test $(VENV)/.page probes
	$(PYTEST) tests/page

test-slow: $(VENV)/.test probes
	$(SHARED) -m slow

test-all: $(VENV)/.test probes
	$(SHARED) -m ''

# The environments of examples/research and their libraries' own checks of them; a search with a network; ten minutes of
# training and forty games of what it trained.
examples: $(VENV)/.examples $(VENV)/.learn build
	cd examples/research && for name in gymnasium_env pettingzoo_env openspiel_game puct train; do $(abspath $(PY)) $$name.py || exit 1; done

# Random records in all formats, read by tsshogi and json-kifu-format (npm), python-shogi and cshogi: about ten minutes.
test-records: $(VENV)/.records build
	npm install --silent --prefix build/records tsshogi@2.2.0 json-kifu-format@5.5.0
	$(PY) scripts/cross_records.py build/records

# Seconds of each fuzz and of the search of `threads`.
SECONDS ?= 600
SEEDED = --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))
FUZZ = $(PY) -m tests.fuzz $(SEEDED)
MISUSE = $(PY) -m tests.fuzz.misuse $(SEEDED)

# These targets build with a profile of their own; `make build` restores the release build.
debug sanitize fuzz-sanitize coverage-core: export CORE_EXT_PROBES = 1

debug: export CORE_EXT_PROFILE = debug
debug: $(VENV)/.test
	$(BUILD)
	$(PYTEST)

# The interpreter is not built with AddressSanitizer, so the library is preloaded. Leaks are not counted, because Python
# frees little memory at exit.
sanitize fuzz-sanitize: export CORE_EXT_PROFILE = debug
sanitize fuzz-sanitize: export CORE_EXT_SANITIZE = address
sanitize fuzz-sanitize: export ASAN_OPTIONS = detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1
sanitize fuzz-sanitize: export UBSAN_OPTIONS = print_stacktrace=1
sanitize fuzz-sanitize: export PYTHONMALLOC = malloc
WITH_SANITIZERS = LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) $$($${CC:-cc} -print-file-name=libubsan.so)"
sanitize: $(VENV)/.test
	$(BUILD)
	$(WITH_SANITIZERS) $(PYTEST) -s
	$(WITH_SANITIZERS) $(MISUSE)
	$(WITH_SANITIZERS) $(PY) -m tests.fuzz.allocations

# Any data race, also in CPython, ends it: there are no suppressions.
threads: export CORE_EXT_PROFILE = debug
threads: export CORE_EXT_SANITIZE = thread
threads: export TSAN_OPTIONS = exitcode=66
threads: $(VENV)/.test
	$(BUILD)
	LD_PRELOAD="$$($${CC:-cc} -print-file-name=libtsan.so)" $(PY) -m tests.fuzz.threads --seconds $(SECONDS)

# Each round of five minutes has the next seed; a failure prints its seed. Example: make fuzz SECONDS=36000 SEED=1
fuzz: $(VENV)/.test probes
	$(FUZZ)
	$(MISUSE)
	$(MAKE) fuzz-coverage

fuzz-sanitize: $(VENV)/.test
	$(BUILD)
	$(WITH_SANITIZERS) $(FUZZ)
	$(WITH_SANITIZERS) $(MISUSE)

# READERS=kif: only this one. build/fuzz keeps what was found; tests/data/fuzz has a small corpus (ARGUMENTS=--keep).
fuzz-coverage: $(VENV)/.fuzz probes
	$(PY) -m tests.fuzz.coverage --seconds $(SECONDS) $(ARGUMENTS) $(READERS)

# Fast games with pondering; build/soak.jsonl has a line for each game. The same command resumes. CLOCKS=0.2 shortens
# all clocks.
soak: GAMES = 2000
CLOCKS ?= 1
soak: $(VENV)/.test build
	$(PY) -m tests.fuzz.soak --games $(GAMES) --clock-share $(CLOCKS)

# The core compiled by mingw-w64; WINDOWS_PYTHON=FOLDER takes another CPython 3.11 for Windows. Afterwards
# build/wine/usi_engine starts the engine of Windows: make match OPPONENT=build/wine/usi_engine
wine: probes
	sh scripts/wine.sh $(PY) -q $(TESTS)

# CORE_EXT_ARCH=armv8-dotprod (default), armv8 or portable; RUN="-m usi_engine bench" runs a module instead of the tests.
arm: $(VENV)/.test
	sh scripts/arm.sh $(PY) $(if $(RUN),,$(or $(TESTS),tests/shogi tests/eval/nnue tests/search))

# For tests only: releases are built on Windows.
folder-windows: build
	FOLDER=dist/windows sh scripts/wine.sh $(PY)

# Both coverage targets print their report even if a test fails, because some tests measure time.
coverage: $(VENV)/.coverage probes
	-$(SHARED) --cov --cov-report=html:coverage/python --cov-report=term

# gcc's gcov counts the lines of Cython without slow tracing. gcovr takes Cython's functions for internal ones by their
# names, and reports code fragments without a file as errors; the options allow both. The tests of full disks would
# also cut gcov's own files short.
coverage-core: export CORE_EXT_PROFILE = coverage
coverage-core: $(VENV)/.coverage
	$(BUILD)
	@find build -name '*.gcda' -delete ; mkdir -p coverage/core
	-$(PYTEST) tests/shogi tests/eval tests/mate tests/search tests/learn tests/api --ignore tests/learn/test_faults.py
	$(BIN)/gcovr --root . --filter core_ext/ --include-internal-functions --gcov-ignore-errors=all --gcov-suspicious-hits-threshold=0 \
		--html-details coverage/core/index.html --txt -

# ---- measurements ----------------------------------------------------------------------------------------------------

perft: build
	$(PY) -m bench.speed.perft
	$(PY) -m bench.speed.perft --check

# CHECK=--check fails if the count differs from the last `Bench: N` in the history.
signature: build
	@$(PY) -m bench.signature $(CHECK)

# Speed in Python beside cshogi's.
bench-python: $(VENV)/.test probes
	$(PY) -m bench.speed.python

bench: probes
	$(PY) -m bench.speed.perft
	$(PY) -m bench.speed.movegen
	$(PY) -m bench.speed.nps

figures: $(VENV)/.charts
	$(PY) docs/figures/levels.py

pictures: $(VENV)/.test $(VENV)/.page build
	$(PY) -m docs.figures.pages build/pictures
	$(PY) -m docs.figures.terminal build/pictures

# make match OPPONENT=/path/to/engine GAMES=20 NODES=100000, or TIME=10+0.1 in seconds: MAIN, MAIN+INCREMENT or
# MAIN/BYOYOMI. OPTIONS of the opponent: NAME=VALUE NAME=VALUE. The same command continues an interrupted match.
OPPONENT ?= $(abspath $(BIN))/usi_engine
OPPONENT_NAME = $(notdir $(firstword $(OPPONENT)))
GAMES ?= 10
TIME ?= 0/0.1
OPTIONS ?=
KEEP ?= runs/match-$(OPPONENT_NAME)
match: build
	$(PY) -m usi_engine match Komadori=usi_engine '$(OPPONENT_NAME)=$(OPPONENT)' $(OPTIONS:%=--option '$(OPPONENT_NAME):%') \
		$(if $(NODES),--nodes $(NODES),--time $(TIME)) --games $(GAMES) --record kif --keep $(KEEP)

# ---- maintenance -----------------------------------------------------------------------------------------------------

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PY) scripts/check_types.py $(PY)
	PATH="$(abspath $(BIN)):$$PATH" cython-lint core_ext  # it runs pycodestyle from PATH
	$(BIN)/oxlint usi_engine/data/page

format: $(VENV)/.lint
	$(BIN)/ruff format .

# Texts without a Japanese one; rows of the Japanese option table that are missing or outdated.
untranslated: $(VENV)/.done
	@$(PY) -m tests.project.catalog

annotate: $(VENV)/.done
	$(PY) -c "from setup import extensions; extensions(annotate=True)"
	@echo "open build/annotate/core_ext/search/search.html"

sdist: $(VENV)/.done
	$(PY) setup.py --quiet sdist

# Wheels and folders are for other machines: they have the core for each level of instructions.
wheel folder: export CORE_EXT_ARCH ?= levels
WHEEL = "$$(ls -t dist/komadori-$(VERSION)-*.whl | head -1)"
wheel: $(VENV)/.done
	$(PY) -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .
	$(PY) scripts/check_package.py $(WHEEL)

# The folder has what the wheel installs.
folder: $(VENV)/.folder wheel
	rm -rf build/folder
	$(PY) -m pip install --quiet --no-deps --target build/folder/package $(WHEEL)
	$(BIN)/pyinstaller --noconfirm --log-level WARN --distpath dist --workpath build/folder scripts/folder.spec
	$(PY) scripts/check_package.py dist/komadori

# Tests and tags the version of pyproject.toml. CHANGELOG.md must have the heading `## VERSION - YYYY-MM-DD`.
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
	find core_ext usi_engine/locale \( -name '*.so' -o -name '*.pyd' -o -name '*.mo' -o -name tune.pxd \) -delete
