"""Turns the optimised LLVM IR that clang makes of CUDA device code into PTX, for a clang without an NVPTX back end."""

from gpu_simulator.compiler.llvm_ir.translation import translate
from gpu_simulator.compiler.llvm_ir.unsupported import UnsupportedIR

__all__ = ["UnsupportedIR", "translate"]
