"""What a page shows of the text that a cell printed."""

from nbformat.v4 import new_code_cell, new_output

from tools.site import pages


def test_a_long_sentence_among_aligned_lines_is_wrapped():
    table, sentence = f"name{'12':>146}", "Counts are the simulator's. " * 9
    cell = new_code_cell("print(1)", outputs=[new_output("stream", text=f"{table}\n{sentence}")])
    (output,) = pages._outputs(cell, "a.ipynb", "a-0", None, None, [], pages.Counts())
    first, *lines = output.text.split("\n")
    assert first == table and max(map(len, lines)) <= 96 and " ".join(lines).split() == sentence.split()
