"""Persistent blocks in clusters with wgmma, multicast and TMA stores: exact and clean, and every mutant is caught."""

import dataclasses
from functools import cache
from pathlib import Path

import compiling
import numpy as np
import pytest
from mutants import altered_clusters, altered_mbarriers, altered_wgmma, mutants
from survivors import TIMINGS, survivors
from test_wgmma import raw
from warpgroup_samples import CONFIG, Form, wrapper

import gpu_simulator
from gpu_simulator.hardware.tensor_map import TensorMap

SOURCE = (
    Path(__file__)
    .with_name("warpgroup_persistent.cu")
    .read_text()
    .replace("// WRAPPER\n", wrapper(Form(64), "wgmma_n"))
)


@cache
def compiled(source: str = SOURCE):
    return compiling.compile(source, arch="sm_90a", name="persistent.cu", entry="kernel", config=CONFIG)


def gemm(m=512, n=64, k=256, blocks=2, timing="early", ptx=None, source=SOURCE, **launch):
    """(is D exact, the report)."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-2, 3, shape) for shape in ((m, k), (n, k)))
    d = np.full((m, n), 0x7FC0, np.uint16)
    kernel = compiled(source) if ptx is None else dataclasses.replace(compiled(), ptx=ptx)
    maps = [
        TensorMap.of(x, box, 128, element="bf16")
        for x, box in ((raw(a, "bf16"), (64, 128)), (raw(b, "bf16"), (64, 32)), (d, (64, 64)))
    ]
    launch = {"observers": ("hazards",), "max_instructions": 300_000, **launch}
    report = gpu_simulator.launch(kernel, "kernel", blocks, 384, [*maps, m, n, k], timing=timing, **launch)
    return np.array_equal(d, raw(a @ b.T, "bf16")), report


@pytest.mark.sampled(every=9)
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("shape", [(256, 64, 64, 2), (512, 128, 256, 2), (512, 128, 192, 4), (512, 192, 128, 8)])
def test_tiles_of_clusters_are_exact_and_clean(shape, timing):
    exact, report = gemm(*shape, timing=timing)
    assert exact and report.hazards == []


def equivalent(statement: str) -> str:
    """Why a mutant does what the kernel does; empty if it does not."""
    if statement.startswith("bar.sync") and statement.endswith("0"):
        return "all threads meet again at the cluster's barrier right behind it"
    if "mapa" in statement and "rank ^ 1" in statement:
        return "two lanes name the two blocks, whichever which"
    if "→ .relaxed" in statement:
        return "the fence of the mbarriers' inits stands before it, and nothing else has been written"
    return ""


@pytest.mark.long
def test_mutants_are_caught():
    ptx = compiled().ptx
    waits = [m for m in altered_wgmma(ptx) if "one more" in m.statement]
    tried = (*mutants(ptx), *altered_mbarriers(ptx), *altered_clusters(ptx), *waits)
    missed = survivors(tried, lambda ptx, timing: gemm(ptx=ptx, timing=timing))
    assert len(tried) > 30 and len(missed) <= 4 and [s for s in missed if not equivalent(s)] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "if (thread == 0) tma_store_wait_read<0>();                              // STORE_WAIT",
            "",
            "a bulk copy may still be reading it",
        ),
        ("wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", "an accumulator of persistent.cu"),
        (
            "if (previous >= 0 && thread < CLUSTER) mbarrier_arrive_cluster(mapa(empty + 8 * previous, thread));",
            "if (thread < CLUSTER) mbarrier_arrive_cluster(mapa(empty + 8 * stage, thread));",
            "may still be reading it",
        ),
        ("fence_proxy_async();  ", "", "need fence.proxy.async"),
    ],
)
def test_what_breaks_it_is_said(old, new, said):
    assert SOURCE.count(old) == 1
    text = []
    for timing in TIMINGS:
        try:
            text += [str(h) for h in gemm(source=SOURCE.replace(old, new), timing=timing)[1].hazards]
        except gpu_simulator.SimulatedFault as error:
            text.append(str(error))
    assert any(said in sentence for sentence in text), text
