"""Source + configuration + architecture → `Compiled`. Needs NVRTC (the extra `compiler`), but no GPU and no driver.

Importing this needs nothing; `compile` raises `MissingDependency` with what to install where NVRTC is missing.
"""

from gpu_simulator.compiler.diagnostics import CompileError, Diagnostic
from gpu_simulator.compiler.disassembly import SassLine, disassemble, instruction_mix
from gpu_simulator.compiler.nvrtc import Compiled, compile
from gpu_simulator.compiler.nvrtc_library import version

__all__ = ["CompileError", "Compiled", "Diagnostic", "SassLine", "compile", "disassemble", "instruction_mix", "version"]
