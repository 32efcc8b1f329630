"""Clusters: ranks and addresses, barriers, shared memory of other blocks, and what breaks them."""

import itertools
import re

import compiling
import numpy as np
import pytest
from cluster_samples import (
    ADDRESSES,
    ARRIVALS,
    EXCHANGE,
    HALVES,
    HISTOGRAM,
    KERNEL,
    PLACES,
    REMOTE,
    SHAPES,
    filled,
    places,
    run,
)

import gpu_simulator
from gpu_simulator.errors import LaunchError

# ---- Who is who ----


@pytest.mark.parametrize("shape", SHAPES)
def test_every_block_knows_its_place(shape):
    made = places(shape)
    made.simulate()
    grid, out = made.grid, made.args[0]
    size = shape[0] * shape[1] * shape[2]
    for z, y, x in itertools.product(*(range(n) for n in grid[::-1])):
        at = (x, y, z)
        inside = [a % s for a, s in zip(at, shape, strict=True)]
        rank = inside[0] + shape[0] * (inside[1] + shape[1] * inside[2])
        ids = [a // s for a, s in zip(at, shape, strict=True)]
        counts = [g // s for g, s in zip(grid, shape, strict=True)]
        want = [rank, size, *inside, *shape, *ids, *counts, int(size > 1), 7]
        assert out[x + 4 * (y + 4 * z)].tolist() == want


def test_a_kernel_brings_its_own_clusters():
    source = PLACES.replace("void kernel", "void __cluster_dims__(2, 2, 1) kernel")
    compiled = compiling.compile(source, arch="sm_90a", name="kernel.cu", entry="kernel")
    out = np.zeros((8, 16), np.uint32)
    gpu_simulator.launch(compiled, "kernel", (4, 2), 1, [out])
    assert out[:, 0].tolist() == [0, 1, 0, 1, 2, 3, 2, 3] and (out[:, 14] == 1).all()
    with pytest.raises(LaunchError, match=r"compiled for clusters of 2 × 2 × 1 .* but the launch names 4 × 1 × 1"):
        gpu_simulator.launch(compiled, "kernel", (4, 2), 1, [out], cluster=4)


@pytest.mark.parametrize(
    ("grid", "cluster", "arch", "sentence"),
    [
        ((7, 1), (2, 1), "sm_90a", "grid 7 × 1 × 1 is not made of whole clusters of 2 × 1 × 1; .* is 8 × 1 × 1"),
        ((4, 3), (2, 2), "sm_90a", "the next larger grid that works is 4 × 4 × 1"),
        ((32, 1), (32, 1), "sm_90a", "has 32 blocks. Up to 8 run on every GPU with clusters, up to 16 on some"),
        ((4, 1), (2, 1), "sm_80", "Clusters exist from sm_90 on; kernel was compiled for sm_80"),
    ],
)
def test_clusters_that_no_gpu_takes(grid, cluster, arch, sentence):
    source = 'extern "C" __global__ void kernel(unsigned* out) {}'
    compiled = compiling.compile(source, arch=arch, name="kernel.cu", entry="kernel")
    with pytest.raises(LaunchError, match=sentence):
        gpu_simulator.launch(compiled, "kernel", grid, 1, [np.zeros(1, np.uint32)], cluster=cluster)


def test_a_kernel_may_bound_its_clusters():
    ptx = compiling.compile(PLACES, arch="sm_90a", name="kernel.cu", entry="kernel").ptx
    ptx = ptx.replace(")\n{", ")\n.maxclusterrank 2\n{", 1)
    out = np.zeros((8, 16), np.uint32)
    gpu_simulator.launch(ptx, "kernel", 8, 1, [out], cluster=2)
    with pytest.raises(LaunchError, match="has 4 blocks, more than the 2 that kernel was compiled for"):
        gpu_simulator.launch(ptx, "kernel", 8, 1, [out], cluster=4)


# ---- Addresses ----


def test_addresses_carry_the_rank_of_their_block():
    out, report = run(ADDRESSES, 4, 8, observers=("hazards",))
    assert report.hazards == []
    for block, row in enumerate(out):
        rank = block % 4
        assert row[6:64].tolist() == [1000 * ((rank + 1) % 4) + t for t in range(6, 64)]
        assert row[64:].tolist() == [1000 * ((rank + 2) % 4) + t for t in range(64)]
        assert row[1:6].tolist() == [(rank + 1) % 4, (rank + 2) % 4, 4 + 0 + 1, 1000 * (rank & ~1), rank]


def test_blocks_count_into_each_others_memory():
    out, report = run(HISTOGRAM, 4, observers=("hazards",))
    t, i, rank = np.meshgrid(np.arange(64), np.arange(8), np.arange(4))
    want = np.bincount(((17 * t + 5 * i + 31 * rank) % 512).reshape(-1), minlength=512).reshape(4, 128)
    want[0, 0] = 103
    assert np.array_equal(out, want) and report.hazards == []


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("mine[t] = mapa(at, 2);", r"kernel.cu:\d+.*block \(0, 0, 0\), thread .* rank 2; its cluster has 2 blocks"),
        ("mine[t] = read_cluster(at | 5 << 24);", "names the block of rank 5; its cluster has 2 blocks, of ranks 0 to 1"),
        ("asm volatile(\"st.shared.u32 [%0], 1;\" :: \"r\"(mapa(at, rank ^ 1)));", "reaches its own shared memory only"),
        ("mine[t] = read_cluster(mapa(at, rank ^ 1) + 4096);", r"accessed 4 bytes at shared address 4,096, which would be words\[1024\]"),
        ("mine[t] = read_cluster(mapa(at, rank ^ 1) + 2);", "which is not a multiple of 4"),
        ("mbarrier_init(mapa(full, rank ^ 1), 1);", "a block initialises and waits at its own, and arrives at any"),
        ("if (t == 0) mbarrier_init(full, 1); cluster_sync(); mbarrier_wait_parity(mapa(full, rank ^ 1), 0);",
         "uses the mbarrier of another block of its cluster with mbarrier.try_wait"),
        ("if (rank) return; cluster_sync(); mine[t] = read_cluster(mapa(at, 1));",
         r"uses the shared memory of block \(1, 0, 0\), which has ended"),
        ("if (rank == 0 && t == 0) mbarrier_arrive_cluster(mapa(full, 1)); cluster_sync();",
         r"mbarrier at shared address \d+ of block \(1, 0, 0\) that was not initialised"),
    ],
)  # fmt: skip
def test_wrong_addresses_are_named(body, sentence):
    with pytest.raises(gpu_simulator.SimulatedFault, match=sentence):
        run(body)


def test_the_generic_address_of_something_else_cannot_be_mapped():
    body = 'uint64_t far; asm volatile("mapa.u64 %0, %1, 1;" : "=l"(far) : "l"(out)); mine[t] = far;'
    with pytest.raises(gpu_simulator.ClusterFault, match="which is not in shared memory"):
        run(body)


# ---- barrier.cluster ----


def exchange(observers=("hazards",), **changes):
    return run(filled(EXCHANGE, **{**HALVES, **changes}), blocks=6, observers=observers)


def test_a_cluster_barrier_orders_its_blocks():
    out, report = exchange()
    for block in range(6):
        assert out[block, :64].tolist() == [100 * (1 - block % 2) + 20 + 63 - t for t in range(64)]
    assert report.hazards == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"ARRIVE": "cluster_arrive_relaxed();"}, "nothing orders the two blocks of the cluster; barrier.cluster does"),
        ({"ARRIVE": "", "WAIT": ""}, r"reads \w+.* \(shared address \d+ of block .* nothing orders the two blocks of the cluster"),
        ({"ARRIVE": "__syncthreads();", "WAIT": ""}, "nothing orders the two blocks"),
        ({"LAST": "cluster_arrive(); cluster_wait(); if (i == 2) { words[t] = 0; mine[t] = read_cluster(at ^ 1 << 24); }"},
         "nothing orders the two blocks"),
        ({"LAST": "if (i < 2) cluster_sync();"}, r"uses the shared memory of block .* nothing keeps that block from ending"),
    ],
)  # fmt: skip
def test_what_no_cluster_barrier_orders_is_a_hazard(changes, sentence):
    _, report = exchange(**changes)
    assert any(re.search(sentence, str(hazard)) for hazard in report.hazards), report.hazards


def test_a_fence_of_cluster_scope_before_a_relaxed_arrival_orders():
    fence = 'asm volatile("fence.acq_rel.cluster;" ::: "memory"); cluster_arrive_relaxed();'
    _, report = exchange(ARRIVE=fence)
    assert report.hazards == []
    _, report = exchange(ARRIVE=fence.replace("cluster;", "cta;"))
    assert report.hazards


def test_a_thread_arrives_once():
    with pytest.raises(
        gpu_simulator.ClusterFault, match=r"thread \(0, 0, 0\) arrives again at barrier.cluster before the oth"
    ):
        run("if (rank == 0) { cluster_arrive(); cluster_arrive(); } cluster_sync();")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("if (rank == 0) cluster_sync(); else { mbarrier_init(full, 1); __syncthreads(); mbarrier_wait_parity(full, 0); }",
         r"In block \(0, 0, 0\): threads 0-63 wait at barrier.cluster.*; threads 0-63 of block \(1, 0, 0\) have not "
         r"arrived. In block \(1, 0, 0\): threads 0-63 wait at the mbarrier"),
        ("cluster_wait();", "wait at barrier.cluster for all threads .*; threads 0-63 of this block, threads 0-63 of block"),
        ("if (t == 0) mbarrier_init(full, 1); cluster_sync(); if (rank) return; mbarrier_wait_parity(full, 0);",
         r"expects 1 more of its 1 arrivals .* Block \(1, 0, 0\) has ended"),
        ("if (t == 0) mbarrier_init(full, 1); cluster_sync(); mbarrier_wait_parity(full, 0);",
         r"In block \(0, 0, 0\): threads 0-63 wait at the mbarrier [^;]*\. Block \(1, 0, 0\) waits in the same way\.$"),
    ],
)  # fmt: skip
def test_a_deadlock_says_who_waits_for_whom_across_blocks(body, sentence):
    body = body.replace(
        "mbarrier_init(full, 1); __syncthreads()", "if (t == 0) mbarrier_init(full, 1); __syncthreads()"
    )
    with pytest.raises(gpu_simulator.Deadlock, match=sentence):
        run(body)


def test_blocks_that_end_are_not_waited_for():
    out, _ = run("if (rank == 1) return; cluster_sync(); mine[t] = 7;")
    assert (out[0, :64] == 7).all() and (out[1] == 99).all()


def test_clusters_do_not_wait_for_each_other(monkeypatch):
    """More clusters than are resident at once, and one of them late."""
    monkeypatch.setattr(gpu_simulator.launching, "LANES_AT_ONCE", 64 * 4)
    out, report = run(filled(EXCHANGE, **HALVES), 4, 24, observers=("hazards",))
    assert report.hazards == [] and len({tuple(row[64:]) for row in out}) == 1


# ---- Arrivals at the mbarrier of another block ----


def remote(**changes):
    return run(filled(ARRIVALS, **{**REMOTE, **changes}), observers=("hazards",))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"END": ""},  # the wait at the end of the phase is enough: nobody uses the memory of the other block after it
        {"READY": "__syncwarp(); cluster_arrive_relaxed(); cluster_wait(); cluster_sync();"},
        {"COUNT": "2", "ARRIVAL": """__syncwarp(); if (t % 32 == 0)
            asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 0;"
                         :: "r"(mapa(full, rank ^ 1)) : "memory");"""},
    ],
)  # fmt: skip
def test_an_arrival_carries_what_was_written_to_the_block(changes):
    out, report = remote(**changes)
    assert report.hazards == []
    assert out[:, :64].tolist() == [[10 * (1 - rank) + t for t in range(64)] for rank in range(2)]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"READY": "__syncthreads();"}, r"there is no barrier between them; it needs barrier.cluster \(arrive and wait\)"),
        ({"READY": "cluster_arrive_relaxed(); cluster_wait();", "FENCE": ""}, "uses the mbarrier at shared address"),
        ({"READY": "cluster_arrive_relaxed(); cluster_wait();"}, "nothing orders the two blocks of the cluster"),
        ({"ARRIVAL": """asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];"
            :: "r"(mapa(full, rank ^ 1)) : "memory");"""}, "nothing orders the two blocks"),
    ],
)  # fmt: skip
def test_what_an_arrival_does_not_carry_is_a_hazard(changes, sentence):
    _, report = remote(**changes)
    assert any(re.search(sentence, str(hazard)) for hazard in report.hazards), report.hazards


def test_an_arrival_at_the_wrong_block_deadlocks():
    with pytest.raises(gpu_simulator.SimulatedFault, match=r"is one too many|expects 64 more"):
        remote(ARRIVAL="mbarrier_arrive_cluster(mapa(full, 0));")


# ---- Looking inside ----


def test_a_block_of_a_cluster_can_be_looked_at():
    body = "words[t] = 100 * rank + t;\ncluster_sync();\nmine[t] = read_cluster(mapa(at + 4 * t, rank ^ 1));\ncluster_sync();"
    _, report = run(body, 2, 4)
    line = KERNEL.replace("BODY", body).split("\n").index("mine[t] = read_cluster(mapa(at + 4 * t, rank ^ 1));") + 1
    for block in range(4):
        seen = report.inspect(line, block=block, warp=1)
        assert seen.shared_as(np.uint32, "words")[:64].tolist() == [100 * (block % 2) + t for t in range(64)]
    stored = report.trace(line - 2, block=3, warp=1)[-1]
    assert stored.addresses.tolist() == [4 * t + stored.addresses[0] for t in range(32)] and stored.addresses[0] < 1024
