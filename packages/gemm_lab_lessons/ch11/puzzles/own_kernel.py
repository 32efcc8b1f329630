"""The last puzzle of notebook 11b: a whole matrix product of one's own, for one shape, on Hopper."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gemm_lab.lab import Kernel, Run
from gemm_lab.lab.on_simulator import search
from gemm_lab.notebook.judges.cuda_tokens import tokens
from gemm_lab.notebook.judges.run_faults import FAULTS, first_hazard_of
from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import Missed, call
from gemm_lab_lessons.ch11.stones import SHAPE
from gpu_simulator.argument_checks import shown
from gpu_simulator.compiler import CompileError
from gpu_simulator.faults import LaunchError

M, N, K = SHAPE
DEPTHS = (K, 64, 320)  # one k tile of 64, and a number of them that no ring of two, three or four stages divides
ROUNDS = 2  # how often the one block of the last run fills each stage before the first is filled once more
PRODUCTS = (("wgmma", "wgmma.mma_async"), ("mma.sync", "mma.sync"), ("wmma", "wmma.mma"))


def kernel_of(answer: Callable[..., Any]) -> Kernel:
    """The kernel that the learner's function returns. Raises `Missed` for anything that is no kernel of their own."""
    found = call(answer, most_lines=None)
    if not isinstance(found, Kernel):
        raise Missed(f"The function returned {shown(found)}. Return lab.kernel(…).rewrite(kernel).")
    if found.whole is None:
        raise Missed(f"{found.label} has the text of the ladder. Give it yours: lab.kernel(…).rewrite(kernel).")
    own, rungs = ([one.text for one in tokens(text) if not one.blank] for text in (found.source, found.spec.source))
    if own == rungs:
        raise Missed(f"This is the text of {found.name} itself. The puzzle asks for a kernel of your own.")
    for name, block, whole in zip(("BLOCK_M", "BLOCK_N"), found.block, (M, N), strict=True):
        if whole % block:
            raise Missed(f"{name} = {block} does not divide {whole}, and the grid has only whole tiles.")
    text = " ".join(own)
    if not re.search(r"constexpr int (?:[^;]* , )?NUM_THREADS =", text):
        raise Missed(
            "The exported file starts the kernel with NUM_THREADS threads, and the text defines no such constant. "
            "Write constexpr int NUM_THREADS = …; before the kernel, and __launch_bounds__(NUM_THREADS) in its first "
            "line."
        )
    if "__launch_bounds__ ( NUM_THREADS" not in text:
        raise Missed(
            "The simulator reads the number of threads from the kernel's first line. Write "
            "__launch_bounds__(NUM_THREADS) there, between __global__ void and gemm."
        )
    if "extern __shared__" in text and not re.search(r"^\s*constexpr\s+int\s+SMEM_BYTES\s*=", found.source, re.M):
        raise Missed(
            "The kernel has dynamic shared memory, extern __shared__, and the launch has to know its size. Write "
            "constexpr int SMEM_BYTES = …; in a line of its own: all bytes, those of the barriers included."
        )
    return found


def checked_run(kernel: Kernel, size: tuple[int, int, int], seed: int) -> Run:
    """A run at this M × N × K whose result is right. Raises `Missed` with what is wrong."""
    m, n, k = size
    where = f"At {m} × {n} × {k}: "
    try:
        run = kernel.run(n, m, k, seed=seed, backend="simulator")
    except (CompileError, LaunchError) as error:
        raise Missed(str(error).replace(f"{kernel.name} does not compile", "Your kernel does not compile")) from None
    except FAULTS as fault:
        raise Missed(f"{where}{fault}") from None
    if not run.passed:
        raise Missed(" ".join([where + run.message, *first_hazard_of(run)]))
    return run


def beyond_the_ring(kernel: Kernel, compiled: Any) -> tuple[int, int, int]:
    """M × N × K of one block, with more k tiles than any ring that fits into its shared memory has stages.

    A ring of n stages that nobody waits for is right while K has no more than n k tiles.
    """
    block_m, block_n = kernel.block
    block_k = kernel.config["BLOCK_K"]
    stages = max(2, compiled.smem // ((block_m + block_n) * block_k * 2))
    return block_m, block_n, -(-(ROUNDS * stages + 1) * block_k // 64) * 64


@register(
    "11_own_kernel",
    title="A matrix product of your own",
    task=f"Write the text of a kernel gemm for D = AB with M = {M} and N = {N}, in BF16 with FP32 sums, and complete "
    "my_gemm(): it returns lab.kernel(…).rewrite(kernel), where the rung in lab.kernel lends its arguments, its grid "
    f"and its tile sizes. M, N and K are arguments: it has to be right for K = {K} and every other multiple of 64.",
    hint="There are three stepping stones below the cell. Take hopper/01 for pointers a, b, d, or hopper/02 for the "
    "tensor maps map_a and map_b and the pointer d; both with BLOCK_M=64, because 128 does not divide 192. A is "
    "row-major and B column-major: the element (row, k) of A stands at row * K + k, the element (k, col) of B at "
    "col * K + k. Block (blockIdx.x, blockIdx.y) has the columns from blockIdx.x * BLOCK_N and the rows from "
    "blockIdx.y * BLOCK_M. __launch_bounds__(NUM_THREADS) says how many threads a block has.",
)
def own_kernel(answer: Callable[..., Any]) -> Facts:
    kernel = kernel_of(answer)
    runs = [checked_run(kernel, (M, N, depth), seed) for seed, depth in enumerate(DEPTHS, 11)]
    first = runs[0]
    long = beyond_the_ring(kernel, first.compiled)
    checked_run(kernel, long, 11 + len(DEPTHS))
    reasons = first_hazard_of(runs[-1])
    for timing in ("early", "late"):
        try:
            reasons += map(str, search(kernel, first.compiled, long, timing).hazards)
        except FAULTS as fault:
            reasons.append(f"At {' × '.join(map(str, long))}: {fault}")
    if reasons:
        raise Missed(f"D is right on the simulator, and need not be so on a GPU. {reasons[0]}")
    opcodes = {site.opcode for site in first.report.sites}
    used = [name for name, opcode in PRODUCTS if any(one.startswith(opcode) for one in opcodes)]
    degree = first.conflict_degree
    return [
        ("products tried", ", ".join([*(f"{M} × {N} × {depth}" for depth in DEPTHS), " × ".join(map(str, long))])),
        ("multiplies with", ", ".join(used) or "FFMA, without tensor cores: right; tensor cores are the next step"),
        ("read and written through L2", f"{first.report.totals.sectors * 32 / 1e6:.2f} MB"),
        ("wavefronts for each ideal one", "no shared memory" if degree is None else f"{degree:.2f}"),
    ]
