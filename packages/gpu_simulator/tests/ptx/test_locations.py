"""The source lines of instructions: merged code, which has line 0, and code of functions that were inlined."""

import re

import pytest
from ptx_text import run, text

import gpu_simulator

FILES = '.file 1 "mine.cu"\n.file 2 "header.cuh"\n'


def located(body: str) -> str:
    return text(body).replace(".visible", FILES + ".visible", 1)


def report_of(body: str, **options):
    return gpu_simulator.launch(located(body), "kernel", 1, 32, [None, None, None], **options)


@pytest.mark.parametrize(("merged", "line"), [
    (".loc 1 0 5\nSTORE\n.loc 1 8 3\nadd.u32 %r2, %t, 1;", 8),
    (".loc 1 0 5\nSTORE\n.loc 2 4 1\nadd.u32 %r2, %t, 1;\n.loc 1 9 3\nadd.u32 %r2, %t, 2;", 9),  # of its own file
    (".loc 1 0 5\nSTORE", 7),  # nothing follows, so the line before
    (".loc 2 0 5, function_name f, inlined_at 1 8 3\nSTORE\n.loc 1 9 3\nadd.u32 %r2, %t, 1;", 8),  # its call has a line
    (".loc 2 3 5, function_name f, inlined_at 1 0 3\nSTORE\n.loc 1 9 3\nadd.u32 %r2, %t, 1;", None),
])  # fmt: skip
def test_code_of_line_0_counts_for_the_neighbouring_line(merged, line):
    body = f".loc 1 7 3\nmov.u32 %r20, smem;\n{merged}".replace("STORE", "st.shared.u32 [%r20], %t;")
    report = report_of(body)
    stores = {number: totals.wavefronts for number, totals in report.lines("mine.cu").items() if totals.wavefronts}
    assert stores == ({line: 1} if line else {})
    assert line or report.lines("header.cuh")[3].wavefronts == 1
    assert all(number for name in ("mine.cu", "header.cuh") for number in report.lines(name))


@pytest.mark.parametrize(("stack", "words"), [
    ("1 5 1", "mine.cu:5, ld"),
    ("2 3 1, function_name f, inlined_at 1 5 1", "mine.cu:5 (inlined from header.cuh:3), ld"),
    ("1 5 1, function_name f, inlined_at 1 9 1", "mine.cu:5 (called from line 9), ld"),
    ("2 3 1, function_name f, inlined_at 1 5 1",
     "mine.cu:5 (inlined from header.cuh:3, called from line 9, called from line 12), ld"),
])  # fmt: skip
def test_a_message_leads_with_the_line_of_the_fault_in_the_kernels_own_file(stack, words):
    outer = ".loc 1 9 1, function_name h, inlined_at 1 12 1\n.loc 1 5 1, function_name g, inlined_at 1 9 1\n"
    body = f"{outer if '12' in words else ''}.loc {stack}\nmov.u32 %r20, smem;\nld.shared.u32 %r2, [%r20];"
    (hazard,) = report_of(body, observers=("hazards",)).hazards
    assert words in str(hazard)


def test_ptx_without_lines_is_named_by_its_own():
    (hazard,) = run("mov.u32 %r20, smem;\nld.shared.u32 %r2, [%r20];", None, None, None, observers=("hazards",)).hazards
    assert re.match(r"PTX line \d+, ld.shared.u32: block", str(hazard))


def test_each_depth_of_an_inlined_recursion_keeps_the_call_of_the_kernel():
    depths = "".join(
        f".loc 2 {line} 1, function_name f{depth}, inlined_at {call}\n"
        for depth, (line, call) in enumerate([(3, "1 9 1"), (3, "2 3 1"), (3, "2 3 1"), (7, "2 3 1")])
    )
    (hazard,) = report_of(f"{depths}mov.u32 %r20, smem;\nld.shared.u32 %r2, [%r20];", observers=("hazards",)).hazards
    assert "mine.cu:9 (inlined from header.cuh:7), ld" in str(hazard)
