"""A grade comes from a fresh process and the text of a cell: what passes, what fails, and what cannot reach it."""

import dataclasses
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gemm_lab as lab
from gemm_lab.compiling import NotJudged
from gemm_lab.config import PACKAGE, cache_dir
from gemm_lab.notebook.exercises import WrongAnswer, exercises
from gemm_lab_classroom import grading
from gemm_lab_classroom.grader_sandbox import tell_if_unconfined
from gemm_lab_classroom.grading import Grade, grade, judged
from gemm_lab_classroom.skeletons import skeleton, solution
from gemm_results.errors import LabError
from gpu_simulator.compiler import compiled_cache, sandbox
from tools.wrong_answers import kernel_of

KERNEL = "02_inner_product"
RIGHT = solution(KERNEL)


def text_of(name):
    """The solution as the cell of an assignment holds it."""
    if exercises()[name].judge == "kernel":
        return solution(name)
    return f"choice = dict({', '.join(solution(name).split(chr(10)))})"


# ---- The process ----


def test_a_right_answer_passes_and_the_same_seed_gives_the_same_grade():
    name = "03_fragments"  # the one that takes the least time
    first = grade(name, solution(name), seed=11)
    assert first.passed and first.share == 1.0 and first.seed == 11 and "solved" in first.message
    assert judged(name, solution(name), seed=11) == first


@pytest.mark.parametrize("able", [False, True])
def test_where_nothing_confines_its_processes_the_grader_says_so_once(able, monkeypatch, capsys):
    monkeypatch.setattr(sandbox, "available", lambda: (able, "the package landlockpy is not installed"))
    tell_if_unconfined.cache_clear()
    try:
        for _ in range(2):
            assert not grade(KERNEL, "x" * (grading.MAX_TEXT + 1)).passed
    finally:
        tell_if_unconfined.cache_clear()
    said = capsys.readouterr().err
    assert said.count("without a sandbox, because the package landlockpy is not installed") == (not able)
    assert ("pip install landlockpy" in said) == (not able)


@pytest.mark.parametrize(
    ("child", "says"),
    [
        ("import os; os.abort()", "died (signal SIGABRT)"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "died (signal SIGSEGV)"),
        ("raise SystemExit(3)", "died (exit code 3)"),
        ("raise RuntimeError('out of order')", "RuntimeError: out of order"),
        ("", "ended without a verdict"),
        ("print('PASS')", "ended without a verdict"),
        ("print('{\"passed\": true}')", "ended without a verdict"),
        ("print('null')", "ended without a verdict"),
    ],
    ids=lambda value: value[:20],
)
def test_a_process_that_dies_or_says_nothing_while_it_judges_is_a_failed_exercise(child, says, monkeypatch):
    monkeypatch.setattr(grading, "_CHILD", f"print('{grading.BEGUN}', flush=True)\n{child}")
    found = grade(KERNEL, RIGHT)
    assert (found.verdict, found.passed, found.share) == ("FAIL", False, 0.0) and says in found.message


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("child", "says"),
    [
        (
            "print('begun', flush=True); import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "ended from outside (signal SIGKILL)",
        ),
        (
            "print('begun', flush=True); import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
            "ended from outside (signal SIGTERM)",
        ),
        ("import a_module_that_is_not_installed", "did not start (exit code 1). ModuleNotFoundError"),
        ("import os; os.abort()", "did not start (signal SIGABRT)"),
        ("raise SystemExit(0)", "did not start (exit code 0)"),
        ("print('begun', flush=True); import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", "did not finish"),
    ],
    ids=lambda value: value[:60],
)
def test_what_the_machine_does_to_the_process_is_not_judged(child, says, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(grading, "_CHILD", child)
    monkeypatch.setattr(grading, "TICK_S", 0.1)
    found = grade(KERNEL, RIGHT, patience_s=2, seed=4)
    assert (found.verdict, found.judged, found.passed, found.share) == ("NOT JUDGED", False, False, 0.0)
    assert says in found.message and "says nothing about the answer" in found.message


@pytest.mark.long
def test_an_attempt_that_the_machine_ended_is_repeated(monkeypatch, tmp_path):
    """The first process is killed, the second crashes, and the third has time to judge."""
    once = (
        f"import os, signal, pathlib; marks = pathlib.Path({str(tmp_path)!r}); count = len(list(marks.iterdir()))\n"
        "(marks / str(count)).touch()\n"
        "print('begun', flush=True) if count < 2 else None\n"
        "os.kill(os.getpid(), [signal.SIGKILL, signal.SIGSEGV][count]) if count < 2 else None\n"
    )
    monkeypatch.setattr(grading, "_CHILD", once + grading._CHILD)
    assert grade(KERNEL, RIGHT, seed=11).passed and len(list(tmp_path.iterdir())) == 3


def test_an_answer_cannot_choose_not_to_be_judged(monkeypatch):
    """A report of the process that claims points and no verdict gets neither."""
    says = json.dumps(vars(Grade(KERNEL, True, 1.0, "the machine is ill", 3, judged=False)))
    monkeypatch.setattr(grading, "_CHILD", f"print('begun', flush=True); print({says!r})")
    found = grade(KERNEL, RIGHT)
    assert (found.judged, found.passed, found.share) == (False, False, 0.0)


@pytest.mark.parametrize(
    ("error", "judged_"),
    [
        (NotJudged("The compiler was killed."), False),
        (OSError(28, "No space left on device"), False),
        (OSError(2, "No such file or directory"), False),
        (KeyError("a mistake in the judge"), False),
        (MemoryError(), True),
        (LabError("wrong"), True),
    ],
)
def test_errors_of_the_machine_are_told_from_those_of_the_answer(error, judged_, monkeypatch):
    def check(*answer, **options):
        raise error

    monkeypatch.setattr("gemm_lab.notebook.exercises.judge_kernel", check)
    found = judged(KERNEL, RIGHT, 1)
    assert (found.judged, found.passed, found.share) == (judged_, False, 0.0)
    assert ("KeyError in test_grading.py, line " in found.message) is isinstance(error, KeyError)


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="the system does not limit processor time")
def test_an_answer_that_uses_up_the_processor_time_is_not_judged_and_not_tried_again(monkeypatch, tmp_path):
    monkeypatch.setattr(
        grading,
        "_CHILD",
        f"import sys, tempfile; tempfile.mkstemp(dir={str(tmp_path)!r}); sys.path[:0] = sys.argv[1:]\n"
        "from gemm_lab_classroom.grading import _limit_resources; _limit_resources(1)\n"
        "print('begun', flush=True)\nwhile True: pass",
    )
    found = grade(KERNEL, RIGHT, limit_s=1)
    assert (found.verdict, found.share) == ("NOT JUDGED", 0.0) and len(list(tmp_path.iterdir())) == 1
    assert all(words in found.message for words in ("used up the 1 s of processor time", "such as 4 s", "--limit"))


def test_a_process_that_never_ends_is_stopped_with_what_it_started(monkeypatch, tmp_path):
    marks = tmp_path / "grandchild"
    late = f"import time; time.sleep(4); open({str(marks)!r}, 'w')"
    monkeypatch.setattr(
        grading,
        "_CHILD",
        f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {late!r}])\ntime.sleep(60)",
    )
    found = grade(KERNEL, RIGHT, patience_s=1, attempts=1)
    assert not found.judged and "after 1 s of waiting" in found.message
    time.sleep(4)
    assert not marks.exists()


@pytest.mark.sampled(every=2)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are looked for in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_when_the_grading_is_ended_the_process_that_judges_ends_too(number):
    """The command starts the process that judges, which starts a compiler: nothing of that is left."""

    def started(pid):
        found = {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
        return found.union(*map(started, found))

    def until(condition, seconds):
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            time.sleep(0.1)
        return condition()

    answer = exercises()["10_consumer"].room.folder / "solutions" / "10_consumer.cu"  # takes many seconds
    command = subprocess.Popen(
        [sys.executable, "-m", "gemm_lab_classroom.grading", "10_consumer", str(answer)], cwd=PACKAGE.parent
    )
    try:
        assert until(lambda: len(started(command.pid)) >= 2, 60), "a judge and its compiler are at work"
        children = started(command.pid)
        command.send_signal(number)
        assert command.wait(10) == (128 + number if number == signal.SIGTERM else -number)
        assert until(lambda: not any(Path(f"/proc/{child}/exe").exists() for child in children), 15)
    finally:
        command.kill()


def test_a_cell_of_endless_length_is_not_even_tried():
    found = grade(KERNEL, " " * 200_000)
    assert not found.passed and "200,000 characters" in found.message


@pytest.mark.long
def test_neither_the_folder_nor_the_environment_of_the_caller_reaches_it(monkeypatch, tmp_path):
    for name in ("numpy.py", "sitecustomize.py", "usercustomize.py", "gemm_lab.py", "json.py"):
        (tmp_path / name).write_text("raise SystemExit('not ours')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "numpy.py"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GEMM_LAB_BACKEND", "nonsense")
    assert grade(KERNEL, RIGHT).passed


@pytest.mark.long
def test_a_cache_of_compiled_kernels_that_was_exchanged_does_not_help(monkeypatch, tmp_path):
    """In a session machine code that the student has put there passes, which is why the grade has a cache of its own."""
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path))
    task = lab.exercise(KERNEL)
    good, bad = kernel_of(task, RIGHT), kernel_of(task, skeleton(KERNEL))
    with pytest.raises(WrongAnswer):
        task.check(bad)
    for arch in {None, good.taught_gpu().arch}:  # None: for the GPU here, where there is one
        key = bad.compile(arch).key
        compiled_cache.write(cache_dir() / "compiled", key, dataclasses.replace(good.compile(arch), key=key))
    assert "solved" in repr(task.check(bad))
    assert not grade(KERNEL, skeleton(KERNEL)).passed


@pytest.mark.long
def test_a_checker_that_was_patched_does_not_help(monkeypatch):
    monkeypatch.setattr(type(lab.exercise(KERNEL)), "check", lambda self, *answer, **options: "passed")
    assert lab.exercise(KERNEL).check() == "passed"
    assert not grade(KERNEL, skeleton(KERNEL)).passed


def test_the_report_is_plain_data():
    assert Grade(**json.loads(json.dumps(vars(Grade(KERNEL, False, 0.5, "why", 3))))).share == 0.5


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(exercises()))
def test_every_solution_passes_in_a_fresh_process(name):
    found = grade(name, text_of(name))
    assert found.passed, found.message


@pytest.mark.long
def test_a_compiler_that_uses_up_the_processor_time_is_stopped_and_the_answer_not_judged():
    types = (
        "template <int N, int M> struct F { static constexpr int v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n"
        "template <int M> struct F<0, M> { static constexpr int v = M % 2; };\n"
    )
    text = types + solution("06_swizzle").replace("row % 8", "(row % 8 + 0 * F<24, 0>::v)")
    found = grade("06_swizzle", text, limit_s=10)
    assert found.verdict == "NOT JUDGED" and "used up the 10 s of processor time" in found.message


# ---- The points ----


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "changes", "share"),
    [
        # 1 of 2 counts, beside the result.
        ("06_pipeline", [("stage ^= 1;", "stage ^= 1;\n        __syncthreads();")], 0.67),
        ("06_pipeline", [("load(set ^ 1,", "load(set,")], 0.0),  # a wrong result earns nothing
        ("06_swizzle", [("row % 8", "row % 4")], 0.0),  # no better than what was handed out
        ("06_pipeline", [("__syncthreads();", "")], 0.0),  # a hazard earns nothing
    ],
)
def test_a_right_kernel_that_misses_counts_earns_a_part(name, changes, share):
    text = solution(name)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    found = judged(name, text, 0)
    assert not found.passed and found.share == share, found


@pytest.mark.parametrize(
    "text", ["choice = dict(self=1)", "choice = dict(answer=1)", "choice = dict(seed=1)", "choice = dict(exercise=1)"]
)
def test_names_that_the_judge_itself_uses_are_no_choice(text):
    assert "is checked by exercise.check(" in judged("02_warp_tile", text, 0).message


@pytest.mark.parametrize(("name", "text"), [("00_coalesce", ""), ("02_warp_tile", " \n\t")])
def test_an_empty_cell_is_called_empty(name, text):
    assert judged(name, text, 0).message == "The cell of the answer is empty."


def test_an_unknown_exercise_and_text_that_is_no_number_are_refusals():
    assert "There is no exercise" in judged("99_nothing", "", 0).message
    assert "must be a whole number" in judged("02_warp_tile", "choice = dict(warps_m=True, warps_n='2')", 0).message
    assert "must be a whole number" in judged("02_warp_tile", "choice = dict(warps_m=-1, warps_n=2)", 0).message


def test_a_choice_that_only_a_person_can_read_is_not_judged_and_not_tried_again(monkeypatch):
    real, tried = grading._in_fresh_process, []
    monkeypatch.setattr(grading, "_in_fresh_process", lambda *given: tried.append(given) or real(*given))
    found = grade("02_warp_tile", "best = search(8)\nchoice = dict(warps_m=best, warps_n=8 // best)")
    assert (found.verdict, found.share, len(tried)) == ("NOT JUDGED", 0.0, 1)
    assert "“search(8)”" in found.message and "A person has to look at it" in found.message


@pytest.mark.long
def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "answer.cu"
    path.write_text(RIGHT.replace("__syncthreads();", ""))
    assert grading.main([KERNEL, str(path), "--seed", "5"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("FAIL  0%  seed 5") and "A hazard" in said


def test_the_command_line_says_that_it_could_not_judge(tmp_path, capsys, monkeypatch):
    path = tmp_path / "answer.cu"
    path.write_text(RIGHT)
    monkeypatch.setattr(grading, "_CHILD", "raise SystemExit(1)")
    assert grading.main([KERNEL, str(path), "--seed", "5"]) == 2
    assert capsys.readouterr().out.startswith("NOT JUDGED  –  seed 5\nNot judged: ")


@pytest.mark.long
@pytest.mark.parametrize("length", [60_000, 90_000])
def test_a_long_answer_is_judged_like_a_short_one(length):
    """More than a pipe holds, and a process that takes more than a tick to begin to read."""
    found = grade(KERNEL, f"/* {'x' * length} */\n" + RIGHT, seed=3, patience_s=300)
    assert found.passed, found.message
