"""tcgen05.mma, cp, shift and commit: operations are issued by one thread, done later, and reported to mbarriers.

With timing "early" an operation is done when it is issued. With "late" it is done when the arrival of a later commit is
needed, which is when no thread can continue without it. Operations of one block (of a pair, for cta_group::2) are done
in the order of their issue, also those that PTX does not order; the race detector reports these.
PTX ISA, "tcgen05.mma", "tcgen05.cp", "tcgen05.shift", "tcgen05.commit", "Pipelined Instructions".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_simulator.hardware.matrix_descriptor import DescriptorError
from gpu_simulator.hardware.tensor_memory_layout import LANES, QUARTER, copied
from gpu_simulator.machine.asynchronous import tensor_operands as operands
from gpu_simulator.machine.asynchronous.tensor_moves import Copy, Operation, Shift
from gpu_simulator.machine.asynchronous.tensor_product import Product
from gpu_simulator.machine.asynchronous.transfers import Load

_NOTHING = np.zeros(0, np.int64)


@dataclass(eq=False)
class PendingStore:
    """A tcgen05.st that its warp has not waited for."""

    warp: int
    run: Callable[[], None]


class TensorCores:
    """The tensor cores of one group of resident blocks."""

    def __init__(self, resident):
        self.resident = resident
        self.late = resident.launch.timing == "late"
        self.queue: dict[int, list[Operation]] = {}  # by the first block of a pair
        self.issued: dict[int, int] = {}  # by lane: operations so far
        self.pending: dict[int, list[Operation]] = {}  # by lane: those that are not done
        self.stores: list[PendingStore] = []

    # ---- tcgen05.mma ----

    def multiply(
        self, site: int, lane: int, d: int, a: int, b: int, word: int, disabled, accumulate: bool, scale: int,
        form: tuple,
    ) -> None:  # fmt: skip
        """Issue a tcgen05.mma. Raises `TensorMemoryFault` for invalid descriptors and addresses.

        d: address in tensor memory.   a, b: matrix descriptors; a is an address if A is in tensor memory.
        word: instruction descriptor.   form: kind, cta_group, .ws, whether A is in tensor memory.
        disabled, scale: as in `Product`.
        """
        kind, group, ws, inside = form
        resident, memory = self.resident, self.resident.tensor_memory
        blocks = self.blocks(site, lane, group)
        try:
            what = operands.instruction(word, kind, group, ws, inside)
            rows, size = (what.m // group, what.n // group), resident.shared.size
            index_a = None if inside else operands.chunks(a, what.a_major, rows[0], what.k, what.element_bytes, size)
            index_b = operands.chunks(b, what.b_major, rows[1], what.k, what.element_bytes, size)
        except DescriptorError as error:
            raise memory.fault(site, lane, f"issues tcgen05.mma. {error}") from None
        self.check_lanes(site, lane, d, a if inside else None, what, form)
        places = operands.places(what.m, what.n, group, ws, d >> 16)
        factors = a if inside else None, index_a, index_b
        product = Product(site, lane, what, form, blocks, d, *factors, places, accumulate, scale, disabled)
        self.issue(product, group * (rows[0] * (not inside) + rows[1]) * what.k * what.element_bytes)

    def issue(self, operation: Operation, read: int) -> None:
        """Give an operation its number and execute it, now or later. read: bytes of shared memory that it reads.

        Raises `TensorMemoryFault` if it uses columns that are not allocated.
        """
        resident, lane = self.resident, operation.lane
        for block, _, column, columns, _ in operation.tensor():
            resident.tensor_memory.check(operation.site, lane, block, column, columns)
        resident.sites[operation.site].bytes += read
        self.issued[lane] = operation.number = self.issued.get(lane, 0) + 1
        for observer in resident.observers:
            observer.tcgen05_issued(operation)
        if self.late:
            self.pending.setdefault(lane, []).append(operation)
            self.queue.setdefault(operation.blocks[0], []).append(operation)
        else:
            operation.run(resident)

    def check_lanes(self, site: int, lane: int, d: int, a: int | None, what, form: tuple) -> None:
        """Raise `TensorMemoryFault` unless D, and A in tensor memory, begin at a lane that is allowed for them."""
        first, (_, group, ws, _), fault = d >> 16, form, self.resident.tensor_memory.fault
        if not operands.fits(what.m, group, ws, first):
            also = " or 16" if operands.fits(what.m, group, ws, 16) else ""
            raise fault(
                site,
                lane,
                f"accumulates in tensor memory from lane {first} on (address {d:#x}); D of "
                f"M = {what.m} begins at lane 0{also}.",
            )
        if a is not None and (a >> 16 != first or what.a_major != "k"):
            raise fault(
                site,
                lane,
                f"reads A in tensor memory at {a:#x}: A begins at the lane of D, {first}, and is "
                "K-major (bit 15 of the instruction descriptor is 0).",
            )

    # ---- tcgen05.cp and tcgen05.shift ----

    def copy(self, site: int, lane: int, address: int, word: int, form: tuple) -> None:
        """Issue a tcgen05.cp. Raises `TensorMemoryFault` for an invalid descriptor or address.

        address: in tensor memory.   word: matrix descriptor.   form: shape, multicast, cta_group.
        """
        shape, multicast, group = form
        resident, what = self.resident, copied(shape, multicast)
        bytes_of_row = 4 * what.columns
        if shape != "4x256b" and address >> 16 or address >> 16 >= QUARTER or address & 3:
            lanes = "a lane from 0 to 31" if shape == "4x256b" else "lane 0"
            raise resident.tensor_memory.fault(
                site,
                lane,
                f"copies to tensor memory at {address:#x}: tcgen05.cp.{shape} begins at {lanes}, and at a "
                "column that is a multiple of 4.",
            )
        try:
            index = operands.chunks(word, "k", what.rows, bytes_of_row, 1, resident.shared.size)
        except DescriptorError as error:
            raise resident.tensor_memory.fault(site, lane, f"issues tcgen05.cp. {error}") from None
        new = Copy(site, lane, shape, what, self.blocks(site, lane, group), address, index)
        self.issue(new, group * what.rows * bytes_of_row)

    def shift(self, site: int, lane: int, address: int, group: int) -> None:
        """Issue a tcgen05.shift.down. Raises `TensorMemoryFault` for an invalid address in tensor memory."""
        first = address >> 16
        if first % QUARTER or first >= LANES or address & 7:
            raise self.resident.tensor_memory.fault(
                site,
                lane,
                f"shifts rows of tensor memory at {address:#x}: the lane has to be 0, 32, 64 or 96, and the column a "
                "multiple of 8, because the rows consist of 32 bytes.",
            )
        self.issue(Shift(site, lane, self.blocks(site, lane, group), address), 0)

    def blocks(self, site: int, lane: int, group: int) -> tuple[int, ...]:
        """The resident blocks that an operation of a lane works on. group: of .cta_group."""
        own = int(self.resident.block_of_lane[lane])
        return (own,) if group == 1 else self.resident.tensor_memory.pair(site, lane, own)

    # ---- tcgen05.commit ----

    def commit(self, site: int, lane: int, keys) -> None:
        """Arrive at each of the mbarriers `keys` when everything that the thread has issued so far is done."""
        resident = self.resident
        tracked = [one for one in self.pending.get(lane, ()) if not one.done]
        self.pending[lane] = list(tracked)
        for key in keys:
            barrier = resident.mbarriers.find(site, lane, key)
            load = Load(site, lane, key, 0, lambda: self.finish_operations(tracked), _NOTHING, barrier.phase)
            load.products = self.issued.get(lane, 0)
            for observer in resident.observers:
                observer.tcgen05_committed(load, barrier)
            resident.transfers.load(load)

    def finish_operations(self, operations: list[Operation]) -> None:
        """Execute these operations, and those of the same block that were issued before them."""
        for last in operations[::-1]:
            if last.done:
                continue
            queue = self.queue[last.blocks[0]]
            count = queue.index(last) + 1
            for operation in queue[:count]:
                operation.run(self.resident)
            del queue[:count]

    # ---- tcgen05.ld and tcgen05.st ----

    def store(self, warp: int, run) -> None:
        if self.late:
            self.stores.append(PendingStore(warp, run))
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
        """Execute what no thread has waited for; called when every thread has ended."""
        for queue in self.queue.values():
            for operation in queue:
                operation.run(self.resident)
        self.wait_stores([store.warp for store in self.stores])
