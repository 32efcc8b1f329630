"""Runs the cases on the GPU or on the simulator, and writes, reads and compares their outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

import gpu_runner as device
import gpu_simulator
from gemm_lab import compiling, config
from gemm_results.errors import LabError
from gpu_simulator import compiler
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware import data_sheets as hardware
from tools.opcodes.case import DTYPES, Case, agree, fields
from tools.opcodes.cases import all_cases
from tools.opcodes.cases import case as case_named

ARCH = "sm_90a"
FILE = "opcodes.npz"
COMMAND = "python -m tools.opcodes --record results/profiles/h200"
AT_ONCE = 48  # kernels that are compiled together
_WIDTHS = {np.dtype(dtype).itemsize: dtype for dtype in DTYPES.values()}


@dataclass(frozen=True)
class Recording:
    """Outputs of the cases on one GPU.

    about: gpu, arch, driver, nvrtc.   outputs: {case: its output arrays}.   digests: {case: `Case.digest`}.
    """

    about: dict[str, str]
    outputs: dict[str, list[np.ndarray]]
    digests: dict[str, str]


def compiled(
    cases: Iterable[Case], arch: str = ARCH, failed: dict[str, str] | None = None
) -> Iterator[tuple[Case, compiler.Compiled]]:
    """Each case with its compiled kernel. Many are compiled together; the PTX of each contains its kernel only.

    Cases that do not compile are left out and added to `failed` with the reason; without `failed`, this raises
    `CompileError`.
    """
    cases = list(cases)
    for first in range(0, len(cases), AT_ONCE):
        yield from _together(cases[first : first + AT_ONCE], arch, failed)


def _together(group: list[Case], arch: str, failed: dict[str, str] | None) -> Iterator[tuple[Case, compiler.Compiled]]:
    source = "".join(case.source() for case in group)
    try:
        whole = compiling.compile(source, arch=arch, name="opcodes", entry=group[0].entry)
    except compiler.CompileError as error:
        if failed is None:
            raise
        if len(group) == 1:
            failed[group[0].name] = str(error)
            return
        for case in group:
            yield from _together([case], arch, failed)
        return
    for case in group:
        yield case, replace(whole, entry=case.entry, ptx=only(whole.ptx, case.entry))


@lru_cache(maxsize=4)
def _pieces(ptx: str) -> list[str]:
    return re.split(r"(?m)^(?=[ \t]*(?://[^\n]*\n)?\.visible \.entry|[ \t]*\.section|[ \t]*\.file)", ptx)


def only(ptx: str, entry: str) -> str:
    """A PTX module without its debug sections and with only the kernel `entry`."""
    head, *rest = _pieces(ptx)
    files = [piece for piece in rest if piece.lstrip().startswith(".file")]
    own = [piece for piece in rest if re.search(rf"\.entry\s+{re.escape(entry)}\b", piece)]
    return "".join([head, *own, *files])


def on_gpu(kernel: compiler.Compiled, blocks: int, args: list[np.ndarray]) -> list[np.ndarray]:
    """Launch a kernel on the GPU with blocks of 32 threads; the arrays after the launch."""
    return device.launch(kernel, grid=(blocks, 1, 1), args=args)


def on_simulator(kernel: compiler.Compiled, blocks: int, args: list[np.ndarray]) -> list[np.ndarray]:
    """Launch a kernel on the simulator with blocks of 32 threads; the arrays after the launch."""
    args = [array.copy() for array in args]
    gpu_simulator.launch(kernel, kernel.entry, blocks, 32, args)
    return args


def answers(case: Case, kernel: compiler.Compiled, run: Callable = on_simulator) -> list[np.ndarray]:
    """The output arrays of one case. run: `on_gpu` or `on_simulator`."""
    ins, outs = case.arrays()
    return run(kernel, case.threads // 32, [*ins, *outs])[len(ins) :]


def record(
    folder: str | Path, run: Callable = on_gpu, names: Iterable[str] | None = None
) -> tuple[Path, dict[str, str]]:
    """Run the cases, by default all, and write FOLDER/opcodes.npz.

    Returns its path, and {case: reason} for the cases that failed and are not in it.
    """
    cases = list(all_cases().values()) if names is None else [case_named(name) for name in names]
    table, data, failed = {}, [], {}
    for case, kernel in compiled(cases, failed=failed):
        try:
            outs = answers(case, kernel, run)
        except SimulatorError as error:
            failed[case.name] = str(error)
            continue
        data += [np.ascontiguousarray(out).view(np.uint8) for out in outs]
        table[case.name] = [case.digest(), [[out.itemsize, out.size] for out in outs]]
    path = Path(folder) / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"about": about(run), "cases": table}, separators=(",", ":"))
    stored = np.concatenate(data) if data else np.zeros(0, np.uint8)
    np.savez_compressed(path, table=np.frombuffer(text.encode(), np.uint8), data=stored)
    return path, failed


def about(run: Callable) -> dict[str, str]:
    """The conditions of a recording: gpu, driver, arch, nvrtc."""
    facts = {"arch": ARCH, "nvrtc": ".".join(map(str, compiler.version()))}
    present = hardware.detect() if run is on_gpu else None
    if present is None:
        return {"gpu": "simulator", "driver": "none", **facts}
    return {"gpu": present.name, "driver": ".".join(map(str, present.driver)), **facts}


def load(path: str | Path | None = None) -> Recording:
    """The recording in the repository, or the one in the file `path`. Raises `LabError` if there is no file."""
    path = Path(path) if path else config.data_dir("results") / "profiles" / "h200" / FILE
    if not path.is_file():
        raise LabError(f"There is no recording of the opcodes; on a machine with an H200 type: {COMMAND}")
    with np.load(path) as stored:
        text, data = stored["table"].tobytes().decode(), stored["data"]
    table = json.loads(text)
    outputs, digests, at = {}, {}, 0
    for name, (digest, shapes) in table["cases"].items():
        digests[name], outputs[name] = digest, []
        for width, count in shapes:
            outputs[name].append(data[at : at + width * count].view(_WIDTHS[width]))
            at += width * count
    return Recording(table["about"], outputs, digests)


def difference(case: Case, recording: Recording, outs: list[np.ndarray]) -> str:
    """A sentence that says how the outputs of a case differ from the recording; "" if they agree."""
    if case.name not in recording.outputs:
        return f"{case.name}: nothing was recorded for it; on a machine with an H200 type: {COMMAND}"
    if recording.digests[case.name] != case.digest():
        return (
            f"{case.name}: its source or its inputs changed after the recording; "
            f"on a machine with an H200 type: {COMMAND}"
        )
    wanted = recording.outputs[case.name]
    for number, same in enumerate(agree(case, outs, wanted)):
        if not same.all():
            at = int(np.flatnonzero(~same)[0])
            got, want = (fields(case.outs[number], words)[at] for words in (outs[number], wanted[number]))
            word = at * outs[number].size // same.size
            lane = word * case.threads // outs[number].size
            seen = [f"{int(array[lane]):#x}" for array in case.arrays()[0]] if not case.body else []
            of = f" of {', '.join(seen)}" if seen else ""
            return (
                f"{case.name}: {int((~same).sum())} of {same.size} numbers of output {number} differ; "
                f"the first, number {at}{of}: {got!r} ({int(outs[number][word]):#x}), but the hardware gave {want!r} "
                f"({int(wanted[number][word]):#x})"
            )
    return ""
