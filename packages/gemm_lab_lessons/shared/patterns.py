"""Kernels with one instruction, and the address patterns for measuring shared memory with them.

Every kernel is one warp that executes one shared-memory instruction at `base + offsets[lane]`. The same kernels run on
the GPU under Nsight Compute (`python -m tools.recording counters`) and on the simulator (in tests); both must give the
same counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

SMEM_BYTES = 32768
SOURCE_BYTES = 1 << 20
LEADING_BYTES = 4096  # distance of two rows of a tile in global memory

# Name -> (bytes per lane, asm text, number of outputs). In the text, o0… are outputs, i0 is an input, and address and
# source are the shared and the global address.
INSTRUCTIONS: dict[str, tuple[int, str, int]] = {
    "ld.shared.u32": (4, "ld.shared.u32 {o0}, [{address}];", 1),
    "ld.shared.v2.u32": (8, "ld.shared.v2.u32 {{{o0}, {o1}}}, [{address}];", 2),
    "ld.shared.v4.u32": (16, "ld.shared.v4.u32 {{{o0}, {o1}, {o2}, {o3}}}, [{address}];", 4),
    "st.shared.u32": (4, "st.shared.u32 [{address}], {i0};", 0),
    "st.shared.v2.u32": (8, "st.shared.v2.u32 [{address}], {{{i0}, {i0}}};", 0),
    "st.shared.v4.u32": (16, "st.shared.v4.u32 [{address}], {{{i0}, {i0}, {i0}, {i0}}};", 0),
    "ldmatrix.x1": (16, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{{o0}}}, [{address}];", 1),
    "ldmatrix.x2": (16, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{{o0}, {o1}}}, [{address}];", 2),
    "ldmatrix.x4": (16, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{o0}, {o1}, {o2}, {o3}}}, [{address}];", 4),
    "ldmatrix.x4.trans": (
        16,
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{{o0}, {o1}, {o2}, {o3}}}, [{address}];",
        4,
    ),
    "stmatrix.x2": (16, "stmatrix.sync.aligned.m8n8.x2.shared.b16 [{address}], {{{i0}, {i0}}};", 0),
    "stmatrix.x4": (16, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [{address}], {{{i0}, {i0}, {i0}, {i0}}};", 0),
    "cp.async.ca.4": (4, "cp.async.ca.shared.global [{address}], [{source}], 4;", 0),
    "cp.async.ca.8": (8, "cp.async.ca.shared.global [{address}], [{source}], 8;", 0),
    "cp.async.ca.16": (16, "cp.async.ca.shared.global [{address}], [{source}], 16;", 0),
    "cp.async.cg.16": (16, "cp.async.cg.shared.global [{address}], [{source}], 16;", 0),
}
COPIES = [name for name in INSTRUCTIONS if name.startswith("cp.async")]
# Forms in which each lane gives a length, 0 or all bytes: with length 0 a lane is idle (.some) or fills with zeros. For
# the latter, ptxas makes three different instructions. In .zfill it cannot know that the length is 0 or all bytes, and
# sets a flag of the instruction. The other two have a predicate: .select copies if its register is set, .unless if not.
PARTIAL: dict[str, tuple[int, str, int]] = {}
for _name in COPIES:
    _width, _text, _ = INSTRUCTIONS[_name]
    PARTIAL[_name + ".some"] = _width, _text, 0
    for _form in (".zfill", ".select", ".unless"):
        PARTIAL[_name + _form] = _width, _text.replace(";", ", {length};"), 0


@dataclass(frozen=True)
class Pattern:
    """The addresses of one access, as arrays of 32 lanes.

    shared: byte offsets in shared memory.   source: byte offsets in global memory, for cp.async.
    lengths: bytes that each lane reads, if not all lanes read their full width.
    """

    name: str
    shared: np.ndarray
    source: np.ndarray
    lengths: np.ndarray | None = None


def kernel_source(instruction: str) -> str:
    """CUDA source of the one-warp kernel for an instruction; parameters: offsets, sources, data, out (and lengths)."""
    width, text, outputs = (INSTRUCTIONS | PARTIAL)[instruction]
    results = ", ".join(f'"=r"(o[{i}])' for i in range(outputs))
    names = {f"o{i}": f"%{i}" for i in range(outputs)}
    names |= {"address": f"%{outputs}", "i0": f"%{outputs + 1}", "source": f"%{outputs + 1}"}
    extra = ""
    if "{i0}" in text:
        extra = ', "r"(0x3c003c00u + threadIdx.x)'
    if "{source}" in text:
        extra = ', "l"(data + sources[threadIdx.x])'
    if "{length}" in text:
        length = {
            "select": f"lengths[threadIdx.x] ? {width} : 0",
            "zfill": "lengths[threadIdx.x]",
            "unless": f"lengths[threadIdx.x] == {width} ? {width} : 0",
        }[instruction.rsplit(".", 1)[1]]
        extra, names["length"] = f'{extra}, "r"({length})', f"%{outputs + 2}"
    inputs = '"r"(base + offsets[threadIdx.x])' + extra
    more = ", const unsigned* lengths" if instruction in PARTIAL else ""
    condition = "if (lengths[threadIdx.x]) " if instruction.endswith(".some") else ""
    finish = 'asm volatile("cp.async.wait_all;" ::: "memory");' if instruction.startswith("cp.async") else ""
    return f"""extern "C" __global__ void __launch_bounds__(32)
gemm(const unsigned* offsets, const unsigned* sources, const unsigned char* data, unsigned* out{more}) {{
  __shared__ __align__(1024) unsigned char smem[{SMEM_BYTES}];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(smem));
  unsigned o[4] = {{}};
  {condition}asm volatile("{text.format(**names)}" : {results} : {inputs} : "memory");
  {finish}
  out[threadIdx.x] = o[0] ^ o[1] ^ o[2] ^ o[3];
}}
"""


def patterns(width: int) -> Iterator[Pattern]:
    """Structured and random patterns of `width`-byte accesses, which are the same each time.

    Tiles have rows of 64, 128 and 256 bytes, plain, padded by 16 and 32 bytes, or swizzled by an XOR. Lanes follow a
    row, as in a copy, or a column, as in ldmatrix.
    """
    lane = np.arange(32)
    for stride in (1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33):
        yield placed(f"stride {stride}", lane * stride * width, lane * width)
    yield placed("one address", 0 * lane, 0 * lane)
    yield placed("pairs", lane // 2 * width, lane // 2 * width)
    yield placed("halves", lane // 16 * 2048, lane * width)
    yield placed("reversed", (31 - lane) * width, lane * width)
    for data in (64, 128, 256):
        for pad in (0, 16, 32):
            for layout in ("plain", "xor") if pad == 0 else ("padded",):
                yield from _tile(width, data, data + pad, layout)
    random = np.random.default_rng(width)
    for number in range(10):
        place = random.integers(0, 8192 // width, 32) * width
        yield placed(f"random {number}", place, random.permutation(32) * width)
    for number in range(6):
        yield placed(f"permuted {number}", random.permutation(32) * width, lane * width)
    own = np.random.default_rng(width + 1000)
    for number in range(2):
        place = own.integers(0, 8192 // width, 32) * width
        yield placed(f"equal pairs {number}", place[lane & ~1], lane * width)
        yield placed(f"pairs two apart {number}", place[lane & ~2], lane * width)
        yield placed(f"pairs four apart {number}", place[lane & ~4], lane * width)
        yield placed(f"pairs in one half {number}", np.where(lane < 16, place[lane & ~1], place), lane * width)
        yield placed(f"mixed pairs {number}", place[np.where(lane < 16, lane & ~1, lane & ~2)], lane * width)
    for number in range(6):
        few = random.integers(0, 8192 // width, 6) * width
        yield placed(f"few {number}", random.choice(few, 32), random.integers(0, 2048, 32) * width)


def walks(columns: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The rows and columns that 32 lanes use in tiles with so many columns, by the name of the access."""
    lane = np.arange(32)
    return {
        "rows": (lane // columns, lane % columns),
        "column 0": (lane, 0 * lane),
        "column 1": (lane, 0 * lane + 1),
        "second rows": (lane // columns + 3, lane % columns),
    }


def _tile(width: int, data: int, row_bytes: int, layout: str) -> Iterator[Pattern]:
    for walk, (row, column) in walks(data // width).items():
        byte = column * width
        if layout == "xor":
            chunk = byte // 16 ^ (row % 8 if data >= 128 else row // 2 % 4)
            byte = chunk * 16 + byte % 16
        yield placed(
            f"{row_bytes}-byte rows, {layout}, {walk}", row * row_bytes + byte, row * LEADING_BYTES + column * width
        )


def placed(name: str, shared: np.ndarray, source: np.ndarray, lengths: np.ndarray | None = None) -> Pattern:
    """A pattern whose offsets are wrapped to the sizes of the kernel's shared memory and of its source."""
    return Pattern(
        name,
        (shared % SMEM_BYTES).astype(np.uint32),
        (source % SOURCE_BYTES).astype(np.uint32),
        None if lengths is None else lengths.astype(np.uint32),
    )
