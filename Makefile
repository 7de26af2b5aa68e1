# Everything installs itself: Python >= 3.11, Node >= 20 and make are all that must be there.
PYTHON ?= python3
BIN := .venv/bin
NODE := tests/conformance/node_modules/.package-lock.json
# Many tests wait: for processes, sockets, clocks. So there are half as many workers again as there are cores.
WORKERS := $(shell echo $$((($$(getconf _NPROCESSORS_ONLN) * 3 + 1) / 2)))
TESTS := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
CLIENTS := $(patsubst %/package.json,%/node_modules/.package-lock.json,$(wildcard tests/conformance/clients/package.json tests/server/clients/package.json))

WEB := web/node_modules/.package-lock.json
PAGE := src/partita/server/page/built/index.html
SOURCES := $(shell find web/src web/public -type f) web/index.html $(wildcard web/vite*.ts)

# Compiled code is kept, whatever the environment says: hundreds of processes are started.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup run web test tested beside lint types mypy pyright unit page browser chromium walk full losses conformance chaos fuzz bench typescript blocking docs pictures dist format clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## Create .venv and install everything the tests need
	@$(MAKE) --no-print-directory -j2 .venv/installed $(NODE) $(CLIENTS) $(PAGE) chromium

run: ## Open the page, with your agents' sessions or a demo
	@$(MAKE) --no-print-directory -j2 .venv/installed $(PAGE)
	@$(BIN)/partita serve --open

web: $(PAGE) ## Build the page

test: setup lint ## Run all checks and tests, as CI does
	@$(MAKE) --no-print-directory -j2 beside tested

tested:
	$(TESTS)

beside: # one after the other: side by side they would keep the tests waiting
	@$(MAKE) --no-print-directory browser
	@$(MAKE) --no-print-directory page
	@$(MAKE) --no-print-directory mypy
	@$(MAKE) --no-print-directory pyright

page: $(WEB) ## Check the page and run its tests that need no browser
	cd web && npx biome ci . && npx tsc --noEmit && npx vitest run --project unit

browser: setup ## Run the tests of the page in a real browser, on a real server
	cd web && npx vitest run --project e2e

chromium: $(WEB)
	@node web/e2e/setup/chromium.mjs

lint: .venv/installed ## Check the form of the code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup ## Check the types, with mypy and pyright at once
	@$(MAKE) --no-print-directory -j2 mypy pyright

mypy:
	$(BIN)/mypy

pyright:
	tests/conformance/node_modules/.bin/pyright --pythonpath $(BIN)/python

unit: setup ## Run the tests, a bounded sample of the conformance ones included
	$(TESTS)

walk: setup ## Follow the README and the guides as a stranger would, in a fresh clone and an empty home
	$(BIN)/python -m docs.walk

full: setup ## Run every test in every place that it can run in, 200 examples a test
	PARTITA_FULL=1 HYPOTHESIS_PROFILE=more $(TESTS) --timeout 3600

losses: setup ## Change every leaf of every recording in turn: the output or the losses must change
	PARTITA_FULL=1 $(BIN)/python -m pytest -n 2 --timeout 7200 tests/formats/test_nothing_lost.py

conformance: setup ## Compare with the real ai packages at length, 3,000 examples a test
	HYPOTHESIS_PROFILE=long $(TESTS) tests/conformance

chaos: setup ## Kill and interrupt writers hundreds of times, and look whether anything acknowledged is gone
	PARTITA_CHAOS=300 $(BIN)/python -m pytest -n 2 --timeout 3600 tests/store/test_chaos.py tests/runtime/test_runtime_chaos.py tests/server/proofs tests/terminal/test_interrupting.py

fuzz: setup ## Send the server requests made at random, by its own description and against it
	PARTITA_FUZZ=100 $(BIN)/python -m pytest -n 2 --timeout 3600 tests/server/security

bench: setup ## Measure ourselves beside the real ai package, and the page in a browser
	$(BIN)/python -m benchmarks
	cd web && npx vitest run --project bench

typescript: .venv/installed ## Write the TypeScript types of the web page anew
	$(BIN)/python -m partita.types.typescript > web/src/partita.gen.ts

blocking: .venv/installed ## Write the store without await anew
	$(BIN)/python -m partita.store.blocking.source > src/partita/store/blocking/store.new
	mv src/partita/store/blocking/store.new src/partita/store/blocking/store.py
	$(BIN)/ruff check --quiet --fix --select F,I src/partita/store/blocking/store.py
	$(BIN)/ruff format --quiet src/partita/store/blocking/store.py

docs: .venv/installed ## Write the generated pages of the documentation anew, and build the site from all of them
	$(BIN)/python -m docs.generating
	$(BIN)/python docs/picture.py > docs/tour.svg
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

pictures: setup ## Take the pictures of the documentation anew
	cd web && npx vitest run --project pictures

dist: .venv/installed ## Build what is released from two fresh clones, and see that both are the same
	@rm -rf dist build/clones && mkdir -p build/clones
	@for name in first second; do \
	  git clone --quiet . build/clones/$$name && (cd build/clones/$$name && ../../../$(BIN)/python -m hatchling build); \
	done
	diff -r build/clones/first/dist build/clones/second/dist
	@mv build/clones/first/dist dist && rm -rf build/clones
	@cd dist && sha256sum * | tee SHA256SUMS

format: .venv/installed ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove everything that setup made
	rm -rf .venv tests/conformance/node_modules tests/conformance/clients/node_modules tests/server/clients/node_modules web/node_modules src/partita/server/page/built

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Partita needs Python 3.11 or newer; set PYTHON=python3.x")'
	@echo "Setting up: Python packages, into .venv (about a minute)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@
	@echo "Setting up: Python packages are there"

$(PAGE): $(WEB) $(SOURCES)
	@echo "Setting up: the page is built"
	@cd web && npm run --silent build
	@touch $@

%/node_modules/.package-lock.json: %/package.json %/package-lock.json
	@echo "Setting up: npm packages, into $*/node_modules"
	@npm ci --prefix $* --no-audit --no-fund --loglevel=error
	@touch $@
