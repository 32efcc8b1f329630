"""Exercises: what is accepted, what is refused and why, and that the shipped solutions solve the shipped tasks."""

import dataclasses
from types import SimpleNamespace

import pytest

import gemm_lab as lab
from gemm_lab.courses import rooms
from gemm_lab.lab import Kernel
from gemm_lab.notebook import speed_beside
from gemm_lab.notebook.exercises import WrongAnswer, exercises, kernel_of, remarks
from gemm_lab.notebook.judges import kernel_judge
from gemm_lab_classroom.grading import judged
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError, SimulatorError

SOLUTIONS = {path.stem: path for room in rooms() for path in room.folder.glob("solutions/*")}


def solution(name):
    """The learner's kernel with the shipped solution in its region."""
    wanted = lab.exercise(name).criteria
    text = SOLUTIONS[name].read_text()
    return lab.kernel(wanted["kernel"]).edit(alias="mine", **{wanted["region"]: text})


@pytest.fixture
def running(monkeypatch):
    """Pretend that kernels run: `running(…)` decides what a run says, and with `on_gpu` what one on a GPU says instead."""

    def pretend(passed=True, message="", on_gpu=None, **counts):
        def run(self, n, m, k, backend=None, **options):
            told = {"passed": passed, "message": message, **counts, **((on_gpu or {}) if backend == "gpu" else {})}
            mma = SimpleNamespace(opcode="mma.sync.aligned.m16n8k8.row", executions=m * n * k)
            return SimpleNamespace(
                kernel=self,
                m=m,
                n=n,
                k=k,
                hazards=list,
                report=SimpleNamespace(sites=[mma]),
                compiled=self.compile_as_taught(),
                **told,
            )

        monkeypatch.setattr(Kernel, "run", run)

    return pretend


# ---- The tasks ----


def test_every_task_has_a_solution_and_nothing_else_lies_there():
    assert set(SOLUTIONS) == set(exercises())


def test_an_unknown_exercise_names_near_ones():
    with pytest.raises(LabError, match="06_swizzle"):
        lab.exercise("6_swizle")


@pytest.mark.parametrize("name", sorted(exercises()))
def test_a_task_shows_itself_with_its_hint_folded(name):
    task = lab.exercise(name)
    page = task._repr_html_()
    assert task.title in page and "<details" in page and page.index("<details") < page.index("hint")
    assert task.hint not in repr(task)


# ---- Kernels ----


@pytest.mark.long
def test_conflicts_decide_over_the_swizzle(running):
    task, mine = lab.exercise("06_swizzle"), solution("06_swizzle")
    running(conflict_degree=1.0)
    assert ("wavefronts for each ideal one", "1.00") in task.check(mine).facts
    running(conflict_degree=4.5)
    with pytest.raises(WrongAnswer, match=r"4\.50 wavefronts for each ideal one; 1 is possible"):
        task.check(mine)
    running(conflict_degree=None)  # no access to shared memory, so nothing to divide by
    assert "wavefronts for each ideal one" not in dict(task.check(mine).facts)


def test_a_gpu_has_the_last_word(running, monkeypatch):
    task, mine = lab.exercise("06_swizzle"), solution("06_swizzle")
    monkeypatch.setenv("GEMM_LAB_SMS", "40")  # of the GPU that is pretended
    monkeypatch.setattr(kernel_judge, "resolve_backend", lambda wanted: "gpu")
    monkeypatch.setattr(Kernel, "runs_here", lambda self: True)
    running(conflict_degree=1.0)
    assert "solved" in task.check(mine)._repr_html_()
    running(conflict_degree=1.0, on_gpu={"passed": False, "message": "D[0, 8] is 3."})
    with pytest.raises(WrongAnswer, match=r"wrong on this GPU: at 512 × 256 × 192, D\[0, 8\] is 3"):
        task.check(mine)
    monkeypatch.setattr(Kernel, "runs_here", lambda self: False)
    assert "solved" in task.check(mine)._repr_html_()


@pytest.mark.long
def test_on_a_gpu_the_speed_beside_the_rung_is_an_extra(running, monkeypatch):
    task, mine = lab.exercise("06_swizzle"), solution("06_swizzle")
    running(conflict_degree=1.0)
    monkeypatch.setattr(speed_beside, "resolve_backend", lambda wanted: "gpu")

    def timed(kernels, sizes, **options):
        assert sizes == [(2048, 2048, 2048)] and options["regime"] == "burst"
        return [SimpleNamespace(kernel=k.label, tflops=60.0 if k.edited else 27.04) for k in kernels]

    monkeypatch.setattr(speed_beside, "benchmark_kernels", timed)
    facts = task.check(mine).facts
    assert ("TFLOPS at 2048 × 2048 × 2048", "60.0") in facts and ("of t4/02_vectorized_copy", "27.0") in facts

    def busy(*anything, **options):
        raise LabError("The GPU is busy.")

    monkeypatch.setattr(speed_beside, "benchmark_kernels", busy)
    assert "solved" in repr(task.check(mine)) and "TFLOPS" not in repr(task.check(mine))


def test_a_wrong_result_is_refused_with_its_place(running):
    running(passed=False, message="D[0, 8] is <nan>.")
    with pytest.raises(WrongAnswer, match=r"At 256 × 128 × 64: D\[0, 8\]") as caught:
        lab.exercise("06_swizzle").check(solution("06_swizzle"))
    page = caught.value._repr_html_()
    assert "&lt;nan&gt;" in page and "hint" in page


def test_a_refusal_names_the_learners_line_and_no_line_of_the_ptx(running):
    running(
        passed=False, message="A hazard: cell:4, st.shared.f32, PTX line 310: not ordered with cell:5, ld, PTX line 9."
    )
    with pytest.raises(WrongAnswer, match=r"cell:4, st.shared.f32: not ordered with cell:5, ld\.$"):
        lab.exercise("06_swizzle").check(solution("06_swizzle"))


def test_a_page_shows_the_line_and_folds_headers_and_instructions():
    said = (
        "A hazard: cell:6 (inlined from ptx/tma.cuh:38), cp.async.bulk.tensor.2d.global: thread (0, 0, 0) reads what "
        "thread (1, 0, 0) wrote at cell:4, st.shared.f32, PTX line 7: there is no barrier between them."
    )
    page = WrongAnswer(lab.exercise("10_store"), [said])._repr_html_()
    short = "A hazard: cell:6: thread (0, 0, 0) reads what thread (1, 0, 0) wrote at cell:4: there is no barrier"
    assert short in page and page.index(short) < page.index("<details") < page.index(said)
    plain = WrongAnswer(lab.exercise("10_store"), ["At 64 × 64 × 64: D[0, 8] is 3, st.shared is not meant."])
    assert plain._repr_html_().count("<details") == 1, "the hint alone: nothing was left out"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("10_store", ("tma_store_wait_read<1>", "tma_store_wait_read < 0 >")),
        ("11_accumulators", ("tcgen05_fence_before_thread_sync();", "// no tcgen05_fence_before_thread_sync")),
    ],
)
def test_a_right_answer_hears_what_it_could_do_better_and_the_rungs_text_hears_nothing(name, change):
    wanted, text = lab.exercise(name).criteria, SOLUTIONS[name].read_text()
    assert remarks(text, wanted) == [] and text.count(change[0]) == 1
    assert len(remarks(text.replace(*change), wanted)) == 1


@pytest.mark.long
def test_a_remark_stands_in_the_verdict():
    wanted = lab.exercise("10_store").criteria
    text = SOLUTIONS["10_store"].read_text().replace("tma_store_wait_read<1>", "tma_store_wait_read<0>")
    solved = lab.exercise("10_store").check(kernel_of(lab.exercise("10_store"), text))
    assert solved.facts[0] == ("mind", wanted["remarks"][0]["says"])


def test_more_shared_memory_than_allowed_is_refused():
    task = lab.exercise("06_swizzle")
    narrow = dataclasses.replace(task, criteria={**task.criteria, "shared_bytes": 49151})
    with pytest.raises(WrongAnswer, match="49,152 bytes of shared memory; 49,151"):
        narrow.check(solution("06_swizzle"))


def test_what_is_no_kernel_of_this_exercise_is_refused_with_a_sentence():
    task, mine = lab.exercise("06_swizzle"), solution("06_swizzle")
    for answer in (None, "t4/02", 8):
        with pytest.raises(ConfigError, match=r"exercise\.check\(mine\)"):
            task.check(answer)
    with pytest.raises(ConfigError, match=r"exercise\.check\(mine\)"):
        task.check(mine, block_m=128)
    with pytest.raises(ConfigError, match="your edit of t4/02_vectorized_copy"):
        task.check(lab.kernel("t4/02"))
    third = lab.kernel("t4/03")
    with pytest.raises(ConfigError, match="not t4/03_swizzled"):
        task.check(third.edit(layout=third.regions["layout"]))


def test_a_kernel_that_does_not_compile_says_where():
    mine = lab.kernel("t4/02").edit(first_line=2, layout="int chunk_a(int row, int chunk) { return rwo; }")
    with pytest.raises(SimulatorError, match="cell, line 2"):
        lab.exercise("06_swizzle").check(mine)


@pytest.mark.parametrize(
    ("name", "change", "grade"),
    [
        ("00_coalesce", ("  const int row", '  asm volatile(R"(// nothing)");\n  const int row'), "a raw string"),
        ("00_coalesce", ("const int row =", "const int row = float(threadIdx.x) * 0 +"), "floating-point numbers"),
        (
            "02_inner_product",
            ("smem_a[thread_m][k] * smem_b[k][thread_n]", "__fmul_ru(smem_a[thread_m][k], smem_b[k][thread_n])"),
            "mul.rp",
        ),
    ],
)
def test_a_self_check_refuses_no_way_of_writing_that_a_grade_refuses(name, change, grade):
    text = SOLUTIONS[name].read_text()
    assert change[0] in text
    text = text.replace(*change)
    task = lab.exercise(name)
    assert "solved" in repr(task.check(kernel_of(task, text)))
    assert grade in judged(name, text, 5).message


@pytest.mark.long
def test_each_tile_has_its_facts():
    facts = dict(lab.exercise("05_every_row").check(solution("05_every_row")).facts)
    assert facts["shared memory, BLOCK_K = 16"] == "12,288 B" and facts["shared memory, BLOCK_K = 64"] == "49,152 B"


# ---- Choices ----


@pytest.mark.parametrize(
    "choice, says",
    [
        ({}, r"check\(block_m=…, block_n=…, block_k=…\)"),
        ({"block_m": 256, "block_n": 256}, r"block_k=….* no other argument: block_k is missing\.$"),
        ({"BLOCK_M": 256, "block_n": 256, "block_k": 32}, r": block_m is missing, BLOCK_M is none of them\.$"),
        ({"block_m": 256, "block_n": 256, "block_k": 32, "stages": 2}, "is checked by exercise.check"),
        ({"block_m": 256, "block_n": 256, "block_k": 0}, "block_k must be a whole number"),
        ({"block_m": 256, "block_n": 256.0, "block_k": 32}, "block_n must be a whole number"),
        ({"block_m": True, "block_n": 256, "block_k": 32}, "block_m must be a whole number"),
    ],
)
def test_what_is_no_choice_is_refused_with_a_sentence(choice, says):
    with pytest.raises(ConfigError, match=says):
        lab.exercise("01_block_tile").check(**choice)


def test_a_tile_wants_all_its_numbers():
    with pytest.raises(ConfigError, match=r"check\(bits=…, base=…, shift=…\)"):
        lab.exercise("05_bits").check(bits=2)


@pytest.mark.parametrize("numbers, named", [((2, 4, 3), {}), ((2, 4), {"shift": 3}), ((2,), {"base": 4, "shift": 3})])
def test_numbers_without_names_are_refused_with_the_form_that_works(numbers, named):
    with pytest.raises(ConfigError, match=r"check\(bits=…, base=…, shift=…\), with the names of the numbers"):
        lab.exercise("05_bits").check(*numbers, **named)


def test_no_padding_is_an_answer_and_its_conflict_is_counted():
    with pytest.raises(WrongAnswer, match="ldmatrix.x4 needs 768 wavefronts for the tile; 192 is possible"):
        lab.exercise("05_padding").check(pad_bytes=0)
    with pytest.raises(ConfigError, match="pad_bytes must be a whole number ≥ 0, not -16"):
        lab.exercise("05_padding").check(pad_bytes=-16)


def test_a_positional_answer_to_a_choice_is_refused():
    with pytest.raises(ConfigError, match="block_m=…"):
        lab.exercise("01_block_tile").check(lab.kernel("t4/02"))
