"""Finds out which state space the pointers of a function point to, so that accesses need not be generic.

clang computes with generic pointers. A pointer is in a state space if each pointer that it can come from is.
"""

from __future__ import annotations

from llvm_ir_to_ptx.lowering.addresses import SPACES
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.module import Function, Module, Parameter
from llvm_ir_to_ptx.reading.types import Pointer
from llvm_ir_to_ptx.reading.values import Conversion, Element, Global, Local, Value, Zero

_ANY = "any"  # of a pointer that may be in every space, as nothing is known of it yet


def parameter_space(function: Function, parameter: Parameter) -> str | None:
    """The state space of what a pointer parameter points to.

    A struct that is passed by value stays with the parameters if it is only read, and is copied to local memory if not.
    """
    if parameter.by_value is not None:
        words = parameter.attributes
        kept = "nvvm.grid_constant" in words or (
            "readonly" in words and (function.is_kernel or words.get("captures") == "none")
        )
        return "param" if kept else "local"
    if isinstance(parameter.type, Pointer) and parameter.type.space:
        return SPACES.get(parameter.type.space)
    return "global" if function.is_kernel else None


def spaces_of(module: Module, function: Function) -> dict[str, str | None]:
    """The state space of each pointer of a function by its name; None for one that stays generic."""
    spaces: dict[str, str | None] = {
        parameter.name: parameter_space(function, parameter)
        for parameter in function.parameters
        if isinstance(parameter.type, Pointer)
    }
    pointers = {
        instruction.name: instruction
        for block in function.blocks
        for instruction in block.instructions
        if instruction.name is not None and isinstance(instruction.type, Pointer)
    }
    spaces |= dict.fromkeys(pointers, _ANY)
    changed = True
    while changed:
        changed = False
        for name, instruction in pointers.items():
            found = _of_instruction(module, instruction, spaces)
            if found != spaces[name]:
                spaces[name], changed = found, True
    return {name: None if space == _ANY else space for name, space in spaces.items()}


def _of_instruction(module: Module, instruction: Instruction, spaces: dict[str, str | None]) -> str | None:
    of = instruction.type
    own = SPACES.get(of.space) if isinstance(of, Pointer) else None
    if own:
        return own
    op, operands = instruction.op, instruction.operands
    if op == "alloca":
        return "local"
    if op in ("getelementptr", "addrspacecast", "bitcast", "freeze"):
        return _of_value(module, operands[0].value, operands[0].type, spaces)
    if op == "select":
        return _common([_of_value(module, operand.value, of, spaces) for operand in operands[1:]])
    if op == "phi":
        return _common([_of_value(module, value, of, spaces) for value, _ in instruction.incoming])
    return None


def _of_value(module: Module, value: Value, of: object, spaces: dict[str, str | None]) -> str | None:
    own = SPACES.get(of.space) if isinstance(of, Pointer) else None
    if own:
        return own
    if isinstance(value, Local):
        return spaces.get(value.name)
    if isinstance(value, Global):
        known = module.variables.get(value.name)
        return SPACES.get(known.space, "global") if known else None
    if isinstance(value, Conversion) and value.op in ("addrspacecast", "bitcast"):
        return _of_value(module, value.of.value, value.of.type, spaces)
    if isinstance(value, Element):
        return _of_value(module, value.operands[0].value, value.operands[0].type, spaces)
    return _ANY if isinstance(value, Zero) and value.undefined else None


def _common(found: list[str | None]) -> str | None:
    """The space that all agree on; None if they do not."""
    known = {space for space in found if space != _ANY}
    return known.pop() if len(known) == 1 else None if known else _ANY
