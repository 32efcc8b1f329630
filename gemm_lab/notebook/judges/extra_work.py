"""Work that an answer does beside the answer, where what an exercise counts would not show it.

A conflict degree and the sectors of a request are means over a launch: harmless accesses, added by the thousand, would
bring any mean down. What is counted in the machine code is counted once for each place in the text: a loop that never
runs could stand in for the one that does, and an instruction could stand where nobody counts. So the instructions that
an answer executes are held against those of the rung's own text at the same size.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gemm_lab.lab import Kernel
from gemm_lab.lab.emulating import launch, limits, search
from gemm_lab.measure.inputs import make_inputs
from gemm_lab.notebook.judges.foreign_instructions import foreign
from gpu_simulator.compiler import Compiled

# Times those of the rung. Where sectors a request are asked for, small requests by the side would bring them down.
# Where they are not, an answer may need some more: NVRTC writes some stores of 16 bytes as four that ptxas joins again.
MOST_INSTRUCTIONS, MOST_WAVEFRONTS, MOST_REQUESTS, MOST_REQUESTS_AVERAGED = 2.0, 1.5, 1.5, 1.25
# …and of what an exercise counts in the machine code: room for a barrier before the loop, not for one more a turn.
MOST_EXECUTED, MOST_WAITS = 1.25, 1.1
# Criteria that are averages over a launch.
AVERAGES = ("conflict_degree", "sectors_per_request", "least_sectors")
# …and of bytes that are read from global memory: each element as often as the rung reads it.
MOST_BYTES = 1.02
# …and of loads from global memory into registers, whether or not the exercise counts them.
MOST_LOADS = 1.5
# …and of plain arithmetic on floating-point numbers, where the tensor cores multiply and add.
MOST_ARITHMETIC = 2.0
# …and of fences and pauses, and beside them one fence for each barrier of the rung.
MOST_FENCES = 1.5
# Of a rung at one configuration, grid and size: its counts, and the bytes on their way where copies take long.
_COUNTED: dict[tuple, Work] = {}
_ON_THE_WAY: dict[tuple, int] = {}
_TENSOR = re.compile(r"(?:mma|wmma\.mma|wgmma\.mma_async|tcgen05\.mma)\b")


@dataclass(frozen=True)
class Work:
    """Of one launch: warp instructions, wavefronts as counted and without conflicts, requests to global memory, their
    sectors, bytes read from it and written to it, and sectors that asynchronous copies read.

    asked_by_a_rank: bytes for which the blocks of one rank of a cluster asked TMA, where that is most.
    full_waits: waits for all groups of copies or products.   executed: warp instructions of each kind of `EXECUTED`.
    products: multiply-adds on the tensor cores.   opcodes: all that stand in its PTX.
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
    full_waits: int
    products: int
    executed: Counter
    opcodes: frozenset[str]

    @classmethod
    def of(cls, report: Any, ptx: str) -> Work:
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
            full_waits(report, ptx),
            tensor_products(report),
            executed(report),
            frozenset(site.opcode for site in report.sites),
        )


def _from_global(opcode: str) -> bool:
    """Whether an instruction reads global memory: a load of it or of no named memory, or a copy out of it."""
    name, *parts = re.split(r"\.|::", opcode)
    spaces = [part for part in parts if part in ("global", "shared")]
    return name == "ld" and _reads(set(parts), "global") or name == "cp" and spaces[-1:] == ["global"]


def _to_global(opcode: str) -> bool:
    """Whether an instruction writes global memory: a store to it or to no named memory, or a copy into it."""
    name, *parts = re.split(r"\.|::", opcode)
    spaces = [part for part in parts if part in ("global", "shared")]
    return name == "st" and _reads(set(parts), "global") or name == "cp" and spaces[:1] == ["global"]


def _reads(opcode: set[str], space: str) -> bool:
    """Whether a load or store may be of a memory: it names that memory, or none."""
    return not opcode & {"global", "shared", "local", "const", "param"} - {space}


class Kind(NamedTuple):
    """Instructions of PTX that are counted together. counts: whether one is of them, by its name and its modifiers."""

    label: str
    counts: Callable[[str, set[str]], bool]


_FLOATS = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64"}

# The names of what an exercise counts are those of `CODE_CRITERIA`; the labels stand in refusals.
EXECUTED: dict[str, Kind] = {
    "barriers": Kind("barriers", lambda name, parts: name in ("bar", "barrier") and "warp" not in parts),
    "plain_loads": Kind("plain loads from shared memory", lambda name, parts: name == "ld" and _reads(parts, "shared")),
    "ldmatrix": Kind("ldmatrix", lambda name, parts: name == "ldmatrix"),
    "global_loads": Kind("loads from global memory", lambda name, parts: name == "ld" and _reads(parts, "global")),
    "register_copies": Kind(
        "loads into registers and stores out of them",
        lambda name, parts: (name == "ld" and _reads(parts, "global")) or (name == "st" and _reads(parts, "shared")),
    ),
    "box_copies": Kind(
        "boxes for one block alone",
        lambda name, parts: (
            name == "cp"
            and {"bulk", "tensor", "global"} <= parts
            and not any(part.startswith("multicast") for part in parts)
        ),
    ),
    "fewer_instructions": Kind("all instructions", lambda name, parts: True),
    "fences": Kind("fences", lambda name, parts: name in ("membar", "fence") and "proxy" not in parts),
    # A pause between two looks at a barrier is never taken here: whoever waits is parked until the wait is over.
    "pauses": Kind("pauses", lambda name, parts: name == "nanosleep"),
    "arithmetic": Kind(
        "additions and multiplications outside the tensor cores",
        lambda name, parts: name in ("add", "sub", "mul", "mad", "fma") and bool(parts & _FLOATS),
    ),
    "products": Kind("products by tcgen05.mma", lambda name, parts: name == "tcgen05" and "mma" in parts),
    "register_shares": Kind("shares of registers", lambda name, parts: name == "setmaxnreg"),
    "waits_by_groups": Kind("groups that are closed, also empty ones", lambda name, parts: "commit_group" in parts),
    "waits_for_blocks": Kind(
        "waits of a block at its barriers",
        lambda name, parts: name in ("bar", "barrier") and not parts & {"warp", "arrive"},
    ),
    "waits_for_phases": Kind(
        "waits for phases of mbarriers",
        lambda name, parts: name == "mbarrier" and bool(parts & {"try_wait", "test_wait"}),
    ),
    "waits_for_tensor_memory": Kind(
        "waits for loads from tensor memory, or for stores to it (tcgen05.wait)",
        lambda name, parts: name == "tcgen05" and "wait" in parts,
    ),
    "waits_for_groups": Kind(
        "waits for groups of copies or products",
        lambda name, parts: (
            name not in ("bar", "barrier", "mbarrier", "tcgen05") and any(part.startswith("wait") for part in parts)
        ),
    ),
}


def executed(report: Any) -> Counter:
    """Warp instructions of a launch, of each kind of `EXECUTED`."""
    found: Counter = Counter()
    for site in report.sites:
        name, *parts = re.split(r"\.|::", site.opcode)
        for kind, (_, counts) in EXECUTED.items():
            found[kind] += site.executions * counts(name, set(parts))
    return found


_SHAPE = re.compile(r"^(?:mma|wmma\.mma|wgmma\.mma_async)\b.*\.m(\d+)n(\d+)k(\d+)\b")


def tensor_products(report: Any) -> int:
    """Multiply-adds that a launch left to the tensor cores: of mma, wmma and wgmma, whose four warps share one."""
    total = 0
    for site in report.sites:
        if site.executions and (shape := _SHAPE.match(site.opcode)):
            m, n, k = map(int, shape.groups())
            total += site.executions * m * n * k // (4 if site.opcode.startswith("wgmma") else 1)
    return total


_ALL_GROUPS = re.compile(r"\.wait_all|\.wait_group\S*\s+0\s*;")


def full_waits(report: Any, ptx: str) -> int:
    """Executions of the waits that leave no group of copies or products on its way; `ptx` is what was launched."""
    lines = ptx.split("\n")
    return sum(
        site.executions
        for site in report.sites
        if ".wait" in site.opcode and _ALL_GROUPS.search(lines[site.ptx_line - 1])
    )


def extra_work(run: Any, wanted: Mapping[str, Any]) -> str:
    """A sentence about the first thing that the answer of a run does too much of; "" if there is none.

    run: of a kernel that is right, on the emulator.   wanted: the criteria of the exercise.
    """
    tensor = [site for site in run.report.sites if _TENSOR.match(site.opcode)]
    running = {_place(site) for site in tensor if site.executions}  # the compiler may unroll what stands there
    idle = [site for site in tensor if not site.executions and _place(site) not in running]
    if idle:
        return (
            f"{len(idle)} of its tensor instructions never run ({idle[0].opcode}, PTX line {idle[0].ptx_line}); "
            "an exercise counts code that runs. Leave them out."
        )
    base, own = run.kernel.unedited(), Work.of(run.report, run.compiled.ptx)
    compiled = base.compile_as_taught()
    rung = _work_of_rung(base, compiled, run)
    if reason := foreign(own.opcodes, run.compiled.ptx, rung.opcodes, compiled.ptx):
        return reason
    size = f"At {run.m} × {run.n} × {run.k}"
    return (
        _beside(own, rung, wanted, size)
        or _arithmetic(own, rung, size)
        or _uncounted(own, rung, wanted, size)
        or _too_late(run, base, compiled)
    )


def _place(site: Any) -> tuple:
    return site.file, site.line, tuple(site.inlined_at)


def _beside(own: Work, rung: Work, wanted: Mapping[str, Any], size: str) -> str:
    """A sentence where an answer does more of what costs time, or thins out an average; "" where it does not."""
    requests = MOST_REQUESTS_AVERAGED if "sectors_per_request" in wanted else MOST_REQUESTS
    sectors = requests * wanted.get("sectors_per_request", own.sectors) * max(rung.requests, 1)
    # Of what an exercise asks an average; the last of each line below says which of them a count would bring down.
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
    """A sentence where an answer executes more of what the exercise counts than the code of its loops shows."""
    if {"waits", "full_waits"} & set(wanted) and own.full_waits > MOST_WAITS * rung.full_waits:
        return (
            f"{size} its warps wait {own.full_waits:,} times until nothing is on its way any more, and those of "
            f"the rung's own text {rung.full_waits:,} times: what was to run beside the work is waited for."
        )
    kinds = [kind for kind in EXECUTED if kind in wanted or (kind.startswith("waits") and "waits" in wanted)]
    for kind in kinds:
        most = 1.0 if kind == "fewer_instructions" else MOST_WAITS if kind.startswith("waits") else MOST_EXECUTED
        if own.executed[kind] > most * rung.executed[kind]:
            why = (
                "as few are possible."
                if kind.startswith("waits")
                else "some stand where the main loop's machine code does not show them."
            )
            return (
                f"{size} it executes {own.executed[kind]:,} warp instructions of what is counted here "
                f"({EXECUTED[kind].label}), and the rung's own text {rung.executed[kind]:,}: {why}"
            )
    return ""


def other_shares(run: Any) -> str:
    """A sentence where other warps ask for registers, or give some back, than with the rung's own text; else ""."""
    base, own = run.kernel.unedited(), executed(run.report)["register_shares"]
    if not own and "setmaxnreg" not in base.compile_as_taught().ptx:
        return ""
    rung = _work_of_rung(base, base.compile_as_taught(), run).executed["register_shares"]
    if own == rung:
        return ""
    return (
        f"At {run.m} × {run.n} × {run.k} its warps execute setmaxnreg {own:,} times, and those of the rung's own text "
        f"{rung:,} times. All warps of a warpgroup have to execute it, and one that asks for registers waits until "
        "others have given them back."
    )


def _arithmetic(own: Work, rung: Work, size: str) -> str:
    """A sentence where plain arithmetic does what the tensor cores of the rung do: they add up, too; else ""."""
    found, most = own.executed["arithmetic"], rung.executed["arithmetic"]
    if not (rung.products or rung.executed["products"]) or found <= MOST_ARITHMETIC * most:
        return ""
    return (
        f"{size} its warps execute {found:,} additions and multiplications of floating-point numbers outside the "
        f"tensor cores, and those of the rung's own text {most:,}: the tensor cores multiply and add up as well."
    )


def _too_late(run: Any, base: Kernel, rung: Compiled) -> str:
    """A sentence where fewer bytes are on their way at once than with the rung's own text, if copies take long.

    base: the unedited kernel.   rung: what it compiles to.
    """
    if not any("mbarrier" in site.opcode and site.opcode.startswith("cp.") for site in run.report.sites):
        return ""
    done = run.hazard_search()
    m, n, k = done.size
    key = _key(base, m, n, k, run.sms)
    if key not in _ON_THE_WAY:
        _ON_THE_WAY[key] = search(base, rung, done.size, "late", run.sms).most_on_the_way
    found, possible = done.reports["late"].most_on_the_way, _ON_THE_WAY[key]
    if found >= possible:
        return ""
    return (
        f"At {m} × {n} × {k}, where copies take as long as they can, at most {found:,} bytes are on their way "
        f"at once, and with the rung's own text {possible:,}: a stage that could be filled stays empty."
    )


def _work_of_rung(base: Kernel, rung: Compiled, run: Any) -> Work:
    """The counts of the unedited kernel, launched once for each grid and size of a run."""
    key = _key(base, run.m, run.n, run.k, run.sms)
    if key not in _COUNTED:
        inputs = make_inputs(base.problem, run.m, run.n, run.k, "integers", 0)
        grid = base.grid(run.m, run.n, run.k, run.sms)
        report = launch(rung, grid, inputs.arguments(), base.spec.cluster, **limits(run.m, run.n, run.k))[1]
        _COUNTED[key] = Work.of(report, rung.ptx)
    return _COUNTED[key]


def _key(base: Kernel, m: int, n: int, k: int, sms: int | None) -> tuple:
    return base.name, base.emulated_arch, tuple(base.config.items()), base.grid(m, n, k, sms), m, n, k
