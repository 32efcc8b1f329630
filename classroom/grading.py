"""The grade of one answer: judged in a fresh process, from the text of its cell alone.

Nothing of a student's session takes part: no Python of theirs is run, the process inherits neither their folder nor
their cache of compiled kernels, and it runs on the emulator. There are three verdicts. Only a whole report that says so
is a pass. An answer that is wrong, that crashes its process or that uses up its processor time is a fail. Where the
machine got in the way (the process was killed, was suspended for too long, found no room for its files), the answer is
*not judged*: that earns nothing and is no 0, and the grading has to be repeated.

    python -m classroom.grading 06_swizzle answer.cu [--seed 7]
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import errno
import json
import math
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gemm_lab.config import PACKAGE
from gpu_simulator.errors import LabError, NotJudged

# Seconds of processor time for one answer. Right answers take 0.5 to 10, and a kernel that does not end reaches the
# emulator's own limits first: what ends here is a text over which the tools do not come to an end.
LIMIT_S = 120.0
# The last resort, for a process that waits without working: seconds of patience for each second of processor time. The
# verdict is then “not judged”, so this number decides how long a broken machine holds up a class, and no grade.
PATIENCE, TICK_S = 10.0, 1.0
ATTEMPTS = 3
MEMORY_MB = 4096
MAX_TEXT = 100_000
# What a fresh process may know of the machine. No PYTHON…, no GEMM_LAB_…, no HOME of a student.
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME", "SYSTEMROOT", "TZ")
_CHILD = "import sys; sys.path.insert(0, sys.argv[1]); from classroom.grading import child; child()"
# The first line that the process writes: everything is loaded and the text is about to be read. Whatever ends the
# process before that is no fault of the answer.
BEGUN = "begun"
# Signals that a process brings upon itself. Others come from outside, the kernel's out-of-memory killer included.
OWN_SIGNALS = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS", "SIGXFSZ")
# What the operating system refuses for want of files, processes, memory or disk.
_NAMES = ("ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "EIO", "EROFS")
SHORTAGES = {getattr(errno, name) for name in _NAMES if hasattr(errno, name)}


@dataclass(frozen=True)
class Grade:
    """passed, the share of the points (0 to 1), what the student reads, and the seed that decided the inputs.

    judged: False where the machine ended the work. Then `passed` is False and `share` 0, and neither means anything.
    """

    exercise: str
    passed: bool
    share: float
    message: str
    seed: int
    judged: bool = True

    @property
    def verdict(self) -> str:
        return "NOT JUDGED" if not self.judged else "PASS" if self.passed else "FAIL"


def grade(
    name: str,
    text: str,
    *,
    seed: int | None = None,
    limit_s: float = LIMIT_S,
    patience_s: float | None = None,
    attempts: int = ATTEMPTS,
) -> Grade:
    """Judge the text of a cell for an exercise in a process of its own.

    text: the cell without its `%%kernel` line, or for a choice Python that says `choice = dict(block_m=128, …)`.
    seed: decides the inputs; drawn anew if it is None. The same seed gives the same grade.
    limit_s: processor time of the process, in seconds.
    patience_s: seconds of waiting after which a process that does not work is given up; by default PATIENCE * limit_s.
    attempts: fresh processes that are tried before the verdict is “not judged”.
    """
    seed = secrets.randbelow(2**31) if seed is None else seed
    if len(text) > MAX_TEXT:
        return Grade(name, False, 0.0, f"The cell has {len(text):,} characters; {MAX_TEXT:,} are enough.", seed)
    patience_s = PATIENCE * limit_s if patience_s is None else patience_s
    crash: Crash | None = None
    reasons: list[str] = []
    for _ in range(max(attempts, 1)):
        try:
            return _in_fresh_process(name, text, seed, limit_s, patience_s)
        except NotJudged as error:
            reasons.append(str(error))
        except Crash as error:  # the answer is the reason if it happens twice, or if no other attempt ends with a grade
            if crash is not None:
                return Grade(name, False, 0.0, str(error), seed)
            crash = error
    if crash is not None:
        return Grade(name, False, 0.0, str(crash), seed)
    return Grade(
        name,
        False,
        0.0,
        f"Not judged: {reasons[-1]} This says nothing about the answer. Repeat the grading; "
        "in a course, run nbgrader autograde again.",
        seed,
        judged=False,
    )


class Crash(Exception):
    """The process brought its end upon itself while it judged the answer."""


def _in_fresh_process(name: str, text: str, seed: int, limit_s: float, patience_s: float) -> Grade:
    """One attempt. Raises `NotJudged` where the machine ended it, `Crash` where the process did."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="gemm_lab_grade_", ignore_cleanup_errors=True)
    except OSError as error:
        raise NotJudged(f"No folder for temporary files could be made ({error.strerror}).") from None
    with folder as path:
        environment = {key: os.environ[key] for key in KEPT if key in os.environ}
        environment |= {
            "HOME": path,
            "TMPDIR": path,
            "XDG_STATE_HOME": path,
            "XDG_CACHE_HOME": path,
            "GEMM_LAB_CACHE": str(Path(path) / "cache"),
            "GEMM_LAB_BACKEND": "emulator",
            "GEMM_LAB_MEMORY_MB": str(MEMORY_MB),
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
        }
        asked = json.dumps({"name": name, "text": text, "seed": seed, "limit_s": limit_s, "parent": os.getpid()})
        try:  # the request is a file: `communicate` forgets the rest of a long input once it has timed out
            (Path(path) / "request").write_text(asked, encoding="utf-8")
            with (Path(path) / "request").open("rb") as request:
                process = subprocess.Popen(
                    [sys.executable, "-I", "-c", _CHILD, str(PACKAGE.parent)],
                    cwd=path,
                    env=environment,
                    text=True,
                    stdin=request,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,
                )
        except OSError as error:
            raise NotJudged(f"No process could be started ({error.strerror}).") from None
        try:
            out, err = _answer_of(process, patience_s)
        finally:
            _end(process)
    return _verdict(process.returncode, out, err, name, seed, limit_s)


def _answer_of(process: subprocess.Popen, patience_s: float) -> tuple[str, str]:
    """What the process wrote. `NotJudged` after `patience_s` seconds of waiting.

    The seconds are counted as they pass here. If this process is suspended, too, they do not pass.
    """
    waited = 0.0
    while True:
        try:
            return process.communicate(timeout=TICK_S)
        except subprocess.TimeoutExpired:
            waited += TICK_S
            if waited >= patience_s:
                raise NotJudged(
                    f"The process that ran it stood still: it was stopped after {patience_s:,.0f} s of waiting."
                ) from None


def _verdict(code: int, out: str, err: str, name: str, seed: int, limit_s: float) -> Grade:
    """The grade that the process wrote, or what its end means."""
    last = err.strip().split("\n")[-1][:300]
    if -code in _numbers("SIGXCPU"):
        said = f"It was still running after {limit_s:g} s of processor time and was stopped."
        return Grade(name, False, 0.0, said, seed)
    if code < 0 and -code not in _numbers(*OWN_SIGNALS):
        raise NotJudged(
            f"The process that ran it was ended from outside ({_died(code)}); perhaps the machine had no memory left."
        )
    begun, _, said = out.partition("\n")
    if begun != BEGUN:
        raise NotJudged(f"The process that was to run it did not start ({_died(code)}). {last}".rstrip())
    if code != 0:
        raise Crash(f"The process that ran it died ({_died(code)}). {last}".rstrip())
    try:
        found = Grade(**json.loads(said))
    except (ValueError, TypeError):
        return Grade(name, False, 0.0, "The process that ran it ended without a verdict.", seed)
    if not found.judged:
        raise NotJudged(found.message)
    return found


def _numbers(*names: str) -> set[int]:
    """The numbers of signals, as far as the system knows them."""
    return {int(getattr(signal, name)) for name in names if hasattr(signal, name)}


def _end(process: subprocess.Popen) -> None:
    """Kill the process and what it may have started, and reap it."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    for stream in (process.stdout, process.stderr):
        with contextlib.suppress(OSError):
            stream.close()
    process.wait()


def _died(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"


# ---- In the fresh process ----


def child() -> None:
    """Read one request from standard input, judge it, and write the grade to standard output."""
    import classroom.skeletons  # noqa: F401  (what a judge needs is loaded before the text is read)
    from classroom.grader_sandbox import confine_grader

    confine_grader(Path.cwd())
    asked = json.loads(sys.stdin.read())
    _limit_resources(asked["limit_s"])
    threading.Thread(target=_end_with, args=(asked["parent"],), daemon=True).start()
    print(BEGUN, flush=True)
    print(json.dumps(asdict(judged(asked["name"], asked["text"], asked["seed"]))))


def _end_with(parent: int) -> None:
    """End this process, and what it has started, when the process that asked for the grade has ended in any way."""
    while os.getppid() == parent:
        time.sleep(TICK_S)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)


def judged(name: str, text: str, seed: int) -> Grade:
    """Judge in this process; every error of the lab is a refusal with its sentence, but `NotJudged` is none."""
    try:
        return _judged(name, text, seed)
    except NotJudged as error:
        return Grade(name, False, 0.0, str(error), seed, judged=False)
    except MemoryError:
        return Grade(name, False, 0.0, f"It needs more than the {2 * MEMORY_MB:,} MB of memory of its process.", seed)
    except OSError as error:
        if error.errno not in SHORTAGES:
            raise
        return Grade(name, False, 0.0, f"The system refused it ({error.strerror}).", seed, judged=False)


def _judged(name: str, text: str, seed: int) -> Grade:
    from gemm_lab.notebook.exercises import JUDGES, WrongAnswer, exercise, kernel_of

    try:
        task = exercise(name)
        if task.judge == "kernel":
            solved = task.check(kernel_of(task, text), seed=seed)
        else:
            solved = JUDGES[task.judge](task, None, choice_of(text))
    except WrongAnswer as wrong:
        return Grade(name, False, share(task, wrong.judgement, seed), str(wrong), seed)
    except NotJudged:
        raise
    except LabError as error:
        return Grade(name, False, 0.0, str(error), seed)
    return Grade(name, True, 1.0, repr(solved), seed)


def choice_of(text: str) -> dict[str, int]:
    """The numbers of the last `choice = dict(name=number, …)` in Python text, which is read and not run.

    Everything else is one sentence. A name that stands twice, or a number with more than a few digits, is refused, too.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the text is of no interest
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = error.msg if isinstance(error, SyntaxError) else str(error) or "it is nested too deeply"
        raise LabError(f"This is not Python: {said}.") from None
    found = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "choice" for target in node.targets)
    ]
    if not found:
        raise LabError("The cell does not say choice = dict(…).")
    call = found[-1]
    named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "dict"
    if not named or call.args:
        raise LabError(_PLAIN)
    numbers: dict[str, int] = {}
    for word in call.keywords:
        number = _plain_number(word.value)
        if word.arg is None or word.arg in numbers or number is None:
            raise LabError(_PLAIN)
        numbers[word.arg] = number
    return numbers


_PLAIN = "Write the choice with plain numbers: choice = dict(name=number, …)."
_LARGEST = 10**9


def _plain_number(value: ast.expr) -> int | None:
    """A whole number as it stands there, with a sign or without; None for anything else."""
    sign = 1
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, (ast.USub, ast.UAdd)):
        sign, value = -1 if isinstance(value.op, ast.USub) else 1, value.operand
    plain = isinstance(value, ast.Constant) and type(value.value) is int and value.value <= _LARGEST
    return sign * value.value if plain else None


def share(task: Any, judgement: Any, seed: int) -> float:
    """The part of the points for a kernel that is right and misses counts; 0 for one that is not right.

    What the skeleton reaches already earns nothing: with 3 counts asked, 1 missed by the answer and 2 by the skeleton,
    half is earned.
    """
    from classroom.skeletons import skeleton
    from gemm_lab.notebook.exercises import kernel_of
    from gemm_lab.notebook.judges import kernel_judge

    if judgement is None or not judgement.exact or not judgement.asked:
        return 0.0
    try:
        start = kernel_judge.judge(kernel_of(task, skeleton(task.name)), task.criteria, seed)
        missed = start.missed if start.exact else judgement.asked + 1
    except NotJudged:
        raise
    except LabError:
        missed = judgement.asked + 1
    return round(max(0.0, 1 - judgement.missed / missed), 2) if missed else 0.0


def _limit_resources(limit_s: float) -> None:
    """Processor time, memory and core dumps of this process, where the system can limit them.

    At the limit of processor time the process is ended by SIGXCPU, by which `grade` knows it.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    limit = math.ceil(limit_s)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**28, 2**28))
    resource.setrlimit(resource.RLIMIT_AS, (2 * MEMORY_MB * 2**20, 2 * MEMORY_MB * 2**20))


def _leave(number: int, frame: Any) -> None:
    """Leave as after an error, so that the process that judges is ended and its folder removed."""
    raise SystemExit(128 + number)


def main(argv: list[str] | None = None) -> int:
    """Grade a file, `-` for standard input; 0 if it passes, 1 if it fails, 2 if it could not be judged."""
    parser = argparse.ArgumentParser(description="Grade one answer in a process of its own.")
    parser.add_argument("exercise")
    parser.add_argument("file", help="the text of the answer, or - for standard input")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="S", help="seconds of processor time")
    options = parser.parse_args(argv)
    try:
        data = sys.stdin.buffer.read() if options.file == "-" else Path(options.file).read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"{options.file} cannot be read as UTF-8 text: {getattr(error, 'strerror', None) or error}.")
        return 2
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        found = grade(options.exercise, text, seed=options.seed, limit_s=options.limit)
    finally:
        signal.signal(signal.SIGTERM, before)
    points = f"{found.share:.0%}" if found.judged else "–"
    print(f"{found.verdict}  {points}  seed {found.seed}\n{found.message}")
    return 2 if not found.judged else 0 if found.passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
