"""The last puzzle of notebook 11b: a whole matrix product of one's own, for one shape, on Hopper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gemm_lab.lab import Kernel, Run
from gemm_lab.notebook.judges.cuda_tokens import tokens
from gemm_lab.notebook.judges.run_faults import FAULTS, first_hazard_of
from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import Missed, call
from gemm_lab_lessons.ch11.stones import SHAPE
from gpu_simulator.argument_checks import shown
from gpu_simulator.compiler import CompileError

M, N, K = SHAPE
DEPTHS = (K, 64, 320)  # one k tile of 64, and a number of them that no ring of two, three or four stages divides
PRODUCTS = (("wgmma", "wgmma.mma_async"), ("mma.sync", "mma.sync"), ("wmma", "wmma.mma"))


def kernel_of(answer: Callable[..., Any]) -> Kernel:
    """The kernel that the learner's function returns. Raises `Missed` for anything that is no kernel of their own."""
    found = call(answer, most_lines=None)
    if not isinstance(found, Kernel):
        raise Missed(f"The function returned {shown(found)}. Return lab.kernel(…).rewrite(kernel).")
    if found.whole is None:
        raise Missed(f"{found.label} has the text of the ladder. Give it yours: lab.kernel(…).rewrite(kernel).")
    if [one.text for one in tokens(found.source) if not one.blank] == [
        one.text for one in tokens(found.spec.source) if not one.blank
    ]:
        raise Missed(f"This is the text of {found.name} itself. The puzzle asks for a kernel of your own.")
    return found


def checked_run(kernel: Kernel, depth: int, seed: int) -> Run:
    """A run at 192 × 768 × depth whose result is right. Raises `Missed` with what is wrong."""
    where = f"At {M} × {N} × {depth}: "
    try:
        run = kernel.run(N, M, depth, seed=seed, backend="simulator")
    except CompileError as error:
        raise Missed(str(error)) from None
    except FAULTS as fault:
        raise Missed(f"{where}{fault}") from None
    if not run.passed:
        raise Missed(" ".join([where + run.message, *first_hazard_of(run)]))
    return run


@register(
    "11_own_kernel",
    title="A matrix product of your own",
    task=f"Write the text of a kernel gemm for D = AB with M = {M} and N = {N}, in BF16 with FP32 sums, and complete "
    "my_gemm(): it returns lab.kernel(…).rewrite(kernel), where the rung in lab.kernel lends its arguments, its grid "
    f"and its tile sizes. It has to be right for K = {K}, and for every other multiple of 64.",
    hint="There are three stepping stones below the cell. Take hopper/01 for pointers a, b, d, or hopper/02 for the "
    "tensor maps map_a and map_b and the pointer d; both with BLOCK_M=64, because 128 does not divide 192. A is "
    "row-major and B column-major: the element (row, k) of A stands at row * K + k, the element (k, col) of B at "
    "col * K + k. Block (blockIdx.x, blockIdx.y) has the columns from blockIdx.x * BLOCK_N and the rows from "
    "blockIdx.y * BLOCK_M. __launch_bounds__(NUM_THREADS) says how many threads a block has.",
)
def own_kernel(answer: Callable[..., Any]) -> Facts:
    kernel = kernel_of(answer)
    runs = [checked_run(kernel, depth, seed) for seed, depth in enumerate(DEPTHS, 11)]
    if reasons := first_hazard_of(runs[-1]):
        raise Missed(f"D is right on the simulator, and need not be so on a GPU. {reasons[0]}")
    first = runs[0]
    opcodes = {site.opcode for site in first.report.sites}
    used = [name for name, opcode in PRODUCTS if any(one.startswith(opcode) for one in opcodes)]
    degree = first.conflict_degree
    return [
        ("products tried", ", ".join(f"{M} × {N} × {depth}" for depth in DEPTHS)),
        ("multiplies with", ", ".join(used) or "FFMA, without tensor cores"),
        ("read and written through L2", f"{first.report.totals.sectors * 32 / 1e6:.2f} MB"),
        ("wavefronts for each ideal one", "no shared memory" if degree is None else f"{degree:.2f}"),
    ]
