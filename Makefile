# gemm_lab: `make help` lists the targets and the variables.

PYTHON ?= python3
VENV ?= .venv
PORT ?= 8888
SITE_PORT ?= 8000
WORKERS ?= 3
PYTEST_ARGS ?=
LOCKED ?= 1

override VENV := $(or $(strip $(VENV)),.venv)
comma := ,
space := $(subst ,, )
# In the name of a target a bare space would begin another name.
STAMP = $(subst $(space),\ ,$(VENV))/.stamp

PY = "$(VENV)/bin/python"
PIP = $(PY) -m pip install --disable-pip-version-check

# The extra for the driver that is present: cuda13, cuda12, or nothing without a driver (or with one that is too old).
DRIVER_EXTRA := $(shell $(PYTHON) -c "import ctypes; v = ctypes.c_int(); \
	ctypes.CDLL('libcuda.so.1').cuDriverGetVersion(ctypes.byref(v)); \
	print('cuda13' if v.value >= 13000 else 'cuda12' if v.value >= 12000 else '')" 2>/dev/null)
EXTRA ?= $(DRIVER_EXTRA)

# torch is a large download and needs CUDA 13: `make lab` takes it beside cuda13, or with TORCH=1.
# `make test` takes the version of locks/constraints.txt; TORCH=0 or cuda12 leaves it out, and the tests that need it skip.
LAB_TORCH = $(if $(TORCH),$(filter-out 0,$(TORCH)),$(filter cuda13,$(EXTRA)))
LAB_EXTRAS = $(EXTRA)$(if $(LAB_TORCH),$(if $(EXTRA),$(comma))torch)
COURSE_STAMP = $(STAMP)-course$(UNLOCKED)
SITE_STAMP = $(STAMP)-site$(UNLOCKED)
LAB_STAMP = $(STAMP)-lab$(UNLOCKED)$(if $(LAB_EXTRAS),-$(subst $(comma),-,$(LAB_EXTRAS)))
TEST_EXTRAS = test$(if $(EXTRA),$(comma)$(EXTRA))
NO_TEST_TORCH = $(or $(filter 0,$(TORCH)),$(filter cuda12,$(EXTRA)))
TEST_STAMP = $(STAMP)-test$(UNLOCKED)$(if $(EXTRA),-$(EXTRA))$(if $(NO_TEST_TORCH),-without-torch)

# Packages come from locks/, by version and hash; LOCKED=0 takes what the ranges of pyproject.toml give instead.
# locks/lab.txt, cuda12.txt and cuda13.txt are whole environments; the other locks are added to one of them.
extras = $(subst $(comma), ,$(1))
whole = $(or $(firstword $(filter cuda12 cuda13,$(call extras,$(1)))),lab)
locks = $(call whole,$(1)) $(filter-out cuda12 cuda13 torch,$(call extras,$(1)))
LOCKS = $(wildcard locks/*.txt)
UNLOCKED = $(if $(filter 0,$(LOCKED)),-unlocked)

# Jupyter refuses to start as root, which is who one is in most containers, unless told.
ROOT_FLAG = $(if $(filter 0,$(shell id -u)),--allow-root)

# $(call step,WHAT,COMMAND,REMEDY): says what it does, and ends with a sentence if it fails.
define step
@echo "$(1) ..."
@$(2) || { echo "make $@ stopped while $(1). $(3)" >&2; exit 1; }
endef

.DELETE_ON_ERROR:
.PHONY: help lab test test-all coverage run course dist site site-serve record update sizes clean

help:
	@echo "make lab      open the notebooks in JupyterLab        PORT=8888  BROWSER=0 (print the address only)"
	@echo "make test     check the lab: lint, then some cases of each test   TORCH=0  WORKERS=3  PYTEST_ARGS='-k swizzle'"
	@echo "make test-all the same, with all cases, and the tests that take long"
	@echo "make course   build the assignments for nbgrader in the folder course: see docs/CLASSROOM.md"
	@echo "make dist     build the wheels and source archives of a release, with their hashes, in the folder dist"
	@echo "make site     build the book as a static web site in build/site   ADDRESS=owner/repo adds links to Colab and others"
	@echo "              WASM_WHEELS=FOLDER, with NumPy and ml_dtypes for Pyodide, adds the lab in the browser: JupyterLite, and a page for one kernel"
	@echo "make site-serve  show that site on this machine           SITE_PORT=8000"
	@echo "make run      run every notebook headless; the executed copies land in build/notebooks"
	@echo "make record   measure on this machine's GPU and append to results/measured"
	@echo "make coverage run the quick tests and show how much of each file they execute"
	@echo "make update   choose the newest versions that fit together and write them into locks; KEEP=1 adds what is new alone"
	@echo "make sizes    print how many lines each package and each part of it has"
	@echo "make clean    delete build products and caches; the virtual environment stays"
	@echo
	@echo "PYTHON=python3.12 chooses the interpreter of a new environment, VENV=.venv the folder of the environment,"
	@echo "EXTRA=cuda12 or cuda13 overrides the detected driver (here: $(or $(DRIVER_EXTRA),none)), TORCH=1 adds torch,"
	@echo "LOCKED=0 takes packages by the ranges of pyproject.toml instead of the versions of locks."

# The lab's own terminals and cells find gemm-lab: the environment comes first on the PATH, and no login shell resets it.
lab: $(LAB_STAMP)
	@$(PY) -m gemm_lab.trust notebooks
	PATH="$$(cd "$(VENV)/bin" && pwd):$$PATH" $(PY) -m jupyterlab --port=$(PORT) \
		$(if $(filter 0,$(BROWSER)),--no-browser) $(ROOT_FLAG) \
		--ServerApp.terminado_settings="shell_command=$${SHELL:-sh}" \
		--ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb

# Many containers tell Python to write no bytecode. Then each process of the tests would compile all sources, and pytest
# each test, again.
test test-all coverage: export PYTHONDONTWRITEBYTECODE =

test: $(TEST_STAMP)
	$(call step,comparing what is generated with what it comes from,$(PY) -m tools.sync --check,Without --check '$(VENV)/bin/python -m tools.sync' writes it anew.)
	$(call step,linting,$(PY) -m ruff check .,'$(VENV)/bin/python -m ruff check --fix .' mends most of what is listed above.)
	$(call step,checking the format,$(PY) -m ruff format --check .,'$(VENV)/bin/python -m ruff format .' sets it right.)
	$(call step,checking types,$(PY) -m mypy,Each line above names a file and what does not fit.)
	$(call step,running the tests,$(PY) -m pytest -n $(WORKERS) --dist worksteal $(LONG) $(PYTEST_ARGS),The summary above lists each test that failed and why.)

test-all: LONG = -m ""
test-all: test

# The quick tests once more, slower: each process that they start counts its lines too. The simulator's own pytest plugin
# would load it before the counting begins.
coverage: $(TEST_STAMP)
	$(PY) -m pytest -p no:gpu_simulator -n $(WORKERS) --cov --cov-report= --no-cov-on-fail $(PYTEST_ARGS)
	$(PY) -m coverage report --skip-covered --include="gemm_lab/*,packages/*,tools/*"


run: $(LAB_STAMP)
	$(PY) -m tools.run_notebooks --into build/notebooks

course: $(COURSE_STAMP)
	$(PY) -m gemm_lab_classroom.course --into course

dist: $(LAB_STAMP)
	@rm -rf dist
	$(call step,building the wheels,$(PY) -m tools.release dist,The lines above say which one and why.)

# A folder in build is filled with the packages that Pyodide has released; any other is yours.
site: $(SITE_STAMP)
	$(if $(filter build/%,$(WASM_WHEELS)),$(call step,fetching packages for Pyodide,$(PY) -m tools.live.wheels "$(WASM_WHEELS)",The line above says which one.))
	$(call step,building the web book,$(PY) -m tools.site --into build/site $(if $(ADDRESS),--address "$(ADDRESS)") $(if $(WASM_WHEELS),--wheels "$(WASM_WHEELS)") $(if $(RECORD),--record),The lines above say where.)

site-serve:
	@test -f build/site/index.html || { echo "There is no site yet; 'make site' builds it." >&2; exit 1; }
	@echo "The web book: http://127.0.0.1:$(SITE_PORT)  (Ctrl+C ends it)"
	@"$(PYTHON)" -m http.server --bind 127.0.0.1 --directory build/site $(SITE_PORT)

record: $(LAB_STAMP)
	$(PY) -m tools.recording speeds

# uv resolves for all systems at once. It reads UV_DEFAULT_INDEX, not pip's configuration, where packages come from a mirror.
update: $(STAMP)-made
	@$(PIP) --quiet packaging uv "tomli; python_version < '3.11'"
	$(PY) -m tools.locks $(if $(KEEP),--keep)

# It needs no package: any Python will do.
sizes:
	@"$(PYTHON)" -m tools.sizes

clean:
	rm -rf build dist .pytest_cache .ruff_cache .mypy_cache .coverage .coverage.* test-results
	find gemm_lab packages tools tests notebooks -depth \( -name __pycache__ -o -name .ipynb_checkpoints \) -exec rm -rf {} +

# A stamp is newer than pyproject.toml once its packages are in; so a second run installs nothing.
$(STAMP)-made:
	@command -v "$(PYTHON)" >/dev/null || { \
		echo "There is no '$(PYTHON)' here; install Python 3.10 or newer, or name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo "'$(PYTHON)' is older than Python 3.10; name a newer one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@$(PY) -c 'import pip' 2>/dev/null || { \
		echo "making the virtual environment $(VENV) ..."; "$(PYTHON)" -m venv "$(VENV)"; } || { \
		echo "There is no virtual environment in $(VENV); make VENV=FOLDER ... takes another folder." >&2; exit 1; }
	@touch "$@"

# The packages of this checkout that have a pyproject.toml of their own.
PRODUCTS = --editable ./packages/gpu_simulator --editable ./packages/gemm_lab_lessons --editable ./packages/gemm_lab_classroom

# $(call install,EXTRAS): torch where it is named, the locked packages, and this folder.
install = $(PY) tools/install.py $(call locks,$(1)) $(if $(filter torch,$(call extras,$(1))),--torch)

# With LOCKED=0 pip chooses, and prints what it takes up. The tests want the torch of locks/constraints.txt even then.
$(LAB_STAMP): pyproject.toml $(LOCKS) $(wildcard gemm_lab/labextension/*) $(STAMP)-made
	@$(if $(UNLOCKED),$(PIP) $(PRODUCTS) --editable ".[lab$(if $(LAB_EXTRAS),$(comma)$(LAB_EXTRAS))]",$(call install,$(LAB_EXTRAS)))
	@touch "$@"

$(COURSE_STAMP): pyproject.toml $(LOCKS) $(STAMP)-made
	@$(if $(UNLOCKED),$(PIP) $(PRODUCTS) --editable ".[course]",$(call install,course))
	@touch "$@"

$(SITE_STAMP): pyproject.toml $(LOCKS) $(STAMP)-made
	@$(if $(UNLOCKED),$(PIP) $(PRODUCTS) --editable ".[site]",$(call install,site))
	@touch "$@"

$(TEST_STAMP): pyproject.toml $(LOCKS) $(STAMP)-made
	$(if $(and $(UNLOCKED),$(if $(NO_TEST_TORCH),,torch)),@$(PIP) --requirement locks/constraints.txt)
	@$(if $(UNLOCKED),$(PIP) --constraint locks/constraints.txt $(PRODUCTS) --editable ".[lab$(comma)$(TEST_EXTRAS)]",\
		$(call install,$(TEST_EXTRAS)$(if $(NO_TEST_TORCH),,$(comma)torch)))
	@touch "$@"
