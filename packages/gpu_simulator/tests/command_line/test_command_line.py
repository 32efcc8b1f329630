"""`python -m gpu_simulator`: files of PTX and of CUDA, what is printed and saved, a sentence for every mistake."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compiling import need_clang, need_compiler
from ptx_text import at, text

from gpu_simulator import __version__
from gpu_simulator.compiler import clang

SUM = "".join((at("%a", "%t", 4, "%q10"), at("%bb", "%t", 4, "%q11"), at("%d", "%t", 4, "%q12"))) + (
    "ld.global.f32 %f1, [%q10];\nld.global.f32 %f2, [%q11];\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%q12], %f3;"
)
ARRAYS = ("--arg", "f32:32:random", "--arg", "f32:32:random", "--arg", "f32:32")


@pytest.fixture
def add(tmp_path):
    (tmp_path / "add.ptx").write_text(text(SUM))
    return "add.ptx"


def test_a_ptx_file_gives_its_sum(run, add, tmp_path):
    a, b = np.random.default_rng(1).standard_normal((2, 32)).astype("f4")
    np.save("a.npy", a)
    np.save("b.npy", b)
    code, out = run(add, "--arg", "a.npy", "--arg", "b.npy", "--arg", "f32:32", "--hazards", "--save", "out/sum.npy")
    assert code == 0 and "argument 0, float32:32: unchanged" in out and "no hazards found" in out
    assert np.array_equal(np.load(tmp_path / "out/sum.npy"), a + b)


def test_counts_stand_beside_the_instructions(run, add):
    code, out = run(add, *ARRAYS, "--counts")
    (line,) = [line for line in out.split("\n") if "st.global.f32" in line]
    assert code == 0 and line.split()[:2] == ["1", "4"], "executions and sectors"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("none.ptx",), "none.ptx cannot be read: No such file or directory.\n"),
        (
            ("add.ptx",),
            "kernel takes 3 arguments (u64 or a pointer, u64 or a pointer, u64 or a pointer), and 0 were given",
        ),
        (("add.ptx", "--entry", "kernal"), "Did you mean kernel?"),
        (
            ("add.ptx", *ARRAYS, "--save", "1=x.txt/y.npy", "--save", "7=x.npy"),
            "argument 7 is not an array; these are: 0, 1, 2",
        ),
        (("add.ptx", *ARRAYS, "--block", "64"), "past the end of argument"),
        (("add.ptx", *ARRAYS, "--block", "4096"), "4,096 threads"),
        (("add.ptx", *ARRAYS[:4], "--arg", "5.5"), "not a whole number"),
        (("two.ptx",), "to run: kernel, other"),
        (("empty.ptx",), "empty.ptx has no kernel"),
        (("add.ptx", "--define", "1=2"), "--define NAME=VALUE"),
    ],
)
def test_mistakes_get_a_sentence(run, add, words, says, tmp_path):
    (tmp_path / "two.ptx").write_text(text("") + text("").replace("kernel", "other"))
    (tmp_path / "empty.ptx").write_text("")
    code, out = run(*words)
    assert code == (1 if "past the end" in says else 2) and says in out and "Traceback" not in out


def test_save_asks_which_array_where_it_cannot_know(run, tmp_path):
    (tmp_path / "both.ptx").write_text(text("st.global.u32 [%a], 1; st.global.u32 [%bb], 2;"))
    words = ("both.ptx", "--block", "1", "--arg", "u32:1", "--arg", "u32:1", "--arg", "u32:1")
    code, out = run(*words, "--save", "out.npy")
    assert code == 2 and "changed arguments 0, 1; say which to save, as in --save 0=out.npy" in out
    assert run(*words, "--save", "1=one.npy", "--save", "all")[0] == 0
    assert np.load("one.npy").tolist() == [2]
    assert [np.load(f"all/array{number}.npy").tolist() for number in range(3)] == [[1], [2], [0]]


def test_a_race_is_told_and_the_exit_code_follows(run, tmp_path):
    (tmp_path / "race.ptx").write_text(text("st.global.u32 [%d], %t;"))
    code, out = run("race.ptx", "--grid", "2", "--arg", "null", "--arg", "null", "--arg", "u32:1", "--hazards")
    assert code == 1 and "hazard (race): " in out


def test_the_program_starts_and_shows_its_help():
    done = subprocess.run([sys.executable, "-m", "gpu_simulator", "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "--hazards" in done.stdout and "add.cu" in done.stdout


def test_the_program_says_its_version():
    command = [sys.executable, "-m", "gpu_simulator", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, f"gpu_simulator {__version__}\n")


# ---- CUDA source ----

PROGRAM = """#include <cstdio>
#include <stdint.h>
#include <vector>
#include "check.h"
#include "helper_nowhere.h"
static std::vector<float> results;
const int THREADS = 64;
struct Options { std::vector<int> sizes; };
__global__ void scale(float* data, float factor, uint32_t n) {
  const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) data[i] *= FACTOR * factor;
}
template <typename T, int N> __global__ void fill(T* data) { if (threadIdx.x < N) data[threadIdx.x] = T(N); }
int main(int argc, char** argv) {
  float* data;
  CHECK(cudaMalloc(&data, 4 * THREADS));
  scale<<<1, THREADS>>>(data, 2.0f, 3);
  fill<int, 5><<<1, 32>>>((int*)data);
  std::printf("}");
  return 0;
}
"""


@pytest.fixture
def program(tmp_path):
    need_compiler()
    (tmp_path / "program.cu").write_text(PROGRAM)
    (tmp_path / "check.h").write_text(
        "#pragma once\n#include <stdlib.h>\n#define CHECK(call) if (call) exit(1)\nvoid stop() { exit(2); }\n"
    )
    return "program.cu"


def test_a_program_with_host_code_runs_its_kernel(run, program):
    words = ("--define", "FACTOR=10", "--entry", "scale", "--grid", "2", "--block", "64")
    code, out = run(
        program, *words, "--arg", "f32:100:arange", "--arg", "2", "--arg", "100", "--save", "out.npy", "--counts"
    )
    assert code == 0 and np.array_equal(np.load("out.npy"), np.arange(100) * 20)
    (line,) = [line for line in out.split("\n") if "if (i < n)" in line]
    assert line.split()[0].isdecimal() and f" {PROGRAM[: PROGRAM.index('  if (i')].count(chr(10)) + 1}  " in line


def test_a_template_runs_with_its_arguments(run, program):
    words = ("--define", "FACTOR=1", "--arg", "i32:8", "--save", "out.npy")
    code, out = run(program, "--entry", "fill<int, 5>", *words)
    assert code == 0 and np.load("out.npy").tolist() == [5] * 5 + [0] * 3
    code, out = run(program, "--entry", "fill", *words)
    assert code == 2 and "is a template <typename T, int N>; name its arguments, as in 'fill<…>'" in out
    code, out = run(program, *words)
    assert code == 2 and "Say which kernel of program.cu to run:\n  scale(" in out


def test_a_mistake_in_the_source_names_its_line_and_what_was_left_out(run, program):
    code, out = run(program, "--entry", "scale")
    line = PROGRAM[: PROGRAM.index("FACTOR")].count("\n") + 1
    assert (
        code == 2 and f"program.cu, line {line}: error" in out and "helper_nowhere.h" in out and "include folder" in out
    )


@pytest.mark.parametrize(
    ("installed", "says", "clang"),
    [
        (True, 'pip install "gpu_simulator[compiler]"; or a clang with: pip install "gpu_simulator[clang]"', "[clang]"),
        (False, "pip install cuda-bindings ", "pip install ziglang"),
    ],
)
def test_source_without_a_compiler_says_what_to_install(run, tmp_path, monkeypatch, installed, says, clang):
    from gpu_simulator.compiler import nvrtc_library

    def distribution(name):
        if name != "gpu_simulator" or not installed:
            raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", distribution)
    for name in ("cuda.bindings", "ziglang"):
        monkeypatch.setitem(sys.modules, name, None)
    nvrtc_library._library.cache_clear()
    (tmp_path / "k.cu").write_text("__global__ void k() {}")
    code, out = run("k.cu")
    nvrtc_library._library.cache_clear()
    assert code == 2 and says in out and clang in out


WHICH = """__global__ void which(int* o) {
#ifdef __clang_major__
  o[0] = 1;
#endif
}
"""


@pytest.mark.parametrize(("words", "value"), [((), 0), (("--compiler", "nvrtc"), 0), (("--compiler", "clang"), 1)])
def test_the_compiler_is_chosen(run, tmp_path, words, value):
    need_compiler()
    need_clang()
    (tmp_path / "which.cu").write_text(WHICH)
    code, out = run("which.cu", "--arg", "i32:1", "--print", "0", *words)
    assert code == 0 and f"0 = [{value}]" in out


def test_a_compiler_that_is_not_installed_is_not_replaced_by_the_other(run, tmp_path, monkeypatch):
    need_compiler()
    monkeypatch.setattr(clang, "installed", lambda: False)
    clang.version.cache_clear()
    (tmp_path / "which.cu").write_text(WHICH)
    code, out = run("which.cu", "--arg", "i32:1", "--compiler", "clang")
    assert code == 2 and "There is no clang here" in out
    with pytest.raises(SystemExit, match="2"):
        run("which.cu", "--compiler", "gcc")


# ---- Parts of arrays, and references ----


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("2[0:3]", "2[0:3] = [31, 30, 29]"),
        ("2[-1]", "2[-1] = 0"),
        ("2[::16]", "2[::16] = [31, 15]"),
        ("2", "2 = [31, 30,"),
    ],
)
def test_values_are_printed(run, tmp_path, word, shown):
    (tmp_path / "back.ptx").write_text(
        text(at("%d", "%t", 4, "%q12") + "sub.u32 %r1, 31, %t; st.global.u32 [%q12], %r1;")
    )
    code, out = run("back.ptx", "--arg", "null", "--arg", "null", "--arg", "u32:32", "--print", word)
    assert code == 0 and shown in out


def test_an_array_is_compared_with_a_reference(run, add, tmp_path):
    a, b = (np.random.default_rng(seed).standard_normal(32) for seed in (0, 1))
    np.save("right.npy", a.astype("f4") + b.astype("f4"))
    wrong = np.load("right.npy")
    wrong[[5, 9]] += np.float32(0.25)
    np.save("wrong.npy", wrong)
    assert run(add, *ARRAYS, "--compare", "2=right.npy")[0] == 0
    code, out = run(add, *ARRAYS, "--compare", "2=wrong.npy")
    assert code == 1 and "argument 2 differs from wrong.npy in 2 of 32 values; the first is 2[5] = " in out
    assert run(add, *ARRAYS, "--compare", "2=wrong.npy", "--tolerance", "0.5")[0] == 0


def test_nan_and_infinity_are_compared_as_values(run, tmp_path):
    (tmp_path / "nothing.ptx").write_text(text(""))
    values = np.array([np.nan, np.inf, -np.inf, 1], "f4")
    np.save("values.npy", values)
    words = ("nothing.ptx", "--arg", "null", "--arg", "null", "--arg", "values.npy", "--tolerance", "1000", "--compare")
    assert run(*words, "2=values.npy")[0] == 0
    for place, value in ((0, 0), (1, -np.inf), (3, np.nan), (1, 5)):
        other = values.copy()
        other[place] = value
        np.save("other.npy", other)
        code, out = run(*words, "2=other.npy")
        assert code == 1 and f"2[{place}]" in out


def test_whole_numbers_are_compared_exactly(run, tmp_path):
    (tmp_path / "nothing.ptx").write_text(text(""))
    np.save("large.npy", np.array([2**53 + 1, 7]))
    np.save("near.npy", np.array([2**53, 7]))  # the same as a float64
    words = ("nothing.ptx", "--arg", "null", "--arg", "null", "--arg", "large.npy", "--compare")
    assert run(*words, "2=large.npy")[0] == 0
    assert run(*words, "2=near.npy")[0] == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--print", "x"), "names no values; write an argument and a slice"),
        (("--print", "7"), "argument 7 is not an array; these are: 0, 1, 2"),
        (("--print", "2[40]"), "argument 2 has the shape 32"),
        (("--print", "2[1,2]"), "argument 2 has the shape 32"),
        (("--compare", "2"), "write --compare 2=reference.npy"),
        (("--compare", "2=no.npy"), "no.npy cannot be read: No such file or directory.\n"),
        (("--compare", "2=empty.npy"), "empty.npy cannot be read: "),
        (("--compare", "2=many.npz"), "many.npz cannot be read: it holds several arrays; write one with numpy.save.\n"),
        (("--compare", "7=two.npy"), "argument 7 is not an array; these are: 0, 1, 2"),
        (("--compare", "2=two.npy"), "the argument has the shape 32, and the reference 2"),
    ],
)
def test_mistakes_in_parts_are_told(run, add, words, says):
    np.save("two.npy", np.zeros(2, "f4"))
    np.savez("many.npz", np.zeros(32, "f4"))
    Path("empty.npy").touch()
    code, out = run(add, *ARRAYS, *words)
    assert code == 2 and says in out and "Traceback" not in out
    assert "warp instructions" not in out or "--print" in words, "a reference is looked at before the run"


RING = """__global__ void kernel(int* slot, volatile int* head, int* out) {
    for (int i = 0; i < 6; i++) {
        if (blockIdx.x == 0) {
            slot[i % 2] = i;
            __threadfence();
            *head = i + 1;
        } else {
            while (*head <= i) {}
            __threadfence();
            out[i] = slot[i % 2];
        }
    }
}
"""


@pytest.mark.parametrize(
    ("timing", "found"), [((), True), (("--timing", "late"), True), (("--timing", "early"), False)]
)
def test_hazards_are_looked_for_in_both_timings(run, tmp_path, timing, found):
    need_compiler()
    (tmp_path / "ring.cu").write_text(RING)
    words = "--grid", "2", "--block", "1", "--arg", "i32:2", "--arg", "i32:1", "--arg", "i32:6", "--hazards"
    code, printed = run("ring.cu", *words, *timing)
    assert (code == 1) == found == ("hazard (race" in printed)
    assert ("(race in late timing)" in printed) == (timing == ())


@pytest.mark.parametrize(("body", "code"), [("", 0), (RING[RING.index("{") + 1 : RING.rindex("}")], 1)])
def test_what_is_suspicious_is_a_remark_and_hides_no_race_of_late_timing(run, tmp_path, body, code):
    need_compiler()
    head = "__global__ void kernel(int* slot, volatile int* head, int* out, int* same) { *same = 1; "
    (tmp_path / "remark.cu").write_text(f"{head}{body} }}\n")
    words = "--grid", "2", "--block", "1", "--arg", "i32:2", "--arg", "i32:1", "--arg", "i32:6", "--arg", "i32:1"
    found, printed = run("remark.cu", *words, "--hazards")
    assert found == code and printed.count("hazard (suspicious") == 1
    assert ("(race in late timing)" in printed) == (code == 1)


def test_a_variable_is_set_and_saved_for_the_next_command(run, tmp_path):
    need_compiler()
    (tmp_path / "sums.cu").write_text(
        "__device__ int sums[4]; __constant__ int step;\n"
        "__global__ void more() { sums[threadIdx.x] += step; }\n"
        "__global__ void show(int* o) { o[threadIdx.x] = sums[threadIdx.x]; }\n"
    )
    words = ("sums.cu", "--kernel", "more", "--block", "4", "--set", "step=3", "--save", "sums=sums.npy")
    code, out = run(*words, "--set", "sums=i32:4:arange", "--hazards")
    assert code == 0 and "sums, int32:4: 3 4 5 6" in out and "0 hazards)" in out
    assert run(*words, "--set", "sums=sums.npy")[0] == 0
    assert np.load("sums.npy").tolist() == [6, 7, 8, 9]
    shown = run("sums.cu", "--kernel", "show", "--block", "4", "--arg", "i32:4")
    assert "remark: sums.cu:3, " in shown[1] and "--set sums=VALUE" in shown[1]
    code, out = run("sums.cu", "--kernel", "show", "--block", "4", "--arg", "i32:4", "--set", "sums")
    assert code == 2 and "write --set NAME=VALUE" in out


@pytest.mark.parametrize(("words", "says"), [
    (("--set", "=3"), "--set =3 gives no name"),
    (("--set", "n=3", "--set", "n=4"), "n has a value already"),
    (("--set", "n=i32:1:uninit"), "a variable is never uninitialised"),
    (("--set", "n=3", "--save", "n=n.npy"), "n is no variable that --set gives an array; these are: none"),
])  # fmt: skip
def test_mistakes_in_variables_are_told(run, tmp_path, words, says):
    need_compiler()
    (tmp_path / "n.cu").write_text("__constant__ int n; __global__ void kernel(int* o) { o[threadIdx.x] = n; }\n")
    code, out = run("n.cu", "--arg", "i32:32", *words)
    assert code == 2 and says in out and not list(tmp_path.glob("*=*"))


def test_an_array_that_begins_uninitialised(run, add, tmp_path):
    words = ("add.ptx", "--arg", "f32:32:ones", "--arg", "f32:32:ones", "--hazards")
    code, out = run(*words, "--arg", "f32:32:uninit", "--save", "2=sum.npy")
    assert code == 0 and (np.load("sum.npy") == 2).all()
    code, out = run("add.ptx", "--arg", "f32:32:ones", "--arg", "f32[32]=uninit", "--arg", "f32:32", "--hazards")
    assert code == 1 and "reads byte 0 of argument 1, which nothing has written" in out and ", 1 hazard)" in out


LOOK = """__global__ void kernel(int* out) {
    __shared__ int ready, taken, value;
    if (threadIdx.x == 0) ready = taken = 0;
    __syncthreads();
    if (LOOK == 0) {
        if (atomicExch(&taken, 1) == 0) {
            value = 9;
            __threadfence_block();
            atomicExch(&ready, 1);
        }
        while (atomicAdd(&ready, 0) == 0) {}
    }
    __threadfence_block();
    out[threadIdx.x] = value;
}
"""


@pytest.mark.parametrize(("look", "code"), [("*(volatile int*)&ready", 0), ("ready", 1)])
def test_a_volatile_first_look_is_no_race_and_a_plain_one_is(run, tmp_path, look, code):
    need_compiler()
    (tmp_path / "look.cu").write_text(LOOK.replace("LOOK", look))
    found, printed = run("look.cu", "--block", "96", "--arg", "i32:96", "--hazards")
    assert found == code and ("hazard (race" in printed) == (code == 1)
