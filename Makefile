# Every target sets up what it needs by itself. PYTHON chooses the interpreter, PORT the port of make run. One compiled
# without profile-guided optimisation, as pyenv does by default, takes an eighth more of processor time for the tests.
PYTHON ?= python3
ARGS ?=
.DEFAULT_GOAL := help
.PHONY: help run test test-slow client-environments test-clients client npm-client schema lint format types migrations-check messages lock screens bench tune
# Compiled modules are kept, out of the sources' way and even where the environment would rather not: without them a
# test run compiles everything anew in each of its processes.
export PYTHONPYCACHEPREFIX ?= $(CURDIR)/var/pycache
export PYTHONDONTWRITEBYTECODE :=

IN_VENV := .venv/bin/python
PEERS := .venv-peers
PEERS_LOCK := benchmarks/peers/requirements.txt
RUNTIME := $(PYTHON) -I memory_project/venv.py requirements.txt
DEVELOPMENT := $(PYTHON) -I memory_project/venv.py requirements-dev.txt
# The type checker reads the settings but never connects, so addresses that lead nowhere are enough for it.
NOWHERE := DATABASE_URL=postgresql://nobody@/none?host=/nonexistent REDIS_URL=unix:///nonexistent SECRET_KEY=unused
LOCK := $(IN_VENV) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header

help:
	@echo "make run               start Keepsake on http://127.0.0.1:8000 (PORT=9000 chooses another port)"
	@echo "make test              run the tests on servers of their own (ARGS='tests/facts -k name': only these;"
	@echo "                       COVERAGE=1: count which branches they take, at least 90 % of them)"
	@echo "make test-slow         run the tests that start or stop servers, drive Chromium, read hundreds of texts or write at once"
	@echo "                       (WITH_CLIENTS=1: other people's clients too, once make client-environments installed them)"
	@echo "make test-clients      run other people's clients against Keepsake, each in an environment of its own, which"
	@echo "                       make client-environments installs"
	@echo "make client             write what the Python client derives from the schema, and build it into var/dist"
	@echo "make lint              check style (make format mends it)"
	@echo "make types             check types"
	@echo "make migrations-check  check that the migrations fit the models and block nobody (docs/migrations.md)"
	@echo "make messages          gather what people read into locale/, for its translations, and compile them"
	@echo "make screens           take pictures of the pages on the demo's data, into var/screens and docs/screens"
	@echo "make bench             measure beside peers and bare SQL, filled once and kept in var/bench (BENCH_SCALE=20000: less)"
	@echo "make tune              tune the entailment network for a question of our own (ARGS='outdated --check')"
	@echo "make lock              write both requirements files anew from pyproject.toml, and those of the peers"

run:
	@$(RUNTIME)
	@exec $(IN_VENV) -m memory_project.run

# Which tests are slow, pyproject.toml says. Tests of one module stay in one process as far as they can, which makes what
# they share once. A third process fills what two leave of two cores and gains nothing: 625 s against 603.
TESTS := pytest -n 2 --dist worksteal
PYTEST := $(IN_VENV) -m $(TESTS)
COUNTED := $(IN_VENV) -m slipcover

test:
	@$(DEVELOPMENT)
ifdef COVERAGE
	@directory=$$(mktemp -d) && trap 'rm -rf "$$directory"' EXIT INT TERM && \
	$(COUNTED) --json --out "$$directory/run" -m $(TESTS) -m "not slow" $(ARGS) && \
	$(COUNTED) $(if $(ARGS),,--fail-under 90) --out "$$directory/all" --merge "$$directory/run"
else
	@$(PYTEST) -m "not slow" $(ARGS)
endif

# One of them talks with a small real model, which lies with its server in an environment of its own.
SMALL_MODEL := $(CURDIR)/var/small-model
test-slow:
	@$(DEVELOPMENT)
	@$(IN_VENV) -m uv venv --quiet --allow-existing --python $(IN_VENV) $(SMALL_MODEL)
	@$(IN_VENV) -m uv pip sync --quiet --require-hashes --python $(SMALL_MODEL)/bin/python tests/assistant/small_model.txt
	@KEEPSAKE_SMALL_MODEL=$(SMALL_MODEL) $(if $(WITH_CLIENTS),$(THEIR_PLACES)) $(PYTEST) -m slow $(ARGS)

# Each client has an environment of its own in var/. Node and npm come as a wheel, so that no machine needs them.
CLIENTS := $(CURDIR)/var/clients
THEIR_PLACES = KEEPSAKE_CLIENTS=$(CLIENTS) KEEPSAKE_NODE_CLIENTS=$(CLIENTS)/mcp
WITH_NODE := PATH=$(CLIENTS)/node/bin:$$PATH
OWN_CLIENTS := agno agno-2 langgraph openai-agents
PYTHON_CLIENTS := $(OWN_CLIENTS) mem0 mem0-1 node
environment = $(IN_VENV) -m uv venv --quiet --allow-existing --python $(IN_VENV) $(CLIENTS)/$(1) && \
	$(IN_VENV) -m uv pip sync --quiet --require-hashes --python $(CLIENTS)/$(1)/bin/python tests/clients/$(1).txt
packages = mkdir -p $(CLIENTS)/$(2) && cp -r $(1)/. $(CLIENTS)/$(2) && \
	$(WITH_NODE) npm ci --silent --no-audit --no-fund --prefix $(CLIENTS)/$(2)

# Keepsake's own Python client is in the environments of the programs that it has adapters for.
client-environments: npm-client
	@for name in $(PYTHON_CLIENTS); do $(call environment,$$name) || exit 1; done
	@for name in $(OWN_CLIENTS); do \
	$(IN_VENV) -m uv pip install --quiet --no-deps --python $(CLIENTS)/$$name/bin/python --reinstall clients/python || exit 1; done
	@$(call packages,tests/interop/mcp/node,mcp)
	@$(call packages,tests/clients/mem0-npm,mem0-npm)

test-clients: client-environments
	@$(THEIR_PLACES) $(PYTEST) -m slow tests/interop/mcp tests/clients $(ARGS)

# The types follow from the schema, and the client that waits from the one that is awaited.
client: npm-client
	@$(IN_VENV) clients/python/tools/generate.py var/dist/schema.json
	@$(IN_VENV) -m uv build --quiet --out-dir var/dist clients/python

npm-client: schema
	@$(call environment,node)
	@$(call packages,clients/typescript,typescript)
	@cd $(CLIENTS)/typescript && $(WITH_NODE) npm run --silent build >/dev/null && \
	$(WITH_NODE) npm pack --silent --pack-destination $(CURDIR)/var/dist >/dev/null

schema:
	@$(DEVELOPMENT)
	@mkdir -p var/dist && $(IN_VENV) -m memory_project.embedded \
	$(IN_VENV) manage.py spectacular --format openapi-json --file var/dist/schema.json

lint:
	@$(DEVELOPMENT)
	@$(IN_VENV) -m ruff check . && $(IN_VENV) -m ruff format --check .

format:
	@$(DEVELOPMENT)
	@$(IN_VENV) -m ruff check --fix . && $(IN_VENV) -m ruff format .

types:
	@$(DEVELOPMENT)
	@$(NOWHERE) $(IN_VENV) -m mypy .

migrations-check:
	@$(DEVELOPMENT)
	@$(IN_VENV) -m memory_project.embedded sh -c \
	"$(IN_VENV) manage.py makemigrations --check --dry-run && $(IN_VENV) manage.py lint_migrations"

messages:
	@$(DEVELOPMENT)
	@$(NOWHERE) $(IN_VENV) manage.py messages

lock:
	@$(DEVELOPMENT)
	@$(LOCK) pyproject.toml -o requirements.txt
	@$(LOCK) --constraints requirements.txt --group dev pyproject.toml -o requirements-dev.txt
	@$(LOCK) benchmarks/peers/requirements.in -o $(PEERS_LOCK)
	@$(LOCK) benchmarks/tuning/requirements.in -o benchmarks/tuning/requirements.txt
	@$(LOCK) --no-deps tests/assistant/small_model.in -o tests/assistant/small_model.txt
	@for name in $(PYTHON_CLIENTS); do $(LOCK) tests/clients/$$name.in -o tests/clients/$$name.txt; done

screens:
	@$(DEVELOPMENT)
	@$(IN_VENV) -m memory_project.embedded $(IN_VENV) -m tests.screens --readme $(ARGS)

# The peers have an environment of their own: none of their packages comes near Keepsake's.
bench:
	@$(DEVELOPMENT)
	@$(IN_VENV) -m uv venv --quiet --allow-existing --python $(IN_VENV) $(PEERS)
	@$(IN_VENV) -m uv pip sync --quiet --require-hashes --python $(PEERS)/bin/python $(PEERS_LOCK)
	@$(IN_VENV) -m benchmarks.peers --peers $(PEERS)/bin/python $(ARGS)

# What tunes the network has an environment of its own, too: make tune ARGS='outdated --check'
TUNING := $(CURDIR)/var/tuning
tune:
	@$(DEVELOPMENT)
	@$(IN_VENV) -m uv venv --quiet --allow-existing --python $(IN_VENV) $(TUNING)
	@$(IN_VENV) -m uv pip sync --quiet --require-hashes --python $(TUNING)/bin/python benchmarks/tuning/requirements.txt
	@$(TUNING)/bin/python -m benchmarks.tuning.fit $(ARGS)
