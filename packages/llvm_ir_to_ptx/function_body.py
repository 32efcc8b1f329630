"""Translates one function: its parameters, then its blocks in an order in which every value comes before its uses."""

from __future__ import annotations

from collections.abc import Callable

from llvm_ir_to_ptx.code import PREFIXES
from llvm_ir_to_ptx.control_flow import dominators, in_order
from llvm_ir_to_ptx.few_branches import with_few_branches
from llvm_ir_to_ptx.lowering import arithmetic, branches, memory
from llvm_ir_to_ptx.lowering.address_spaces import parameter_space, spaces_of
from llvm_ir_to_ptx.lowering.addresses import Address
from llvm_ir_to_ptx.lowering.calls import call, declared, of_parameter, own_align, prototype, taken
from llvm_ir_to_ptx.lowering.context import Lowering
from llvm_ir_to_ptx.lowering.inline_asm import asm
from llvm_ir_to_ptx.moves import without_moves
from llvm_ir_to_ptx.reading.debug_lines import Frame
from llvm_ir_to_ptx.reading.instructions import BINARY, CONVERSIONS, Instruction
from llvm_ir_to_ptx.reading.module import Block, Function, Module
from llvm_ir_to_ptx.reading.types import Pointer, align_of, scalars
from llvm_ir_to_ptx.source_lines import SourceLines
from llvm_ir_to_ptx.unsupported import UnsupportedIR, shortened
from llvm_ir_to_ptx.wide_loads import with_wide_loads

_LOWERED: dict[str, Callable[[Lowering, Instruction], None]] = {
    **dict.fromkeys(BINARY, arithmetic.binary),
    **dict.fromkeys(CONVERSIONS, arithmetic.convert),
    "alloca": memory.alloca,
    "asm": asm,
    "atomicrmw": memory.atomicrmw,
    "br": branches.branch,
    "call": call,
    "cmpxchg": memory.cmpxchg,
    "extractelement": arithmetic.extractelement,
    "extractvalue": arithmetic.extractvalue,
    "fcmp": arithmetic.fcmp,
    "fence": memory.fence,
    "fneg": arithmetic.fneg,
    "freeze": arithmetic.freeze,
    "getelementptr": arithmetic.getelementptr,
    "icmp": arithmetic.icmp,
    "insertelement": arithmetic.insertelement,
    "insertvalue": arithmetic.insertvalue,
    "load": memory.load,
    "phi": lambda low, instruction: None,  # its registers are set at the ends of the blocks before
    "ret": branches.leave,
    "select": arithmetic.select,
    "shufflevector": arithmetic.shufflevector,
    "store": memory.store,
    "switch": branches.switch,
    "unreachable": branches.unreachable,
}
# Attributes of a kernel, and the directives that they stand for.
_DIRECTIVES = {
    "nvvm.maxntid": ".maxntid",
    "nvvm.reqntid": ".reqntid",
    "nvvm.minctasm": ".minnctapersm",
    "nvvm.maxnreg": ".maxnreg",
    "nvvm.maxclusterrank": ".maxclusterrank",
}


def function_text(module: Module, function: Function, number: int, arch: str, lines: SourceLines) -> list[str]:
    """The lines of PTX of a function. number: one that no other function of the module has.

    lines: notes the files and functions that the source positions name. Raises `UnsupportedIR`, with the source line
    where it is known.
    """
    low = Lowering(module, function, number, arch)
    low.spaces = spaces_of(module, function)
    order = in_order(function)
    nearest = dominators(order)
    for block in order:
        branches.declare_phis(low, block.label, block.instructions)
    low.code.frames = _start(module, order)
    take_parameters(low)
    known = {"": low.code.known}
    for block, following in zip(order, [*order[1:], None], strict=True):
        low.block, low.following = block.label, following.label if following else ""
        low.code.known = dict(known[nearest.get(block.label, "")])
        low.code.products = set()
        low.code.label(low.label_of(block.label))
        for instruction in block.instructions:
            if instruction is block.instructions[-1]:  # what is computed on the way to a target is not known elsewhere
                known[block.label] = dict(low.code.known)
            _translate(low, instruction)
    return [
        *_head(low),
        "{",
        *_registers(low),
        *lines.interleaved(with_few_branches(without_moves(with_wide_loads(low.code.finished())))),
        "}",
    ]


def _translate(low: Lowering, instruction: Instruction) -> None:
    debug = low.module.debug
    low.code.frames = debug.frames(instruction.debug) or low.code.frames
    try:
        _LOWERED[instruction.op](low, instruction)
    except (UnsupportedIR, IndexError, KeyError, ValueError) as error:  # the others for operands that do not fit
        unfit = f"The instruction “{shortened(instruction.text)}”"
        told = error.construct if isinstance(error, UnsupportedIR) else unfit
        raise UnsupportedIR(told, debug.where(instruction.debug)) from error


def _start(module: Module, order: list[Block]) -> tuple[Frame, ...]:
    """The position of the first instruction that has one, as that of its outermost call."""
    found = (module.debug.frames(one.debug) for block in order for one in block.instructions)
    return next((frames[-1:] for frames in found if frames), ())


def take_parameters(low: Lowering) -> None:
    """Load the parameters. Structs that are passed by value stay where they are, or are copied to local memory."""
    function, code = low.function, low.code
    for number, parameter in enumerate(function.parameters):
        of, place = of_parameter(parameter), Address(f"{low.name}_param_{number}", 0, "param")
        space = parameter_space(function, parameter)
        if parameter.by_value is not None:
            if space == "local":
                place, there = memory.local_variable(low, of), place
                memory.copy(low, place, there, of, align_of(of))
            low.values[parameter.name] = [place]
            continue
        values = memory.load_from(low, "ld", place, of, align_of(of)) if function.is_kernel else taken(low, place, of)
        kinds = scalars(of)
        if function.is_kernel and isinstance(of, Pointer) and space == "global":
            values = [code.compute("cvta.to.global.u64", "b64", values[0])]
        low.values[parameter.name] = [
            Address(value, 0, space) if isinstance(kind, Pointer) else value
            for value, kind in zip(values, kinds, strict=True)
        ]


def _head(low: Lowering) -> list[str]:
    function = low.function
    if not function.is_kernel:
        return [prototype(function)]
    parameters = [
        declared(of_parameter(parameter), f"{low.name}_param_{number}", own_align(parameter), in_kernel=True)
        for number, parameter in enumerate(function.parameters)
    ]
    head = [f".visible .entry {low.name}(", *_separated(parameters), ")"]
    for name, directive in _DIRECTIVES.items():
        if name in function.settings:
            head.append(f"{directive} {', '.join(function.settings[name].split(','))}")
    if "nvvm.cluster_dim" in function.settings:
        extents = ", ".join(function.settings["nvvm.cluster_dim"].split(","))
        head += [".explicitcluster", f".reqnctapercluster {extents}"]
    return head


def _separated(parameters: list[str]) -> list[str]:
    return [f"\t{text}{',' if number < len(parameters) else ''}" for number, text in enumerate(parameters, 1)]


def _registers(low: Lowering) -> list[str]:
    """The declarations of the registers and of local memory."""
    found = [f"\t.reg .{kind} \t{PREFIXES[kind]}<{count + 1}>;" for kind, count in low.code.counts.items()]
    if low.local_bytes:
        found.append(f"\t.local .align 16 .b8 \t{low.depot}[{low.local_bytes}];")
    return found
