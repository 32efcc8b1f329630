"""Cells that would hurt their session: each gives one block, and the next cell works."""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from gemm_lab.notebook.guard import Exit, Meter, OutputFlood, StaysOpen

CELLS = {
    "load": "%load_ext gemm_lab\nkept = 42",
    "flood": 'while True:\n    print("all work and no play " * 40)',
    "stderr": 'import sys\nwhile True:\n    sys.stderr.write("all work and no play " * 40)',
    "exit": "exit()",
    "quit": "if kept:\n    quit(1)",
    "raise": "import sys\nsys.exit(3)",
    "kernel": '%%kernel simt/01 --as mine -n 32\nextern "C" __global__ void __launch_bounds__(1024) gemm(const float* a, '
    'const float* b, float* d, int m, int n, int k) {\n  for (int i = 0; i < 200; ++i) printf("line %d\\n", i);\n}',
    "printed": "for _ in range(3):\n    print('x' * 1000)",
    "after": "print(kept)",
}


@pytest.fixture(scope="module")
def outputs():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    client = NotebookClient(notebook, timeout=240, allow_errors=True, kernel_name="python3")
    client.execute(env={**os.environ, "GEMM_LAB_BACKEND": "simulator"})  # nobody waits for a GPU that others use
    return dict(zip(CELLS, (cell.outputs for cell in notebook.cells), strict=True))


def text_of(outputs):
    return "".join(str(output.get("text", "")) + str(output.get("data", "")) for output in outputs)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("flood", "1,000,000 characters"),
        ("stderr", "1,000,000 characters"),
        ("exit", "exit() would end"),
        ("quit", "exit() would end"),
    ],
)
def test_each_gives_one_block(outputs, name, words):
    blocks = [output for output in outputs[name] if output.output_type == "display_data"]
    assert len(blocks) == 1 and words in text_of(blocks)
    assert len(text_of(outputs[name])) < 1_100_000
    assert [output.ename for output in outputs[name] if output.output_type == "error"] != ["DeadKernelError"]


def test_a_kernel_that_floods_is_stopped_or_cut(outputs):
    assert 0 < len(text_of(outputs["kernel"])) < 100_000


def test_the_session_lives_on(outputs):
    assert text_of(outputs["printed"]).count("x") == 3000
    assert text_of(outputs["after"]).strip() == "42"


class Stream:
    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text
        return len(text)


def test_the_meter_counts_a_cell_at_a_time():
    stream = Stream()
    meter = Meter(stream, limit=10)
    assert stream.write("12345") == 5
    meter.count = 0  # as `meter_streams` does
    stream.write("1234567")
    with pytest.raises(OutputFlood, match="more than 10 characters"):
        stream.write("1234567")
    assert stream.text == "123451234567"
    for _ in range(10_000):  # a cell that catches the error and goes on
        stream.write("1234567")
    assert len(stream.text) < 21_000


def test_exit_says_what_to_do():
    with pytest.raises(StaysOpen, match="stop button"):
        Exit()(0)
    assert "Shut Down" in repr(Exit())
