"""Notebooks 00 to 02: nothing tells an answer before its question, and what the prose says of numbers and kernels."""

import csv
import json
import re

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.model import roofline
from tools.figures.tiling import tile_intensity

PROFILES = data_dir("results") / "profiles" / "h200"


def text_of(start: str) -> str:
    (path,) = data_dir("notebooks").glob(f"{start}_*.ipynb")
    return path.read_text(encoding="utf-8")


def test_the_plot_of_notebook_00_shows_no_speed_that_notebook_02_asks_for():
    bench = lab.ladder("simt").recorded([4096])
    shown, whole = (
        {words.get_text() for words in bench.plot(only=only).axes[0].texts} for only in (["simt/01", "simt/02"], None)
    )
    asked = f"{bench.tflops('simt/03', 4096):#.3g}"
    assert any(asked in words for words in whole) and not any(asked in words for words in shown)
    assert any("cuBLAS" in words for words in shown) and any("ceiling" in words for words in shown)
    cells = json.loads(text_of("00"))["cells"]
    plots = [line for cell in cells if cell["cell_type"] == "code" for line in cell["source"] if ".plot(" in line]
    assert plots == ['simt.plot(only=["simt/01", "simt/02"])']


def test_the_picture_of_tiles_does_not_name_l2_which_is_introduced_below_it():
    words = [item.get_text() for item in tile_intensity().findobj(lambda item: hasattr(item, "get_text"))]
    assert "from DRAM" in words and not any("L2" in text or text == "50.8" for text in words)
    prose = text_of("01")
    assert prose.index('figure(\\"tile_intensity\\"') < prose.index("*L2* is a cache")


def test_the_tiles_that_reach_the_balance_points_of_a_t4():
    t4 = roofline.roofline("t4", tflops=roofline.PEAK_T4)
    for memory, rows in {"shared memory": 36, "DRAM": 591}.items():
        needed = t4.balance(memory)
        assert roofline.intensity(rows - 1, rows - 1) < needed <= roofline.intensity(rows, rows)
        assert f"square tile with {rows} rows" in text_of("01") or f"square tile needs {rows} rows" in text_of("01")


def test_the_lines_that_a_warp_asks_for_explain_the_recorded_time_of_01_naive():
    """A turn of a warp has two reads: 32 lines and 1 line, or 1 and 1; the cycles are those of the recorded profile."""
    rows = {row["kernel"]: row for row in csv.DictReader((PROFILES / "cards.csv").open(encoding="utf-8"))}
    for name, lines, took in (("simt/01_naive", 33, "33.5 cycles"), ("simt/02_coalesced", 2, "2.9 cycles")):
        row = rows[name]
        turns = int(row["load_requests"]) / 2 / lab.gpu("h200").sms
        cycles = int(row["cycles"]) / turns
        assert f"{cycles:.1f} cycles" == took and took in text_of("01") and cycles >= lines
    sectors = {name: int(row["load_sectors"]) / int(row["cycles"]) for name, row in rows.items() if "simt/0" in name}
    assert sectors["simt/01_naive"] < sectors["simt/02_coalesced"], "so sectors a cycle are not its limit"
    assert "33 lines" in text_of("00") and "33 lines" in text_of("01")


def test_the_counts_of_both_kernels_are_those_that_notebook_00_names():
    """A request is a read or a write of a warp: 2 · k reads and one write, in the blocks of a check."""
    (naive, right), k = ((16.5, 32), (2.5, 4)), 64
    assert f"{(2 * k * naive[0] + naive[1]) / (2 * k + 1):.1f}" == "16.6" and "Its card says 16.6" in text_of("00")
    m, n, k = lab.exercise("00_coalesce").criteria["sizes"][-1]
    assert (m, n, k) == (96, 80, 40) and "96 × 80 × 40" in text_of("00")
    whole, half = 2 * k * right[0] + right[1], 2 * k * 1.5 + 2  # 32 or 16 lanes with an element
    found = (2 * whole + half) / 3 / (2 * k + 1)
    assert f"{found:.2f}" == "2.18" and "2.18 there" in text_of("00")
    assert found < lab.exercise("00_coalesce").criteria["sectors_per_request"]


def test_the_guess_about_the_shifted_kernel_stands_before_the_other_mistake():
    text = text_of("00")
    assert text.index("00_verdict") < text.index("does not compile")
    assert text.index("does not compile") < text.index("elements are wrong")


def test_the_first_kernel_with_a_tile_for_each_warp_is_where_notebook_02_says():
    tiles = [kernel.name for kernel in lab.ladder("simt") if re.search(r"\bWARP_M\b", kernel.source)]
    assert tiles[
        0
    ] == "simt/05_warp_tiles" and f"The first kernel with a tile for each warp is `{tiles[0]}`" in text_of("02")


def test_the_rows_of_a_thread_lie_as_far_apart_as_notebook_02_says():
    config = lab.kernel("simt/04_register_tiles").config
    apart = config["BLOCK_M"] // config["THREAD_M"]
    assert (config["THREAD_M"], apart, config["BLOCK_M"]) == (8, 16, 128)
    assert "constexpr int NUM_THREADS_M = BLOCK_M / THREAD_M" in lab.kernel("simt/04_register_tiles").source
