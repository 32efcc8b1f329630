"""tcgen05.mma and tcgen05.commit: products are issued by one thread, done later, and reported to mbarriers.

With timing "early" a product is done when it is issued. With "late" it is done when the arrival of a commit behind it
is needed: when every thread that could go on has gone as far as it can. Products of one block (of a pair, for
cta_group::2) are done in the order of their issue. PTX ISA, "tcgen05.mma", "tcgen05.commit", "Pipelined Instructions".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gemm_lab.emulator import tensor_operands as operands
from gemm_lab.emulator.ops.rounding import round_to_f16
from gemm_lab.emulator.transfers import Load
from gemm_lab.model.matrix_descriptor import DescriptorError

ALONE = 1 << 18  # multiplications up to which OpenBLAS starts no second thread, which would cost more than it brings
_NOTHING = np.zeros(0, np.int64)


@dataclass(eq=False)
class Product:
    """One tcgen05.mma. run: does it.   blocks: of the chunk whose tensor memory it writes.

    shared: index of the 16-byte chunks of the chunk's shared memory that it reads.
    tensor: (block, groups of 16 lanes, first column, columns, whether it writes) of the cells that it touches.
    key: what has to be the same for products to be done in order without a wait.
    number: of the products of its thread.   touch: its number in the search for hazards.
    """

    k: int
    lane: int
    blocks: tuple[int, ...]
    run: Callable[[], None]
    shared: np.ndarray
    tensor: tuple
    key: tuple
    accumulates: bool
    number: int
    done: bool = False
    touch: int = 0

    def only_reads(self, other: Product) -> bool:
        """Whether it reads from tensor memory what the other, issued by the same thread, writes, and nothing more."""
        return self.lane == other.lane and not _overlap(self, other, True, True) and not _overlap(self, other, True,
                                                                                                  False)


def _overlap(old: Product, new: Product, old_writes: bool, new_writes: bool) -> bool:
    """Whether cells that `old` writes (or reads) are among those that `new` writes (or reads)."""
    return any(
        a[0] == b[0] and a[2] < b[2] + b[3] and b[2] < a[2] + a[3] and not set(a[1]).isdisjoint(b[1])
        for a in old.tensor if a[4] == old_writes for b in new.tensor if b[4] == new_writes
    )


@dataclass(eq=False)
class Store:
    """A tcgen05.st that its warp has not waited for."""

    warp: int
    run: Callable[[], None]


class TensorCores:
    """Those of one chunk."""

    def __init__(self, chunk):
        self.chunk = chunk
        self.late = chunk.launch.timing == "late"
        self.queue: dict[int, list[Product]] = {}  # by the first block of a pair
        self.issued: dict[int, int] = {}  # by lane: products so far
        self.pending: dict[int, list[Product]] = {}  # by lane: those that are not done
        self.stores: list[Store] = []

    # ---- tcgen05.mma ----

    def multiply(self, k: int, lane: int, d: int, a: int, b: int, word: int, disable, accumulate: bool, scale: int,
                 form: tuple) -> None:
        """form: kind, cta_group, .ws, whether A lies in tensor memory.   disable: bits of lanes, or None."""
        kind, group, ws, a_inside = form
        chunk, memory = self.chunk, self.chunk.tensor_memory
        own = int(chunk.block_of_lane[lane])
        blocks = (own,) if group == 1 else memory.pair(k, lane, own)
        try:
            what = operands.instruction(word, kind, group, ws)
            rows_a, rows_b = what.m // group, what.n // group
            index_a = None if a_inside else operands.chunks(
                a, what.a_major, rows_a, what.k, what.element_bytes, chunk.shared.size)
            index_b = operands.chunks(b, what.b_major, rows_b, what.k, what.element_bytes, chunk.shared.size)
        except DescriptorError as error:
            raise memory.fault(k, lane, f"issues tcgen05.mma. {error}") from None
        first, column = d >> 16, d & 0xFFFF
        if not operands.fits(what.m, group, ws, first):
            raise memory.fault(k, lane, f"accumulates in tensor memory from lane {first} on (address {d:#x}); D of "
                             f"M = {what.m} begins at lane 0{' or 16' if what.m == 64 and not ws else ''}.")
        pieces, wide_a = operands.places(what.m, what.n, group, ws, first), what.k * what.element_bytes // 4
        touched = []
        for block in blocks:
            memory.check(k, lane, block, column, pieces[0][0].count)
            touched += [(block, groups, column, piece.count, True) for piece, _, groups in pieces]
            if a_inside:
                if a >> 16 != first or what.a_major != "k":
                    raise memory.fault(k, lane, f"reads A in tensor memory at {a:#x}: A begins at the lane of D, "
                                     f"{first}, and is K-major (bit 15 of the instruction descriptor is 0).")
                memory.check(k, lane, block, a & 0xFFFF, wide_a)
                touched += [(block, groups, a & 0xFFFF, wide_a, False) for _, _, groups in pieces]
        chunk.sites[k].bytes += group * (rows_a * (not a_inside) + rows_b) * what.k * what.element_bytes
        shifts = [block * (chunk.shared_stride >> 4) for block in blocks]
        shared = np.concatenate([(index + shift).reshape(-1) for shift in shifts for index in (index_a, index_b)
                                 if index is not None]) if chunk.hazards is not None else _NOTHING

        def run():
            view = chunk.shared.views[16]
            right = [operands.from_shared(view, index_b + shift, what.b_major, what.element_bytes, what.b)
                     for shift in shifts]
            right = (right[0] if group == 1 else np.concatenate(right)).T
            if what.negate_b != what.negate_a:
                right = -right
            for block, shift in zip(blocks, shifts, strict=True):
                cells = memory.cells[block]
                left = None if a_inside else operands.from_shared(
                    view, index_a + shift, what.a_major, what.element_bytes, what.a)
                for piece, lanes, _ in pieces:
                    if a_inside:
                        left = operands.from_tensor_memory(cells, lanes, a & 0xFFFF, what.k, what.element_bytes, what.a)
                    bits = None if disable is None else disable[128 * (block == blocks[-1] and group == 2) :][:128]
                    step = max(1, ALONE // left.size)
                    for at in range(0, piece.count, step):
                        part = right[:, piece.first + at : piece.first + min(at + step, piece.count)]
                        put(cells, lanes, column + at, left @ part, what.d, accumulate, scale, bits)

        self.issued[lane] = self.issued.get(lane, 0) + 1
        product = Product(k, lane, blocks, run, shared, tuple(touched), (d, what.m, what.n, kind, group, ws),
                          accumulate, self.issued[lane])
        if chunk.hazards is not None:
            chunk.hazards.tensor.issued(product)
        if self.late:
            self.pending.setdefault(lane, []).append(product)
            self.queue.setdefault(blocks[0], []).append(product)
        else:
            self.do(product)

    def do(self, product: Product) -> None:
        product.run()
        product.done, product.run = True, None

    # ---- tcgen05.commit ----

    def commit(self, k: int, lane: int, keys) -> None:
        """An arrival at each of the mbarriers `keys` when what the thread has issued so far is done."""
        chunk = self.chunk
        tracked = [one for one in self.pending.get(lane, ()) if not one.done]
        self.pending[lane] = list(tracked)
        for key in keys:
            barrier = chunk.mbarriers.find(k, lane, key)
            load = Load(k, lane, key, 0, lambda: self.finish_products(tracked), _NOTHING, barrier.phase)
            load.products = self.issued.get(lane, 0)
            if chunk.hazards is not None:
                chunk.hazards.tensor.commits(load, barrier)
            chunk.transfers.load(load)

    def finish_products(self, products: list[Product]) -> None:
        """Do these products, and those of the same block that were issued before them."""
        for last in products[::-1]:
            if last.done:
                continue
            queue = self.queue[last.blocks[0]]
            count = queue.index(last) + 1
            for product in queue[:count]:
                self.do(product)
            del queue[:count]

    # ---- tcgen05.ld and tcgen05.st ----

    def store(self, warp: int, run) -> None:
        if self.late:
            self.stores.append(Store(warp, run))
        else:
            run()

    def wait_stores(self, warps) -> None:
        """tcgen05.wait::st of some warps."""
        if self.stores:
            some = set(warps)
            for store in self.stores:
                if store.warp in some:
                    store.run()
            self.stores = [store for store in self.stores if store.warp not in some]

    def finish(self) -> None:
        """Every thread has ended: what nobody waited for is done, too."""
        for queue in self.queue.values():
            for product in queue:
                self.do(product)
        self.wait_stores([store.warp for store in self.stores])


def put(cells, lanes, column: int, product, kind: str, accumulate: bool, scale: int, disabled) -> None:
    """D = product, or D · 2^-scale + product, in cells of 32 bits. disabled: (128) lanes that keep theirs, or None."""
    columns = slice(column, column + product.shape[1])
    view = cells.view({"f32": np.float32, "s32": np.int32}.get(kind, np.uint32))
    if isinstance(lanes, slice) and kind != "f16" and disabled is None:
        target = view[lanes, columns]
        if accumulate and not scale:
            target += product
        elif accumulate:
            target *= np.float32(2.0**-scale)
            target += product
        else:
            target[...] = product
        return
    index = lanes if isinstance(lanes, slice) else lanes[:, 0]
    old = view[index, columns]
    before = (old & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16).astype(np.float32) if kind == "f16" else old
    new = before * np.float32(2.0**-scale) + product if scale and accumulate else (
        before + product if accumulate else product)
    if kind == "f16":
        new = round_to_f16(np.ascontiguousarray(new)).astype(np.float16).view(np.uint16).astype(np.uint32)
    new = new.astype(view.dtype, copy=False)
    if disabled is not None:
        kept = disabled[np.arange(128)[index]]
        new = np.where(kept[:, None], old, new)
    view[index, columns] = new
