"""`python -m tools.benchmarks.simulator_speed_of_rungs`: measures the speed of the simulator on this machine.

The simulator counts as usual. The times are medians of three launches after the first one, which also parses the PTX.
If Numba is installed, its CUDA simulator computes the same naive product for comparison.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import time

from gemm_lab.lab import on_simulator
from gemm_lab.lab.kernel import kernel
from gemm_lab.measure.inputs import make_inputs

CASES = (
    ("simt/01_naive", (128, 256)),
    ("t4/01_hierarchical_tiling", (512, 1024)),
    ("t4/02_vectorized_copy", (512, 1024)),
    ("t4/03_swizzled", (256, 512, 1024)),
)
NUMBA_N = 32
NUMBA = f"""
import time, numpy as np
from numba import cuda
@cuda.jit
def gemm(a, b, d):
    row, col = cuda.grid(2)
    if row < d.shape[0] and col < d.shape[1]:
        s = 0.0
        for k in range(a.shape[1]):
            s += a[row, k] * b[k, col]
        d[row, col] = s
n = {NUMBA_N}
a, b, d = np.ones((n, n), np.float32), np.ones((n, n), np.float32), np.zeros((n, n), np.float32)
begun = time.perf_counter()
gemm[(n // 16, n // 16), (16, 16)](a, b, d)
assert (d == n).all()
print(time.perf_counter() - begun)
"""


def seconds(name: str, n: int, **options) -> tuple[float, float]:
    """Seconds of a launch at n × n × n: (the first, the median of three more)."""
    made = kernel(name)
    compiled = made.compile_as_taught()
    args = make_inputs(made.problem, n, n, n, "integers", 0).arguments()
    times = []
    for _ in range(4):
        begun = time.perf_counter()
        on_simulator.launch(compiled, made.grid(n, n, n), args, **options)
        times.append(time.perf_counter() - begun)
    return times[0], statistics.median(times[1:])


def numba_seconds() -> float | None:
    """The seconds of the naive product on Numba's simulator; None if Numba is not installed or fails."""
    if importlib.util.find_spec("numba") is None:
        return None
    done = subprocess.run(
        [sys.executable, "-c", NUMBA],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )
    return float(done.stdout) if done.returncode == 0 else None


def main() -> None:
    """Measure and print the table."""
    print(f"{'kernel':28} {'n':>5} {'first s':>8} {'then s':>8} {'MFLOP/s':>9}")
    for name, sizes in CASES:
        for n in sizes:
            first, then = seconds(name, n)
            print(f"{name:28} {n:5} {first:8.3f} {then:8.3f} {2 * n**3 / then / 1e6:9.1f}")
    _, plain = seconds("t4/03_swizzled", 256)
    _, careful = seconds("t4/03_swizzled", 256, observers=("hazards",))
    print(f"hazards: {careful / plain:.1f} times slower (t4/03_swizzled, 256)")
    simulated = numba_seconds()
    if simulated is None:
        print("Numba's CUDA simulator: not measured (pip install numba)")
    else:
        rate = 2 * NUMBA_N**3 / simulated / 1e6
        print(f"{'Numba simulator, naive':28} {NUMBA_N:5} {simulated:8.3f} {'':8} {rate:9.2f}")


if __name__ == "__main__":
    main()
