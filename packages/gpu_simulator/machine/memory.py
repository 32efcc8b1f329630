"""The memories: addresses are checked, converted to indices, and counted. Data are bytes, with a view of each width."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from gpu_simulator.faults import MemoryFault
from gpu_simulator.machine.address_space import BELOW_LINE, GLOBAL_BASE, LINE_BYTES, Placement, align_up
from gpu_simulator.machine.counting import count_shared, sectors_of
from gpu_simulator.machine.heap import FREED, Heap
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.ir import Variable
from gpu_simulator.ptx.source_names import SourceNames

# Element type of each width. 16 bytes are a complex number, which NumPy copies without changing bits.
ELEMENT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
SHIFT = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4}
PARAMETERS = "the kernel's parameters"
SCALAR = 8  # bytes of one number, at most
WORD = 4
NULL = 0x100  # addresses below are null pointers, with an offset in a structure perhaps


def views_of(data: np.ndarray) -> dict:
    """Width -> a view of the same bytes as elements of that width."""
    return {width: data.view(dtype) for width, dtype in ELEMENT.items()}


def picked_lanes(lanes, mask):
    """Positions of the executing lanes, or None for all of them."""
    if mask is None:
        return None
    return lanes.picked if mask is lanes.mask else np.flatnonzero(mask)


class BlockMemory:
    """Memory of which every block (shared) or thread (local) has its own part. Indices count over all parts.

    stride: bytes from one part to the next.   size: bytes of a part that may be used.
    written: whether each byte holds a value that has been written; None if that is not followed.
    """

    space = "shared"

    def __init__(self, resident, parts: int, stride: int, size: int):
        self.resident, self.stride, self.size = resident, stride, size
        self.data = np.zeros(align_up(parts * stride + 16, 16), np.uint8)
        self.views = views_of(self.data)
        self.written = None
        if self.space in resident.program.unwritten.memories:  # what is left of shared memory is the race detector's
            self.written = np.full(len(self.data), self.space == "shared")

    def bytes_of(self, lanes, address, width: int) -> np.ndarray:
        """(lanes.n, width) indices of the bytes that an access of each lane uses; -1 outside of the memory."""
        at = np.broadcast_to(address, lanes.n).astype(np.int64)
        first = np.where(at + width <= self.size, at + lanes.offsets(self.space), -width)
        return np.maximum(first[:, None] + np.arange(width), -1)

    def resolve(self, lanes, site: int, address, mask, width: int, kind: str = "shared"):
        """Check the addresses of an access, and count it. Raises `MemoryFault` if one is out of bounds or misaligned.

        Returns (index, picked): indices of elements of `width` bytes, and positions of the executing lanes (None: all).
        Returns None if no lane executes.
        """
        resident = self.resident
        counts = resident.sites[site]
        whole = mask is lanes.mask
        scalar = address.ndim == 0
        if whole:
            key = (id(lanes), int(address) if scalar else int(address[0]))
            entry = counts.cache.get(key)
            if entry is not None and entry[0] is lanes and (entry[1] is address or (entry[1] == address).all()):
                counts.wavefronts += entry[4]
                counts.ideal += entry[5]
                counts.requests += entry[6]
                counts.bytes += entry[7]
                return entry[2], entry[3]
        picked = picked_lanes(lanes, mask)
        if picked is not None and not picked.size:
            return None
        used = address if picked is None or scalar else address[picked]
        low = int(used) if scalar else int(used.min())
        self.check_used(lanes, site, address, picked, used, width)
        offsets = lanes.offsets(self.space)
        if picked is not None:
            offsets = offsets[picked]
        if scalar and resident.blocks == 1 and self.space == "shared":
            index = np.int64(low >> SHIFT[width])
        else:
            index = (used.astype(np.int64) + offsets) >> SHIFT[width]
        before = counts.wavefronts, counts.ideal, counts.requests, counts.bytes
        self.count(counts, lanes, address, mask, width, kind)
        if whole:
            if len(counts.cache) >= 64:
                counts.cache.clear()
            counts.cache[key] = (
                lanes,
                address,
                index,
                picked,
                counts.wavefronts - before[0],
                counts.ideal - before[1],
                counts.requests - before[2],
                counts.bytes - before[3],
            )
        return index, picked

    def check(self, lanes, site: int, address, mask, width: int) -> None:
        """Raise `MemoryFault` if the executing lanes cannot access `width` bytes at their addresses."""
        picked = picked_lanes(lanes, mask)
        used = address if picked is None or address.ndim == 0 else address[picked]
        self.check_used(lanes, site, address, picked, used, width)

    def check_used(self, lanes, site: int, address, picked, used, width: int) -> None:
        if (last := int(used.max()) + width) > self.size and last > whole_words(self.resident, site, width, self.size):
            self.out_of_bounds(lanes, site, address, picked, width)
        if width > 1 and int(np.bitwise_or.reduce(used, axis=None)) & (width - 1):
            misaligned(self.resident, lanes, site, self.space, address, picked, width)

    def count(self, counts, lanes, address, mask, width: int, kind: str) -> None:
        if kind != "uncounted":
            count_shared(self.resident, counts, lanes, address, mask, width, kind)

    def out_of_bounds(self, lanes, site, address, picked, width):
        resident = self.resident
        addresses = np.broadcast_to(address, lanes.n).astype(np.uint64)
        positions = np.arange(lanes.n) if picked is None else picked
        bad = positions[(addresses[positions] >= self.size) | (addresses[positions] + np.uint64(width) > self.size)][0]
        at, program = int(addresses[bad]), resident.program
        variable = nearest_variable(resident, self.space, at)
        element = nearest = ""
        if variable is not None:
            name, start = source_name(variable.name), program.address(variable)
            size = f" and has {variable.size:,} bytes" if variable.size else ""
            nearest = f" (nearest: {name}, which begins at {start:,}{size})"
            element = resident.launch.names.shared_element(name, at - start) if self.space == "shared" else ""
            if self.space == "shared" and not variable.size:
                needs = at + width - program.dynamic_offset
                nearest = (
                    f": the launch gives the extern __shared__ array {name} {resident.launch.dynamic_smem:,}, and this "
                    f"access needs {needs:,}, which is dynamic_smem_bytes={needs} or in a terminal --smem {needs}"
                )
        raise MemoryFault(
            f"{resident.name_lane(int(lanes.lane_numbers()[bad]))} accessed {width} bytes at {self.space} address "
            f"{at:,},{would_be(element)} but its {self.space} memory has {self.size:,} bytes{nearest}; "
            f"{resident.describe(site)}."
        )


class SharedMemory(BlockMemory):
    """Shared memory of the resident blocks. Initially it holds NaN in every format; on a GPU it may hold anything.

    The bytes that the system reserves are 0, as they were on an H200, and as cooperative groups need them.
    """

    def __init__(self, resident):
        super().__init__(resident, resident.blocks, resident.shared_stride, resident.launch.smem_bytes)
        self.data.fill(0xFF)
        parts = self.data[: resident.blocks * self.stride].reshape(resident.blocks, self.stride)
        parts[:, : resident.program.reserved] = 0

    def split(self, site: int, lanes: np.ndarray, at: np.ndarray):
        """(resident blocks, offsets) of the shared addresses that some lanes use."""
        return self.resident.block_of_lane[lanes], at.astype(np.int64)

    def check_there(self, site: int, lanes, blocks) -> None:
        """Nothing to check without clusters, because lanes use only the memory of their own block."""

    def used(self, site: int, lanes, blocks) -> None:
        """Nothing to tell observers without clusters, because lanes use only the memory of their own block."""

    def place(self, lane: int, address: int) -> tuple[int, int]:
        """(resident block, offset) of one address that is known to be valid."""
        return int(self.resident.block_of_lane[lane]), address


class LocalMemory(BlockMemory):
    """Local memory, one part for each thread. Initially it holds NaN in every format; on a GPU it may hold anything."""

    space = "local"

    def __init__(self, resident):
        super().__init__(
            resident, resident.lanes if resident.local_stride else 0, resident.local_stride, resident.program.local_size
        )
        self.data.fill(0xFF)

    def count(self, counts, lanes, address, mask, width, kind):
        active = lanes.n if mask is None else int(mask.sum())
        counts.bytes += active * width


class GlobalMemory:
    """Module variables, kernel parameters and the buffers of a launch, at addresses from GLOBAL_BASE on."""

    GAP = 512
    source_names = SourceNames()

    def __init__(
        self, program, parameters: bytes, buffers: list[tuple[str, np.ndarray]], places: list[int], heap_bytes: int = 0
    ):
        self.names: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.unset: set[int] = set()  # numbers of the allocations that begin uninitialised
        self.aside: set[int] = set()  # and of those that no kernel means when it passes the end of an array
        first = program.global_size
        end = first + len(parameters)
        for start, size, name in program.global_variables:
            variable = program.module.variables.get(name)
            if variable is not None and variable.space == "const" and size <= SCALAR:
                self.aside.add(len(self.names))
            self.add(start, size, source_name(name))
        if parameters:
            self.aside.add(len(self.names))
            self.add(GLOBAL_BASE + first, len(parameters), PARAMETERS)
        for place, (name, buffer) in sorted(zip(places, buffers, strict=True), key=lambda item: item[0]):
            self.add(GLOBAL_BASE + place, buffer.nbytes, name)
            end = place + buffer.nbytes
        end = align_up(end + self.GAP, 256)
        self.heap = Heap(self, GLOBAL_BASE + end, heap_bytes)
        self.data = np.zeros(align_up(end + heap_bytes, 256), np.uint8)
        for offset, initial in [*program.data, (first, parameters)]:
            self.data[offset : offset + len(initial)] = np.frombuffer(initial, np.uint8)
        self.views = views_of(self.data)
        self.places = places

    @classmethod
    def places_of(
        cls,
        program,
        buffers: list[tuple[str, np.ndarray]],
        placement: Placement,
    ) -> list[int]:
        """The offset of each buffer from GLOBAL_BASE.

        Reversed arrays begin at odd multiples of 16 bytes, the others at multiples of 256, as from cudaMalloc.
        """
        places, end = {}, align_up(program.global_size + program.parameter_size + cls.GAP, 256)
        order = list(enumerate(buffers))
        for number, (_, buffer) in reversed(order) if placement.reversed_arrays else order:
            if number == placement.crossing:
                end = max(end, align_up(BELOW_LINE - buffer.nbytes // 2, 256))
            places[number] = end = end + 16 * placement.reversed_arrays
            end = align_up(end + buffer.nbytes + cls.GAP, 256)
        return [places[number] for number in range(len(buffers))]

    def add(self, start: int, size: int, name: str) -> None:
        self.starts.append(start)
        self.ends.append(start + size)
        self.names.append(name)

    def leave_unset(self, place: int) -> None:
        """Make the buffer at a place uninitialised: it holds NaN in every format, and on a GPU anything."""
        number = self.starts.index(GLOBAL_BASE + place)
        self.data[place : self.ends[number] - GLOBAL_BASE] = 0xFF
        self.unset.add(number)

    def inside(self, low: int, high: int) -> bool:
        """Whether the bytes low … high - 1 lie in one allocation."""
        found = bisect_right(self.starts, low) - 1
        return found >= 0 and high <= self.ends[found]

    def resolve(self, resident, lanes, site: int, address, mask, width: int):
        """(index, picked) as in `BlockMemory.resolve`; counts sectors."""
        counts = resident.sites[site]
        if address.ndim == 0:
            return self.resolve_uniform(resident, counts, lanes, site, address, mask, width)
        picked = picked_lanes(lanes, mask)
        if picked is not None:
            if not picked.size:
                return None
            used = address[picked]
        else:
            used = address
        origin = used[0]
        relative = used - origin
        origin = int(origin)
        whole = mask is lanes.mask
        entry = counts.cache.get(id(lanes)) if whole else None
        if entry is not None and entry[0] is lanes and entry[2] == origin & 31 and (entry[1] == relative).all():
            index = entry[3] + ((origin - entry[4]) >> SHIFT[width])
            low, high = origin + entry[5], origin + entry[6]
            costs = entry[7]
            if not self.inside(low, high):
                self.check(resident, lanes, site, address, picked, width)
        else:
            low, high = int(used.min()), int(used.max()) + width
            if not self.inside(low, high):
                self.check(resident, lanes, site, address, picked, width)
            if width > 1 and int(np.bitwise_or.reduce(used)) & (width - 1):
                misaligned(resident, lanes, site, "global", address, picked, width)
            index = (used - np.uint64(GLOBAL_BASE)).view(np.int64) >> SHIFT[width]
            costs = sectors_of(resident, lanes, address, mask, width)
            if whole:
                if len(counts.cache) >= 64:
                    counts.cache.clear()
                counts.cache[id(lanes)] = (
                    lanes,
                    relative,
                    origin & 31,
                    index,
                    origin,
                    low - origin,
                    high - origin,
                    costs,
                )
        counts.sectors += costs[0]
        counts.requests += costs[1]
        counts.bytes += costs[2]
        return index, picked

    def resolve_uniform(self, resident, counts, lanes, site, address, mask, width):
        active = lanes.active() if mask is None else mask
        if mask is not None and not mask.any():
            return None
        at = int(address)
        if not self.inside(at, at + width):
            self.check(resident, lanes, site, address, None if mask is None else np.flatnonzero(mask), width)
        if at & (width - 1):
            misaligned(resident, lanes, site, "global", address, None if mask is None else np.flatnonzero(mask), width)
        warps = lanes.warps if mask is None else int(active.reshape(-1, 32).any(1).sum())
        counts.sectors += warps * -(-width // 32)
        counts.requests += warps
        counts.bytes += width * (lanes.n if mask is None else int(active.sum()))
        return np.int64((at - GLOBAL_BASE) >> SHIFT[width]), picked_lanes(lanes, mask)

    def check(self, resident, lanes, site, address, picked, width: int) -> None:
        """Raise `MemoryFault` for the first lane whose access is outside of the allocations."""
        addresses = np.broadcast_to(address, lanes.n).astype(np.uint64)
        positions = np.arange(lanes.n) if picked is None else picked
        at = addresses[positions]
        starts, ends = np.array(self.starts or [0], np.uint64), np.array(self.ends or [0], np.uint64)
        found = np.searchsorted(starts, at, side="right").astype(np.int64) - 1
        ends = whole_words(resident, site, width, ends)
        behind = at + np.uint64(width)  # wraps at the end of the address space
        bad = (found < 0) | (behind > ends[np.maximum(found, 0)]) | (behind < at)
        if not bad.any():
            return
        first = int(np.flatnonzero(bad)[0])
        where = int(at[first])
        lane = int(lanes.lane_numbers()[positions[first]])
        raise MemoryFault(
            f"{resident.name_lane(lane)} accessed {width} bytes at global address {where:#x},"
            f"{would_be(self.element(where))} {self.nearest(where, width)}; {resident.describe(site)}."
        )

    def called(self, number: int) -> str:
        """The name of an allocation in messages."""
        return self.source_names.array(self.names[number])

    def element(self, where: int) -> str:
        """The element that an address outside of the allocations would be, of that which is nearest; "" if none is."""
        number = min(self.meant(), key=lambda n: max(self.starts[n] - where, where - self.ends[n]), default=None)
        if where < GLOBAL_BASE >> 1 or number is None:
            return ""
        return self.source_names.element(self.names[number], where - self.starts[number])

    def meant(self) -> list[int]:
        """The numbers of the allocations that a kernel can mean which passes the end of an array."""
        return [n for n in range(len(self.starts)) if n not in self.aside]

    def nearest(self, where: int, width: int) -> str:
        """The position of an address relative to the nearest allocations on both sides of it, in words."""
        if where < NULL:
            return "a null pointer"
        if not (known := self.meant()):
            return "where nothing is allocated"
        if where < GLOBAL_BASE >> 1:
            for n in known:
                whole = self.starts[n] >> 32 << 32 | where
                for address in (whole, whole + LINE_BYTES):  # an array may cross a multiple of 4 GiB
                    if self.starts[n] <= address < self.ends[n]:
                        return (
                            f"which is in no array: an address in {self.called(n)}, {address:#x}, has these lower "
                            "32 bits; the rest was cut off"
                        )
            return "which is in no array"
        for n, scale in ((n, scale) for n in known for scale in (1, 2, 4, 8, 16)):
            back = where + (scale << 32)  # an index of 32 bits that overflowed is 2^32 too small
            if where < self.starts[n] <= back < self.ends[n]:
                element, size = (back - self.starts[n]) // scale, self.ends[n] - self.starts[n]
                return (
                    f"{self.starts[n] - where:,} bytes before {self.called(n)} ({size:,} bytes): "
                    f"an index of 32 bits has overflowed, which holds {2**31 - 1:,} at most. In 64 bits, as with "
                    f"(long long)row * columns, it is {element:,}, which lies in the array"
                )
        if (n := bisect_right(self.starts, where) - 1) >= 0 and self.names[n].endswith(FREED):
            return f"in {self.names[n]}"
        said = []
        for n in known:
            name = f"{self.called(n)} ({self.source_names.count(self.names[n], self.ends[n] - self.starts[n])})"
            if self.starts[n] <= where < self.ends[n]:
                return f"across the end of {name}"
            if where < self.starts[n]:
                said.append((self.starts[n] - where, True, f"bytes before {name}"))
            else:
                said.append((where - self.ends[n], False, f"bytes past the end of {name}"))
        nearest = [min(side) for side in ([x for x in said if x[1] == before] for before in (False, True)) if side]
        return " and ".join(f"{distance:,} {words}" for distance, _, words in sorted(nearest))


def around_a_byte(item) -> bool:
    """Whether an access may be of those by which libcu++ updates an atomic byte: load and CAS of the word around it."""
    strong_load = item.family == "ld" and not {"relaxed", "acquire"}.isdisjoint(item.parts)
    return "b32" in item.parts and (strong_load or "cas" in item.parts)


def whole_words(resident, site: int, width: int, size: int | np.ndarray) -> int | np.ndarray:
    """The size of a memory for an access: `around_a_byte` with its whole last word, as GPUs give out no part of one."""
    whole = width == WORD and around_a_byte(resident.program.sites[site])
    return (size + WORD - 1) // WORD * WORD if whole else size


def misaligned(resident, lanes, site, space: str, address, picked, width: int):
    """Raise `MemoryFault` for the first misaligned lane."""
    addresses = np.broadcast_to(address, lanes.n).astype(np.uint64)
    positions = np.arange(lanes.n) if picked is None else picked
    bad = positions[(addresses[positions] & np.uint64(width - 1)) != 0][0]
    raise MemoryFault(
        f"{resident.name_lane(int(lanes.lane_numbers()[bad]))} accessed {width} bytes at {space} address "
        f"{int(addresses[bad]):#x}, which is not a multiple of {width}; "
        f"{resident.describe(site)}."
    )


def would_be(element: str) -> str:
    """The nearest array's element in words: the kernel may have meant another array."""
    return f" which would be {element}," if element else ""


def within_variable(resident, at: int) -> str:
    """What lies at a shared address: an element, such as `s[64]`, or the byte of a variable; "" if neither is known."""
    for variable in resident.program.named_variables:
        if variable.space == "shared":
            name, start = source_name(variable.name), resident.program.address(variable)
            if 0 <= at - start < (variable.size or at + 1):
                element = resident.launch.names.shared_element(name, at - start)
                whole = name * (at == start and 0 < variable.size <= SCALAR)  # a number or a pointer, not an array
                return element or whole or f"byte {at - start:,} of {name}" * bool(variable.size)
    return ""


def nearest_variable(resident, space: str, at: int) -> Variable | None:
    """The variable of a state space that begins closest below an address."""
    program = resident.program
    found = [one for one in program.named_variables if one.space == space and program.address(one) <= at]
    return max(found, key=program.address, default=None)
