"""From a raw report to the sentence a learner reads."""

from types import SimpleNamespace

import pytest

from gemm_lab.device import instrument as checks
from gemm_lab.device.instrument import Site
from gemm_lab.device.postmortem import describe_nearest, explain, read_assert, read_sanitizer
from gemm_lab.device.source_lines import text_of

SOURCE = '#line 1 "03_swizzled.cu"\n// header\n#line 7 "cell"\n  d[i] = acc;\n#line 9 "03_swizzled.cu"\n}\n'
KERNEL = SimpleNamespace(
    source=SOURCE, files={"ptx/cp_async.cuh": "one\ntwo\n"}, threads=128, static_smem=512, dynamic_smem=1024
)
SITES = (
    Site(0, "write", "st.global.u16 [%rd1], %rs1;", 2, (("/x/ptx/cp_async.cuh", 2), ("cell", 7))),
    Site(1, "barrier", "bar.sync 0;", 0, (("03_swizzled.cu", 1),)),
    Site(2, "jump", "bra LOOP;", 0, (("cell", 7),)),
)
ARRAYS = {0: (4096, 1024), 2: (16384, 2097152)}


def report(kind=1, address=0, site=0, valid=1, waiting=(), finished=True, fault="CUDA_ERROR_LAUNCH_FAILED"):
    return {
        "report": (valid, site, address, kind, 5, 0, 0, 1, 2, 0),
        "waiting": list(waiting) + [0] * 32,
        "arrays": ARRAYS,
        "finished": finished,
        "fault": fault,
    }


def test_an_access_past_the_end_names_line_thread_and_array():
    found = explain(report(address=16384 + 2097152 + 24), SITES, KERNEL, ("a", "n", "d"))
    assert (found.file, found.line, found.text) == ("cell", 7, "  d[i] = acc;")
    assert (found.thread, found.block) == ((5, 0, 0), (1, 2, 0))
    assert found.nearest == "24 bytes past the end of argument d, 2,097,152 bytes"
    assert "write of 2 bytes" in found.detail


@pytest.mark.parametrize(
    "address, words",
    [
        (4090, "6 bytes before the start of argument 1 of the kernel, 1,024 bytes"),
        (4096 + 1024, "right at the end of argument 1"),
        (4096 + 1022, "2 bytes before the end of argument 1"),
        (16380, "4 bytes before the start of argument 3"),
    ],
)
def test_the_nearest_array_is_named(address, words):
    assert words in describe_nearest(address, ARRAYS, None)


def test_misalignment_and_shared_memory_have_their_own_words():
    assert "not a multiple of 2" in explain(report(checks.MISALIGNED, 4097), SITES, KERNEL).detail
    assert "1,536 bytes" in explain(report(checks.SHARED_OUTSIDE, 9000), SITES, KERNEL).detail


def test_a_loop_that_does_not_end():
    found = explain(report(checks.TOO_LONG, site=2), SITES, KERNEL)
    assert found.line == 7 and "looping" in found.detail


def test_a_barrier_that_some_warps_never_reach():
    found = explain(report(valid=0, waiting=[2, 2, 2, 0], finished=False), SITES, KERNEL)
    assert found.line == 1 and found.text == "// header"
    assert "warps 0 to 2 wait" in found.detail and "the other warp has" in found.detail


@pytest.mark.parametrize(
    "raw, words",
    [
        (report(valid=0, finished=False), "no thread was looping"),
        (report(valid=0), "do not cover"),
        (report(valid=0, fault=None), "the kernel finished"),
    ],
)
def test_an_unknown_line_says_why(raw, words):
    found = explain(raw, SITES, KERNEL)
    assert found.line is None and words in found.detail


def test_lines_are_counted_as_the_compiler_counts_them():
    assert text_of("03_swizzled.cu", 9, SOURCE, {}) == "}"
    assert text_of("/include/ptx/cp_async.cuh", 2, SOURCE, KERNEL.files) == "two"
    assert text_of("cell", 99, SOURCE, {}) is None


def test_the_words_of_compute_sanitizer():
    printed = """========= Invalid __global__ write of size 2 bytes
=========     at gemm+0x120 in 03_swizzled.cu:9
=========     by thread (3,0,0) in block (1,0,0)
=========     Access at 0x7f0000200000 is out of bounds
"""
    found = read_sanitizer(printed, KERNEL)
    assert (found.file, found.line, found.text, found.thread) == ("03_swizzled.cu", 9, "}", (3, 0, 0))
    assert found.address == 0x7F0000200000 and read_sanitizer("nothing", KERNEL) is None


def test_the_words_of_a_failed_assert():
    printed = "/tmp/03_swizzled.cu:9: gemm: block: [1,0,0], thread: [3,0,0] Assertion `i < n` failed.\n"
    found = read_assert(printed, KERNEL)
    assert (found.file, found.line, found.thread, found.block) == ("03_swizzled.cu", 9, (3, 0, 0), (1, 0, 0))
    assert "i < n" in found.detail and read_assert("", KERNEL) is None
