"""The form of the notebooks: what a reader may rely on in every one, and that each runs from top to bottom."""

import ast
import io
import re
import tokenize
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import gemm_lab as lab
from gemm_lab.notebook.guess import questions
from gemm_lab.notebook_files import KERNEL
from tools import run_notebooks as run
from tools.colab import FOLDED, is_setup
from tools.sync import sync

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
SERIES = (
    "00_start_here",
    "01_memory_wall_and_roofline",
    "02a_tiling_in_python",
    "02b_tiling_on_a_gpu",
    "03_tensor_cores_and_fragments",
    "04_banks_and_wavefronts",
    "05_padding_and_swizzling",
    "06a_t4_feeding_tensor_cores",
    "06b_t4_past_cutlass",
    "07_ampere",
    "08_rtx_5090",
    "09_wmma_on_h100",
    "10_hopper_wgmma",
    "10b_power",
    "10c_small_problems",
    "11_b200",
    "11b_your_own_kernel",
    "12_scoreboard",
    "13_eight_bits",
)
PATHS = sorted(FOLDER.glob("*.ipynb"))
QUICK = ("03",)  # `make test` runs these from top to bottom
FIRST_CODE = "import gemm_lab as lab\n%load_ext gemm_lab\nlab.progress()"
MAX_BYTES = 300_000
LONG = 75  # minutes after which a break is due
MAX_LINES, MAX_COLUMNS, MAX_WORDS, MAX_SENTENCE = 8, 100, 150, 40
LAB_ERROR = re.compile(r"\w*(Error|WrongAnswer|WrongResult|KernelFault|KernelHang|WorkerLost|UnknownKernel): ")


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


def prose(book) -> list:
    return [cell for cell in book.cells if cell.cell_type == "markdown" and not is_setup(cell)]


def code(book) -> list:
    return [cell for cell in book.cells if cell.cell_type == "code" and not is_setup(cell)]


def python_of(cell) -> str:
    """The Python of a code cell: nothing of a cell magic, no line magics."""
    if cell.source.startswith("%%"):
        return ""
    return "\n".join(line for line in cell.source.split("\n") if not line.startswith("%"))


def words(text: str) -> int:
    return sum(any(c.isalnum() for c in word) for word in text.split())


def sentences(text: str) -> list[str]:
    """The sentences of prose, without tables, headings and code blocks."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    lines = [line for line in text.split("\n") if not line.startswith(("|", "#"))]
    return re.split(r"(?<=[.?!:;])\s+|\n\s*\n", "\n".join(lines))


def minutes(cells) -> float:
    """How long a reader needs, without optional parts: 120 words a minute, and time for everything that is to be done.

    Calibrated by a reader of 00 to 05. An exercise about one of the large kernels of 06 to 12 takes longer.
    """
    title, found, optional = cells[0].source, 0.0, False
    for cell in cells:
        heading = re.match("## (.+)", cell.source) if cell.cell_type == "markdown" else None
        optional = heading[1].startswith("Optional") if heading else optional
        if optional or is_setup(cell):
            continue
        if cell.cell_type == "markdown":
            found += len(cell.source.split()) / 120
            continue
        of_each = {
            r'@lab\.puzzle\("(?!\d\d_own_kernel)': 5,
            r'@lab\.puzzle\("\d\d_own_kernel': 20,
            r"lab\.guess\(": 1.5,
            r"lab\.exercise\(": 12 if title < "# 06" else 20,
        }
        found += 0.4 + sum(each * len(re.findall(call, cell.source)) for call, each in of_each.items())
    return found


# ---- The rules: each names what is wrong ----


def opens_with_a_question(book):
    first = book.cells[0]
    if first.cell_type != "markdown" or not re.match(r"# \d\d[a-c]? · \S", first.source):
        yield "the first cell is not a title such as “# 01 · …”"
    elif not re.search(r"\*\*[^*]+\?\*\*", first.source):
        yield "the first cell asks no question in bold"
    if not code(book) or code(book)[0].source != FIRST_CODE:
        yield "the first code cell does not import the lab, load its magic and show the reader's progress"
    elif run.UNSTORED not in tags(code(book)[0]):
        yield "the progress of whoever recorded the notebook would be stored"


def says_how_long_it_takes(book):
    """The first cell has the minutes, and says whose outputs are stored; a long notebook has a break."""
    first, needed = book.cells[0].source, minutes(book.cells)
    said = re.search(r"about (\d+) minutes", first)
    if said is None or not 0.85 <= int(said[1]) / needed <= 1.15:
        yield f"says {said[1] if said else 'no'} minutes, and takes about {needed:.0f}"
    if "recorded on an H200" not in first:
        yield "does not say that its stored outputs are those of an H200"
    breaks = [cell.source for cell in prose(book)[1:] if "good place for a break" in cell.source]
    if needed > LONG and not breaks:
        yield f"takes about {needed:.0f} minutes and has no break"
    if not all("*Run → Run All Above Selected Cell*" in text for text in breaks):
        yield "a break that does not say how to go on"


def has_about_as_much_prose_as_code(book):
    ratio = len(prose(book)) / max(1, len(code(book)))
    if not 0.6 <= ratio <= 3:
        yield f"{ratio:.2f} prose cells for each code cell"


def keeps_calls_of_the_lab_short(book):
    """A cell in which the learner writes a function is as long as the idea needs; all others are short."""
    for cell in code(book):
        source = python_of(cell)
        if any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in ast.parse(source).body):
            continue
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        if sum(token.type == tokenize.NEWLINE for token in tokens) > MAX_LINES:  # none where a bracket is open
            yield f"more than {MAX_LINES} lines: {source[:40]}"


def keeps_lines_of_python_narrow(book):
    """The text of a kernel is as wide as its file."""
    for cell in code(book):
        for line in python_of(cell).split("\n"):
            if len(line) > MAX_COLUMNS:
                yield f"a line of {len(line)} characters: {line[:40]}"


def keeps_prose_short(book):
    texts = [re.sub(r"^\|.*$", "", cell.source, flags=re.M) for cell in prose(book)]
    for text in texts:
        if words(text) > MAX_WORDS:
            yield f"a prose cell of {words(text)} words: {text[:40]}"
    for text in texts:
        for sentence in sentences(text):
            if words(sentence) > MAX_SENTENCE:
                yield f"a sentence of {words(sentence)} words: {sentence[:40]}"


def predicts_and_compares(book):
    asked = {}
    for number, cell in enumerate(code(book)):
        asked |= {name: number for name in re.findall(r"^(\w+) = lab\.guess\(", cell.source, flags=re.M)}
    if not asked:
        yield "no prediction"
    for name, number in asked.items():
        if not any(f"{name}.compare(" in cell.source for cell in code(book)[number + 1 :]):
            yield f"the prediction {name} is never compared"


def sets_an_exercise(book):
    names = [name for cell in code(book) for name in re.findall(r'lab\.exercise\("(\w+)"\)', cell.source)]
    if not names or not any(".check(" in cell.source for cell in code(book)):
        yield "no exercise, or none that is checked"
    if book.cells[-1].cell_type != "markdown":
        yield "the last cell is code"
    if not any("what limits it now" in cell.source.lower() for cell in prose(book)[-6:]):
        yield "the end does not say what limits it now"


def keeps_answers_folded(book):
    """A stored notebook shows no answer to a question of its own, unless the reader unfolds it.

    Notebooks 09 to 12 may still print beside an answer what led to it.
    """
    rewritten = book.cells[0].source[:4] < "# 09"
    for cell in code(book):
        if rewritten and re.search(r'lab\.guess\("(?!\d\d_\w+"\))', cell.source):
            yield f"question, hint or reason in the cell instead of questions.toml: {cell.source[:40]}"
        if ".compare(" not in cell.source:
            continue
        if rewritten and run.REVEAL not in tags(cell):
            yield f"the cell is not tagged “reveal”, so its source stays in sight: {cell.source[:40]}"
        for output in cell.outputs:
            if output.output_type == "stream" and rewritten:
                yield f"prints beside the answer: {cell.source[:40]}"
            page = output.get("data", {}).get("text/html", "")
            shown = re.sub(r"<details.*?</details>", "", page, flags=re.S)
            if "It is " in shown or "It is " in output.get("data", {}).get("text/plain", ""):
                yield f"the answer is not folded: {cell.source[:40]}"


def ends_with_a_recap(book):
    last = "\n".join(cell.source for cell in prose(book)[-8:])
    for title in ("What you can do now", "Further reading"):
        if f"## {title}" not in last:
            yield f"no “{title}” at the end"


def embeds_nothing(book):
    for cell in prose(book):
        if "base64" in cell.source or "data:image" in cell.source or cell.get("attachments"):
            yield "a picture inside Markdown"


def is_stored_clean(book):
    if set(book.metadata) - {"kernelspec", "language_info"}:
        yield f"metadata {sorted(book.metadata)}"
    for cell in book.cells:
        known = set(FOLDED) if is_setup(cell) else {"tags", "jupyter"} if run.REVEAL in tags(cell) else {"tags"}
        if set(cell.metadata) - known:
            yield f"cell metadata {sorted(cell.metadata)}"
    for cell in code(book):
        if cell.execution_count is None:
            yield f"not executed: {cell.source[:40]}"
        for output in cell.outputs:
            data = output.get("data", {})
            if run.VIEW in data:
                yield f"a live widget: {cell.source[:40]}"
            failed = output.output_type == "error" or LAB_ERROR.match(data.get("text/plain", ""))
            if failed and "raises-exception" not in tags(cell):
                yield f"an error: {cell.source[:40]}"


RULES = (
    opens_with_a_question,
    says_how_long_it_takes,
    has_about_as_much_prose_as_code,
    keeps_calls_of_the_lab_short,
    keeps_lines_of_python_narrow,
    keeps_prose_short,
    predicts_and_compares,
    keeps_answers_folded,
    sets_an_exercise,
    ends_with_a_recap,
    embeds_nothing,
    is_stored_clean,
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_form(path, rule):
    assert list(rule(nbformat.read(path, as_version=4))) == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_what_is_compared_with_choices_is_one_of_them(path):
    """In the stored answers; a text that is no choice would make every reader wrong."""
    mine = [entry for name, entry in questions().items() if path.stem[:2] == name[:2]]
    choices = {choice for entry in mine for choice in entry.get("choices", ())}
    for cell in code(nbformat.read(path, as_version=4)):
        for output in cell.outputs if run.REVEAL in tags(cell) else ():
            for told in re.findall("It is “(.+?)”", output.get("data", {}).get("text/html", "")):
                assert unescape(told) in choices, cell.source


def test_the_questions_of_the_file_are_those_that_the_notebooks_ask():
    asked = [name for path in PATHS for name in re.findall(r'lab\.guess\(\\"(\d\d_\w+)\\"\)', path.read_text())]
    assert sorted(asked) == sorted(questions())


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_file(path):
    assert path.stem in SERIES
    assert path.stat().st_size < MAX_BYTES
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert book.cells[0].source.startswith(f"# {path.stem.split('_')[0]} ·")
    assert {name[:2] for name in re.findall(r'lab\.exercise\(\\"(\w+)', path.read_text())} == {path.stem[:2]}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_stored_card_of_a_puzzle_asks_what_the_puzzle_asks(path):
    for cell in code(nbformat.read(path, as_version=4)):
        for name in re.findall(r'@lab\.puzzle\("(\w+)"\)', cell.source):
            stored = "".join(output.get("data", {}).get("text/plain", "") for output in cell.outputs)
            assert lab.puzzle(name).task in stored.replace("\\'", "'"), name


def test_the_guide_for_authors_names_these_limits():
    guide = (FOLDER.parent / "docs/CONTRIBUTING.md").read_text(encoding="utf-8").replace("\n  ", "")
    prose = f"at most {MAX_WORDS} words a cell and {MAX_SENTENCE} words a sentence"
    for words in (prose, f"at most {MAX_LINES} lines of {MAX_COLUMNS} columns", f"below {MAX_BYTES // 1000} KB"):
        assert words.replace("8 lines", "eight lines") in guide, words


def test_the_first_puzzle_of_the_series_is_solved_within_a_quarter_of_an_hour():
    cells = nbformat.read(FOLDER / "00_start_here.ipynb", as_version=4).cells
    first = next(place for place, cell in enumerate(cells) if "@lab.puzzle(" in cell.source)
    assert minutes(cells[: first + 1]) <= 15


def test_the_series_begins():
    assert {"00_start_here", "01_memory_wall_and_roofline", "02a_tiling_in_python"} <= {path.stem for path in PATHS}


def test_kernel_cells_hold_what_their_files_hold():
    assert sync(check=True) == []


@pytest.mark.parametrize(
    "path",
    [path if path.stem[:2] in QUICK else pytest.param(path, marks=pytest.mark.long) for path in PATHS],
    ids=lambda path: path.stem,
)
def test_runs_from_top_to_bottom(path, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("GEMM_LAB_BACKEND", "simulator")  # `make run` times on a GPU, which takes minutes and turns
    assert run.execute(path, tmp_path / path.name, limit_s=280) is None


# ---- A notebook that keeps the rules, and ways to break each ----


TIMES = "It takes about 20 minutes. Outputs were recorded on an H200."


def good_book():
    cells = [
        new_markdown_cell(f"# 01 · A title\n\n**Why?**\n\n{TIMES}"),
        new_markdown_cell("Short."),
        new_code_cell(FIRST_CODE, execution_count=1, metadata={"tags": ["unstored"]}),
    ]
    for name in "pqrs":
        cells += [
            new_markdown_cell("Guess."),
            new_code_cell(f'{name} = lab.guess("01_{name}")\n{name}', execution_count=1),
            new_markdown_cell("Count."),
            new_code_cell(f"{name}.compare(4)", execution_count=1, metadata={"tags": ["reveal"]}),
            new_markdown_cell("So."),
        ]
    cells += [
        new_code_cell('lab.exercise("01_x").check(1)', execution_count=1),
        new_markdown_cell("More."),
        new_markdown_cell(
            "## What limits it now\n\nThe exercise `01_x`.\n\n## What you can do now\n\n## Further reading"
        ),
    ]
    return new_notebook(cells=cells, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})


def an_error(name="ValueError"):
    return new_output("error", ename=name, evalue="", traceback=[])


BREAKS = {
    opens_with_a_question: [
        lambda b: b.cells.pop(0),
        lambda b: b.cells[0].update(source="# 01 · A title"),
        lambda b: b.cells[2].update(source="import gemm_lab"),
        lambda b: b.cells[2].metadata.pop("tags"),
    ],
    says_how_long_it_takes: [
        lambda b: b.cells[0].update(source="# 01 · A title\n\n**Why?**\n\nOutputs were recorded on an H200."),
        lambda b: b.cells[0].update(source=b.cells[0].source.replace("20", "40")),
        lambda b: b.cells[0].update(source=b.cells[0].source.replace("an H200", "a GPU")),
        lambda b: b.cells.insert(3, new_markdown_cell("A good place for a break.")),
        lambda b: (
            b.cells[0].update(source=b.cells[0].source.replace("20", "80")),
            b.cells.extend(new_code_cell('@lab.puzzle("01_x")') for _ in range(11)),
        ),
    ],
    has_about_as_much_prose_as_code: [
        lambda b: b.cells.extend(new_code_cell("1") for _ in range(20)),
        lambda b: b.cells.extend(new_markdown_cell("x") for _ in range(30)),
    ],
    keeps_calls_of_the_lab_short: [
        lambda b: b.cells[4].update(source="x = 1\n" * 9),
        lambda b: b.cells[4].update(source="x = 1\n" * 9 + "f = lambda: 1"),
    ],
    keeps_lines_of_python_narrow: [
        lambda b: b.cells[4].update(source="x = 1" + " + 1" * 25),
        lambda b: b.cells[4].update(source="def f():\n    return 1    # " + "x" * 84),
    ],
    keeps_answers_folded: [
        lambda b: b.cells[6].metadata.pop("tags"),
        lambda b: b.cells[4].update(source='p = lab.guess("How many?", hint="four")'),
        lambda b: b.cells[6].update(outputs=[new_output("stream", text="balance 33.9")]),
        lambda b: b.cells[6].update(outputs=[new_output("display_data", {"text/html": "<b>It is 4.</b>"})]),
        lambda b: b.cells[6].update(outputs=[new_output("display_data", {"text/plain": "It is 4."})]),
    ],
    ends_with_a_recap: [lambda b: b.cells[-1].update(source="## What limits it now\n\nThe exercise `01_x`.")],
    keeps_prose_short: [
        lambda b: b.cells[1].update(source="# t\n" + "Short one. " * 80),
        lambda b: b.cells[1].update(source="word " * 41 + "."),
    ],
    predicts_and_compares: [
        lambda b: b.cells[6].update(source="p"),
        lambda b: [cell.update(source="1") for cell in code(b)[1:]],
    ],
    sets_an_exercise: [
        lambda b: b.cells[-3].update(source="1"),
        lambda b: b.cells.pop(),
        lambda b: b.cells.append(new_code_cell("1")),
    ],
    embeds_nothing: [lambda b: b.cells[1].update(source="![x](data:image/png;base64,AAAA)")],
    is_stored_clean: [
        lambda b: b.metadata.update(widgets={}),
        lambda b: b.cells[1].metadata.update(collapsed=True),
        lambda b: b.cells[4].update(execution_count=None),
        lambda b: b.cells[4].outputs.append(an_error()),
        lambda b: b.cells[4].outputs.append(new_output("display_data", {"text/plain": "LabError: there is none"})),
        lambda b: b.cells[4].outputs.append(new_output("display_data", {run.VIEW: {}})),
    ],
}


def test_a_good_notebook_passes_every_rule():
    assert {rule.__name__: list(rule(good_book())) for rule in RULES} == {rule.__name__: [] for rule in RULES}


@pytest.mark.parametrize(
    ("rule", "harm"),
    [(rule, harm) for rule, harms in BREAKS.items() for harm in harms],
    ids=lambda value: getattr(value, "__name__", None) if value in RULES else "",
)
def test_a_broken_rule_is_seen(rule, harm):
    book = good_book()
    harm(book)
    assert list(rule(book)) != []


def test_an_error_that_is_meant_may_stay():
    book = good_book()
    book.cells[4].metadata["tags"] = ["raises-exception"]
    book.cells[4].outputs.append(an_error())
    assert list(is_stored_clean(book)) == []
