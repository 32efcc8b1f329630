"""Disassembles a CUBIN to SASS, and gives the source line of each machine instruction.

nvdisasm reads the line table that `-lineinfo` put into the CUBIN, so this works for every architecture without a GPU.
"""

from __future__ import annotations

import re
import shutil
import site
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from gpu_simulator.compiler.diagnostics import short_name
from gpu_simulator.errors import WITHOUT_MACHINE_CODE, MissingDependency, NotHere, SimulatorError

INDIRECT = -1  # the callee of a call through a pointer


@dataclass(frozen=True)
class SassLine:
    """One machine instruction. `file` and `line` are the outermost source line that it was compiled from.

    `inner` is the wrapper's own (file, line) if the instruction was inlined from a header. `target` is the address that
    a branch jumps to; of a jump table, the lowest address. `callee` is the address of the function that a call enters,
    or `INDIRECT` if a register holds it; None for all other instructions. `function` is the address of the first
    instruction of the function that this instruction belongs to; 0 for the kernel's own code. `encoding` is the
    instruction itself, a number of 128 bits whose upper bits hold the stall count and the scoreboards.
    """

    address: int
    text: str
    file: str
    line: int
    inner: tuple[str, int] | None = None
    target: int | None = None
    callee: int | None = None
    function: int = 0
    encoding: int = 0

    @property
    def opcode(self) -> str:
        """The mnemonic with its modifiers: "LDSM.16.M88.4", "HMMA.1688.F16"."""
        words = self.text.split()
        return (words[1] if words[0].startswith("@") else words[0]).rstrip(";")


_ADDRESS = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?;)")
_ENCODING = re.compile(r"/\* 0x([0-9a-f]{16}) \*/")
_LABEL = re.compile(r"^(\.L\w+|\$\S+):")
_JUMP = re.compile(r"\bBRA\S*.*`\((\.L\w+)\)")
_TABLE = re.compile(r'"BRANCH_TARGETS ([^"]*)"')
_CALL = re.compile(r"\bCALL\S*( R\d+)? `?\(?([^\s)]*)")
_FILE = re.compile(r'//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?')


class HasCubin(Protocol):
    """What can be disassembled: a kernel's machine code and its name, as a `Compiled` has them."""

    @property
    def cubin(self) -> bytes:
        """The machine code."""

    @property
    def entry(self) -> str:
        """The kernel's name in it."""


def disassemble(compiled: HasCubin) -> tuple[SassLine, ...]:
    """All instructions of `compiled.entry`, in address order.

    Raises `SimulatorError` if nvdisasm fails, `MissingDependency` without nvdisasm, `NotHere` without machine code.
    """
    if not compiled.cubin:
        raise NotHere(f"{compiled.entry} has no machine code here: {WITHOUT_MACHINE_CODE}")
    return _disassemble(compiled.cubin, compiled.entry)


@lru_cache(maxsize=32)
def _disassemble(cubin: bytes, entry: str) -> tuple[SassLine, ...]:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([nvdisasm(), "-gi", "-c", "-hex", file.name], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise SimulatorError(f"nvdisasm could not read the kernel: {done.stderr.strip().splitlines()[-1:]}.")
    lines, inside, function = [], False, 0
    labels: dict[str, int] = {}
    waiting: list[str] = []  # labels of the next instruction
    origin: tuple[str, int] = ("", 0)
    inner: tuple[str, int] | None = None
    fresh = True
    for text in done.stdout.split("\n"):
        if text.lstrip().startswith(".section\t"):
            inside = f".text.{entry}," in text
        if not inside:
            continue
        label = _LABEL.match(text)
        if label:
            waiting.append(label[1])
            continue
        note = _FILE.search(text)
        if note:
            # A chain of notes runs from the innermost frame outwards; the last one names the learner's line.
            if fresh:
                inner = (short_name(note[1]), int(note[2])) if note[3] else None
                origin = (short_name(note[1]), int(note[2]))
                fresh = False
            if note[3]:
                origin = (short_name(note[3]), int(note[4]))
            continue
        instruction = _ADDRESS.match(text)
        if instruction:
            address = int(instruction[1], 16)
            function = address if any(name.startswith("$") for name in waiting) else function
            labels.update(dict.fromkeys(waiting, address))
            waiting, fresh = [], True
            low = int((_ENCODING.search(text) or ("", "0"))[1], 16)
            lines.append(
                SassLine(address, " ".join(instruction[2].split()), *origin, inner, function=function, encoding=low)
            )
        elif lines and (high := _ENCODING.search(text)):
            lines[-1] = replace(lines[-1], encoding=lines[-1].encoding | int(high[1], 16) << 64)
    return tuple(_with_target(line, labels) for line in lines)


def _with_target(line: SassLine, labels: dict[str, int]) -> SassLine:
    if jump := _JUMP.search(line.text):
        return replace(line, target=labels.get(jump[1]))
    if table := _TABLE.search(line.text):
        known = [labels[name] for name in table[1].split(",") if name in labels]
        return replace(line, target=min(known, default=None))
    if call := _CALL.search(line.text):
        return replace(line, callee=INDIRECT if call[1] else labels.get(call[2], INDIRECT))
    return line


def instruction_mix(lines: Iterable[SassLine]) -> Counter[str]:
    """How many instructions of each opcode (first part of the mnemonic: HMMA, LDSM, LDG, …) `lines` contains."""
    return Counter(line.opcode.split(".")[0] for line in lines)


@lru_cache(maxsize=1)
def nvdisasm() -> str:
    """Path of nvdisasm: from the pip package, else from PATH, else from an installed CUDA toolkit.

    Raises `MissingDependency`.
    """
    bases = [Path(p) for p in (*sys.path, *site.getsitepackages()) if p]
    for folder in [base / "nvidia" / cu / "bin" for base in bases for cu in ("cu13", "cuda_nvdisasm", "cu12")]:
        if (folder / "nvdisasm").is_file():
            return str(folder / "nvdisasm")
    found = shutil.which("nvdisasm") or shutil.which("nvdisasm", path="/usr/local/cuda/bin")
    if not found:
        raise MissingDependency("nvdisasm was not found. Install it with: pip install 'cuda-toolkit[nvdisasm]'")
    return found
