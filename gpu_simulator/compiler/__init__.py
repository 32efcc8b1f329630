"""Source + configuration + architecture → `Compiled`. Floor 2; needs no GPU and no driver."""

from gpu_simulator.compiler.diagnostics import CompileError, Diagnostic
from gpu_simulator.compiler.disassembly import SassLine, disassemble, instruction_mix
from gpu_simulator.compiler.nvrtc import Compiled, compile
from gpu_simulator.compiler.nvrtc_library import version

__all__ = ["CompileError", "Compiled", "Diagnostic", "SassLine", "compile", "disassemble", "instruction_mix", "version"]
