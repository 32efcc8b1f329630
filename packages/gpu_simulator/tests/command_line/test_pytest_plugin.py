"""The fixture `simulated`: what each assertion lets through and what it says, on PTX with and without source lines."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from compiling import need_clang, need_compiler
from ptx_text import at, text

from gpu_simulator.compiler import nvrtc, nvrtc_library
from gpu_simulator.errors import MissingDependency

pytest_plugins = "pytester"

# Thread t stores t + 1 behind line 2, and reads a column of shared memory behind line 3.
COLUMN = (
    at("%d", "%t", 4, "%q12") + "add.u32 %r1, %t, 1;\n.loc 1 2 1\nst.global.u32 [%q12], %r1;\n"
    "mov.u32 %r2, smem;\nmul.lo.u32 %r3, %t, STEP;\nadd.u32 %r2, %r2, %r3;\n"
    ".loc 1 3 1\nst.shared.u32 [%r2], %t;\n"
)
SOURCE = "__global__ void kernel() {\n  store();\n  column();\n  column(); // never\n}\n"
TESTS = """
import numpy as np, pytest, gpu_simulator

@pytest.fixture
def run(simulated):
    d = np.zeros(32, np.uint32)
    return simulated("k.ptx", block=32, args=[None, None, d])

def test_clean(run):
    run.assert_no_hazard(suspicious=True)
    run.assert_result(2, np.arange(32) + 1)
    run.assert_result("2", np.arange(32) + 1.5, tolerance=0.5)
    run.assert_wavefronts(3, 32)
    run.assert_wavefronts("store", at_most=0)
    assert run.counts("store").sectors == 4 and run.report.totals.wavefronts == 32

def test_result(run): run.assert_result(2, np.arange(32))
def test_shape(run): run.assert_result(2, np.arange(31))
def test_no_array(run): run.assert_result(0, np.arange(32))
def test_line(run): run.assert_wavefronts(3, at_most=31)
def test_text(run): run.assert_wavefronts("column", at_most=31)
def test_no_line(run): run.assert_wavefronts("kernel", at_most=31)
def test_baseline(run): run.assert_not_worse()

def test_race(simulated):
    run = simulated("race.ptx", block=64, args=[None, None, np.zeros(1, np.uint32)])
    run.assert_result(2, [63])
    run.assert_no_hazard()

def test_same_value(simulated):
    run = simulated("same.ptx", block=64, args=[None, None, np.zeros(1, np.uint32)])
    run.assert_no_hazard()
    assert [one.severity for one in run.hazards] == ["suspicious"]
    with pytest.raises(pytest.fail.Exception, match="suspicious: "):
        run.assert_no_hazard(suspicious=True)

def test_fault(simulated):
    with pytest.raises(gpu_simulator.MemoryFault) as told:
        simulated("k.ptx", block=32, args=[None, None, np.zeros(5, np.uint32)])
    assert (told.value.file, told.value.line, told.value.thread) == ("mine.cu", 2, (5, 0, 0))

def test_unexpected_fault(simulated): simulated("k.ptx", block=32, args=[None, None, np.zeros(5, np.uint32)])
def test_no_file(simulated): simulated("none.ptx")
"""
SAYS = {
    "test_result": "argument 2 is wrong in 32 of 32 values; the first is 2[0] = 1, in the reference 0.",
    "test_shape": "argument 2: the argument has the shape 32, and the reference 31.",
    "test_no_array": "Argument 0 is not an array; these are: 2.",
    "test_line": "line 3 takes 32 wavefronts, where 31 are allowed and 1 would do without bank conflicts.",
    "test_text": "column takes 32 wavefronts",
    "test_no_line": "'kernel' names no line with instructions of mine.cu; those that have some are:",
    "test_baseline": "simulated_baseline.json has no counts of test_kernels.py::test_baseline, launch 1: kernel. "
    "pytest --simulated-baseline-write writes",
    "test_race": "1 hazard:",
    "test_unexpected_fault": "MemoryFault: block (0, 0, 0), thread (5, 0, 0) accessed 4 bytes",
    "test_no_file": "none.ptx cannot be read",
}


@pytest.fixture
def project(pytester, monkeypatch):
    """project(words, step=128): run the tests; `step` is the distance in bytes between the lanes."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (pytester.path / "mine.cu").write_text(SOURCE)
    for name, value in (("race", "%t"), ("same", "5")):
        (pytester.path / f"{name}.ptx").write_text(text(f"st.global.u32 [%d], {value};"))
    pytester.makepyfile(test_kernels=TESTS)

    def run(*words: str, step: int = 128):
        source = text(COLUMN.replace("STEP", str(step))).replace(".visible", '.file 1 "mine.cu"\n.visible', 1)
        (pytester.path / "k.ptx").write_text(source)
        return pytester.runpytest("-p", "gpu_simulator.pytest_plugin", "-p", "no:cacheprovider", *words)

    return run


def test_each_assertion_fails_with_its_sentence_and_passes_where_it_should(project):
    done = project("-rN")
    done.assert_outcomes(passed=3, failed=len(SAYS))
    told = done.stdout.str()
    for name, sentence in SAYS.items():
        part = told.partition(f"_ {name} _")[2].partition("\n____")[0]
        assert sentence in part and "test_kernels.py:" in part and "launching.py" not in part, part


def test_the_baseline_refuses_what_costs_more(project, pytester):
    words = ("-k", "test_baseline")
    project("--simulated-baseline-write", *words).assert_outcomes(passed=1)
    held = json.loads((pytester.path / "simulated_baseline.json").read_text())
    (counts,) = held["launches"].values()
    assert counts["wavefronts"] == 32 and counts["sectors"] == 4 and held["compiler"]
    project(*words).stdout.no_fnmatch_line("*cost less*")
    for more in ((), ("-q",), ("-n", "1", "-p", "xdist")) if find_spec("xdist") else ((), ("-q",)):
        done = project(*words, *more, step=8)
        assert done.ret == 0, "what costs less is no failure"
        done.stdout.fnmatch_lines([
            "*launches that cost less than in the baseline*",
            "test_kernels.py::test_baseline, launch 1: kernel costs less than in simulated_baseline.json: wavefronts 32 → 2",
            "pytest --simulated-baseline-write writes what the launches cost now, of all tests or of those that you name.",
        ])  # fmt: skip
    project("--simulated-baseline-write", *words, step=8).assert_outcomes(passed=1)
    project(*words, step=8).stdout.no_fnmatch_line("*cost less*")
    held["compiler"], (name,) = "another", held["launches"]
    held["launches"][name] = {**counts, "wavefronts": 2, "sectors": 9}
    (pytester.path / "simulated_baseline.json").write_text(json.dumps(held))
    done = project(*words, step=128)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        ["*costs more than in simulated_baseline.json: wavefronts 2 → 32 (it was written with an*"]
    )
    done.stdout.no_fnmatch_line("*cost less*")


def test_ptx_needs_no_compiler(project, pytester, monkeypatch):
    monkeypatch.setattr(nvrtc_library, "version", lambda: (_ for _ in ()).throw(MissingDependency("none")))
    monkeypatch.setattr(nvrtc, "chosen", lambda _: "nvrtc")
    project("--simulated-baseline-write", "-k", "test_baseline").assert_outcomes(passed=1)
    assert json.loads((pytester.path / "simulated_baseline.json").read_text())["compiler"] == "no compiler"


@pytest.mark.parametrize(("text", "says"), [("{", "is no baseline"), ("[]", "is no baseline: it has no launches")])
def test_a_broken_baseline_is_a_sentence(project, pytester, text, says):
    (pytester.path / "other.json").write_text(text)
    (pytester.path / "pytest.ini").write_text("[pytest]\nsimulated_baseline = other.json\n")
    done = project("-k", "test_clean")
    assert done.ret == 4 and says in done.stderr.str() + done.stdout.str()


WHICH = """
import numpy as np, gpu_simulator, pytest
from test_command_line import WHICH

def test_which(simulated, tmp_path):
    (tmp_path / "which.cu").write_text(WHICH)
    for using, wanted in ((None, CLANG), ("clang", 1), ("nvrtc", 0)):
        out = np.zeros(1, np.int32)
        run = simulated(tmp_path / "which.cu", args=[out], using=using)
        assert out[0] == wanted
    run.assert_not_worse()
"""


@pytest.mark.parametrize("words", [(), ("--simulated-compiler", "clang")])
def test_the_compiler_is_chosen(pytester, monkeypatch, words):
    need_compiler()
    need_clang()
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    pytester.makepyfile(WHICH.replace("CLANG", str(len(words) // 2)))
    done = pytester.runpytest("-p", "gpu_simulator.pytest_plugin", "--simulated-baseline-write", *words)
    done.assert_outcomes(passed=1)
    held = json.loads((pytester.path / "simulated_baseline.json").read_text())["compiler"]
    assert held.startswith("clang version" if words else "NVRTC ")


LATE = """
import numpy as np, pytest
from test_command_line import RING

def test_late(simulated, tmp_path):
    (tmp_path / "ring.cu").write_text(RING)
    arrays = [np.zeros(size, np.int32) for size in (2, 1, 6)]
    run = simulated(tmp_path / "ring.cu", grid=2, block=1, args=arrays)
    first = arrays[2].copy()
    assert run.report.hazards == []
    with pytest.raises(pytest.fail.Exception, match="race: ring.cu:"):
        run.assert_no_hazard()
    run.assert_result(2, first)  # the second launch had arrays of its own
"""


def test_a_race_that_only_late_timing_shows_is_a_hazard(pytester, monkeypatch):
    need_compiler()
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    pytester.makepyfile(LATE)
    pytester.runpytest("-p", "gpu_simulator.pytest_plugin", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_an_array_of_structs_is_checked_for_its_size(pytester, monkeypatch):
    need_compiler()
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makefile(
        ".cu",
        bodies="struct Body { float x[3]; int id; };\n__global__ void moved(Body* b) { b[threadIdx.x].x[1] = 2; }\n",
    )
    pytester.makepyfile("""
import numpy as np, pytest, gpu_simulator

def test_right(simulated):
    bodies = np.zeros(4, np.dtype([("x", "f4", 3), ("id", "i4")]))
    simulated("bodies.cu", block=4, args=[bodies]).assert_no_hazard()
    assert bodies["x"][:, 1].tolist() == [2] * 4

def test_wrong(simulated):
    simulated("bodies.cu", block=4, args=[np.zeros(4, np.dtype([("x", "f4", 3)]))])
""")
    result = pytester.runpytest("-p", "gpu_simulator.pytest_plugin", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*args?0? is an array of structs of 12 bytes, but moved takes Body? there, and its struct has 16*"]
    )
