"""The card of a run on a GPU: its speed, and beside it what the simulator counts at the smallest size."""

from dataclasses import replace

import pytest

import gemm_lab as lab
from gemm_lab.lab import measuring, on_simulator
from gemm_lab.lab.actions import running
from gemm_lab.measure.benchmark import Measurements
from gemm_lab.measure.check import Verdict
from gpu_runner import KernelHang
from gpu_simulator.faults import MemoryFault


def on_a_gpu(name: str, **changes):
    """A run as a GPU leaves it, with the simulator's own result of the same launch."""
    kernel = lab.kernel(name)
    run = kernel.run(256, backend="simulator")
    facts = {"backend": "gpu", "report": None, "recorded": None, "tflops": 6.7, "cublas_tflops": 20.0} | changes
    if facts.get("passed", True) and "small" not in facts:
        facts["small"] = on_simulator.count_small(kernel, run.compiled, run.m, run.n, run.k)
    return replace(run, **facts)


def run_on_a_pretended_gpu(monkeypatch, name, passed=True, **options):
    """`Kernel.run` where the GPU's check and timing are given."""
    monkeypatch.setattr(running, "backend_of", lambda kernel, wanted: "gpu")
    monkeypatch.setattr(running.measuring, "check_kernel", lambda *facts, **more: [Verdict(passed, "", None, 0, 0)])
    monkeypatch.setattr(running.measuring, "quick_speed", lambda *facts: {"tflops": 6.7, "cublas_tflops": 20.0})
    monkeypatch.setattr(running.measuring, "printed", lambda: "")
    return lab.kernel(name).run(256, **options)


@pytest.mark.parametrize(("name", "degree"), [("t4/02", "6.09"), ("t4/03", "1.00"), ("hopper/08_ping_pong", "1.00")])
def test_it_shows_speed_and_conflicts(name, degree):
    run = on_a_gpu(name)
    size = " × ".join(map(str, on_simulator.smallest_size(run.kernel)))
    assert f"speed 6.7 TFLOPS · of cuBLAS 34% · wavefronts {degree} × ideal" in repr(run)
    assert f"counted by the simulator at {size}" in repr(run)
    assert f"what each line costs, on the simulator at {size}" in run._repr_html_()
    assert run.wavefronts is None and run.conflict_degree is None, "of the launch itself nothing was counted"


def test_a_small_product_is_timed_at_a_size_that_fills_a_gpu():
    assert measuring.speed_size(lab.kernel("t4/03"), 256, 256, 256) == (2048, 2048, 2048)
    assert measuring.speed_size(lab.kernel("t4/03"), 4096, 256, 8192) == (4096, 2048, 8192)
    odd = lab.kernel("hopper/08_ping_pong_wide")
    assert all(
        size % step == 0 and size >= 2048
        for size, step in zip(measuring.speed_size(odd), odd.spec.size_multiples(odd.config).values(), strict=True)
    )
    shown = repr(on_a_gpu("t4/03", timed_at=(2048, 2048, 2048)))
    assert "size 256 × 256 × 256" in shown and "speed 6.7 TFLOPS at 2048 × 2048 × 2048 · of cuBLAS 34%" in shown


def timed(monkeypatch, kernel, answer):
    """What `quick_speed` says of a kernel where the benchmark answers so."""
    monkeypatch.setattr(measuring, "benchmark", answer)
    return measuring.quick_speed(kernel, kernel.compile(), 256, 256, 256)


def test_right_at_its_size_and_wrong_at_a_larger_one_is_said(monkeypatch):
    kernel, asked = lab.kernel("t4/03"), []

    def wrong(entries, sizes, *others):
        asked.extend(sizes)
        found = Measurements()
        found.skipped["t4/03_swizzled at 2048×2048×2048"] = "not timed: 8 elements of D are wrong"
        return found

    speed = timed(monkeypatch, kernel, wrong)
    assert asked == [(2048, 2048, 2048)]
    run = on_a_gpu("t4/03", tflops=None, cublas_tflops=None, **speed)
    told = "The result is right at this size; at 2048 × 2048 × 2048 it was not timed: 8 elements of D are wrong."
    assert run.passed and told in repr(run) and told in run._repr_html_() and "speed" not in repr(run)


def test_a_fault_while_it_is_timed_leaves_the_verdict(monkeypatch):
    def fault(*facts):
        raise KernelHang(2.0)

    speed = timed(monkeypatch, lab.kernel("t4/03"), fault)
    assert speed["untimed"].startswith("not timed: ") and "tflops" not in speed
    told = repr(on_a_gpu("t4/03", tflops=None, cublas_tflops=None, **speed))
    assert "it was not timed: " in told and ".." not in told  # the reason is a sentence, and ends as one


@pytest.mark.long
def test_without_shared_memory_it_shows_sectors():
    sectors = {
        name: repr(on_a_gpu(name)).split("sectors a request ")[1].split(" ")[0] for name in ("simt/01", "simt/02")
    }
    assert "wavefronts" not in repr(on_a_gpu("simt/01")) and float(sectors["simt/01"]) > 4 * float(sectors["simt/02"])


def test_of_a_wrong_result_nothing_is_counted(monkeypatch):
    monkeypatch.setattr(on_simulator, "check_on_simulator", lambda *_: pytest.fail("it was simulated"))
    assert "counted" not in repr(run_on_a_pretended_gpu(monkeypatch, "t4/03", passed=False))


def test_where_the_simulator_stops_the_card_says_so(monkeypatch):
    """A GPU may read past an array's end and harm nothing; the speed stands, and so does the fault."""
    calls = []

    def refuse(*_):
        calls.append(1)
        raise MemoryFault("16 bytes past the end of A")

    monkeypatch.setattr(on_simulator, "check_on_simulator", refuse)
    run = run_on_a_pretended_gpu(monkeypatch, "t4/03")
    assert "speed 6.7 TFLOPS" in repr(run) and "counted" not in repr(run) and "costs" not in run._repr_html_()
    assert all("256 × 128 × 128, stops: 16 bytes past the end of A" in text for text in (repr(run), run._repr_html_()))
    assert len(calls) == 1, "simulated once, however often it is shown"


def test_it_is_counted_once_and_by_the_run(monkeypatch):
    calls, real = [], on_simulator.check_on_simulator
    monkeypatch.setattr(on_simulator, "check_on_simulator", lambda *facts: calls.append(1) or real(*facts))
    run = run_on_a_pretended_gpu(monkeypatch, "t4/03")
    assert len(calls) == 1
    assert repr(run) == repr(run) and run._repr_html_() and run.hot_lines().lines and len(calls) == 1


def test_what_was_not_counted_is_counted_when_it_is_asked_for(monkeypatch):
    run = run_on_a_pretended_gpu(monkeypatch, "t4/03", counted=False)
    assert "counted" not in repr(run) and "costs" not in run._repr_html_()
    assert any(line.wavefronts for line in run.hot_lines().lines) and "counted" not in repr(run)


def test_a_run_smaller_than_a_tile_is_counted_at_its_own_size():
    kernel = lab.kernel("ampere/11")
    small = on_simulator.count_small(kernel, kernel.compile(), 130, 250, 40)
    run = on_a_gpu("ampere/11", m=130, n=250, k=40, small=small)
    assert "counted by the simulator at 130 × 250 × 40" in repr(run)
    assert repr(run.hot_lines()).startswith("on the simulator at 130 × 250 × 40\n")
    assert "what each line costs, on the simulator at 130 × 250 × 40" in run.hot_lines()._repr_html_()


def test_a_kernel_of_any_size_is_counted_on_a_whole_tile():
    assert on_simulator.smallest_size(lab.kernel("hopper/08_ping_pong")) == (128, 128, 128)
    assert on_simulator.smallest_size(lab.kernel("ampere/11")) == (128, 256, 64)
