"""The live page without a browser: what its Python answers, and the list of kernels that it offers."""

import importlib
import json
import sys
from hashlib import sha256

import numpy as np
import pytest

from gemm_lab import catalog
from gemm_results.errors import LabError
from gpu_simulator.compiler import nvrtc
from gpu_simulator.compiler.diagnostics import Diagnostic
from gpu_simulator.errors import ConfigError
from tools.live import build, wheels

ADD = """#include <cstdio>
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() { return 0; }
"""
LAUNCH = {
    "kernel": "add",
    "grid": "4",
    "block": "256",
    "args": ["f32:1000:ones", "f32:1000:arange", "f32:1000", "1000"],
}


@pytest.fixture(scope="module")
def lab_page():
    """The modules of the page by name, with the compiler that is here."""
    sys.path.insert(0, str(build.PAGE))
    try:
        found = importlib.import_module("lab_page")
        nvrtc.use_stored(None)
        yield found
    finally:
        sys.path.remove(str(build.PAGE))


def run(lab_page, name, source, **launch):
    return json.loads(lab_page.run(json.dumps({"name": name, "source": source, "launch": {**LAUNCH, **launch}})))


def test_kernels_are_found_with_words_for_their_parameters(lab_page):
    source = """template <typename T, int N> __global__ void first(const T* __restrict__ in, float4* out, double s, T n) {}
__global__ void second(const half* a, __nv_bfloat16* b, unsigned char* c, size_t n, const int (*d)[4]) {
  int row = threadIdx.y;
}
int main() { first<float, 3><<<1, 2>>>(0, 0, 0, 0); }"""
    first, second = json.loads(lab_page.kernels(source))
    assert first["name"] == "first<float, 3>" and first["words"] == ["f32:?:random", "f32:?x4", "0.0", "0.0"]
    assert second["words"] == ["f16:?:random", "bf16:?", "u8:?", "16", "i32:?:random"]
    assert (second["grid"], second["block"]) == ("1", "16,16") and second["parameters"][1] == "__nv_bfloat16* b"
    (halves,) = json.loads(lab_page.kernels("__global__ void k(half a, __nv_bfloat16 b, float4* c) {}"))
    assert halves["words"] == ["f16=2.0", "bf16=3.0", "f32:?x4"]
    structs = (
        "struct View { const float* from; float* to; long long n; float by; }; struct Body { float x[3]; int id; };\n"
    )
    (own,) = json.loads(lab_page.kernels(f"{structs}__global__ void k(View v, const Body* a, Body* b) {{}}"))
    view, body = "{f32:?:random, f32:?, i64=256, 2.0}", "{x=f32:3, id=i32}:1024"
    assert own["words"] == [view, f"{body}:random", body]
    (flat,) = json.loads(lab_page.kernels(ADD))
    assert (flat["grid"], flat["block"], flat["words"][3]) == ("4", "256", "1000")
    assert json.loads(lab_page.kernels("int x;")) == []


def test_a_kernel_of_ones_own(lab_page):
    answer = run(lab_page, "own/yours", ADD, more="--print 2[0:3]")
    assert answer["passed"] and answer["printed"] == ["2[0:3] = [1., 2., 3.]"] and not answer["notes"]
    assert [line["line"] for line in answer["lines"]] == [4] and answer["lines"][0]["least_sectors"] == 375
    assert answer["arrays"][2][2] == "changed 1,000 of 1,000"
    halves = (
        "#include <cuda_bf16.h>\n__global__ void add(__nv_bfloat16* a) { a[threadIdx.x] = __float2bfloat16(1.5f); }"
    )
    assert run(lab_page, "own/yours", halves, args=["bf16:256"])["arrays"][0][3] == "1.5 1.5 1.5 1.5 1.5 1.5 …"


PARAMETERS = ["const float* a", "const float* b", "float* c", "int n"]


def test_what_is_expected_is_compared_and_values_can_be_read(lab_page):
    answer = run(lab_page, "own/yours", ADD, expected="c = a + b", parameters=PARAMETERS)
    assert answer["passed"] and answer["verdict"] == "It ran to its end, and c is as expected."
    facts, values = answer["arrays"][2][4:]
    assert facts == "least 1, greatest 1000, sum 500500" and values.split("\n")[1].split() == [
        "[8]",
        *map(str, range(9, 17)),
    ]
    answer = run(lab_page, "own/yours", ADD, expected="c = a + b * (arange(1000) != 976)", parameters=PARAMETERS)
    assert not answer["passed"] and "1 of 1,000 values; the first is c[976] = 977, expected 1." in answer["verdict"]
    source = "__global__ void k(float* in, int n) { in[threadIdx.x] += n; }"
    launch = {
        "kernel": "k",
        "grid": "1",
        "block": "32",
        "args": ["f32:4x8:arange", "1"],
        "parameters": ["float* in", "int n"],
    }
    for expected, right in (
        ("in = in + n", True),
        ("in = in", False),
        ("in = in.T.T + 1.001", False),
        ("in = arange(1, 33)", True),
    ):
        assert run(lab_page, "own/yours", source, **launch, expected=expected)["passed"] == right
    halves = source.replace("float", "__nv_bfloat16").replace("+= n", "= __float2bfloat16(1.5f)")
    launch |= {"args": ["bf16:32", "1"], "parameters": ["__nv_bfloat16* in", "int n"], "expected": "in = 1.5"}
    assert run(lab_page, "own/yours", "#include <cuda_bf16.h>\n" + halves, **launch)["passed"]
    values_of = lab_page.own_kernels.values_of
    long = np.arange(9000.0).reshape(3, 3000)
    long[2, 5] = np.nan
    _, facts, text = values_of(long)
    assert (
        "1 are NaN" in facts and "[2040]" in text and "[2048]" not in text and "[8992]" in text and len(text) < 40_000
    )


@pytest.mark.parametrize(
    "expected, said",
    [
        ("d = a", "The arrays are a, b, c."),
        ("c", "expects nothing"),
        ("c = zeros(3)", "cannot be worked out"),
        ("c = a.tofile('x')", "may not have “a.tofile”"),
        ("c = a.__class__", "may not have"),
        ("c = add.reduce(a)", "may not have"),
        ("c = [a for a in (1,)]", "may not have"),
        ("c = (lambda: 1)()", "may not have"),
        ("c = __import__('js')", "is not defined"),
        ("c = load('x')", "is not defined"),
        ("c = f'{a}'", "may not have"),
    ],
)
def test_an_expectation_reaches_nothing_but_numbers(lab_page, expected, said):
    answer = run(lab_page, "own/yours", ADD, expected=expected, parameters=PARAMETERS)
    assert not answer["passed"] and said in answer["notes"][0]["text"] + answer["notes"][0]["more"]


@pytest.mark.parametrize(
    "change, said",
    [
        ({"args": ["f32:1000"] * 3}, "add takes 4 arguments, not 3."),
        ({"args": ["f16:1000", *LAUNCH["args"][1:]]}, "float16"),
        ({"grid": "four"}, "The launch cannot be read: the field “grid”: "),
        ({"more": "--save out.npy"}, "--save is an option of the command line"),
        ({"more": "--smem 'x"}, "The further options cannot be read"),
        ({"kernel": "sub"}, "kernel called sub"),
    ],
)
def test_a_launch_that_cannot_be_is_a_sentence(lab_page, change, said):
    answer = run(lab_page, "own/yours", ADD, **change)
    assert not answer["passed"] and said in answer["notes"][0]["text"]


def test_a_message_is_a_sentence_at_its_line_and_the_rest_is_folded(lab_page):
    (note,) = run(lab_page, "own/yours", ADD, grid="5", args=[*LAUNCH["args"][:3], "2000"])["notes"]
    assert note["line"] == 4 and note["text"].startswith("Block (3, 0, 0), thread (232, 0, 0) accessed 4 bytes")
    assert "which would be b[1000], 0 bytes past the end of b (1,000 elements" in note["text"]
    assert "kernel.cu" not in note["text"] and "PTX" not in note["text"] and "PTX line" in note["more"]
    (note,) = run(lab_page, "own/yours", ADD.replace("c[i] =", "while (true) c[i] ="), more="--max-seconds 1")["notes"]
    assert note["line"] == 4 and "it spins at line 4, or does too much" in note["text"] and ":4" not in note["text"]
    (note,) = run(lab_page, "own/yours", ADD.replace("int i", "itn i"))["notes"][:1]
    assert note["line"] == 3 and "itn" in note["text"]


def test_a_fault_of_a_rung_and_of_an_exercise_is_said_at_its_line(lab_page):
    source = catalog.kernel("simt/01_naive").source
    line = 1 + source[: source.index("d[")].count("\n")
    (note,) = run(lab_page, "simt/01_naive", source.replace("d[", "d[1 << 28 | ", 1))["notes"]
    assert note["line"] == line and "past the end of gmem_d" in note["text"] and "cell:" not in note["text"]
    offered = build.kernels()["exercise/06_swizzle"]["source"]
    swizzled = run(lab_page, "exercise/06_swizzle", offered)
    assert "t4" not in swizzled["verdict"] and not swizzled["advice"] and "XOR" in str(swizzled["layouts"][0]["rows"])
    answer = run(lab_page, "exercise/06_swizzle", "// mine\n" + offered.replace("int row", "itn row", 1))
    assert answer["notes"][0]["line"] == 2 + offered[: offered.index("int row")].count("\n")


def test_an_error_that_follows_a_guess_of_the_compiler_is_not_shown(lab_page, monkeypatch):
    said = ["use of undeclared identifier 'clampf'; did you mean 'clampk'?", "call to global function 'clampk'"]
    others = [Diagnostic("kernel.cu", line, "error", "expected ';'") for line in (2, 9)]
    found = [others[0], *(Diagnostic("kernel.cu", 4, "error", one) for one in said), others[1]]

    def fails(*_):
        raise lab_page.CompileError("kernel", found)

    monkeypatch.setattr(lab_page.own_kernels, "simulate", fails)
    notes = [(one["line"], one["text"]) for one in run(lab_page, "own/yours", ADD)["notes"]]
    assert notes == [(2, "expected ';'"), (4, said[0]), (9, "expected ';'")]


def test_a_defect_of_the_simulator_is_no_end_of_the_page(lab_page, monkeypatch):
    monkeypatch.setattr(lab_page.own_kernels, "simulate", lambda *_: 1 / 0)
    answer = run(lab_page, "own/yours", ADD)
    assert not answer["passed"] and "a defect of it" in answer["verdict"]
    assert answer["notes"][0]["text"] == "ZeroDivisionError: division by zero"


def test_without_a_compiler_the_page_asks_for_it(lab_page, monkeypatch):
    monkeypatch.setattr(nvrtc, "stored", build.PAGE)
    monkeypatch.setattr(nvrtc, "version", _no_compiler)
    monkeypatch.setattr(lab_page.clang, "installed", lambda: False)
    assert run(lab_page, "own/yours", ADD) == {"needs": "compiler"}


def _no_compiler():
    from gpu_simulator.errors import MissingDependency

    raise MissingDependency("There is no compiler here.")


def test_what_the_command_line_says_of_its_words_is_said_here_too(lab_page):
    with pytest.raises(ConfigError, match="“nothing” is not an argument"):
        lab_page.own_kernels.simulate(ADD, {**LAUNCH, "args": ["nothing"]})


def test_packages_for_pyodide_come_by_their_hashes(tmp_path):
    names = {"numpy": "a", "ml-dtypes": "b", "matplotlib": "c", "six": "d", "other": "e"}
    depends = {"ml-dtypes": ["numpy"], "matplotlib": ["numpy", "six"]}
    entries = {
        name: {"file_name": file, "sha256": sha256(file.encode()).hexdigest(), "depends": depends.get(name, [])}
        for name, file in names.items()
    }
    files = wheels.wanted({"packages": entries})
    assert list(files) == ["a", "b", "c", "d"]
    (tmp_path / "far").mkdir()
    for file in files:
        (tmp_path / "far" / file).write_text(file)
    address = (tmp_path / "far").as_uri() + "/"
    assert wheels.fetch(files, tmp_path / "here", address) == ["a", "b", "c", "d"]
    (tmp_path / "here" / "b").write_text("half of it")
    assert wheels.fetch(files, tmp_path / "here", address) == ["b"]
    (tmp_path / "far" / "c").write_text("another")
    (tmp_path / "here" / "c").unlink()
    with pytest.raises(LabError, match="c is not the file that Pyodide"):
        wheels.fetch(files, tmp_path / "here", address)
    assert not (tmp_path / "here" / "c").exists()
    with pytest.raises(LabError, match="z cannot be fetched"):
        wheels.fetch({"z": "0"}, tmp_path / "here", address)


def test_the_page_offers_every_rung_and_exercise_by_chapter():
    offered = build.kernels()
    assert set(catalog.kernels()) <= set(offered) and next(iter(offered)) == "own/transpose"
    groups = list(dict.fromkeys(one["group"] for one in offered.values()))
    assert groups[0] == build.BEGIN and groups[-1] == build.FURTHER and groups[1:-1] == sorted(groups[1:-1])
    assert offered["t4/03_swizzled"]["group"].startswith("06a")
    exercise = offered["exercise/06_swizzle"]
    assert exercise["task"] and exercise["group"].startswith("06a") and "BLOCK_K 64" in exercise["constants"]
    assert exercise["whole"].count(exercise["source"].strip()) == 1 and "// region:" in exercise["whole"]
    later = offered["exercise/06_two_buffers"]
    assert (
        all("#include" in one["whole"] for name, one in offered.items() if name.startswith("exercise/"))
        and "constants" in later
    )


def test_the_first_kernel_is_slow_and_its_instruction_mends_it(lab_page):
    first = build.kernels()["own/transpose"]
    assert first["source"].count("\n") <= 15 and "write + 1" in first["source"]
    launch = first["launch"] | {"parameters": first["parameters"]}
    costs = [
        [(line["line"], line["wavefronts"] // line["ideal"]) for line in answer["lines"]]
        for answer in (
            run(lab_page, "own/transpose", source, **launch)
            for source in (first["source"], first["source"].replace("[TILE];", "[TILE + 1];"))
        )
    ]
    assert costs == [[(10, 1), (13, 32)], [(10, 1), (13, 1)]] and "line 13" in first["task"]


def test_the_stored_kernels_need_no_compiler(lab_page, monkeypatch, tmp_path):
    monkeypatch.setattr(build.catalog, "kernels", dict)
    build.store_ptx(tmp_path)
    monkeypatch.setattr(nvrtc, "stored", tmp_path)
    monkeypatch.setattr(nvrtc, "version", _no_compiler)
    for name, one in ((name, one) for name, one in build.kernels().items() if name.startswith("own/")):
        assert run(lab_page, name, one["source"], parameters=one["parameters"], **one["launch"])["passed"]
