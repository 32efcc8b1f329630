# gemm_lab: `make help` lists the targets and the variables.

PYTHON ?= python3
VENV ?= .venv
PORT ?= 8888
WORKERS ?= 2
PYTEST_ARGS ?=

PY = "$(VENV)/bin/python"
PIP = $(PY) -m pip install --quiet --disable-pip-version-check

# The extra for the driver that is present: cuda13, cuda12, or nothing without a driver (or with one that is too old).
DRIVER_EXTRA := $(shell $(PYTHON) -c "import ctypes; v = ctypes.c_int(); \
	ctypes.CDLL('libcuda.so.1').cuDriverGetVersion(ctypes.byref(v)); \
	print('cuda13' if v.value >= 13000 else 'cuda12' if v.value >= 12000 else '')" 2>/dev/null)
EXTRA ?= $(DRIVER_EXTRA)

# torch is a large download and needs CUDA 13: `make lab` takes it beside cuda13, or with TORCH=1.
# `make test` takes the version of constraints.txt; TORCH=0 or cuda12 leaves it out, and the tests that need it skip.
comma := ,
LAB_TORCH = $(if $(TORCH),$(filter-out 0,$(TORCH)),$(filter cuda13,$(EXTRA)))
LAB_EXTRAS = $(EXTRA)$(if $(LAB_TORCH),$(if $(EXTRA),$(comma))torch)
LAB_STAMP = $(VENV)/.stamp-lab-$(subst $(comma),-,$(LAB_EXTRAS))
NO_TEST_TORCH = $(or $(filter 0,$(TORCH)),$(filter cuda12,$(EXTRA)))
TEST_STAMP = $(VENV)/.stamp-test$(if $(EXTRA),-$(EXTRA))$(if $(NO_TEST_TORCH),-without-torch)

# Jupyter refuses to start as root, which is who one is in most containers, unless told.
ROOT_FLAG = $(if $(filter 0,$(shell id -u)),--allow-root)

.DELETE_ON_ERROR:
.PHONY: help lab test test-all attack run course record clean

help:
	@echo "make lab      open the notebooks in JupyterLab        PORT=8888  BROWSER=0 (print the address only)"
	@echo "make test     check the lab: lint, then some cases of each test   TORCH=0  WORKERS=2  PYTEST_ARGS='-k swizzle'"
	@echo "make test-all the same, with all cases, and the tests that take long"
	@echo "make attack   try every trick against the grader, the emulator and the GPU server; shows its progress"
	@echo "make course   build the assignments for nbgrader in the folder course: see CLASSROOM.md"
	@echo "make run      run every notebook headless; the executed copies land in build/notebooks"
	@echo "make record   measure on this machine's GPU and append to results/measured"
	@echo "make clean    delete build products and caches; the virtual environment stays"
	@echo
	@echo "PYTHON=python3.12 chooses the interpreter, VENV=.venv the folder of the virtual environment,"
	@echo "EXTRA=cuda12 or cuda13 overrides the detected driver (here: $(or $(DRIVER_EXTRA),none)), TORCH=1 adds torch."

lab: $(LAB_STAMP)
	@$(PY) -m gemm_lab.notebook.trust notebooks
	$(PY) -m jupyterlab --port=$(PORT) $(if $(filter 0,$(BROWSER)),--no-browser) $(ROOT_FLAG) \
		--ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb

test: $(TEST_STAMP)
	"$(VENV)/bin/gemm-lab" sync --check
	$(PY) -m ruff check .
	$(PY) -m pytest -n $(WORKERS) $(LONG) $(PYTEST_ARGS)

test-all: LONG = -m ""
test-all: test

# Attack tests are seeded: `make test` tries a sample of the first part of each sequence, this target all of it.
attack: $(TEST_STAMP)
	GEMM_LAB_ATTACK=full $(PY) -m pytest -n $(WORKERS) -q --no-header --timeout 1800 -m "" tests/attacks $(PYTEST_ARGS)

run: $(LAB_STAMP)
	$(PY) -m tools.run_notebooks --into build/notebooks

course: $(VENV)/.stamp-course
	$(PY) -m classroom.course --into course

record: $(LAB_STAMP)
	"$(VENV)/bin/gemm-lab" record

clean:
	rm -rf build dist .pytest_cache .ruff_cache test-results
	find gemm_lab gpu_simulator gpu_runner classroom tools tests notebooks -depth \( -name __pycache__ -o -name .ipynb_checkpoints \) -exec rm -rf {} +

# A stamp is newer than pyproject.toml once its packages are in; so a second run installs nothing.
$(VENV)/.stamp-made:
	@if [ "$$(uname -s)" = Darwin ]; then \
		echo "NVIDIA ships no CUDA compiler for macOS; use the container instead: see README.md, 'macOS'." >&2; exit 1; fi
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "There is no '$(PYTHON)' here; install Python 3.10 or newer, or name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo "'$(PYTHON)' is older than Python 3.10; name a newer one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@[ -x "$(VENV)/bin/python" ] || "$(PYTHON)" -m venv "$(VENV)"
	@touch "$@"

$(VENV)/.stamp-lab-%: pyproject.toml $(VENV)/.stamp-made
	@echo "installing the lab into $(VENV) ..."
	$(PIP) --editable ".$(if $(LAB_EXTRAS),[$(LAB_EXTRAS)])"
	@touch "$@"

$(VENV)/.stamp-lab-: pyproject.toml $(VENV)/.stamp-made
	@echo "installing the lab into $(VENV) ..."
	$(PIP) --editable .
	@touch "$@"

$(VENV)/.stamp-course: pyproject.toml $(VENV)/.stamp-made
	@echo "installing the lab and nbgrader into $(VENV) ..."
	$(PIP) --editable ".[course]"
	@touch "$@"

# torch first and by version, so that nothing pulls another build of it in.
$(TEST_STAMP): pyproject.toml constraints.txt $(VENV)/.stamp-made
	@echo "installing the lab and its test tools into $(VENV) ..."
	$(if $(NO_TEST_TORCH),,$(PIP) --requirement constraints.txt)
	$(PIP) --constraint constraints.txt --editable ".[test$(if $(EXTRA),$(comma)$(EXTRA))]"
	@touch "$@"
