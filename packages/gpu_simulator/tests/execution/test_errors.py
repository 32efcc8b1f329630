"""Bad input and bad kernels: each error names the line and the reason."""

import compiling
import numpy as np
import ptx_text
import pytest

import gpu_simulator
from gpu_simulator.errors import LaunchError
from gpu_simulator.faults import WarpFault

HEAD = 'extern "C" __global__ void kernel'
PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 p, .param .u32 n) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 7;
  BODY
  ret;
}
"""


def ptx(body: str) -> str:
    return PTX.replace("BODY", body)


def out(n=32):
    return np.zeros(n, np.int32)


def test_an_unsupported_opcode_names_line_and_opcode():
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match=r"PTX line 9.*tex\.1d"):
        gpu_simulator.launch(ptx("tex.1d.v4.f32.s32 %r1, [p];"), "kernel", 1, 32, [out(), 1])
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match=r"add\.frob\.u32.*\.frob"):
        gpu_simulator.launch(ptx("add.frob.u32 %r1, %r1, %r1;"), "kernel", 1, 32, [out(), 1])


def test_an_unsupported_opcode_names_the_source_line(cuda):
    source = (
        HEAD
        + '(int* p) {\n  asm volatile("multimem.ld_reduce.weak.global.add.u32 %0, [%1];" : "=r"(p[0]) : "l"(p));\n}'
    )
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match=r"^kernel.cu:2: multimem\S* cannot"):
        cuda(source, out(), arch="sm_90a")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "line 1"),
        (".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k( {", "line 4"),
        (ptx("mov.u32 %r1, %r2 %r3;"), "line 9"),
        (ptx("bra nowhere;"), "nowhere"),
        (ptx("+++;"), "line 9"),
        (ptx("mov.u32 %r1, 1;").replace("ret;\n}", "ret;"), "closing brace"),
        (ptx(".reg .what %x;"), "what"),
        (ptx(".reg .b32 %x<99999999999>;"), "99999999999 registers are more than"),
        (ptx("shfl.sync.bfly.b32;"), "line 9: shfl.sync.bfly.b32 takes 5 operands or more, not 0"),
    ],
)
def test_malformed_ptx_names_its_line(text, reason):
    with pytest.raises((gpu_simulator.MalformedPtx, gpu_simulator.UnsupportedInstruction), match=reason):
        gpu_simulator.launch(text, "kernel", 1, 32, [out(), 1])


@pytest.mark.parametrize(
    ("arguments", "block", "options", "reason"),
    [
        ([out()], 32, {}, "takes 2 arguments, not 1"),
        ([out(), out()], 32, {}, "argument 1 .*not a pointer"),
        ([out(), 2**40], 32, {}, "does not fit"),
        ([out(), 1.5], 32, {}, "not a whole number"),
        ([out(), float("nan")], 32, {}, "not a whole number"),
        ([out(), float("inf")], 32, {}, "not a whole number"),
        ([np.zeros(8, object), 1], 32, {}, "Python objects"),
        ([out(), "n"], 32, {}, "str"),
        ([out()[::2], 1], 32, {}, "contiguous"),
        ([out(), 1], 1025, {}, "1,024"),
        ([out(), 1], 0, {}, "positive"),
        ([out(), 1], 1.5, {}, "whole numbers, not 1.5"),
        ([out(), 1], None, {}, "whole numbers, not None"),
        ([out(), 1], (float("nan"), 1), {}, "whole numbers"),
        ([out(), 1], (1, 1, 65), {}, "block z"),
        ([out(), 1], 32, {"dynamic_smem_bytes": 200_000}, "166,912"),
        ([out(), 1], 32, {"timing": "never"}, "early"),
        ([out(), 1], 32, {"cluster": 2}, "[Cc]luster"),
    ],
)
def test_wrong_launches_are_refused(arguments, block, options, reason):
    with pytest.raises(LaunchError, match=reason):
        gpu_simulator.launch(ptx(""), "kernel", 1, block, arguments, **options)


def test_an_unknown_kernel_lists_the_known():
    with pytest.raises(LaunchError, match="gemm.*kernel"):
        gpu_simulator.launch(ptx(""), "gemm", 1, 32, [out(), 1])


def test_a_partial_warp_has_no_ldmatrix(cuda):
    source = (
        HEAD
        + """(int* p) { __shared__ int s[256]; unsigned a; s[threadIdx.x] = 1; __syncthreads();
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"((unsigned)__cvta_generic_to_shared(s)));
      p[threadIdx.x] = a; }"""
    )
    with pytest.raises(LaunchError, match="33 threads.*partial warp.*ldmatrix"):
        cuda(source, out(64), block=33)


def test_out_of_bounds_names_thread_line_and_allocation(cuda):
    source = HEAD + "(int* p, int n) {\n  p[threadIdx.x] = n;\n}"
    with pytest.raises(
        gpu_simulator.MemoryFault,
        match=r"thread \(20, 0, 0\) accessed .*, which would be p\[20\], 0 bytes past the end of p \(20 elements, 80 bytes\).*kernel.cu:2",
    ):
        cuda(source, out(20), 1)
    with pytest.raises(gpu_simulator.MemoryFault, match="null"):
        cuda(source, None, 1)


def test_far_before_an_array_its_element_is_told_and_not_what_no_kernel_means(cuda):
    source = f"__constant__ int one; {HEAD}(float* x) {{ x[-100 - one] = 1; }}"
    with pytest.raises(gpu_simulator.MemoryFault, match=r"would be x\[-100\], 400 bytes before x \("):
        cuda(source, np.zeros(32, "f4"))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_store_past_a_small_array_names_that_array(cuda, size):
    source = f"""__constant__ int one;
__device__ int counter;
{HEAD}(const float* x, float* small, float* large) {{
  counter = one; (threadIdx.x < 2 ? small : large)[threadIdx.x < 2 ? {size} : 0] = x[0];
}}"""
    first = rf"0 bytes past the end of (argument 1|small) \(.*{4 * size} bytes\) and [\d,]+ bytes before (argument 2|large) "
    with pytest.raises(gpu_simulator.MemoryFault, match=first):
        cuda(source, np.zeros(1024, "f4"), np.zeros(size, "f4"), np.zeros(1024, "f4"))
    above = source.replace(f"2 ? {size}", "2 ? -1")
    with pytest.raises(
        gpu_simulator.MemoryFault, match=r"4 bytes before (argument 1|small) .*past the end of (argument 0|x) "
    ):
        cuda(above, np.zeros(1024, "f4"), np.zeros(size, "f4"), np.zeros(1024, "f4"))
    beside = source.replace("counter = one;", "(&counter)[1] = one;")
    with pytest.raises(gpu_simulator.MemoryFault, match=r"0 bytes past the end of counter \(.*4 bytes\)") as told:
        cuda(beside, *(np.zeros(4, "f4") for _ in range(3)))
    assert "one (" not in str(told.value), "a constant is no array that anybody passes the end of"


def test_shared_out_of_bounds_and_misaligned(cuda):
    source = (
        HEAD
        + "(int* p, int n) {\n  __shared__ int s[32]; s[threadIdx.x] = 1; __syncthreads();\n  p[threadIdx.x] = s[threadIdx.x + n];\n}"
    )
    with pytest.raises(gpu_simulator.MemoryFault, match=r"thread \(31, 0, 0\).*shared address 128.*kernel.cu:3"):
        cuda(source, out(), 1)
    source = HEAD + "(char* p, int n) {\n  *(int*)(p + 4 * threadIdx.x + n) = 1;\n}"
    with pytest.raises(gpu_simulator.MemoryFault, match="not a multiple of 4.*kernel.cu:2"):
        cuda(source, out(64), 2)


def test_cp_async_reads_at_most_what_it_copies(cuda):
    source = """#include "config.cuh"
#include "ptx/cp_async.cuh"
extern "C" __global__ void kernel(const int* in, int* out, int length) {
  __shared__ __align__(16) int s[128];
  const uint32_t to = __cvta_generic_to_shared(s + 4 * threadIdx.x);
  cp_async_16b_zfill(to, in + 4 * threadIdx.x, threadIdx.x == 3 ? length : 16);
  cp_async_commit(); cp_async_wait<0>(); __syncthreads();
  for (int i = 0; i < 4; i++) out[4 * threadIdx.x + i] = s[4 * threadIdx.x + i];
}"""
    values, out = np.arange(1, 129, dtype=np.int32), np.zeros(128, np.int32)
    cuda(source, values, out, 8)
    assert out[12:16].tolist() == [13, 14, 0, 0] and np.array_equal(
        np.delete(out, [14, 15]), np.delete(values, [14, 15])
    )
    with pytest.raises(
        gpu_simulator.SimulatedFault, match=r"thread \(3, 0, 0\) copies 16 bytes with a source size of 20"
    ):
        cuda(source, values, out, 20)


def test_an_endless_loop_stops_and_names_its_line(cuda):
    source = HEAD + "(volatile int* p) {\n  p[1] = 3;\n  while (p[0] == 0) { }\n  p[2] = 1;\n}"
    with pytest.raises(gpu_simulator.BudgetExceeded, match="kernel.cu:3"):
        cuda(source, out(), max_instructions=10_000)


def test_a_deadlock_says_who_waits(cuda):
    source = (
        HEAD
        + """(int* p) {
      if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
      else asm volatile("bar.sync 2, 64;");
    }"""
    )
    with pytest.raises(
        gpu_simulator.Deadlock, match="threads 0-31 wait at barrier 1 for 64.*threads 32-63 wait at barrier 2"
    ):
        cuda(source, out(), block=64)


def test_a_divergent_barrier_is_found(cuda):
    source = (
        HEAD
        + """(int* p, int n) {
      if (threadIdx.x < n) { p[threadIdx.x] = 1; __syncthreads(); p[threadIdx.x]++; }
      else { __syncthreads(); p[threadIdx.x] = 5; }
    }"""
    )
    report = cuda(source, out(64), 40, block=64, observers=("hazards",))
    assert [h.kind for h in report.hazards] == ["divergent barrier"]


def test_trap_stops_the_kernel(cuda):
    with pytest.raises(gpu_simulator.Trap, match=r"thread \(9, 0, 0\)"):
        cuda(HEAD + "(int* p) { if (threadIdx.x == 9) __trap(); p[threadIdx.x] = 1; }", out())


def test_named_barriers_with_counts(cuda):
    source = (
        HEAD
        + """(int* p) {
      __shared__ int s[64];
      int t = threadIdx.x;
      if (t < 64) { s[t] = t * 3; asm volatile("bar.arrive 3, 128;" ::: "memory"); }
      else { asm volatile("bar.sync 3, 128;" ::: "memory"); p[t - 64] = s[127 - t]; }
    }"""
    )
    p = out(64)
    cuda(source, p, block=128, observers=("hazards",)).raise_hazards()
    assert np.array_equal(p, np.arange(63, -1, -1) * 3)


def test_supported_lists_opcodes_with_their_forms():
    table = gpu_simulator.supported()
    assert {"add", "ld", "mma", "ldmatrix", "cp", "shfl", "wmma", "atom", "bar", "cvt"} <= set(table)
    assert all(table.values())


def test_compiled_objects_bring_entry_and_dynamic_shared_memory():
    source = (
        "constexpr int SMEM_BYTES = 4096;\n"
        + HEAD
        + "(int* p) { extern __shared__ int s[]; s[threadIdx.x + 900] = 1; p[threadIdx.x] = s[threadIdx.x + 900]; }"
    )
    made = compiling.compile(source, arch="sm_80", name="kernel.cu", entry="kernel")
    p = out()
    gpu_simulator.launch(made, grid=1, block=32, args=[p])
    assert (p == 1).all()


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("form", ["ldmatrix", "stmatrix"])
def test_a_matrix_needs_its_whole_warp(form, count):
    registers = ", ".join(f"%r{n + 2}" for n in range(count))
    places = f"{{{registers}}}, [%r1]" if form == "ldmatrix" else f"[%r1], {{{registers}}}"
    body = (
        "mov.u32 %r1, smem; and.b32 %r6, %t, 31; mad.lo.u32 %r1, %r6, 16, %r1; setp.gt.u32 %p1, %r6, LAST;\n@%p1 ret;\n"
        + "".join(f"mov.b32 %r{n}, 0;" for n in range(2, 6))
        + f"st.shared.v4.b32 [%r1], {{%r2, %r3, %r4, %r5}};\n{form}.sync.aligned.m8n8.x{count}.shared.b16 {places};"
    )
    with pytest.raises(WarpFault, match=rf"{form}.*thread \(0, 0, 0\) executes it without lanes 7-31 of its warp"):
        ptx_text.run(body.replace("LAST", "6"), None, None, None, block=64)
    ptx_text.run(body.replace("LAST", "31"), None, None, None, block=64)


def test_every_error_of_the_package_has_one_base_class():
    own = [kind for kind in vars(gpu_simulator).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(own) > 15 and [kind for kind in own if not issubclass(kind, gpu_simulator.SimulatorError)] == []
    assert not issubclass(gpu_simulator.LaunchError, gpu_simulator.SimulatedFault), "no kernel ran"
