"""Predicted times: laws that they keep, kernels that were recorded, and what is refused."""

import csv
import dataclasses

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.source_text import parse_settings
from gemm_results import blind_trials
from gpu_simulator.errors import SimulatorError
from gpu_timing.cycles.constants_file import constants

# Largest error that each recorded kernel may have, in percent; it may shrink, and not grow.
RECORDED = {
    "ampere/02_cp_async": 2, "ampere/04_swizzled": 11, "ampere/10_steady_addresses": 2, "hopper/05_persistent": 4,
    "hopper/08_ping_pong": 2, "rtx5090/02_producer_warp": 3, "simt/06_wide_loads": 6, "t4/05_stepped_addresses": 2,
    "t4/08_pipelined_fragments": 5, "wmma/swizzle_bf16": 3,
}  # fmt: skip


def cycles(kernel, n=2048, **sizes):
    return kernel.predict(n=n, **sizes).cycles


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", RECORDED)
def test_the_error_of_a_recorded_kernel_does_not_grow(name):
    with (data_dir("results") / "profiles/h200/cards.csv").open(newline="", encoding="utf-8") as lines:
        row = next(row for row in csv.DictReader(lines) if row["kernel"] == name and row["n"] == "4096")
    kernel = lab.kernel(name, **parse_settings(row["config"].split()))
    assert abs(cycles(kernel, 4096) / float(row["cycles"]) - 1) < RECORDED[name] / 100


def test_longer_products_take_longer():
    kernel = lab.kernel("ampere/08_block_order")
    assert cycles(kernel, k=1024) < cycles(kernel, k=2048) < cycles(kernel, k=4096)


def test_bank_conflicts_are_slower_than_the_swizzle():
    slow = lab.kernel("ampere/02_cp_async").predict(n=2048)
    fast = lab.kernel("ampere/04_swizzled").predict(n=2048)
    assert slow.cycles > 2 * fast.cycles
    assert slow.prediction.top_reason == "short_scoreboard"
    assert slow.prediction.binding[0] == "shared_memory"


def test_an_edited_kernel_is_predicted_from_its_own_machine_code():
    kernel = lab.kernel("ampere/04_swizzled")
    edited = kernel.rewrite(kernel.source.replace("__syncthreads();", "__syncthreads(); __syncthreads();"))
    assert cycles(edited) > cycles(kernel)


def test_the_card_is_no_measurement():
    found = lab.kernel("t4/03_swizzled").predict(n=2048)
    for text in (repr(found), found._repr_html_()):
        assert "predicted" in text and "not measured" in text and "blind trials" in text
    assert found.lines and abs(sum(found.prediction.stalls[:, 0])) > 0


def test_a_kernel_of_no_trial_says_so():
    found = lab.kernel("t4/03_swizzled").predict(n=2048)
    untested = dataclasses.replace(found, spread=None)
    assert untested.tflops is None and "no predicted TFLOPS" in untested.trust and "no speed" in untested.headline


def test_unknown_gpus_list_the_known_ones():
    with pytest.raises(SimulatorError, match="h200"):
        constants("v100")


def test_without_machine_code_there_is_no_prediction(without_machine_code):
    kernel = without_machine_code("t4/03_swizzled")
    with pytest.raises(SimulatorError, match="no prediction"):
        kernel.predict()


def test_a_size_that_the_kernel_cannot_multiply_is_refused():
    with pytest.raises(SimulatorError, match="multiple"):
        lab.kernel("t4/03_swizzled").predict(n=1000)


# ---- Blind trials ----


def test_every_trial_was_predicted_before_it_was_recorded():
    found = blind_trials.trials()
    assert len(found) >= 60
    assert {one.family for one in found} == {"simt", "first_kernels", "t4", "ampere", "wmma", "rtx5090", "hopper"}


def test_errors_are_computed_from_the_rows(tmp_path):
    folder = tmp_path / "7"
    folder.mkdir()
    key = "kernel,config,n,idea,edit"
    (folder / "predicted.csv").write_text(f"{key},cycles,top_stall\nt4/x,A=1,512,,,110,wait\nt4/x,A=2,512,,,100,wait\n")
    (folder / "recorded.csv").write_text(
        f"{key},gpu,cycles,stall_wait,stall_barrier\nt4/x,A=1,512,,,G,100,2,1\nt4/x,A=2,512,,,G,200,1,2\n"
    )
    found = blind_trials.errors(blind_trials.trials(tmp_path))
    assert found.trials == 2
    assert found.mean == pytest.approx(0.3) and found.within_15 == 0.5 and found.same_stall == 0.5
    assert blind_trials.errors([]) is None


def test_a_recorded_variant_that_was_not_predicted_is_an_error(tmp_path):
    folder = tmp_path / "8"
    folder.mkdir()
    (folder / "predicted.csv").write_text("kernel,config,n,idea,edit,cycles,top_stall\n")
    (folder / "recorded.csv").write_text("kernel,config,n,idea,edit,gpu,cycles\nt4/x,A=1,512,,,G,100\n")
    with pytest.raises(KeyError):
        blind_trials.trials(tmp_path)
