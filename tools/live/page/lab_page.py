"""What the live page asks of Python: run a kernel of the catalogue, or an edited one, and say what it costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from in_page import use_clang

import gemm_lab as lab
from gemm_lab.cards.hot_lines import lines_of
from gemm_lab.lab.actions.source import listing
from gemm_lab.lab.on_simulator import smallest_size
from gemm_lab.notebook.exercises import kernel_of
from gpu_simulator.compiler import CompileError
from gpu_simulator.compiler.diagnostics import ptx_line_origin
from gpu_simulator.errors import SimulatorError

LEAST = 128  # the product is at least so large, if the kernel's tiles allow it
CLANG = (
    "Compiled by clang in this page: the result and the banks are those of NVIDIA's compiler, other counts may differ. "
    "Registers and machine code need NVIDIA's compiler."
)
STORED = "PTX of NVIDIA's compiler, stored. An edited text is compiled in this page."

__all__ = ["run", "use_clang"]


def run(name: str, source: str, edited: bool) -> str:
    """JSON of what the page shows: verdict, notes at lines, and the costs of each line.

    name: a kernel, or "exercise/NAME", whose text is that of its region.   edited: the text is to be compiled.
    """
    exercise = lab.exercise(name.removeprefix("exercise/")) if name.startswith("exercise/") else None
    if exercise is not None:
        kernel = kernel_of(exercise, source)
    else:
        kernel = lab.kernel(name).rewrite(source) if edited else lab.kernel(name)
    above = 1 if exercise is not None else 0  # in a notebook, the cell's first line says which region it is
    m, n, k = (size * -(-LEAST // size) if size < LEAST else size for size in smallest_size(kernel))
    try:
        done = kernel.run(n, m, k, backend="simulator", timed=False)
        hazards = done.hazards()
    except CompileError as error:
        notes = [{"line": d.line - above if _own(d.file) else 0, "text": d.message} for d in error.diagnostics]
        return _answer(
            False, "It does not compile.", notes, "What the compiler says", compiler="" if edited else STORED
        )
    except SimulatorError as error:
        return _answer(False, "The kernel was stopped.", [{"line": 0, "text": str(error)}], "Why")
    lines = [
        {
            "line": line.number - above * (line.file == "cell"),
            "here": exercise is None or line.file == "cell",  # of an exercise, the editor has the region alone
            "text": line.text.strip(),
            "wavefronts": line.wavefronts,
            "ideal": line.ideal_wavefronts,
            "sectors": line.sectors,
        }
        for line in lines_of(done.report, list(listing(kernel)))
        if line.wavefronts or line.sectors
    ]
    notes = []
    for hazard in hazards:
        file, line = ptx_line_origin(done.compiled.ptx, hazard.ptx_line)
        notes.append(
            {"line": line - above if _own(file, "cell" if exercise is not None else "") else 0, "text": str(hazard)}
        )
    totals = done.report.totals
    summary = (
        f"At {m} × {n} × {k}: {done.report.instructions:,} warp instructions, {totals.wavefronts:,} wavefronts of "
        f"shared memory where {totals.ideal_wavefronts:,} are possible, {totals.sectors:,} sectors of global memory."
    )
    passed = bool(done.passed) and not notes
    verdict = done.verdict if done.passed else str(done).split("\n")[0]
    if done.passed:
        verdict = "The result is right." if passed else "The result is right, and that is luck."
    if exercise is not None:
        try:
            verdict, passed = str(exercise.check(kernel)), True
        except SimulatorError as error:
            verdict, passed = str(error), False
    return _answer(passed, verdict, notes, "Hazards", summary, lines, _advice(lines), CLANG if edited else STORED, True)


def _answer(
    passed: bool,
    verdict: str,
    notes: list[dict[str, Any]],
    heading: str,
    summary: str = "",
    lines: Sequence[dict[str, Any]] = (),
    advice: str = "",
    compiler: str = "",
    counted: bool = False,
) -> str:
    return json.dumps(
        {
            "passed": passed,
            "verdict": verdict,
            "notes": notes,
            "heading": heading,
            "summary": summary,
            "lines": list(lines),
            "advice": advice,
            "compiler": compiler,
            "counted": counted,
        }
    )


def _own(file: str | None, only: str = "") -> bool:
    """Whether the text in the editor is this file. only: its name, where the rest of the kernel is another file."""
    return file is not None and (file == only if only else file == "cell" or file.endswith(".cu"))


def _advice(lines: Sequence[dict[str, Any]]) -> str:
    """A sentence on the line that loses most, if one does."""
    worst = max(lines, key=lambda line: line["wavefronts"] - line["ideal"], default=None)
    if worst is None or worst["wavefronts"] <= worst["ideal"]:
        return "No line takes more wavefronts than the least possible."
    times = worst["wavefronts"] / max(1, worst["ideal"])
    return (
        f"Line {worst['line']} loses most: {times:.1f} times the least possible, "
        "because lanes of a warp ask for different words of one bank."
    )
