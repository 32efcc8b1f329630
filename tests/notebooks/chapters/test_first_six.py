"""What six readers of notebooks 00 to 05 were misled by, and what would mislead them again."""

import re

import nbformat
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.notebook.guess import questions
from gemm_lab.notebook_files import notebooks_in
from gemm_lab_lessons.shared.three_counts import three_counts
from gpu_simulator import MemoryFault

BOOKS = {path.stem: nbformat.read(path, as_version=4).cells for path in notebooks_in(data_dir("notebooks"))}
FIRST_SIX = [name for name in BOOKS if name < "06"]
TELLING = re.compile(r"wrong|fail|lost|broken|bad|same|worse|better|none|right|solved", re.I)
WIDEST = 120  # characters of a printed line


def code(name):
    return [cell for cell in BOOKS[name] if cell.cell_type == "code"]


def prose(name):
    return "\n".join(cell.source for cell in BOOKS[name] if cell.cell_type == "markdown")


def printed(cell):
    return [line for out in cell.outputs if out.output_type == "stream" for line in out.text.split("\n")]


def test_no_key_or_variable_of_a_prediction_tells_its_answer():
    keys = [key for key in questions() if key < "06"]
    asked = [
        name for book in FIRST_SIX for cell in code(book) for name in re.findall(r"(\w+) = lab\.guess", cell.source)
    ]
    assert len(keys) > 20 and len(asked) == len(keys)
    assert [name for name in (*keys, *asked) if TELLING.search(name)] == []
    assert TELLING.search("05_wrong") and TELLING.search("04_same") and TELLING.search("lost")


def test_two_words_of_a_bank_were_counted_as_the_question_says():
    (row,) = three_counts("ld.shared.u32", "halves").rows
    asked = questions()["04_two_words"]
    assert str(row.hardware) == "2" and "2" in asked["choices"] and "2" not in asked["hint"].split()


def test_nothing_names_the_rows_of_ldmatrix_before_the_question():
    cells = BOOKS["03_tensor_cores_and_fragments"]
    asked = next(place for place, cell in enumerate(cells) if '@lab.puzzle("03_named")' in cell.source)
    maps = [(place, cell) for place, cell in enumerate(cells) if "widgets.fragments(" in cell.source]
    shown = [(place, cell) for place, cell in maps if cell.cell_type == "code"]
    assert len(shown) == 2 and len(maps) == 3 and maps[-1][0] > asked, "the text comes back to it with the addresses"
    for place, cell in shown:
        assert place < asked and "ldmatrix=False" in cell.source
        assert all("ldmatrix" not in out.data["text/plain"] for out in cell.outputs)


@pytest.mark.parametrize("name", FIRST_SIX)
def test_no_printed_line_is_wider_than_a_page(name):
    assert [line for cell in code(name) for line in printed(cell) if len(line) > WIDEST] == []


@pytest.mark.parametrize("name", BOOKS)
def test_no_picture_is_stored_inside_html_where_github_drops_it(name):
    pages = [(cell.source, out.get("data", {}).get("text/html", "")) for cell in code(name) for out in cell.outputs]
    assert [source for source, page in pages if "data:image" in page] == []


@pytest.mark.parametrize("name", ["05_padding_and_swizzling", "06b_t4_past_cutlass", "07_ampere"])
def test_shares_published_for_another_gpu_are_not_on_the_axis_of_this_one(name):
    plots = [cell.source for cell in code(name) if re.search(r"\bbench\b.*\.plot\(|climb\(bench", cell.source)]
    assert plots and all("published=False" in source for source in plots if ".plot(" in source)
    assert "diamond" not in prose(name)


def test_the_first_notebook_shows_the_rungs_up_to_one():
    assert any(cell.source == 'simt.up_to("simt/02").plot()' for cell in code("00_start_here"))
    assert not any("only=" in cell.source for name in BOOKS for cell in code(name))


def test_card_check_and_verdict_are_explained_once_and_before_they_are_used():
    text = prose("00_start_here")
    for word in ("card", "check", "verdict"):
        link = f"[*{word}*](../docs/GLOSSARY.md#{word})"
        assert text.count(link) == 1
        assert sum(prose(name).count(f"#{word})") for name in FIRST_SIX) == 1
    for verdict in ("your turn", "not yet", "solved", "**PASS**", "**FAIL**"):
        assert verdict in text
    assert "verdict" not in text[: text.index("[*verdict*]")]


def test_what_the_first_card_of_04_names_is_explained_above_it():
    cells = BOOKS["04_banks_and_wavefronts"]
    first = next(place for place, cell in enumerate(cells) if 'lab.kernel("t4/02_vectorized_copy").run' in cell.source)
    above = "\n".join(cell.source for cell in cells[:first])
    assert all(word in above for word in ("alpha · A · B + beta · C", "`alpha`", "`beta`", "`__half22float2`"))
    assert "__half22float2" in lab.kernel("t4/02_vectorized_copy").source


def test_04_says_before_its_exercise_how_little_it_repairs():
    text = prose("04_banks_and_wavefronts")
    before = text[: text.index("### Exercise: no conflict left")]
    assert "Do not expect a faster kernel" in before and "about 3 %" in before and "`06_epilogue`" in before
    assert pytest.approx(0.03, abs=0.002) == (512 / 17_920)


def test_the_layout_without_brackets_is_refused_and_its_reason_is_said():
    from gemm_lab_lessons.shared.criteria.brackets import sums_beside_xor

    assert lab.exercise("05_every_row").criteria["brackets"] is True
    text = prose("05_padding_and_swizzling")
    form = "row * CHUNKS + chunk ^ row % 8"
    assert f"`{form}` is read as `(row * CHUNKS + chunk) ^ row % 8`" in text
    assert "(row * CHUNKS + chunk) ^ row % 8" in sums_beside_xor(f"return {form};")[0]
    for chunks in (2, 4, 8):  # the layout with these brackets loses nothing and stays in its line
        moved = [row * chunks + chunk ^ row % 8 for row in range(64) for chunk in range(chunks)]
        assert sorted(moved) == list(range(64 * chunks))
        assert all(place // 8 == number // 8 for number, place in enumerate(moved))


def test_a_memory_fault_names_the_address_as_a_number_and_the_hint_both_ways_out_of_the_tile():
    """The message takes no side on how the kernel computed the address: by + or by ^."""
    kernel = lab.kernel("t4/05_stepped_addresses")
    region = kernel.regions["multiply"]
    right = "(lane_b ^ ni % 8 * 16) + (k * BLOCK_N * 2 + ni / 8 * 128)"
    assert region.count(right) == 1
    for wrong in ("lane_b + ni * 16 + k * BLOCK_N * 2", "lane_b ^ (ni * 16 + k * BLOCK_N * 8)"):
        made = kernel.edit(multiply=region.replace(right, wrong))
        with pytest.raises(MemoryFault) as fault:
            made.run(256, backend="simulator", timed=False)
        said = str(fault.value)
        assert re.search(
            r"accessed 16 bytes at shared address [\d,]+, which would be smem_b\[\d+\], but its shared memory has 32,768 bytes",
            said,
        )
        assert "+" not in said and "^" not in said
    hint = lab.exercise("05_both_sides").hint
    assert "an XOR" in hint and "a wrong number of bytes" in hint
