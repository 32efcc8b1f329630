"""From a raw report to the sentence a learner reads."""

from types import SimpleNamespace

import numpy as np
import pytest

import gpu_runner as device
from gpu_runner.postmortem import instrument as checks
from gpu_runner.postmortem.examination import describe_nearest, examine, explain, read_assert, read_sanitizer
from gpu_runner.postmortem.instrument import Site
from gpu_runner.postmortem.source_lines import text_of
from gpu_runner.session import Silence

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


# ---- The way from a failed launch to the sentence ----


class FakeSession:
    """A session whose requests end as told."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def request(self, op, **payload):
        self.asked.append((op, payload))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self):
        pass


PTX = """.version 8.5
.target sm_80
.address_size 64
.visible .entry gemm(.param .u64 p)
{
.reg .b64 %rd<3>;
.loc 1 7 3
st.global.u16 [%rd1], 5;
ret;
}
.file 1 "cell"
"""
LAUNCHED = SimpleNamespace(ptx=PTX, entry="gemm", key="k", name="mine", arch="sm_80", cubin=b"", **vars(KERNEL))


@pytest.mark.parametrize(
    "ptx, answer, words",
    [
        (PTX, Silence(7.0, True, ""), "silent for 7 s"),
        ("not PTX at all {", report(), "could not be run again"),
    ],
)
def test_an_examination_never_fails(ptx, answer, words, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    kernel = SimpleNamespace(**{**vars(LAUNCHED), "ptx": ptx})
    found = examine(kernel, grid=(1, 1, 1), args=[], cluster=(1, 1, 1), hang=False, session=FakeSession(answer))
    assert found.line is None and words in found.detail


def test_a_fault_is_raised_with_what_the_examination_found(monkeypatch):
    main = FakeSession(device.KernelFault("CUDA_ERROR_ILLEGAL_ADDRESS", "It was stopped."))
    second = FakeSession(report(address=16384 + 2097152))
    monkeypatch.setattr(device, "session", lambda: main)
    monkeypatch.setattr("gpu_runner.postmortem.examination.Session", lambda: second)
    with pytest.raises(device.KernelFault) as caught:
        device.launch(LAUNCHED, grid=(1, 1, 1), args=[np.zeros(4, np.float32), 1, np.zeros(2)], names=("a", "n", "d"))
    fault = caught.value
    assert (fault.kind, fault.file, fault.line) == ("CUDA_ERROR_ILLEGAL_ADDRESS", "cell", 7)
    assert fault.thread == (5, 0, 0) and "right at the end of argument d" in str(fault) and "d[i] = acc;" in str(fault)
    assert second.asked[0][1]["ptx"].count("gemmlab_global, (") > 0


def test_a_hang_and_a_silence_before_it_are_told_apart(monkeypatch):
    second = FakeSession(report(checks.TOO_LONG))
    monkeypatch.setattr("gpu_runner.postmortem.examination.Session", lambda: second)
    monkeypatch.setattr(device, "session", lambda: FakeSession(Silence(6.0, True, "printed")))
    with pytest.raises(device.KernelHang, match="within 6 s") as caught:
        device.launch(LAUNCHED, grid=(1, 1, 1), args=[])
    assert caught.value.line == 7 and caught.value.output == "printed"
    monkeypatch.setattr(device, "session", lambda: FakeSession(Silence(90.0, False, "")))
    with pytest.raises(device.WorkerLost, match="90 s while it prepared"):
        device.launch(LAUNCHED, grid=(1, 1, 1), args=[])
