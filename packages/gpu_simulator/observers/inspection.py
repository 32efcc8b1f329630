"""Inspection: a block is run again, with probes at the instructions of a line."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike

from gpu_simulator.faults import SimulatedFault
from gpu_simulator.machine.clusters import OFFSET_MASK, RANK_SHIFT
from gpu_simulator.machine.observer import Observer
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.ir import Immediate, Memory, Register, Symbol, Vector


@dataclass(frozen=True)
class Snapshot:
    """The state after the last execution of a line.

    opcode, ptx_line: the instruction.   registers: PTX name -> 32 values, one per lane.
    active: bool (32,), the lanes that executed it.   shared: the block's shared memory as bytes; see `shared_as`.
    variables: name of a shared variable -> (offset, size) in bytes.
    tensor_memory: (128 lanes, 512 columns) of 32 bits, of the block; None if none was allocated.
    """

    opcode: str
    ptx_line: int
    registers: dict[str, np.ndarray]
    active: np.ndarray
    shared: np.ndarray = field(repr=False)
    variables: dict[str, tuple[int, int]]
    tensor_memory: np.ndarray | None = field(default=None, repr=False)

    def shared_as(self, dtype: DTypeLike, variable: str | None = None) -> np.ndarray:
        """Shared memory as elements of `dtype`; of one variable only, if its name or a part of it is given.

        Raises `SimulatedFault` if there is no such variable.
        """
        data = self.shared
        if variable is not None:
            called = [name for name in self.variables if source_name(name) == variable]
            called = called or [name for name in self.variables if variable in name]
            if not called:
                raise SimulatedFault(
                    f"There is no shared variable {variable}; there is "
                    f"{', '.join(map(source_name, self.variables)) or 'none'}."
                )
            start, size = self.variables[called[0]]
            data = data[start : start + size] if size else data[start:]
        size = np.dtype(dtype).itemsize
        return data[: len(data) // size * size].view(dtype)


@dataclass(frozen=True)
class WarpAccess:
    """One execution of a memory instruction by one warp.

    addresses: int64 (32,) in bytes, -1 for lanes that did not take part.   width: as `width_of`.
    """

    opcode: str
    ptx_line: int
    addresses: np.ndarray
    width: int


def sites_at(report, where) -> list[int]:
    """The site numbers of a `Site`, of a (file, line), or of a line number.

    A line number is compared with the outermost call sites first, and with all inlined positions if none matches.
    Raises `SimulatedFault` if no instruction belongs to it.
    """
    if isinstance(where, tuple):
        return [
            n
            for n, s in enumerate(report.sites)
            if s.outermost[1] == where[1] and (s.outermost[0] or "").rsplit("/", 1)[-1] == where[0]
        ]
    if not isinstance(where, (int, np.integer)):
        return [n for n, s in enumerate(report.sites) if s.ptx_line == where.ptx_line]
    found = [n for n, s in enumerate(report.sites) if s.outermost[1] == where]
    found = found or [n for n, s in enumerate(report.sites) if where in [line for _, line in s.frames]]
    if not found:
        lines = sorted({s.outermost[1] for s in report.sites if s.executions})
        nearest = min(lines, key=lambda line: abs(line - where), default=None)
        raise SimulatedFault(f"No instruction belongs to line {where}; the nearest line that has some is {nearest}.")
    return found


class Probe(Observer):
    """Records what one warp of one block does at the probed sites.

    warp: within the block.   rank: of the block in its cluster, which runs again as a whole.
    """

    def __init__(self, resident, warp: int, rank: int):
        super().__init__(resident)
        self.warp, self.rank, self.last, self.accesses = rank * resident.warps_per_block + warp, rank, None, []

    def stopped(self, lanes, site: int, values: dict, after: bool) -> None:
        resident = self.resident
        rows = np.arange(resident.warps) if lanes.chosen is None else lanes.chosen
        position = np.flatnonzero(rows == self.warp)
        if not len(position):
            return
        own = slice(32 * int(position[0]), 32 * int(position[0]) + 32)
        active, item = self.executing(lanes, site, values)[own], resident.program.sites[site]
        if not active.any():
            return
        if after:
            cells = resident.tensor_memory.cells.get(self.rank)
            memories = resident.shared.data.copy(), None if cells is None else cells.copy()
            self.last = (site, values, own, active, *memories)
            return
        for operand in item.operands:
            if type(operand) is Memory:
                self.accesses.append(
                    WarpAccess(
                        item.opcode,
                        item.line,
                        self.within(self.address(lanes, operand, values, own, active)),
                        width_of(item),
                    )
                )

    def within(self, addresses) -> np.ndarray:
        """The addresses; those in the block's own shared memory without its rank in the cluster."""
        if self.resident.cluster_size == 1:
            return addresses
        own = addresses >> RANK_SHIFT == self.rank
        return np.where(own & (addresses >= 0), addresses & OFFSET_MASK, addresses)

    def address(self, lanes, operand, values, own, active) -> np.ndarray:
        base = operand.base
        if type(base) is Register:
            at = self.value_of(lanes, base, values)[own].astype(np.int64)
        elif type(base) is Symbol:
            at = np.full(32, self.resident.program.address(base.variable) + base.offset, np.int64)
        else:
            at = np.full(32, int(base.text, 0) if type(base) is Immediate else 0, np.int64)
        return np.where(active, at + operand.offset, -1)

    def snapshot(self) -> Snapshot:
        resident, (site, values, own, active, shared, cells) = self.resident, self.last
        item, warp = resident.program.sites[site], slice(32 * self.warp, 32 * self.warp + 32)
        registers = {}
        for register, held in zip(resident.program.registers, resident.R, strict=False):
            local = values.get(f"r{register.index}")
            value, where = (held, warp) if local is None else (local, own)
            registers[register.name] = np.full(32, value) if value.ndim == 0 else value[where].copy()
        variables = {v.name: (resident.program.address(v), v.size) for v in resident.program.named_variables}
        begin = self.rank * resident.shared_stride
        shared = shared[begin : begin + resident.launch.smem_bytes]
        return Snapshot(item.opcode, item.line, registers, active, shared, variables, cells)


def width_of(item) -> int:
    """Bytes that each lane accesses (16 for a row of ldmatrix); 0 for the addresses of a bulk copy."""
    if item.family in ("ldmatrix", "stmatrix"):
        return 16
    if item.family == "cp" and {"bulk", "mbarrier"} & set(item.parts):
        return 0
    if item.family == "cp":
        return int(item.operands[2].text, 0) if len(item.operands) > 2 else 0
    count = max([len(o.items) for o in item.operands if type(o) is Vector] or [1])
    return BYTES.get(item.parts[-1], 0) * (count if item.family in ("ld", "st") else 1)


def replay(report, where, block, warp: int) -> Probe:
    """Run one block again, with the others of its cluster and probes at `where`; returns the `Probe`.

    A block that depends on other clusters through memory may behave differently.
    Raises `SimulatedFault` if there is no such block, warp or line, or if the launch ran on a server.
    """
    launch = report._launch
    if launch is None:
        raise SimulatedFault(
            "This launch ran on a server, which sends back counts and results alone. To look inside, run it on "
            "this machine."
        )
    x, y, _ = launch.grid
    number = (
        block
        if isinstance(block, (int, np.integer))
        else block[0] + x * (block[1] + y * (block[2] if len(block) > 2 else 0))
    )
    if not 0 <= number < launch.grid[0] * launch.grid[1] * launch.grid[2]:
        raise SimulatedFault(f"There is no block {block}; the grid is {launch.grid}.")
    if not 0 <= warp < -(-launch.threads // 32):
        raise SimulatedFault(f"There is no warp {warp}; a block has {-(-launch.threads // 32)}.")
    rank = launch.clusters.place(int(number)) % launch.clusters.size
    probes = []

    def observer_of(resident):
        probes.append(Probe(resident, warp, rank))
        return probes[-1]

    launch.again(int(number), frozenset(sites_at(report, where)), observer_of).execute()
    return probes[0]  # the blocks of the cluster form one group
