"""`lab.kernel("t4/03_swizzled")`: look at it, change it, run it, use it, take it apart."""

from __future__ import annotations

import difflib
import sys
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

import gpu_runner as device
from gemm_lab import catalog, compiling
from gemm_lab.cards import html
from gemm_lab.catalog import Edit, KernelSpec
from gemm_lab.config import BACKENDS
from gemm_lab.config import backend as chosen_backend
from gemm_lab.config import sms as wanted_sms
from gemm_lab.lab import operands
from gemm_lab.lab.here import here
from gemm_lab.lab.kernel_signature import require_form
from gemm_lab.lab.run import Run
from gpu_runner.settings import busy
from gpu_simulator import compiler
from gpu_simulator.argument_checks import checked
from gpu_simulator.compiler import Compiled
from gpu_simulator.errors import ConfigError, LabError, SizeError
from gpu_simulator.hardware.data_sheets import Gpu, gpu
from gpu_simulator.hardware.occupancy import Occupancy, occupancy

if TYPE_CHECKING:
    from gemm_lab.cards.instruction_mix import InstructionMix
    from gemm_lab.cards.profile_card import Profile
    from gemm_lab.cards.timeline import Pipeline

DEFAULT_N = 512


@dataclass(frozen=True)
class Kernel:
    """One rung with a configuration and perhaps the learner's edits; never changes, every change is a new one."""

    spec: KernelSpec = field(repr=False)
    config: dict[str, int]
    edits: dict[str, Edit] = field(default_factory=dict, repr=False)
    whole: Edit | None = field(default=None, repr=False)
    alias: str | None = None
    emulated_arch: str | None = None  # what the emulator runs it for, if not the GPU that its ladder is taught on

    def __post_init__(self):
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
        default = self.spec.configure(here().gpu.key if here().gpu else None)
        changes = [f"{name}={value}" for name, value in self.config.items() if default.get(name) != value]
        edited = " edited" if self.edited and self.source != self.spec.source else ""
        edited += f" as {self.alias}" if self.edited and self.alias else ""
        return f"{self.name}{edited}" + (f" ({', '.join(changes)})" if changes else "")

    @property
    def edited(self) -> bool:
        return bool(self.edits) or self.whole is not None

    @property
    def source(self) -> str:
        """The CUDA text with the learner's edits in place (without `#line` directives)."""
        if self.whole:
            return self.whole.text
        lines = catalog.splice(self.spec.source, self.spec.file, self.edits).split("\n")
        return "\n".join(line for line in lines if not line.startswith("#line "))

    @property
    def regions(self) -> dict[str, str]:
        """Text of every region that a cell can edit, by name."""
        return {name: region.text for name, region in catalog.find_regions(self.source).items()}

    @property
    def block(self) -> tuple[int, int] | None:
        """(BLOCK_M, BLOCK_N), the block tile of D, where the configuration names it."""
        return tuple(self.config[name] for name in ("BLOCK_M", "BLOCK_N")) if "BLOCK_N" in self.config else None

    def __call__(self, **settings: int) -> Kernel:
        """The same source with other tile sizes: `k(BLOCK_K=32)`."""
        config = self.spec.configure(None, **settings)
        return replace(self, config={**self.config, **{name: config[name] for name in settings}})

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

    @checked
    def diff(self, other: Kernel | str | None = None) -> Diff:
        """What changes against another kernel; without one, against the rung it extends or the unedited one."""
        if other is None:
            other = Kernel(self.spec, self.config) if self.edited else self.spec.extends
        if other is None:
            raise LabError(f"{self.name} is the first rung; name a kernel to compare it with.")
        base = kernel(other) if isinstance(other, str) else other
        return Diff(base.label, self.label, base.source, self.source)

    # ---- What it compiles to ----

    def runs_here(self) -> bool:
        """Whether there is a GPU here that the kernel is written for."""
        arch = here().arch
        return arch is not None and self.spec.written_for(arch)

    @checked
    def compile(self, arch: str | None = None) -> Compiled:
        """PTX and CUBIN for `arch`; by default for this GPU, or for the one that the ladder is taught on.

        The taught one also where the kernel is not written for this GPU: the emulator runs it then.
        """
        arch = arch or (here().arch if self.runs_here() else self.taught_gpu().arch)
        if not self.spec.written_for(arch):
            raise ConfigError(f"{self.name} {self.spec.not_for(arch)}.")
        cell = None
        if self.whole:
            source = f'#line {self.whole.first_line} "{self.whole.file}"\n{self.whole.text}'
            cell = (self.whole.text, self.whole.first_line)
        elif self.edits:
            source = catalog.splice(self.spec.source, self.spec.file, self.edits)
            edit = next(iter(self.edits.values()))
            cell = (edit.text, edit.first_line)
        else:
            source = self.spec.source
        file = f"{self.spec.ladder}/{self.spec.path.stem}"  # several kernels may share it
        return compiling.compile(source, config=self.config, arch=arch, name=file, cell=cell)

    def compile_as_taught(self) -> Compiled:
        """For `emulated_arch`, else for the ladder's reference GPU, so that the emulator counts the same everywhere."""
        return self.compile(self.emulated_arch or self.taught_gpu().arch)

    @checked
    def sass(self, line: int | None = None, arch: str | None = None) -> Sass:
        """Machine code; with `line`, only what that line of the source became."""
        compiled = self.compile(arch)
        lines = compiler.disassemble(compiled)
        own = "cell" if self.edited else self.spec.file
        if line is not None:
            here_lines = [item for item in lines if item.line == line and item.file == own]
            if not here_lines:
                known = sorted({item.line for item in lines if item.file == own})
                near = min(known, key=lambda number: abs(number - line)) if known else None
                raise LabError(
                    f"No instruction stems from line {line} of {own}."
                    + (f" The nearest line with instructions is {near}." if near else "")
                )
            lines = tuple(here_lines)
        return Sass(compiled, lines, line)

    @checked
    def occupancy(self, compiled: Compiled | None = None, on: str | None = None) -> Occupancy:
        """Blocks that fit on one multiprocessor of GPU `on` (default: the one it is compiled for)."""
        compiled = compiled or self.compile()
        target = gpu(on) if on else (self.runs_here() and here().gpu or self.taught_gpu())
        return occupancy(target, compiled.threads, compiled.registers, compiled.smem)

    @checked
    def instruction_mix(self, arch: str | None = None) -> InstructionMix:
        """Machine instructions by class, in the kernel and in its main loop: `k.instruction_mix("sm_75")`."""
        from gemm_lab.cards.instruction_mix import instruction_mix

        return instruction_mix(self, arch)

    # ---- What it does ----

    @checked
    def profile(self, n: int | None = None, record: bool | None = None, *, on: str | None = None) -> Profile:
        """What Nsight Compute saw of this kernel and of the one before: stalls, executed instructions, gauges.

        Shows the recorded card at the size nearest to n. Without one, and with a GPU and ncu, it profiles now
        (`record=True` always does); without those it shows what the machine code tells.
        on: the card recorded on that GPU instead; a `LabError` names the GPUs that have one.
        """
        from gemm_lab.cards.profile_card import profile

        return profile(self, n, record, on)

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
        sure: bool = False,
    ) -> Run:
        """Compile, launch, check and time an m × n × k product (m and k default to n).

        Two checks: small integers must be exact, normal numbers within the bound of `measure.check`.
        Without a GPU the emulator runs the kernel, counts what each line costs, and the recorded speed is shown;
        a run of more than a minute there has to be asked for with `sure`.
        """
        if self.spec.ceiling:
            raise LabError(
                f"{self.name} multiplies no matrices: it repeats one instruction in registers. The bench of "
                "a ladder times it."
            )
        m, k = n if m is None else m, n if k is None else k
        self.spec.require_size(self.config, m, n, k)
        if seed < 0:
            raise ConfigError(f"seed has to be at least 0, not {seed}.")
        where = self._backend(backend)
        # What the emulator counts is of the taught GPU, whichever is here.
        compiled = self.compile() if where == "gpu" else self.compile_as_taught()
        if self.whole:
            require_form(compiled, self.problem)
        if where == "emulator":
            from gemm_lab.lab import emulating

            emulating.require_patience(self, compiled, m, n, k, sure)
            verdicts, report = emulating.check_on_emulator(self, compiled, m, n, k, seed)
            return Run(
                self,
                where,
                m,
                n,
                k,
                compiled,
                all(verdicts),
                _message(verdicts),
                report=report,
                recorded=self._recorded(n),
                output=report.output,
            )
        from gemm_lab.lab import measuring

        verdicts = measuring.check_twice(self, compiled, m, n, k, seed)
        passed, output = all(verdicts), measuring.printed()
        speed = measuring.quick_speed(self, compiled, m, n, k) if passed and timed else {}
        return Run(self, where, m, n, k, compiled, passed, _message(verdicts), output=output, **speed)

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
        from gemm_lab.cards.timeline import pipeline, recorded_pipeline

        if on is not None:
            return recorded_pipeline(self, on)
        return pipeline(self, m, n, k, sms, costs)

    @checked
    def gemm(self, a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 0.0) -> np.ndarray:
        """D = alpha·A·B + beta·C of NumPy, CuPy or torch matrices; returns NumPy.

        A is (m, k), B (k, n), C (m, n), in the kernel's input and output types.
        """
        problem = self.problem
        if self.spec.ceiling:
            raise LabError(f"{self.name} multiplies no matrices.")
        if not problem.uses_c and (c is not None or alpha != 1.0 or beta != 0.0):
            raise ConfigError(f"{self.name} computes {problem.formula}; leave out C, alpha and beta.")
        if beta != 0.0 and c is None:
            raise ConfigError("beta is not 0, so C is needed.")
        left, right = operands.operand(a, "A", problem.dtype_in), operands.operand(b, "B", problem.dtype_in)
        addend = None if c is None else operands.operand(c, "C", problem.dtype_out)
        m, n, k = operands.check_shapes(left, right, addend)
        self.spec.require_size(self.config, m, n, k)
        dtype = operands.numpy_dtype(problem.dtype_out)
        arrays = {
            "a": operands.stored(left, problem.layout_a),
            "b": operands.stored(right, problem.layout_b),
            "c": np.zeros((m, n), dtype) if addend is None else np.ascontiguousarray(addend),
            "d": np.full((m, n), np.nan, dtype),
        }
        compiled, args = self.compile(), operands.arguments(problem, arrays, m, n, k, alpha, beta)
        if self.whole:
            require_form(compiled, problem)
        if self._backend(None) == "emulator":
            from gemm_lab.lab import emulating

            emulating.require_patience(self, compiled, m, n, k, sure=False)
            after, _ = emulating.launch(
                compiled, self.grid(m, n, k), args, self.spec.cluster, **emulating.limits(m, n, k)
            )
        else:
            after = device.launch(
                compiled, grid=self.grid(m, n, k), cluster=self.spec.cluster, args=args, names=problem.arguments
            )
        return after[problem.arrays.index("d")]

    @checked
    def grid(self, m: int, n: int, k: int) -> tuple[int, int, int]:
        """Blocks in x, y and z for an m × n × k product on this GPU, or on the taught one (or for GEMM_LAB_SMS)."""
        sms = wanted_sms() or (here().present.sms if self.runs_here() else self.taught_gpu().sms)
        return self.spec.launch_grid(self.config, m, n, k, sms)

    # ---- Display ----

    def taught_gpu(self) -> Gpu:
        """The GPU that the kernel's ladder is taught on; a T4 for the ceilings."""
        return gpu(catalog.ladder(self.spec.ladder).gpu or "t4")

    def _backend(self, wanted: str | None) -> str:
        """As `resolve_backend`; but the emulator where the GPU here cannot run the kernel and was not asked for."""
        where, arch = resolve_backend(wanted), here().arch
        if where != "gpu" or arch is None or self.spec.written_for(arch):
            return where
        if "gpu" in (wanted, chosen_backend()):
            raise ConfigError(f'{self.name} {self.spec.not_for(arch)}; the emulator runs it: backend="emulator".')
        return "emulator"

    def _recorded(self, n: int):
        """The recorded sustained row of this unedited kernel at the size nearest to n, but of one that fills a GPU."""
        if self.edited or self.config != self.spec.configure():
            return None
        from gemm_lab.lab.measuring import SPEED_EDGE, recorded_row

        return recorded_row(self.name, max(n, SPEED_EDGE))

    def __repr__(self) -> str:
        settings = ", ".join(f"{name} {value}" for name, value in self.config.items())
        return f"{self.label}: {self.spec.summary}\n{self.spec.problem.formula}   {settings}"

    def _repr_html_(self) -> str:
        c = self.config
        body = f"<div><b>{escape(self.label)}</b> &nbsp;{escape(self.spec.summary)}</div>" + html.facts(
            [
                ("computes", self.spec.problem.formula),
                ("types", _types(self.spec.problem)),
                *((name, str(value)) for name, value in c.items()),
            ]
        )
        if {"BLOCK_M", "BLOCK_N", "NUM_WARPS_M", "NUM_WARPS_N"} <= set(c):
            warps = (c["NUM_WARPS_M"], c["NUM_WARPS_N"])
            body += html.tile_picture(
                (c["BLOCK_M"], c["BLOCK_N"]), warps, (c["BLOCK_M"] // warps[0], c["BLOCK_N"] // warps[1])
            )
        if self.spec.extends or self.edited:
            changed = self.diff()
            lines = f"{changed.count} new line" + "s" * (changed.count != 1)
            body += html.folded(f"what changes against {changed.before} ({lines})", changed.body())
        body += html.folded("source", html.code(self.source))
        return html.card(body)


def _types(problem: catalog.Problem) -> str:
    """Such as "f32, multiplied in bf16, sums in f32"."""
    rounded = f", multiplied in {problem.compute}" if problem.compute else ""
    return f"{problem.dtype_in}{rounded}, sums in {problem.dtype_acc}"


@dataclass(frozen=True)
class Diff:
    """A unified diff of two sources."""

    before: str
    after: str
    old: str = field(repr=False)
    new: str = field(repr=False)

    @property
    def lines(self) -> list[str]:
        """The diff without its two file lines; the kernels' header comments are left out."""

        def body(text: str) -> list[str]:
            lines = text.split("\n")
            while lines and lines[0].startswith("//"):
                lines.pop(0)
            return lines

        return list(difflib.unified_diff(body(self.old), body(self.new), n=1, lineterm=""))[2:]

    @property
    def count(self) -> int:
        """Lines added."""
        return sum(line.startswith("+") for line in self.lines)

    def body(self) -> str:
        return html.diff_lines([line if line[:2] != "@@" else "@@" for line in self.lines])

    def __repr__(self) -> str:
        return f"{self.before} → {self.after}\n" + "\n".join(self.lines)

    def _repr_html_(self) -> str:
        lines = "1 line" if self.count == 1 else f"{self.count} lines"
        title = f"<b>{escape(self.before)}</b> → <b>{escape(self.after)}</b>, {lines} added or changed"
        return html.card(title + self.body())


@dataclass(frozen=True)
class Sass:
    """Machine code of a kernel, or of one of its lines."""

    compiled: Compiled = field(repr=False)
    lines: tuple
    line: int | None = None

    @property
    def mix(self) -> dict[str, int]:
        """Static count of instructions by opcode, most frequent first."""
        return dict(compiler.instruction_mix(self.lines).most_common())

    def __repr__(self) -> str:
        head = f"{self.compiled.name}, {self.compiled.arch}" + (f", line {self.line}" if self.line else "")
        mix = ", ".join(f"{count} {name}" for name, count in self.mix.items())
        return "\n".join(
            [f"{head}: {len(self.lines)} instructions ({mix})"]
            + [f"  {item.address:06x}  {item.text}" for item in self.lines]
        )

    def _repr_html_(self) -> str:
        head = f"{self.compiled.name} for {self.compiled.arch}" + (f", line {self.line}" if self.line else "")
        listing = escape("\n".join(f"{item.address:06x}  {item.text}" for item in self.lines[:400]))
        pre = f'<pre style="background:#fff;color:#1b1b1b;font-size:12px;line-height:1.3;margin:0">{listing}</pre>'
        shown = pre if len(self.lines) <= 12 else html.folded(f"{len(self.lines)} instructions", pre)
        mix = html.facts([(name, str(count)) for name, count in list(self.mix.items())[:10]])
        return html.card(f"<b>{escape(head)}</b>: {len(self.lines)} instructions{mix}{shown}")


def resolve_backend(wanted: str | None, timing: bool = False) -> str:
    """ "gpu" or "emulator"; a `LabError` where the GPU was asked for and cannot be used.

    While another program has the GPU and GEMM_LAB_BUSY says so, "emulator", unless it is `timing` that is wanted.
    """
    wanted = wanted or chosen_backend()
    if wanted not in BACKENDS:
        raise ConfigError(f"There is no backend “{wanted}”; choose {', '.join(BACKENDS)}.")
    if wanted == "emulator":
        return "emulator"
    if device.available():
        others = device.holder() if wanted == "auto" and busy() == "emulator" and not timing else ""
        if not others:
            return "gpu"
        print(f"{others}; so this runs on the emulator (GEMM_LAB_BUSY).", file=sys.stderr)
        return "emulator"
    if wanted == "gpu":
        raise LabError(f"The GPU cannot be used: {device.why_not()}")
    return "emulator"


def _message(verdicts: list) -> str:
    return "; ".join(verdict.message for verdict in verdicts) if all(verdicts) else verdicts[-1].message


def kernel(name: str, **settings: int) -> Kernel:
    """A kernel of the catalog by its full name, its number or a unique part of its name."""
    spec = catalog.kernel(name)
    return Kernel(spec, spec.configure(here().gpu.key if here().gpu else None, **settings))


__all__ = ["DEFAULT_N", "Diff", "Kernel", "Sass", "SizeError", "kernel", "resolve_backend"]
