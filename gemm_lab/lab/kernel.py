"""`lab.kernel("t4/03_swizzled")`: look at it, change it, run it, use it, take it apart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gemm_lab import catalog, config
from gemm_lab.cards.diff import Diff
from gemm_lab.cards.kernel_card import kernel_card
from gemm_lab.cards.sass import Sass, disassembled
from gemm_lab.catalog import Edit, KernelSpec
from gemm_lab.lab.actions import multiplying, running, source
from gemm_lab.lab.here import here
from gemm_lab.lab.run import Run
from gpu_simulator.argument_checks import checked
from gpu_simulator.compiler import Compiled
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware.data_sheets import Gpu, gpu
from gpu_simulator.hardware.occupancy import Occupancy, occupancy

if TYPE_CHECKING:
    from gemm_lab.cards.instruction_mix import InstructionMix
    from gemm_lab.cards.profile_card import Profile
    from gemm_lab.cards.timeline import Pipeline

DEFAULT_N = 512


@dataclass(frozen=True)
class Kernel:
    """One rung with a configuration and perhaps the learner's edits; never changes, every change is a new one.

    emulated_arch: what the emulator runs it for, if not its ladder's reference GPU.
    tuned_for: the GPU whose settings are the default ones, so that `label` leaves them out.
    """

    spec: KernelSpec = field(repr=False)
    config: dict[str, int]
    edits: dict[str, Edit] = field(default_factory=dict, repr=False)
    whole: Edit | None = field(default=None, repr=False)
    alias: str | None = None
    emulated_arch: str | None = None
    tuned_for: str | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", self.spec.clustered(self.config))  # a cluster may depend on the settings

    # ---- What it is ----

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def problem(self) -> catalog.Problem:
        """What it computes, with the tensor maps of this configuration."""
        return self.spec.problem.configured(self.config)

    @property
    def label(self) -> str:
        """The name, with the learner's own name for an edited kernel and every changed setting."""
        return source.label(self)

    @property
    def edited(self) -> bool:
        return bool(self.edits) or self.whole is not None

    @property
    def source(self) -> str:
        """The CUDA text with the learner's edits in place (without `#line` directives)."""
        return source.text(self)

    @property
    def regions(self) -> dict[str, str]:
        """Text of every region that a cell can edit, by name."""
        return {name: region.text for name, region in catalog.find_regions(self.source).items()}

    @property
    def block(self) -> tuple[int, int] | None:
        """(BLOCK_M, BLOCK_N), the block tile of D, where the configuration names it."""
        return (self.config["BLOCK_M"], self.config["BLOCK_N"]) if "BLOCK_N" in self.config else None

    def __call__(self, **settings: int) -> Kernel:
        """The same source with other tile sizes: `k(BLOCK_K=32)`."""
        changed = self.spec.configure(None, **settings)
        return replace(self, config={**self.config, **{name: changed[name] for name in settings}})

    @checked
    def edit(self, file: str = "cell", first_line: int = 1, alias: str | None = None, **regions: str) -> Kernel:
        """The same kernel with the text of some regions replaced: `k.edit(layout="…")`."""
        edits = {**self.edits, **{name: Edit(text, file, first_line) for name, text in regions.items()}}
        catalog.splice(self.spec.source, self.spec.file, edits)
        return replace(self, edits=edits, alias=alias or self.alias)

    @checked
    def rewrite(self, text: str, file: str = "cell", first_line: int = 1, alias: str | None = None) -> Kernel:
        """The same problem and grid with the learner's whole source."""
        return replace(self, whole=Edit(text, file, first_line), edits={}, alias=alias or self.alias)

    def unedited(self) -> Kernel:
        """The rung's own text in the same configuration, emulated for the same GPU."""
        return replace(self, edits={}, whole=None, alias=None)

    def before(self) -> Kernel | None:
        """What it is compared with: the unedited kernel, else the rung that it extends in its own configuration."""
        return self.unedited() if self.edited else kernel(self.spec.extends) if self.spec.extends else None

    @checked
    def diff(self, other: Kernel | str | None = None) -> Diff:
        """What changes against another kernel; without one, against the rung it extends or the unedited one."""
        if other is None:
            return source.required_changes(self)
        base = kernel(other) if isinstance(other, str) else other
        return Diff(base.label, self.label, base.source, self.source)

    # ---- What it compiles to ----

    def runs_here(self) -> bool:
        """Whether there is a GPU here that the kernel is written for."""
        arch = here().arch
        return arch is not None and self.spec.written_for(arch)

    def taught_gpu(self) -> Gpu:
        """The reference GPU of the kernel's ladder; a T4 for the ceilings."""
        return gpu(catalog.ladder(self.spec.ladder).gpu or "t4")

    @checked
    def compile(self, arch: str | None = None) -> Compiled:
        """PTX and CUBIN for `arch`; by default for this GPU, or for the taught one if it is not written for this."""
        arch = arch or (here().arch if self.runs_here() else None) or self.taught_gpu().arch
        if not self.spec.written_for(arch):
            raise ConfigError(f"{self.name} {self.spec.not_for(arch)}.")
        return source.compiled(self, arch)

    def compile_as_taught(self) -> Compiled:
        """For `emulated_arch`, else for the ladder's reference GPU, so that the emulator counts the same everywhere."""
        return self.compile(self.emulated_arch or self.taught_gpu().arch)

    @checked
    def sass(self, line: int | None = None, arch: str | None = None) -> Sass:
        """Machine code; with `line`, only what that line of the source became."""
        return disassembled(self.compile(arch), "cell" if self.edited else self.spec.file, line)

    @checked
    def occupancy(self, compiled: Compiled | None = None, on: str | None = None) -> Occupancy:
        """Blocks that fit on one multiprocessor of GPU `on` (default: the one it is compiled for)."""
        compiled = compiled or self.compile()
        target = gpu(on) if on else (self.runs_here() and here().gpu or self.taught_gpu())
        return occupancy(target, compiled.threads, compiled.registers, compiled.smem)

    @checked
    def instruction_mix(self, arch: str | None = None) -> InstructionMix:
        """Machine instructions by class, in the kernel and in its main loop: `k.instruction_mix("sm_75")`."""
        from gemm_lab.lab.actions.mix import instruction_mix

        return instruction_mix(self, arch)

    # ---- What it does ----

    @checked
    def grid(self, m: int, n: int, k: int, sms: int | None = None) -> tuple[int, int, int]:
        """Blocks in x, y and z for an m × n × k product on a GPU of `sms` multiprocessors.

        By default as many as GEMM_LAB_SMS says, else those of this GPU, or of the taught one if it does not run here.
        """
        present = here().present if self.runs_here() else None
        count = config.sms(sms) or (present or self.taught_gpu()).sms
        return self.spec.launch_grid(self.config, m, n, k, count)

    @checked
    def run(
        self,
        n: int = DEFAULT_N,
        m: int | None = None,
        k: int | None = None,
        *,
        backend: str | None = None,
        seed: int = 0,
        timed: bool = True,
        counted: bool = True,
        sure: bool = False,
        sms: int | None = None,
    ) -> Run:
        """Compile, launch, check and time an m × n × k product (m and k default to n).

        Two checks: small integers must be exact, normal numbers within the bound of `measure.check`. Without a GPU the
        emulator runs the kernel, counts what each line costs, and the recorded speed is shown; a run of more than a
        minute there has to be asked for with `sure`. After a right run on a GPU the emulator counts at a small size,
        unless `counted` is False. sms: multiprocessors that persistent blocks share, see `grid`.
        """
        asked = running.Asked(backend, seed, timed, counted, sure, sms)
        return running.run(self, n, m, k, asked)

    @checked
    def profile(self, n: int | None = None, record: bool | None = None, *, on: str | None = None) -> Profile:
        """What Nsight Compute saw of this kernel and of the one before: stalls, executed instructions, gauges.

        The recorded card at the size nearest to n; without one, and with a GPU and ncu, it profiles now (`record=True`
        always does); else what the machine code tells. on: the card recorded on that GPU; a `LabError` names those.
        """
        from gemm_lab.lab.actions.profiles import profile

        return profile(self, self.before(), n, record, on)

    @checked
    def timeline(
        self,
        m: int | None = None,
        n: int | None = None,
        k: int | None = None,
        *,
        sms: int | None = None,
        on: str | None = None,
        **costs: float,
    ) -> Pipeline:
        """Who of block 0 is busy when, from the emulator's schedule, in logical time: `k.timeline()`.

        Two tiles of D of eight k tiles each, unless a size is given. sms: blocks of a persistent kernel, 1 if not said.
        costs: of the model, such as `load_latency=1200` (`gemm_lab.model.pipeline_placing.Costs`).
        on: the timeline that was stamped on that GPU instead, in its clocks (`gemm_lab.measure.stamps`).
        """
        from gemm_lab.lab.actions import pipelines

        return pipelines.recorded_pipeline(self, on) if on else pipelines.pipeline(self, m, n, k, sms, costs)

    @checked
    def gemm(self, a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 0.0) -> np.ndarray:
        """D = alpha·A·B + beta·C of NumPy, CuPy or torch matrices; returns NumPy.

        A is (m, k), B (k, n), C (m, n), in the kernel's input and output types.
        """
        return multiplying.gemm(self, a, b, c, alpha, beta)

    # ---- Display ----

    def __repr__(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.config.items())
        return f"{self.label}: {self.spec.summary}\n{self.spec.problem.formula}   {settings}"

    def _repr_html_(self) -> str:
        return kernel_card(self.label, self.spec, self.config, self.source, source.changes(self))


def kernel(name: str, **settings: int) -> Kernel:
    """A kernel of the catalog by its full name, its number or a unique part of its name."""
    spec, present = catalog.kernel(name), here().gpu
    key = present.key if present else None
    return Kernel(spec, spec.configure(key, **settings), tuned_for=key)
