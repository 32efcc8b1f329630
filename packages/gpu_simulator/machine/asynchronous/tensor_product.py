"""One tcgen05.mma: what it reads and writes, and its arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_simulator.arithmetic.rounding import canonical, round_to_f16
from gpu_simulator.hardware.exact_sums import SumRule, exact_sum
from gpu_simulator.hardware.instruction_descriptor import InstructionDescriptor
from gpu_simulator.machine.asynchronous import tensor_operands as operands

ALONE = 1 << 18  # up to so many multiplications OpenBLAS uses one thread; starting others would take longer


@dataclass(eq=False)
class Product:
    """One tcgen05.mma. what: its instruction descriptor.   blocks: resident blocks that multiply, the even one first.

    d, a: addresses in tensor memory; a is None if A is in shared memory.   index_a, index_b: 16-byte chunks of an
    operand, in a block's shared memory.   pieces: `tensor_operands.places` of D in a block.
    disabled: Boolean, lanes of D that keep their values, 128 for each block; or None.   scale: D is first multiplied by
    2^-scale.   number: among the operations of its thread, from 1.   form: kind, cta_group, .ws, whether A is in tensor
    memory.
    """

    site: int
    lane: int
    what: InstructionDescriptor
    form: tuple
    blocks: tuple[int, ...]
    d: int
    a: int | None
    index_a: np.ndarray | None
    index_b: np.ndarray
    pieces: tuple
    accumulates: bool
    scale: int
    disabled: np.ndarray | None
    number: int = 0
    done: bool = False
    kind = "mma"

    @property
    def key(self) -> tuple:
        """What two products must have in common to be done in order without a wait: accumulator, shape, kind."""
        return self.d, self.what.m, self.what.n, self.form

    @property
    def columns_of_a(self) -> int:
        return self.what.k * self.what.element_bytes // 4

    def tensor(self):
        """Yield (block, groups of 16 lanes, first column, columns, whether it writes) for its uses of tensor memory."""
        for block in self.blocks:
            for piece, _, groups in self.pieces:
                yield block, groups, self.d & 0xFFFF, piece.count, True
                if self.a is not None:
                    yield block, groups, self.a & 0xFFFF, self.columns_of_a, False

    def shared(self, stride: int) -> np.ndarray:
        """Positions of the 16-byte chunks of shared memory that it reads. stride: of a block, in such chunks."""
        parts = [index for index in (self.index_a, self.index_b) if index is not None]
        return np.concatenate([(part + block * stride).reshape(-1) for block in self.blocks for part in parts])

    def only_reads(self, other: Product) -> bool:
        """Whether another product of the same thread neither reads nor writes what this one writes."""
        return self.lane == other.lane and not any(
            mine[0] == its[0]
            and mine[2] < its[2] + its[3]
            and its[2] < mine[2] + mine[3]
            and not set(mine[1]).isdisjoint(its[1])
            for mine in self.tensor()
            if mine[4]
            for its in other.tensor()
        )

    def run(self, resident) -> None:
        """Execute the product."""
        what, view, stride = self.what, resident.shared.views[16], resident.shared_stride >> 4
        group = len(self.blocks)
        rule = resident.sum_rule("tcgen05", what.a, what.b, what.d)
        right = [
            operands.from_shared(view, self.index_b + block * stride, what.b_major, what.b) for block in self.blocks
        ]
        right = (right[0] if group == 1 else np.concatenate(right)).T
        if what.negate_b != what.negate_a:
            right = -right
        for rank, block in enumerate(self.blocks):
            cells, left = resident.tensor_memory.cells[block], None
            if self.a is None:
                left = operands.from_shared(view, self.index_a + block * stride, what.a_major, what.a)
            kept = None if self.disabled is None else self.disabled[128 * rank : 128 * rank + 128]
            for piece, lanes, _ in self.pieces:
                if self.a is not None:
                    left = operands.from_tensor_memory(
                        cells, lanes, self.a & 0xFFFF, what.k, what.element_bytes, what.a
                    )
                step = max(1, ALONE // left.size)
                for at in range(0, piece.count, step):
                    part = right[:, piece.first + at : piece.first + min(at + step, piece.count)]
                    self.put(cells, lanes, (self.d & 0xFFFF) + at, left, part, kept, rule)
        self.done = True

    def put(self, cells, lanes, column: int, a, b, kept, rule: SumRule | None) -> None:
        """D = A · B, or D · 2^-scale + A · B, in cells of 32 bits. kept: (128,) lanes that keep D, or None.

        rule: how the GPU sums; None for sums in float32.
        """
        kind, accumulate, scale = self.what.d, self.accumulates, self.scale
        columns = slice(column, column + b.shape[1])
        view = cells.view({"f32": np.float32, "s32": np.int32}.get(kind, np.uint32))
        if rule is None and isinstance(lanes, slice) and kind != "f16" and kept is None:
            target, product = view[lanes, columns], a @ b
            if accumulate and not scale:
                target += product
            elif accumulate:
                target *= np.float32(2.0**-scale)
                target += product
            else:
                target[...] = product
            if kind == "f32" and np.isnan(target.max()):
                target[...] = canonical(target)
            return
        index = lanes if isinstance(lanes, slice) else lanes[:, 0]
        old, before = view[index, columns], None
        if accumulate:
            before = old
            if kind == "f16":
                before = (old & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16).astype(np.float32)
            if scale:
                before = before * np.float32(2.0**-scale)
        if rule is not None:
            new = exact_sum(a, b, before, rule)
        else:
            new = canonical(a @ b if before is None else before + a @ b)
        if kind == "f16":
            half = round_to_f16(np.ascontiguousarray(new)).astype(np.float16).view(np.uint16)
            new = np.where(np.isnan(new), np.uint16(0x7FFF), half).astype(np.uint32)
        new = new.astype(view.dtype, copy=False)
        if kept is not None:
            new = np.where(kept[np.arange(128)[index]][:, None], old, new)
        view[index, columns] = new
