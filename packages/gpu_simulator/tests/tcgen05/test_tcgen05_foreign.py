"""A GEMM in the manner of tcgen05 kernels from elsewhere: other spellings, maps, loads, barriers. One block or pairs."""

from pathlib import Path

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.hardware.tensor_map import TensorMap

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed: pip install 'gpu_simulator[test]'")

FOREIGN = (Path(__file__).parent / "foreign_tcgen05.cu").read_text()


def gemm(group: int, loads: int, ptx=lambda text: text, block_n=64, m=256, n=192, k=320, **options):
    """(is D exact, the report) of `foreign_tcgen05.cu`."""
    source = f"#define GROUPS {group}\n#define LOADS {loads}\n{FOREIGN}"
    compiled = compiling.compile(
        source,
        arch="sm_100a",
        name="foreign.cu",
        entry="kernel",
        config={"BLOCK_N": block_n, "GROUP": group, "STAGES": 3},
    )
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (rows, k)).astype(ml_dtypes.bfloat16) for rows in (m, n))
    d = np.full((m, n), np.nan, ml_dtypes.bfloat16)
    maps = [
        TensorMap("bf16", (64, len(x), k // 64), (2 * k, 128), (64, rows, 1), swizzle=128, array=x)
        for x, rows in ((a, 128), (b, block_n // group))
    ]
    report = gpu_simulator.launch(
        ptx(compiled.ptx), "kernel", 2, 192, [*maps, d, m, n, k], dynamic_smem_bytes=compiled.dynamic_smem, **options
    )
    want = (a.astype(np.float32) @ b.astype(np.float32).T).astype(ml_dtypes.bfloat16)
    return np.array_equal(d.astype(np.float32), want.astype(np.float32)), report


@pytest.mark.long
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("loads", [0, 1, 2])
def test_a_kernel_from_elsewhere_is_exact_and_clean(group, loads):
    assert gemm(group, loads)[0]
    exact, report = gemm(group, loads, observers=("hazards",), timing="late")
    assert exact and report.hazards == []


@pytest.mark.parametrize("group", [1, 2])
def test_relaxed_waits_and_arrivals_need_the_fence_before(group):
    def relaxed(text, fence=True):
        text = text.replace("try_wait.parity.acquire.cta", "try_wait.parity.relaxed.cta")
        arrive = "mbarrier.arrive.release.cta.shared::cluster"
        assert text.count(arrive) == 1
        before = "tcgen05.fence::before_thread_sync;\n" if fence else ""
        return text.replace(arrive, before + arrive.replace("release", "relaxed"))

    def tensor(report):
        return [h for h in report.hazards if "tensor memory" in h.message]

    exact, report = gemm(group, 0, relaxed, observers=("hazards",))
    assert exact and tensor(report) == []
    _, report = gemm(group, 0, lambda text: relaxed(text, False), observers=("hazards",))
    assert any("has to execute tcgen05.fence::before_thread_sync" in h.message for h in tensor(report))


def test_one_block_of_a_pair_that_does_not_allocate_is_named():
    def alone(text):
        """The second block jumps over its tcgen05.alloc."""
        alloc = next(line for line in text.split("\n") if "tcgen05.alloc" in line)
        first = "{ .reg .pred q; .reg .b32 r; mov.u32 r, %cluster_ctarank; setp.eq.u32 q, r, 0; @q "
        return text.replace(alloc, f"{first}{alloc.strip()} }}")

    with pytest.raises(
        gpu_simulator.Deadlock,
        match=r"threads 160-191 wait in tcgen05.alloc for 128 columns of tensor memory "
        r"together with a warp of block \(1, 0, 0\), which has not come",
    ):
        gemm(2, 0, alone)
