"""Branches, calls and waits that data decide: what a prediction takes for granted, and what it refuses."""

import pytest

import gemm_lab as lab
from gemm_lab.lab.actions import predicting
from gpu_simulator.errors import SimulatorError
from gpu_timing.cycles import tracing, whole_kernel

N = 128
BARRIER = """__shared__ unsigned long long bar; const unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
if (k_tile == 0) {
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at), "r"(NUM_THREADS));
  __syncthreads();
}
"""
ARRIVE = 'unsigned long long state; asm volatile("mbarrier.arrive{}.shared.b64 %0, [%1]{};" : "=l"(state) : "r"(at));'
WAIT = """
asm volatile("{{ .reg .pred p; W: mbarrier.{}_wait{}.shared.b64 p, [%0], %1; @!p bra W; }}" :: "r"(at), {});
"""
PARITY = '"r"(k_tile / BLOCK_K & 1)'


def edited(before, behind=""):
    """simt/04 with text before and behind the loads of a k tile."""
    kernel = lab.kernel("simt/04_register_tiles")
    return kernel.edit(load=before + "\n" + kernel.regions["load"] + "\n" + behind)


@pytest.fixture(scope="module")
def plain():
    return lab.kernel("simt/04_register_tiles").predict(n=N).cycles


def near(found, plain):
    return found.cycles == pytest.approx(plain, rel=0.3)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "text",
    [
        "assert(blockDim.x == NUM_THREADS);",
        "if (blockDim.y != 1 || gridDim.x * BLOCK_N < N || gridDim.z != 1 || blockIdx.x >= gridDim.x) return;",
    ],
)
def test_the_shapes_of_the_launch_are_known(text, plain):
    found = edited(text).predict(n=N)
    assert near(found, plain) and not found.prediction.assumed


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("if (gmem_a[0] == 12345.f) return;", "no warp ends there"),
        ("if (gmem_a[k_tile] == 12345.f && threadIdx.x < 7) return;", "no warp ends there"),
        ("if (gmem_a[k_tile] == 12345.f) break;", "the longer way is taken"),
        ("assert(gmem_a[0] < 1e30f);", "the longer way is taken"),
        (
            "__shared__ int flag; if (k_tile == 0) { flag = K; __syncthreads(); } if (flag < 0) return;",
            "no warp ends there",
        ),
    ],
)
def test_an_exit_by_data_is_not_taken_and_said_so(text, way, plain):
    found = edited(text).predict(n=N)
    assert near(found, plain)
    for shown in (" ".join(repr(found).split()), found._repr_html_()):
        assert "The branch at line 1 of cell depends on" in shown and way in shown


def test_what_data_may_skip_is_in_the_prediction():
    found = edited('if (gmem_a[k_tile] > 2.f) asm volatile("membar.gl;");').predict(n=N).prediction
    fences = [found.stalls[one.index, 0] for one in found.code if one.op == "MEMBAR"]
    assert found.assumed and fences and all(fences)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "loop",
    [
        "int q = 0; while (gmem_a[q] > 2.f) q++;",
        "int q = 0; do { q += 2; } while (gmem_a[q] > 2.f);",
        "if (threadIdx.x == 0) while (atomicAdd((int*)gmem_a, 0) != 0);",
        "const long long begin = clock64(); while (clock64() - begin < 100);",
    ],
)
def test_a_loop_by_data_is_refused_at_once_with_its_line(loop, monkeypatch):
    monkeypatch.setattr(tracing, "MAX_STEPS", 100)
    with pytest.raises(SimulatorError, match=r"how often the loop at line 2 of cell runs depends on .* data"):
        edited("\n" + loop).predict(n=N)


def test_a_call_returns_and_an_unknown_function_is_named(plain):
    division = "const long long big = (threadIdx.x + 5LL) * K; if (big / (K + 1LL + k_tile) == 77777) return;"
    assert near(edited(division).predict(n=N), plain)
    found = edited('if (threadIdx.x == 0 && blockIdx.x == 0) printf("%d", K);').predict(n=N)
    assert near(found, plain) and "The function called at line 1 of cell is not followed" in repr(found)


def test_registers_that_are_used_again_are_no_data():
    """No branch of a rung depends on data: 08 keeps accumulators and counters in the same registers."""
    assert not lab.kernel("hopper/08_ping_pong").predict(n=2048).prediction.assumed


# ---- mbarriers ----


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "wait",
    [
        WAIT.format("test", "", '"l"(state)'),
        WAIT.format("try", "", '"l"(state)'),
        WAIT.format("test", ".parity", PARITY),
    ],
)
def test_threads_that_all_arrive_and_then_wait_are_predicted(wait, plain):
    assert near(edited(BARRIER, ARRIVE.format("", "") + wait).predict(n=N), plain)


def test_an_arrival_counts_for_as_many_as_it_says(plain):
    """One thread of 256 arrives for all: with one fewer the phase never ends, see below."""
    wait = WAIT.format("test", ".parity", PARITY)
    assert near(
        edited(BARRIER, "if (threadIdx.x == 0) { " + ARRIVE.format("", ", 256") + " }" + wait).predict(n=N), plain
    )


@pytest.mark.parametrize("arrive", [ARRIVE.format("", ", 255"), ARRIVE.format(".expect_tx", ", 64")])
def test_what_never_comes_is_not_called_a_deadlock(arrive):
    one = "if (threadIdx.x == 0) " if "expect" not in arrive else ""
    text = one + "{ " + arrive + " }" + WAIT.format("test", ".parity", PARITY)
    with pytest.raises(
        SimulatorError, match="Either this use of a barrier is not modelled, or the kernel does not end"
    ) as error:
        edited(BARRIER, text).predict(n=N)
    assert "of cell waits for never comes" in str(error.value)


# ---- Never above the peak, and not for ever ----


def test_long_steps_of_k_are_fewer_and_one_that_is_too_long_is_refused(monkeypatch):
    kernel = lab.kernel("simt/04_register_tiles")
    usual = kernel.predict(n=1024).cycles
    predicting._found.cache_clear()
    monkeypatch.setattr(whole_kernel, "BUDGET", 0)
    monkeypatch.setattr(whole_kernel, "MOST", 60_000)
    assert kernel.predict(n=1024).cycles == pytest.approx(usual, rel=0.1)
    predicting._found.cache_clear()
    monkeypatch.setattr(whole_kernel, "MOST", 20_000)
    with pytest.raises(SimulatorError, match=r"2 of the 64 steps of K are [\d,]+ instructions .* less unrolling"):
        kernel.predict(n=1024)


def test_a_kernel_that_multiplies_too_little_is_refused():
    kernel = lab.kernel("simt/04_register_tiles")
    first = "for (int k_tile = 0;"
    assert first in kernel.source
    with pytest.raises(SimulatorError, match="leaves out a part of the kernel"):
        kernel.rewrite(kernel.source.replace(first, "for (int k_tile = K - BLOCK_K;")).predict()
