"""What notebook 12 says in prose, held against the recorded rows, the counts and the models."""

from dataclasses import replace

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.notebook import scoreboard as home
from gemm_lab.notebook.exercises import WrongAnswer
from gemm_lab.notebook.scoreboard import scoreboard
from gemm_lab_lessons.ch12.ablations import ablations
from gemm_lab_lessons.ch12.generations import generations
from gemm_lab_lessons.ch12.rounds import rounds
from gemm_results import results
from gemm_results.ablation import RUN, settings
from gemm_results.errors import LabError
from gpu_simulator.errors import SizeError

BOARD = scoreboard(4096, on="h200")


# ---- The board ----


def test_every_measured_kernel_stands_on_it_once_in_teaching_order():
    shown = [row.kernel for rungs in BOARD.ladders.values() for row in rungs]
    assert sorted(shown) == sorted(
        {
            row.kernel
            for row in results.recorded("h200")
            if row.n == 4096
            and row.regime == "sustained"
            and row.kernel in catalog.kernels()
            and row.ladder not in ("ceilings", "hopper_fp8")
        }
    )
    assert shown == [k.name for ladder in BOARD.ladders for k in lab.ladder(ladder) if k.name in shown]
    assert list(BOARD.ladders) == ["simt", "t4", "ampere", "rtx5090", "wmma", "hopper"]
    assert BOARD.missing == ("b200",)


@pytest.mark.long
def test_text_page_and_pictures():
    assert "not measured" in repr(BOARD) and "NVIDIA H200" in repr(BOARD) and "<table" in BOARD._repr_html_()
    for picture in (BOARD.plot(lit="hopper/08_ping_pong"), BOARD.roofline(), BOARD.gains("hopper").plot()):
        assert picture._repr_png_()[0].startswith(b"\x89PNG")


def test_rows_of_ones_own_gpu_come_first_and_stand_beside(monkeypatch, tmp_path):
    from gpu_simulator.hardware.data_sheets import Present

    speeds = ("tflops", "tflops_low", "tflops_high", "cublas_tflops", "cublaslt_tflops", "ceiling_tflops")
    half = [{name: getattr(row, name) and getattr(row, name) / 2 for name in speeds} for row in BOARD.rows]
    rows = [replace(row, gpu="Ada X", **less) for row, less in zip(BOARD.rows, half, strict=True) if row.ladder == "t4"]
    results.append(rows, tmp_path / "ada_x.csv")
    present = Present("Ada X", "sm_89", 76, (13, 0), 16.0, None)
    monkeypatch.setattr(home, "here", lambda: type("H", (), {"present": present}))
    monkeypatch.setattr(results, "path_for", lambda present, folder=None: tmp_path / "ada_x.csv")
    mine = scoreboard(4096)
    assert mine.name == "Ada X" and list(mine.ladders) == ["t4"] and "hopper" in mine.missing
    assert mine.gain("t4/03").ratio == pytest.approx(BOARD.gain("t4/03").ratio, rel=0.02), (
        "without samples: the medians"
    )
    assert mine.plot(beside=BOARD)._repr_png_()
    assert scoreboard(4096, on="h200").name == "NVIDIA H200"


def test_what_is_not_there_is_said():
    with pytest.raises(LabError, match="make record"):
        scoreboard(12345, on="h200")
    with pytest.raises(LabError, match="b200/05_tma_store was not measured"):
        BOARD.row("b200/05")
    with pytest.raises(LabError, match="ladder b200 was not measured"):
        BOARD.gains("b200")
    with pytest.raises(LabError, match="No published text gives"):
        BOARD.published("hopper")


# ---- Ratios ----


@pytest.mark.parametrize("ladder", list(BOARD.ladders))
def test_every_ratio_is_of_one_run_and_the_others_are_refused_by_name(ladder):
    found = BOARD.gains(ladder)
    for row in found:
        assert all(getattr(row.before, name) == getattr(row.after, name) for name in RUN)
        assert row.low <= row.ratio <= row.high
    measured = {row.kernel for row in BOARD.rows}
    chain = [k for k in lab.ladder(ladder) if (k.spec.extends or "").startswith(f"{ladder}/") and k.name in measured]
    assert len(found.rows) + len(found.refused) == len(chain)
    assert all("not measured in one run" in text for text in found.refused)


def test_samples_are_used_where_they_were_kept():
    assert all(row.paired for row in BOARD.gains("hopper")) and "no samples" not in repr(BOARD.gains("hopper"))
    unpaired = replace(BOARD, path=None).gains("hopper")
    assert not any(row.paired for row in unpaired) and "* no samples were kept" in repr(unpaired)
    assert "no samples were kept" in unpaired._repr_html_()


def test_a_rung_of_another_run_is_refused():
    other = tuple(replace(row, commit="fffffff") if row.kernel == "t4/03_swizzled" else row for row in BOARD.rows)
    found = replace(BOARD, rows=other, path=None).gains("t4")
    assert len(found.refused) == len(BOARD.gains("t4").refused) + 2


def test_what_the_prose_says_of_the_gains():
    t4, hopper = BOARD.gains("t4"), BOARD.gains("hopper")
    assert BOARD.gain("t4/03").ratio > 2 > 1.2 > BOARD.gain("ampere/04").ratio > 1
    assert BOARD.gain("ampere/03").ratio > 2, "padding had taken that gain"
    assert len(hopper.rows) == 9 and max(hopper, key=lambda row: row.ratio).after.kernel == "hopper/02_tma"
    assert all(row.ratio < 1.1 for row in hopper.rows[1:]) and any(not row.clear for row in hopper)
    assert any(row.moved for row in t4) and max(t4, key=lambda row: row.ratio).after.kernel == "t4/02_vectorized_copy"
    wide = [scoreboard(n, on="h200").gain("hopper/08_ping_pong_wide").ratio for n in (4096, 8192)]
    assert wide[0] < 1 < wide[1]


def test_what_the_prose_says_of_the_board():
    best = {name: BOARD.best(name) for name in BOARD.ladders}
    assert best["t4"].cublas_tflops > best["t4"].ceiling_tflops
    assert round(best["t4"].ratio_cublas, 1) == 0.5
    ends = [best[name].tflops for name in ("t4", "ampere", "rtx5090")]
    assert max(ends) < 1.3 * min(ends) and BOARD.row("hopper/02").tflops > max(ends)
    hopper = BOARD.ladders["hopper"]
    assert all(row.power_w > 0.95 * lab.gpu("h200").power_w and row.sm_clock_mhz < 0.85 * 1980 for row in hopper)
    rows = BOARD.published("t4").rows
    assert rows[-1][1] == 86.7 and all(ours < 0.9 * printed for _, printed, ours in rows)


# ---- Rounds and the roof ----


def test_rounds_count_what_is_paid_for():
    exact = rounds(1024, 1024, (128, 128), 64)
    assert (exact.tiles, exact.rounds, exact.last, exact.useful) == (64, 1, 64, 1.0)
    assert rounds(1024, 1024, (128, 128), 63).useful == pytest.approx(64 / 126)
    assert rounds(1025, 1024, (128, 128), 72).useful == pytest.approx(1025 / 1024 * 64 / 72)
    with pytest.raises(SizeError):
        rounds(0, 1024, (128, 128), 64)


def test_rounds_say_which_way_the_wide_tile_goes():
    for n in (4096, 8192):
        narrow, broad = (rounds(n, n, tile, lab.gpu("h200").sms).useful for tile in ((128, 256), (128, 192)))
        measured = scoreboard(n, on="h200").gain("hopper/08_ping_pong_wide").ratio
        assert (broad > narrow) == (measured > 1) and broad / narrow == pytest.approx(measured, rel=0.03)


def test_l2_serves_what_dram_cannot():
    assert BOARD.shared_reads(BOARD.best("hopper").kernel) > 0.5
    assert BOARD.shared_reads("simt/01") == 0
    assert BOARD.intensity("hopper/08_ping_pong") == 64


# ---- Counts ----


@pytest.mark.long
def test_counts_of_the_generations():
    counts = generations("t4/08", "ampere/10", "hopper/08_ping_pong", "b200/05")
    assert [row.macs_per_product for row in counts] == [16 * 8 * 8, 16 * 8 * 16, 64 * 128 * 16 / 4, 256 * 256 * 16]
    others = [row.others_per_million for row in counts]
    assert others[0] > 5 * others[-1] and others[1] > others[2] > others[3]
    assert counts[-1].registers <= 128 < 168 <= min(row.registers for row in counts[:-1]), "sums left the registers"
    assert counts[0].kernel in repr(counts) and "<table" in counts._repr_html_()


def test_a_kernel_that_is_wrong_or_multiplies_nothing_is_not_counted():
    damaged = lab.kernel("t4/03").edit(
        layout="__device__ int chunk_a(int row, int chunk) { return 0; }\n"
        "__device__ int chunk_b(int row, int chunk) { return 0; }"
    )
    with pytest.raises(LabError):
        generations(damaged)


@pytest.mark.long
def test_the_swizzle_brings_every_count_to_the_ideal():
    degree = {
        name: lab.kernel(name).run(256, 256, 64, backend="simulator").conflict_degree
        for name in ("t4/02", "t4/03", "ampere/02", "ampere/04", "rtx5090/03", "hopper/08_ping_pong")
    }
    assert all(value == 1 for name, value in degree.items() if not name.endswith("02"))
    assert degree["t4/02"] > 5 < degree["ampere/02"]


# ---- The exercise ----


def test_the_tile_of_the_ladder_does_not_do_for_5120():
    task = lab.exercise("12_rounds")
    with pytest.raises(WrongAnswer, match="7 rounds, 8 tiles in the last"):
        task.check(block_m=128, block_n=256)
    assert "solved" in repr(task.check(block_m=128, block_n=160))


# ---- Numbers that stay behind ----


def share(name, on, n):
    return scoreboard(n, on=on).row(name).ratio_cublas


@pytest.mark.long
def test_an_h100_differs_where_memory_is_read_again_and_again():
    for name in ("hopper/02", "hopper/04", "hopper/05", "hopper/08_ping_pong"):
        assert abs(share(name, "h100", 4096) - share(name, "h200", 4096)) < 0.08
    for name in ("hopper/02", "hopper/04"):
        assert share(name, "h100", 16384) < 0.7 * share(name, "h200", 16384)
        card = lab.kernel(name).profile(16384, on="h100").card
        assert 55 < card["dram_read_bytes"] / (2 * 16384**2 * 2) < 70
    assert all(share("hopper/05", on, n) > 0.99 for on in ("h200", "h100") for n in (4096, 8192, 16384))


def test_sustained_eight_rows_are_worse_than_four_on_an_h100_and_in_a_burst_they_are_equal():
    rows = [row for row in results.recorded("h100") if row.kernel == "hopper/08_ping_pong" and row.n == 16384]
    heights = {(row.regime, settings(row)["GROUP_M"]): row for row in rows}
    long, short = ({rows: heights[regime, rows] for rows in (2, 4, 8, 12, 16)} for regime in ("sustained", "burst"))
    assert long[8].ratio_cublas < 0.93 * long[4].ratio_cublas
    assert all(row.tflops_high - row.tflops_low > 0.1 * row.tflops for row in (long[4], long[8])), "rounds scatter"
    assert abs(short[8].ratio_cublas - short[4].ratio_cublas) < 0.01
    for found in (long, short):
        assert max(found[12].tflops, found[16].tflops) < found[2].tflops < found[4].tflops


@pytest.mark.long
def test_a_band_is_counted_in_bytes_and_its_size_is_not_the_whole_reason():
    cards = {
        rows: lab.kernel("hopper/08_ping_pong")(GROUP_M=rows).profile(16384, on="h100").card
        for rows in (2, 4, 8, 12, 16)
    }
    read = {rows: card["dram_read_bytes"] for rows, card in cards.items()}
    l2 = lab.gpu("h100").l2_mb * 1e6
    assert [rows * 128 * 16384 * 2 > l2 for rows in (8, 12)] == [False, True]
    assert abs(read[8] / read[4] - 1) < 0.1 and 1.7 * read[8] < read[12] < read[16]
    assert read[2] > 64 * 16384**2 * 2, "each of 64 bands asks for all of B"
    assert (
        lab.kernel("hopper/05").profile(16384, on="h100").card["dram_read_bytes"] < read[8]
        and l2 < 16 * 128 * 16384 * 2
    )


def test_both_are_the_same_chip():
    small, large = lab.gpu("h100"), lab.gpu("h200")
    assert (small.l2_mb, round(small.dram_gbps / 1000, 2)) == (50, 3.35) and (large.l2_mb, large.dram_gbps) == (
        60,
        4800,
    )
    assert (small.sms, small.tensor_tflops, small.power_w) == (large.sms, large.tensor_tflops, large.power_w)
    assert all(row.power_w > 0.97 * 700 for on in ("h200", "h100") for row in scoreboard(8192, on=on).ladders["hopper"])


# ---- The ablations ----


def test_the_table_of_ablations_has_every_idea_of_the_ladders_and_says_which_do_nothing():
    table = ablations()
    measured = [ladder for ladder in catalog.ladders().values() if ladder.name not in ("b200", "hopper_fp8")]
    ideas = [(f"{ladder.name}/{idea.rung}", idea.idea) for ladder in measured for idea in ladder.ideas]
    assert sorted((row.rung, row.idea) for row in table.rows) == sorted(ideas)
    assert [row.most for row in table.rows] == sorted((row.most for row in table.rows), reverse=True)
    by_idea = {(row.rung, row.idea): row for row in table.rows}
    assert by_idea["ampere/10_steady_addresses", "address registers that never change"].nothing
    assert not by_idea["ampere/10_steady_addresses", "D in whole rows"].nothing
    assert by_idea["hopper/08_ping_pong", "bands of blocks"].gains["burst", 8192].ratio > 1.3
    assert "burst 4096" in repr(table) and "<table" in table._repr_html_()


@pytest.mark.parametrize(("rung", "idea", "low", "high"), [
    ("ampere/05_stepped_addresses", "registers for two blocks instead of three", 0.78, 0.86),  # a third block is worth it
    ("rtx5090/01_tma", "TMA instead of cp.async", 0.84, 0.92),
    ("rtx5090/01_tma", "a copy that every warp issues, predicated", 0.88, 0.94),
    ("rtx5090/02_producer_warp", "a warp that only asks for tiles", 1.2, 1.32),
    ("rtx5090/02_producer_warp", "no barrier of the block", 1.0, 1.03),
    ("t4/05_stepped_addresses", "tiles of 256 × 256 × 32 instead of 256 × 128 × 64", 1.12, 1.16),
    ("hopper/02_tma", "two blocks on a multiprocessor", 1.1, 1.6),
    ("hopper/07_tma_store", "D stored by TMA", 1.0, 1.02),
    ("hopper/08_ping_pong", "tiles of 128 × 128 instead of 64 × 256", 1.03, 1.1),
    ("hopper/08_ping_pong_wide", "registers that change hands", 7.0, 7.3),
    ("wmma/best_wmma", "loads that name shared memory", 1.35, 1.52),
    ("wmma/best_wmma", "serpentine order", 0.94, 0.99),
])  # fmt: skip
def test_what_carries_each_rung_is_recorded(rung, idea, low, high):
    (found,) = (row for row in ablations().rows if (row.rung, row.idea) == (rung, idea))
    assert len(found.gains) == 4 and all(low < gain.ratio < high for gain in found.gains.values())


def test_a_kernel_that_reads_fp32_has_half_the_intensity_of_its_tile_in_bf16():
    wmma, best = BOARD.best("wmma"), BOARD.intensity(BOARD.best("wmma").kernel)
    assert wmma.dtype.startswith("bf16") and best == pytest.approx(128 * 256 / (128 + 256) / 2)


def test_the_choices_that_cells_name_as_right_are_right():
    board = scoreboard(4096, on="h200")
    speeds = sorted(row.tflops for rungs in board.ladders.values() for row in rungs)
    assert 1300 < speeds[-1] / speeds[0] < 1500 and 0.8 < board.best("t4").ratio_ceiling < 0.9
    each = {row.kernel.split("/")[0]: row.others_per_million for row in generations("t4/08", "b200/05")}
    assert 7 < each["t4"] / each["b200"] < 10
    far, near = (scoreboard(16384, on=on).row("hopper/04").ratio_cublas for on in ("h200", "h100"))
    assert 0.775 < far < 0.785 and 0.505 < near < 0.515
    table = ablations()
    assert (len(table.rows), sum(row.nothing for row in table.rows)) == (47, 11)
