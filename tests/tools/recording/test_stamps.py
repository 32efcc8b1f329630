"""Stamped copies of kernels: they compute the same, their events are in order, and files keep them."""

import math

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.lab.on_simulator import launch
from gemm_lab.measure.inputs import make_inputs, reference
from gemm_results import timeline_files
from gpu_timing.logical.pipeline_timeline import Timeline, broken_laws
from tools.recording import stamps, timelines
from tools.recording.__main__ import main

CONDITIONS = dict.fromkeys(timeline_files.NEEDED, "1")


def simulated(name, m=128, n=256, k=512):
    kernel = lab.kernel(name)
    kernel = kernel(**kernel.spec.configure())  # as it is taught, whichever GPU is here
    compiled = kernel.rewrite(stamps.instrument(kernel.source)).compile()
    grid = kernel.spec.launch_grid(kernel.config, m, n, k, math.prod(kernel.spec.cluster))
    inputs = make_inputs(kernel.problem, m, n, k, "integers", 0)
    blocks, warps = grid[0] * grid[1], compiled.threads // 32
    arrays, _ = launch(compiled, grid, [*inputs.arguments(), stamps.buffer(blocks, warps)], kernel.spec.cluster)
    d = arrays[kernel.problem.arrays.index("d")]
    assert np.array_equal(d.astype(np.float64), reference(inputs).astype(d.dtype).astype(np.float64))
    return stamps.read(arrays[-1], blocks, warps, title=name), kernel


@pytest.fixture(scope="module")
def persistent():
    return simulated("rtx5090/03_persistent")


def test_a_stamped_copy_computes_the_same_and_tells_who_did_what(persistent):
    timeline, kernel = persistent
    assert timeline.stages == kernel.config["NUM_STAGES"] and broken_laws(timeline) == []
    assert {agent.split(" · ")[-1] for agent in timeline.agents if "warp" in agent} == {"producer", "consumer"}
    assert len(timeline.of("TMA", "load")) == 2 * 512 // kernel.config["BLOCK_K"]
    assert len(timeline.of("warp 0 · consumer", "epilogue")) == 2  # a tile of D each
    assert {event.tile for event in timeline.of("warp 0 · consumer", "issue")} == {0, 1}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", ["rtx5090/02", "b200/02", "b200/03", "b200/05", "hopper/05", "hopper/07"])
def test_other_kernels_are_stamped_too(name):
    """Producers, tcgen05, pairs and clusters with multicast: exact, in order, and every filling was seen."""
    timeline, kernel = simulated(name, m=256, n=512, k=512)
    loads = timeline.of("TMA", "load")
    assert timeline.stages == kernel.config["NUM_STAGES"] and loads and broken_laws(timeline) == []
    assert timeline.of("warp", "wait") and timeline.of("warp", "issue")


def test_what_cannot_be_stamped_is_refused():
    with pytest.raises(lab.LabError, match="no calls of mbarrier_wait_parity"):
        stamps.instrument(lab.kernel("t4/03_swizzled").source)
    with pytest.raises(lab.LabError, match="No stamp was written"):
        stamps.read(stamps.buffer(1, 1), 1, 1)


def test_sms_are_aligned_by_the_global_timer():
    """Two SMs whose clocks differ by 5,000, and a timer that moves in steps of 32 ns at 2 clocks a nanosecond."""
    raw = np.zeros((2, 1, 64), stamps.STAMP)
    for sm, lead in ((0, 0), (1, 5000)):
        time = np.arange(64) * 37.0 + 11 * sm
        raw[sm, 0]["clock"], raw[sm, 0]["sm"], raw[sm, 0]["set"] = 2 * time + lead, sm, 1
        raw[sm, 0]["nanoseconds"] = time // 32 * 32
    found = stamps.aligned(raw)
    assert found[0] == 0 and found[1] == pytest.approx(-5000, abs=70)


def test_files_keep_a_timeline(persistent, tmp_path):
    timeline, _ = persistent
    path = timeline_files.write(tmp_path / "a.csv", timeline, {**CONDITIONS, "kernel": "x/y", "gpu": "a GPU"})
    again, conditions = timeline_files.load(path)
    assert again.stages == timeline.stages and again.unit == timeline.unit and again.title == "x/y on a GPU"
    assert conditions["commit"] == "1"
    assert [event[:4] for event in again.events] == [event[:4] for event in timeline.events]
    assert np.allclose([e[4:] for e in again.events], [e[4:] for e in timeline.events], atol=0.5)


def test_files_say_what_is_wrong_with_them(tmp_path, persistent):
    with pytest.raises(lab.LabError, match="gpu is missing"):
        timeline_files.write(tmp_path / "b.csv", Timeline(()), {key: 1 for key in CONDITIONS if key != "gpu"})
    path = timeline_files.write(tmp_path / "c.csv", persistent[0], CONDITIONS)
    path.write_text(path.read_text().replace(",issue,", ",dream,", 1))
    with pytest.raises(lab.LabError, match="there is no kind “dream”"):
        timeline_files.load(path)
    path.write_text("agent,kind\n")
    with pytest.raises(lab.LabError, match="is no timeline"):
        timeline_files.load(path)


def test_a_recorded_timeline_is_drawn_beside_the_simulators(persistent, tmp_path, monkeypatch):
    from gemm_lab.lab.actions import pipelines as api

    monkeypatch.setattr(api, "data_dir", lambda name: tmp_path)
    kernel = lab.kernel("rtx5090/03_persistent")
    timeline_files.write(
        tmp_path / "timelines" / "h200" / "rtx5090_03_persistent.csv",
        persistent[0],
        {**CONDITIONS, "kernel": kernel.name, "gpu": "NVIDIA H200"},
    )
    both = kernel.timeline(k=256).beside(kernel.timeline(on="h200"))
    assert [one.unit for one in both.timelines] == ["logical time, in units of the stated model", stamps.CLOCKS]
    labels = [ax.get_xlabel() for ax in both.plot().axes]
    assert all(labels), "each has a scale of its own"
    assert both.timelines[1].title == "rtx5090/03_persistent on NVIDIA H200"
    with pytest.raises(lab.LabError, match="there are rtx5090_03_persistent on h200"):
        lab.kernel("rtx5090/02").timeline(on="h200")


def test_recording_from_the_command_line(tmp_path, monkeypatch, capsys):
    """With the simulator in the place of the GPU: files, conditions, and a kernel that cannot be stamped is named."""
    from types import SimpleNamespace

    from gpu_simulator.hardware.data_sheets import H200

    def launched(compiled, *, grid, args, cluster):
        return launch(compiled, grid, args, cluster)[0]

    monkeypatch.setattr(timelines, "device", SimpleNamespace(launch=launched))
    monkeypatch.setattr(timelines, "driver_version", lambda where: "580.1")
    where = SimpleNamespace(usable=True, arch="sm_90a", gpu=H200, present=SimpleNamespace(name="NVIDIA H200", sms=1))
    monkeypatch.setattr(timelines, "here", lambda: where)
    monkeypatch.setattr(timelines, "size", lambda kernel, sms: (256, 512, 256))
    assert main(["timelines", "hopper/03", "t4/03", "--into", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "hopper/03_producer: " in said and "t4/03" in said
    timeline, conditions = timeline_files.load(tmp_path / "h200" / "hopper_03_producer.csv")
    assert conditions["driver"] == "580.1" and timeline.of("TMA", "load") and broken_laws(timeline) == []
    monkeypatch.undo()
    monkeypatch.setattr(timelines, "here", lambda: SimpleNamespace(usable=False, reason="There is no GPU."))
    assert main(["timelines", "hopper/03"]) == 1 and "There is no GPU." in capsys.readouterr().err


def test_a_recorded_size_gives_each_block_two_tiles():
    for name in ("hopper/05", "b200/02", "b200/05", "rtx5090/03"):
        kernel = lab.kernel(name)
        m, n, k = timelines.size(kernel, 132)
        kernel.spec.require_size(kernel.config, m, n, k)
        assert 1.5 < m * n / (kernel.config["BLOCK_M"] * kernel.config["BLOCK_N"]) / 132 < 2.5
