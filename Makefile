# Every target does its own set-up in .venv; a bare Debian with Python 3.11, venv and make is enough.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: help install demo test test-spark browser check bench evaluate chaos agent screenshots fuzz mysql format clean

help:  ## say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

install: $(INSTALLED)  ## create .venv with pfscope and all extras

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,fuzz]'
	@touch $@

demo: $(INSTALLED)  ## a simulated Lustre site, its agents, its server, and an incident with its culprit
	$(BIN)/pfscope demo

test: $(INSTALLED)  ## run all tests but those that need a browser, Java or a database
	$(BIN)/pytest --numprocesses auto

browser: $(INSTALLED)  ## test the pages in a real browser, which must be installed: chromium
	@command -v chromium chromium-browser google-chrome >/dev/null || { echo "install chromium"; exit 1; }
	$(BIN)/pytest --numprocesses auto --dist loadfile tests/browser

test-spark: $(INSTALLED)  ## test the miner on a real cluster of Spark; needs Java 17
	@command -v java >/dev/null || { echo "install Java 17: openjdk-17-jre-headless"; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[spark]'
	$(BIN)/pytest tests/spark

check: $(INSTALLED)  ## lint, types, import contracts, the agent's Python 3.6
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vermin --quiet --no-tips --violations -t=3.6- src/pfscope/__init__.py src/pfscope/frames src/pfscope/agent

bench: $(INSTALLED)  ## print speeds and errors, each beside a peer or a baseline
	@for name in $$(ls benchmarks/*_speed.py benchmarks/*_cost.py benchmarks/*_error.py); do \
	  $(BIN)/python -m benchmarks.$$(basename $$name .py) || exit 1; echo; done

mysql: $(INSTALLED)  ## read LMT's database live, from a MariaDB, which must be installed
	@command -v mariadbd >/dev/null || { echo "install mariadb-server"; exit 1; }
	$(BIN)/pytest tests/mysql/live_lmt.py

evaluate: $(INSTALLED)  ## judge the watch by scenarios of the laboratory, some ten minutes
	$(BIN)/python -m benchmarks.evaluation

chaos: $(INSTALLED)  ## kill the server at random instants, many rounds
	PFSCOPE_CHAOS_ROUNDS=40 $(BIN)/pytest tests/chaos

agent: $(INSTALLED)  ## build dist/pfscope-agent.pyz, the agent as one file
	$(BIN)/python packaging/build_agent.py dist/pfscope-agent.pyz

screenshots: $(INSTALLED)  ## make the pictures of the page in docs/images
	$(BIN)/python packaging/screenshots.py

fuzz: $(INSTALLED)  ## fuzz the readers, a minute each
	@for target in $$(ls tests/fuzz/fuzz_*.py); do \
	  $(BIN)/python -m tests.fuzz.$$(basename $$target .py) -max_total_time=60 || exit 1; done

format: $(INSTALLED)  ## put the source in its usual form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove all that was made
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
