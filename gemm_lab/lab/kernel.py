"""`lab.kernel("t4/03_swizzled")`: a kernel that can be read, edited, run, profiled and disassembled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gemm_lab import catalog, config, source_text
from gemm_lab.cards.diff import Diff
from gemm_lab.cards.kernel_card import edited_source, kernel_card
from gemm_lab.cards.sass import Sass, disassembled
from gemm_lab.cards.source_code import code
from gemm_lab.catalog import KernelSpec
from gemm_lab.lab.actions import multiplying, running, source
from gemm_lab.lab.here import RECORDED_ON, Here, here
from gemm_lab.lab.run import Run
from gemm_lab.problem import Problem
from gemm_lab.source_text import Edit
from gemm_look.card import folded
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked
from gpu_simulator.compiler import Compiled
from gpu_simulator.errors import WITHOUT_MACHINE_CODE, ConfigError, NotHere
from gpu_simulator.hardware.data_sheets import Gpu, gpu
from gpu_timing.occupancy import Occupancy, occupancy

if TYPE_CHECKING:
    from gemm_lab.lab.predicted_timeline import PredictedTimeline
    from gemm_results.cards.instruction_mix import InstructionMix
    from gemm_results.cards.predicted_card import Predicted
    from gemm_results.cards.profile_card import Profile
    from gemm_results.cards.timeline import Pipeline

DEFAULT_N = 512


@dataclass(frozen=True)
class Kernel:
    """One rung with a configuration and perhaps the learner's edits. It is immutable: each change gives a new Kernel.

    simulated_arch: the architecture that the simulator compiles it for, if not that of its ladder's reference GPU.
    tuned_for: the GPU whose settings are the defaults, which `label` does not mention.
    machine: what was found here when the kernel was made; `run` and `gemm` look again.
    """

    spec: KernelSpec = field(repr=False)
    config: dict[str, int]
    edits: dict[str, Edit] = field(default_factory=dict, repr=False)
    whole: Edit | None = field(default=None, repr=False)
    alias: str | None = None
    simulated_arch: str | None = None
    tuned_for: str | None = field(default=None, repr=False, compare=False)
    machine: Here = field(default_factory=lambda: here(), repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spec", self.spec.clustered(self.config))  # the cluster may depend on the settings

    # ---- What it is ----

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def problem(self) -> Problem:
        """The operation that the kernel computes, with the tensor maps of this configuration."""
        return self.spec.problem.configured(self.config)

    @property
    def label(self) -> str:
        """The name, with the learner's own name if the kernel is edited, and with every changed setting."""
        return source.label(self)

    @property
    def edited(self) -> bool:
        return bool(self.edits) or self.whole is not None

    @property
    def source(self) -> str:
        """The CUDA text with the learner's edits, without `#line` directives."""
        return source.text(self)

    @property
    def regions(self) -> dict[str, str]:
        """The text of every region that a cell can edit, by the region's name."""
        return {name: region.text for name, region in source_text.find_regions(self.source).items()}

    @property
    def block(self) -> tuple[int, int] | None:
        """(BLOCK_M, BLOCK_N), the block tile of D; None if the configuration has none."""
        return (self.config["BLOCK_M"], self.config["BLOCK_N"]) if "BLOCK_N" in self.config else None

    def __call__(self, **settings: int) -> Kernel:
        """The same source with other settings, such as `k(BLOCK_K=32)`. Raises `ConfigError` for an unknown setting."""
        changed = self.spec.configure(None, **settings)
        return replace(self, config={**self.config, **{name: changed[name] for name in settings}})

    @checked
    def edit(
        self, *unnamed: Any, file: str = "cell", first_line: int = 1, alias: str | None = None, **regions: str
    ) -> Kernel:
        """The same kernel with the text of some regions replaced, such as `k.edit(layout="…")`.

        Compiler messages name `file` and number the lines from `first_line`. `alias` is the learner's own name for the
        result. Raises an error if there is no region of this name, and for a text without the name of its region.
        """
        if unnamed:
            name = next((name for name in self.spec.regions if name in unnamed), next(iter(self.spec.regions), "name"))
            raise ConfigError(f'Each text is given by the name of its region: edit({name}="…").')
        edits = {**self.edits, **{name: Edit(text, file, first_line) for name, text in regions.items()}}
        source_text.splice(self.spec.source, self.spec.file, edits)
        return replace(self, edits=edits, alias=alias or self.alias)

    @checked
    def rewrite(
        self, text: str, *more: Any, file: str = "cell", first_line: int = 1, alias: str | None = None
    ) -> Kernel:
        """The same problem and grid with `text`, the learner's whole source. Other parameters are those of `edit`."""
        if more:
            raise ConfigError('rewrite takes one text, the whole source; edit(NAME="…") replaces the region NAME.')
        return replace(self, whole=Edit(text, file, first_line), edits={}, alias=alias or self.alias)

    def unedited(self) -> Kernel:
        """The rung's own text, with the same configuration and the same architecture on the simulator."""
        return replace(self, edits={}, whole=None, alias=None)

    def before(self) -> Kernel | None:
        """The kernel to compare with: the unedited one if this is edited, else the rung that it extends; None if none.

        The rung that it extends has its own default configuration.
        """
        return self.unedited() if self.edited else kernel(self.spec.extends) if self.spec.extends else None

    @checked
    def diff(self, other: Kernel | str | None = None) -> Diff:
        """The changes in the text from `other` to this kernel.

        Without `other`, an edited kernel is compared with its rung, and a rung with the rung that it extends. Raises
        `LabError` if there is no such rung.
        """
        if other is not None:
            base = kernel(other) if isinstance(other, str) else other
            return Diff(base.label, self.label, base.source, self.source)
        if (found := source.changes(self)) is None:
            raise LabError(f"{self.name} is the first rung; name a kernel to compare it with.")
        return found

    # ---- What it compiles to ----

    def runs_here(self) -> bool:
        """Whether a GPU can be used here that the kernel is written for."""
        arch = self.machine.arch
        return arch is not None and self.spec.written_for(arch)

    def taught_gpu(self) -> Gpu:
        """The reference GPU of the kernel's ladder; a T4 for the ceilings."""
        return gpu(catalog.ladder(self.spec.ladder).gpu or "t4")

    @checked
    def compile(self, arch: str | None = None) -> Compiled:
        """Compile to PTX and CUBIN for `arch`.

        The default is the architecture of the GPU here, or that of the ladder's reference GPU if the kernel cannot run
        here. Raises `ConfigError` if the kernel is not written for `arch`, and a `LabError` with the line if the
        source does not compile.
        """
        arch = arch or (self.machine.arch if self.runs_here() else None) or self.taught_gpu().arch
        if not self.spec.written_for(arch):
            raise ConfigError(f"{self.name} {self.spec.not_for(arch)}.")
        return source.compiled(self, arch)

    def compile_as_taught(self) -> Compiled:
        """Compile for `simulated_arch`, or else for the ladder's reference GPU.

        The simulator's counts are then the same on every machine. Raises as `compile` does.
        """
        return self.compile(self.simulated_arch or self.taught_gpu().arch)

    @checked
    def sass(self, line: int | None = None, arch: str | None = None) -> Sass:
        """The machine code for `arch` (default: as in `compile`); with `line`, only the code of that source line."""
        return disassembled(self.compile(arch), "cell" if self.edited else self.spec.file, line)

    @checked
    def occupancy(self, compiled: Compiled | None = None, on: str | None = None) -> Occupancy:
        """How many blocks fit on one multiprocessor of GPU `on`, and which resource limits them.

        The default is the GPU here, or the ladder's reference GPU if the kernel cannot run here.
        """
        compiled = compiled or self.compile()
        if not compiled.registers:
            raise NotHere(f"How many blocks of {self.name} fit is unknown: {WITHOUT_MACHINE_CODE}")
        target = gpu(on) if on else (self.runs_here() and self.machine.gpu or self.taught_gpu())
        return occupancy(target, compiled.threads, compiled.registers, compiled.smem)

    @checked
    def instruction_mix(self, arch: str | None = None) -> InstructionMix:
        """Machine instructions counted by class, in the kernel and in its main loop: `k.instruction_mix("sm_75")`."""
        from gemm_lab.lab.actions.mix import instruction_mix

        return instruction_mix(self, arch)

    # ---- What it does ----

    @checked
    def grid(self, m: int, n: int, k: int, sms: int | None = None) -> tuple[int, int, int]:
        """The number of blocks in x, y and z for an m × n × k product on a GPU of `sms` multiprocessors.

        The default of `sms` is GEMM_LAB_SMS if it is set, else the number of the GPU here, or of the ladder's reference
        GPU if the kernel cannot run here. Only persistent kernels depend on it.
        """
        present = self.machine.present if self.runs_here() else None
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
        predict: bool | None = None,
        exact: bool | None = None,
    ) -> Run:
        """Compile, launch, check and time an m × n × k product (m and k default to n).

        There are three checks: with small integers the result must be exact, also for sums that cancel and so need the
        whole accumulator, and with normally distributed numbers it must be within the bound of `measure.check`. Without
        a GPU the simulator runs the kernel and counts what each line costs, and the recorded speed is shown. A
        simulated run that would take more than a minute raises a `LabError` unless `sure` is True. After a correct run
        on a GPU, the simulator counts at a small size, unless
        `counted` is False. sms: see `grid`. predict: whether the card of a correct result has a predicted speed for the
        ladder's reference GPU, or for an H200 if that GPU has no constants; by default in a notebook without a GPU,
        if no backend is named and `timed` is True. exact: whether simulated tensor cores sum as those of the GPU do, to
        the bit, and not in float32; by default only products of FP8. Raises `SizeError` for a size that the kernel
        cannot multiply. A wrong result raises nothing: see `Run.passed`.
        """
        asked = running.Asked(backend, seed, timed, counted, sure, sms, predict, exact)
        return running.run(replace(self, machine=here()), n, m, k, asked)

    @checked
    def profile(self, n: int | None = None, *, on: str | None = None) -> Profile:
        """Nsight Compute's measurements of this kernel and of `before()`: stalls, executed instructions, gauges.

        The result has the recorded card at the size nearest to n. If there is none, as of an edited kernel, it has a
        predicted one, which says so. on: use the card of this GPU; if none was recorded and none can be predicted, a
        `LabError` lists the GPUs with one.
        """
        from gemm_lab.lab.actions.profiles import profile

        return profile(self, self.before(), n, on)

    @checked
    def predict(self, on: str = RECORDED_ON, n: int = 4096, m: int | None = None, k: int | None = None) -> Predicted:
        """Predict cycles, speed and stall reasons of an m × n × k product on GPU `on`, from the machine code.

        No GPU is needed, and nothing is measured. The result says how far such predictions were off in blind trials.
        Raises a `LabError` that lists the GPUs with constants, and one if there is no machine code, as with clang.
        """
        from gemm_lab.lab.actions.predicting import predicted

        return predicted(self, on, m or n, n, k or n)

    @checked
    def predicted_timeline(
        self,
        on: str = RECORDED_ON,
        n: int = 4096,
        m: int | None = None,
        k: int | None = None,
        *,
        where: int | str | None = None,
        start: int | None = None,
        cycles: int = 400,
    ) -> PredictedTimeline:
        """What each warp of an SM issues or waits for, and which units are busy: some cycles of a predicted run.

        Shown is the time around the start of a turn of the main loop, in the middle of the run. where: show the time
        around a source line, or around a region given its name.   start: show the time from this cycle on, counted from
        the start of the SM's first block.   cycles: how many. Raises what `predict` raises, `ConfigError` for a region
        and `LabError` for a line or cycles that do not exist.
        """
        from gemm_lab.lab.actions.predicting import predicted_timeline

        return predicted_timeline(self, on, m or n, n, k or n, where, start, cycles)

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
        """When each warp of block 0 copies, multiplies and waits: a picture in the logical time of the simulator.

        The default size is two tiles of D with eight k tiles each. sms: the number of blocks of a persistent kernel, by
        default one cluster. costs: parameters of the model, such as `load_latency=1200` (see
        `gpu_timing.logical.pipeline_placing.Costs`). on: show instead the timeline that was recorded on this GPU, in
        clock cycles (see `tools/recording/stamps.py`). Raises `LabError` for a kernel without a pipeline and for a size
        that would take long.
        """
        from gemm_lab.lab.actions import pipelines

        return pipelines.recorded_pipeline(self, on) if on else pipelines.pipeline(self, m, n, k, sms, costs)

    @checked
    def gemm(
        self,
        a: Any,
        b: Any,
        c: Any = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        *,
        scale_a: Any = None,
        scale_b: Any = None,
    ) -> Any:
        """Compute D = alpha·A·B + beta·C for NumPy, CuPy or torch matrices; returns D as what A is, on A's device.

        A is (m, k), B is (k, n), C and D are (m, n), in the kernel's input and output types. scale_a and scale_b, for a
        kernel with scales, are float32 of shape (⌈k/128⌉, m) and (⌈n/128⌉, ⌈k/128⌉): one factor for 128 neighbours in
        a row of A, and one for 128 × 128 values of B. Raises `SizeError` for shapes that do not fit and `ConfigError`
        for other types.
        """
        scales = {"scale_a": scale_a, "scale_b": scale_b}
        return multiplying.gemm(replace(self, machine=here()), a, b, c, alpha, beta, **scales)

    # ---- Display ----

    def __repr__(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.config.items())
        return f"{self.label}: {self.spec.summary}\n{self.spec.problem.formula}   {settings}"

    def _repr_html_(self) -> str:
        if self.edits:
            shown = edited_source(self.spec.file, source.listing(self), list(self.edits))
        else:
            shown = folded("source", code(self.source))
        return kernel_card(self.label, self.spec, self.config, shown, source.changes(self))


def kernel(name: str, **settings: int) -> Kernel:
    """A kernel of the catalogue by its full name, its number or a unique part of its name, with `settings` changed."""
    spec, machine = catalog.kernel(name), here()
    key = machine.gpu.key if machine.gpu else None
    return Kernel(spec, spec.configure(key, **settings), tuned_for=key, machine=machine)
