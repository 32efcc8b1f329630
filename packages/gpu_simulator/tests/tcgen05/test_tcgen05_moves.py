"""tcgen05.ld and tcgen05.st on the simulator: which cell goes to which register of which thread, and what orders them."""

import re

import compiling
import numpy as np
import pytest
from tensor_frame import END, FRAME, LOAD, START, WAIT_ST, launch

import gpu_simulator

SHAPES = {"32x32b": (1, (1, 8, 128)), "16x64b": (1, (1, 16, 128)), "16x128b": (2, (1, 4, 64)), "16x256b": (4, (1, 2, 32)),
          "16x32bx2": (1, (1, 8))}  # fmt: skip


def cell(shape: str, register: int, thread: int, times: int) -> tuple[int, int]:
    """(lane, column) of a register of a thread, as the figures of the PTX ISA show them ("Data Movement Shape")."""
    if shape == "32x32b":
        return thread, register
    if shape == "16x32bx2":
        return thread % 16, register + (times if thread >= 16 else 0)
    row = thread // 4
    if shape == "16x64b":
        return row + 8 * (thread % 2), 2 * register + thread // 2 % 2
    if shape == "16x128b":
        return row + 8 * (register % 2), 4 * (register // 2) + thread % 4
    return row + 8 * (register // 2 % 2), 8 * (register // 4) + 2 * (thread % 4) + register % 2


def moves(shape: str, times: int, store: bool, pack: bool = False) -> str:
    count = SHAPES[shape][0] * times
    names = ", ".join(f"%{i + (1 if store else 0)}" for i in range(count))
    split = f", {times}" if shape == "16x32bx2" else ""
    if store:
        inputs = ", ".join(f'"r"(r[{i}])' for i in range(count))
        name = f"tcgen05.st.sync.aligned.{shape}.x{times}{'.unpack::16b' if pack else ''}.b32"
        return f'asm volatile("{name} [%0]{split}, {{{names}}};" :: "r"(at), {inputs} : "memory");\n{WAIT_ST}'
    outputs = ", ".join(f'"=r"(r[{i}])' for i in range(count))
    name = f"tcgen05.ld.sync.aligned.{shape}.x{times}{'.pack::16b' if pack else ''}.b32"
    return f'asm volatile("{name} {{{names}}}, [%{count}]{split};" : {outputs} : "r"(at) : "memory");\n  tcgen05_wait_ld();\n'


FILL = """
  if (warp == 0) tcgen05_alloc<1>(slot, 512);
  __syncthreads();
  const uint32_t base = slots[0], mine = base + (warp * 32 << 16);
  for (int c = 0; c < 512; c++)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" :: "r"(mine + c), "r"(threadIdx.x << 16 | c) : "memory");
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
"""


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("shape", "times"), [(shape, times) for shape, (_, some) in SHAPES.items() for times in some])
def test_loads_and_stores_of_every_shape(shape, times):
    count, upper = SHAPES[shape][0] * times, 16 if shape != "32x32b" else 0
    body = f"""{FILL}
      uint32_t r[{count}], at = mine + ({upper} << 16) + 3;
      {moves(shape, times, False)}
      if (warp == 2) for (int i = 0; i < {count}; i++) out[i * 32 + lane] = r[i];
      for (int i = 0; i < {count}; i++) r[i] = r[i] + 1000000000u;
      {moves(shape, times, True)}
      for (int c = 0; c < 8; c++) {{
        at = mine + c;
        uint32_t r[1];
        {moves("32x32b", 1, False)}
        if (warp == 1) out[{count} * 32 + c * 32 + lane] = r[0];
      }}
      __syncthreads();
      if (warp == 0) tcgen05_dealloc<1>(base, 512);
    """
    compiled = compiling.compile(FRAME.replace("BODY", body), arch="sm_100a", name="kernel.cu", entry="kernel")
    out = np.zeros(count * 32 + 256, np.uint32)
    report = gpu_simulator.launch(compiled, "kernel", 1, 128, [out, 0, 0, 1], observers=("hazards",), timing="late")
    assert report.hazards == []
    got, after = out[: count * 32].reshape(count, 32), out[count * 32 :].reshape(8, 32)
    touched = {}
    for register in range(count):
        for thread in range(32):
            lane, column = cell(shape, register, thread, times)
            assert got[register, thread] == (64 + upper + lane) << 16 | column + 3
            touched[upper + lane, column + 3] = True
    for column in range(8):
        for lane in range(32):
            plain = (32 + lane) << 16 | column
            assert after[column, lane] == plain + (1000000000 if (lane, column) in touched else 0)


def test_two_values_of_16_bits_in_a_register():
    body = f"""{FILL}
      uint32_t r[4], at = mine;
      {moves("32x32b", 4, False, True)}
      for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = r[i];
      {moves("32x32b", 4, True, True)}
      __syncthreads();
      if (warp == 0) tcgen05_dealloc<1>(base, 512);
    """
    out, report = launch(body)
    assert out[:4].tolist() == [2 * i | (2 * i + 1) << 16 for i in range(4)] and report.hazards == []


# Two rounds in which every thread stores its row of A, all ones, and one multiplies it with B.
STORED_A = (
    START.replace("(slot, 64)", "(slot, 128)")
    + """
  for (int round = 0; round < 2; round++) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};"
                 :: "r"(mine + 64), "r"(0x3f803f80) : "memory");
    /* wait::st */ asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    /* barrier */ __syncthreads();
    /* fence */ tcgen05_fence_after_thread_sync();
    if (threadIdx.x == 64) {
      asm volatile("{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %4, 0;\\n\\t"
                   "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\\n\\t}" :: "r"(base), "r"(base + 64),
                   "l"(tcgen05_descriptor_k_major_128b(tile + 16384)), "r"(WORD), "r"(round) : "memory");
      tcgen05_commit<1>(barrier);
    }
    /* wait */ mbarrier_wait_parity(barrier, round);
    /* second fence */ tcgen05_fence_after_thread_sync();
  }
"""
    + LOAD
    + END.replace("64", "128")
)


@pytest.mark.parametrize("timing", ["early", "late"])
def test_a_stored_in_tensor_memory_is_multiplied(timing):
    out, report = launch(STORED_A, timing=timing)
    assert (out[:1024] == 32).all() and report.hazards == []


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize(("left_out", "kind", "words"), [
    ("wait::st", "missing wait", "multiplies with tensor memory that tcgen05.st .* may still be writing"),
    ("barrier", "race", "tcgen05.st .* used: no barrier stands between the two"),
    ("fence", "missing fence", r"thread \(64, 0, 0\) has to execute tcgen05.fence::after_thread_sync"),
    ("wait", "missing wait", "stores to tensor memory that tcgen05.mma .* may still be using"),
    ("second fence", "missing fence", "warp 0 has to execute tcgen05.fence::after_thread_sync"),
])  # fmt: skip
def test_what_orders_stores_and_products(left_out, kind, words):
    body = re.sub(rf"/\* {left_out} \*/[^\n]*", "", STORED_A)
    out, report = launch(body, timing="late")
    assert any(h.kind == kind and re.search(words, h.message) for h in report.hazards), [str(h) for h in report.hazards]
    if "wait" in left_out:
        assert not (out[:1024] == 32).all()
