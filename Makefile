# Everything a newcomer needs: `make demo` and `make test`. Nothing is installed outside this folder, but for Slurm's
# packages, which the tests start a cluster with: those are installed where that is allowed (root on Debian or Ubuntu).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# Compiled bytecode makes every process of a run start faster, whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick check unit slurm fuse browser frameworks bench api format clean

demo: $(VENV)/.installed
	@$(BIN)/python examples/quickstart/submit.py

test: check unit

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.javascript

# What needs no cluster, container or framework, and starts no whole story (tests/support/needs.py): before each commit.
quick: check
	$(BIN)/python -m pytest -n auto --dist loadgroup -m "not (cluster or container or framework or slow)"

unit: $(VENV)/.dev slurm fuse browser frameworks
	$(BIN)/python -m tests.support.twice

# Has what it is called, two programs of it, and its packages.
define installed
	@PATH=$$PATH:/usr/sbin; command -v $(2) >/dev/null && command -v $(3) >/dev/null || { \
	  install="apt-get install -y --no-install-recommends $(4)"; export DEBIAN_FRONTEND=noninteractive; \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "Installing $(1) for the tests ..." && \
	  { $$install || { apt-get update && $$install; }; } >/dev/null 2>&1; } || \
	  echo "$(1) is not installed: the tests that need it will be skipped."
endef

slurm:
	$(call installed,Slurm,slurmctld,munged,slurm-wlm munge)
	$(call installed,What makes nodes that are apart,ip,unshare,iproute2 util-linux)
	$(call installed,Slurm's accounting,slurmdbd,mariadbd,slurmdbd mariadb-server-core)

fuse:
	$(call installed,FUSE,fusermount3,fusermount3,fuse3 libfuse3-3)

browser:
	$(call installed,Chromium,chromium,chromium,chromium)

# Environments with torch, TensorFlow, Open MPI and Ray (3 GB, made once), so that no test has to wait for them.
frameworks: $(VENV)/.dev
	@$(BIN)/python -m tests.support.frameworks

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# What users import, from its docstrings, as web pages.
api: $(VENV)/.dev
	$(BIN)/python -m tests.support.reference build/api

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Runyard needs Python 3.10 or later; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing Runyard into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	@echo "Installing what the tests need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev --editable ".[postgres]"
	@touch $@

clean:
	rm -rf $(VENV) node_modules .test-environments .mypy_cache .pytest_cache .ruff_cache build dist
