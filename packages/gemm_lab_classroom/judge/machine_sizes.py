"""Refuses answers that are right on the small machine of the simulator alone, and not on a whole GPU."""

from __future__ import annotations

import math
from typing import Any

from gemm_lab.lab import Kernel
from gemm_lab.lab.on_simulator import limits
from gemm_lab.measure.inputs import make_inputs
from gemm_lab.notebook.judges.run_faults import FAULTS
from gemm_lab_classroom.judge.widening import widened

# Tiles along M and along N: more blocks than 8 bits can count, as on a GPU with as many multiprocessors.
TILES = 18


def too_much_local_memory(answer: Kernel, compiled: Any) -> str:
    """A sentence if the driver could not launch the kernel for want of memory, else "".

    For each thread that a GPU can hold, the driver allocates the kernel's local memory: CUDA Driver API,
    cuCtxSetLimit, CU_LIMIT_STACK_SIZE.
    """
    gpu = answer.taught_gpu()
    needed = compiled.stack * gpu.max_threads_per_sm * gpu.sms / 1e9
    if needed <= gpu.dram_gb:
        return ""
    return (
        f"Its arrays take {compiled.stack:,} bytes of local memory for each thread. A {gpu.name} holds "
        f"{gpu.max_threads_per_sm * gpu.sms:,} threads, so the driver would have to allocate {needed:,.0f} GB, and "
        f"there are {gpu.dram_gb:g}."
    )


def wrong_with_many_blocks(answer: Kernel, compiled: Any) -> str:
    """A sentence if the first block of a persistent kernel fails in a grid of `TILES`² blocks, else "".

    Then each block has one tile. A block that counts the blocks in too few bits looks for another one, and its warps
    wait for each other in vain. "" too for kernels that are not persistent.
    """
    multiple = answer.spec.size_multiples(answer.config)
    m, n = (
        math.lcm(multiple[axis], TILES * answer.config.get(block, 1))
        for axis, block in (("m", "BLOCK_M"), ("n", "BLOCK_N"))
    )
    k = math.lcm(multiple["k"], answer.config.get("BLOCK_K", 1))
    grid = answer.grid(m, n, k, TILES**2)
    if grid == answer.grid(m, n, k, TILES):
        return ""
    args = make_inputs(answer.problem, m, n, k, "integers", 0).arguments()
    try:
        widened(compiled, grid, (compiled.threads, 1, 1), args, 0, answer.spec.cluster, **limits(m, n, k))
    except FAULTS as fault:
        return f"In a grid of {math.prod(grid)} blocks, at {m} × {n} × {k}: {fault}"
    return ""
