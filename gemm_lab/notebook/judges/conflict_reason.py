"""Names the access of a kernel with the dearest bank conflict: its line, its array, and the lanes that collide.

The words are those of `lab.simulate`; what would help is left to the learner.
"""

from __future__ import annotations

from typing import Any

import gpu_simulator
from gemm_lab.lab.actions import source
from gemm_lab.lab.on_simulator import limits, smallest_size
from gemm_lab.measure.inputs import make_inputs
from gpu_simulator.codegen.program import program_of
from gpu_simulator.layouts.reasons import shared_reason
from gpu_simulator.layouts.recorded_accesses import RecordedAccesses
from gpu_simulator.layouts.shared_arrays import shared_arrays


def dearest_conflict(run: Any) -> str:
    """Sentences about the kernel of a `Run`, launched once more at its smallest size; "" without a conflict."""
    kernel, compiled, size, recorded = run.kernel, run.compiled, smallest_size(run.kernel), RecordedAccesses()
    args, block = make_inputs(kernel.problem, *size).arguments(), (compiled.threads, 1, 1)
    options = {"cluster": kernel.spec.cluster, "observers": [recorded.observe], **limits(*size)}
    report = gpu_simulator.launch(compiled, compiled.entry, kernel.grid(*size, run.sms), block, args, **options)
    found = [(report.sites[one.site], one) for one in recorded.shared()]
    site, worst = max(found, key=lambda pair: pair[0].wavefronts - pair[0].ideal_wavefronts, default=(None, None))
    if site is None or site.wavefronts <= site.ideal_wavefronts:
        return ""
    lines = report.sites_by_line("cell", kernel.spec.file).items()
    file, line = next((place for place, here in lines if any(one is site for one in here)), ("", 0))
    program, smem_bytes = program_of(compiled.ptx, compiled.entry), report._launch.smem_bytes
    arrays = [
        array.name
        for array in shared_arrays(program, smem_bytes, recorded, source.text(kernel))
        if ((worst.rows >= array.start) & (worst.rows < array.end)).any()
    ]
    matrices = site.opcode.startswith(("ldmatrix", "stmatrix"))
    return f"{file}, line {line}, costs most, in {' and '.join(arrays)}. {shared_reason(worst, matrices)}"
