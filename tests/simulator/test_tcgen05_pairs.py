"""What two blocks that multiply as a pair owe each other when they allocate tensor memory and give it back."""

import numpy as np
import pytest
from b200_runs import RING, compiled, run, small

import gpu_simulator
from gemm_lab import catalog

RUNG = "04_cta_pairs"
FIRST = "  cluster_sync();                                             // both blocks wait for each other: allocating takes two\n"
LAST = """  cluster_sync();                                             // the warps that give back wait for all others' loads
  if (warp == 0) tcgen05_dealloc<2>(tmem_acc, 2 * BLOCK_N);
"""
AFTER = "named_barrier_sync<1, 128>(); if (warp == 0) tcgen05_dealloc<2>(tmem_acc, 2 * BLOCK_N); cluster_sync();"
INCLUDE = '#include "ptx/mbarrier.cuh"\n'


def changed(*pairs, timing="late", **options):
    """04 with some of its text replaced: (whether D is exact, the report)."""
    source = catalog.kernel(f"b200/{RUNG}").source.replace(INCLUDE, INCLUDE + '#include "ptx/named_barrier.cuh"\n')
    for right, wrong in pairs:
        assert right in source
        source = source.replace(right, wrong)
    made = compiled(RUNG, source, **RING)
    report, d, exact = run(
        RUNG, **small(RUNG), made=made, observers=("hazards",), timing=timing, max_instructions=10**7, **options
    )
    return np.array_equal(d, exact), report


@pytest.mark.long
def test_a_pair_that_keeps_the_rules_is_clean():
    exact, report = changed()
    assert exact and report.hazards == []


def test_both_blocks_name_the_same_place_for_the_address():
    """CUTLASS, Allocator2Sm: both have to give the same dst_ptr. In ptxas's code one block stores the address for both."""
    other = [
        ("const uint32_t slot = acc_empty + 16; ", "const uint32_t slot = acc_empty + 16 + 4 * rank; "),
        ("smem[(slot - smem_a) / 16].x", "reinterpret_cast<const uint32_t*>(smem)[(slot - smem_a) / 4]"),
    ]
    with pytest.raises(
        gpu_simulator.TensorMemoryFault,
        match=r"block \(0, 0, 0\).* written to shared address 65,600, and block "
        r"\(1, 0, 0\) to 65,604: with cta_group::2 both blocks name the same place",
    ):
        changed(*other)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("timing", ["early", "late"])
def test_allocating_takes_a_block_that_has_begun(timing):
    """PTX ISA, tcgen05.alloc: the issuing warp must make sure that the peer CTA is launched."""
    exact, report = changed((FIRST, ""), timing=timing)
    assert exact and {h.kind for h in report.hazards} == {"missing wait"}
    assert all(
        "which may not have begun yet: let both meet at barrier.cluster before" in h.message for h in report.hazards
    )


@pytest.mark.long
def test_an_arrival_alone_does_not_tell_that_the_other_has_begun():
    _, report = changed((FIRST, "  cluster_arrive();\n"))
    assert any("may not have begun yet" in h.message for h in report.hazards)


@pytest.mark.long
@pytest.mark.parametrize("rank", [0, 1])
def test_giving_back_may_wait_for_the_other_block(rank):
    """PTX ISA, "Issue Granularity", a hang that comes and goes: one gives back before the barrier, the other after it."""
    body = f"  if (rank == {rank}) {{ {AFTER} }} else {{\n{LAST}  }}\n"
    with pytest.raises(
        gpu_simulator.Deadlock,
        match=r"threads 0-31 wait in tcgen05.dealloc of tensor memory at 0x0 together "
        rf"with a warp of block \({1 - rank}, 0, 0\), which has not come",
    ):
        changed((LAST, body))


def test_giving_up_the_right_to_allocate_may_wait_for_the_other_block():
    once = ("    tcgen05_relinquish_alloc_permit<2>();\n", "    if (rank == 0) tcgen05_relinquish_alloc_permit<2>();\n")
    with pytest.raises(
        gpu_simulator.Deadlock,
        match=r"threads 0-31 wait in tcgen05.relinquish_alloc_permit together with a warp "
        r"of block \(1, 0, 0\), which has not come",
    ):
        changed(once)


@pytest.mark.long
def test_a_block_that_keeps_its_columns_holds_the_other():
    with pytest.raises(gpu_simulator.Deadlock, match="wait in tcgen05.dealloc .* which has not come.* has ended"):
        changed(("  if (warp == 0) tcgen05_dealloc<2>", "  if (warp == 0 && rank == 0) tcgen05_dealloc<2>"))
