"""wgmma: a warpgroup multiplies 64 rows of A by up to 256 columns of B out of shared memory, asynchronously.

Products are summed in float32 (FP8 too, where the hardware keeps fewer bits of a sum), FP16 accumulators rounded after
each instruction. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".

What descriptors read costs one wavefront for each 128 bytes, of A and of B, in every instruction. Recorded on an H200
(memory_l1_wavefronts_shared of the Hopper ladder, results/profiles/h200/rungs.csv): 48 for an m64n128k16, 80 for an
m64n256k16, ideal the same; rows of B beyond the matrix, which TMA filled with zeros, are read like others. That is for
BF16, the 128-byte swizzle and K-major operands; for other layouts it is inferred.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_simulator.arithmetic.fp8 import decoded
from gpu_simulator.arithmetic.fragment_products import fragment_a
from gpu_simulator.codegen.registry import op
from gpu_simulator.faults import WarpgroupFault
from gpu_simulator.hardware.matrix_descriptor import CHUNK_BYTES, DescriptorError, chunk_addresses, decode_sm90, problem
from gpu_simulator.ptx.wgmma_forms import M, NoSuchForm, kind_of
from gpu_simulator.runtime import runtime

WAVEFRONT_BYTES = 128  # 32 banks of 4 bytes


@op(
    "wgmma",
    forms="mma_async m64nNk16 (f16, bf16), m64nNk8 (tf32), m64nNk32 (e4m3, e5m2, s8, u8), A from registers or "
    "shared memory, every swizzle, both majors; fence, commit_group, wait_group",
)
def wgmma(e, i):
    """Fences and groups; the products themselves are written by `warpgroup_code`."""
    e.allow("fence", "commit_group", "wait_group", "sync", "aligned")
    if "wait_group" in i.parts:
        wait(e, i)
    else:
        e.line(f"resident.warpgroups.{'fence' if 'fence' in i.parts else 'commit'}(lanes, {i.site})")


def wait(e, i) -> None:
    """wgmma.wait_group, and the registers of the sums that have landed."""
    e.line(f"resident.warpgroups.wait(lanes, {i.site}, {int(i.operands[0].text, 0)})")
    if len(i.operands) < 2:
        return
    numbers = tuple(r.index for r in i.operands[1].items)
    names = ", ".join(f"r{n}" for n in numbers)
    e.line("if resident.warpgroups.landed:")
    e.line(f"    ({names},) = resident.warpgroups.take(lanes, {i.site}, {numbers!r}, ({names},))")


def kind_at(e, i):
    """The form of a multiplication; raises `UnsupportedInstruction`."""
    try:
        return kind_of(i)
    except NoSuchForm as error:
        raise e.unsupported(str(error)) from None


def multiply(e, i, kind, held: str, out: str) -> None:
    """One wgmma.mma_async: accumulators from the matrix `held` to `out`."""
    a = "(" + ", ".join(f"r{n}" for n in kind.a) + ",)" if kind.a else e.read(i.operands[1], "b64")
    b, scale = e.read(i.operands[2], "b64"), e.read(i.operands[3], "pred")
    e.line(f"{out} = warpgroup_multiply(resident, lanes, {i.site}, {a}, {b}, {held}, {scale})")


@runtime
def warpgroup_multiply(resident, lanes, site, a, b, held, scale):
    """a: a descriptor, or registers.   b: a descriptor.   held: accumulators, (warps, 16, n).   scale: add them?"""
    kind = resident.program.warpgroup_kinds[site]
    groups = resident.warpgroups.groups(lanes, site)
    count, shared = len(groups), resident.warpgroups
    blocks = groups // shared.each
    words = [(_one_each(resident, lanes, site, b, "B"), kind.n, kind.major_b, kind.form[4])]
    if not kind.a:
        words.insert(0, (_one_each(resident, lanes, site, a, "A"), M, kind.major_a, kind.form[3]))
    sources = [_source(resident, site, groups, blocks, word, rows, major, kind) for word, rows, major, _ in words]
    counts = resident.sites[site]
    counts.requests += count
    read = count * sum(rows for _, rows, _, _ in words) * kind.k * kind.element_bytes
    counts.bytes += read
    counts.wavefronts += read // WAVEFRONT_BYTES
    counts.ideal += read // WAVEFRONT_BYTES
    fragments = None
    if kind.a:
        fragments = fragment_of(lanes, a, kind).reshape(count, M, kind.k)

    def product(where):
        left = fragments[where] if kind.a else _matrix(resident, sources[0], where, kind.major_a, kind.form[3])
        right = _matrix(resident, sources[-1], where, kind.major_b, kind.form[4])
        out = np.matmul(left, right.swapaxes(1, 2))
        return np.negative(out, out=out) if kind.sign < 0 else out

    return shared.issue(lanes, site, kind, held, _scales(scale, count), product, sources)


def fragment_of(lanes, registers, kind):
    """A out of registers: (warps, 16, k) float32."""
    form = kind.form
    if form[3] not in ("e4m3", "e5m2"):
        return fragment_a(lanes, registers, 1, form)
    codes = fragment_a(lanes, registers, 1, (*form[:3], "u8", *form[4:])).astype(np.uint8)
    return _table(form[3])[codes]


@lru_cache(maxsize=2)
def _table(kind: str) -> np.ndarray:
    return decoded(kind).astype(np.float32)


def _scales(scale, count: int) -> np.ndarray:
    return np.full(count, bool(scale)) if scale.ndim == 0 else scale.reshape(count, -1)[:, 0]


def _one_each(resident, lanes, site, word, name: str) -> list[int]:
    """The descriptor of each warpgroup; its threads have to agree on it."""
    groups = resident.warpgroups.groups(lanes, site)
    if word.ndim == 0:
        return [int(word)] * len(groups)
    rows = word.reshape(len(groups), -1)
    bad = (rows != rows[:, :1]).any(1)
    if bad.any():
        at = int(np.argmax(bad))
        who, other = resident.warpgroups.name(int(groups[at])), int(rows[at][rows[at] != rows[at, 0]][0])
        raise WarpgroupFault(
            f"{resident.describe(site)}: {who} gives several descriptors of {name}: {int(rows[at, 0]):#018x} and "
            f"{other:#018x}. All its warps have to give the same."
        )
    return rows[:, 0].tolist()


def _source(resident, site, groups, blocks, words, rows: int, major: str, kind) -> np.ndarray:
    """Where each warpgroup reads its operand: (groups, lines, chunks), in units of 16 bytes of shared memory."""
    found = {word: _chunks(word, rows, major, kind.k, kind.element_bytes, resident.shared.size) for word in set(words)}
    for at, word in enumerate(words):
        if isinstance(found[word], str):
            raise WarpgroupFault(
                f"{resident.describe(site)}: {resident.warpgroups.name(int(groups[at]))} gives the descriptor "
                f"{word:#018x}, {found[word]}."
            )
    inside = np.stack([found[word] for word in words]) if len(found) > 1 else found[words[0]][None]
    return inside + (blocks * (resident.shared_stride >> 4))[:, None, None]


@lru_cache(maxsize=1024)
def _chunks(word: int, rows: int, major: str, k: int, element_bytes: int, shared_bytes: int):
    """16-byte chunks from the start of shared memory, or what is wrong with the descriptor."""
    try:
        tile = decode_sm90(word, major)
    except DescriptorError as error:
        return "which " + str(error).removeprefix(f"The descriptor {word:#018x} ").rstrip(".")
    why = problem(tile, rows, k, element_bytes, shared_bytes)
    return f"but {why}" if why else chunk_addresses(tile, rows, k, element_bytes) // CHUNK_BYTES


def _matrix(resident, source: np.ndarray, where: np.ndarray, major: str, kind: str) -> np.ndarray:
    """(groups, rows along M or N, k) float32."""
    index = source if where.all() else source[where]
    bits = resident.shared.views[16][index]
    lines = bits.reshape(*bits.shape[:2], -1)
    if kind in ("e4m3", "e5m2"):
        values = _table(kind)[lines.view(np.uint8)]
    elif kind in ("s8", "u8"):
        values = lines.view(np.int8 if kind == "s8" else np.uint8).astype(np.float32)
    elif kind == "tf32":
        values = (lines.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    elif kind == "bf16":
        values = (lines.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    else:
        values = lines.view(np.float16).astype(np.float32)
    return values if major == "k" else values.swapaxes(1, 2)


__all__ = ["kind_at", "multiply", "wgmma"]
