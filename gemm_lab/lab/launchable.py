"""What the parts of the lab ask of a kernel, so that they need not import `gemm_lab.lab.kernel` above them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from gemm_lab.catalog import Edit, KernelSpec, Problem
from gpu_simulator.compiler import Compiled
from gpu_simulator.hardware.data_sheets import Gpu
from gpu_simulator.hardware.occupancy import Occupancy


class Launchable(Protocol):
    """A kernel with its settings and edits that can be compiled, and says for which blocks it is launched."""

    spec: KernelSpec
    config: dict[str, int]
    edits: Mapping[str, Edit]
    whole: Edit | None
    alias: str | None
    tuned_for: str | None

    @property
    def name(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def problem(self) -> Problem: ...
    @property
    def edited(self) -> bool: ...
    @property
    def block(self) -> tuple[int, int] | None: ...

    def unedited(self) -> Launchable: ...
    def compile(self, arch: str | None = None) -> Compiled: ...
    def compile_as_taught(self) -> Compiled: ...
    def grid(self, m: int, n: int, k: int, sms: int | None = None) -> tuple[int, int, int]: ...
    def occupancy(self, compiled: Compiled | None = None, on: str | None = None) -> Occupancy: ...
    def taught_gpu(self) -> Gpu: ...
    def runs_here(self) -> bool: ...
