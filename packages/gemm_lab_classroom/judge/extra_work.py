"""Finds unnecessary work of an answer, which could make the counts of an exercise look better than they are.

The conflict degree and the sectors per request are averages over a launch, so thousands of additional harmless accesses
would lower them. Counts in the machine code count each instruction once, wherever it is: an answer could add a loop
that never runs and is counted instead of the real one, or it could move instructions to where they are not counted. So
the instructions that an answer executes are compared with those of the rung's own text at the same size.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gemm_lab.lab import Kernel
from gemm_lab.lab.on_simulator import search
from gemm_lab_classroom.judge.foreign_instructions import foreign
from gemm_lab_classroom.judge.value_dependence import line_of
from gemm_lab_lessons.shared.criteria.wait_counts import WAITS, InstructionKind, executions, key_of, run_of_rung
from gpu_simulator.compiler import Compiled

# All limits are multiples of the rung's own count.
# If an exercise has a limit on sectors per request (MOST_REQUESTS_AVERAGED), few additional requests are allowed,
# because small ones would lower the average. Otherwise some more are allowed, since NVRTC writes some stores of 16
# bytes as four, which ptxas joins again.
MOST_INSTRUCTIONS, MOST_WAVEFRONTS, MOST_REQUESTS, MOST_REQUESTS_AVERAGED = 2.5, 1.5, 1.5, 1.25
# Instructions that the exercise counts in the machine code: one more barrier before the loop is allowed, but not one
# more in each iteration.
MOST_EXECUTED = 1.25
# Criteria that are averages over a launch.
AVERAGES = ("conflict_degree", "sectors_per_request", "least_sectors")
# Bytes read from global memory: each element may be read as often as the rung reads it.
MOST_BYTES = 1.02
# Loads from global memory into registers, whether or not the exercise counts them.
MOST_LOADS = 1.5
# Floating-point arithmetic outside the tensor cores, if the tensor cores multiply and add.
MOST_ARITHMETIC = 2.0
# Fences and pauses; one more fence for each barrier of the rung is allowed as well.
MOST_FENCES = 1.5
# The bytes in flight for a rung when copies take long, by configuration, grid and size.
_ON_THE_WAY: dict[tuple, int] = {}
_TENSOR = re.compile(r"(?:mma|wmma\.mma|wgmma\.mma_async|tcgen05\.mma)\b")


@dataclass(frozen=True)
class Work:
    """The counts of one launch.

    instructions: warp instructions.   wavefronts, ideal: of shared memory, as counted and without bank conflicts.
    requests, sectors: of global memory.   bytes, written: read from and written to global memory.
    copied_sectors: sectors that asynchronous copies read.   asked_by_a_rank: the bytes that blocks of one rank of a
    cluster requested from TMA, for the rank with most.   executed: warp instructions of each kind in `EXECUTED`.
    products: multiply-adds on the tensor cores by mma, wmma and wgmma.   opcodes: all opcodes in the PTX.
    """

    instructions: int
    wavefronts: int
    ideal: int
    requests: int
    sectors: int
    bytes: int
    written: int
    copied_sectors: int
    asked_by_a_rank: int
    products: int
    executed: Counter
    opcodes: frozenset[str]

    @classmethod
    def of(cls, report: Any) -> Work:
        sites, totals = [site for site in report.sites if site.sectors], report.totals
        reads = [site for site in report.sites if _from_global(site.opcode)]
        return cls(
            report.instructions,
            totals.wavefronts,
            totals.ideal_wavefronts,
            sum(site.requests for site in sites),
            sum(site.sectors for site in sites),
            sum(site.bytes for site in reads),
            sum(site.bytes for site in report.sites if _to_global(site.opcode)),
            sum(site.sectors for site in reads if site.opcode.startswith("cp.")),
            max(report.asked_by_rank.values(), default=0),
            tensor_products(report),
            executions(report, EXECUTED),
            frozenset(site.opcode for site in report.sites),
        )


def _from_global(opcode: str) -> bool:
    """Whether an instruction may read global memory: a load from it, a generic load, or a copy from it."""
    name, *parts = re.split(r"\.|::", opcode)
    spaces = [part for part in parts if part in ("global", "shared")]
    return name == "ld" and _reads(set(parts), "global") or name == "cp" and spaces[-1:] == ["global"]


def _to_global(opcode: str) -> bool:
    """Whether an instruction may write global memory: a store to it, a generic store, or a copy to it."""
    name, *parts = re.split(r"\.|::", opcode)
    spaces = [part for part in parts if part in ("global", "shared")]
    return name == "st" and _reads(set(parts), "global") or name == "cp" and spaces[:1] == ["global"]


def _reads(opcode: set[str], space: str) -> bool:
    """Whether a load or store may access this state space: it names the space or is generic. opcode: its modifiers."""
    return not opcode & {"global", "shared", "local", "const", "param"} - {space}


_FLOATS = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"}

# Keys that are criteria of exercises have the names of `CODE_CRITERIA`. The labels are used in refusals.
EXECUTED: dict[str, InstructionKind] = {
    "barriers": InstructionKind("barriers", lambda name, parts: name in ("bar", "barrier") and "warp" not in parts),
    "plain_loads": InstructionKind(
        "plain loads from shared memory", lambda name, parts: name == "ld" and _reads(parts, "shared")
    ),
    "ldmatrix": InstructionKind("ldmatrix", lambda name, parts: name == "ldmatrix"),
    "global_loads": InstructionKind(
        "loads from global memory", lambda name, parts: name == "ld" and _reads(parts, "global")
    ),
    "register_copies": InstructionKind(
        "loads into registers and stores out of them",
        lambda name, parts: (name == "ld" and _reads(parts, "global")) or (name == "st" and _reads(parts, "shared")),
    ),
    "box_copies": InstructionKind(
        "boxes for one block alone",
        lambda name, parts: (
            name == "cp"
            and {"bulk", "tensor", "global"} <= parts
            and not any(part.startswith("multicast") for part in parts)
        ),
    ),
    "fewer_instructions": InstructionKind("all instructions", lambda name, parts: True),
    "fences": InstructionKind("fences", lambda name, parts: name in ("membar", "fence") and "proxy" not in parts),
    # A pause in a loop that polls a barrier is never executed here: the simulator suspends a waiting warp instead.
    "pauses": InstructionKind("pauses", lambda name, parts: name == "nanosleep"),
    "arithmetic": InstructionKind(
        "additions and multiplications outside the tensor cores",
        lambda name, parts: name in ("add", "sub", "mul", "mad", "fma") and bool(parts & _FLOATS),
    ),
    "products": InstructionKind("products by tcgen05.mma", lambda name, parts: name == "tcgen05" and "mma" in parts),
    "register_shares": InstructionKind("shares of registers", lambda name, parts: name == "setmaxnreg"),
    **WAITS,
}


_SHAPE = re.compile(r"^(?:mma|wmma\.mma|wgmma\.mma_async)\b.*\.m(\d+)n(\d+)k(\d+)\b")


def tensor_products(report: Any) -> int:
    """The multiply-adds that a launch did on the tensor cores by mma, wmma and wgmma.

    All four warps of a warpgroup execute the same wgmma, so each of them counts a quarter.
    """
    total = 0
    for site in report.sites:
        if site.executions and (shape := _SHAPE.match(site.opcode)):
            m, n, k = map(int, shape.groups())
            total += site.executions * m * n * k // (4 if site.opcode.startswith("wgmma") else 1)
    return total


def extra_work(run: Any, wanted: Mapping[str, Any]) -> str:
    """A sentence about the first kind of work that an answer does too much of; "" if there is none.

    run: of the answer on the simulator, with the right result.   wanted: the criteria of the exercise.
    """
    tensor = [site for site in run.report.sites if _TENSOR.match(site.opcode)]
    running = {site.frames for site in tensor if site.executions}  # by line, since the compiler may unroll a loop
    idle = [site for site in tensor if not site.executions and site.frames not in running]
    if idle:
        return (
            f"{len(idle)} of its tensor instructions never run ({idle[0].opcode}, {line_of(idle[0].frames)}); "
            "an exercise counts code that runs. Leave them out."
        )
    base, own = run.kernel.unedited(), Work.of(run.report)
    compiled = base.compile_as_taught()
    rung = _work_of_rung(run)
    if reason := foreign(own.opcodes, run.compiled.ptx, rung.opcodes, compiled.ptx, compiled.threads):
        return reason
    size = f"At {run.m} × {run.n} × {run.k}"
    return (
        _beside(own, rung, wanted, size)
        or _arithmetic(own, rung, size)
        or _uncounted(own, rung, wanted, size)
        or _too_late(run, base, compiled)
    )


def _beside(own: Work, rung: Work, wanted: Mapping[str, Any], size: str) -> str:
    """A sentence if an answer does more of something that takes time or lowers an average; "" if it does not."""
    requests = MOST_REQUESTS_AVERAGED if "sectors_per_request" in wanted else MOST_REQUESTS
    sectors = requests * wanted.get("sectors_per_request", own.sectors) * max(rung.requests, 1)
    # The averages that the exercise limits; the last item of a line below is the average that this count would lower.
    averages = {"sectors" if "sectors" in name else "wavefronts" for name in wanted if name in AVERAGES}
    for found, allowed, what, *average in (
        (own.instructions, MOST_INSTRUCTIONS * rung.instructions, "executes {} warp instructions"),
        (own.ideal, MOST_WAVEFRONTS * rung.ideal, "needs {} wavefronts even without any bank conflict", "wavefronts"),
        (
            own.wavefronts,
            wanted.get("conflict_degree", own.wavefronts) * max(rung.ideal, 1),
            "needs {} wavefronts in all, which the same accesses by whole warps would not",
            "wavefronts",
        ),
        (own.requests, requests * rung.requests, "makes {} requests to global memory", "sectors"),
        (own.sectors, sectors, "moves {} sectors", "sectors"),
        (own.bytes, MOST_BYTES * rung.bytes, "reads {} bytes from global memory"),
        (own.written, rung.written, "writes {} bytes to global memory"),
        (own.products, MOST_BYTES * rung.products, "does {} multiply-adds on the tensor cores"),
        (own.executed["products"], MOST_BYTES * rung.executed["products"], "issues {} products by tcgen05.mma"),
        (
            own.executed["fences"],
            MOST_FENCES * rung.executed["fences"] + rung.executed["barriers"],
            "executes {} fences",
        ),
        (own.executed["pauses"], MOST_FENCES * rung.executed["pauses"], "executes {} pauses (nanosleep)"),
        (
            own.executed["global_loads"],
            MOST_LOADS * rung.executed["global_loads"],
            "executes {} loads from global memory into registers",
        ),
        (own.copied_sectors, MOST_BYTES * rung.copied_sectors, "copies {} sectors of global memory"),
        (
            own.asked_by_a_rank,
            MOST_BYTES * rung.asked_by_a_rank,
            "asks TMA for {} bytes by the blocks of one rank of the cluster, which share that work",
        ),
    ):
        if found > allowed * 1.001:
            remark = (
                " Averages such as wavefronts for each ideal one are compared only up to that amount of work."
                if averages & set(average)
                else ""
            )
            return f"{size} it {what.format(f'{found:,}')}; {int(allowed):,} are allowed.{remark}"
    return ""


def _uncounted(own: Work, rung: Work, wanted: Mapping[str, Any], size: str) -> str:
    """A sentence if an answer executes more of the counted instructions than the code of its loops shows; else ""."""
    for kind in (kind for kind in EXECUTED if kind in wanted):
        most = 1.0 if kind == "fewer_instructions" else MOST_EXECUTED
        if own.executed[kind] > most * rung.executed[kind]:
            return (
                f"{size} it executes {own.executed[kind]:,} warp instructions of what is counted here "
                f"({EXECUTED[kind].label}), and the rung's own text {rung.executed[kind]:,}: some of them are not in "
                "the machine code of the main loop."
            )
    return ""


def other_shares(run: Any) -> str:
    """A sentence if other warps request or release registers (setmaxnreg) than with the rung's own text; else ""."""
    base, own = run.kernel.unedited(), executions(run.report, EXECUTED)["register_shares"]
    if not own and "setmaxnreg" not in base.compile_as_taught().ptx:
        return ""
    rung = _work_of_rung(run).executed["register_shares"]
    if own == rung:
        return ""
    return (
        f"At {run.m} × {run.n} × {run.k} its warps execute setmaxnreg {own:,} times, and those of the rung's own text "
        f"{rung:,} times. All warps of a warpgroup have to execute it, and one that asks for registers waits until "
        "others have given them back."
    )


def _arithmetic(own: Work, rung: Work, size: str) -> str:
    """A sentence if ordinary arithmetic does work that the tensor cores do in the rung, which also add; else ""."""
    found, most = own.executed["arithmetic"], rung.executed["arithmetic"]
    if not (rung.products or rung.executed["products"]) or found <= MOST_ARITHMETIC * most:
        return ""
    return (
        f"{size} its warps execute {found:,} additions and multiplications of floating-point numbers outside the "
        f"tensor cores, and those of the rung's own text {most:,}: the tensor cores multiply and add up as well."
    )


def _too_late(run: Any, base: Kernel, rung: Compiled) -> str:
    """A sentence if fewer bytes are in flight at once than with the rung's own text, when copies take long; else "".

    base: the unedited kernel.   rung: the same, compiled.
    """
    if not any("mbarrier" in site.opcode and site.opcode.startswith("cp.") for site in run.report.sites):
        return ""
    done = run.hazard_search()
    m, n, k = done.size
    key = key_of(base, m, n, k, run.sms)
    if key not in _ON_THE_WAY:
        _ON_THE_WAY[key] = search(base, rung, done.size, "late", run.sms).most_on_the_way
    found, possible = done.reports["late"].most_on_the_way, _ON_THE_WAY[key]
    if found >= possible:
        return ""
    return (
        f"At {m} × {n} × {k}, if copies take as long as possible, at most {found:,} bytes are being copied "
        f"at once, and with the rung's own text {possible:,}: a stage that could be filled stays empty."
    )


def _work_of_rung(run: Any) -> Work:
    """The counts of the unedited kernel, with the grid and size of `run`."""
    return Work.of(run_of_rung(run)[0])
