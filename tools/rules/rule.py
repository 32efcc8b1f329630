"""`Rule`: a kernel of `sources`, its launch, and its answers on a GPU, on the simulator and in the recording."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import gpu_runner as device
import gpu_simulator
from gemm_lab import compiling
from gemm_lab.config import data_dir
from gpu_runner.faults import KernelFault, KernelHang
from gpu_simulator.compiler import Compiled
from gpu_simulator.hardware.tensor_map import TensorMap
from tools.opcodes.recording import ARCH, about, on_gpu

SOURCES = Path(__file__).parent / "sources"
FILE = "rules.json"
WORDS = 4096  # 32-bit words of the output
UNTOUCHED = 0x7777_7777  # what an output word holds that the kernel does not write
ENDLESS, FAULT = "does not end", "fault"
_LAUNCH = re.compile(
    r"// launch: (\d+) blocks? of (\d+) threads?(?:, (\d+) bytes of dynamic shared memory)?"
    r"(?:, a map of (\d+) × (\d+) bf16 with boxes of (\d+) × (\d+))?\n"
)
_SAID = re.compile(r"// simulator: (\w+)(?:, (.+))?\n")


@dataclass(frozen=True)
class Rule:
    """A kernel and its launch.

    dynamic: bytes of dynamic shared memory.   tensor: (columns, rows, width and height of the box) of the bf16 array
    whose tensor map, with the 128-byte swizzle, is the kernel's first argument; () without one.   said: what the
    simulator has to say about the kernel, the name of an error or "hazard", and a piece of its message; ("", "") for
    nothing.
    """

    name: str
    source: str
    blocks: int
    threads: int
    dynamic: int
    tensor: tuple[int, ...]
    said: tuple[str, str]

    def digest(self) -> str:
        """A digest of the source without its comments at the top, by which a recording shows that it belongs to it."""
        code = "".join(line for line in self.source.splitlines(True) if not line.startswith("//"))
        return hashlib.sha256(code.encode()).hexdigest()[:16]

    def compiled(self, arch: str) -> Compiled:
        """Raises `CompileError`."""
        found = compiling.compile(self.source, arch=arch, name=f"{self.name}.cu", entry="kernel")
        return replace(found, threads=self.threads, dynamic_smem=self.dynamic)

    def arguments(self) -> list[Any]:
        """The arguments of a launch; the last one is the output."""
        out = np.full(WORDS, UNTOUCHED, np.uint32)
        if not self.tensor:
            return [out]
        columns, rows, width, height = self.tensor
        array = (np.arange(rows * columns) % 256 - 100).astype(ml_dtypes.bfloat16).reshape(rows, columns)
        return [TensorMap.of(array, (width, height), 128), out]

    def on_gpu(self, arch: str) -> list[int] | str:
        """The output on the GPU at hand, without the untouched words at its end; `ENDLESS` or `FAULT`."""
        try:
            arrays = device.launch(self.compiled(arch), grid=(self.blocks, 1, 1), args=self.arguments(), timeout_s=5)
        except KernelHang:
            return ENDLESS
        except KernelFault:
            return FAULT
        return _used(arrays[-1])

    def on_simulator(self, arch: str, timing: str) -> tuple[list[int], list[str]]:
        """The output on the simulator, and the sentences of its hazards. Raises what `gpu_simulator.launch` raises."""
        args = self.arguments()
        report = gpu_simulator.launch(
            self.compiled(arch), "kernel", self.blocks, self.threads, args, observers=("hazards",), timing=timing
        )
        return _used(args[-1]), [str(hazard) for hazard in report.hazards]


def _used(out: np.ndarray) -> list[int]:
    return out[: 1 + int(np.flatnonzero(out != UNTOUCHED).max(initial=-1))].tolist()


@lru_cache(maxsize=1)
def all_rules() -> dict[str, Rule]:
    """Name → rule, of every file of `sources`."""
    return {path.stem: _read(path) for path in sorted(SOURCES.glob("*.cu"))}


def _read(path: Path) -> Rule:
    source = path.read_text()
    launch, said = _LAUNCH.search(source), _SAID.search(source)
    if not launch:
        raise ValueError(f"{path.name} has no line that says how it is launched, as tools/rules/__init__.py shows.")
    blocks, threads, dynamic, *tensor = launch.groups()
    return Rule(
        path.stem,
        source,
        int(blocks),
        int(threads),
        int(dynamic or 0),
        tuple(map(int, tensor)) if tensor[0] else (),
        (said[1], said[2] or "") if said else ("", ""),
    )


def record(folder: str | Path) -> Path:
    """Run all rules on the GPU at hand and write FOLDER/rules.json."""
    answers = {name: {"digest": rule.digest(), "answer": rule.on_gpu(ARCH)} for name, rule in all_rules().items()}
    path = Path(folder) / FILE
    path.write_text(json.dumps({"about": about(on_gpu), "rules": answers}) + "\n")
    return path


@lru_cache(maxsize=1)
def recorded() -> dict[str, dict[str, Any]]:
    """The recording in the repository: name → digest of the source, and answer as `Rule.on_gpu` gives it."""
    return json.loads((data_dir("results") / "profiles" / "h200" / FILE).read_text())["rules"]
