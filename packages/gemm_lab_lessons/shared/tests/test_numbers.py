"""Short exercises that ask for numbers: their right answers are what the simulator and the compiler count."""

from collections import Counter

import pytest

import gemm_lab as lab
from gemm_lab.courses import judges
from gemm_lab.notebook.exercises import WrongAnswer, exercises
from gemm_lab_lessons.ch06.judges import in_flight, store_sectors
from gemm_lab_lessons.ch07.judges import in_flight as copies_in_flight
from gemm_lab_lessons.ch08.judges import EDGE, TILE, arrivals, edge
from gpu_simulator.errors import ConfigError

RIGHT = {
    "06_in_flight": in_flight, "06_sectors": store_sectors, "07_in_flight": copies_in_flight, "08_arrivals": arrivals,
    "08_edge": edge,
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_the_task_asks_for_is_what_is_judged(name):
    task, right = lab.exercise(name), RIGHT[name]()
    assert all(f"{number}=…" in task.task for number in right) and {*task.criteria["asks"]} == {*right}
    assert task.check(**right).facts[-1] == ("so", task.criteria["solved"])
    with pytest.raises(ConfigError, match="is missing"):
        task.check()
    for slip in task.criteria["slips"]:
        (number,) = {*slip} - {"says"}
        assert slip[number] != right[number], "the slip is the right number"
        with pytest.raises(WrongAnswer) as refusal:
            task.check(**right | {number: slip[number]})
        assert refusal.value.reasons == [f"{number} is not {slip[number]:,}. {slip['says']}"]


def test_all_of_them_are_here():
    by_numbers = [name for name, task in exercises().items() if "asks" in task.criteria]
    assert sorted(by_numbers) == sorted(RIGHT) and {exercises()[name].judge for name in RIGHT} <= {*judges()}


def test_loads_on_their_way():
    made = lab.kernel("t4/02").compile("sm_75")
    loads = [line for line in lab.kernel("t4/02").sass(arch="sm_75").lines if line.opcode.startswith("LDG.E.128")]
    assert in_flight() == {"bytes_01": 2 * made.threads, "bytes_02": 16 * len(loads) * made.threads}


def test_sectors_of_both_epilogues():
    right, warps = store_sectors(), 8
    for rung, name in (("t4/06", "direct"), ("t4/07", "staged")):
        run = lab.kernel(rung).run(256, k=64, backend="simulator", timed=False)
        stores = Counter()
        for site in run.report.sites:
            if site.opcode.startswith("st.global"):
                stores["sectors"] += site.sectors
        assert stores["sectors"] == warps * right[name], rung


def test_a_stage_of_copies_for_each_block():
    k6, k7 = lab.kernel("ampere/06").compile("sm_90a"), lab.kernel("ampere/07").compile("sm_90a")
    assert copies_in_flight() == {"of_06": 2 * k6.smem // 2, "of_07": 2 * k7.smem * 2 // 3}


def test_arrivals_are_those_of_the_source():
    source = lab.kernel("rtx5090/02").source
    assert "mbarrier_init(full + i * 8, 1), mbarrier_init(empty + i * 8, NUM_CONSUMERS)" in source
    assert arrivals() == {"full": 1, "empty": 4}


def test_the_box_over_the_edge_has_the_bytes_of_a_whole_stage():
    assert edge()["bytes"] == (TILE[0] + TILE[1]) * TILE[2] * 2 and EDGE[0] % TILE[0] and EDGE[2] % TILE[2]
