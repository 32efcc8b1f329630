"""What exercises about split-K ask beyond a right result: `again` and `even` in exercises.toml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gemm_lab.lab.on_simulator import launch, limits
from gemm_lab.measure.inputs import make_inputs, reference, rounded
from gemm_lab.notebook.judges.criteria import Criteria
from gemm_lab_lessons.shared.criteria.wait_counts import run_of_rung

MOST_STEPS = 1.1  # times the rung's own, whose blocks take the same number of k tiles, or one more


class SplitKCriteria(Criteria):
    """`again`: {variable of the kernel: [its type, elements]} that a second launch finds as the first has left it.

    `even`: the simulator, which runs the blocks side by side, takes no more steps than for the rung's own text.
    """

    def of_run(self, run: Any, wanted: Mapping[str, Any]) -> str:
        if wanted.get("even") and run.report.steps > MOST_STEPS * run_of_rung(run)[0].steps:
            return (
                f"At {run.m} × {run.n} × {run.k} the result is right, but some block has far more k tiles than the "
                "others, and all wait for it."
            )
        return _wrong_again(run, wanted["again"]) if "again" in wanted else ""


def _wrong_again(run: Any, variables: Mapping[str, tuple[str, int]]) -> str:
    """A sentence if the second of two launches is wrong, "" if it is not."""
    problem, size = run.kernel.problem, (run.m, run.n, run.k)
    left = {name: np.zeros(count, kind) for name, (kind, count) in variables.items()}
    for seed in range(2):
        inputs = make_inputs(problem, *size, seed=seed)
        arrays, _ = launch(
            run.compiled, run.kernel.grid(*size, run.sms), inputs.arguments(), run.kernel.spec.cluster,
            symbols=left, **limits(*size),
        )  # fmt: skip
        found = arrays[problem.arrays.index("d")].astype(np.float64)
        if not np.array_equal(found, rounded(reference(inputs), problem)):
            return (
                f"At {run.m} × {run.n} × {run.k} a first launch is right and a second one is wrong: it begins with "
                f"what the first has left in {' and '.join(left)}."
            )
    return ""
