"""Textures and surfaces: clang writes the instructions of NVRTC, and a kernel that meets one says so at its line."""

import re
from functools import lru_cache, partial

import by_clang
import compiling
import numpy as np
import pytest

from gpu_simulator import compiler, simulate
from gpu_simulator.compiler import CompileError, clang
from gpu_simulator.faults import UnsupportedInstruction

needs_clang = pytest.mark.skipif(not clang.installed(), reason="ziglang is not installed: pip install ziglang")
X, XY, XYZ = "a", "a, b", "a, b, c"
SLOPES = {1: "c, d", 2: "make_float2(c, d), make_float2(d, c)", 3: "make_float4(a, c, d, 0), make_float4(d, a, b, 0)"}
WAYS = [("1D", X, 1), ("2D", XY, 2), ("3D", XYZ, 3), ("Cubemap", XYZ, 3), ("1DLayered", f"{X}, i", 1)]
WAYS += [("2DLayered", f"{XY}, i", 2), ("CubemapLayered", f"{XYZ}, i", 3)]
PARTS = ("char", "uchar", "short", "ushort", "int", "uint", "float")
TYPES = [f"{part}{count}" for part in PARTS for count in (1, 2, 4)]
TYPES += ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "float"]
LONG = ["long long", "longlong1", "longlong2", "unsigned long long", "ulonglong1", "ulonglong2"]
TEXTURES = ["tex1Dfetch<float>(t, i)"]
for name, at, extents in WAYS:
    TEXTURES += [f"tex{name}<float>(t, {at})", f"tex{name}Lod<float>(t, {at}, d)"]
    TEXTURES += [f"tex{name}Grad<float>(t, {at}, {SLOPES[extents]})"]
TEXTURES += [f"tex2Dgather<uint4>(t, a, b, {component})" for component in range(4)]
TEXTURES += [f"tex2D<{of}>(t, a, b)" for of in TYPES]
MODES = ("", ", cudaBoundaryModeZero", ", cudaBoundaryModeClamp", ", cudaBoundaryModeTrap")
PLACES = [("1D", "i"), ("2D", "i, j"), ("3D", "i, j, k"), ("1DLayered", "i, j"), ("2DLayered", "i, j, k")]
PLACES += [("Cubemap", "i, j, k"), ("CubemapLayered", "i, j, k")]
SURFACES = [f"surf{name}read<float>(t, {at}{mode})" for name, at in PLACES for mode in MODES]
SURFACES += [f"surf2Dread<{of}>(t, i, j)" for of in TYPES + LONG]
WRITES = [f"surf{name}write(i, t, {at}{mode})" for name, at in PLACES for mode in MODES]
WRITES += [f"surf2Dwrite(*static_cast<{of}*>(o), t, i, j)" for of in TYPES + LONG]
INTO = ["float4 v; tex2D(&v, t, a, b); put(o, v)", "short2 v; surf2Dread(&v, t, i, j); put(o, v)"]
PUT = "template <class T> __device__ void put(void* o, T v) { *static_cast<T*>(o) = v; }\n"
PARAMETERS = "cudaTextureObject_t t, void* o, float a, float b, float c, float d, int i, int j, int k"


def kernels(calls):
    bodies = [f"put(o, {call})" if call.startswith(("tex", "surf")) and "write" not in call else call for call in calls]
    head = 'extern "C" __global__ void k{}({})'
    return PUT + "".join(f"{head.format(n, PARAMETERS)} {{ {body}; }}\n" for n, body in enumerate(bodies))


def instructions(ptx):
    """The texture or surface instruction of each kernel, with the number of a parameter in place of its register."""
    found = []
    for entry in ptx.split(".entry ")[1:]:
        given = {r: n for r, n in re.findall(r"ld\.param\S*\s+(%\w+), \[k\d+_param_(\d+)\]", entry)}
        given |= {to: given[of] for to, of in re.findall(r"mov\.b(?:32|64)\s+(%\w+), (%\w+);", entry) if of in given}
        (line,) = re.findall(r"(?:tex|tld4|suld|sust)\.[^;]*;", entry)
        if line.startswith("sust"):  # what it writes may be in any register
            at, _, values = line.rpartition(", {")
            line = f"{at}, {values.count('%')} values"
        found.append(
            re.sub(r"%\w+", partial(lambda of, register: of.get(register[0], "_"), given), " ".join(line.split()))
        )
    return found


@pytest.fixture(params=["native", "page"])
def clang_of(request, monkeypatch):
    by_way_of_ir = type("PageClang", (clang.Installed,), {"writes_ir": request.param == "page"})
    monkeypatch.setattr(clang, "_in_use", by_way_of_ir())


@lru_cache(maxsize=4)
def of_nvrtc(calls):
    return instructions(compiling.compile(kernels(calls), entry=None, arch="sm_80", name="k").ptx)


@needs_clang
@pytest.mark.usefixtures("clang_of")
@pytest.mark.parametrize("calls", [TEXTURES, SURFACES, WRITES, INTO], ids=["tex", "suld", "sust", "into"])
def test_clang_writes_the_instructions_of_nvrtc(calls):
    made = compiler.compile(kernels(calls), entry=None, arch="sm_80", name="k", using="clang")
    assert len(set(of_nvrtc(tuple(calls)))) > len(calls) / 4
    assert instructions(made.ptx) == of_nvrtc(tuple(calls))


@needs_clang
@pytest.mark.parametrize(
    "call", ["tex2D<double>(t, a, b)", "tex2D<float3>(t, a, b)", "tex2D<long long>(t, a, b)", "tex2D<float>(t, a)",
             "tex2D<float>(static_cast<float*>(o), a, b)", "surf2Dread<double>(t, i, j)", "surf2Dread<longlong4>(t, i, j)"]
)  # fmt: skip
def test_what_no_texture_or_surface_holds_is_refused(call):
    with pytest.raises(CompileError, match=f"error: no matching function for call to '{call[: call.index('<')]}'"):
        compiler.compile(kernels([call]), entry=None, arch="sm_80", name="k", using="clang")


TWO = """__global__ void plain(float* o) { o[threadIdx.x] = 2; }
__global__ void sampled(cudaTextureObject_t t, float* o, int n) {
  float v = 1;
  if (n) v = tex2D<float>(t, 0.5f, 0.5f);
  o[threadIdx.x] = v;
}
"""


@pytest.mark.parametrize(
    "using", [simulate, pytest.param(by_clang.simulate, marks=needs_clang)], ids=["nvrtc", "clang"]
)
def test_a_kernel_that_reads_a_texture_says_so_at_its_line_and_others_run(using):
    compiling.need_compiler()
    o = np.zeros(32, np.float32)
    using(TWO, "plain", 1, 32, [o])
    assert (o == 2).all()
    with pytest.raises(UnsupportedInstruction, match="tex.2d.* cannot be simulated: textures .* as a pointer") as error:
        using(TWO, "sampled", 1, 32, [0, o, 1])
    assert error.value.line == 4 and (o == 2).all()
