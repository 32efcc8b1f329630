"""Turns the optimised LLVM IR that clang makes of CUDA device code into PTX, for a clang without an NVPTX back end."""

from llvm_ir_to_ptx.translation import translate
from llvm_ir_to_ptx.unsupported import UnsupportedIR

__all__ = ["UnsupportedIR", "translate"]
