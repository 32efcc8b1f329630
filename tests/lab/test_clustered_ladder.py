"""A ladder whose kernels run in clusters: ladder.toml to a checked run on the simulator."""

from pathlib import Path

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.lab import on_simulator
from gemm_lab.lab.kernel import Kernel
from gpu_simulator.errors import ConfigError, SizeError

SIMULATOR_TESTS = Path(__file__).resolve().parents[2] / "packages/gpu_simulator/tests" / "clusters"
CHANGES = (
    (
        'grid = ["cdiv(N, BLOCK_N)", "cdiv(M, BLOCK_M)"]',
        'grid = ["M // BLOCK_M", "N // BLOCK_N"]\ncluster = ["CLUSTER"]',
    ),
    ("multiples = { m = 8, n = 8, k = 8 }", 'multiples = { m = "BLOCK_M", n = "BLOCK_N", k = 8 }'),
    ('box = ["BLOCK_K", "BLOCK_N"]', 'box = ["BLOCK_K", "BLOCK_N // CLUSTER"]'),
    ("NUM_STAGES = 3", "NUM_STAGES = 3\nCLUSTER = 2"),
)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The ring of the simulator's tests as a rung; its clusters come from the launch, not from the kernel."""
    folder = tmp_path / "ring"
    folder.mkdir()
    source = (SIMULATOR_TESTS / "cluster_ring.cu").read_text().replace("\nkernel(", "\ngemm(")
    source = source.replace("__cluster_dims__(CLUSTER, 1, 1) ", "").replace(" int K) {", " int M, int N, int K) {")
    (folder / "01_ring.cu").write_text(source)
    text = Path(__file__).with_name("ring.toml").read_text()
    for old, new in CHANGES:
        assert old in text
        text = text.replace(old, new)
    (folder / "ladder.toml").write_text(text)
    found = catalog.read_ladder(folder)
    monkeypatch.setitem(catalog.ladders(), "ring", found)
    return Kernel(found.kernels[0], found.kernels[0].configure())


@pytest.mark.parametrize("cluster", [1, 2, 4])
def test_a_clustered_kernel_is_checked(made, cluster):
    made = made(CLUSTER=cluster)
    assert made.spec.cluster == (cluster, 1, 1)
    verdicts, report = on_simulator.check_on_simulator(made, made.compile("sm_90a"), 256, 128, 200)
    assert all(verdicts) and len(verdicts) == 3


def test_a_size_that_breaks_a_cluster_is_refused_with_one_that_does_not(made):
    with pytest.raises(SizeError, match=r"clusters of 2 × 1 × 1 .* Nearest size that works: M = 128, N = 64, K = 64"):
        made.grid(192, 64, 64)
    with pytest.raises(ConfigError, match="clusters of 17 × 1 × 1 blocks"):
        made(CLUSTER=17)


def test_persistent_kernels_can_be_given_few_multiprocessors(monkeypatch):
    kernel = lab.kernel("b200/04_cta_pairs")
    monkeypatch.setenv("GEMM_LAB_SMS", "5")
    assert kernel.grid(1024, 1024, 64) == (4, 1, 1)
    monkeypatch.setenv("GEMM_LAB_SMS", "none")
    with pytest.raises(ConfigError, match="set it to a number of multiprocessors such as 4"):
        kernel.grid(1024, 1024, 64)


@pytest.mark.long
def test_multiprocessors_are_an_argument_and_the_variable_only_its_default(monkeypatch):
    k, size = lab.kernel("hopper/05"), (512, 512, 128)
    assert k.grid(*size, sms=4)[0] == 4 and k.grid(*size)[0] > 4
    monkeypatch.setenv("GEMM_LAB_SMS", "2")
    assert k.grid(*size)[0] == 2 and k.grid(*size, sms=4)[0] == 4
    run = k.run(256, k=128, backend="simulator", sms=4)
    assert run.passed and run.sms == 4 and run.hazards() == [] and set(run.hazard_search().reports) == {"early", "late"}
    for wrong in (0, 5000):
        with pytest.raises(ConfigError, match="from 1 to 4096"):
            k.run(256, backend="simulator", sms=wrong)
