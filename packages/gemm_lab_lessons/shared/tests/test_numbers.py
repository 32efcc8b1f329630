"""Short exercises that ask for numbers: their right answers are what the simulator and the compiler count."""

from collections import Counter

import pytest

import gemm_lab as lab
from gemm_lab.notebook.exercises import WrongAnswer, exercises
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware.tensor_map import TensorMap

NAMES = [name for name, task in exercises().items() if task.judge == "numbers"]


def right(name):
    return lab.exercise(name).criteria["right"]


@pytest.mark.parametrize("name", NAMES)
def test_what_the_task_asks_for_is_what_is_judged(name):
    task = lab.exercise(name)
    assert all(f"{number}=…" in task.task for number in right(name)) and {*task.criteria["asks"]} == {*right(name)}
    assert task.check(**right(name)).facts[-1] == ("so", task.criteria["solved"])
    with pytest.raises(ConfigError, match="is missing"):
        task.check()
    for slip in task.criteria["slips"]:
        (number,) = {*slip} - {"says"}
        assert slip[number] != right(name)[number], "the slip is the right number"
        with pytest.raises(WrongAnswer) as refusal:
            task.check(**right(name) | {number: slip[number]})
        assert refusal.value.reasons == [f"{number} is not {slip[number]:,}. {slip['says']}"]


def test_each_has_a_test_below():
    assert sorted(NAMES) == ["06_in_flight", "06_sectors", "07_in_flight", "08_arrivals", "08_edge"]


def test_loads_on_their_way():
    made = lab.kernel("t4/02").compile("sm_75")
    loads = [line for line in lab.kernel("t4/02").sass(arch="sm_75").lines if line.opcode.startswith("LDG.E.128")]
    assert right("06_in_flight") == {"bytes_01": 2 * made.threads, "bytes_02": 16 * len(loads) * made.threads}


def test_sectors_of_both_epilogues():
    warps = 8
    for rung, name in (("t4/06", "direct"), ("t4/07", "staged")):
        run = lab.kernel(rung).run(256, k=64, backend="simulator", timed=False)
        stores = Counter()
        for site in run.report.sites:
            if site.opcode.startswith("st.global"):
                stores["sectors"] += site.sectors
        assert stores["sectors"] == warps * right("06_sectors")[name], rung


def test_a_stage_of_copies_for_each_block():
    k6, k7 = lab.kernel("ampere/06").compile("sm_90a"), lab.kernel("ampere/07").compile("sm_90a")
    assert right("07_in_flight") == {"of_06": 2 * k6.smem // 2, "of_07": 2 * k7.smem * 2 // 3}


def test_arrivals_are_those_of_the_source():
    source = lab.kernel("rtx5090/02").source
    assert "mbarrier_init(full + i * 8, 1), mbarrier_init(empty + i * 8, NUM_CONSUMERS)" in source
    assert right("08_arrivals") == {"full": 1, "empty": 4}


def test_the_box_over_the_edge_has_the_bytes_of_a_whole_stage():
    m, n, k = 130, 250, 40
    boxes = [TensorMap.of_shape("bf16", (rows, k), box=(32, tall), swizzle=64) for rows, tall in ((m, 128), (n, 256))]
    assert right("08_edge") == {"bytes": sum(one.row_bytes * one.box[1] for one in boxes)}
