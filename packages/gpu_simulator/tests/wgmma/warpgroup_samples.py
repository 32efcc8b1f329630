"""Kernels with wgmma for tests: a single multiplication of any form, and a GEMM with a ring of stages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import compiling
import numpy as np

from gpu_simulator.hardware.matrix_descriptor import SharedTile, element_addresses, encode_sm90
from gpu_simulator.hardware.mma_layouts import Mma

RING = Path(__file__).with_name("warpgroup_ring.cu").read_text()
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}
C_TYPE = {"f32": "float", "s32": "int", "f16": "uint32_t"}
LETTER = {"f32": "f", "s32": "r", "f16": "r"}


def in_registers(operand: str, columns: int, dtype: str = "bf16") -> np.ndarray:
    """(row, column) of A(64 × columns) or D by thread, register and element: shape (128, registers, elements, 2).

    Warp w has rows 16w … 16w + 15, as tiles of mma.m16n8: A is one of them, the tiles of D lie side by side. An element
    of D counts as a register. Source: PTX ISA, "Register Fragments for wgmma.mma_async".
    """
    if operand == "A":
        tile = Mma(f"m16n8k{columns}", dtype).coordinates("A")
    else:
        each = Mma("m16n8k16", "bf16").coordinates("D")
        tile = np.concatenate([each + [0, first] for first in range(0, columns, 8)], axis=1)
    return np.concatenate([tile + [16 * warp, 0] for warp in range(4)])


class Form(NamedTuple):
    """One form of wgmma.mma_async. b: its type, "" for that of A.   majors: "k" or "mn", for A and B.

    swizzles: in bytes, for A and B.   signs: imm-scale-a and imm-scale-b.
    """

    n: int
    a: str = "bf16"
    b: str = ""
    accumulator: str = "f32"
    majors: tuple[str, str] = ("k", "k")
    swizzles: tuple[int, int] = (128, 128)
    a_in_registers: bool = False
    signs: tuple[int, int] = (1, 1)
    scale_d: int = 1

    @property
    def types(self) -> tuple[str, str]:
        return self.a, self.b or self.a

    @property
    def k(self) -> int:
        return 32 // BYTES[self.a]

    @property
    def registers(self) -> int:
        return self.n // (4 if self.accumulator == "f16" else 2)


def wrapper(form: Form, name: str = "multiply") -> str:
    """The source of a device function `name(acc, a, b, scale_d)`, where a is a descriptor or four registers."""
    count = form.registers
    d = ", ".join(f"%{i}" for i in range(count))
    a = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}" if form.a_in_registers else f"%{count}"
    at = count + (4 if form.a_in_registers else 1)
    rest = ""
    if form.accumulator != "s32":
        rest = f", {form.signs[0]}, {form.signs[1]}"
        if BYTES[form.a] == 2:
            turns = [int(major == "mn") for major in form.majors]
            rest += "".join(f", {turn}" for turn in turns[form.a_in_registers :])
    opcode = f"wgmma.mma_async.sync.aligned.m64n{form.n}k{form.k}.{form.accumulator}.{'.'.join(form.types)}"
    outputs = ", ".join(f'"+{LETTER[form.accumulator]}"(acc[{i}])' for i in range(count))
    given = ", ".join(f'"r"(a[{i}])' for i in range(4)) if form.a_in_registers else '"l"(a)'
    a_type = "const uint32_t (&a)[4]" if form.a_in_registers else "uint64_t a"
    return (
        f"__device__ __forceinline__ void {name}({C_TYPE[form.accumulator]} (&acc)[{count}], {a_type}, uint64_t b, "
        f'int scale_d) {{\n  asm volatile("{{.reg .pred p; setp.ne.b32 p, %{at + 1}, 0;\\n\\t"\n'
        f'    "{opcode} {{{d}}}, {a}, %{at}, p{rest};}}" : {outputs} : {given}, "l"(b), "r"(scale_d));\n}}\n'
    )


# `image` has the raw contents of shared memory by shared address (a GPU reserves the first 1 KB for itself). `d` has the
# accumulators of each thread, register by register.
ONE = """
#include "config.cuh"
{wrapper}
constexpr int SMEM_BYTES = {size};
extern "C" __global__ void __launch_bounds__(128) kernel(const uint32_t* image, {type}* d, const uint32_t* fragments,
                                                         uint64_t a, uint64_t b, int scale_d) {{
  extern __shared__ __align__(1024) uint32_t smem[];
  const int first = __cvta_generic_to_shared(smem) / 4;
  for (int i = first + threadIdx.x; i < {words}; i += 128) smem[i - first] = image[i];
  {type} acc[{count}];
  for (int i = 0; i < {count}; i++) acc[i] = d[threadIdx.x * {count} + i];
  {load}
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  multiply(acc, {a}, b, scale_d);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < {count}; i++) d[threadIdx.x * {count} + i] = acc[i];
}}
"""
IMAGE_BYTES = 49152


@cache
def one(form: Form):
    """The compiled kernel with one multiplication of this form."""
    load = "uint32_t frag[4]; for (int i = 0; i < 4; i++) frag[i] = fragments[threadIdx.x * 4 + i];"
    source = ONE.format(
        wrapper=wrapper(form),
        type=C_TYPE[form.accumulator],
        count=form.registers,
        words=IMAGE_BYTES // 4,
        size=IMAGE_BYTES,
        load=load if form.a_in_registers else "",
        a="frag" if form.a_in_registers else "a",
    )
    return compiling.compile(source, arch="sm_90a", name="one.cu", entry="kernel")


def tile_of(start: int, lines: int, form: Form, operand: int) -> SharedTile:
    """A tile without gaps at byte `start`, for A (operand 0) or B (operand 1) with `lines` rows along M or N."""
    swizzle, major, size = form.swizzles[operand], form.majors[operand], BYTES[form.a]
    dense = 8 * (swizzle or 16)
    if major == "k":
        groups = lines // 8
        return SharedTile(start, groups * dense if not swizzle else 16, dense, swizzle)
    blocks = -(-lines * size // (swizzle or 16))
    if not swizzle:
        return SharedTile(start, blocks * dense, dense, 0, "mn")
    return SharedTile(start, 2 * dense, dense, swizzle, "mn")


def place(image: np.ndarray, tile: SharedTile, matrix: np.ndarray) -> int:
    """Write the raw elements of a matrix (rows along M or N, columns along K) to `image`; returns its descriptor."""
    size = matrix.itemsize
    at = element_addresses(tile, *matrix.shape, size)
    image.view(f"u{size}")[at // size] = matrix.view(f"u{size}")
    return encode_sm90(tile)


# ---- The ring ----

CONFIG = {"BLOCK_M": 128, "BLOCK_N": 64, "BLOCK_K": 64, "NUM_STAGES": 3, "WGMMA_N": 64}


def ring_source(config=CONFIG, dtype="bf16") -> str:
    return RING.replace("// WRAPPER\n", wrapper(Form(config["WGMMA_N"], dtype), "wgmma_n"))


def ring(source: str, config=CONFIG, name: str = "ring.cu"):
    return compiling.compile(source, arch="sm_90a", name=name, entry="kernel", config=config)
