"""The simulator runs with NumPy and ml_dtypes alone, from stored PTX, as in a web page: no compiler, process or thread."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gemm_lab as lab
from gpu_simulator.compiler import nvrtc
from gpu_simulator.errors import NotHere

ROOT = Path(__file__).resolve().parents[1]
BLOCKED = """
import importlib.abc, sys, threading
ABSENT = {"cuda", "cupy", "torch", "psutil", "matplotlib", "PIL", "IPython", "ipywidgets", "anywidget", "landlockpy",
          "tqdm", "nbformat", "nbclient", "_multiprocessing", "platformdirs", "pynvml", "ziglang"}
class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
def start(self):
    raise RuntimeError("can't start new thread")
threading.Thread.start = start
"""


def page(script: str, *arguments: str) -> str:
    """What a script prints in a process that has nothing but NumPy, ml_dtypes and our packages."""
    command = [sys.executable, "-c", BLOCKED + script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    for name in ("t4/03_swizzled", "hopper/02_tma"):
        nvrtc.store(lab.kernel(name).compile_as_taught(), folder)
    return str(folder)


RUN = """
from pathlib import Path
import gemm_lab as lab
from gpu_simulator.compiler import nvrtc
nvrtc.use_stored(Path(sys.argv[1]))
for name in ("t4/03_swizzled", "hopper/02_tma"):
    run = lab.kernel(name).run(256, backend="simulator")
    print(name, run.passed, run.wavefronts, run.ideal_wavefronts, len(run.hazards()), "<table" in run._repr_html_(), "PASS" in repr(run))
"""


def test_a_kernel_runs_from_stored_ptx_with_numpy_alone(stored):
    lines = page(RUN, stored).splitlines()
    for line, name in zip(lines, ("t4/03_swizzled", "hopper/02_tma"), strict=True):
        run = lab.kernel(name).run(256, backend="simulator")
        assert line.split() == [name, "True", str(run.wavefronts), str(run.ideal_wavefronts), "0", "True", "True"]


def test_what_was_solved_is_counted_without_a_library_of_plots():
    assert page("import gemm_lab as lab; print(lab.progress())").startswith("Solved so far: ")


def test_an_edited_kernel_without_a_compiler_says_what_is_missing(stored):
    script = (
        RUN.split("for name")[0]
        + """
kernel = lab.kernel("t4/03_swizzled")
try:
    kernel.rewrite(kernel.source.replace("__syncthreads();", "", 1)).run(256, backend="simulator")
except Exception as error:
    print(type(error).__name__, error)
"""
    )
    assert "NVRTC is not usable here" in page(script, stored)


def test_the_simulator_alone_needs_numpy_alone():
    script = """
import numpy as np, gpu_simulator
ptx = '''.version 7.0
.target sm_75
.address_size 64
.visible .entry one(.param .u64 p) { .reg .u64 %rd1; .reg .u32 %r1; ld.param.u64 %rd1, [p]; mov.u32 %r1, 7; st.global.u32 [%rd1], %r1; ret; }'''
array = np.zeros(1, np.uint32)
gpu_simulator.launch(ptx, "one", (1, 1, 1), (1, 1, 1), [array])
print(int(array[0]), sorted({name.split(".")[0] for name in sys.modules} & {"gemm_lab", "gpu_runner", "multiprocessing"}))
"""
    assert page(script).strip() == "7 []"


def test_what_only_machine_code_tells_is_unknown_and_never_0(monkeypatch):
    pytest.importorskip("ziglang")
    monkeypatch.setenv("GEMM_LAB_COMPILER", "clang")
    kernel = lab.kernel("t4/03_swizzled")
    run = kernel.run(256, backend="simulator")
    shown = repr(run)
    assert run.passed and all(f"{what} unknown" in shown for what in ("registers", "spilled", "blocks on an SM"))
    assert "clang's PTX: counts may differ" in shown and "counts may differ" in run._repr_html_()
    assert "registers 0" not in shown and "unknown registers" in repr(run.compiled)
    for ask in (kernel.occupancy, kernel.sass, kernel.instruction_mix):
        with pytest.raises(NotHere, match="without NVIDIA's compiler"):
            ask()


def test_a_checkout_without_installation_says_what_installs_it(tmp_path):
    shutil.copytree(ROOT / "gemm_lab", tmp_path / "gemm_lab", ignore=shutil.ignore_patterns("__pycache__"))
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import gemm_lab"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("ImportError")]
    assert done.returncode and "`make lab`" in said
