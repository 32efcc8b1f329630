"""What a loop executes, in the machine code: with the functions that it calls, and in whatever loop it stands."""

import compiling
import pytest

from gpu_simulator import compiler
from gpu_timing.machine_code.main_loop import by_function, odd_calls, product_loops, with_callees

ARCHS = ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"]
HEAD = """
__device__ __noinline__ float slow(float x, float* d) { __syncthreads(); return x * d[threadIdx.x]; }
__device__ __noinline__ float outer(float x, float* d) { return slow(x, d) + slow(x + 1, d); }
"""


def lines_of(body, arch, head=HEAD):
    source = (
        head
        + 'extern "C" __global__ void gemm(float* d, int n) {\n  float s = d[0];\n'
        + body
        + "\n  d[threadIdx.x] = s;\n}\n"
    )
    return compiler.disassemble(compiling.compile(source, arch=arch))


def barriers(lines):
    return sum(line.opcode.startswith("BAR") for line in lines)


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("arch", ARCHS)
def test_a_call_counts_with_what_it_executes(arch):
    (loop,) = product_loops(
        lines_of(
            "#pragma unroll 1\nfor (int i = 0; i < n; i++) { s = fmaf(s, 2.0f, slow(s, d)); __syncthreads(); }", arch
        )
    )
    assert barriers(loop) == 2


@pytest.mark.sampled(every=5, first=1)
@pytest.mark.parametrize("arch", ARCHS)
def test_each_call_counts_and_so_does_what_a_function_calls(arch):
    (loop,) = product_loops(
        lines_of("#pragma unroll 1\nfor (int i = 0; i < n; i++) s = fmaf(s, 2.0f, outer(s, d));", arch)
    )
    assert barriers(loop) == 2


@pytest.mark.sampled(every=5, first=2)
@pytest.mark.parametrize("arch", ARCHS)
def test_a_lambda_that_is_not_inlined_is_a_function(arch):
    body = """auto wait = [&](float x) __attribute__((noinline)) { __syncthreads(); return x * d[threadIdx.x]; };
    #pragma unroll 1
    for (int i = 0; i < n; i++) s = fmaf(s, 2.0f, wait(s));"""
    assert max(barriers(loop) for loop in product_loops(lines_of(body, arch))) == 1


@pytest.mark.sampled(every=5, first=3)
@pytest.mark.parametrize("arch", ARCHS)
def test_products_in_a_function_make_the_loop_that_calls_it_one_that_multiplies(arch):
    head = "__device__ __noinline__ float step(float s, float* d) { return fmaf(s, d[1], d[2]); }"
    body = "#pragma unroll 1\nfor (int i = 0; i < n; i++) { s = step(s, d); __syncthreads(); }"
    assert [barriers(loop) for loop in product_loops(lines_of(body, arch, head))] == [1]


@pytest.mark.sampled(every=5, first=4)
@pytest.mark.parametrize("arch", ARCHS)
def test_two_loops_are_two(arch):
    loop = "#pragma unroll 1\nfor (int i = 0; i < n; i++) { s = fmaf(s, 2.0f, d[i]);%s }\n"
    assert sorted(barriers(part) for part in product_loops(lines_of(loop % "" + loop % " __syncthreads();", arch))) == [
        0,
        1,
    ]


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("arch", ARCHS)
def test_a_loop_that_stores_is_counted_by_its_inner_ones_and_where_there_are_none_itself(arch):
    inner = "#pragma unroll 1\nfor (int i = 0; i < n; i++) s = fmaf(s, 2.0f, d[i]);"
    nested = lines_of(
        "#pragma unroll 1\nfor (int j = 0; j < n; j++) {" + "\n" + inner + "\nd[j] = s; __syncthreads(); }", arch
    )
    assert [barriers(loop) for loop in product_loops(nested)] == [0]
    alone = lines_of(
        "#pragma unroll 1\nfor (int i = 0; i < n; i++) { s = fmaf(s, 2.0f, d[i]); d[i + 1] = s; __syncthreads(); }",
        arch,
    )
    assert [barriers(loop) for loop in product_loops(alone)] == [1]


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHS)
def test_calls_that_show_nothing_are_found(arch):
    pointer = "float (*f)(float, float*) = n > 9 ? slow : outer;\nif (n == 7) f = nullptr;\ns += f(s, d);"
    assert len(odd_calls(lines_of(pointer, arch))) == 1
    head = "__device__ __noinline__ float again(float x, int n) { return n ? x + 2 * again(x * x, n - 1) + again(x - 1, n / 2) : x; }"
    assert odd_calls(lines_of("s = again(s, n);", arch, head))
    assert odd_calls(lines_of("s = outer(s, d) + slow(s, d);", arch)) == []


@pytest.mark.sampled(every=5, first=2)
@pytest.mark.parametrize("arch", ARCHS)
def test_a_division_by_a_subroutine_is_no_odd_call(arch):
    lines = lines_of("s = static_cast<float>(static_cast<long long>(d[1]) / (n + 1LL));", arch)
    assert odd_calls(lines) == [] and with_callees(lines[:1], by_function(lines)) == tuple(lines[:1])


def test_a_loop_by_a_jump_table_is_a_loop():
    from gpu_simulator.compiler.disassembly import SassLine

    lines = [
        SassLine(0, "FFMA R1, R1, R2, R3 ;", "", 1),
        SassLine(16, "BAR.SYNC 0x0 ;", "", 1),
        SassLine(32, 'BRX R2 -0x20 (*"BRANCH_TARGETS .L_x_0,.L_x_1"*);', "", 1, target=0),
        SassLine(48, "EXIT ;", "", 1),
    ]
    assert [barriers(loop) for loop in product_loops(lines)] == [1]
