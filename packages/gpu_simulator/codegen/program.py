"""`Program`: a kernel that is parsed, flattened and laid out in memory. Its functions are generated at first use."""

from __future__ import annotations

import hashlib
import itertools
import struct
from copy import copy
from functools import cached_property

import numpy as np

import gpu_simulator.codegen.ops  # noqa: F401  registers the opcodes
from gpu_simulator.codegen.emitter import base_namespace, compile_block
from gpu_simulator.codegen.spinning_waits import spinning_waits
from gpu_simulator.codegen.unwritten_registers import UnwrittenRegisters, holds_float, memory_of
from gpu_simulator.faults import LaunchError, MalformedPtx
from gpu_simulator.machine.address_space import FUNCTION_BASE, GLOBAL_BASE, OTHER_SHARED_WINDOW, SHARED_WINDOW, align_up
from gpu_simulator.ptx.basic_blocks import blocks_of, reads_and_writes, twins_of
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.ptx.inlining import flatten
from gpu_simulator.ptx.ir import Instruction, Module, Special, Variable
from gpu_simulator.ptx.parser import parse
from gpu_simulator.ptx.types import NUMPY, register_code
from gpu_simulator.ptx.variable_uses import Uses, variable_uses
from gpu_simulator.ptx.wgmma_forms import registers_of

# Bytes below a block's own shared memory that the system keeps, from sm_80 on; cooperative groups use some of them.
# Recorded on an H200: results/profiles/h200/rules.json, reserved_registers.
RESERVED = 1024
# Bytes of the workspace of a cooperative launch, to which %envreg1 (upper half) and %envreg2 point: its size, and the
# counter of grid_group::sync. Both are zeros here; cooperative_groups/details/driver_abi.h, struct grid_workspace.
WORKSPACE = 8
_LAUNCHES = itertools.count()  # the same numbers in every process, so that a verdict can be repeated
_PROGRAMS: dict = {}
_KEEP = 32


def program_of(ptx: str, entry: str, shared_base: int = 0) -> Program:
    """The program of one kernel of a PTX text; the last `_KEEP` are cached, by the hash of the text.

    shared_base: the address at which shared memory begins, a multiple of 128. If it is not 0, the arrays of static
    shared memory also lie in the opposite order, and generic addresses of shared memory begin elsewhere.

    Raises `MalformedPtx`, `UnsupportedInstruction` or `LaunchError` for PTX that cannot be run.
    """
    key = (hashlib.sha256(ptx.encode()).digest(), entry, shared_base)
    found = _PROGRAMS.get(key)
    if found is None:
        try:
            found = Program(parse(ptx), entry, shared_base)
        except (AttributeError, LookupError, TypeError, ValueError, struct.error) as error:
            why = f"{type(error).__name__}, {error}"
            raise MalformedPtx(f"Invalid PTX, or a form of PTX that is not supported ({why}).") from error
        while len(_PROGRAMS) >= _KEEP:
            _PROGRAMS.pop(next(iter(_PROGRAMS)))
        _PROGRAMS[key] = found
    return found


def _special_registers(flat) -> set[str]:
    """The names of the special registers that a kernel reads."""
    operands = (operand for item in flat.body if isinstance(item, Instruction) for operand in item.operands)
    return {operand.name for operand in operands if type(operand) is Special}


class Program:
    """The basic blocks, registers, sites and fixed addresses of one kernel.

    `shared_static`: the address behind static shared memory, which begins at `shared_base`; dynamic shared memory
    begins at `dynamic_offset`. What lies below `shared_base` is nobody's, except for the `reserved` bytes from address
    0 on, which a kernel has if it asks where they are.   `shared_window`: the generic address of shared address 0.
    `cooperative`: whether it asks for the workspace of a cooperative launch, which then lies at `workspace`.
    `allocates`: whether it calls malloc.
    `local_size`: bytes of local memory per thread; `global_size`: bytes of module variables, from GLOBAL_BASE on;
    `data`: (offset, initial bytes) of those that are initialised. No memory is allocated here for declared variables;
    a launch compares their sizes with its limit before it does so.   `twins`: see `basic_blocks.twins_of`.
    `spinning_waits`: sites of the waits that are asked again and again until they are over.
    """

    def __init__(self, module: Module, entry: str, shared_base: int = 0):
        self.module, self.entry = module, entry
        flat = flatten(module, entry)
        asked = _special_registers(flat)
        self.reserved = RESERVED if module.capability >= 80 and any("reserved_smem" in name for name in asked) else 0
        self.cooperative = any("envreg" in name for name in asked)
        self.shared_base, self.opposite_order = max(shared_base, self.reserved), shared_base != 0
        self.shared_window = OTHER_SHARED_WINDOW if shared_base else SHARED_WINDOW
        self.parameters, self.registers, self.max_threads = flat.parameters, flat.registers, flat.max_threads
        self.blocks, self.frames = blocks_of(flat), flat.frames
        self.twins = twins_of(self.blocks)
        # "For .target sm_75 or below, all threads must contain valid addresses": PTX ISA, ldmatrix.
        self.all_lanes_name_rows = module.capability <= 75
        self.namespace = base_namespace()
        self._constants: dict = {}
        self.sites: list[Instruction] = []
        for block in self.blocks:
            for instruction in block.instructions:
                instruction.site = len(self.sites)
                self.sites.append(instruction)
        self.spinning_waits = spinning_waits(self.blocks)
        self._lay_out(flat)
        self._functions: dict = {}
        self.allocates = any(item.family == "call" and item.operands[1].name == "malloc" for item in self.sites)
        uses = any(item.family == "wgmma" for item in self.sites)
        self.warpgroup_registers = registers_of(self.sites) if uses else None
        self.warpgroup_kinds: dict = {}  # site -> form of a wgmma whose code has been generated
        self.register_bytes = sum(NUMPY[register_code(register.type)].itemsize for register in self.registers)
        self.carry = len(self.registers)  # the carry flag of add.cc and its family follows the registers
        self.unwritten = UnwrittenRegisters(self.blocks, self.registers, self.carry + 1, bool(self.frames))

    @cached_property
    def with_local_followed(self) -> Program:
        """The same program, whose code also follows values of unwritten local memory; see `unwritten`."""
        if self.frames or not any(item.family == "ld" and memory_of(item) == "local" for item in self.sites):
            return self
        other = copy(self)
        other.unwritten = UnwrittenRegisters(self.blocks, self.registers, self.carry + 1, False, local=True)
        other._functions = {}
        return other

    @cached_property
    def variable_uses(self) -> dict[str, Uses]:
        """How the kernel uses each variable of the module; see `ptx.variable_uses`."""
        return variable_uses(self.sites)

    @cached_property
    def readers(self) -> dict[int, set[int]]:
        """By number of a register, the sites of the instructions that read it."""
        found: dict[int, set[int]] = {}
        for item in self.sites:
            for register in reads_and_writes(item)[0]:
                found.setdefault(register, set()).add(item.site)
        return found

    def initial_registers(self) -> list:
        """The initial value of each register, of the carry flag and of what `unwritten` needs.

        On a GPU registers initially hold anything. Here floats hold NaN, which reveals accumulators that were not set
        to 0, and the others hold a number that differs between launches, if the kernel can read it.
        """
        values = list(self._without_a_value)
        if not self.unwritten.read_first:
            return [*values, np.bool_(False), *self.unwritten.initial()]
        anything = np.random.default_rng(next(_LAUNCHES)).integers(2**64, size=len(self.registers), dtype=np.uint64)
        for number in self.unwritten.read_first:
            value, kind = anything[number], values[number].dtype
            values[number] = np.bool_(value & np.uint64(1)) if kind.kind == "b" else value.astype(kind)
        return [*values, np.bool_(False), *self.unwritten.initial()]

    @cached_property
    def _without_a_value(self) -> list:
        """For each register NaN if it holds a float, else 0."""
        first: dict = {}
        for key in {(register.type, holds_float(register)) for register in self.registers}:
            kind = NUMPY[register_code(key[0])].type
            first[key] = kind(np.nan if issubclass(kind, np.floating) else np.iinfo(kind).max if key[1] else 0)
        return [first[register.type, holds_float(register)] for register in self.registers]

    # ---- Memory layout ----

    def _lay_out(self, flat) -> None:
        self._addresses: dict[int, int] = {}
        self.named_variables: list[Variable] = []
        shared, local, dynamic = self.shared_base, 0, []
        own = {id(parameter) for parameter in self.parameters}
        variables = list(flat.variables.values())
        for variable in reversed(variables) if self.opposite_order else variables:
            if variable.space == "shared":
                self.named_variables.append(variable)
                if variable.size == 0:
                    dynamic.append(variable)
                    continue
                shared = align_up(shared, variable.align)
                self._addresses[id(variable)] = shared
                shared += variable.size
            elif variable.space == "local" or (variable.space == "param" and id(variable) not in own):
                local = align_up(local, max(variable.align, 1))
                self._addresses[id(variable)] = local
                local += variable.size
        self.shared_static, self.local_size = shared, align_up(local, 16)
        self.dynamic_offset = align_up(shared, max([16, *(v.align for v in dynamic)])) if dynamic else shared
        for variable in dynamic:
            self._addresses[id(variable)] = self.dynamic_offset
        self.uses_dynamic = bool(dynamic)
        self._lay_out_globals()
        offset = 0
        self.parameter_offsets = []
        for parameter in self.parameters:
            offset = align_up(offset, parameter.align)
            self.parameter_offsets.append(offset)
            self._addresses[id(parameter)] = self.parameter_base + offset
            offset += parameter.size
        self.parameter_size = offset

    def _lay_out_globals(self) -> None:
        end, placed = 0, []
        self.global_variables: list[tuple[int, int, str]] = []
        for variable in self.module.variables.values():
            if variable.space in ("global", "const"):
                end = align_up(end + 16, max(variable.align, 16))
                self._addresses[id(variable)] = GLOBAL_BASE + end
                self.global_variables.append((GLOBAL_BASE + end, variable.size, variable.name))
                placed.append((end, variable))
                end += variable.size
        self.workspace = 0
        if self.cooperative:
            end = align_up(end + 16, 16)
            self.workspace = GLOBAL_BASE + end
            self.global_variables.append((self.workspace, WORKSPACE, "the grid's workspace"))
            end += WORKSPACE
        self.data: list[tuple[int, bytes]] = []
        for offset, variable in placed:
            if variable.initial is None:
                continue
            data = bytearray(variable.initial)
            for at, name, addend, shift, width in variable.links:
                target = self.module.variables.get(name)
                if target is not None:
                    value = self._addresses.get(id(target), 0) + addend
                else:
                    value = self.function_address(name) if name in self.module.functions else 0
                data[at : at + width] = (value >> 8 * shift & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            self.data.append((offset, bytes(data)))
        self.global_size = align_up(end + 64, 256)
        self.parameter_base = GLOBAL_BASE + self.global_size

    def address(self, variable: Variable) -> int:
        """The address of a variable within its own state space."""
        try:
            return self._addresses[id(variable)]
        except KeyError:
            raise LaunchError(
                f"The variable {source_name(variable.name)} has no address: it is declared but never defined."
            ) from None

    def function_address(self, name: str) -> int:
        """The number that serves as the address of a function."""
        return FUNCTION_BASE + 16 * list(self.module.functions).index(name)

    # ---- Code ----

    def constant(self, value) -> str:
        """The name of a typed constant in the generated code."""
        key = (value.dtype.char, value.tobytes())
        name = self._constants.get(key)
        if name is None:
            name = self._constants[key] = f"k{len(self._constants)}"
            self.namespace[name] = value
        return name

    def function(self, index: int, full: bool, probes: frozenset, observed: bool, clustered: bool):
        """The generated function of basic block `index`. full: for all lanes of the resident blocks.

        observed: it also tells observers of fences and of synchronisation within warps.
        clustered: for a launch with clusters of several blocks.
        """
        key = (index, full, probes, observed, clustered)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = compile_block(self, self.blocks[index], *key[1:])
        return found
