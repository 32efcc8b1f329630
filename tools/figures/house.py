"""The packages and their parts as floors of a house: which may import which, and what each does."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

# From the top: each package, its purpose and its floors; each floor's parts and what they do. Small packages have no
# floors. tests/test_architecture.py checks the imports against this table.
HOUSE = (
    ("tools", "for authors", ()),
    ("gemm_lab_classroom", "grading, a shared GPU", ()),
    ("gemm_lab_lessons", "what notebooks ask", ()),
    (
        "gemm_lab",
        "what a learner touches",
        (
            (("cli",), "from a terminal"),
            (("notebook",), "cells, exercises, widgets"),
            (("lab",), "Kernel, Run, Ladder"),
            (("cards",), "what a cell shows"),
            (("measure",), "check, time"),
            (("catalog", "compiling", "notebook_files", "trust", "courses"), "the kernels, the courses"),
            (
                ("config", "source_text", "ladder_expressions", "ablations", "doors"),
                "folders, and text",
            ),
        ),
    ),
    (
        "gemm_results",
        "what was recorded",
        (
            (("cards",), "tables of it"),
            (("plots",), "drawings of it"),
            (
                (
                    *("errors", "data_folders", "results", "recorded_cards", "profile", "stalls", "findings"),
                    *("statistics", "ablation", "timeline_files", "published", "blind_trials"),
                    *("published_trials", "roofline_model"),
                ),
                "rows of results/",
            ),
        ),
    ),
    (
        "gpu_timing",
        "how long a kernel takes",
        (
            (("calibration",), "its constants, measured"),
            (("cycles",), "one SM, cycle by cycle"),
            (("machine_code", "logical"), "loops; who waits for whom"),
        ),
    ),
    ("gpu_runner", "the same kernel on a GPU", ()),
    (
        "gpu_simulator",
        "any kernel without a GPU",
        (
            (("cli",), "a .cu file from a terminal"),
            (("layouts",), "paddings and swizzles, tried"),
            (("kernel_file", "simulating"), "CUDA source"),
            (("launching",), "one launch"),
            (("report", "effort", "launch_checks", "launch_progress", "memory_limit"), "what it costs, and its limits"),
            (("observers",), "counts, races, hazards"),
            (("codegen",), "PTX to NumPy"),
            (("machine", "arithmetic", "runtime", "allow_list"), "blocks, memories, barriers"),
            (("ptx", "compiler"), "instructions, basic blocks"),
            (("hardware", "errors", "argument_checks", "faults"), "data sheets, banks, layouts"),
        ),
    ),
    ("llvm_ir_to_ptx", "clang in a web page", ()),
    ("gemm_look", "cards, tables, plots", ()),
)
BESIDE = "compiler"  # drawn beside the floors above it: CUDA to PTX and machine code
APART = (("cli", "notebook"),)  # neighbours that do not import each other
_INSIDE = {
    "tools": "pictures, sync, recording, mutants",
    "gemm_lab_classroom": "courses, grades, the gateway",
    "gemm_lab_lessons": "ch00 … ch12, shared, zoom",
    "gpu_runner": "takes hardware and compiler alone",
    "llvm_ir_to_ptx": "for the compiler alone",
    "gemm_look": "one look, for all above",
}
_COLOURS = {
    "tools": style.UNLIT_EDGE,
    "gemm_lab_classroom": style.PURPLE,
    "gemm_lab_lessons": style.YELLOW,
    "gemm_lab": style.SKY,
    "gemm_results": style.PURPLE,
    "gpu_timing": style.YELLOW,
    "gpu_runner": style.ORANGE,
    "gpu_simulator": style.GREEN,
    "llvm_ir_to_ptx": style.UNLIT_EDGE,
    "gemm_look": style.SKY,
}
_LEFT, _WIDE, _ANNEX, _HEADER, _FLOOR, _GAP = 0.4, 5.0, 0.98, 0.37, 0.31, 0.07
_LETTERS = 10.5  # that fit into an inch


def house_floors():
    """Ten packages, from the top; imports go down only."""
    top = 0.78
    tall = sum(_HEADER + _GAP + _height(package, floors) for package, _, floors in HOUSE)
    page = Sheet(top + tall + 0.5)
    page.ax.fill(
        [_LEFT - 0.25, _LEFT + _WIDE / 2, _LEFT + _WIDE + 0.25],
        [top, 0.2, top],
        color=style.tint(style.LIT, 0.55),
        edgecolor=style.INK,
        linewidth=1.1,
        zorder=1,
    )
    page.text(_LEFT + _WIDE / 2, 0.6, "imports go down only", bold=True)
    y = top + _GAP
    for package, what, floors in HOUSE:
        _package(page, y, package, what, floors)
        y += _HEADER + _height(package, floors) + _GAP
    y -= _GAP
    page.line((_LEFT - 0.25, y), (page.width - 0.4, y), colour=style.INK, lw=1.6)
    page.text(_LEFT, y + 0.25, "a thick wall: no import through it", ha="left", colour=style.MUTED)
    return page.fig


def _wide(package: str, ground: bool) -> float:
    """How wide a floor is, in inches: beside the compiler there is less room."""
    return _WIDE - _ANNEX if package == "gpu_simulator" and not ground else _WIDE


def _lines(parts: tuple[str, ...], wide: float) -> list[list[str]]:
    """The parts of a floor in lines, in each as many as fit beside each other."""
    lines: list[list[str]] = [[]]
    for part in (part for part in parts if part != BESIDE):
        if sum(len(other) + 2 for other in (*lines[-1], part)) > wide * _LETTERS:
            lines.append([])
        lines[-1].append(part)
    return lines


def _tall(package: str, floors) -> list[float]:
    """The height of each floor, in inches."""
    return [
        _FLOOR * len(_lines(parts, _wide(package, row == len(floors) - 1))) for row, (parts, _) in enumerate(floors)
    ]


def _height(package: str, floors) -> float:
    return sum(_tall(package, floors))


def _package(page: Sheet, top: float, package: str, what: str, floors) -> None:
    """Draw a strip with the package's name, and its floors below. top: the strip's upper edge, in inches."""
    colour, right = _COLOURS[package], _LEFT + _WIDE + 0.2
    page.box(_LEFT, top, _WIDE, _HEADER, fill=style.tint(colour, 0.5), edge=style.INK, lw=1.1, radius=0)
    page.text(_LEFT + 0.15, top + _HEADER / 2, package, ha="left", mono=True, bold=True, size=style.BODY)
    page.text(right, top + _HEADER / 2, what, ha="left", bold=True)
    if package in _INSIDE:
        page.text(_LEFT + _WIDE - 0.15, top + _HEADER / 2, _INSIDE[package], ha="right")
    heights = _tall(package, floors)
    tops = [top + _HEADER + sum(heights[:row]) for row in range(len(floors) + 1)]
    for row, (parts, does) in enumerate(floors):
        y, wide = tops[row], _wide(package, row == len(floors) - 1)
        page.box(
            _LEFT, y, wide, heights[row], fill=style.tint(colour, 0.1 + 0.02 * row), edge=style.RULE, lw=0.8, radius=0
        )
        for line, some in enumerate(_lines(parts, wide)):
            _rooms(page, some, y + line * _FLOOR, wide)
        page.text(right, y + heights[row] / 2, does, ha="left", colour=style.MUTED)
    if package == "gpu_simulator":
        x, y, tall = _LEFT + _WIDE - _ANNEX, tops[0], tops[-2] - tops[0]
        page.box(x, y, _ANNEX, tall, fill=style.tint(colour, 0.3), edge=style.RULE, lw=0.8, radius=0)
        for line, words in enumerate((BESIDE, "CUDA", "to PTX")):
            page.text(x + _ANNEX / 2, y + tall / 2 + 0.22 * (line - 1), words, mono=not line)
        for row, (parts, _) in enumerate(floors[:-1]):
            if not {"cli", "kernel_file"} & set(parts):  # these two import the compiler
                page.line((x, tops[row]), (x, tops[row + 1]), colour=style.VERMILION, lw=3.0, z=4)
    for row, (above, below) in enumerate(zip(floors, floors[1:], strict=False), 1):
        if (above[0][0], below[0][0]) in APART:
            page.line((_LEFT, tops[row]), (_LEFT + _WIDE, tops[row]), colour=style.VERMILION, lw=3.0, z=4)
    page.box(_LEFT, top, _WIDE, tops[-1] - top, fill="none", edge=style.INK, lw=1.1, radius=0, z=4)


def _rooms(page: Sheet, parts: list[str], y: float, wide: float) -> None:
    total, x = sum(len(part) + 2 for part in parts), _LEFT
    for place, part in enumerate(parts):
        width = wide * (len(part) + 2) / total
        page.text(x + width / 2, y + _FLOOR / 2, part, mono=True)
        x += width
        if place + 1 < len(parts):
            page.line((x, y), (x, y + _FLOOR), colour=style.RULE, lw=style.THIN, z=4)
