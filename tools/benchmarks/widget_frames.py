"""Measures the frames of the zoom and of the tile walk in Chromium, while their time slider plays.

Run it with `python tools/benchmarks/widget_frames.py [--seconds 5] [--free]`. For each widget it prints the frames per
second (from the median and from the 95th percentile of the time between two frames), and the most nodes and canvas
calls that one step takes. Chromium draws at most 60 frames a second; with `--free` it draws as many as it can. Without
a GPU, Chromium draws on the processor.
"""

import argparse

from playwright.sync_api import sync_playwright

import gemm_lab as lab
from gemm_lab.notebook import widgets
from gemm_lab.notebook.puzzle import puzzle
from tools.widget_frames import frames, work
from tools.widget_page import ARGUMENTS, CHROMIUM, mount, prepared, state_of

FREE = ["--disable-frame-rate-limit", "--disable-gpu-vsync"]
LEVELS = ("dram", "block", "warp", "fragment", "bank", "bits")


def cases():
    """(what plays, its module, its state) of each measurement."""
    zoom = state_of(lab.zoom())
    for level in LEVELS:
        yield f"zoom of 128 × 128 × 128, {level}", "zoom", {**zoom, "level": level, "step": 0}
    tiles = (32, 32, 16), (16, 16, 4), (4, 4)  # of a block, a warp and a thread
    walk = widgets.tile_walk(puzzle("02_nine_loops").solution(), 64, 64, 32, *tiles)
    for pace in ("warp tile", "thread tile"):
        yield f"tile walk of 64 × 64 × 32, by {pace}", "tile_walker", {**state_of(walk), "pace": pace, "step": 0}


def main() -> None:
    """Measure every case and print a line for it."""
    parser = argparse.ArgumentParser(description="Measure the frames of the widgets in Chromium.")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each plays (default: 5)")
    parser.add_argument("--free", action="store_true", help="without Chromium's limit of 60 frames a second")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        arguments = ARGUMENTS + FREE * options.free
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        page = prepared(browser.new_page(), "light", 1180, 720)
        for name, module, state in cases():
            mount(page, module, state)
            found = frames(page, options.seconds)
            last = len(state["scene"]["events"]["what"] if module == "zoom" else state["steps"])
            mount(page, module, {**state, "step": 0})
            spent = work(page, list(range(last // 4, last // 4 + 30)))
            nodes, calls = (max(column) for column in zip(*spent, strict=True))
            print(f"{name:52} {found}; a step: {nodes} nodes, {calls:,} calls")
        browser.close()


if __name__ == "__main__":
    main()
