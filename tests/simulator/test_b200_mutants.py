"""Every barrier, wait, commit, fence, arrival, parity, byte count and descriptor field of the b200 ladder, broken.

Each is caught in late timing, by a fault, a hazard or a wrong answer, or stands below with the reason why it does no harm.
Copies of a statement that the compiler unrolled are broken once, of tcgen05.wait::ld the first and the last.
"""

import re

import numpy as np
import pytest
from b200_runs import PAIRS, RING, RUNGS, compiled, fails, run, small
from mutants import altered_clusters, altered_mbarriers, mutants
from mutants_tcgen05 import INSTRUCTION_FIELDS, SHARED_FIELDS, altered_tcgen05

# Without harm in every rung.
HARMLESS = {
    "tcgen05.relinquish_alloc_permit": "it lets other blocks of the multiprocessor allocate, and this one takes it whole",
    "tcgen05.wait::ld": "but the last. PTX ISA, register dependencies of one thread: a use waits for its tcgen05.ld by itself",
    "→ leading offset of A": "PTX ISA, leading dimension byte offset: K-major with a swizzle, it is not used",
    "→ leading offset of B": "the same",
    "→ shift": "PTX ISA, instruction descriptor: the maximum shift is of tcgen05.mma.ws",
    "tcgen05.fence::before_thread_sync": "PTX ISA, tcgen05, inter-thread synchronization: the standard mechanisms also "
    "apply, and the arrival after tcgen05.wait::ld is a release; relaxed ones need it",
}
# And in some. Only of bar.warp.sync PTX promises order of memory, so it stands before what one lane tells for all.
TOGETHER = "the whole warp executes tcgen05.ld, tcgen05.wait::ld and elect.sync together, which stand beside it"
ENDS = "nothing is written before the first, and before the last tcgen05.fence::before_thread_sync orders the loads"
ALSO = {
    "01_synchronous": {"bar.warp.sync": "bar.sync, which follows, waits for every lane"},
    "02_pipelined": {"bar.warp.sync": TOGETHER},
    "03_warp_specialised": {},
    "04_cta_pairs": {"barrier.cluster.arrive.release.aligned; → .relaxed": ENDS},
    "05_tma_store": {"bar.warp.sync": TOGETHER, "barrier.cluster.arrive.release.aligned; → .relaxed": ENDS},
}  # fmt: skip
TIMES = {
    ("05_tma_store", "bar.warp.sync"): 3,
    **{(rung, "barrier.cluster.arrive.release.aligned; → .relaxed"): 2 for rung in PAIRS},
}
# The products of 02, 03 and 05 are those of 01 and 04.
PRODUCTS = ("01_synchronous", "04_cta_pairs")


def one_of_each(ptx: str, found):
    """The first of the mutants that do the same to copies of a statement, told by inline stack (.loc) and opcode."""
    places, place, own, seen = [], "", "", set()
    for line in ptx.split("\n"):
        if line.lstrip().startswith(".loc"):
            place = line.strip()
            own = place if re.search(r"\.loc\s+1 |inlined_at 1 ", place) else own  # the kernel's file is number 1
        places.append((place, own))
    last = {}
    for mutant in found:
        key = places[mutant.line - 1], mutant.statement.split(None, 1)[0], mutant.statement.partition("→")[2]
        if key not in seen:
            seen.add(key)
            yield mutant
        elif "wait::ld" in mutant.statement:  # before it the use of a register waits, after the last one there is none
            last[key] = mutant
    yield from last.values()


def broken(rung) -> list:
    ptx = compiled(rung, **RING).ptx
    found = [*mutants(ptx), *altered_mbarriers(ptx), *altered_tcgen05(ptx), *altered_clusters(ptx)]
    return [m for m in one_of_each(ptx, found) if rung in PRODUCTS or not m.statement.startswith("tcgen05.mma")]


def reason(rung, statement: str) -> str | None:
    """The entry of the tables that a statement falls under."""
    return next(
        (what for what in (*HARMLESS, *ALSO[rung]) if statement.startswith(what) or statement.endswith(what)), None
    )


@pytest.mark.long
@pytest.mark.parametrize("rung", RUNGS)
def test_every_mutant_is_caught_or_listed(rung):
    made = compiled(rung, **RING)
    report, d, exact = run(rung, **small(rung), made=made, observers=("hazards",), timing="late")
    assert report.hazards == [] and np.array_equal(d, exact)
    all_of_them = broken(rung)
    missed = [m.statement for m in all_of_them if not fails(rung, made, ptx=m.ptx)]
    assert [statement for statement in missed if reason(rung, statement) is None] == []
    listed = (
        {**HARMLESS, **ALSO[rung]}
        if rung in PRODUCTS
        else {what: why for what, why in {**HARMLESS, **ALSO[rung]}.items() if what.startswith(("tcgen05", "bar"))}
    )
    counts = {what: sum(reason(rung, statement) == what for statement in missed) for what in listed}
    # An entry all of whose mutants are caught by now is to go.
    assert all(1 <= count <= TIMES.get((rung, what), 1) for what, count in counts.items()), counts


@pytest.mark.parametrize("rung", PRODUCTS)
def test_every_field_is_among_the_mutants(rung):
    statements = [m.statement for m in broken(rung)]
    for field in (*INSTRUCTION_FIELDS, *(f"{field} of {matrix}" for field in SHARED_FIELDS for matrix in "AB")):
        assert any(statement.endswith(f"→ {field}") for statement in statements), field


@pytest.mark.parametrize("rung", RUNGS)
def test_every_kind_of_statement_is_among_the_mutants(rung):
    statements = [m.statement for m in broken(rung)]
    kinds = [
        "mbarrier.init",
        "mbarrier.arrive.expect_tx",
        "mbarrier.try_wait",
        "tcgen05.commit",
        "tcgen05.wait::ld",
        "tcgen05.fence::before",
        "tcgen05.fence::after",
        "tcgen05.dealloc",
        "tcgen05.relinquish",
        "fence.mbarrier",
    ]
    kinds += ["barrier.cluster.arrive", "barrier.cluster.wait", "mapa"] if rung in PAIRS else ["bar.sync"]
    kinds += ["cp.async.bulk.wait_group", "cp.async.bulk.commit_group", "fence.proxy.async"] if "05" in rung else []
    for kind in kinds:
        assert any(statement.startswith(kind) for statement in statements), kind
    assert sum("the other parity" in statement for statement in statements) >= 3
    assert sum("bytes" in statement for statement in statements) == 2
