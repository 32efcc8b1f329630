"""Timelines that were stamped on a GPU: their conditions are complete, and they show what their kernels must."""

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_results.timeline_files import NEEDED, load
from gpu_timing.logical.pipeline_timeline import broken_laws

FILES = sorted((data_dir("results") / "timelines").glob("*/*.csv"))


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_timeline_is_whole(path):
    timeline, conditions = load(path)
    kernel = lab.kernel(conditions["kernel"])
    assert set(NEEDED) <= set(conditions) and path.stem == kernel.name.replace("/", "_")
    assert lab.gpu(conditions["gpu"]).key == path.parent.name
    config = dict(setting.split("=") for setting in conditions["config"].split())
    assert timeline.stages == int(config["NUM_STAGES"]) and broken_laws(timeline) == []
    m, n, k = (int(conditions[axis]) for axis in "mnk")
    tiles = -(-m * n // (int(config["BLOCK_M"]) * int(config["BLOCK_N"])) // int(conditions["blocks"]))
    fillings = tiles * k // int(config["BLOCK_K"])
    assert len(timeline.of("TMA", "load")) in (0, fillings), "every filling of block 0 was seen, or none is drawn"
    assert timeline.of("warp", "wait") and timeline.of("warp", "epilogue")
    assert len(lab.kernel(conditions["kernel"]).timeline(on=path.parent.name).plot().axes) == 1
