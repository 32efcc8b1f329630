"""Kernels that do not end, in every way that the lab runs one on the simulator: a sentence, and the next one works."""

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.lab import on_simulator
from gemm_lab.measure.inputs import make_inputs
from gemm_lab_lessons.shared.fault_injection import inject_fault
from gpu_simulator import BudgetExceeded
from gpu_simulator.errors import SimulatorError

SPIN = "volatile const float* p = a; while (p[0] < 1e30f) ;"
PRINT = 'for (int i = 0; i < 300; ++i) printf("row %d of thread %d\\n", i, threadIdx.x);'
HEAD = (
    'extern "C" __global__ void __launch_bounds__(1024) gemm(const float* a, const float* b, float* d, int m, int n, '
    "int k) {\n  %s\n  d[threadIdx.x] = 0;\n}\n"
)


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setenv("GEMM_LAB_BACKEND", "simulator")
    monkeypatch.setattr(on_simulator, "FREE_INSTRUCTIONS", 100_000)  # a spin is noticed sooner
    monkeypatch.setattr(on_simulator, "INSTRUCTIONS_PER_PRODUCT", 1.0)


@pytest.mark.parametrize("how", ["run", "gemm", "hazards"])
def test_a_spin_is_stopped_wherever_it_runs(how):
    kernel = lab.kernel("simt/01")
    spinning = kernel.rewrite(HEAD % SPIN)
    ones = np.ones((32, 32), np.float32)
    with pytest.raises(BudgetExceeded, match="instructions; it spins at cell:2.*, or does too much"):
        if how == "run":
            spinning.run(32)
        elif how == "gemm":
            spinning.gemm(ones, ones)
        else:
            on_simulator.find_hazards(spinning, spinning.compile())
    assert np.array_equal(kernel.gemm(ones, ones), 32 * ones)


def test_what_a_kernel_prints_is_shown_cut():
    run = lab.kernel("simt/01").rewrite(HEAD % PRINT).run(32)
    assert not run.passed and len(run.output) > 900_000
    assert len(repr(run)) < 6000 and "more characters, in .output" in repr(run)
    assert "row 0 of thread 0" in run._repr_html_() and run._repr_html_().count("of thread") < 400


ONE_LANE = "volatile const float* p = a; if (threadIdx.x == 7) while (p[0] < 1e30f) ;"
ATOMICS = "while (atomicAdd(const_cast<float*>(a), 0.0f) < 1e30f) ;"
PRINTS = 'volatile const float* p = a; while (p[0] < 1e30f) printf("%d", n);'


@pytest.mark.parametrize("text", [ONE_LANE, ATOMICS, PRINTS], ids=["one lane", "atomics", "printf"])
def test_few_instructions_that_take_long_are_stopped_by_their_steps(text, monkeypatch):
    """Counted, and so the same on every machine: the sentence holds no time."""
    monkeypatch.setattr(on_simulator, "MARGIN", 1)
    monkeypatch.setattr(on_simulator, "STEPS_OF_A_LAUNCH", 1_000)
    said = []
    for _ in range(2):
        with pytest.raises(
            BudgetExceeded, match=r"more than [\d,]+ steps of the simulator; it spins at cell:2"
        ) as error:
            lab.kernel("simt/01").rewrite(HEAD % text).run(32)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_damaged_kernel_is_stopped_by_its_steps_too(monkeypatch):
    monkeypatch.setattr(on_simulator, "MARGIN", 1)
    monkeypatch.setattr(on_simulator, "STEPS_OF_A_LAUNCH", 1_000)
    spin = "volatile const float* p = gmem_a; if (threadIdx.x == 0) while (p[0] < 1e30f) ; float acc = 0.0f;"
    found = inject_fault("simt/01", {"float acc = 0.0f;": spin})
    assert found.kind == "a fault" and "steps of the simulator; it spins at" in found.says


def test_fewer_blocks_at_once_are_allowed_more_steps(monkeypatch):
    """Memory decides how many blocks are resident together, and so how many steps they take; it decides no verdict."""
    kernel, size = lab.kernel("simt/01"), (256, 256, 64)
    arguments = make_inputs(kernel.problem, *size, "integers", 0).arguments()

    def steps(**options):
        return on_simulator.launch(kernel.compile_as_taught(), kernel.grid(*size), arguments, **options)[1].steps

    together, apart = steps(), steps(max_bytes=3_000_000)
    assert apart > 3 * together
    assert steps(max_bytes=3_000_000, max_steps=1.2 * together) == apart


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("simt/01", (64, 96, 40)),
        ("simt/03", (1, 1, 2048)),
        ("simt/04", (1, 1, 512)),
        ("simt/04", (130, 70, 96)),
        ("t4/01", (128, 256, 128)),
        ("hopper/08_ping_pong", (256, 256, 128)),
        ("b200/05", (256, 256, 128)),
    ],
)
def test_what_honest_kernels_need_is_a_twentieth_of_what_they_may_take(name, size, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setenv("GEMM_LAB_BACKEND", "simulator")
    kernel = lab.kernel(name)
    size = tuple(
        -(-edge // step) * step
        for edge, step in zip(size, kernel.spec.size_multiples(kernel.config).values(), strict=True)
    )
    arguments = make_inputs(kernel.problem, *size, "integers", 0).arguments()
    _, report = on_simulator.launch(kernel.compile_as_taught(), kernel.grid(*size), arguments, kernel.spec.cluster)
    assert 20 * report.instructions <= on_simulator.budget(
        *size
    ) and on_simulator.MARGIN * report.steps <= on_simulator.step_budget(*size)


def test_a_backend_that_is_not_there_is_a_sentence():
    with pytest.raises(SimulatorError, match="choose auto, gpu, simulator"):
        lab.kernel("simt/01").run(32, backend="gpuu")
