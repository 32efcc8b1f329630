"""`python -m tools.tensor_sums --build FOLDER` compiles a kernel for each form; `--run FOLDER` runs them on this GPU.

`--kernels` compares kernels of the catalogue. A sample of the words of an H200 is among the simulator's tests; the
program that chose it is in the history of this repository, as `tools/tensor_sums/sample.py`.

The run compares round after round of tiles with `exact_sums`, prints the differences, and writes FOLDER/words*.npz: the
result words of the first round, whose inputs follow from the seeds, and what the GPU is.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from pathlib import Path

import numpy as np

from tools.tensor_sums.forms import Form, all_forms, source
from tools.tensor_sums.inputs import tiles_of
from tools.tensor_sums.words import OUTPUTS, expected, seed_of

ARCH = "sm_90a"


def build(folder: Path) -> None:
    """Compile the kernels to FOLDER/NAME.cubin."""
    from gpu_simulator import compiler

    folder.mkdir(parents=True, exist_ok=True)
    for form in all_forms():
        made = compiler.compile(source(form), arch=ARCH, entry=form.name, name=form.name)
        (folder / f"{form.name}.cubin").write_bytes(made.cubin)


def on_gpu(folder: Path, form: Form, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """The words of D that the GPU computes."""
    import cupy

    kernel = cupy.RawModule(path=str(folder / f"{form.name}.cubin")).get_function(form.name)
    here = {name: cupy.asarray(array.view(np.uint8)) for name, array in inputs.items()}
    out = cupy.full(inputs["c"].nbytes, 0xA5, cupy.uint8)
    tiles = len(inputs["zero"])
    kernel((tiles,), (form.threads,), (here["a"], here["b"], here["c"], out, here["zero"]))
    return cupy.asnumpy(out).view(inputs["c"].dtype).reshape(inputs["c"].shape)


def run(folder: Path, seconds: float) -> int:
    """Compare until the time is over; returns the number of words that differ."""
    import cupy

    begun, forms = time.monotonic(), all_forms()
    about = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    first, wrong, cases, turn = {}, dict.fromkeys(forms, 0), dict.fromkeys(forms, 0), 0
    while turn == 0 or time.monotonic() - begun < seconds:
        for form in forms:
            if turn and time.monotonic() - begun > seconds:
                break
            inputs = tiles_of(form, seed_of(form, turn), OUTPUTS // (form.m * form.n))
            got = on_gpu(folder, form, inputs)
            if turn == 0:
                digest = hashlib.sha256(b"".join(inputs[name].tobytes() for name in sorted(inputs))).hexdigest()
                first[form] = {form.name: got, f"{form.name} inputs": np.array(digest)}
            differ = got != expected(form, inputs)
            wrong[form] += int(differ.sum())
            cases[form] += got.size
        if turn == 0:
            for part in range(0, len(forms), 24):
                some = {key: array for form in forms[part : part + 24] for key, array in first[form].items()}
                np.savez_compressed(folder / f"words{part // 24}.npz", about=np.array(about), **some)
        turn += 1
    for form in forms:
        print(f"{form.name:32} {cases[form]:>12,} words, {wrong[form]:>9,} differ")
    print(f"{about}: {sum(cases.values()):,} words, {sum(wrong.values()):,} differ; {time.monotonic() - begun:.0f} s")
    return sum(wrong.values())


def main() -> int:
    """Returns 1 if a word differs."""
    parser = argparse.ArgumentParser(prog="python -m tools.tensor_sums", description=__doc__)
    parser.add_argument("--build", metavar="FOLDER", type=Path)
    parser.add_argument("--run", metavar="FOLDER", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0, help="after which no other round begins; default: 60")
    parser.add_argument("--kernels", nargs="*", metavar="NAME", help="all by default")
    chosen = parser.parse_args()
    if chosen.kernels is not None:
        from tools.tensor_sums.kernels import compare  # the other commands need the simulator alone

        return 1 if compare(chosen.kernels) else 0
    if chosen.build:
        build(chosen.build)
    return 1 if chosen.run and run(chosen.run, chosen.seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
