"""Shadow memory: the last write and the last reads of each cell of a memory, by event and lane."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.registry import types_of
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS, LANE_MASK
from gpu_simulator.ptx.types import CODES, SIZE

WIDEST = 16
GLOBAL = ("ld", "ldu", "st", "atom", "red")  # instructions that access a few bytes of global memory for each lane
# Whether an asynchronous copy may still write (FILLED) or read (READ) a cell of shared memory.
FREE, FILLED, READ = 0, 1, 2


class Shadow:
    """Cells of 16 bytes, which are split when a narrower access occurs, so that every access covers whole cells.

    written, read: (cells,) `event << 32 | lane` of the last write and read; 0 for none.
    other_read: the same for a read by another lane than that of `read`.
    chains: by place, in bytes, what its last strong writes have published.
    """

    ROWS: tuple[str, ...] = ("written", "read", "other_read")
    BYTES_A_CELL = 24

    def __init__(self, size: int, account, warps_per_block: int):
        self.cell, self.account, self.taken, self.own = WIDEST, account, 0, warps_per_block
        self.count, self.chains = -(-size // WIDEST), {}
        self._take()
        self.written, self.read, self.other_read = (np.zeros(self.count, np.int64) for _ in range(3))

    def _take(self) -> None:
        """Report the memory to the account of the launch, before it is allocated."""
        needed = self.count * self.BYTES_A_CELL
        self.account(needed - self.taken)
        self.taken = needed

    def cells(self, index, width: int, lanes: int) -> np.ndarray:
        """(lanes, parts) numbers of the cells accessed. index: in elements of `width` bytes, one a lane or for all."""
        while self.cell > width:
            self.cell //= 2
            self.count *= 2
            self._take()
            for name in self.ROWS:
                setattr(self, name, np.repeat(getattr(self, name), 2, axis=0))
        parts = width // self.cell
        cells = np.broadcast_to(index, lanes)[:, None]
        return cells * parts + np.arange(parts) if parts > 1 else cells

    def note_read(self, cells, lanes, stamp) -> None:
        last = self.read[cells]
        self.read[cells] = stamp
        self._keep(cells, lanes, last)
        left = self.read[cells]  # if several lanes read one cell together, only one of them is stored
        if (left != stamp).any():
            self._keep(cells, left & LANE_MASK, np.broadcast_to(stamp, cells.shape))

    def _keep(self, cells, lanes, before) -> None:
        """Move the reads `before` to other_read if they were made by other lanes than the reads now in `read`."""
        moved = (before & LANE_MASK != lanes) & (before != 0)
        if moved.any():
            moved &= self._matters(cells, lanes, before, moved)
            self.other_read[cells[moved]] = before[moved]

    def _matters(self, cells, lanes, before, moved):
        """Which of the `moved` reads to store in other_read."""
        raise NotImplementedError

    def readers(self, cells, lanes):
        """Yield the reads that have to happen before a write by these lanes, in arrays shaped like `cells`."""
        yield self.read[cells]
        yield self.other_read[cells]


class SharedShadow(Shadow):
    """Shadow of shared memory, with the last read of every warp (`by_warp`) and with copies in flight (`pending`).

    mixed: (cells,) event of the last read that a read of another warp followed; only then does `by_warp` hold more
    than `read` and `other_read`.
    """

    ROWS = (*Shadow.ROWS, "by_warp", "mixed", "pending")

    def __init__(self, size: int, account, ordering):
        self.ordering = ordering
        self.BYTES_A_CELL = self.bytes_a_cell(ordering.span)
        super().__init__(size, account, ordering.span)
        self.by_warp = np.zeros((self.count, self.own), np.int32)  # events
        self.mixed = np.zeros(self.count, np.int32)
        self.pending = np.zeros(self.count, np.uint8)

    @staticmethod
    def bytes_a_cell(warps_per_cluster: int) -> int:
        return Shadow.BYTES_A_CELL + 5 + 4 * warps_per_cluster

    def _matters(self, cells, lanes, before, moved):
        one_warp = (before & LANE_MASK) >> 5 == lanes >> 5
        mixed = moved & ~one_warp
        if mixed.any():
            mixed &= before >> LANE_BITS > self.ordering.floor
            self.mixed[cells[mixed]] = before[mixed] >> LANE_BITS
        return one_warp  # reads by other warps are in `by_warp`

    def note_read(self, cells, lanes, stamp) -> None:
        super().note_read(cells, lanes, stamp)
        self.by_warp[cells, (lanes >> 5) % self.own] = stamp >> LANE_BITS

    def readers(self, cells, lanes):
        order, last = self.ordering, self.read[cells]
        if int(last.max(initial=0)) >> LANE_BITS <= order.floor:
            return
        yield last
        yield self.other_read[cells]
        several = np.flatnonzero((self.mixed[cells] > order.floor).any(1))
        if not len(several):
            return
        warps, events = lanes[several] >> 5, self.by_warp[cells[several]]
        late = events > order.known[warps - order.first]
        if late.any():
            which = late.argmax(2)
            event = np.where(late.any(2), np.take_along_axis(events, which[..., None], 2)[..., 0], 0)
            out = np.zeros(cells.shape, np.int64)
            out[several] = event.astype(np.int64) << LANE_BITS | (warps // self.own * self.own + which) * 32
            yield out


class GlobalShadow(Shadow):
    """Shadow of one array in global memory; `other_read` is a read by another block, if there was one.

    leaving: (cells,) what a bulk copy in flight may still do to each, see `global_copies`; None before the first.
    hidden: (cells,) as `written`, the last atomic update that one of another block followed; None before the first.
    unset: whether the array begins uninitialised, as the heap does, so that nothing may be read before it is written.
    """

    unset = False

    leaving: np.ndarray | None = None
    hidden: np.ndarray | None = None

    @classmethod
    def bytes_for(cls, sites, size: int, arrays: list[np.ndarray]) -> int:
        """An estimate of the bytes that shadows of `size` bytes take, `arrays` among them.

        sites: the instructions. A cell is as narrow as the narrowest access: taken as that of the elements of an array,
        or wider if no instruction accesses so few bytes; 4 bytes at most.
        """
        plain = [
            i for i in sites if i.family in GLOBAL and not {"shared", "shared__cta", "local", "param"} & {*i.parts}
        ]
        least = min((SIZE[CODES[kind]] for item in plain for kind in types_of(item.parts)[-1:]), default=4)
        cells = [array.nbytes // min(4, max(least, array.dtype.itemsize)) for array in arrays]
        return cls.BYTES_A_CELL * (sum(cells) + (size - sum(array.nbytes for array in arrays)) // 4)

    def leave(self, cells: np.ndarray, what: int) -> None:
        if self.leaving is None:
            self.account(self.count)
            self.leaving, self.ROWS = np.zeros(self.count, np.uint8), (*self.ROWS, "leaving")
            self.BYTES_A_CELL, self.taken = self.BYTES_A_CELL + 1, self.taken + self.count
        self.leaving[cells] = what

    def hide(self, cells, lanes, before) -> None:
        """Keep the updates `before` of cells where those that followed, by `lanes`, are of other blocks."""
        block = 32 * self.own
        other = ((before & LANE_MASK) // block != lanes // block) & (before >> LANE_BITS > ALWAYS)
        if not other.any():
            return
        if self.hidden is None:
            self.account(8 * self.count)
            self.hidden, self.ROWS = np.zeros(self.count, np.int64), (*self.ROWS, "hidden")
            self.BYTES_A_CELL, self.taken = self.BYTES_A_CELL + 8, self.taken + 8 * self.count
        self.hidden[cells[other]] = before[other]

    def _matters(self, cells, lanes, before, moved):
        kept, block = self.other_read[cells], lanes // (32 * self.own)
        foreign = (kept != 0) & ((kept & LANE_MASK) // (32 * self.own) != block)
        return ~foreign | ((before & LANE_MASK) // (32 * self.own) != block)
