"""The card of a prediction: its regime, how far such speeds were off, the record, and what is not modelled."""

import re

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.measure import known_speeds
from gemm_results.blind_trials import trials as blind_trials
from gemm_results.cards.predicted_card import two_digits
from gemm_results.profile import read_rows
from gemm_results.published_trials import Summary
from gemm_results.results import recorded
from tools import predictions

BURSTS = read_rows(data_dir("results") / "predicted" / known_speeds.BURSTS)


def words(found):
    return " ".join(repr(found).split())


# ---- Five kernels ----


def test_an_edited_kernel_has_a_burst_and_its_error():
    kernel = lab.kernel("t4/04_register_prefetch")
    found = kernel.rewrite(kernel.source.replace("#pragma unroll\n", "#pragma unroll 1\n", 1)).predict()
    assert f"{two_digits(found.tflops)} TFLOPS in a burst at 1,760 MHz (median error" in words(found)
    assert "sustained speeds are limited by power, and are not predicted" in words(found)
    assert "local memory" in words(found) and "recorded on an H200 SXM in a burst:" not in words(found)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("change", [{"GROUP_M": 1}, {"NUM_STAGES": 4}])
def test_what_the_model_does_not_see_has_no_number(change):
    found = lab.kernel("hopper/08_ping_pong", **change).predict(n=8192)
    assert "not modelled, because" in found.headline and found.tflops is None
    for text in (repr(found), found._repr_html_()):
        assert "TFLOPS in a burst at" not in text and "busiest unit" not in text


def test_the_order_of_blocks_may_change_while_everything_fits_into_l2():
    assert lab.kernel("hopper/08_ping_pong", GROUP_M=4).predict(n=2048).tflops


def test_another_order_in_the_source_is_not_modelled_either():
    kernel = lab.kernel("hopper/05_persistent")
    other = kernel.rewrite(re.sub(r"\bGROUP_M\b", "(GROUP_M / 2)", kernel.source))
    assert other.source != kernel.source and "order of the blocks" in other.predict(n=8192).gap


def test_few_stages_are_predicted_where_the_tensor_cores_wait():
    assert lab.kernel("ampere/10_steady_addresses", NUM_STAGES=2).predict().tflops


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("name", "modelled"), [("02_tma", False), ("03_producer", False), ("05_persistent", True)])
def test_large_products_without_an_order_of_blocks_are_not_modelled(name, modelled):
    found = lab.kernel(f"hopper/{name}").predict(n=8192)
    assert bool(found.tflops) == modelled and ("do not fit into L2" in found.gap) != modelled
    assert "recorded on an H200 SXM in a burst:" in found.headline


def test_a_recorded_kernel_shows_its_record():
    found = lab.kernel("ampere/08_block_order").predict()
    (row,) = [one for one in recorded("h200") if (one.kernel, one.n, one.regime) == (found.kernel, 4096, "burst")]
    assert f"in a burst: {row.tflops:.3g} TFLOPS ({row.date})" in found.headline


def test_a_gpu_without_records_has_ratios_and_waits_have_their_lines():
    found = lab.kernel("b200/02_pipelined").predict(on="b200")
    assert "times as fast as b200/01_synchronous (median error" in found.headline and "TFLOPS" not in found.headline
    assert "mbarrier_wait_parity(done" in found.lines[0][1]
    assert not any("__syncwarp" in text for _, text, *_ in found.lines)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("name", "on", "text", "reason"),
    [
        ("b200/05_tma_store", "b200", "mbarrier_wait_parity(acc_full", "long scoreboard"),
        ("b200/01_synchronous", "b200", "named_barrier_sync", "barrier"),
        ("hopper/05_persistent", "h200", "multiply(stage, k_tile)", "GMMA"),
        ("hopper/08_ping_pong", "h200", "named_barrier_sync", "barrier"),
    ],
)
def test_a_wait_is_charged_to_the_line_that_waits(name, on, text, reason):
    _, line, _, why = lab.kernel(name).predict(on=on).lines[0]
    assert text in line and why == reason


@pytest.mark.parametrize(
    ("value", "text"),
    [(428.76, "430"), (32.04, "32"), (7.41, "7.4"), (0.4953, "0.50"), (1168.3, "1,200"), (99.7, "100")],
)
def test_two_digits_count(value, text):
    assert two_digits(value) == text


# ---- The error of a burst ----


def test_every_recorded_burst_has_a_row():
    assert [(row["gpu"], row["kernel"], row["config"], int(row["n"])) for row in BURSTS] == predictions.bursts()


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("row", BURSTS[:: len(BURSTS) // 6], ids=lambda row: f"{row['gpu']} {row['kernel']} {row['n']}")
def test_the_stored_speed_is_that_of_the_model(row):
    found = predictions.predicted_burst((row["gpu"], row["kernel"], row["config"], int(row["n"])))
    assert bool(found["tflops"]) == bool(row["tflops"]), "run: python -m tools.predictions"
    if row["tflops"]:
        assert float(found["tflops"]) == pytest.approx(float(row["tflops"]), rel=0.01), (
            "run: python -m tools.predictions"
        )


def test_the_errors_are_those_of_bursts_and_of_blind_trials():
    found = known_speeds.known_speeds("h200", "hopper")
    (one,) = [
        row for row in BURSTS if (row["gpu"], row["kernel"], row["n"]) == ("h200", "hopper/05_persistent", "8192")
    ]
    burst = known_speeds.burst("h200", one["kernel"], lab.kernel(one["kernel"]).config, 8192, 8192, 8192)
    assert float(one["tflops"]) / burst.tflops - 1 in [known.error for known in found if known.n == 8192]
    trials = [trial for trial in blind_trials() if trial.family == "hopper" and "H200" in trial.gpu]
    rows = [row for row in BURSTS if row["gpu"] == "h200" and row["kernel"].startswith("hopper/") and row["tflops"]]
    assert len(found) == len(rows) + len(trials)
    assert known_speeds.spread("b200", "b200") is None


def test_a_large_error_is_a_factor():
    assert str(Summary(3, 0.08, 0.41)) == "median error 8%, worst 41% of 3"
    assert str(Summary(3, 0.08, 2.72)) == "median error 8%, worst 3.7 times of 3"
