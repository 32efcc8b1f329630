"""Names the access of a kernel with the dearest bank conflict: its line, its array, and the lanes that collide.

The words are those of `lab.simulate`; what would help is left to the learner.
"""

from __future__ import annotations

from typing import Any

from gemm_lab.lab.on_simulator import smallest_size, study
from gpu_simulator.layouts.reasons import shared_reason


def dearest_conflict(run: Any) -> str:
    """Sentences about the kernel of a `Run`, launched once more at its smallest size; "" without a conflict."""
    made = study(run.kernel, run.compiled, smallest_size(run.kernel), run.sms)
    report = made.report
    found = [(report.sites[one.site], one) for one in made.recorded.shared()]
    site, worst = max(found, key=lambda pair: pair[0].wavefronts - pair[0].ideal_wavefronts, default=(None, None))
    if site is None or site.wavefronts <= site.ideal_wavefronts:
        return ""
    lines = report.sites_by_line("cell", run.kernel.spec.file).items()
    file, line = next((place for place, here in lines if any(one is site for one in here)), ("", 0))
    arrays = [one.array for one in made.studies]
    names = [one.name for one in arrays if ((worst.rows >= one.start) & (worst.rows < one.end)).any()]
    matrices = site.opcode.startswith(("ldmatrix", "stmatrix"))
    return f"{file}, line {line}, costs most, in {' and '.join(names)}. {shared_reason(worst, matrices)}"
