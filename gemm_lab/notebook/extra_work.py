"""Work that an answer adds beside the answer: it would thin out the averages that an exercise counts.

A conflict degree and the sectors of a request are means over a launch. Harmless accesses, added by the thousand, would
bring any mean down, and a loop that never runs could stand in for the one that does. So an answer is held against the
rung's own text at the same size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gemm_lab.api import Kernel
from gemm_lab.api.emulating import launch, limits
from gemm_lab.measure.inputs import make_inputs

# Times those of the rung. Where sectors a request are asked for, small requests by the side would bring them down.
# Where they are not, an answer may need some more: NVRTC writes some stores of 16 bytes as four that ptxas joins again.
MOST_INSTRUCTIONS, MOST_WAVEFRONTS, MOST_REQUESTS, MOST_REQUESTS_AVERAGED = 2.0, 1.5, 1.5, 1.25
_COUNTED: dict[tuple, Work] = {}
_TENSOR = re.compile(r"(?:mma|wmma\.mma|wgmma\.mma_async|tcgen05\.mma)\b")


@dataclass(frozen=True)
class Work:
    """Of one launch: warp instructions, wavefronts without conflicts, requests to global memory and their sectors."""

    instructions: int
    wavefronts: int
    requests: int
    sectors: int

    @classmethod
    def of(cls, report: Any) -> Work:
        sites = [site for site in report.sites if site.sectors]
        return cls(report.instructions, report.totals.ideal_wavefronts, sum(site.requests for site in sites),
                   sum(site.sectors for site in sites))


def extra_work(run: Any, wanted: Mapping[str, Any]) -> str:
    """A sentence about the first thing that the answer of a run does too much of; "" if there is none.

    run: of a kernel that is right, on the emulator.   wanted: the criteria of the exercise.
    """
    idle = [site for site in run.report.sites if not site.executions and _TENSOR.match(site.opcode)]
    if idle:
        return (f"{len(idle)} of its tensor instructions never run ({idle[0].opcode}, PTX line {idle[0].ptx_line}); "
                "an exercise counts code that runs. Leave them out.")
    base, own = replace(run.kernel, edits={}, whole=None, alias=None), Work.of(run.report)
    rung = _work_of_rung(base, run.m, run.n, run.k)
    requests = MOST_REQUESTS_AVERAGED if "sectors_per_request" in wanted else MOST_REQUESTS
    sectors = requests * wanted.get("sectors_per_request", own.sectors) * max(rung.requests, 1)
    for found, allowed, what in (
        (own.instructions, MOST_INSTRUCTIONS * rung.instructions, "executes {} warp instructions"),
        (own.wavefronts, MOST_WAVEFRONTS * rung.wavefronts, "needs {} wavefronts even without any bank conflict"),
        (own.requests, requests * rung.requests, "makes {} requests to global memory"),
        (own.sectors, sectors, "moves {} sectors"),
    ):
        if found > allowed:
            return (f"At {run.m} × {run.n} × {run.k} it {what.format(f'{found:,}')}; {int(allowed):,} are allowed. "
                    "Averages such as wavefronts for each ideal one are compared only up to that amount of work.")
    return ""


def _work_of_rung(base: Kernel, m: int, n: int, k: int) -> Work:
    """The counts of the unedited kernel, launched once for each configuration, grid and size."""
    key = (base.name, tuple(base.config.items()), base.grid(m, n, k), m, n, k)
    if key not in _COUNTED:
        inputs = make_inputs(base.problem, m, n, k, "integers", 0)
        _, report = launch(base.compile_as_taught(), base.grid(m, n, k), inputs.arguments(), base.spec.cluster,
                           **limits(m, n, k))
        _COUNTED[key] = Work.of(report)
    return _COUNTED[key]
