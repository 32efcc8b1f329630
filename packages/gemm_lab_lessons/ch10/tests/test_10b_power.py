"""Notebook 10b: what the recorded rows of results/power say, and the sentences that rest on them."""

import pytest

import gemm_lab as lab
from gemm_lab_lessons.ch10 import power
from gemm_results.errors import LabError

ROWS = power.recorded("h200")
INPUTS = tuple(power.KINDS)
RUNGS = sorted({row.kernel for row in ROWS} - {"cublas"})


def of(kernel, kind, regime):
    (row,) = [row for row in ROWS.of(input=kind, regime=regime) if row.kernel == f"hopper/{kernel}"]
    return row


def test_every_kernel_was_measured_on_every_input_in_both_regimes():
    assert len(ROWS) == len(INPUTS) * 2 * (len(RUNGS) + 1) and {row.input for row in ROWS} == set(INPUTS) == set(
        power.SAID
    )
    assert len({(row.kernel, row.input, row.regime) for row in ROWS}) == len(ROWS)
    assert [row.clock_mhz for row in ROWS.of(kernel="cublas")] == [None] * 8


def test_no_kernel_passes_the_peak_of_its_clock():
    shares = [row.share_of_clock for row in ROWS if row.clock_mhz]
    assert min(shares) > 0.6 and max(shares) < 0.99
    assert power.peak_at(1830, 132) == pytest.approx(lab.gpu("h200").peak("bf16", "f32"), rel=0.001)


def test_the_last_rungs_use_nearly_all_cycles_in_both_regimes_and_the_simple_one_only_when_it_lasts():
    for name in ("07_tma_store", "08_ping_pong", "08_ping_pong_wide"):
        for regime in ("burst", "sustained"):
            assert 0.949 < of(name, "normal", regime).share_of_clock < 0.985
    long, burst = (of("02_tma", "normal", regime) for regime in ("sustained", "burst"))
    assert burst.share_of_clock < 0.75 < 0.89 < long.share_of_clock and long.tflops > 0.98 * burst.tflops


def test_nvml_says_another_clock_than_the_kernel_saw():
    assert all(row.nvml_mhz == 1980 > 1.09 * row.clock_mhz for row in ROWS.of(regime="burst") if row.clock_mhz)
    assert 1 - of("08_ping_pong_wide", "normal", "burst").clock_mhz / 1980 == pytest.approx(0.2, abs=0.02)


def test_the_narrow_tile_gets_as_many_bytes_at_either_clock():
    long, burst = (of("08_ping_pong", "zeros", regime) for regime in ("sustained", "burst"))
    assert burst.clock_mhz > 1.14 * long.clock_mhz and burst.tflops == pytest.approx(long.tflops, rel=0.03)
    assert power.bytes_per_clock(128, 128) == 64 and power.bytes_per_clock(128, 256) == 48


@pytest.mark.parametrize(("gpu", "least", "most"), [("h200", 12.1, 13.0), ("h100", 10.3, 11.8)])
def test_the_supply_falls_where_more_is_wanted_than_comes(gpu, least, most):
    mine = [row for row in power.recorded(gpu) if row.kernel == "hopper/08_ping_pong"]
    gets = {row.clock_mhz: row.tflops / 64 for row in mine}
    fast = [gets[clock] for clock in sorted(gets) if clock > 1480]
    assert least < min(fast) and max(fast) < most and max(fast[-2:]) < 0.96 * max(fast)
    assert all(row.share_of_clock > 0.94 for row in mine if row.clock_mhz < 1480)


def test_the_two_limits_say_which_of_them_binds_and_not_how_fast_the_narrowest_tile_is():
    wide = [row for row in ROWS.of(kernel="07_tma_store")]
    assert all(0.94 < row.share_of_clock < 0.97 for row in wide)
    narrowest = lab.ladder("hopper").recorded([8192], "burst").tflops("hopper/08_ping_pong_narrow", 8192)
    assert 0.9 < narrowest / (12.2 * 128 * 112 / (128 + 112)) < 0.97


def test_nine_tenths_of_the_stamps_are_no_work_on_an_h200_and_most_of_it_is_gone_on_an_h100():
    for kind in INPUTS:
        assert all(0.87 < row.clock_mhz / row.nvml_mhz < 0.92 for row in _stamped("h200", kind, "sustained"))
    assert all(0.905 < row.clock_mhz / row.nvml_mhz < 0.91 for row in _stamped("h200", "zeros", "burst"))
    assert all(row.clock_mhz / row.nvml_mhz < 0.82 for row in _stamped("h200", "normal", "burst"))
    others = [row for row in _stamped("h100", "normal", "sustained") if row.kernel != "hopper/08_ping_pong"]
    assert all(0.94 < row.clock_mhz / row.nvml_mhz < 1.01 for row in others)
    assert all(
        0.86 < row.clock_mhz / row.nvml_mhz < 0.92
        for kind in INPUTS
        for row in _stamped("h100", kind, "sustained")
        if row.kernel == "hopper/08_ping_pong"
    )


def _stamped(gpu, kind, regime):
    return [row for row in power.recorded(gpu).of(input=kind, regime=regime) if row.clock_mhz]


def test_half_of_the_joules_are_changing_bits_and_half_of_the_wide_tiles_gain_is_cycles():
    zeros, normal = (of("08_ping_pong_wide", kind, "sustained").joules_per_tflop for kind in ("zeros", "normal"))
    assert normal / zeros == pytest.approx(2, rel=0.03)
    narrow, wide = (of(name, "normal", "sustained") for name in ("08_ping_pong", "08_ping_pong_wide"))
    cycles, clock = wide.share_of_clock / narrow.share_of_clock, wide.clock_mhz / narrow.clock_mhz
    assert cycles * clock == pytest.approx(wide.tflops / narrow.tflops, rel=1e-3)
    assert 1.015 < cycles < 1.03 and 1.015 < clock < 1.03
    first, last = (of(name, "zeros", "sustained") for name in ("02_tma", "05_persistent"))
    assert first.joules_per_tflop > 1.7 * last.joules_per_tflop and first.clock_mhz > last.clock_mhz


def test_the_clock_follows_the_numbers():
    for kernel in RUNGS[1:]:
        for regime in ("sustained", "burst"):
            clocks = [of(kernel.split("/")[1], kind, regime).clock_mhz for kind in INPUTS]
            assert 1.005 * clocks[0] > clocks[1] > clocks[2] > clocks[3], (kernel, regime)
    assert all(row.watts < 0.8 * 700 for row in ROWS.of(input="zeros", regime="sustained"))


@pytest.mark.parametrize("gpu", ["h200", "h100"])
def test_persistent_kernels_ask_l2_for_less_than_they_receive_and_loads_for_all(gpu):
    lines = {line["kernel"].split("/")[-1]: line for line in power.requests(gpu)}
    share = {name: float(line["asked_gb"]) / float(line["received_gb"]) for name, line in lines.items()}
    assert share["loads of 32 MB"] > 0.99 and 0.85 < share["02_tma"] < 0.91
    assert all(
        0.5 < share[name] < 0.73 for name in ("05_persistent", "06_clusters", "08_ping_pong", "08_ping_pong_wide")
    )
    assert 0.9 < float(lines["06_clusters"]["asked_gb"]) / float(lines["05_persistent"]["asked_gb"]) < 0.95
    for name, tile in (("02_tma", (128, 128)), ("05_persistent", (128, 256)), ("08_ping_pong_wide", (128, 192))):
        tiles = -(-8192 // tile[0]) * -(-8192 // tile[1])
        assert float(lines[name]["received_gb"]) == pytest.approx(tiles * 8192 * 2 * sum(tile) / 1e9, rel=1e-3)
    works = {name: float(line["l2_gb"]) / float(line["microseconds"]) for name, line in lines.items()}
    assert works["02_tma"] > works["loads of 32 MB"] > 1.1 * works["08_ping_pong"]


def test_on_random_numbers_all_draw_the_power_that_the_board_may_draw_so_that_speed_is_energy_upside_down():
    rows = ROWS.of(input="normal", regime="sustained")
    assert all(688 < row.watts < 700 and row.reasons == "SwPowerCap" for row in rows)
    assert all(row.joules_per_tflop * row.tflops == pytest.approx(693, rel=0.01) for row in rows)
    cooler = [row for row in ROWS.of(input="zeros", regime="sustained") if row.reasons]
    assert len(cooler) == 5 and all(row.watts < 450 for row in cooler)
    assert of("04_two_consumers", "zeros", "burst").tflops < 0.85 * of("04_two_consumers", "normal", "burst").tflops


def test_the_stamps_change_no_speed():
    ratios = [row.tflops / row.plain_tflops for row in ROWS.of(regime="burst") if row.clock_mhz]
    assert len(ratios) == len(INPUTS) * len(RUNGS) and all(abs(ratio - 1) < 0.015 for ratio in ratios)


@pytest.mark.parametrize("gpu", ["h200", "h100"])
def test_tiles_get_as_much_more_than_plain_loads_on_both_gpus(gpu):
    (loads,) = [line for line in power._lines(f"{gpu}_l2.csv") if line["megabytes"] == "32"]
    narrow = power.recorded(gpu).of(kernel="08_ping_pong", input="zeros", regime="burst")[0]
    assert narrow.tflops / 64 / float(loads["terabytes_per_s"]) == pytest.approx(1.36, abs=0.02)


def test_the_clock_falls_within_a_twentieth_of_a_second_and_the_shown_power_does_not_rise_before():
    trace = [line for line in power._lines("h200_trace.csv") if "wide" in line["kernel"] and line["input"] == "normal"]
    early = [line for line in trace if float(line["ms"]) < 60]
    clocks = [float(line["clock_mhz"]) for line in early]
    assert clocks[0] > 1.12 * clocks[-1] and max(float(line["watts"]) for line in early) < 150
    assert max(float(line["watts"]) for line in trace) > 650


def test_pictures_are_drawn_and_what_is_not_recorded_is_a_sentence():
    tiles = {"hopper/08_ping_pong": (128, 128), "hopper/08_ping_pong_wide": (128, 192)}
    for figure in (
        power.plot_clocks(ROWS, (12.2, 13.0), tiles),
        power.plot_trace("08_ping_pong_wide"),
        power.plot_l2(),
    ):
        assert figure._repr_png_()
    with pytest.raises(LabError, match="an H100 and on an H200 only"):
        power.recorded("a100")
    with pytest.raises(LabError, match="No trace of 07"):
        power.plot_trace("07_tma_store")
