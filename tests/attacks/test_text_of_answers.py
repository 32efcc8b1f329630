"""The text of an answer cannot say anything to the compiler that the reader of that text has not seen."""

import random

import pytest

from gemm_lab.config import data_dir
from gemm_lab.notebook.exercises import WrongAnswer, exercises, judge_kernel
from gemm_lab.notebook.judges import kernel_judge
from gemm_lab.notebook.judges.cuda_tokens import tokens
from gemm_lab_classroom.judge.answer_text import refusals
from gemm_lab_classroom.judge.strict_rules import StrictRules
from gemm_lab_classroom.skeletons import solution
from gpu_simulator import compiler
from gpu_simulator.compiler.compiler_process import CompilerProcess
from tools.wrong_answers import kernel_of, tricks

HEADERS = [str(data_dir("kernels") / "include")]
KERNELS = sorted(name for name, task in exercises().items() if task.judge == "kernel")
SOLUTIONS = {name: solution(name) for name in KERNELS}
# Every control character but the two that may stand, what other programs take for the end of a line, what looks like
# nothing, and what turns text round.
CONTROL = [chr(code) for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"]
CONTROL += list(
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2069\ufeff\ufff9"
)


@pytest.mark.parametrize("character", CONTROL, ids=lambda character: f"U+{ord(character):04X}")
def test_each_control_character_is_refused_in_code_in_a_comment_and_in_a_string(character):
    for text in (f"x;{character}y;", f"// a{character}b\n", f"/* a{character}b */", f'printf("a{character}b");'):
        (first, *_) = refusals(text)
        assert f"U+{ord(character):04X}" in first and first.startswith("Line 1: ")


def test_lines_that_end_as_on_windows_are_the_same_answer():
    for name, text in SOLUTIONS.items():
        assert refusals(text.replace("\n", "\r\n")) == [], name


def test_letters_of_any_script_may_stand_in_comments():
    for words in ("Größe", "размер", "大きさ", "اندازه\u200cها", "👩\u200d💻", "– “ ” …"):
        assert refusals(f"int x = 1;  // {words}\n/* {words} */") == []


@pytest.mark.sampled(every=4, first=1)
@pytest.mark.parametrize("name", KERNELS)
def test_a_trick_is_refused_for_its_text_before_anything_compiles(name, monkeypatch):
    def never(*_, **__):
        raise AssertionError("it was compiled")

    monkeypatch.setattr(compiler, "compile", never)
    for what, (before, behind, says) in tricks().items():
        with pytest.raises(WrongAnswer) as refused:
            answer = kernel_of(exercises()[name], before + SOLUTIONS[name] + behind)
            judge_kernel(exercises()[name], answer, {}, rules=StrictRules())
        assert says in str(refused.value), what


# ---- Against the compiler itself ----

SAMPLES = 150
PIECES = [
    " ", "\t", "\f", "\v", "\r", "\n", "\\\n", "\\\r\n", "\\ \n", "??/\n", "/*", "*/", "//", "/", "*", '"', "'", 'R"(', ')"', "u8'", "1'0", "%:", "#", "??=", "a", ";", "\\", "<%", "%>", "0x1p", "é", "\u2028", "\u00a0", "\ufeff", "/**/", "// x\n", "'\"'", '"//"', "\x1a", "\x7f", "%", ":", "(", ")", "$", "@", "L", "u8", "R", "_", "\x85", "\u3000",
]  # fmt: skip
DIRECTIVES = [
    "define ZAP 1",
    "define  ZAP",
    "\tdefine ZAP",
    "/**/define ZAP",
    "de\\\nfine ZAP",
    "pragma unroll\n#define ZAP",
]
BEHIND = "\n#ifdef ZAP\n#error the compiler has read it\n#endif\n"


def sample(draw):
    """A text in which a #define stands somewhere, behind white space and open things of every kind."""
    before = "".join(draw.choice(PIECES) for _ in range(draw.randint(0, 6)))
    mark = draw.choice(["#", "%:", "??=", "\f#", "\v%:", "\r#", "#\\\n", "\n#"])
    return before + mark + draw.choice(DIRECTIVES) + "".join(draw.choice(PIECES) for _ in range(draw.randint(0, 3)))


@pytest.fixture(scope="module")
def nvrtc():
    made = CompilerProcess(readable=())
    yield made
    made.end()


def test_what_the_compiler_takes_for_a_directive_the_rules_do_too(nvrtc):
    """A #define that the compiler has seen must have been refused; so must one that it would see behind an open end."""
    draw, read = random.Random(1), 0
    for _ in range(SAMPLES):
        text = sample(draw)
        log, _, _ = nvrtc.ask(text + BEHIND, {}, "sm_75", "kernel", HEADERS, [])
        if "the compiler has read it" in log:
            read += 1
            assert refusals(text), repr(text)
    assert read >= SAMPLES // 20, "the samples reach the compiler"


def test_tokens_cover_the_text_without_a_gap():
    draw = random.Random(2)
    for _ in range(1000):
        text = "".join(draw.choice(PIECES + list("abc{}#\n")) for _ in range(draw.randint(0, 30)))
        assert "".join(token.text for token in tokens(text)) == text
        refusals(text)


def test_the_judge_compiles_the_text_that_was_read(monkeypatch):
    """With CR LF in it the answer is normalised once, and that text goes on."""
    seen = []

    def stop(source, **_):
        seen.append(source)
        raise compiler.CompileError("stop", [])

    monkeypatch.setattr(compiler, "compile", stop)
    task = exercises()["06_swizzle"]
    with pytest.raises(compiler.CompileError):
        kernel_judge.judge(kernel_of(task, SOLUTIONS["06_swizzle"].replace("\n", "\r\n")), task.criteria)
    assert "\r" not in seen[0]
