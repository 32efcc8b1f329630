"""Stored outputs that show recorded data are what the data of this checkout give."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from gemm_results.errors import LabError
from tools import stored_pages
from tools.stored_pages import RECORDED, names, needed, reads_records, same

SERIES = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
TABLE = 'row = next(row for row in lab.ladder("t4").recorded([4096]).rows if row.kernel == "t4/03_swizzled")'


def tagged(source, text=""):
    outputs = [new_output("stream", text=text)] if text else []
    return new_code_cell(source, metadata={"tags": [RECORDED]}, outputs=outputs)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The differences in the series, and in a notebook beside it that has one of each kind."""
    import gemm_lab as lab

    speed = next(row.tflops for row in lab.ladder("t4").recorded([4096]).rows if row.kernel == "t4/03_swizzled")
    show = 'print(f"{row.tflops:.1f} TFLOPS")'
    cells = [
        new_code_cell(TABLE),
        tagged(show, f"{speed:.1f} TFLOPS\n"),
        tagged(show, f"{speed + 1:.1f} TFLOPS\n"),
        tagged('lab.kernel("t4/03").run(256)', "PASS\n"),
        tagged('print(lab.ladder("hopper").ablate("02", 4096).variants[0].report.instructions)', "1\n"),
    ]
    made = tmp_path_factory.mktemp("stored") / "made.ipynb"
    nbformat.write(new_notebook(cells=cells), made)
    return stored_pages.differences([*SERIES, made], counted=False)


def test_the_series_shows_what_is_recorded(found):
    told = [str(one) for one in found if one.notebook != "made.ipynb"]
    assert not told, (
        "\n".join(told) + "\n“python -m tools.stored_pages --store” writes these anew; read the text beside."
    )


def test_another_figure_and_a_launch_are_found(found):
    figure, launch, count = (one for one in found if one.notebook == "made.ipynb")
    assert figure.cell == 2 and [line[0] for line in figure.lines] == ["-", "+"]
    assert launch.cell == 3 and "take the tag off" in str(launch)
    assert count.cell == 4, "a count of an ablation"


@pytest.mark.long
def test_the_series_shows_every_count_of_its_ablations():
    told = [str(one) for one in stored_pages.differences(SERIES)]
    assert not told, "\n".join(told)


def test_a_count_that_was_not_made_is_any_number_and_nothing_else_is():
    now = ["without  instructions", "nothing           nan"]
    assert same(["without instructions", "nothing 30,976"], now)
    assert not same(["without instructions", "nothing"], now) and not same(["without", "nothing 30,976"], now)
    assert not same(["30,976"], ["30,977"]) and not same(["ba1a"], ["banana"])


@pytest.mark.parametrize("path", SERIES, ids=lambda path: path.stem)
def test_every_cell_that_shows_records_has_the_tag(path):
    for index, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if reads_records(cell):
            assert RECORDED in cell.metadata.get("tags", ()), f"cell {index}: python -m tools.stored_pages --tag"


def test_a_cell_is_executed_after_the_cells_that_it_needs():
    cells = [new_code_cell(text) for text in ("a = 1", "b = a + 1", "import math as c", "d = 4")]
    book = new_notebook(cells=[*cells, tagged("print(b, [c.pi for d in range(3)])")])
    assert needed(book, "book") == [0, 1, 2, 4]
    missing = new_notebook(cells=[new_code_cell("%%kernel t4/03 --as mine\n// text"), tagged("mine.profile()")])
    with pytest.raises(LabError, match="cell 1 .* needs `mine`, which no cell defines"):
        needed(missing, "book")


@pytest.mark.parametrize(
    "source, needs, binds",
    [
        ("x = f(x)", {"f", "x"}, {"x"}),
        ("for i in y:\n    print(i)", {"y", "print"}, {"i"}),
        ("def f(q):\n    return q + w", {"w"}, {"f"}),
        ("k = lambda v: v + u", {"u"}, {"k"}),
        ("%load_ext gemm_lab\na.b = 1", {"a"}, set()),
    ],
)
def test_names_that_a_cell_needs_and_defines(source, needs, binds):
    assert names(source) == (needs, binds)
