"""Compares the time that this checkout and another one take to simulate a few kernels, with and without hazards.

`python tools/benchmarks/two_checkouts.py OTHER [--n 256] [--rounds 12] [--pairs 3]`, where OTHER is the folder of the
other checkout, as created by `git worktree add --detach OTHER COMMIT`. Each checkout has its own process. The two
launch the same kernel in turns, and each reports its processor time, which depends on other processes only through the
caches. Two processes of one checkout differ by several per cent, by where their memory lies, so each line is about
`--pairs` pairs of processes. It has the milliseconds of both checkouts, and two ratios of this one to the other: that
of the fastest launches, and the median over all rounds of all pairs.
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
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--rungs", nargs="*", default=RUNGS)
    parser.add_argument("--hazards", choices=("no", "yes"), help="only without, or only with them")
    options = parser.parse_args()
    here = Path(__file__).resolve().parents[2]
    print(f"{'milliseconds of processor time':32} {'hazards':>8} {'other':>8} {'this':>8} {'fastest':>8} {'median':>8}")
    for name in options.rungs:
        for hazards in (False, True):
            if options.hazards == ("no" if hazards else "yes"):
                continue
            pairs = []
            for _ in range(options.pairs):
                pairs += measured([options.other.resolve(), here], name, options.n, hazards, options.rounds)
            other, this = (min(column) for column in zip(*pairs, strict=True))
            median = statistics.median(mine / theirs for theirs, mine in pairs)
            print(
                f"{name:32} {'yes' if hazards else 'no':>8} {1e3 * other:8.1f} {1e3 * this:8.1f} {this / other:8.3f} "
                f"{median:8.3f}",
                flush=True,
            )


def measured(folders: list[Path], name: str, n: int, hazards: bool, rounds: int) -> list[list[float]]:
    """For each round the processor seconds of a launch in a process of each folder."""
    checkouts = [started(folder) for folder in folders]
    for one in checkouts:
        seconds(one, name, n, hazards)  # do what happens once: compiling, parsing, generating code
    pairs = []
    for round_ in range(rounds):
        taken = {one: seconds(one, name, n, hazards) for one in checkouts[:: 1 if round_ % 2 else -1]}
        pairs.append([taken[one] for one in checkouts])
    for one in checkouts:
        one.stdin.close()
        one.wait()
    return pairs


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
