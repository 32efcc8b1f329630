"""Clusters on a GPU, bit by bit against the simulator. Needs sm_90."""

from pathlib import Path

import cluster_samples
import numpy as np
import pytest

import gpu_runner as device
from gemm_lab import compiling
from gpu_simulator.hardware import data_sheets as hardware
from gpu_simulator.hardware.tensor_map import TensorMap

SIMULATOR_TESTS = Path(__file__).resolve().parents[2] / "packages/gpu_simulator/tests" / "clusters"
PRESENT = hardware.detect()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.available(), reason=device.why_not() or "a GPU"),
    pytest.mark.skipif(PRESENT is None or PRESENT.arch != "sm_90a", reason="the samples are compiled for sm_90a"),
]


@pytest.mark.parametrize("name", cluster_samples.DEFINED)
def test_a_sample(name):
    sample = cluster_samples.DEFINED[name]()
    found = device.launch(sample.compiled, grid=sample.grid, args=sample.args, cluster=sample.cluster, timeout_s=20)
    sample.simulate()
    expected = sample.launched()
    assert len(found) == len(expected)
    for got, want in zip(found, expected, strict=True):
        assert np.array_equal(got, want)


@pytest.mark.parametrize("size", [(128, 64, 64), (256, 192, 448), (1024, 1024, 1024)])
def test_a_ring_in_a_cluster(size):
    m, n, k = size
    config = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "NUM_STAGES": 3, "CLUSTER": 2}
    source = (SIMULATOR_TESTS / "cluster_ring.cu").read_text()
    compiled = compiling.compile(source, arch="sm_90a", name="cluster_ring.cu", entry="kernel", config=config)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    exact = (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)
    d = np.full((m, n), np.nan, np.float16)
    maps = [TensorMap.of(a, (64, 64), 128), TensorMap.of(b, (64, 32), 128), TensorMap.of(d, (64, 64), 128)]
    found = device.launch(compiled, grid=(m // 64, n // 64, 1), args=[*maps, k], cluster=(2, 1, 1), timeout_s=20)
    assert np.array_equal(found[2], exact)
