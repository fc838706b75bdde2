# `make run` and `make test` set up everything by themselves: python3, a C compiler and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
ASAN := detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1
BUILD = $(PY) setup.py --quiet build_ext --inplace

.PHONY: help setup run build test test-all debug sanitize coverage perft signature bench lint annotate match clean

help:
	@echo "make run        set up, think 3 s about the start position, say what to register in a GUI"
	@echo "make test       set up, build, run the tests; test-all: with the slow ones"
	@echo "make debug      the tests with C asserts and bounds checks; sanitize: under ASan and UBSan too"
	@echo "make coverage   line coverage of Python and Cython in coverage/"
	@echo "make perft      move generation against known counts; bench: speed; signature: node count of the search"
	@echo "make lint       ruff, mypy, cython-lint; annotate: Cython's HTML in build/annotate; match: games against another engine"

# ---- set-up ----------------------------------------------------------------------------------------------------------

INSTALL = $(PY) -m pip install --quiet --no-build-isolation --editable

setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml bootstrap.py
	@echo "Setting up $(VENV) and compiling the core: a minute or two, once"
	$(PYTHON) bootstrap.py $(VENV)
	$(INSTALL) .
	@touch $@

$(VENV)/.test $(VENV)/.lint $(VENV)/.match $(VENV)/.coverage: $(VENV)/.%: $(VENV)/.done
	$(INSTALL) '.[$*]'
	@touch $@

# setup.py compiles only what changed.
build: $(VENV)/.done
	@$(BUILD)

run: build
	$(BIN)/usi_engine go movetime 3000
	@echo "Register this file in your shogi GUI:"
	@$(BIN)/usi_engine --where

# ---- tests -----------------------------------------------------------------------------------------------------------

test: $(VENV)/.test build
	$(PY) -m pytest -q

test-all: $(VENV)/.test build
	$(PY) -m pytest -q -m ''

debug: export CORE_EXT_PROFILE = debug
debug: $(VENV)/.test
	$(BUILD)
	$(PY) -m pytest -q

# The interpreter itself is not built with AddressSanitizer, so its library has to be there first; Python frees little at
# its end, so leaks are not counted.
sanitize: export CORE_EXT_PROFILE = debug
sanitize: export CORE_EXT_SANITIZE = 1
sanitize: $(VENV)/.test
	$(BUILD)
	LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) $$($${CC:-cc} -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=$(ASAN) UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc $(PY) -m pytest -q -s

coverage: export CORE_EXT_PROFILE = coverage
coverage: $(VENV)/.test $(VENV)/.coverage
	$(BUILD)
	$(PY) -m pytest -q --cov --cov-report=html:coverage --cov-report=term

# ---- measures --------------------------------------------------------------------------------------------------------

perft: build
	$(PY) -m bench.speed.perft
	$(PY) -m bench.speed.perft --check

signature: build
	$(BIN)/usi_engine bench

bench: build
	$(PY) -m bench.speed.perft
	$(PY) -m bench.speed.movegen
	$(PY) -m bench.speed.nps

# make match OPPONENT=/path/to/engine GAMES=20 BYOYOMI=100
OPPONENT ?= $(BIN)/usi_engine
GAMES ?= 10
BYOYOMI ?= 100
match: $(VENV)/.match build
	$(PY) -m bench.strength.match $(BIN)/usi_engine $(OPPONENT) --games $(GAMES) --byoyomi $(BYOYOMI)

# ---- care ------------------------------------------------------------------------------------------------------------

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/mypy
	PATH="$(abspath $(BIN)):$$PATH" cython-lint core_ext  # it runs pycodestyle from PATH

annotate: $(VENV)/.done
	$(PY) -c "from setup import extensions; extensions(annotate=True)"
	@echo "open build/annotate/core_ext/search/search.html"

clean:
	rm -rf build dist *.egg-info coverage .pytest_cache .mypy_cache .ruff_cache ; find core_ext -name '*.so' -delete -o -name '*.pyd' -delete
