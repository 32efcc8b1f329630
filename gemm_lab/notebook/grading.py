"""The grade of one answer: judged in a fresh process, from the text of its cell alone.

Nothing of a student's session takes part: no Python of theirs is run, the process inherits neither their folder nor
their cache of compiled kernels, and it runs on the emulator. A process that dies, or has to be stopped at its limit of
time, is a failed exercise; only a whole report that says so is a passed one.

    python -m gemm_lab.notebook.grading 06_swizzle answer.cu [--seed 7]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gemm_lab.config import PACKAGE
from gemm_lab.errors import LabError

LIMIT_S = 120.0
MEMORY_MB = 4096
MAX_TEXT = 100_000
# What a fresh process may know of the machine. No PYTHON…, no GEMM_LAB_…, no HOME of a student.
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME", "SYSTEMROOT", "TZ")
_CHILD = "import sys; sys.path.insert(0, sys.argv[1]); from gemm_lab.notebook.grading import child; child()"


@dataclass(frozen=True)
class Grade:
    """passed, the share of the points (0 to 1), what the student reads, and the seed that decided the inputs."""

    exercise: str
    passed: bool
    share: float
    message: str
    seed: int


def grade(name: str, text: str, *, seed: int | None = None, limit_s: float = LIMIT_S) -> Grade:
    """Judge the text of a cell for an exercise in a process of its own.

    text: the cell without its `%%kernel` line, or for a choice Python that says `choice = dict(block_m=128, …)`.
    seed: decides the inputs; drawn anew if it is None. The same seed gives the same grade.
    """
    seed = secrets.randbelow(2**31) if seed is None else seed
    if len(text) > MAX_TEXT:
        return Grade(name, False, 0.0, f"The cell has {len(text):,} characters; {MAX_TEXT:,} are enough.", seed)
    with tempfile.TemporaryDirectory(prefix="gemm_lab_grade_") as folder:
        environment = {key: os.environ[key] for key in KEPT if key in os.environ}
        environment |= {"HOME": folder, "TMPDIR": folder, "XDG_STATE_HOME": folder, "XDG_CACHE_HOME": folder,
                        "GEMM_LAB_CACHE": str(Path(folder) / "cache"), "GEMM_LAB_BACKEND": "emulator",
                        "GEMM_LAB_MEMORY_MB": str(MEMORY_MB), "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        process = subprocess.Popen(
            [sys.executable, "-I", "-c", _CHILD, str(PACKAGE.parent)], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
            start_new_session=True)
        try:
            asked = json.dumps({"name": name, "text": text, "seed": seed, "limit_s": limit_s})
            out, err = process.communicate(asked, timeout=limit_s)
        except subprocess.TimeoutExpired:
            _end(process)
            return Grade(name, False, 0.0, f"It was still running after {limit_s:g} s and was stopped.", seed)
        finally:
            _end(process)
    if process.returncode != 0:
        last = err.strip().split("\n")[-1][:300]
        return Grade(name, False, 0.0, f"The process that ran it died ({_died(process.returncode)}). {last}", seed)
    try:
        return Grade(**json.loads(out))
    except (ValueError, TypeError):
        return Grade(name, False, 0.0, "The process that ran it ended without a verdict.", seed)


def _end(process: subprocess.Popen) -> None:
    """Kill the process and what it may have started, and reap it."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    process.wait()


def _died(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


# ---- In the fresh process ----


def child() -> None:
    """Read one request from standard input, judge it, and write the grade to standard output."""
    asked = json.loads(sys.stdin.read())
    _limit_resources(asked["limit_s"])
    print(json.dumps(asdict(judged(asked["name"], asked["text"], asked["seed"]))))


def judged(name: str, text: str, seed: int) -> Grade:
    """Judge in this process; every error of the lab is a refusal with its sentence."""
    from gemm_lab.notebook.exercises import WrongAnswer, exercise

    try:
        task = exercise(name)
        solved = task.check(**choice_of(text)) if task.judge != "kernel" else task.check(_kernel(task, text), seed=seed)
    except WrongAnswer as wrong:
        return Grade(name, False, share(task, wrong.judgement, seed), str(wrong), seed)
    except LabError as error:
        return Grade(name, False, 0.0, str(error), seed)
    return Grade(name, True, 1.0, repr(solved), seed)


def _kernel(task: Any, text: str) -> Any:
    from gemm_lab.notebook.wrong_answers import kernel_of

    return kernel_of(task, text)


def choice_of(text: str) -> dict[str, int]:
    """The numbers of the last `choice = dict(name=number, …)` in Python text, which is read and not run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LabError(f"This is not Python: {error}.") from None
    found = [node.value for node in tree.body if isinstance(node, ast.Assign)
             and any(isinstance(target, ast.Name) and target.id == "choice" for target in node.targets)]
    if not found:
        raise LabError("The cell does not say choice = dict(…).")
    call = found[-1]
    wanted = (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "dict"
              and not call.args and all(word.arg for word in call.keywords))
    try:
        return {word.arg: ast.literal_eval(word.value) for word in call.keywords} if wanted else _refuse()
    except ValueError:
        return _refuse()


def _refuse() -> dict[str, int]:
    raise LabError("Write the choice with plain numbers: choice = dict(name=number, …).")


def share(task: Any, judgement: Any, seed: int) -> float:
    """The part of the points for a kernel that is right and misses counts; 0 for one that is not right.

    What the skeleton reaches already earns nothing: with 3 counts asked, 1 missed by the answer and 2 by the skeleton,
    half is earned.
    """
    from gemm_lab.notebook import kernel_judge
    from gemm_lab.notebook.skeletons import skeleton

    if judgement is None or not judgement.exact or not judgement.asked:
        return 0.0
    try:
        start = kernel_judge.judge(_kernel(task, skeleton(task.name)), task.criteria, seed)
        missed = start.missed if start.exact else judgement.asked + 1
    except LabError:
        missed = judgement.asked + 1
    return round(max(0.0, 1 - judgement.missed / missed), 2) if missed else 0.0


def _limit_resources(limit_s: float) -> None:
    """Processor time, memory and core dumps of this process, where the system can limit them."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CPU, (int(2 * limit_s) + 1, int(2 * limit_s) + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**28, 2**28))
    resource.setrlimit(resource.RLIMIT_AS, (2 * MEMORY_MB * 2**20, 2 * MEMORY_MB * 2**20))


def main(argv: list[str] | None = None) -> int:
    """Grade a file, `-` for standard input; 0 if it passes."""
    parser = argparse.ArgumentParser(description="Grade one answer in a process of its own.")
    parser.add_argument("exercise")
    parser.add_argument("file", help="the text of the answer, or - for standard input")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="S")
    options = parser.parse_args(argv)
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
    found = grade(options.exercise, text, seed=options.seed, limit_s=options.limit)
    print(f"{'PASS' if found.passed else 'FAIL'}  {found.share:.0%}  seed {found.seed}\n{found.message}")
    return 0 if found.passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
