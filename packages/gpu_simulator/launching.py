"""`launch`, the simulator's entry point: checks the arguments, lays out memory, runs the blocks in groups, reports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from gpu_simulator.codegen.program import Program, program_of
from gpu_simulator.effort import Effort
from gpu_simulator.faults import BudgetExceeded, LaunchError, MbarrierFault, SimulatedFault, threads_named
from gpu_simulator.launch_checks import check, extent
from gpu_simulator.launch_progress import progress
from gpu_simulator.machine.address_space import BELOW_LINE, Placement, align_up
from gpu_simulator.machine.clusters import clusters_of
from gpu_simulator.machine.counting import Patterns, SiteCounts
from gpu_simulator.machine.heap import HEAP_BYTES
from gpu_simulator.machine.memory import GlobalMemory
from gpu_simulator.machine.module_variables import given_variables
from gpu_simulator.machine.observer import Observer
from gpu_simulator.machine.parameters import buffer_of_argument, read_arguments, with_addresses
from gpu_simulator.machine.resident_blocks import ResidentBlocks
from gpu_simulator.memory_limit import Account, blocks_at_once, limit_bytes
from gpu_simulator.observers.hazards import Hazards, widest_first
from gpu_simulator.observers.severities import ERROR, SUSPICIOUS
from gpu_simulator.observers.shadow_memory import GlobalShadow, SharedShadow
from gpu_simulator.observers.unwritten.unset_variables import unset_variables
from gpu_simulator.observers.unwritten.unwritten_values import message, warned
from gpu_simulator.ptx.ir import Instruction
from gpu_simulator.ptx.source_names import SourceNames
from gpu_simulator.report import Report

LANES_AT_ONCE = 16384
QUANTUM = 200_000
OUTPUT_LIMIT = 1 << 20  # characters of printf output that are kept; by default a GPU's buffer has the same size
TEXT_OVERHEAD = 64  # bytes that a Python string needs in addition to its text
HAZARDS = "hazards"  # the observer that has a name
DEFAULT_PLACEMENT = Placement()

Extent: TypeAlias = int | Sequence[int] | np.ndarray  # one to three whole numbers
ObserverOf: TypeAlias = Callable[[ResidentBlocks], Observer]


class HasPtx(Protocol):
    """An object with PTX, such as a `Compiled`, which `launch` accepts instead of text."""

    @property
    def ptx(self) -> str:
        """The PTX text."""


def launch(
    compiled_or_ptx: str | HasPtx,
    entry: str | None = None,
    grid: Extent = (1, 1, 1),
    block: Extent = (1, 1, 1),
    args: Sequence[Any] = (),
    dynamic_smem_bytes: int = 0,
    cluster: Extent = (1, 1, 1),
    timing: str = "early",
    max_instructions: int | None = None,
    max_seconds: float | None = None,
    max_bytes: int | None = None,
    max_steps: int | None = None,
    observers: Iterable[str | ObserverOf] = (),
    placement: Placement = DEFAULT_PLACEMENT,
    heap_bytes: int = HEAP_BYTES,
    on_start: Callable[[Launch], None] | None = None,
    symbols: Mapping[str, Any] | None = None,
    uninit: Iterable[int | str] = (),
    exact: bool | None = None,
) -> Report:
    """Run a kernel and return its `Report`.

    compiled_or_ptx: PTX text, or an object with `.ptx` (and optionally `.entry`, `.dynamic_smem`, `.files`).
    entry: name of the kernel; needed if the PTX has several.   grid, block, cluster: an int, or up to three.
    args: in the order of the parameters. A NumPy array becomes a global buffer and is updated in place; a number is
    converted to the parameter's PTX type; a `hardware.tensor_map.TensorMap` becomes the descriptor of its array, which
    is a buffer like any other. A struct is given as `bytes`, or as a tuple of its members, in which an array stands for
    a pointer; an array of pointers is a list of arrays.
    dynamic_smem_bytes: size of the `extern __shared__` arrays; by default that of the compiled object.
    timing: "early" completes asynchronous copies at once, "late" at the last moment that is legal. "staggered" is for
    clusters: loads that are issued by blocks of odd rank are late, and everything else is early. In late timing,
    elect.sync also elects the highest lane instead of the lowest, because PTX does not say which one it elects; and in
    a search for hazards, blocks that wait for each other in global memory run unevenly instead of in step.
    max_instructions: limit of warp instructions, beyond which `BudgetExceeded` names the line that spins.
    max_steps: limit of steps of the simulator (see `effort`), for kernels in which few lanes spin.
    max_seconds: limit of processor time of this thread. It depends on the machine; the other two limits do not.
    max_bytes: limit of the memory that the launch takes besides `args`; by default GPU_SIMULATOR_MEMORY_MB, or three
    quarters of what is free. If necessary, fewer blocks are resident together.
    placement: where arrays, shared memory and tensor memory lie.
    heap_bytes: size of the heap of malloc in device code; by default 8 MiB, as CUDA has it.
    symbols: contents of `__constant__` and `__device__` variables by name, which a host program would copy there: an
    array of the variable's size, which is updated in place, so that the next launch can be given it; a number; `bytes`.
    uninit: numbers of arguments whose arrays begin uninitialised, as memory of cudaMalloc does: with NaN in every
    format; of a member of a struct or of an array of pointers, such as "0.1". A search for hazards reports what is
    read there before it is written.
    exact: whether tensor cores sum floating-point products as those of the architecture do, to the bit, and not in
    float32; see `hardware.exact_sums`. By default only products of FP8 are summed so, where the difference is large.
    observers: "hazards" looks for races in shared and global memory, between lanes, warps and blocks, for uninitialised
    reads, and for missing waits and fences (`Report.hazards`). Others are functions that are called with each group of
    resident blocks, and return an `Observer` of that group.
    on_start: called with the `Launch` before it runs; `launch_progress.progress` says what that is doing.

    Raises `LaunchError` for arguments and sizes, `MalformedPtx`, `UnsupportedInstruction`, `MemoryFault`, `Deadlock`,
    `BudgetExceeded`, `AssertionFailed` and the other errors of `faults`. The `KeyboardInterrupt` of Ctrl-C says where
    the threads were.
    """
    ptx = compiled_or_ptx if isinstance(compiled_or_ptx, str) else compiled_or_ptx.ptx
    files = getattr(compiled_or_ptx, "files", None)
    if entry is None:
        entry = getattr(compiled_or_ptx, "entry", None) or _only_entry(ptx)
    dynamic = dynamic_smem_bytes or getattr(compiled_or_ptx, "dynamic_smem", 0)
    program, observers = program_of(ptx, entry, placement.shared_memory_base), _known(observers)
    try:
        run = Launch(
            program.with_local_followed if HAZARDS in observers else program,
            extent(grid, "grid"),
            extent(block, "block"),
            args,
            int(dynamic),
            extent(cluster, "cluster"),
            timing,
            files,
            max_bytes=max_bytes,
            effort=Effort(max_instructions, max_steps, max_seconds),
            observers=observers,
            placement=placement,
            heap_bytes=int(heap_bytes),
            symbols=symbols,
            uninit=uninit,
            exact=exact,
            source=getattr(compiled_or_ptx, "source", ""),
        )
        run.warnings = getattr(compiled_or_ptx, "warnings", ())
        if on_start is not None:
            on_start(run)
        return run.execute()
    except MemoryError:
        raise BudgetExceeded(
            "The machine ran out of memory, although the launch was within its limit. "
            "Use a smaller problem, or set a lower limit with max_bytes=."
        ) from None


def run_block(
    program: Program,
    compiled: Any,
    grid: Extent,
    block: Extent,
    args: Sequence[Any],
    cluster: Extent,
    number: int,
    probes: frozenset,
    observer_of: ObserverOf,
    effort: Effort,
) -> None:
    """Run one block of a launch, with the other blocks of its cluster; the arrays of `args` are not changed.

    program: that of `compiled`.   number: of the block in the grid.   probes, observer_of: as for `Launch.again`.
    The other parameters are those of `launch`. Raises what `launch` raises.
    """
    Launch(
        program,
        extent(grid, "grid"),
        extent(block, "block"),
        args,
        compiled.dynamic_smem,
        extent(cluster, "cluster"),
        "early",
        compiled.files,
        number,
        probes,
        effort=effort,
        observers=(observer_of,),
        source=getattr(compiled, "source", ""),
    ).execute()


def _known(observers: Iterable[str | ObserverOf]) -> tuple[str | ObserverOf, ...]:
    """The observers, each once. Raises `LaunchError` for a name that is none."""
    found = tuple(dict.fromkeys([observers] if isinstance(observers, str) else observers))
    for one in found:
        if isinstance(one, str) and one != HAZARDS:
            raise LaunchError(f"There is no observer {one!r}. By name there is {HAZARDS!r}; others are functions.")
    return found


def _only_entry(ptx: str) -> str:
    names = re.findall(r"\.entry\s+([\w$]+)", ptx)
    if len(names) != 1:
        raise LaunchError(f"Say which kernel to run: entry= one of {', '.join(names) or '(the PTX has none)'}.")
    return names[0]


class Launch:
    """The state of one launch. Its groups of resident blocks share it, and the `Report` is made from it."""

    def __init__(
        self,
        program: Program,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        args: Sequence[Any],
        dynamic: int,
        cluster: tuple[int, int, int],
        timing: str,
        files: Mapping[str, str] | None,
        only_block: int | None = None,
        probes: frozenset = frozenset(),
        max_bytes: int | None = None,
        effort: Effort | None = None,
        observers: tuple[str | ObserverOf, ...] = (),
        placement: Placement = DEFAULT_PLACEMENT,
        heap_bytes: int = HEAP_BYTES,
        symbols: Mapping[str, Any] | None = None,
        uninit: Iterable[int | str] = (),
        exact: bool | None = None,
        source: str = "",
    ) -> None:
        self.program, self.grid, self.block, self.cluster, self.files = program, grid, block, cluster, files
        self.timing, self.dynamic_smem, self.placement = timing, dynamic, placement
        self.exact, self.names = exact, SourceNames(program.entry, source)
        self.args, self.only_block, self.probes = list(args), only_block, probes
        self.threads = block[0] * block[1] * block[2]
        self.smem_bytes = (program.dynamic_offset if dynamic else program.shared_static) + dynamic
        self.clusters = clusters_of(program.module, program.entry, grid, cluster)
        check(self)
        pieces, self.buffers = read_arguments(program, self.args)
        self.given = given_variables(program, symbols)
        self.heap_bytes = heap_bytes if program.allocates else 0
        self._reserve(max_bytes, HAZARDS in observers)
        places = GlobalMemory.places_of(program, self.buffers, placement)
        parameters = with_addresses(program, pieces, places)
        self.memory = GlobalMemory(program, parameters, self.buffers, places, self.heap_bytes)
        self.memory.source_names, self.heap = self.names, self.memory.heap
        for (_, buffer), place in zip(self.buffers, self.memory.places, strict=True):
            self.memory.data[place : place + buffer.nbytes] = np.ascontiguousarray(buffer).reshape(-1).view(np.uint8)
        for number in uninit:
            self.memory.leave_unset(places[buffer_of_argument(pieces, self.buffers, number)])
        for given in self.given:
            self.memory.data[given.offset : given.offset + len(given.data)] = np.frombuffer(given.data, np.uint8)
        self.sites = [SiteCounts() for _ in program.sites]
        self.runs = [0] * len(program.blocks)
        self.patterns, self.clock_start = Patterns(), 1000
        self.options: dict[str, Any] = {}
        self.initial_registers = program.initial_registers()
        self.hazards = Hazards(self) if HAZARDS in observers else None
        functions = [one for one in observers if not isinstance(one, str)]
        self.observers = functions if self.hazards is None else [self.hazards.observe, *functions]
        self.warnings: Iterable[Any] = ()  # of the compiler
        self.unwritten: dict[Any, str] = {}  # by source line, what is to be said of a register that nothing has written
        self.output: list[str] = []
        self.output_room, self.unprinted = OUTPUT_LIMIT, 0
        self.initial = self.memory.data.copy()
        self.asked_by_rank: Counter[int] = Counter()  # bytes that bulk copies requested, by rank in a cluster
        self.most_on_the_way = 0  # as in `Report`
        self.waited_at: set = set()  # source positions of the mbarrier waits reached so far, in late timing
        self.started = 0  # number of places whose blocks were started or cancelled
        self.ended, self.steps_until_then, self.put_off = 0, 0.0, False  # blocks at their end; any left to wait
        self.running: ResidentBlocks | None = None  # the group of blocks that is executed now
        self.effort = effort or Effort()
        self.effort.begin(self.fewer)  # smaller groups of resident blocks need more steps in total

    # ---- Memory ----

    def _reserve(self, max_bytes: int | None, hazards: bool) -> None:
        """Find how many blocks can be resident together. Raises `LaunchError` if the launch does not fit."""
        program, lanes = self.program, 32 * -(-self.threads // 32)
        self.shared_stride = align_up(self.smem_bytes, 16) + 16
        self.blocks = self.grid[0] * self.grid[1] * self.grid[2]
        buffers = sum(buffer.nbytes for _, buffer in self.buffers)
        arrays = program.global_size + buffers + self.heap_bytes
        block = {
            f"local memory of {program.local_size:,} bytes a thread": lanes * program.local_size,
            "registers": lanes * (program.register_bytes + ResidentBlocks.BYTES_A_LANE),
            "shared memory": self.shared_stride,
        }
        fixed = {
            "the global arrays, which are kept twice": 2 * buffers,
            "the variables of the module, which are kept twice": 2 * program.global_size,
        }
        if self.heap_bytes:
            fixed["the heap of malloc, which is kept twice"] = 2 * self.heap_bytes
        if self.placement.crossing is not None:
            fixed["the room before the array at a 4 GiB line, which is kept twice"] = 2 * BELOW_LINE
        if hazards:  # the record of shared memory is estimated for cells of 4 bytes
            a_cell = SharedShadow.bytes_a_cell(lanes // 32 * self.clusters.size)
            block["the hazards' record of shared memory"] = self.shared_stride * a_cell // 4
            record = GlobalShadow.bytes_for(program.sites, arrays, [array for _, array in self.buffers])
            each = f"{max(1, round(record / max(arrays, 1)))} bytes for each byte of it"
            fixed[f"the hazards' record of global memory, {each}"] = record
        self.account = Account(limit_bytes(max_bytes))
        size = self.clusters.size  # the blocks of a cluster are resident together
        wanted = max(1, min(LANES_AT_ONCE // (lanes * size), self.blocks // size))
        block = {name: size * needed for name, needed in block.items()}
        self.at_once = size * blocks_at_once(wanted, block, fixed, self.account.limit, program, size)
        self.fewer = wanted * size / self.at_once  # factor by which the memory limit reduces the group of blocks
        self.account.take(2 * arrays, "the global arrays")

    # ---- Running ----

    def execute(self) -> Report:
        """Run all blocks. Raises what the kernel does wrong."""
        waiting: list[ResidentBlocks] = []
        with np.errstate(all="ignore"):
            try:
                for places in self._parts():
                    self.running = resident = ResidentBlocks(self, places)
                    if resident.run(QUANTUM):
                        resident.close()
                        self.ended, self.steps_until_then = self.ended + len(places), self.effort.steps
                    else:
                        resident.rest()
                        waiting.append(resident)
                        self.put_off = True
                while waiting:
                    waiting = [resident for resident in waiting if not self._finished(resident)]
            except KeyboardInterrupt:
                raise KeyboardInterrupt(progress(self)) from None
            except SimulatedFault as error:
                self._place(error)
                first = isinstance(error, MbarrierFault) or bool(self.unwritten)
                if self.hazards is not None and self.hazards.found:  # a hazard is often the cause of the error
                    found = widest_first(self.hazards.found)[0]
                    cause, first = str(found), first or found.kind == "uninitialised read"
                elif self.unwritten:
                    cause = next(iter(self.unwritten.values()))
                else:
                    cause = ""
                if cause:
                    if first:
                        error.message = f"{cause} After that: {error.message}"
                    else:
                        error.message += f" Found before that: {cause}"
                raise
            finally:
                self._copy_back()
        further = [
            *warned(self.warnings, self.unwritten.values()),
            *unset_variables(self, {given.variable.name for given in self.given}),
        ]
        if self.hazards is not None:
            self.hazards.found += further
            self.hazards.close()
        self.remarks = [*self.unwritten.values(), *map(str, further)]
        return Report(self)

    def _finished(self, resident: ResidentBlocks) -> bool:
        self.running = resident
        return resident.finished(QUANTUM)

    def _parts(self) -> Iterator[np.ndarray]:
        """Yield the places (see `Clusters`) of each group of blocks that runs together.

        With `only_block`, the one group is the cluster of that block.
        """
        if self.only_block is not None:
            size, place = self.clusters.size, self.clusters.place(self.only_block)
            yield np.arange(place // size * size, place // size * size + size)
            return
        while self.started < self.blocks:
            begin, self.started = self.started, min(self.started + self.at_once, self.blocks)
            yield np.arange(begin, self.started)

    def cancel(self) -> tuple[int, int, int] | None:
        """Cancel the next cluster that has not started; returns (x, y, z) of its first block, None if there is none."""
        if self.started >= self.blocks or self.only_block is not None:
            return None
        block, (x, y, _) = int(self.clusters.block(self.started)), self.grid
        self.started += self.clusters.size
        return block % x, block // x % y, block // (x * y)

    def _copy_back(self) -> None:
        if self.only_block is not None:
            return
        for (_, buffer), place in zip(self.buffers, self.memory.places, strict=True):
            result = self.memory.data[place : place + buffer.nbytes]
            if buffer.flags.writeable:
                if buffer.nbytes:
                    buffer.reshape(-1).view(np.uint8)[:] = result
            elif not np.array_equal(result, np.ascontiguousarray(buffer).reshape(-1).view(np.uint8)):
                raise LaunchError("The kernel wrote to an array that is read-only; pass a copy of it.")
        for variable, offset, _, array in self.given:
            if array is not None and array.flags.writeable:
                array.reshape(-1).view(np.uint8)[:] = self.memory.data[offset : offset + variable.size]

    def describe(self, item: Instruction | None) -> str:
        """The source line, opcode and PTX line of an instruction, in words."""
        if item is None:
            return "an empty block"
        if item.location is None:
            return f"PTX line {item.line}, {item.opcode}"
        return f"{item.location.in_words()}, {item.opcode}, PTX line {item.line}"

    def _place(self, error: SimulatedFault) -> None:
        """Give an error the fields of the place that its message names."""
        named = re.search(r"PTX line (\d+)", error.message)
        item = next((one for one in self.program.sites if named and one.line == int(named[1])), None)
        if item is not None and not error.line:
            error.at(item)
        error.block, error.thread = threads_named(error.message)

    def again(self, block: int, probes: frozenset, observer_of: ObserverOf) -> Launch:
        """A new launch of one block and its cluster, on the initial contents of memory, within the same limits.

        probes: sites at which the observer's `stopped` is called.   observer_of: as an item of `observers` of `launch`.
        """
        other = Launch(
            self.program,
            self.grid,
            self.block,
            self.args,
            self.dynamic_smem,
            self.cluster,
            self.timing,
            self.files,
            block,
            probes,
            effort=self.effort.unspent(),
            observers=(observer_of,),
            placement=self.placement,
            heap_bytes=self.heap_bytes,
            exact=self.exact,
            source=self.names.source,
        )
        other.effort.scale = self.effort.scale  # the same limit of steps, even if this smaller launch fits into memory
        other.memory.data[:] = self.initial
        other.initial_registers = self.initial_registers
        return other

    def use_of_unwritten(self, resident: ResidentBlocks, site: int, register: int, lane: int) -> None:
        """Note that a lane uses a value of a register that nothing has written."""
        item = self.program.sites[site]
        where = item.location or item.line
        if where not in self.unwritten:
            self.unwritten[where] = said = message(resident, site, register, lane)
            if self.hazards is not None:
                severity = ERROR if register in self.program.unwritten.direct else SUSPICIOUS
                if say := self.hazards.new("unwritten register", site, severity=severity):
                    say(said)

    def printed(self, text: str) -> None:
        """Keep a text of printf; its size counts as memory of the launch."""
        self.account.take(len(text) + TEXT_OVERHEAD, "the text of printf")
        self.output.append(text)
        self.output_room -= len(text)
