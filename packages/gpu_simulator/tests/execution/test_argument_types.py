"""An array whose elements are not what the kernel's parameter points to is refused, with the cast that would work."""

import numpy as np
import pytest

from gpu_simulator import simulate
from gpu_simulator.faults import LaunchError
from gpu_simulator.launch_checks import check_dtypes
from gpu_simulator.ptx.parameter_types import parameters
from gpu_simulator.simulating import compiled_kernel

ADD = "__global__ void add(const float* x, float* sums) { sums[threadIdx.x] += x[threadIdx.x]; }"


def test_the_default_float64_is_refused_with_the_cast_and_float32_runs():
    with pytest.raises(LaunchError, match=r"args\[0\] is an array of float64, but add takes float\* there") as refusal:
        simulate(ADD, block=4, args=[np.ones(4), np.ones(4)])
    assert "x = x.astype(np.float32)." in str(refusal.value)
    x, sums = np.ones(4, np.float32), np.ones(4, np.float32)
    simulate(ADD, block=4, args=[x, sums])
    assert sums.tolist() == [2.0] * 4
    with pytest.raises(LaunchError, match=r"args\[1\] is an array of int64.* sums = sums.astype\(np.float32\)"):
        simulate(ADD, block=4, args=[x, np.ones(4, np.int64)])


def test_the_types_of_a_template_and_of_a_typedef_are_known():
    source = "typedef double real; template <class T> __global__ void put(T* out, real* more) { *out = T(*more); }"
    with pytest.raises(LaunchError, match=r"args\[0\] is an array of float64, but put takes int\*"):
        simulate(source, "put<int>", args=[np.zeros(1), np.zeros(1)])
    with pytest.raises(LaunchError, match=r"args\[1\] .* takes double\* there.* more = more.astype\(np.float64\)"):
        simulate(source, "put<int>", args=[np.zeros(1, np.int32), np.zeros(1, np.float32)])
    simulate(source, "put<float>", args=[np.zeros(1, np.float32), np.zeros(1)])


def refused(kind, dtype):
    """Whether an array of this dtype is refused for a parameter `kind* p`."""
    try:
        check_dtypes("k", f'extern "C" __global__ void k({kind}* p) {{}}', [np.zeros(4, dtype)])
    except LaunchError:
        return True
    return False


FITTING = [
    *(("float", dtype) for dtype in ("f4", "u1", "u4", "c8", "V4", "f4,f4")),
    *(("int", dtype) for dtype in ("i4", "u4", "i1", "u1")),
    *(("unsigned", dtype) for dtype in ("i4", "u4", "f4", "f2")),
    *(("half", dtype) for dtype in ("f2", "u2", "i2", "u1")),
    *(("__half2", dtype) for dtype in ("f2", "u4")),
    *(("uint64_t", dtype) for dtype in ("i8", "u8", "f8", "i4")),
    *((anything, dtype) for anything in ("void", "char", "uint8_t", "uint4", "int2", "Body") for dtype in ("f8", "f2")),
    *(("float4", dtype) for dtype in ("f4", "f2")),
    *(("T", dtype) for dtype in ("f8", "i8")),
]


@pytest.mark.parametrize(("kind", "dtype"), FITTING)
def test_what_can_be_meant_is_accepted(kind, dtype):
    assert not refused(kind, dtype) and not refused(f"const {kind}", dtype)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("float", "f8"), ("float", "i8"), ("float", "i4"), ("float", "f2"), ("double", "f4"), ("int", "i8"), ("int", "f8")]
    + [("int", "f4"), ("unsigned int", "i8"), ("unsigned", "f8"), ("half", "f4"), ("__nv_bfloat16", "f2")]
    + [("float4", "f8"), ("long long", "f8"), ("short", "i4"), ("int8_t", "i8"), ("bool", "f8"), ("int", "?")],
)
def test_what_cannot_be_meant_is_refused(kind, dtype):
    assert refused(kind, dtype) and refused(f"const volatile {kind}", dtype)


def test_bfloat16_is_the_one_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert not refused("__nv_bfloat16", ml_dtypes.bfloat16) and refused("half", ml_dtypes.bfloat16)
    with pytest.raises(LaunchError, match=r"astype\(ml_dtypes.bfloat16\)"):
        check_dtypes("_Z1kP13__nv_bfloat16", "", [np.zeros(1, np.float32)])


def test_a_number_and_a_null_pointer_have_no_dtype():
    check_dtypes("_Z1kPffi", "", [None, 1.5, 3])
    check_dtypes("_Z1kPf", "", [])


# ---- The types ----


@pytest.mark.parametrize(
    ("entry", "source", "found"),
    [
        ("_Z3addPKfPdij", "", "float* double* int unsigned int"),
        ("_Z3addIfLi4EEvPT_PKS0_S0_S1_Pi", "", "float* float* float float* int*"),
        ("_ZN1x3addEPdPh1SPS2_PS0_RKS2_", "", "double* unsigned char* S S* double** S&"),
        ("_Z3addIdEv1VIT_EPS1_PS2_PjPm", "", "V<double> double* V<double>* unsigned int* unsigned long*"),
        ("_Z3addP6__halfPKS_P7__half2S2_", "", "__half* __half* __half2* __half*"),
        ("_Z3addv", "__global__ void add(void) {}", ""),
        ("add", "__global__ void add(float a[], const unsigned *b, long long int c, unsigned) {}",
         "float* unsigned int* long long unsigned int"),
        ("add", "/* __global__ void add(int* a) */ __global__ __launch_bounds__(64, 2) void add(half* a /*, */) {}",
         "__half*"),
        ("add", "__global__ void add(float* a) {} namespace n { __global__ void add(int* a) {} }", ""),
        ("add", "nothing of this name", ""),
        ("_Z3addIJfiEEvDpPT_", "", ""),
        ("_Z", "", ""),
        ("_Z3addS9_", "", ""),
    ],
)  # fmt: skip
def test_the_types_of_the_parameters(entry, source, found):
    assert " ".join(parameter.type for parameter in parameters(entry, source)) == found


def test_the_compiler_names_its_kernels_as_it_is_read_here():
    source = """
        #include <cuda_bf16.h>
        using byte = unsigned char;
        struct Pair { float* a; int n; };
        namespace inner {
        template <class T, int N>
        __global__ void mix(const T* __restrict__ in, Pair pair, const Pair* pairs, byte* bytes,
                            __nv_bfloat16* x, const __nv_bfloat16* y, size_t n, float4* z) {}
        }"""
    found = compiled_kernel(source, "inner::mix<float, 3>")
    assert [parameter.type for parameter in parameters(found.entry, found.text)] == [
        *("float*", "Pair", "Pair*", "unsigned char*", "__nv_bfloat16*", "__nv_bfloat16*", "unsigned long", "float4*"),
    ]
    assert [parameter.name for parameter in parameters(found.entry, found.text)][0] == "in"


PARAMS = """struct Params { float alpha, beta; int n; int *stride; int size[2]; };
__global__ void use(Params p, float* o) { o[0] = p.alpha + p.beta * p.n + p.size[1]; }"""


def test_a_struct_takes_a_number_for_a_number_and_an_array_for_a_pointer():
    o, strides = np.zeros(1, np.float32), np.zeros(2, np.int32)
    simulate(PARAMS, args=[(2.0, 3.0, 4, strides, 5, 6), o])
    assert o[0] == 20
    for given, wrong in (
        ((strides, 3.0, 4, strides, 5, 6), "an array stands in the place of the number alpha"),
        ((2.0, 3.0, 4, 1, 5, 6), "a number stands in the place of the pointer stride"),
        ((strides, 3.0), "2 of its 6 members were given"),
    ):
        with pytest.raises(LaunchError, match=rf"p of use is a Params \(float alpha, float beta, int n.*: {wrong}"):
            simulate(PARAMS, args=[given, o])
    with pytest.raises(LaunchError, match="argument 0 is a struct of 32 bytes: give its members, as a tuple"):
        simulate(PARAMS, args=[1.0, o])
