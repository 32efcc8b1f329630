"""Timelines in results/timelines: read, refused with the line that is wrong, drawn beside the simulator's."""

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_results import timeline_files
from gpu_timing.logical.pipeline_timeline import broken_laws

RECORDED = sorted((data_dir("results") / "timelines").glob("*/*.csv"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_file_has_its_conditions_and_events_that_keep_the_laws(path):
    timeline, conditions = timeline_files.load(path)
    assert {"kernel", "gpu", "driver", "cuda", "commit", "date", "m", "n", "k", "blocks", "block"} <= {*conditions}
    assert timeline.events and broken_laws(timeline) == []


def test_a_file_says_what_is_wrong_with_it(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(RECORDED[0].read_text().replace(",issue,", ",dream,", 1))
    with pytest.raises(lab.LabError, match="line [0-9]+: there is no kind “dream”"):
        timeline_files.load(path)
    path.write_text("agent,kind\n")
    with pytest.raises(lab.LabError, match="is no timeline"):
        timeline_files.load(path)


def test_a_recorded_timeline_is_drawn_beside_the_simulators():
    kernel = lab.kernel("rtx5090/03_persistent")
    both = kernel.timeline(k=256).beside(kernel.timeline(on="h200"))
    assert both.timelines[0].unit.startswith("logical time") and both.timelines[1].unit.startswith("clocks of the SM")
    labels = [ax.get_xlabel() for ax in both.plot().axes]
    assert all(labels), "each has a scale of its own"
    assert both.timelines[1].title == "rtx5090/03_persistent on NVIDIA H200"
    with pytest.raises(lab.LabError, match="on h200"):
        lab.kernel("rtx5090/01").timeline(on="h200")
