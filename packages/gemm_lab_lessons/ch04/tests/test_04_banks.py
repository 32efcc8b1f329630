"""What notebook 04 says about banks, wavefronts and sectors, held against the models and the recordings."""

import re
from html import unescape
from math import gcd

import nbformat
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab_lessons.ch04.kernel_counts import kernel_counts
from gemm_lab_lessons.ch04.puzzles import banks as puzzle_banks
from gemm_lab_lessons.ch04.recorded_accesses import recorded_accesses, recorded_kernel
from gemm_results.errors import LabError
from gemm_results.stalls import STALLS
from gpu_simulator.hardware import banks
from tools.figures import bank_columns, half_warps, row_lengths, sector_shift, strides

LANES = np.arange(32)
BOOK = nbformat.read(data_dir("notebooks") / "04_banks_and_wavefronts.ipynb", as_version=4)
PROSE = "\n".join(cell.source for cell in BOOK.cells if cell.cell_type == "markdown")
SOLUTIONS = [
    "bank",
    "conflict",
    "wavefronts",
    "stride",
    "groups",
    "wide",
    "ldmatrix",
    "paper",
    "store",
    "place",
    "cover",
]


@pytest.fixture(scope="module")
def slow():
    return lab.kernel("t4/02_vectorized_copy").run(256, backend="simulator")


# ---- Laws ----


def test_wavefronts_of_a_stride_are_a_gcd():
    assert strides.counts() == [1] + [gcd(s, 32) for s in strides.STRIDES[1:]]


@pytest.mark.parametrize("stride", range(1, 17))
def test_groups_of_lanes_follow_the_same_rule(stride):
    assert banks.load_wavefronts(16 * stride * LANES[None], 16)[0] == 4 * gcd(stride, 8)
    assert banks.load_wavefronts(8 * stride * LANES[None], 8)[0] == 2 * gcd(stride, 16)


def test_no_conflict_of_ldmatrix_is_worse_than_eight():
    rows = 16 * np.random.default_rng(0).integers(0, 512, (500, 32))
    assert 4 < banks.wavefronts(rows, 16).max() <= banks.wavefronts(128 * LANES[None], 16)[0] == 32


# ---- Recorded accesses ----


def test_as_many_accesses_were_recorded_as_the_prose_says():
    counts = [
        len(recorded_accesses("ld.shared.u32", "st.shared.u32")),
        len(recorded_accesses(*puzzle_banks.STORES)),
        len(recorded_accesses(*puzzle_banks.LOADS)),
        len(recorded_accesses(*puzzle_banks.MATRICES)),
    ]
    assert counts == [190, 285, 285, 570]
    assert all(str(count) in PROSE for count in counts)


def test_the_solutions_agree_with_every_recording_but_five_loads():
    wide = lab.puzzle("04_wide").solution()
    differ = [a for a in recorded_accesses(*puzzle_banks.LOADS) if wide(list(a.addresses), a.width) != a.wavefronts]
    assert len(differ) == 5 and {a.pattern for a in differ} == {"one address", "pairs", "halves"}
    assert all(a.addresses[::2] == a.addresses[1::2] for a in differ), "pairs of lanes have the same address"
    facts = dict(lab.puzzle("04_wide").check(wide).facts)
    assert (facts["recorded stores that agree"], facts["recorded loads that agree"]) == ("285 of 285", "280 of 285")


def test_an_instruction_that_was_not_recorded_has_no_accesses():
    with pytest.raises(KeyError):
        recorded_accesses("ld.shared.u8")


# ---- The slow lines ----


def test_the_same_table_is_not_shown_twice(slow):
    """The card of the run folds the costs of the whole kernel; the next card has the regions of the question alone."""
    assert "alpha" in slow._repr_html_() and "alpha" not in slow.hot_lines("load", "multiply")._repr_html_()
    sources = [cell.source for cell in BOOK.cells if cell.cell_type == "code"]
    assert 'run.hot_lines("load", "multiply")' in sources and "run.hot_lines()" not in sources
    first = next(cell.source for cell in BOOK.cells if "alpha" in cell.source)
    assert "beta · C" in first and "`__half22float2`, a function of CUDA that turns" in first


def test_the_lines_that_the_prose_names(slow):
    lines = {line.number: line for line in slow.hot_lines().lines if line.wavefronts}
    assert {number: line.degree for number, line in lines.items()} == {51: 1, 57: 1, 70: 8, 75: 8}
    assert "ldmatrix_x4(" in lines[70].text and "ldmatrix_x4_trans(" in lines[75].text
    assert "chunk_a(warp_m" in slow.hot_lines().lines[68].text


@pytest.mark.parametrize(("line", "step"), [(70, 128), (75, 256)])
def test_their_addresses_explain_them(slow, line, step):
    rows = slow.trace(line)[0].addresses.tolist()
    assert rows[1] - rows[0] == rows[7] - rows[6] == step
    assert {row // 4 % 32 for row in rows[:8]} == {0}
    assert lab.puzzle("04_ldmatrix").solution()(rows) == 32


def test_shorter_rows_lessen_the_conflict():
    narrow = lab.kernel("t4/02_vectorized_copy")(BLOCK_K=32).run(256, backend="simulator")
    assert [line.degree for line in narrow.hot_lines().lines if line.number == 70] == [4]
    assert [row_lengths.count(row_bytes) for row_bytes in row_lengths.ROW_BYTES] == [2, 4, 8]
    read = lab.kernel("first_kernels/02_ldmatrix").run(64, backend="simulator").hot_lines().lines
    # Compilers differ in the line of an asm statement that they name, so no line is named here.
    assert max(line.degree or 0 for line in read) == 2.0


# ---- A whole kernel ----


def test_the_paper_count_is_the_simulator_s_and_the_recorded_one(slow):
    count = lab.puzzle("04_paper").solution()
    (row,) = kernel_counts("t4/02").rows
    assert count(256) == slow.wavefronts
    assert count(512) == row.simulator == row.hardware == recorded_kernel("t4/02_vectorized_copy", 512)
    assert f"{count(512):,}" in PROSE and f"{row.degree:.2f}" == "6.09" and "6.09" in PROSE


# ---- The store of simt/04 ----


@pytest.mark.long
def test_the_store_is_where_the_puzzle_says():
    run = lab.kernel("simt/04_register_tiles").run(128, backend="simulator")
    (line,) = (line for line in run.hot_lines().lines if line.text.strip().startswith("smem_a[i % BLOCK_K]"))
    assert (line.number, line.degree, line.sectors_per_request) == (32, 2, 4)
    assert 1 < run.conflict_degree < 1.05
    assert (line.wavefronts, run.wavefronts - run.ideal_wavefronts) == (1024, 512)
    assert f"about 3 % of the {run.wavefronts:,} wavefronts" in PROSE and round(100 * 512 / run.wavefronts) == 3
    stored_at = lab.puzzle("04_store").solution()
    for warp in (0, 5):
        first = next(access for access in run.trace(32, warp=warp) if access.opcode.startswith("st.shared"))
        assert first.addresses.tolist() == [stored_at(32 * warp + lane) for lane in range(32)]
    wavefronts = lab.puzzle("04_wavefronts").solution()
    assert wavefronts([stored_at(lane) for lane in range(32)]) == 2
    assert [stored_at(lane) // 4 % 32 for lane in range(32)] == [half_warps.stored_bank(lane) for lane in range(32)]


@pytest.mark.long
def test_the_solution_of_the_puzzle_solves_the_exercise():
    """The lines of cover, in C++."""
    given = next(cell.source for cell in BOOK.cells if cell.source.startswith("%%kernel simt/04"))
    turn = "// Your turn: another m and k for each lane."
    mine = (
        "const int lane = threadIdx.x % 32, pair = turn * 8 + threadIdx.x / 32;"
        " m = pair / 16 * 32 + pair % 16 + lane / 16 * 16; k = lane % 16;"
    )
    assert turn in given
    from gemm_lab.notebook.exercises import kernel_of

    task = lab.exercise("04_half_warps")
    assert "solved" in repr(task.check(kernel_of(task, given.split("\n", 1)[1].replace(turn, mine))))


# ---- Pictures ----


def test_pictures_show_what_the_models_count():
    assert [sector_shift.fetched(start) for start in sector_shift.STARTS] == [4, 5]
    assert lab.puzzle("04_bank").solution()(4 * bank_columns.LIT) == bank_columns.LIT % 32 == 1


# ---- The profile ----


@pytest.mark.long
def test_more_than_half_of_a_warp_s_time_is_a_wait_for_shared_memory():
    card = lab.kernel("t4/02_vectorized_copy").profile().card
    (short,) = (stall for stall in STALLS if stall.label == "short scoreboard")
    assert round(100 * card.share(short)) == 59
    names = set(re.findall(r"^\| ([\w ]+) \| (?:issues|waits)", PROSE, flags=re.M))
    assert names == {"selected", "short scoreboard", "long scoreboard", "MIO throttle", "barrier", "wait"}
    assert names <= {stall.label for stall in STALLS}


# ---- What the stored notebook answers ----

ANSWERS = {
    "two_words": "“2”",
    "stride": "4 wavefronts",
    "wide": "8 wavefronts",
    "shorter": "4",
    "shifted": "5 sectors",
}


def test_every_prediction_has_its_answer():
    found = {}
    for cell in BOOK.cells:
        asked = re.search(r"^(\w+)\.compare\(", cell.source, flags=re.M) if cell.cell_type == "code" else None
        if asked:
            page = unescape(cell.outputs[-1]["data"]["text/html"])
            found[asked[1]] = re.search(r"It is (.*?)\. ", page)[1]
    assert 1.5 < float(found.pop("faster").split()[0]) < 1 / 0.41
    assert found == ANSWERS


def test_the_puzzles_are_named_at_the_end_in_their_order():
    handed_out = re.findall(r'@lab\.puzzle\("04_(\w+)"\)', "\n".join(cell.source for cell in BOOK.cells))
    named = re.search(r"^Puzzles: (.*)\. Exercise", PROSE, flags=re.M)[1]
    assert handed_out == SOLUTIONS == re.findall(r"04_(\w+)", named)


def test_a_puzzle_of_another_name_is_refused():
    with pytest.raises(LabError, match="04_wide"):
        lab.puzzle("04_widd")
