"""Grades one answer in a fresh process, from the text of its cell only.

Nothing from a student's session is used: no Python code of theirs is executed, the process inherits neither their
folder nor their cache of compiled kernels, and kernels run on the simulator. There are three verdicts. An answer passes
only if the process reports that it is right. It fails if it is wrong or crashes the process. If it uses up the
processor time, if the machine prevented the grading (the process was killed, was suspended for too long, or found no
room for its files), or an error of the lab itself did, the answer is *not judged*: that is neither points nor a 0, and
the grading has to be repeated.

    python -m gemm_lab_classroom.grading 06_swizzle answer.cu [--seed 7]
"""

from __future__ import annotations

import argparse
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
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gemm_lab.compiling import NotJudged
from gemm_lab_classroom.grader_sandbox import HOMES, confine_grader, tell_if_unconfined
from gemm_results.errors import LabError
from gpu_simulator.compiler.compiler_process import COMPILER
from gpu_simulator.errors import SimulatorError

# Seconds of processor time for one answer. Correct answers take 0.5 to 52 s, and a kernel that never ends reaches the
# simulator's own limits first. What this limit ends is not judged, because a slow machine may be the only reason.
LIMIT_S = 120.0
# How long a process may wait without working, in seconds for each second of processor time. After that the answer is
# not judged, so this number never decides a grade, only how long a broken machine can delay a class.
PATIENCE, TICK_S = 10.0, 1.0
ATTEMPTS = 3
MEMORY_MB = 4096
MAX_TEXT = 100_000
# The environment variables that a fresh process inherits: no PYTHON…, no GEMM_LAB_…, and not the student's HOME.
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_HOME", "SYSTEMROOT", "TZ")
_CHILD = "import sys; sys.path[:0] = sys.argv[1:]; from gemm_lab_classroom.grading import child; child()"
# The first line that the process writes, when everything is loaded and before it examines the text. If the process
# ends earlier, the answer is not the reason.
BEGUN = "begun"
# Signals that a process causes itself. Others come from outside, such as the one of the kernel's out-of-memory killer.
OWN_SIGNALS = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS", "SIGXFSZ")
# Errors of the operating system that mean a shortage of files, processes, memory or disk space.
_NAMES = ("ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "EIO", "EROFS")
SHORTAGES = {getattr(errno, name) for name in _NAMES if hasattr(errno, name)}


@dataclass(frozen=True)
class Grade:
    """The result of grading one answer. share: the fraction of the points, 0 to 1.   message: for the student.

    seed: the one from which the inputs were made.   judged: False if the machine prevented the grading; then `passed`
    is False and `share` is 0, but both have no meaning.
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
    handed_out: str = "",
) -> Grade:
    """Grade the text of a cell as an answer to exercise `name`, in a separate process.

    text: the cell without its `%%kernel` line; for a choice of numbers, Python with `choice = dict(block_m=128, …)`,
    which is read and not executed.
    seed: for the inputs; None draws a new one. The same seed gives the same grade.
    limit_s: the limit for the processor time of the process, in seconds.
    patience_s: the limit for its elapsed time in seconds; by default PATIENCE * limit_s.
    attempts: how many fresh processes are tried before the verdict is “not judged”.
    handed_out: the text that the student started from, with which a part of the points is reckoned; by default that of
    the notebooks.
    """
    tell_if_unconfined()
    seed = secrets.randbelow(2**31) if seed is None else seed
    if len(text) > MAX_TEXT:
        return Grade(name, False, 0.0, f"The cell has {len(text):,} characters; {MAX_TEXT:,} are enough.", seed)
    patience_s = PATIENCE * limit_s if patience_s is None else patience_s
    crash: Crash | None = None
    reasons: list[str] = []
    for _ in range(max(attempts, 1)):
        try:
            return _in_fresh_process(name, text, seed, limit_s, patience_s, handed_out)
        except NotJudged as error:
            reasons.append(str(error))
        except Crash as error:  # the answer is to blame if this happens twice, or if no other attempt gives a grade
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
    """The process crashed while it was grading the answer."""


def _in_fresh_process(
    name: str, text: str, seed: int, limit_s: float, patience_s: float, handed_out: str = ""
) -> Grade:
    """One attempt to grade. Raises `NotJudged` if the machine prevented it, and `Crash` if the process crashed."""
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
            "GEMM_LAB_BACKEND": "simulator",
            "GPU_SIMULATOR_MEMORY_MB": str(MEMORY_MB),
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
        }
        facts = {"name": name, "text": text, "seed": seed, "handed_out": handed_out}
        asked = json.dumps({**facts, "limit_s": limit_s, "parent": os.getpid()})
        try:  # the request is a file, because after a timeout `communicate` loses the rest of a long input
            (Path(path) / "request").write_text(asked, encoding="utf-8")
            with (Path(path) / "request").open("rb") as request:
                process = subprocess.Popen(
                    [sys.executable, "-I", "-c", _CHILD, *map(str, HOMES)],
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
    """(standard output, standard error) of the process. Raises `NotJudged` after `patience_s` seconds.

    The seconds are counted by this process, so time during which this process is suspended as well does not count.
    """
    waited = 0.0
    while True:
        try:
            return process.communicate(timeout=TICK_S)
        except subprocess.TimeoutExpired:
            waited += TICK_S
            if waited >= patience_s:
                raise NotJudged(
                    f"The process that ran it did not finish: it was stopped after {patience_s:,.0f} s of waiting."
                ) from None


def _verdict(code: int, out: str, err: str, name: str, seed: int, limit_s: float) -> Grade:
    """The grade that the process wrote, or the one that follows from how it ended.

    Raises `NotJudged` and `Crash`, as `_in_fresh_process` does.
    """
    last = err.strip().split("\n")[-1][:300]
    if -code in _numbers("SIGXCPU"):  # to repeat this with the same limit would take as long and tell no more
        said = (
            f"Not judged: its check used up the {limit_s:g} s of processor time that one answer may take, and was "
            "stopped. This says nothing about the answer. Grade it again with a higher limit, such as "
            f"{4 * limit_s:g} s: on the command line with --limit, in a course with c.GradeInFreshProcess.limit_s in "
            "nbgrader_config.py. If that is not enough either, look at the answer by hand."
        )
        return Grade(name, False, 0.0, said, seed, judged=False)
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
        if found.message.startswith("Not judged: "):  # from `choice_text`: a further attempt would tell no more
            return Grade(name, False, 0.0, found.message, seed, judged=False)
        raise NotJudged(found.message)
    return found


def _numbers(*names: str) -> set[int]:
    """The numbers of those signals that exist on this system."""
    return {int(getattr(signal, name)) for name in names if hasattr(signal, name)}


def _end(process: subprocess.Popen) -> None:
    """Kill the process and any processes that it has started, and wait for its end."""
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
    """Read one request from standard input, grade it, and write the grade to standard output."""
    import gemm_lab_classroom.judge.strict_rules
    import gemm_lab_classroom.skeletons  # noqa: F401  (everything needed is loaded before the text is examined)

    confine_grader(Path.cwd())
    asked = json.loads(sys.stdin.read())
    _limit_resources(asked["limit_s"])
    COMPILER.cpu_s = math.inf  # the compiler's process inherits the limit, see `_end_with_the_compiler`
    threading.Thread(target=_end_with, args=(asked["parent"],), daemon=True).start()
    print(BEGUN, flush=True)
    print(json.dumps(asdict(judged(asked["name"], asked["text"], asked["seed"], asked["handed_out"]))))


def _end_with(parent: int) -> None:
    """When the process that requested the grade has ended, end this process and those that it has started."""
    while os.getppid() == parent:
        time.sleep(TICK_S)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)


def judged(name: str, text: str, seed: int, handed_out: str = "") -> Grade:
    """Grade in this process. A `SimulatorError` is a fail with its message; any other exception judges nothing."""
    try:
        return _judged(name, text, seed, handed_out)
    except NotJudged as error:
        return Grade(name, False, 0.0, str(error), seed, judged=False)
    except MemoryError:
        return Grade(name, False, 0.0, f"It needs more than the {2 * MEMORY_MB:,} MB of memory of its process.", seed)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in SHORTAGES:
            said = f"The system refused it ({error.strerror})."
        else:
            last = traceback.extract_tb(error.__traceback__)[-1]
            said = (
                f"An error of the lab itself stopped the judge ({type(error).__name__} in {Path(last.filename).name}, "
                f"line {last.lineno}: {str(error)[:200]}). If it happens again, please report it with the answer."
            )
        return Grade(name, False, 0.0, said, seed, judged=False)


def _judged(name: str, text: str, seed: int, handed_out: str) -> Grade:
    from gemm_lab.courses import judges
    from gemm_lab.notebook.exercises import WrongAnswer, exercise, judge_kernel, kernel_of
    from gemm_lab_classroom.choice_text import choice_of
    from gemm_lab_classroom.judge.strict_rules import StrictRules

    try:
        task = exercise(name)
        if not text.strip():
            raise LabError("The cell of the answer is empty.")
        if task.judge == "kernel":
            solved = judge_kernel(task, kernel_of(task, text), {}, seed, StrictRules())
        else:
            solved = judges()[task.judge](task, None, choice_of(text))
    except WrongAnswer as wrong:
        return Grade(name, False, share(task, wrong.judgement, seed, handed_out), str(wrong), seed)
    except NotJudged:
        raise
    except SimulatorError as error:
        _end_with_the_compiler()
        return Grade(name, False, 0.0, str(error), seed)
    return Grade(name, True, 1.0, repr(solved), seed)


def share(task: Any, judgement: Any, seed: int, handed_out: str = "") -> float:
    """The fraction of the points for a kernel that is right but misses counts; 0 for one that is not right.

    Counts that the skeleton already reaches earn nothing. For example, if there are 3 counts, of which the answer
    misses 1 and the skeleton 2, the fraction is one half.
    """
    from gemm_lab.notebook.exercises import kernel_of
    from gemm_lab.notebook.judges import kernel_judge
    from gemm_lab_classroom.judge.strict_rules import StrictRules
    from gemm_lab_classroom.skeletons import skeleton

    if judgement is None or not judgement.exact or not judgement.asked:
        return 0.0
    try:
        start = kernel_of(task, handed_out or skeleton(task.name))
        start = kernel_judge.judge(start, task.criteria, seed, StrictRules())
        missed = start.missed if start.exact else judgement.asked + 1
    except NotJudged:
        raise
    except SimulatorError:
        missed = judgement.asked + 1
    return round(max(0.0, 1 - judgement.missed / missed), 2) if missed else 0.0


def _limit_resources(limit_s: float) -> None:
    """Limit the processor time, memory, file size and core dumps of this process, if the system can do that.

    At the limit of processor time the process is ended by SIGXCPU, which `grade` recognises.
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


def _end_with_the_compiler() -> None:
    """If the compiler's process has used up the processor time, end this process as if it were its own time.

    The system counts the time for this limit by another clock than the time that it reports, which may be 5 % less.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, used = resource.getrlimit(resource.RLIMIT_CPU)[0], resource.getrusage(resource.RUSAGE_CHILDREN)
    if limit != resource.RLIM_INFINITY and used.ru_utime + used.ru_stime >= 0.9 * limit:
        os.kill(os.getpid(), signal.SIGXCPU)


def _leave(number: int, frame: Any) -> None:
    """A signal handler that raises SystemExit, so that the grading process is ended and its folder is removed."""
    raise SystemExit(128 + number)


def main(argv: list[str] | None = None) -> int:
    """Grade a file (`-`: standard input) and print the grade. Returns 0 for a pass, 1 for a fail, else 2."""
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
