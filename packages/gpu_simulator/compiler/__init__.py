"""Compiles a CUDA source, with a configuration and for an architecture, to a `Compiled`. Needs no GPU and no driver.

NVRTC is the extra `compiler`. Importing this package needs nothing; `compile` raises `MissingDependency`, which says
what to install, if NVRTC is missing.
"""

from gpu_simulator.compiler.diagnostics import CompileError, Diagnostic
from gpu_simulator.compiler.disassembly import SassLine, disassemble, instruction_mix
from gpu_simulator.compiler.nvrtc import Compiled, compile
from gpu_simulator.compiler.nvrtc_library import version

__all__ = ["CompileError", "Compiled", "Diagnostic", "SassLine", "compile", "disassemble", "instruction_mix", "version"]
