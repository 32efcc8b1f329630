"""Source + configuration + architecture → `Compiled`. Floor 2; needs no GPU and no driver."""

from gemm_lab.compiler.diagnostics import CompileError, Diagnostic
from gemm_lab.compiler.disassembly import SassLine, disassemble, instruction_mix
from gemm_lab.compiler.export import standalone
from gemm_lab.compiler.nvrtc import Compiled, compile
from gemm_lab.compiler.nvrtc_library import version

__all__ = ["CompileError", "Compiled", "Diagnostic", "SassLine", "compile", "disassemble", "instruction_mix",
           "standalone", "version"]
