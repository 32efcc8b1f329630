"""A ring of stages in a cluster, with B sent to all its blocks: exact, without false alarms, and broken on purpose."""

import dataclasses
import re
from pathlib import Path

import compiling
import numpy as np
import pytest
from mutants import altered_clusters, altered_mbarriers, mutants
from survivors import survivors

import gpu_simulator
from gpu_simulator.hardware.tensor_map import TensorMap

RING = (Path(__file__).parent / "cluster_ring.cu").read_text()
CONFIG = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "NUM_STAGES": 3, "CLUSTER": 2}


def ring(source=RING, m=128, n=64, k=448, cluster=2, ptx=None, **options):
    """(is D exact, the report) of one GEMM, hazards searched."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    d = np.full((m, n), np.nan, np.float16)
    config = {**CONFIG, "CLUSTER": cluster}
    compiled = compiling.compile(source, arch="sm_90a", name="cluster_ring.cu", entry="kernel", config=config)
    if ptx is not None:
        compiled = dataclasses.replace(compiled, ptx=ptx)
    args = [
        TensorMap.of(a, (64, 64), 128),
        TensorMap.of(b, (64, 64 // cluster), 128),
        TensorMap.of(d, (64, 64), 128),
        k,
    ]
    options = {"observers": ("hazards",), "max_instructions": 500_000, **options}
    report = gpu_simulator.launch(compiled, "kernel", (-(-m // 64), -(-n // 64)), 160, args, **options)
    want = (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)
    return np.array_equal(d, want), report


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize(("m", "n", "k"), [(128, 64, 64), (128, 64, 448), (256, 128, 192), (512, 192, 128)])
def test_the_ring_is_exact_and_clean(m, n, k, timing):
    exact, report = ring(m=m, n=n, k=k, timing=timing)
    assert exact and report.hazards == []


@pytest.mark.long
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("cluster", [1, 4, 8])
def test_rings_in_other_clusters(cluster, timing):
    exact, report = ring(m=512, n=128, k=320, cluster=cluster, timing=timing)
    assert exact and report.hazards == []


def test_the_ring_reads_b_once_for_two_blocks():
    _, report = ring(observers=())
    alone, both = ([s for s in report.sites if "tensor" in s.opcode and "global.tile" in s.opcode][i] for i in (0, 1))
    assert "multicast" in both.opcode and "multicast" not in alone.opcode
    assert alone.bytes == 2 * 7 * 64 * 64 * 2 and both.bytes == 7 * 64 * 64 * 2


# The producer waits until every stage has been released: no block ends while others may still arrive at its barriers.
TAIL = (
    ("        if (++stage == NUM_STAGES) stage = 0, phase ^= 1;\n      }\n    }\n  } else {",
     "        if (++stage == NUM_STAGES) stage = 0, phase ^= 1;\n        if (k + BLOCK_K >= K)\n"
     "          for (int i = 0; i < NUM_STAGES; i++) {              // TAIL\n"
     "            mbarrier_wait_parity(empty + 8 * stage, phase ^ 1);\n"
     "            if (++stage == NUM_STAGES) stage = 0, phase ^= 1;\n          }\n      }\n    }\n  } else {"),
    ("  __syncwarp();\n  cluster_sync();                                             // END_BARRIER\n", ""),
)  # fmt: skip
RELAXED = (("  cluster_sync();                                             // INIT",
            "  __syncwarp();\n  cluster_arrive_relaxed();\n  cluster_wait();  // INIT"),)  # fmt: skip


def changed(*changes):
    source = RING
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


@pytest.mark.long
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("changes", [TAIL, RELAXED, (*TAIL, *RELAXED)], ids=["tail", "relaxed", "both"])
def test_other_rings_are_clean(changes, timing):
    exact, report = ring(changed(*changes), m=256, timing=timing)
    assert exact and report.hazards == []


def test_a_tail_that_waits_for_too_few_stages_is_a_hazard():
    few = changed(*TAIL).replace(
        "for (int i = 0; i < NUM_STAGES; i++) {              // TAIL", "for (int i = 0; i < 1; i++) {"
    )
    _, report = ring(few)
    assert any("nothing keeps that block from ending" in str(hazard) for hazard in report.hazards)


BROKEN = {
    "stages released to the own block alone": (
        [("CLUSTER * CONSUMERS)", "CONSUMERS)"), ("if (lane < CLUSTER) mbarrier_arrive_cluster(mapa(empty + 8 * stage, lane))",
                                                  "if (lane == 0) mbarrier_arrive(empty + 8 * stage)")],
        r"overwrites shared address \d+ of block .*, which block .* nothing tells that it has read it; wait for the mbarrier",
    ),
    "B not waited for": ([("STAGE_BYTES);   // EXPECT", "TILE_A);   // EXPECT")], "may still be writing it|bytes more than"),
    "no barrier of the cluster after the inits": (
        [("cluster_sync();                                             // INIT", "__syncthreads(); // INIT")],
        "not initialised|needs barrier.cluster",
    ),
    "no barrier of the cluster at the end": (
        [("cluster_sync();                                             // END", "// END")],
        "nothing keeps that block from ending before",
    ),
    "the mask of the own block": ([("stage, (1 << CLUSTER) - 1);", "stage, 1 << rank);")], "bytes more than have been copied"),
    "the halves exchanged at their place": (
        [("tile + TILE_A + rank * TILE_B / CLUSTER", "tile + TILE_A + (rank ^ 1) * TILE_B / CLUSTER")], "wrong"),
    "both halves at one place": ([("tile + TILE_A + rank * TILE_B / CLUSTER", "tile + TILE_A")], "writing it|wrong"),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_ring_is_caught(name):
    changes, sentence = BROKEN[name]
    source, found = changed(*changes), []
    for timing in ("early", "late"):
        try:
            exact, report = ring(source, timing=timing)
            found += [str(hazard) for hazard in report.hazards] + ([] if exact else ["wrong"])
        except gpu_simulator.SimulatedFault as error:
            found.append(str(error))
    assert any(re.search(sentence, words) for words in found), found


# Mutants that no run can tell from the kernel, by the end of their statement, and why.
EQUIVALENT = {
    "bar.warp.sync \t-1": "barrier.cluster.arrive.aligned after the roles is executed by all threads of the warp together",
    "rank ^ 1": "lanes 0 and 1 arrive at ranks 1 and 0 instead of 0 and 1: the same two arrivals",
    "→ .relaxed": "the first of the two: fence.mbarrier_init.release.cluster before it orders the inits, as in the example "
                  "of PTX ISA, \"membar/fence\"",
}  # fmt: skip


@pytest.mark.long
def test_mutants_of_the_ring_are_caught():
    source = compiling.compile(RING, arch="sm_90a", name="cluster_ring.cu", entry="kernel", config=CONFIG).ptx
    tried = (*mutants(source), *altered_mbarriers(source), *altered_clusters(source))
    missed = survivors(tried, lambda ptx, timing: ring(k=256, ptx=ptx, timing=timing))
    assert len(tried) > 28
    assert [next(end for end in EQUIVALENT if words.endswith(end)) for words in missed] == [
        "bar.warp.sync \t-1", "rank ^ 1", "→ .relaxed"]  # fmt: skip
