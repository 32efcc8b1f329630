"""`%%kernel` cells: how the line is read, what is bound, where an error points, what a verdict takes."""

import ast
import os
import re

import nbformat
import pytest
from nbclient import NotebookClient

import gpu_runner as device
from gemm_lab import catalog
from gemm_lab.lab import Kernel, Run, kernel, on_simulator
from gemm_lab.lab.actions import running
from gemm_lab.lab.actions.source import require_form
from gemm_lab.notebook import cells
from gemm_lab.notebook.cells import WrongResult, below, error_page, page_of, parse_line, run_cell
from gemm_lab.notebook.exercises import exercise
from gemm_results.errors import LabError
from gpu_simulator.compiler import CompileError
from gpu_simulator.compiler.compiler_process import CompilerProcess
from gpu_simulator.errors import ConfigError, LaunchError, SizeError

LAYOUT = """// Where 16-byte chunk (row, chunk) of a tile lies in shared memory, counted in chunks.
__device__ __forceinline__ int chunk_a(int row, int chunk) { return row * (BLOCK_K / 8) + (chunk ^ row % 8); }
__device__ __forceinline__ int chunk_b(int row, int chunk) { return row * (BLOCK_N / 8) + (chunk ^ row % 8); }
"""
LINE = "t4/03_swizzled --region layout --as mine"


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(("region", "words"), [("layout", "chunk ^ row % 8"), ("multiply", "ldmatrix_x4_trans(")])
def test_a_later_rung_shows_its_text_when_its_exercise_is_solved(region, words, monkeypatch):
    known = set()
    monkeypatch.setattr(cells, "solved_so_far", lambda: known)
    line, names = f"t4/03_swizzled --region {region} --as mine --after 06_swizzle", {}

    def shown():
        run = run_cell(line, "// When the exercise is solved …\n", names)
        assert run.passed and isinstance(names["mine"], Kernel)
        return re.sub("<[^>]*>", "", cells.page_of(run, line) + below(run, line))

    assert words not in shown()
    known.add("06_swizzle")
    assert words in shown()


# ---- The line ----


def test_a_line_with_everything():
    line = parse_line("t4/03 --region layout --as mine -n 1024 --set BLOCK_K=64 --set BLOCK_N=64 --no-run --exercise")
    assert (line.name, line.region, line.alias, line.n) == ("t4/03", "layout", "mine", 1024)
    assert line.settings == {"BLOCK_K": 64, "BLOCK_N": 64}
    assert (line.run, line.exercise) == (False, True)


def test_a_short_line_runs_at_the_default_size():
    line = parse_line("t4/03")
    assert (line.region, line.alias, line.settings, line.run, line.exercise) == (None, None, {}, True, False)
    assert line.n > 0


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "needs the name of a kernel"),
        ("t4/03 --regon layout", "--region REGION"),
        ("t4/03 -n many", "-n"),
        ("t4/03 --as 3rd", "“3rd” cannot be a variable"),
        ("t4/03 --as class", "“class” cannot be a variable"),
        ("t4/03 --as None", "“None” cannot be a variable"),
        ("t4/03 —as mine", "type the line with"),
        ("“t4/03” --as mine", "type the line with"),
        ("# only a comment", "needs the name of a kernel"),
        ("t4/03 --set BLOCK_K", "“BLOCK_K” is not a setting"),
        ("t4/03 --set BLOCK_K=big", "BLOCK_K=32"),
        ("t4/03 --as 'mine", "%%kernel: No closing quotation"),
    ],
)
def test_a_line_that_cannot_be_read_says_how_it_is_written(text, says):
    with pytest.raises(ConfigError, match=".") as caught:
        parse_line(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "line, kind, says",
    [
        ("t4/99 --region layout", LabError, "t4/03_swizzled"),
        ("t4/03 --region swizzle", ConfigError, "“layout”"),
        ("t4/03 --region layout -n 500", SizeError, "512"),
        ("t4/03 --region layout --set BLOCK_Q=3", ConfigError, "BLOCK_Q"),
    ],
)
def test_names_sizes_and_settings_that_do_not_exist(line, kind, says):
    with pytest.raises(kind) as caught:
        run_cell(line, LAYOUT, {})
    assert says in str(caught.value)


# ---- Compile, bind, run ----


def test_a_cell_compiles_and_binds_a_kernel():
    names = {}
    shown = run_cell(LINE, LAYOUT, names)
    assert isinstance(shown, Run) and shown.passed
    assert isinstance(names["mine"], Kernel) and names["mine"].edited
    assert "as mine" in names["mine"].label


def test_a_module_keeps_its_name():
    names = {"lab": ast}
    with pytest.raises(ConfigError, match="“lab” is a module here"):
        run_cell("t4/03_swizzled --region layout --as lab --no-run # a remark", LAYOUT, names)
    assert names == {"lab": ast}


def test_no_run_shows_the_kernel_and_settings_reach_it():
    names = {}
    made = run_cell(LINE + " --no-run --set BLOCK_M=128", LAYOUT, names)
    assert made is names["mine"] and made.config["BLOCK_M"] == 128


def test_a_cell_can_leave_out_the_speed(monkeypatch):
    asked = []

    def run(kernel, n, m, k, options):
        asked.append((options.timed, options.predict))
        return Run(kernel, "simulator", n, n, n, kernel.compile(), passed=True, message="")

    monkeypatch.setattr(running, "run", run)
    for line in (LINE, LINE + " --no-speed"):
        run_cell(line, LAYOUT, {})
    assert asked == [(True, False), (False, False)]


def test_a_cell_without_a_region_is_the_whole_kernel():
    source = catalog.kernel("t4/03").source
    made = run_cell("t4/03 --no-run", source, {})
    assert made.whole and made.compile().registers > 0
    number = next(i for i, text in enumerate(source.split("\n"), 1) if text.startswith("constexpr int MMA_M"))
    with pytest.raises(CompileError) as caught:
        run_cell("t4/03", source.replace("constexpr int MMA_M", "constexpr innt MMA_M"), {})
    assert caught.value.diagnostics[0].line == number + 1, "the magic is line 1 of the cell"


@pytest.mark.parametrize(
    "wrong, line, word",
    [
        (LAYOUT.replace("row % 8", "rwo % 8", 1), 3, "rwo"),
        (LAYOUT.replace("(chunk ^ row % 8); }\n", "(chunk ^ row % 8) }\n", 1), 3, "expected a"),
        (LAYOUT + "#error stop here\n", 5, "stop here"),
        ("int chunk_a(int, int);\n" + LAYOUT.replace("chunk ^", "nothing ^"), 4, "nothing"),
    ],
)
def test_an_error_names_the_learners_line_and_keeps_the_old_binding(wrong, line, word):
    names = {"mine": "the old one", "other": 1}
    with pytest.raises(CompileError) as caught:
        run_cell(LINE, wrong, names)
    first = caught.value.diagnostics[0]
    assert (first.file, first.line) == ("cell", line) and word in first.message
    assert names == {"mine": "the old one", "other": 1}


@pytest.mark.parametrize(
    "text, line, says",
    [
        ("  const int row = 0, col = 0;\n  }\n", 3, "this } closes a block that does not begin in this cell"),
        ("  const int row = 0, col = 0;  // {\n  if (M > 0) {\n", 3, "this { is not closed"),
        ("", 2, 'print(lab.kernel("simt/01_naive").regions["place"])'),
        ("  // nothing\n/* at\nall */\n\t\n", 2, "there is no code in this cell"),
    ],
)
def test_braces_and_empty_cells_are_told_of_the_cell_itself(text, line, says):
    with pytest.raises(CompileError) as caught:
        run_cell("simt/01 --region place", text, {})
    (note,) = caught.value.diagnostics
    assert (note.file, note.line) == ("cell", line) and says in note.message


def test_an_empty_cell_for_a_whole_kernel_names_its_source():
    with pytest.raises(CompileError, match="lab.kernel.*source"):
        run_cell("simt/01", "\n", {})


@pytest.mark.parametrize(
    "bounds, parameters, says",
    [
        (
            "__launch_bounds__(32)",
            "",
            "Declare it as gemm(const float* gmem_a, const float* gmem_b, float* gmem_d, int M,",
        ),
        ("__launch_bounds__(32)", "float* a, float* b, float* d, int M, int N", "int M, int N, int K)"),
        ("__launch_bounds__(32)", "float* a, float* b, float* d, double M, int N, int K", "int M, int N, int K)"),
        ("__launch_bounds__(32)", "int M, int N, int K, float* a, float* b, float* d", "Declare it as gemm("),
        ("__launch_bounds__(32)", "float4 a, float* b, float* d, int M, int N, int K", "Declare it as gemm("),
        ("", "float* a, float* b, float* d, int M, int N, int K", "Write __launch_bounds__(…) between void and gemm"),
    ],
)
def test_an_entry_that_cannot_be_launched_says_how_it_is_written(bounds, parameters, says):
    with pytest.raises(LaunchError) as caught:
        run_cell("simt/01 -n 32", f'extern "C" __global__ void {bounds} gemm({parameters}) {{}}\n', {})
    assert says in str(caught.value)


def test_every_rung_has_the_form_that_a_whole_kernel_is_asked_for():
    for name in catalog.kernels():
        made = kernel(name)
        require_form(made.rewrite(made.source), made.compile_as_taught())


def test_what_breaks_further_down_is_left_out():
    with pytest.raises(CompileError) as caught:
        run_cell(LINE, "foo\n" + LAYOUT, {})
    assert {note.file for note in caught.value.diagnostics} == {"cell"}


def test_an_error_outside_the_cell_is_still_shown():
    with pytest.raises(CompileError) as caught:
        run_cell(LINE, LAYOUT.replace("chunk_b", "chunk_c"), {})
    assert caught.value.diagnostics[0].file == "03_swizzled.cu" and "chunk_b" in str(caught.value)


def test_refused_inline_ptx_names_the_learners_line():
    wrong = catalog.kernel("t4/03").regions["load"].text + '\n    asm volatile("add.s64 %r1, 1;");\n'
    with pytest.raises(CompileError) as caught:
        run_cell("t4/03 --region load", wrong, {})
    first = caught.value.diagnostics[0]
    assert (first.file, first.line) == ("cell", wrong.count("\n") + 1) and "add.s64" in first.message


# ---- Wrong results ----


def test_a_wrong_result_is_an_error_with_the_verdict(monkeypatch):
    def wrong(kernel, n, m, k, asked):
        return Run(kernel, "gpu", n, n, n, kernel.compile(), passed=False, message="D[0, 8] is 3, it should be <5>.")

    monkeypatch.setattr(running, "run", wrong)
    names = {}
    with pytest.raises(WrongResult, match="it should be") as caught:
        run_cell(LINE, LAYOUT, names)
    assert names["mine"].edited, "it compiles, so the learner can look into it"
    page = error_page(caught.value)
    assert "FAIL" in page and "&lt;5&gt;" in page


def test_the_verdict_on_a_broken_line_needs_one_compilation_and_one_small_launch(empty_cache, monkeypatch):
    """Edit a region, break one line: a compile error before anything runs, or a wrong result of few steps."""
    monkeypatch.setenv("GEMM_LAB_BACKEND", "simulator")
    compiled, launched, real_ask, real_launch = [], [], CompilerProcess.ask, on_simulator.launch

    def launch(*arguments, **options):
        found = real_launch(*arguments, **options)
        launched.append(found[1])
        return found

    monkeypatch.setattr(CompilerProcess, "ask", lambda self, *question: compiled.append(1) or real_ask(self, *question))
    monkeypatch.setattr(on_simulator, "launch", launch)
    with pytest.raises(CompileError):
        run_cell(LINE, LAYOUT.replace("row % 8", "rwo % 8", 1), {})
    assert (len(compiled), launched) == (1, [])
    with pytest.raises(WrongResult):
        run_cell(LINE, LAYOUT.replace("return row * (BLOCK_K / 8) + (chunk ^ row % 8)", "return chunk"), {})
    assert len(compiled) == 2 and len(launched) == 1 and launched[0].steps < 30_000


# ---- In a real notebook ----

SESSION = {
    "load": "import gemm_lab as lab\n%load_ext gemm_lab\nbefore = 41",
    "broken": f"%%kernel {LINE}\n{LAYOUT.replace('row % 8', 'rwo % 8', 1)}",
    "unknown": "lab.kernel('t4/99')",
    "python": "1 / 0",
    "fixed": f"%%kernel {LINE}\n{LAYOUT}",
    "after": "before + 1, mine.name",
}


@pytest.fixture(scope="module")
def session():
    """Outputs and reply status of each cell of SESSION, run in a real kernel that goes on after errors."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in SESSION.values()])
    replies = {}

    def executed(cell, cell_index, execute_reply):
        replies[cell_index] = execute_reply["content"]["status"]

    client = NotebookClient(book, kernel_name="python3", timeout=240, allow_errors=True, on_cell_executed=executed)
    client.execute(env={**os.environ, "GEMM_LAB_BACKEND": "simulator"})  # nobody waits for a GPU that others use
    return {name: (book.cells[index].outputs, replies[index]) for index, name in enumerate(SESSION)}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name, says", [("broken", "cell, line 3"), ("unknown", "t4/03_swizzled")])
def test_an_error_is_one_block_without_a_traceback(session, name, says):
    outputs, status = session[name]
    assert status == "error", "the cell counts as failed"
    assert [output.output_type for output in outputs] == ["display_data"]
    for page in outputs[0]["data"]["text/html"], outputs[0]["data"]["text/plain"]:
        assert says in page and "Traceback" not in page and "/gemm_lab/" not in page


def test_the_block_marks_the_word(session):
    page = session["broken"][0][0]["data"]["text/html"]
    assert ">rwo</mark>" in page and page.count("cell, line 3") == 1


def test_other_errors_keep_their_traceback(session):
    outputs, status = session["python"]
    assert status == "error" and [output.output_type for output in outputs] == ["error"]


def test_later_cells_work_and_variables_are_intact(session):
    outputs, status = session["fixed"]
    shown = [output for output in outputs if output.output_type == "display_data"]  # not “waiting for the GPU”
    assert status == "ok" and "PASS" in shown[0]["data"]["text/html"]
    if not device.available():  # the verdict is shown first, and again with a prediction below it
        assert len(shown) == 1 and "not measured" in shown[0]["data"]["text/html"]
    outputs, status = session["after"]
    assert status == "ok" and outputs[0]["data"]["text/plain"] == "(42, 't4/03_swizzled')"


# ---- A name without a kernel, and the kernel around a region ----


def test_a_first_cell_that_does_not_compile_leaves_a_name_that_says_so():
    names = {}
    with pytest.raises(CompileError):
        run_cell(LINE, "no C++", names)
    assert "“mine” did not compile" in repr(names["mine"]) and "✗" in names["mine"]._repr_html_()
    for ask in (
        lambda: exercise("06_swizzle").check(names["mine"]),
        lambda: names["mine"].run(256),
        lambda: names["mine"].source,
    ):
        with pytest.raises(ConfigError, match="did not compile, so there is no kernel yet"):
            ask()
    assert not hasattr(names["mine"], "_repr_png_")
    run_cell(LINE + " --no-run", LAYOUT, names)
    kept = names["mine"]
    assert isinstance(kept, Kernel)
    with pytest.raises(CompileError):
        run_cell(LINE, "no C++", names)
    assert names["mine"] is kept


def test_a_cell_without_a_name_leaves_none():
    names = {}
    with pytest.raises(CompileError):
        run_cell("t4/03 --region layout", "no C++", names)
    assert names == {}


def test_the_whole_kernel_lies_below_the_card_of_a_region(monkeypatch):
    run = run_cell(LINE + " -n 256", LAYOUT, {})
    page = re.sub("<[^>]*>", "", below(run, LINE))
    first = run.kernel.spec.regions["layout"].first_line
    numbers = re.findall(r"^▶? +\d+", page, re.M)
    here = numbers.index("▶   2")
    assert numbers[here : here + 3] == ["▶   2", "▶   3", "▶   4"], "the numbers of the cell, whose line 1 is the magic"
    assert numbers[here - 1] == f"  {first - 1:>3}", "the other lines have those of the file"
    assert "the whole kernel, with the region “layout” marked ▶" in page
    assert below(run, LINE + " --exercise") == "", "the exercise's own card has it"
    assert below(run_cell("t4/03 -n 256", run.kernel.source, {}), "t4/03") == "", "the cell has all of it"
    exercise = page_of(run_cell(LINE + " --no-run --exercise", LAYOUT, {}), LINE + " --no-run --exercise")
    assert "compiles. It has not run yet; the check below runs it." in exercise and len(exercise) < 500
    shown = run_cell(LINE + " --no-run", LAYOUT, {})
    assert below(shown, LINE) == "" and "▶   2  " in shown._repr_html_()
