"""The pipeline timeline of one block of a Kernel, from the simulator's schedule or as recorded on a GPU."""

from __future__ import annotations

from gemm_lab.config import data_dir
from gemm_lab.lab.actions.source import require_form
from gemm_lab.lab.launchable import Launchable
from gemm_lab.lab.on_simulator import limits
from gemm_lab.measure.inputs import make_inputs
from gemm_results.cards.timeline import Pipeline
from gemm_results.errors import LabError
from gemm_results.timeline_files import load
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware import data_sheets as hardware
from gpu_timing.logical.pipeline_placing import Costs, place
from gpu_timing.logical.recording import record
from gpu_timing.logical.trace import ASYNC, LOAD, MMA

K_TILES = 8  # k tiles of a tile of D, if no size is given
MOST_PRODUCTS = 256**3 * 8  # that block 0 may compute on the simulator, which takes about two seconds


def recorded_pipeline(kernel: Launchable, on: str) -> Pipeline:
    """The timeline that was recorded on a GPU; if there is none, a `LabError` lists those that there are."""
    folder = data_dir("results") / "timelines"
    path = folder / hardware.gpu(on).key / f"{kernel.name.replace('/', '_')}.csv"
    if not path.is_file():
        there = sorted(f"{file.stem} on {file.parent.name}" for file in folder.glob("*/*.csv"))
        raise LabError(
            f"No timeline of {kernel.name} was recorded on {hardware.gpu(on).name}; there are "
            f"{', '.join(there) or 'none yet'}."
        )
    return Pipeline((load(path)[0],))


def pipeline(kernel: Launchable, m: int | None, n: int | None, k: int | None, sms: int | None, costs: dict) -> Pipeline:
    """The timeline of block 0 of an m × n × k product, from the simulator's schedule; see `Kernel.timeline`.

    Raises `LabError` for a size that would take long and for a kernel without a pipeline, and `ConfigError` for an
    unknown cost.
    """
    steps = kernel.spec.size_multiples(kernel.config)
    blocks = kernel.spec.cluster[0] * kernel.spec.cluster[1] * kernel.spec.cluster[2]
    config = kernel.config
    m = m or max(steps["m"], config.get("BLOCK_M", 32))
    n = n or 2 * max(steps["n"], config.get("BLOCK_N", 32))
    k = k or K_TILES * max(steps["k"], config.get("BLOCK_K", 16))
    kernel.spec.require_size(config, m, n, k)
    compiled = kernel.compile()
    require_form(kernel, compiled)
    grid = kernel.spec.launch_grid(config, m, n, k, sms or blocks)
    products = m * n * k * blocks // (grid[0] * grid[1] * grid[2])
    if products > MOST_PRODUCTS:
        raise LabError(
            f"A timeline of {m} × {n} × {k} on {grid[0] * grid[1] * grid[2]} blocks would take long on the "
            f"simulator: block 0 multiplies {products:,} pairs, and {MOST_PRODUCTS:,} are enough to see a "
            "pipeline. Take a smaller k, fewer tiles, or more blocks with sms=."
        )
    gpu = kernel.taught_gpu()
    unknown = sorted(set(costs) - set(Costs.__dataclass_fields__))
    if unknown:
        raise ConfigError(f"There is no cost {', '.join(unknown)}; there are {', '.join(Costs.__dataclass_fields__)}.")
    inputs = make_inputs(kernel.problem, m, n, k, "integers", 0)
    trace = record(
        compiled,
        grid,
        (compiled.threads, 1, 1),
        inputs.arguments(),
        cluster=kernel.spec.cluster,
        name=kernel.label,
        **limits(m, n, k),
    )
    if not any(step.what in (LOAD, ASYNC, MMA) for steps in trace.steps.values() for step in steps):
        raise LabError(
            f"{kernel.name} has no pipeline to draw: it neither copies asynchronously nor multiplies on tensor cores."
        )
    return Pipeline((place(trace, Costs.of(gpu, **costs)),))
