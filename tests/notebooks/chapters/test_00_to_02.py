"""Notebooks 00 to 02: nothing tells an answer before its question, and what the prose says of numbers and kernels."""

import json
import re

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_results import roofline_model as roofline
from tools.figures.tiling import tile_intensity


def text_of(start: str) -> str:
    (path,) = data_dir("notebooks").glob(f"{start}_*.ipynb")
    return path.read_text(encoding="utf-8")


def test_the_plot_of_notebook_00_shows_no_speed_that_notebook_02_asks_for():
    bench = lab.ladder("simt").recorded([4096])
    shown, whole = ({words.get_text() for words in b.plot().axes[0].texts} for b in (bench.up_to("simt/02"), bench))
    asked = f"{bench.tflops('simt/03', 4096):#.3g}"
    assert any(asked in words for words in whole) and not any(asked in words for words in shown)
    assert any("cuBLAS" in words for words in shown) and any("ceiling" in words for words in shown)
    cells = json.loads(text_of("00"))["cells"]
    plots = [line for cell in cells if cell["cell_type"] == "code" for line in cell["source"] if ".plot(" in line]
    assert plots == ['simt.up_to("simt/02").plot()']


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


def test_the_first_kernel_with_a_tile_for_each_warp_is_where_notebook_02b_says():
    kernels = [kernel for kernel in lab.ladder("simt") if re.search(r"\bWARP_M\b|NUM_WARPS", kernel.source)]
    assert kernels[0].name == "simt/05_warp_tiles" and kernels[0].name in text_of("02b")


def test_the_rows_of_a_thread_lie_as_far_apart_as_notebook_02b_says():
    config = lab.kernel("simt/04_register_tiles").config
    apart = config["BLOCK_M"] // config["THREAD_M"]
    assert (config["THREAD_M"], apart, config["BLOCK_M"]) == (8, 16, 128)
    assert "constexpr int NUM_THREADS_M = BLOCK_M / THREAD_M" in lab.kernel("simt/04_register_tiles").source


def test_the_speed_in_the_question_about_sectors_is_the_recorded_one():
    from gemm_lab.notebook.guess import guess

    speed = lab.ladder("simt").recorded([4096]).tflops("simt/02", 4096)
    assert f"runs at {speed:.1f} TFLOPS" in repr(guess("02_sectors")) and f"asked = {speed:.1f} *" in text_of("02b")


def test_the_passes_of_rung_03_are_those_that_the_profiler_counted():
    profile = lab.kernel("simt/03_shared_memory_tiles").profile(on="h200")
    passes, ffma = 1 + 2 / 4 + 2 / 32, profile.card.opcodes["FFMA"]
    assert passes == profile.card["wavefronts"] / ffma and "passes = 1 + 2 / 4 + 2 / 32" in text_of("02b")
    assert ffma == 4096**3 / 32 and f"{profile.card['cycles'] * 132 / ffma:.2f} cycles" in text_of("02b")
    prose = text_of("02b")
    for stall, share in {"MIO throttle": "32 %", "long scoreboard": "18 %", "barrier": "13 %"}.items():
        (found,) = (profile.card.share(known) for known in profile.card.stalls if known.label == stall)
        assert f"{found:.0%}".replace("%", " %") == share and f"| {share} |" in prose


def test_the_speed_of_the_tiles_is_not_shown_before_it_is_asked_for():
    prose = text_of("02b")
    assert "--region load --as tiles -n 256 --no-speed" in prose
    before = json.loads(prose)["cells"]
    place = next(
        n
        for n, cell in enumerate(before)
        if "02_block" in "".join(cell["source"]) and "lab.guess" in "".join(cell["source"])
    )
    shown = [
        out for cell in before[:place] for out in cell.get("outputs", ()) if "03_shared_memory_tiles" in json.dumps(out)
    ]
    assert shown and not any("TFLOPS" in json.dumps(out.get("data", {}).get("text/plain", "")) for out in shown)
