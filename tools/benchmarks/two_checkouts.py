"""Compares the time that this checkout and another one take to simulate a few kernels, with and without hazards.

`python tools/benchmarks/two_checkouts.py OTHER [--n 256] [--rounds 12]`, where OTHER is the folder of the other
checkout, as created by `git worktree add --detach OTHER COMMIT`. Each checkout has its own process. The two launch the
same kernel in turns, and each reports its processor time, which does not depend on other processes. Each line has the
milliseconds of both, and two ratios of this checkout to the other: that of the fastest launches, and the median over
the rounds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNGS = ("t4/03_swizzled", "ampere/07_multistage", "hopper/01_wgmma", "hopper/03_producer", "rtx5090/02_producer_warp")


def main() -> None:
    """Measure all kernels in both checkouts and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--n", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--rungs", nargs="*", default=RUNGS)
    options = parser.parse_args()
    here = Path(__file__).resolve().parents[2]
    checkouts = [started(options.other.resolve()), started(here)]
    print(f"{'milliseconds of processor time':32} {'hazards':>8} {'other':>8} {'this':>8} {'fastest':>8} {'median':>8}")
    for name in options.rungs:
        for hazards in (False, True):
            for one in checkouts:
                seconds(one, name, options.n, hazards)  # do what happens once: compiling, parsing, generating code
            pairs = []
            for round_ in range(options.rounds):
                order = checkouts[:: 1 if round_ % 2 else -1]
                taken = {one: seconds(one, name, options.n, hazards) for one in order}
                pairs.append([taken[one] for one in checkouts])
            other, this = (min(column) for column in zip(*pairs, strict=True))
            median = statistics.median(mine / theirs for theirs, mine in pairs)
            print(
                f"{name:32} {'yes' if hazards else 'no':>8} {1e3 * other:8.1f} {1e3 * this:8.1f} {this / other:8.3f} "
                f"{median:8.3f}",
                flush=True,
            )
    for one in checkouts:
        one.stdin.close()
        one.wait()


def started(checkout: Path) -> subprocess.Popen:
    """A process that runs `serve` in a checkout. It has one BLAS thread, since others would spin while they wait."""
    path = os.pathsep.join([str(checkout), str(checkout / "packages")])
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command, pipe = [sys.executable, str(Path(__file__).resolve()), "serve"], subprocess.PIPE
    return subprocess.Popen(command, cwd=checkout, env=environment, stdin=pipe, stdout=pipe, text=True)


def seconds(process: subprocess.Popen, name: str, n: int, hazards: bool) -> float:
    """The processor seconds of one launch in a process."""
    process.stdin.write(json.dumps([name, n, hazards]) + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def serve() -> None:
    """Read lines [rung, n, hazards] and answer each with the processor seconds of a launch."""
    import gemm_lab as lab
    from gemm_lab.lab import on_simulator
    from gemm_lab.measure.inputs import make_inputs

    made = {}
    for line in sys.stdin:
        name, n, hazards = json.loads(line)
        if (name, n) not in made:
            kernel = lab.kernel(name)
            made[name, n] = kernel, kernel.compile_as_taught(), make_inputs(kernel.problem, n, n, n, "integers", 0)
        kernel, compiled, inputs = made[name, n]
        observers = ("hazards",) if hazards else ()
        begun = time.process_time()
        on_simulator.launch(
            compiled, kernel.grid(n, n, n), inputs.arguments(), kernel.spec.cluster, observers=observers
        )
        print(time.process_time() - begun, flush=True)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
