"""Measures the simulator: the time for each rung at 512 × 512 × 512, divided by that of NumPy's float32 product.

Run it with `python tools/benchmarks/simulator_speed.py`. It takes minutes and prints a line for each rung: name and
ratio.
"""

import numpy as np
from interleaved import ratios

import gemm_lab as lab

N, LADDERS = 512, ("simt", "t4", "ampere", "rtx5090", "hopper", "b200")


def main() -> None:
    """Measure all rungs and print the ratios."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((N, N)).astype(np.float32) for _ in range(2))

    def numpy_product():
        for _ in range(20):  # a single product takes only a few milliseconds
            a @ b

    rungs = {kernel.name: kernel for ladder in LADDERS for kernel in lab.ladder(ladder)}
    works = {name: lambda kernel=kernel: kernel.run(N, backend="simulator") for name, kernel in rungs.items()}
    for name, ratio in ratios(works, numpy_product, rounds=2).items():
        print(f"{name:34} {20 * ratio:8.0f}")


if __name__ == "__main__":
    main()
