"""Copies between the blocks of a cluster: multicasts, block to block, stores that report to an mbarrier."""

import re

import numpy as np
import pytest
from cluster_samples import (
    ALONE,
    BLOCK_TO_BLOCK,
    COPIES,
    DEFINED,
    MULTICAST,
    ORDERLY,
    PAIR,
    PLAIN,
    PLAIN_ALONE,
    REDUCTIONS,
    STORES,
    TO_THE_OTHER,
    build,
    copies,
    filled,
    reduction,
    store,
)

import gpu_simulator


def copy(issue, mask=3, cluster=2, expect=None, *, observers=("hazards",), timing="early", **options):
    """(bytes of every block, report)."""
    made = copies(issue, mask, cluster, expect, **options)
    report = made.simulate(observers=observers, timing=timing, max_instructions=200_000)
    return made.args[2].view(np.uint8), report


@pytest.mark.sampled(every=30)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize(("cluster", "mask"), [(2, 3), (2, 2), (4, 5), (4, 15), (4, 8), (8, 0b10110101), (8, 255)])
@pytest.mark.parametrize(("several", "one"), [(MULTICAST, ALONE), (PLAIN, PLAIN_ALONE)], ids=["boxes", "bytes"])
def test_a_multicast_is_as_many_loads(several, one, cluster, mask, timing):
    want, alone = copy(one, mask, cluster, blocks=2 * cluster, timing=timing)
    assert alone.hazards == [] and (want != 0xCD).any()
    for sender in (0, cluster - 1):
        got, report = copy(several.replace("FROM", str(sender)), mask, cluster, blocks=2 * cluster, timing=timing)
        assert report.hazards == [] and np.array_equal(got, want)
    for block, row in enumerate(want):
        assert (row == 0xCD).all() != bool(mask >> block % cluster & 1)


@pytest.mark.parametrize(
    ("issue", "sentence"),
    [
        (
            MULTICAST.replace("mask)", "4)"),
            r"multicast to the ranks of the mask 0x4, but its cluster has 2 .* 0x1 to 0x3",
        ),
        (MULTICAST.replace("mask)", "0)"), "multicast to the ranks of the mask 0x0"),
        (
            ALONE.replace("full)", "mapa(full, rank ^ 1))"),
            r"reports to an mbarrier of block .*, but it has to be one of ",
        ),
        (ALONE.replace("at + 1024", "mapa(at + 1024, 3)"), "names|asks for the block of rank 3"),
        (MULTICAST.replace("mask)", "1)"), "expects 1,536 bytes more than have been copied"),
    ],
)
def test_wrong_multicasts_are_named(issue, sentence):
    with pytest.raises(gpu_simulator.SimulatedFault, match=sentence):
        copy(issue.replace("FROM", "0"))


def test_a_load_may_go_to_the_other_block():
    got, report = copy(TO_THE_OTHER)
    want, _ = copy(ALONE)
    assert np.array_equal(got, want) and report.hazards == []
    with pytest.raises(
        gpu_simulator.SimulatedFault, match="reaches its own shared memory only; .shared::cluster reaches"
    ):
        copy(TO_THE_OTHER.replace("2d.shared::cluster", "2d.shared::cta"))


HAZARDS = {
    "an end without a wait": (
        dict(issue=MULTICAST.replace("FROM", "0") + "if (rank) return;", expect=[1536, 0]),
        r"block \(0, 0, 0\), thread \(0, 0, 0\)'s block ends, and no thread has waited",
    ),
    "a tile that the other still reads": (
        dict(issue="for (int i = t; i < 1024; i += 32) out[blockIdx.x * 1024 + i] = tile[i];"
                   "__syncwarp(); fence_proxy_async();" + MULTICAST.replace("FROM", "0")),
        "lets a copy|overwrites .*, which block .* read .*: nothing tells that it has read it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HAZARDS)
def test_a_multicast_is_watched_in_every_block(name):
    options, sentence = HAZARDS[name]
    found = [str(hazard) for timing in ("early", "late") for hazard in copy(**options, timing=timing)[1].hazards]
    assert any(re.search(sentence, hazard) for hazard in found), found


def test_an_init_without_a_fence_is_a_hazard_where_another_block_lets_a_copy_report():
    source = COPIES.replace("    fence_mbarrier_init();\n", "").replace("  fence_proxy_async();\n", "", 1)
    source = source.replace("ISSUE", MULTICAST.replace("FROM", "1")).replace("END", "cluster_sync();")
    made = copies(ALONE)._replace(compiled=build(source, "sm_90a", 32))
    report = made.simulate(observers=("hazards",))
    assert sum("no fence follows its init" in str(h) for h in report.hazards) == 1


# ---- Pairs of blocks ----


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("cluster", [2, 4])
def test_a_pair_reports_to_its_leader(cluster, timing):
    leaders = [3072 * (1 - block % 2) for block in range(cluster)]
    issue = PAIR.replace("MANY", "").replace("MASK", "") + "cluster_sync(); mbarrier_wait_parity(full & 0xFFFFFF, 0);"
    issue = issue.replace(
        "mbarrier_wait_parity(full & 0xFFFFFF, 0);", "if (rank % 2 == 0) mbarrier_wait_parity(full, 0);"
    )
    got, report = copy(issue + "cluster_sync();", 2**cluster - 1, cluster, leaders, arch="sm_100a", timing=timing)
    want, _ = copy(ALONE, 2**cluster - 1, cluster)
    assert np.array_equal(got, want) and report.hazards == []


def test_a_multicast_of_a_pair_reports_to_the_leaders_of_its_destinations():
    issue = PAIR.replace("MANY", ".multicast::cluster").replace("MASK", ", %5").replace("t == 0", "t == 0 && rank == 1")
    issue += "if (rank % 2 == 0) mbarrier_wait_parity(full, 0); cluster_sync();"
    got, report = copy(issue, 0b1110, 4, [1536, 0, 3072, 0], arch="sm_100a")
    want, _ = copy(ALONE, 0b1110, 4)
    assert np.array_equal(got, want) and report.hazards == []


def test_without_a_pair_the_leader_cannot_be_told():
    with pytest.raises(gpu_simulator.MemoryFault, match="with .cta_group::2 it may be in the other block of its pair"):
        copy(PAIR.replace("MANY", "").replace("MASK", "").replace(".cta_group::2", ""), arch="sm_100a")
    with pytest.raises(gpu_simulator.MemoryFault, match="but it has to be one of the block that is filled"):
        copy(
            PAIR.replace("MANY", "").replace("MASK", "").replace("0xFEFFFFFF", "0xFFFFFF"),
            15,
            4,
            [0] * 4,
            arch="sm_100a",
        )


# ---- From block to block ----


def from_block_to_block(expect=512, timing="early", end="cluster_sync();", **changes):
    issue = filled(BLOCK_TO_BLOCK, **{**ORDERLY, **changes})
    return copy(issue, expect=[expect] * 2, timing=timing, end=end)


@pytest.mark.parametrize("timing", ["early", "late"])
def test_a_copy_from_block_to_block(timing):
    got, report = from_block_to_block(timing=timing)
    words = got.view(np.uint32)
    for rank in range(2):
        assert words[rank, 512:640].tolist() == [1000 * (1 - rank) + i for i in range(128, 256)]
        assert (words[rank, 640:] == 0xCDCDCDCD).all()
    assert report.hazards == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (dict(FENCE=""), "fence.proxy.async after"),
        (
            dict(AFTER="tile[200] = 3;"),
            r"writes tile\[200\] \(shared address 800\) while the copy at .* may still be reading it",
        ),
        (dict(expect=528), "expects 16 bytes more than have been copied"),
        (dict(BARRIER="full"), "it has to be one of the block that is filled"),
        (
            dict(end="", AFTER="if (rank) return;"),
            r"block \(., 0, 0\) ends while this copy may still be reading its share",
        ),
    ],
)
def test_wrong_copies_from_block_to_block(options, sentence):
    try:
        found = [str(hazard) for hazard in from_block_to_block(**options)[1].hazards]
    except gpu_simulator.SimulatedFault as error:
        found = [str(error)]
    assert any(re.search(sentence, words) for words in found), found


# ---- Stores that report ----


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("form", STORES)
def test_a_store_reports_its_bytes(form, timing):
    made = store(form)
    report = made.simulate(observers=("hazards",), timing=timing)
    got = made.args[2]
    low = np.arange(32)
    for rank in range(2):
        first = 100 * (1 - rank) + low
        columns = {"b32": [first], "b64": [first, 0 * low], "v2": [first, 7 + 0 * low], "v4": [first, 7 + 0 * low] * 2}[
            form
        ]
        want = np.stack(columns, axis=1).reshape(-1)
        assert np.array_equal(got[rank, : len(want)], want)
    assert report.hazards == []


def test_a_store_that_nobody_waited_for_is_in_flight():
    issue = """
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                   :: "r"(mapa(at + 4 * t, rank ^ 1)), "r"(t), "r"(mapa(full, rank ^ 1)) : "memory");
      out[blockIdx.x * 1024 + t] = tile[t];"""
    _, report = copy(issue, expect=[128] * 2)
    assert any("may still be writing it: no thread has waited for" in str(hazard) for hazard in report.hazards)
    with pytest.raises(gpu_simulator.Deadlock, match="expects 4 bytes more than have been copied"):
        copy(issue, expect=[132] * 2)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize(("change", "kind", "want"), REDUCTIONS)
def test_a_reduction_reports_its_bytes(change, kind, want, timing):
    made = reduction(change, kind)
    made.simulate(timing=timing)
    assert made.args[2][:, 0].tolist() == [want] * 2


@pytest.mark.sampled(every=32)
@pytest.mark.parametrize("name", DEFINED)
def test_what_a_gpu_is_compared_with_is_free_of_hazards(name):
    for timing in ("early", "late"):
        assert DEFINED[name]().simulate(observers=("hazards",), timing=timing).hazards == []


# ---- Copies that come at different times ----

HALF_EACH = """
  if (t == 0) {
    const auto load = [&](uint32_t to, int mask) {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                   "[%0], [%1], %2, [%3], %4;" :: "r"(to), "l"(plain + 512 * rank), "r"(512), "r"(full),
                   "h"((uint16_t)mask) : "memory");
    };
    load(at + 1024 + 512 * rank, 3);
    ANNOUNCED
    load(at + 2048, 1 << rank);
  }
  mbarrier_wait_parity(full, 1);
  for (int i = t; i < 256; i += 32) tile[768 + i] = tile[256 + i];   // both halves, as they are now
  if (t == 0) mbarrier_arrive(full);"""
AT_ONCE = "mbarrier_arrive_expect_tx(full, 1536);"
IN_PARTS = """mbarrier_arrive_expect_tx(full, 512);
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(full), "r"(1024) : "memory");"""


@pytest.mark.long
def test_one_half_comes_before_the_other_half_of_the_cluster_does():
    """With both halves there or both missing, the count of bytes is not 0 between the two announcements."""
    right, report = copy(HALF_EACH.replace("ANNOUNCED", AT_ONCE), expect=[0, 0])
    assert report.hazards == []
    for timing in ("early", "late", "staggered"):
        got, report = copy(HALF_EACH.replace("ANNOUNCED", AT_ONCE), expect=[0, 0], timing=timing)
        assert report.hazards == [] and np.array_equal(got, right)
    for timing in ("early", "late"):
        got, report = copy(HALF_EACH.replace("ANNOUNCED", IN_PARTS), expect=[0, 0], timing=timing)
        assert report.hazards == [] and np.array_equal(got, right)
    got, report = copy(HALF_EACH.replace("ANNOUNCED", IN_PARTS), expect=[0, 0], timing="staggered")
    assert "reads tile[384] (shared address 1536) while" in str(report.hazards[0]) and (got[:, 3584:] == 0xCD).all()
    assert np.array_equal(got[:, 3072:3584], right[:, 3072:3584])
