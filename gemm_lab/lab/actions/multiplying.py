"""Uses a Kernel as a function: D = alpha·A·B + beta·C for the caller's own matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gemm_lab.lab import on_simulator, operands
from gemm_lab.lab.actions.running import backend_of
from gemm_lab.lab.actions.source import require_form
from gemm_lab.lab.launchable import Launchable
from gemm_lab.measure.inputs import arguments
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware.number_types import dtype_of


def gemm(
    kernel: Launchable, a: Any, b: Any, c: Any = None, alpha: float = 1.0, beta: float = 0.0, **scales: Any
) -> Any:
    """Implements `Kernel.gemm`, on the GPU or on the simulator."""
    problem, spec = kernel.problem, kernel.spec
    if spec.ceiling:
        raise LabError(f"{kernel.name} multiplies no matrices.")
    if not problem.uses_c and (c is not None or alpha != 1.0 or beta != 0.0):
        raise ConfigError(f"{kernel.name} computes {problem.formula}; leave out C, alpha and beta.")
    if beta != 0.0 and c is None:
        raise ConfigError("beta is not 0, so C is needed.")
    left, right = operands.operand(a, "A", problem.dtype_in), operands.operand(b, "B", problem.dtype_in)
    addend = None if c is None else operands.operand(c, "C", problem.dtype_out)
    m, n, k = operands.check_shapes(left, right, addend)
    spec.require_size(kernel.config, m, n, k)
    dtype = dtype_of(problem.dtype_out)
    values = {
        "a": operands.stored(left, problem.layout_a),
        "b": operands.stored(right, problem.layout_b),
        "c": np.zeros((m, n), dtype) if addend is None else np.ascontiguousarray(addend),
        "d": np.full((m, n), np.nan, dtype),
        **operands.scales(problem, scales, m, n, k),
        **{"m": m, "n": n, "k": k, "alpha": float(alpha), "beta": float(beta)},
    }
    compiled, args = kernel.compile(), arguments(problem, values)
    require_form(kernel, compiled)
    grid = kernel.grid(m, n, k)
    if backend_of(kernel, None) == "simulator":
        on_simulator.require_patience(kernel, compiled, m, n, k, sure=False)
        after, _ = on_simulator.launch(compiled, grid, args, spec.cluster, **on_simulator.limits(m, n, k))
    else:
        import gpu_runner as device

        after = device.launch(compiled, grid=grid, cluster=spec.cluster, args=args)
    return operands.like(a, after[problem.arrays.index("d")])
