"""What the live page asks of Python: run a kernel of the catalogue, an exercise or any other, and say what it costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import own_kernels
from in_page import use_clang
from own_kernels import in_text
from sentences import Note, note
from shown import layouts_of, lines_of

import gemm_lab as lab
from gemm_lab.lab.actions.source import listing
from gemm_lab.lab.on_simulator import smallest_size, study
from gemm_lab.lab.simulate import costs
from gemm_lab.notebook.exercises import kernel_of
from gpu_simulator.compiler import CompileError, clang
from gpu_simulator.compiler.diagnostics import ptx_line_origin
from gpu_simulator.errors import MissingDependency, NotHere, SimulatorError
from gpu_simulator.faults import SimulatedFault

LEAST = 128  # the product is at least so large, if the kernel's tiles allow it
CLANG = (
    "Compiled by clang in this page: the result and the banks are those of NVIDIA's compiler, other counts may differ. "
    "Registers and machine code need NVIDIA's compiler."
)
STORED = "PTX of NVIDIA's compiler, stored. An edited text is compiled in this page."
OWN = "own/"  # how the names of kernels begin that are no part of the catalogue

__all__ = ["kernels", "run", "use_clang"]


def kernels(source: str) -> str:
    """JSON of the kernels that a text has, each with its parameters and with words that it could be launched with."""
    try:
        return json.dumps(own_kernels.kernels_of(source))
    except Exception:  # half a text may be anything; running it says what is wrong
        return "[]"


def run(asked: str) -> str:
    """JSON of what the page shows: verdict, notes at lines, and the costs of each line.

    asked: JSON of {name: of a kernel, or "exercise/NAME", whose text is that of its region, or "own/NAME"; source;
    launch: for the last, see `own_kernels.simulate`}. The answer is {"needs": "compiler"} if the text has to be
    compiled and the page has no compiler yet.
    """
    wanted = json.loads(asked)
    name, source = wanted["name"], wanted["source"]
    if name.startswith("exercise/"):
        work, own = lambda: _exercise(lab.exercise(name.removeprefix("exercise/")), source), _in_region
    elif name.startswith(OWN):
        work, own = lambda: own_kernels.simulate(source, wanted["launch"]), in_text
    else:
        kernel = lab.kernel(name)
        kernel = kernel if source == kernel.spec.source else kernel.rewrite(source)
        work, own = lambda: _counted(kernel, in_text), in_text
    answer: dict[str, Any] = {"passed": False, "notes": [], "lines": [], "advice": [], "counted": False}
    try:
        answer |= work()
    except MissingDependency as error:
        if clang.installed() or isinstance(error, NotHere):
            raise
        return json.dumps({"needs": "compiler"})
    except CompileError as error:
        guessed = {(d.file, d.line): d for d in reversed(error.diagnostics) if "did you mean" in d.message}
        told = [d for d in error.diagnostics if guessed.get((d.file, d.line), d) is d]  # what follows a guess is none
        notes = [Note(own(d.file, d.line), d.message) for d in told]
        notes += [Note(0, f"The page does not have {one}.") for one in error.left_out]
        answer |= {"verdict": "It does not compile.", "heading": "What the compiler says", "notes": notes}
    except SimulatorError as error:
        file, line = getattr(error, "file", None), getattr(error, "line", 0)
        stopped = isinstance(error, SimulatedFault)
        answer |= {"verdict": f"The kernel was {'stopped' if stopped else 'not launched'}.", "heading": "Why"}
        guesses = [Note(0, one) for one in getattr(error, "guesses", ())]
        answer["notes"] = [*guesses, note(own(file, line), error.message, own)]
    except Exception as error:
        answer |= {"verdict": "The simulator failed on this text, which is a defect of it.", "heading": "Why"}
        answer["notes"] = [Note(0, f"{type(error).__name__}: {error}")]
    answer["notes"] = [one._asdict() for one in answer["notes"]]
    compiled = answer.pop("compiled", None)
    if compiled is not None:
        answer["compiler"] = STORED if compiled.registers else CLANG
    return json.dumps(answer)


def _in_region(file: str | None, line: int) -> int:
    """The line of the editor, which has the region of an exercise."""
    return line if file == "cell" else 0


def _exercise(exercise: Any, source: str) -> dict[str, Any]:
    kernel = kernel_of(exercise, source, first_line=1)
    found = _counted(kernel, _in_region) | {"advice": []}  # the check says what is wrong
    try:
        return found | {"verdict": str(exercise.check(kernel)), "passed": True}
    except SimulatorError as error:
        return found | {"verdict": str(error).replace("cell, line", "line"), "passed": False}


def _counted(kernel: Any, own: Callable[[str | None, int], int]) -> dict[str, Any]:
    """What a kernel of the catalogue costs at a small size, whether its result is right, and its hazards."""
    m, n, k = (size * -(-LEAST // size) if size < LEAST else size for size in smallest_size(kernel))
    done = kernel.run(n, m, k, backend="simulator", timed=False)
    notes = []
    for hazard in done.hazards():
        file, line = ptx_line_origin(done.compiled.ptx, hazard.ptx_line)
        notes.append(note(own(file, line), str(hazard), own))
    made = study(kernel, done.compiled, (m, n, k))
    found = costs(made, made.report, list(listing(kernel)))
    totals = done.report.totals
    passed = bool(done.passed) and not notes
    right = "The result is right." if passed else "The result is right, and that is luck."
    return {
        "passed": passed,
        "verdict": right if done.passed else str(done).split("\n")[0],
        "notes": notes,
        "heading": "Hazards",
        "summary": f"At {m} × {n} × {k}: {done.report.instructions:,} warp instructions, {totals.wavefronts:,} "
        f"wavefronts of shared memory ({totals.ideal_wavefronts:,} is the least possible), {totals.sectors:,} sectors "
        "of global memory.",
        "lines": lines_of(found.lines, own),
        "advice": found.sentences,
        "layouts": layouts_of(found.layouts),
        "compiled": done.compiled,
        "counted": True,
    }
