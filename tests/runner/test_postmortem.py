"""From a launch that failed on a GPU to the sentence a learner reads: the simulator names the line."""

from types import SimpleNamespace

import numpy as np
import pytest
from bad_kernels import bad_kernels

import gpu_runner as device
from gemm_lab import compiling
from gpu_runner import postmortem
from gpu_runner.postmortem import examine, read_assert, text_of
from gpu_runner.session import Silence

SOURCE = '#line 1 "03_swizzled.cu"\n// header\n#line 7 "cell"\n  d[i] = acc;\n#line 9 "03_swizzled.cu"\n}\n'
KERNEL = SimpleNamespace(source=SOURCE, files={"ptx/cp_async.cuh": "one\ntwo\n"})
HEAD = 'extern "C" __global__ void __launch_bounds__(64) gemm(float* d, int n) {\n'
RIGHT = HEAD + "  d[threadIdx.x] = n;\n}\n"
OUTSIDE = HEAD + "  int i = threadIdx.x;\n  if (blockIdx.x == 1) i += n;\n  d[i] = n;\n}\n"
STUCK = HEAD + '  if (threadIdx.x < 32)\n    asm volatile("bar.sync 1, 64;");\n  d[0] = n;\n}\n'
ENDLESS = HEAD + "  volatile float* p = d;\n  while (p[0] == 0.0f)\n    ;\n  d[1] = n;\n}\n"


def found(text, hang, grid=(2, 1, 1)):
    d = np.zeros(64, np.float32)
    seen = examine(compiling.compile(text, arch="sm_80", name="mine"), grid=grid, args=[d, 1000], cluster=(1, 1, 1),
                   hang=hang)  # fmt: skip
    assert not d.any(), "the arrays of the launch stay as they are"
    return seen


def test_an_access_past_the_end_names_line_thread_and_array():
    seen = found(OUTSIDE, hang=False)
    assert (seen.line, seen.text) == (4, "  d[i] = n;") and seen.file in seen.detail
    assert "block (1, 0, 0), thread (0, 0, 0)" in seen.detail and "4 bytes at global address" in seen.detail


def test_a_barrier_that_some_warps_never_reach():
    seen = found(STUCK, hang=True)
    assert seen.line == 3 and "wait" in seen.detail and "bar.sync 1" in seen.text


@pytest.mark.parametrize(("hang", "line"), [(True, 3), (False, None)])
def test_a_loop_that_does_not_end_is_where_a_hang_is_and_no_place_of_a_fault(hang, line, monkeypatch):
    monkeypatch.setattr(postmortem, "LIMIT_S", 0.3)
    seen = found(ENDLESS, hang)
    assert seen.line == line or seen.line in (3, 4) and hang
    assert ("spins" if hang else "did not come to the fault") in seen.detail


def test_a_launch_that_is_right_on_the_simulator_says_so():
    seen = found(RIGHT, hang=False)
    assert seen.line is None and "ends as it should" in seen.detail


def test_a_launch_that_cannot_be_simulated_says_why():
    seen = found(RIGHT, hang=False, grid=(1, 1 << 20, 1))
    assert seen.line is None and "cannot run this launch" in seen.detail


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize(
    "bad",
    [bad for bad in bad_kernels() if bad.gpu == ("KernelFault",) and {"MemoryFault", "Trap"} & {*bad.simulated}],
    ids=lambda bad: f"{bad.kind}, {bad.name}",
)
def test_what_faults_on_a_gpu_has_a_line(bad):
    made = compiling.compile(bad.source, arch="sm_90a", name="bad")
    seen = examine(made, grid=bad.grid, args=bad.arguments(), cluster=bad.cluster, hang=False)
    assert seen.line is not None and seen.text in bad.source.splitlines()


def test_lines_are_counted_as_the_compiler_counts_them():
    assert text_of("03_swizzled.cu", 9, SOURCE, {}) == "}"
    assert text_of("/include/ptx/cp_async.cuh", 2, SOURCE, KERNEL.files) == "two"
    assert text_of("cell", 99, SOURCE, {}) is None


def test_the_words_of_a_failed_assert():
    printed = "/tmp/03_swizzled.cu:9: gemm: block: [1,0,0], thread: [3,0,0] Assertion `i < n` failed.\n"
    seen = read_assert(printed, KERNEL)
    assert (seen.file, seen.line, seen.text) == ("03_swizzled.cu", 9, "}")
    assert "i < n" in seen.detail and "thread: [3,0,0]" in seen.detail and read_assert("", KERNEL) is None


# ---- The way from a failed launch to the sentence ----


class FakeSession:
    """A session whose requests fail as told."""

    def __init__(self, error):
        self.error = error

    def request(self, op, **payload):
        raise self.error


def launch(monkeypatch, error, text):
    monkeypatch.setattr(device, "session", lambda: FakeSession(error))
    made = compiling.compile(text, arch="sm_80", name="mine")
    device.launch(made, grid=(2, 1, 1), args=[np.zeros(64, np.float32), 1000])


def test_a_fault_is_raised_with_what_the_simulator_found(monkeypatch):
    error = device.KernelFault("CUDA_ERROR_ILLEGAL_ADDRESS", "It was stopped.", output="printed")
    with pytest.raises(device.KernelFault) as caught:
        launch(monkeypatch, error, OUTSIDE)
    fault = caught.value
    assert (fault.kind, fault.line, fault.output) == ("CUDA_ERROR_ILLEGAL_ADDRESS", 4, "printed")
    assert "accessed 4 bytes" in str(fault) and str(fault).endswith("\n    d[i] = n;")
    with pytest.raises(device.KernelFault, match="It was stopped. The line is unknown"):
        launch(monkeypatch, error, RIGHT)


def test_a_hang_and_a_silence_before_it_are_told_apart(monkeypatch):
    with pytest.raises(device.KernelHang, match="within 6 s") as caught:
        launch(monkeypatch, Silence(6.0, True, "printed"), STUCK)
    assert caught.value.line == 3 and caught.value.output == "printed"
    with pytest.raises(device.WorkerLost, match="90 s while it prepared"):
        launch(monkeypatch, Silence(90.0, False, ""), STUCK)
