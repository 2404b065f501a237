# Every verb does its own set-up: it needs Python 3.11 or newer, make and the package registries.
# Windows is not served: recipes are for sh, programs are in bin/. There, `pip install .`.
PYTHON ?= python3
JOBS ?= 2
LOCKFLAGS ?=
NAME ?= stars
PEERS ?= rigeo_problem mujoco_sysid figaroh_fit

VENV := .venv
PY := $(VENV)/bin/python
LOCK := requirements.lock
ORACLES := requirements-oracles.lock
PIP_QUIET := --quiet --quiet --disable-pip-version-check
READY := $(VENV)/ready.stamp
STUDIES = $(filter-out reports,$(sort $(basename $(notdir $(wildcard experiments/*.toml experiments/*.py)))))
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Without bytecode every worker and every process of a test compiles all modules again.
CACHED := PYTHONDONTWRITEBYTECODE=

# Logs of others, used by some tests where they are at hand (skipped with a reason elsewhere).
ifndef IDENTIFY_SHARED_DATA
ifneq ($(wildcard ../shared/data/.),)
export IDENTIFY_SHARED_DATA := $(abspath ../shared/data)
endif
endif
# Public data sets of `make study` and `make bench`: a mirror on this machine, where there is one.
ifndef IDENTIFY_DATA
ifdef IDENTIFY_SHARED_DATA
study bench reports: export IDENTIFY_DATA := $(IDENTIFY_SHARED_DATA)
endif
endif

define check_python
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "identify needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." >&2; \
	echo "Name another one, for example: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
endef

.DEFAULT_GOAL := help
.PHONY: help demo test lint types layers tests matrix kernels browser fuzz bench peers frozen docs format lock size study reports package clean

help:  ## list the verbs
	@awk -F':.*  ## ' '/^[a-z]+:.*  ## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY)  ## fit the shipped log; print the parameters beside their truth, write the report
	$(PY) -m identify fit datasets/payload_arm/payload_arm.parquet \
		--schema datasets/payload_arm/schema.toml --truth datasets/payload_arm/truth.json -o reports/demo
	@echo
	@echo "Report: reports/demo/report.html; open it in a browser."
	@echo "Command: . $(VENV)/bin/activate in each new shell, then identify doctor; or $(VENV)/bin/identify doctor."
	@echo "Next: docs/getting-started.md, from a log of your own to a payload setting."

test: $(READY)  ## everything that must pass: lint, types, layers, tests, types beside the tests
	@$(MAKE) --no-print-directory -j 2 lint types layers tests
	-@$(PY) scripts/write_reports.py --list

lint: $(READY)  ## ruff: rules and format; words of docstrings and names
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) scripts/check_words.py

types: $(READY)  ## basedpyright on identify/
	$(VENV)/bin/basedpyright

layers: $(READY)  ## import-linter: data flows one way
	$(VENV)/bin/lint-imports

tests: $(READY)  ## pytest alone (JOBS=2, ARGS='-k wrench')
	$(ONE_THREAD) $(CACHED) $(PY) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

matrix: $(READY)  ## the tests on each of Python 3.11 to 3.14 on this machine; of others, whether wheels resolve (ARGS='-k wrench')
	@for version in 3.11 3.12 3.13 3.14; do \
		if python$$version -c '' 2>/dev/null; then \
			echo "Python $$version"; \
			$(MAKE) --no-print-directory PYTHON=python$$version VENV=build/python$$version tests || exit 1; \
		else \
			echo "Python $$version: not on this machine; wheels of it:"; \
			$(PY) -m uv pip compile pyproject.toml --quiet --python-version $$version --only-binary :all: \
				--extra all --output-file /dev/null && echo "  all resolve" || exit 1; \
		fi; \
	done

kernels: $(READY)  ## the tests with kernels of OpenBLAS for other processors (ARGS='-k wrench')
	@for kernel in Haswell Prescott Nehalem; do \
		echo "OPENBLAS_CORETYPE=$$kernel"; \
		OPENBLAS_CORETYPE=$$kernel $(MAKE) --no-print-directory tests || exit 1; \
	done

browser:  ## Debian's chromium for the tests of pages, where root can install it
	@sh scripts/install_browser.sh

fuzz: $(READY) browser  ## damaged inputs of every kind, runners and workers killed, many seeds (ARGS='--seed 1 --count 9000')
	$(ONE_THREAD) $(PY) -m tests.fuzz.run $(ARGS)
	$(ONE_THREAD) $(PY) -m pytest -q -m slow

bench: $(READY)  ## benchmarks, one thread: reports/benchmarks.md; in pairs with a revision (BASE=REV)
ifdef BASE
	$(ONE_THREAD) PYTHONPATH=. $(PY) -m experiments.benchmarks.pairs $(BASE) $(ARGS)
else
	$(ONE_THREAD) $(PY) experiments/benchmarks/run.py
endif

peers: $(READY)  ## identify benchmark with other methods, each in an environment of its own: reports/benchmark
	@for peer in $(PEERS); do \
		test -x build/peers/$$peer/bin/python || { \
			$(PY) -m uv venv --quiet --python $(PY) build/peers/$$peer && \
			sed -n 's/^# requires: //p' experiments/peers/$$peer.py | \
				xargs $(PY) -m uv pip install --quiet --python build/peers/$$peer/bin/python; \
		} || { rm -rf build/peers/$$peer; echo "$$peer does not install here; its rows say so" >&2; }; \
	done
	$(ONE_THREAD) $(CACHED) $(PY) -m identify benchmark -o reports/benchmark --tasks experiments/peers/measured.toml --tasks experiments/peers/arms.toml \
		--method "identify, rows=experiments/peers/identify_rows.py:estimate" \
		$(foreach peer,$(PEERS),--method "$(peer)=build/peers/$(peer)/bin/python experiments/peers/$(peer).py") $(ARGS)
	$(PY) scripts/paper_tables.py

frozen: $(READY)  ## bit for bit the results of BASE=REV, after a refactoring (ARGS='--cases stars --working-tree')
	@test -n "$(BASE)" || { echo "Name the revision to compare with: make frozen BASE=main" >&2; exit 2; }
	$(ONE_THREAD) PYTHONPATH=. $(PY) -m experiments.frozen.run $(BASE) $(ARGS)

docs: $(READY)  ## run the examples of README and docs/, draw its figures, build docs/_build/html
	$(ONE_THREAD) $(PY) docs/motions.py
	$(ONE_THREAD) $(PY) docs/frames.py
	$(ONE_THREAD) $(PY) docs/kit.py
	$(ONE_THREAD) $(PY) docs/theory_figures.py
	$(ONE_THREAD) $(PY) docs/gallery.py
	$(ONE_THREAD) $(PY) scripts/run_examples.py README.md \
		$(filter-out docs/extending.md,$(wildcard docs/*.md)) docs/theory/*.md docs/api/*.md
	$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

format: $(READY)  ## ruff: mend what can be mended, format
	$(PY) -m ruff check --fix --exit-zero .
	$(PY) -m ruff format .

lock:  ## pin what pyproject.toml asks for (LOCKFLAGS=--upgrade takes the newest)
	$(check_python)
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip $(PIP_QUIET) install uv
	build/lock/bin/python -m uv pip compile pyproject.toml --quiet --universal --fork-strategy fewest \
		--python-version 3.11 --extra test --extra bench --extra docs --group dev \
		--generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" $(LOCKFLAGS) --output-file $(LOCK)
	build/lock/bin/python -m uv pip compile pyproject.toml --quiet --universal --fork-strategy fewest \
		--python-version 3.11 --extra oracles --constraint $(LOCK) --no-annotate \
		--generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" $(LOCKFLAGS) --output-file $(ORACLES)
	@! grep -nE '^identify==|://' $(LOCK) $(ORACLES) || { \
		echo "$(LOCK) names a host, or a package that would overwrite this one: see above" >&2; exit 1; }

size: $(READY)  ## lines, files and import cycles by package; functions that a fit calls, and those of one sensor alone
	$(PY) scripts/size.py
	PYTHONPATH=. $(PY) scripts/traced_lines.py

study: $(READY)  ## a study of experiments/ (NAME=stars, coverage, noise, …): reports/NAME/summary.md
	@test -f experiments/$(NAME).toml -o -f experiments/$(NAME).py || { \
		echo "There is no study '$(NAME)'. There are: $(STUDIES)" >&2; exit 2; }
	$(ONE_THREAD) $(CACHED) $(PY) $(if $(wildcard experiments/$(NAME).toml),\
		-m identify study run experiments/$(NAME).toml -o reports/$(NAME) $(ARGS),\
		experiments/$(NAME).py -o reports/$(NAME).md $(ARGS))

reports: $(READY)  ## rewrite the outdated reports (ARGS=--list: list them, with run times)
	$(ONE_THREAD) $(CACHED) $(PY) scripts/write_reports.py $(ARGS)

package: $(READY)  ## wheel and sdist in dist/, each tried in a clean environment; the demo from the sdist
	rm -rf dist
	$(PY) -m build --no-isolation --outdir dist .
	$(PY) scripts/check_package.py dist $(LOCK)

clean:  ## remove what the verbs made, the environment too
	rm -rf $(VENV) build dist docs/_build reports/demo
	rm -rf .pytest_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache
	find identify tests experiments datasets scripts docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The environment: a new lock rebuilds it, a new pyproject.toml only installs the project again.
# uv installs the pinned wheels five times faster than pip, which steps in where uv cannot work.

$(VENV)/lock.stamp: $(LOCK) $(ORACLES)
	$(check_python)
	$(PYTHON) -m venv --clear $(VENV)
	@awk '/^uv==/ {on = 1} on {print} on && !/\\$$/ {exit}' $(LOCK) > $(VENV)/uv.txt
	{ $(PY) -m pip $(PIP_QUIET) install --no-deps --require-hashes --requirement $(VENV)/uv.txt && \
	  $(PY) -m uv pip install --quiet --python $(PY) --no-deps --require-hashes -r $(LOCK); } || \
	$(PY) -m pip $(PIP_QUIET) install --no-deps --require-hashes --requirement $(LOCK)
	@$(PY) -m uv pip install --quiet --python $(PY) --no-deps --require-hashes -r $(ORACLES) || \
		echo "Some oracles of the tests do not install here; tests against them are skipped." >&2
	@touch $@

$(READY): $(VENV)/lock.stamp pyproject.toml
	$(PY) -m pip $(PIP_QUIET) install --no-deps --no-build-isolation --editable .
	@touch $@
