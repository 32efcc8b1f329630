"""Translates a module of LLVM IR to PTX."""

from __future__ import annotations

from llvm_ir_to_ptx.function_body import function_text
from llvm_ir_to_ptx.global_variables import declarations
from llvm_ir_to_ptx.lowering.calls import prototype
from llvm_ir_to_ptx.reading.instructions import Instruction
from llvm_ir_to_ptx.reading.module import Function, Module, read_module
from llvm_ir_to_ptx.source_lines import SourceLines
from llvm_ir_to_ptx.unsupported import UnsupportedIR

VERSION = "8.8"  # of the PTX that is written: the first with all that the architectures up to sm_103a have


def translate(ir: str, *, arch: str, entry: str | None = None) -> str:
    """The PTX text for the optimised LLVM IR that clang makes of CUDA device code.

    ir: text of a module for nvptx64-nvidia-cuda.   arch: such as "sm_90a".
    entry: translate only this kernel and what it calls; None: every function.
    Raises `UnsupportedIR` for a construct that has no translation here, with its source line where it is known, and
    for a kernel that is not there.
    """
    module = read_module(ir)
    wanted = _wanted(module, entry)
    lines, bodies = SourceLines(), []
    for number, function in enumerate(wanted):
        if function.blocks:
            bodies += ["", *function_text(module, function, number, arch, lines)]
    heads = [f".extern {prototype(function)};" for function in wanted if not function.blocks]
    heads += [f"{prototype(function)};" for function in wanted if function.blocks and not function.is_kernel]
    variables = declarations(module, "\n".join(bodies))
    top = [f".version {VERSION}", f".target {arch}", ".address_size 64", ""]
    return "\n".join([*top, *heads, *variables, *bodies, "", *lines.tables(), ""])


def _wanted(module: Module, entry: str | None) -> list[Function]:
    """The functions to translate: the kernels and what they call, each behind those that it calls, if it can be."""
    kernels = [function for function in module.functions.values() if function.blocks and function.is_kernel]
    if entry is not None:
        kernels = [function for function in kernels if function.name == entry]
        if not kernels:
            raise UnsupportedIR(f"A module without the kernel {entry}")
    wanted: dict[str, Function] = {}
    for kernel in kernels:
        _collect(module, kernel, wanted, set())
    return list(wanted.values())


def _collect(module: Module, function: Function, wanted: dict[str, Function], begun: set[str]) -> None:
    """Add a function to `wanted`, behind those that it calls. begun: names that are being added."""
    if function.name in wanted or function.name in begun:
        return
    begun.add(function.name)
    for instruction in _calls(function):
        callee = module.functions.get(instruction.callee)
        called = [callee] if callee is not None else []
        if not instruction.callee:  # any function may be called by its address
            called = [one for one in module.functions.values() if one.blocks and not one.is_kernel]
        for one in called:
            if not one.name.startswith("llvm."):
                _collect(module, one, wanted, begun)
    wanted[function.name] = function


def _calls(function: Function) -> list[Instruction]:
    return [one for block in function.blocks for one in block.instructions if one.op == "call"]
