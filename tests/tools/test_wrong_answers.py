"""Every shipped wrong answer is refused, with the reason that helps; every other right one is accepted.

The answers stand in `wrong_answers` of each room of the lessons. `python -m tools.wrong_answers` counts them.
"""

import pytest

import gemm_lab as lab
from gemm_lab.courses import rooms
from gemm_lab.notebook import exercises as exercises_module
from gemm_lab.notebook.exercises import exercises, kernel_of
from gemm_lab_classroom.judge.drawn_sizes import drawn_sizes
from gpu_simulator.errors import ConfigError
from tools import wrong_answers
from tools.wrong_answers import Answer, altered, answers, tricks

TASKS = exercises()
ANSWERS = {answer.name: answer for name in TASKS for answer in answers(name) if answer.kind != "trick"}
SLOW = {name for name in ANSWERS if "spins for ever" in name or "thinned out" in name}  # millions of instructions
# Exercises over whose solutions the judge takes long; one of each notebook is left.
LARGE = {
    "02_outer_product",
    "02_wide_reads",
    "06_pipeline",
    "07_groups",
    "08_consumer",
    "10_consumer",
    "10_multicast",
    "10_store",
    "10_products",
    "11_accumulators",
    "11_release",
}


def quick() -> set[str]:
    """The solution of each exercise and one of its wrong answers: of the first exercise its first, and so on."""
    chosen = set()
    for number, task in enumerate(TASKS):
        own = [name for name, answer in ANSWERS.items() if answer.exercise.name == task and name not in SLOW]
        wrong = [name for name in own if ANSWERS[name].kind == "wrong"]
        chosen |= {name for name in own if ANSWERS[name].kind == "solution" and task not in LARGE} | {
            wrong[number % len(wrong)]
        }
    return chosen


LONG = ANSWERS.keys() - quick()


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    """On a GPU the card of a right answer has a speed, too (`test_exercises`): here the verdict is asked for."""
    monkeypatch.setattr(exercises_module, "speed_beside", lambda answer: [])


@pytest.mark.timeout(900)
@pytest.mark.sampled(every=14)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in ANSWERS]
)
def test_the_judge_is_right_about(name):
    assert ANSWERS[name].problem() == ""


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.judge == "kernel"])
def test_no_trick_gets_by(name):
    tried = [answer for answer in answers(name) if answer.kind == "trick"]
    assert len(tried) == len(tricks()) >= 60
    assert [problem for trick in tried if (problem := trick.problem())] == []


def test_they_are_many_and_each_judge_meets_several():
    wrong = [answer for answer in ANSWERS.values() if answer.kind == "wrong"]
    print(f"{len(TASKS)} exercises, {len(wrong)} wrong answers, {len(tricks())} tricks on each kernel")
    assert len(wrong) >= 150
    for name in TASKS:
        assert sum(answer.exercise.name == name for answer in wrong) >= 3, f"{name} has few wrong answers"
    assert all(len(answer.says) >= 8 and answer.what for answer in wrong)


def test_nothing_lies_there_that_belongs_to_no_exercise():
    assert {path.stem for room in rooms() for path in room.folder.glob("wrong_answers/*")} <= {*TASKS}


# ---- What would go wrong with the table itself ----


def test_a_change_of_words_that_are_not_there_is_refused():
    with pytest.raises(ConfigError, match="does not hold “nothing like it”"):
        altered("06_swizzle", {"changes": [["nothing like it", ""]]})
    with pytest.raises(ConfigError, match="does not hold “nothing like it”"):
        altered("06_swizzle", {"drop": ["nothing like it"]})


def test_a_judge_that_is_wrong_is_reported(capsys, monkeypatch):
    task = TASKS["05_padding"]
    assert (
        Answer(task, "wrong", "in fact right", "x" * 20, choice={"pad_bytes": 16}).problem()
        == "05_padding: in fact right: accepted."
    )
    assert "refused, and it is right" in Answer(task, "right", "in fact wrong", "", choice={"pad_bytes": 8}).problem()
    assert (
        "refused without “other words”" in Answer(task, "wrong", "8", "other words", choice={"pad_bytes": 8}).problem()
    )
    monkeypatch.setattr(
        wrong_answers, "answers", lambda name: [Answer(task, "wrong", "right", "no", choice={"pad_bytes": 16})]
    )
    assert wrong_answers.main(["05_padding"]) == 1
    assert "05_padding: right: accepted." in capsys.readouterr().out


def test_the_counts_are_printed(capsys):
    assert wrong_answers.main(["05_padding", "05_bits"]) == 0
    assert capsys.readouterr().out.split("\n")[-3].split() == ["2", "exercises", "2", "9", "0", "9"]


# ---- What the judge takes from a cell ----


@pytest.mark.long
def test_settings_of_the_cell_do_not_count():
    """Right with BLOCK_K = 32 only: the judge goes back to the exercise's own settings."""
    task = TASKS["06_swizzle"]
    text = "\n".join(
        f"__device__ int chunk_{x}(int row, int chunk) {{ return row * (BLOCK_{y} / 8) + "
        f"(chunk ^ {'row / 2 % 4' if x == 'a' else 'row % 8'}); }}"
        for x, y in ("aK", "bN")
    )
    refusal = "wavefronts for each ideal one; 1 is possible"
    assert refusal in Answer(task, "", "", refusal, text).refusal()
    with pytest.raises(lab.LabError, match=refusal):
        task.check(kernel_of(task, text)(BLOCK_K=32))


def test_another_region_or_the_whole_source_is_refused():
    task = TASKS["06_swizzle"]
    base = lab.kernel("t4/02")
    for made in (
        base.rewrite(base.source),
        base.edit(load=base.regions["load"]),
        base.edit(layout=base.regions["layout"], load=base.regions["load"]),
    ):
        with pytest.raises(ConfigError, match="%%kernel t4/02_vectorized_copy --region layout"):
            task.check(made)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 20_260_101])
def test_a_solution_is_right_with_any_seed(seed):
    for name in ("03_ldmatrix", "06_two_buffers", "09_copies_ahead"):
        (right,) = (answer for answer in answers(name) if answer.kind == "solution")
        assert right.refusal(seed) is None


def test_an_answer_made_for_one_seed_is_refused_with_that_seed_and_others():
    """It looks at the first element of A and multiplies only if it is the one that it knows."""
    task = TASKS["02_inner_product"]
    from gemm_lab.measure.inputs import make_inputs

    first = float(make_inputs(lab.kernel("simt/03").problem, 64, 64, 32, "integers", 7).a[0, 0])
    text = f"if (gmem_a[0] == {first}f)\n" + next(a.text for a in answers("02_inner_product") if a.kind == "solution")
    assert Answer(task, "", "", "", text.replace("    __sync", "__sync")).refusal(7) is not None


def test_an_answer_that_knows_the_sizes_of_the_exercise_is_refused_with_a_drawn_size():
    task = TASKS["02_inner_product"]
    sizes = " || ".join(f"(M == {m} && N == {n} && K == {k})" for m, n, k in task.criteria["sizes"])
    right = next(answer.text for answer in answers("02_inner_product") if answer.kind == "solution")
    knows = Answer(task, "", "", "", f"    if ({sizes}) {{\n{right}\n    }}")
    refusal = knows.refusal(0)
    assert "+Inf in all of one row" in refusal or "zeros that meet infinities" in refusal, "launches at other sizes"
    assert all("elements are wrong" in knows.refusal(seed) for seed in (1, 2, 3))


@pytest.mark.long
def test_a_right_answer_with_mma_that_never_run_is_refused():
    """They could stand in for the loop that is counted."""
    idle = """  if (K < 0) {
    uint32_t d[2] = {0u, 1u};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %2}, {%2}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1]) : "r"(4u));
  }
"""
    right = next(answer.text for answer in answers("06_addresses") if answer.kind == "solution")
    refusal = Answer(TASKS["06_addresses"], "", "", "", idle + right).refusal()
    assert "1 of its tensor instructions never run" in refusal and "cell, line 5" in refusal and "PTX" not in refusal


def test_a_drawn_size_is_one_that_the_kernel_can_do_and_no_larger_than_those_of_the_exercise():
    for task in TASKS.values():
        if task.judge != "kernel":
            continue
        base, sizes = lab.kernel(task.criteria["kernel"]), task.criteria["sizes"]
        assert drawn_sizes(base, task.criteria, 0) == []
        drawn = {drawn_sizes(base, task.criteria, seed)[0] for seed in range(1, 40)}
        for size in drawn:
            base.spec.require_size(base.config, *size)
            assert all(edge <= max(other[axis] for other in sizes) for axis, edge in enumerate(size))
        assert drawn_sizes(base, task.criteria, 7) == drawn_sizes(base, task.criteria, 7)
