# Sets itself up. Python >= 3.11, Node >= 20 and make must be installed; `make run` also works without Node.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin

# Many tests wait for processes, sockets and clocks, so there is one worker more than cores; the browser tests run beside them.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
# Large values are given back to the system when they are freed, so that a worker stays small.
PYTEST := MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1000000 MALLOC_TRIM_THRESHOLD_=1000000 \
	$(BIN)/python -m pytest --workers $(WORKERS)

# pnpm installs with a third of the CPU time that npm takes.
PNPM := npm exec --yes --loglevel=error --no-update-notifier pnpm@10 -- install --frozen-lockfile --loglevel error
# `make run` installs what the web UI is built with, the tests also what it is tested with.
WEB := web/node_modules/.test
CLIENTS := tests/server/third_party
PAGE := src/partita/server/page/built/index.html
PAGE_SOURCES := $(shell find web/src web/public -type f) web/index.html web/build.mjs $(wildcard web/vite*.ts)

# Hundreds of processes are started, so compiled code is kept even if the environment disables it.
export PYTHONDONTWRITEBYTECODE :=
# A step that is run as `time COMMAND` prints how long it took.
export TIMEFORMAT = %R s, CPU %U + %S s

.DEFAULT_GOAL := help
.PHONY: help setup run web test check full lint types mypy pyrefly pyright unit page browser chromium beside tested \
	clients walk losses conformance chaos fuzz bench typescript prices docs pictures dist format clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: ## Open the web UI with the sessions of your coding agents, or with demo data
	@if node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null; then \
	  $(MAKE) --no-print-directory -j2 .venv/run $(PAGE) WEB=web/node_modules/.run && exec $(BIN)/partita serve --open; \
	else \
	  echo "The web UI needs Node 20 or newer, which is not installed: only the API is served."; \
	  echo "Install Node (https://nodejs.org) and run make run again for the web UI."; \
	  $(MAKE) --no-print-directory .venv/run && exec $(BIN)/partita serve; \
	fi

setup: ## Install what the tests need, and build the web UI
	@$(MAKE) --no-print-directory -j2 $(PAGE) .venv/test tests/node_modules/.installed chromium

web: $(PAGE) ## Build the web UI

test: ## Run all checks and tests, as CI does
	@echo "Setting up" && time $(MAKE) --no-print-directory setup
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j2 beside tested

check: .venv/test ## Run the linter, the type checker and the tests affected by changes (since HEAD, or BASE=…)
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory pyrefly
	@time $(BIN)/python -m tests.affected $(BASE)

full: setup .venv/full clients ## Run all tests with every engine and release, 200 examples per property, and three type checkers
	@$(MAKE) --no-print-directory lint types page
	PARTITA_FULL=1 HYPOTHESIS_PROFILE=more $(PYTEST) --timeout 3600
	@$(MAKE) --no-print-directory browser

tested:
	@time $(PYTEST) --durations 15

beside: # in sequence, so that they do not slow down the tests
	@$(MAKE) --no-print-directory browser
	@$(MAKE) --no-print-directory page
	@$(MAKE) --no-print-directory pyrefly

page: $(WEB) ## Check the web UI and run its unit tests
	@cd web && time (npx biome ci . && npx tsc --noEmit && npx vitest run --project unit)

browser: setup ## Run the tests of the web UI in a real browser with a real server
	@cd web && time npx vitest run --project e2e

chromium: $(WEB)
	@node web/e2e/setup/chromium.mjs

lint: .venv/test ## Check format and style of the Python code
	@time ($(BIN)/ruff format --check . && $(BIN)/ruff check .)

types: setup ## Check the types with pyrefly, mypy and pyright
	@$(MAKE) --no-print-directory pyrefly
	@$(MAKE) --no-print-directory -j2 mypy pyright

pyrefly: .venv/test
	@time $(BIN)/pyrefly check --progress-bar no

mypy: .venv/full
	@time $(BIN)/mypy

pyright: .venv/full tests/pyright/node_modules/.installed
	@time tests/pyright/node_modules/.bin/pyright --pythonpath $(BIN)/python

clients: $(CLIENTS)/node_modules/.installed $(CLIENTS)/.venv/installed # third-party clients of the server

unit: setup ## Run the Python tests
	$(PYTEST)

walk: setup ## Follow the README and the guides in a fresh clone, with an empty home
	$(BIN)/python -m docs.walk

losses: setup ## Test that no change of a single value in any recording goes unnoticed
	PARTITA_FULL=1 $(BIN)/python -m pytest --workers 2 --timeout 7200 tests/formats/laws/test_laws.py

conformance: setup ## Compare with the real ai packages, 3,000 examples per test
	HYPOTHESIS_PROFILE=long $(PYTEST) tests/conformance

chaos: setup ## Kill writers hundreds of times, and check that no acknowledged data is lost
	PARTITA_CHAOS=300 $(BIN)/python -m pytest --workers 2 --timeout 3600 tests/store/test_chaos.py tests/runtime/test_runtime_chaos.py tests/server/processes tests/terminal/test_interrupting.py

fuzz: setup ## Send random requests to the server, valid and invalid by its OpenAPI description
	PARTITA_FUZZ=100 $(BIN)/python -m pytest --workers 2 --timeout 3600 tests/server/security

bench: setup ## Run the benchmarks, beside the real ai package, and of the web UI in a browser
	$(BIN)/python -m benchmarks
	cd web && npx vitest run --project bench

typescript: .venv/test ## Write the TypeScript types of the web page
	$(BIN)/python -m partita.types.typescript > web/src/partita.gen.ts

prices: .venv/test ## Write the price list from the data of the installed genai-prices
	$(BIN)/python -m scripts.price_list

docs: .venv/full ## Build the documentation with its reference pages, into site/
	$(BIN)/python docs/picture.py > docs/tour.svg
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

pictures: setup ## Take the pictures of the documentation
	cd web && npx vitest run --project pictures

dist: .venv/test ## Build the release from two fresh clones and compare them
	@rm -rf dist build/clones && mkdir -p build/clones
	@for name in first second; do \
	  git clone --quiet . build/clones/$$name && (cd build/clones/$$name && ../../../$(BIN)/python -m hatchling build); \
	done
	diff -r build/clones/first/dist build/clones/second/dist
	@mv build/clones/first/dist dist && rm -rf build/clones
	@cd dist && sha256sum * | tee SHA256SUMS

format: .venv/test ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove everything that setup created
	rm -rf .venv tests/node_modules tests/pyright/node_modules web/node_modules src/partita/server/page/built \
	  $(CLIENTS)/node_modules $(CLIENTS)/.venv

# uv is much faster than pip, but does not read the configuration of pip: pip is used if uv cannot get the packages.
INSTALL = ($(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '$(1)' \
	  || $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '$(1)') \
	  || $(PYTHON_FAILED)

PYTHON_FAILED = (echo "The Python packages could not be installed: read the error above. Is the package index reachable?"; exit 1)

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || (echo "Partita needs Python 3.11 or newer. Set it: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1)
	@echo "Setting up: Python packages, into .venv"
	@$(PYTHON) -m venv .venv || (echo "Python cannot create a virtual environment: install its venv package (Debian: apt install python3-venv)"; exit 1)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv || echo "uv could not be installed; pip is used, which takes longer"
	@touch $@

.venv/run: .venv/created pyproject.toml constraints.txt
	@$(call INSTALL,.)
	@touch $@

.venv/test: .venv/created pyproject.toml constraints.txt
	@$(call INSTALL,.[dev])
	@touch .venv/run $@

.venv/full: .venv/created pyproject.toml constraints.txt
	@$(call INSTALL,.[full])
	@touch .venv/run .venv/test $@

# Some Python clients need other versions of packages than the tests, so they have their own environment.
$(CLIENTS)/.venv/installed: $(CLIENTS)/requirements.txt | .venv/full
	@echo "Setting up: Python clients, into $(CLIENTS)/.venv"
	@$(BIN)/python -m venv $(CLIENTS)/.venv
	@$(BIN)/uv pip install --quiet --python $(CLIENTS)/.venv/bin/python -r $< \
	  || $(CLIENTS)/.venv/bin/python -m pip install --disable-pip-version-check -r $< || $(PYTHON_FAILED)
	@touch $@

$(PAGE): $(WEB) $(PAGE_SOURCES)
	@echo "Setting up: building the web UI"
	@cd web && npm run --silent build || (echo "The web UI could not be built: read the error above. make clean removes a broken installation."; exit 1)
	@touch $@

NPM_FAILED = (echo "The npm packages could not be installed: read the error above. Is the npm registry reachable?"; exit 1)

web/node_modules/.run: web/package.json web/pnpm-lock.yaml
	@echo "Setting up: npm packages of the web UI, into web/node_modules"
	@cd web && $(PNPM) --prod || $(NPM_FAILED)
	@touch $@

web/node_modules/.test: web/package.json web/pnpm-lock.yaml
	@echo "Setting up: npm packages of the web UI and its tests, into web/node_modules"
	@cd web && $(PNPM) || $(NPM_FAILED)
	@touch web/node_modules/.run $@

%/node_modules/.installed: %/package.json %/pnpm-lock.yaml | $(WEB) # two at once would both install pnpm
	@echo "Setting up: npm packages, into $*/node_modules"
	@cd $* && $(PNPM) || $(NPM_FAILED)
	@touch $@
