"""Breaks a kernel on purpose and says what happens: a deadlock, a fault, a wrong result, a hazard, or nothing.

from gemm_lab_lessons.shared.fault_injection import inject_fault
inject_fault("rtx5090/02", {"mbarrier_wait_parity(full, 0);": ""})
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

from gemm_lab.lab import Kernel, kernel
from gemm_lab.lab.measuring import check_kernel
from gemm_lab.lab.on_simulator import launch, limits
from gemm_look import theme
from gemm_look.card import card, mark, message
from gpu_simulator import Deadlock, SimulatedFault, widest_first
from gpu_simulator.argument_checks import checked, shown
from gpu_simulator.errors import ConfigError

TILES_N, ROUNDS = 2, 2  # block tiles of D along N, and how often each stage is filled for one of them


@dataclass(frozen=True)
class FaultOutcome:
    """What the simulator found, with an explanation in `says`.

    kind: "a deadlock", "a fault", "a wrong result", "a hazard" or "nothing".
    """

    kind: str
    says: str

    def __repr__(self) -> str:
        return f"{self.kind}. {self.says}"

    def _repr_html_(self) -> str:
        colour = theme.GOOD if self.kind == "nothing" else theme.BAD
        verdict = f"{mark(self.kind == 'nothing')} {escape(self.kind.capitalize())}."
        return card(f"<b>{verdict}</b> {message(self.says)}", colour)


@checked
def inject_fault(target: Kernel | str, changes: dict[str, str], blocks: int | None = None) -> FaultOutcome:
    """Replace text in a kernel's source, run it on the simulator with both timings, and look for hazards.

    changes: {old text: new text}. The kernel is compiled for the ladder's reference GPU, whichever GPU is here, and has
    the ladder's default configuration unless the target has changed settings. blocks: how many blocks are launched, for
    persistent kernels; by default the ladder's grid. Raises `ConfigError` for text that the source does not contain,
    and `CompileError` if the result does not compile.
    """
    base = kernel(target) if isinstance(target, str) else target
    if base.config == kernel(base.name).config:
        base = replace(base, config=base.spec.configure())
    source = base.source
    if not isinstance(changes, dict) or not all(isinstance(text, str) for item in changes.items() for text in item):
        raise ConfigError(f"changes is a dictionary, {{old text: new text}}, not {shown(changes)}.")
    for old, new in changes.items():
        if not old or old not in source:
            raise ConfigError(f"The source of {base.label} does not contain “{old}”; copy the text from its .source.")
        source = source.replace(old, new)
    return _run(base.rewrite(source), blocks)


def _run(broken: Kernel, blocks: int | None) -> FaultOutcome:
    steps, config = broken.spec.size_multiples(broken.config), broken.config
    m, n, k = steps["m"], TILES_N * steps["n"], (ROUNDS * config.get("NUM_STAGES", 1) + 1) * steps["k"]
    compiled, hazards = broken.compile_as_taught(), []
    for timing in ("early", "late"):

        def machine(compiled, *, grid, args, cluster, timing=timing):
            grid, options = (blocks, 1, 1) if blocks else grid, {"observers": ("hazards",), "timing": timing}
            arrays, report = launch(compiled, grid, args, cluster, **options, **limits(m, n, k))
            hazards[:] = widest_first(hazards + report.hazards)
            return arrays

        try:
            verdicts = check_kernel(broken, compiled, m, n, k, launch=machine)
        except SimulatedFault as error:
            kind = "a deadlock" if isinstance(error, Deadlock) else "a fault"
            says = str(error).removeprefix("Deadlock: ")
            return FaultOutcome(kind, says[:1].upper() + says[1:] if kind == "a deadlock" else says)
        if not all(verdicts):
            found = f" Found on the way: {hazards[0]}" if hazards else ""
            return FaultOutcome("a wrong result", verdicts[-1].message + found)
    if hazards:
        return FaultOutcome("a hazard", f"The result is right on the simulator, by luck. {hazards[0]}")
    return FaultOutcome("nothing", "The result is right in both timings, and no hazard was found.")
