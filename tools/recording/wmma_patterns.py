"""Kernels with one wmma load or store in shared memory, and the strides with which they are measured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gemm_lab_lessons.shared.patterns import SMEM_BYTES, Pattern, placed
from gemm_lab_lessons.shared.recordings import Recording, recordings

ACCUMULATORS = {"f16": 4, "f32": 8, "s32": 8}
FIRST_LINE = 6


def instructions() -> Iterator[tuple[str, tuple[int, ...]]]:
    """(instruction, leading dimensions in elements). The instruction's name has matrix, layout, shape and type."""
    for layout in ("row", "col"):
        for matrix in "ab":
            yield f"wmma.load.{matrix}.{layout}.m16n16k16.f16", (16, 24, 32, 64, 72, 128, 136)
            yield f"wmma.load.{matrix}.{layout}.m16n16k16.bf16", (24, 64)
            yield f"wmma.load.{matrix}.{layout}.m16n16k16.bf16.generic", (16, 24, 64, 72)
            yield f"wmma.load.{matrix}.{layout}.m16n16k8.tf32", (16, 20, 36)
            yield f"wmma.load.{matrix}.{layout}.m16n16k8.tf32.generic", (20,)
            yield f"wmma.load.{matrix}.{layout}.m16n16k16.s8", (16, 48)
        for kind in ("f16", "f32"):
            for action in ("load.c", "store.d"):
                yield f"wmma.{action}.{layout}.m16n16k16.{kind}", (16, 24, 64, 72, 132 if kind == "f32" else 136)
        for shape in ("m32n8k16", "m8n32k16"):
            for matrix in "ab":
                yield f"wmma.load.{matrix}.{layout}.{shape}.f16", (32, 40)
            yield f"wmma.load.c.{layout}.{shape}.f32", (32, 36)
            yield f"wmma.store.d.{layout}.{shape}.f16", (32, 40)


def registers(instruction: str) -> int:
    """Number of 32-bit registers per lane that hold the fragment."""
    _, _, matrix, _, _, kind = instruction.removesuffix(".generic").split(".")
    if matrix in "cd":
        return ACCUMULATORS[kind]
    if kind == "f16":
        return 8
    return 2 if kind == "s8" else 4


def kernel_source(*instructions: str) -> str:
    """CUDA source with the parameters of `measure.patterns.kernel_source`.

    offsets[0] is the byte offset of the tile, offsets[1] the stride in elements. The instructions are on every second
    line from FIRST_LINE on, with barriers between them so that the compiler does not merge their loads.
    """
    body = "  __syncthreads();\n".join(map(_statement, instructions))
    return f"""extern "C" __global__ void __launch_bounds__(32)
gemm(const unsigned* offsets, const unsigned* sources, const unsigned char* data, unsigned* out) {{
  __shared__ __align__(1024) unsigned char smem[{SMEM_BYTES}];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(smem));
  unsigned sum = 0;
{body}  out[threadIdx.x] = sum;
}}
"""


def _statement(instruction: str) -> str:
    """One line of CUDA source that executes the instruction.

    A ".generic" instruction has no state space, as NVRTC emits it for the bf16 and tf32 fragments of mma.h.
    """
    generic = instruction.endswith(".generic")
    _, action, matrix, layout, shape, kind = instruction.removesuffix(".generic").split(".")
    count = registers(instruction)
    letter, of = ("f", "float") if kind == "f32" else ("r", "unsigned")
    vector = "{" + ", ".join(f"%{n}" for n in range(count)) + "}"
    opcode = f"wmma.{action}.{matrix}.sync.aligned.{layout}.{shape}{'' if generic else '.shared'}.{kind}"
    at, stride = f"[%{count}]", f"%{count + 1}"
    address = '"l"(smem' if generic else '"r"(base'
    given = f'{address} + offsets[0]), "r"(offsets[1])'
    if action == "load":
        outputs = ", ".join(f'"={letter}"(o[{n}])' for n in range(count))
        text = f'asm volatile("{opcode} {vector}, {at}, {stride};" : {outputs} : {given} : "memory");'
    else:
        inputs = ", ".join(f'"{letter}"(o[{n}])' for n in range(count))
        text = f'asm volatile("{opcode} {at}, {vector}, {stride};" : : {inputs}, {given} : "memory");'
    start = "o[n] = threadIdx.x + n;" if action == "store" else "o[n] = 0;"
    return (
        f"  {{ {of} o[{count}]; for (int n = 0; n < {count}; ++n) {start} {text} "
        f"for (int n = 0; n < {count}; ++n) sum += static_cast<unsigned>(o[n]); }}\n"
    )


def patterns(strides: tuple[int, ...]) -> Iterator[Pattern]:
    """One pattern per stride: a tile at the start of shared memory."""
    for stride in strides:
        yield placed(f"stride {stride}", np.array([0, stride] + 30 * [0]), np.zeros(32, int))


def all_recordings() -> Iterator[Recording]:
    """Every recording of shared memory: those of `measure.recordings`, and those of wmma after them."""
    yield from recordings()
    for instruction, strides in instructions():
        for pattern in patterns(strides):
            yield Recording(instruction, kernel_source(instruction), 0, pattern)
