"""ERRATA.md: where the sources are wrong, what is right, and how we know, with evidence that runs."""

import ast
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from gemm_lab_lessons.ch05.tile_layout import TileLayout
from gpu_simulator.hardware.mma_layouts import Mma

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("It says", "Right", "How we know")

# (source, heading of its entry in ERRATA.md) → words of the correction there, and code or words of a notebook that show
# it (None: the tests that the entry names are the evidence).
ERRATA = {
    ("T4 article", "Balance points without decimals"): ("cuts the decimals off", None),
    ("T4 article", "A balance point of 87.24"): ("the formula as it is printed gives 86.667", None),
    ("T4 article", "The mean of two bandwidths"): ("What misses L2 is the limit", None),
    ("T4 article", "C and D are 8 × 8"): (
        "an m × k matrix times a k × n matrix is m × n",
        ("06a", "C and D are 16 × 8"),
    ),
    ("T4 article", "The mask selects the column bits"): ("selects the row bits", ("06a", "(i & 0b1100) >> 2")),
    ("T4 article", "Padding costs a quarter"): ("which is a tenth", ("06a", "padding / tiles")),
    ("T4 article", "A T4 has 16 multiprocessors"): ("a T4 has 40 multiprocessors", ("06b", "gpu.sms")),
    ("Ampere article", "ldmatrix conflicts 16-way and 32-way"): (
        "no conflict of `ldmatrix` can be worse than 8-way",
        None,
    ),
    ("Ampere article", "Padding leaves no conflict"): (
        "tears the sectors of every second row in two",
        ("07", 'opcode.startswith("cp.async.cg")'),
    ),
    ("H100 report", "MFU against the TF32 peak"): (
        "the percentages were taken against TF32",
        ("09", "h100.peak(kind, 'f32')"),
    ),
    ("H100 report", "cuBLAS above its peak"): ("495 is the TF32 peak", ("09", 'told["cublas", 8192].share_of_peak')),
    ("H100 report", "Unrolling raises the intensity"): ("K stands above and below the bar", ("09", "flop / fetched")),
    ("H100 report", "A large BLOCK_K costs occupancy"): ("registers are the limit", ("09", "{room.binding}")),
    ("H100 report", "More threads cost occupancy"): ("32 warps fit in place of 16", ("09", "unroll(NUM_WARPS_N=4)")),
    ("H100 report", "Warp tiles of 64 × 64 need too many registers"): (
        "with room for one block nothing is spilled",
        ("09", "crowded(MIN_BLOCKS=1)"),
    ),
    ("H100 report", "Padding eliminates bank conflicts"): (
        "The stores that transpose A still collide",
        ("09", "site.wavefronts > site.ideal_wavefronts"),
    ),
    ("H100 report", "A has to be transposed"): ("`matrix_a` in `row_major`", ("09", "`row_major` works")),
    ("H100 report", "mma and ldmatrix fail on alignment"): (
        "it is 16 bytes",
        ("09", '"async_bf16", "mma_bf16", "swizzle_bf16"'),
    ),
    ("H100 report", "Why wmma cannot swizzle"): ("the reason is the stride", ("09", "one_stride.png")),
    ("B200 walk-through", "Tensor memory is shared and for results only"): (
        "it belongs to one multiprocessor, and A may lie there",
        ("11", "inject_fault(k1"),
    ),
    ("B200 walk-through", "Each thread owns 8 × 16 sums"): ("a warp reads 32 lanes", ("11", "warp * 32 << 16")),
    ("B200 walk-through", "All threads of a warp take part"): (
        "one thread issues, and the operands are descriptors",
        ("11", "elect_one"),
    ),
    ("B200 walk-through", "256 × 128 for 128 × 256"): ("256 rows take a pair", ("11", "InstructionDescriptor(m=256")),
    ("B200 walk-through", "K = 16 belongs to FP32"): ("for the 16-bit kinds", ("11", "KINDS.items()")),
    ("B200 walk-through", "Tiles are taken at random"): ("in steps of the grid", ("11", "index += gridDim.x")),
    ("B200 walk-through", "Caches are zeroed"): ("L2 outlives every block", ("12", "shared_reads(best)")),
    ("B200 walk-through", "What a barrier counts"): (
        "arrivals and bytes still missing, and the phase",
        ("11", "widgets.mbarrier("),
    ),
    ("B200 walk-through", "Two speeds without a size"): ("it gives no problem size", ("11", "published()")),
}


def entries(text: str) -> dict[tuple[str, str], dict[str, str]]:
    """The entries of ERRATA.md by source and heading: the text of each labelled part, white space folded."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        source, *bodies = re.split(r"^### ", section, flags=re.M)
        for body in bodies:
            heading, _, rest = body.partition("\n")
            pieces = re.findall(r"^- \*\*([^*]+):\*\* (.+?)(?=^- |\Z)", rest, flags=re.M | re.S)
            found[source.strip(), heading] = {label: " ".join(words.split()) for label, words in pieces}
    return found


def functions_of(path: Path) -> set[str]:
    """The names of the test functions of a file; empty if there is none."""
    if not path.is_file():
        return set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def wrong(entry: dict[str, str]) -> list[str]:
    """What an entry lacks: one of its three parts, or a test that shows that the correction holds."""
    if tuple(entry) != PARTS:
        return [f"its parts are {', '.join(entry) or 'missing'}, not {', '.join(PARTS)}"]
    named = re.findall(r"`([\w/.]+)::(\w+)`", entry["How we know"])
    lost = [f"{path}::{name} is no test" for path, name in named if name not in functions_of(ROOT / path)]
    return lost if named else ["it names no test"]


def text_of(number: str) -> str:
    """All cells of a notebook as one text, white space folded."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    return " ".join(" ".join(cell.source.split()) for cell in nbformat.read(path, as_version=4).cells)


TEXT = (ROOT / "docs/ERRATA.md").read_text(encoding="utf-8")
ENTRIES = entries(TEXT)


def test_the_appendix_has_these_entries_and_no_others():
    assert set(ENTRIES) == set(ERRATA)


@pytest.mark.parametrize("error", ERRATA, ids=lambda error: re.sub(r"\W+", "_", error[1])[:40])
def test_an_erratum_is_corrected_and_shows_how_we_know(error):
    correction, place = ERRATA[error]
    entry = ENTRIES[error]
    assert wrong(entry) == []
    assert error[0] in entry["It says"] and correction in entry["Right"]
    if place:
        number, evidence = place
        assert number in re.findall(r"\d\d[a-c]?", entry["How we know"]) or "kernels" in entry["How we know"]
        assert evidence in text_of(number)


@pytest.mark.parametrize("number", ["06a", "06b", "07", "08", "09", "11", "12"])
def test_a_notebook_that_follows_a_text_leads_to_the_appendix(number):
    text = text_of(number)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for _, heading in ENTRIES}
    linked = re.findall(r"\]\(\.\./docs/ERRATA\.md(?:#([\w-]+))?\)", text)
    assert set(filter(None, linked)) <= anchors | {source.lower().replace(" ", "-") for source, _ in ENTRIES}
    assert linked or number in ("07", "08", "12")  # nothing that these show is corrected there


def test_padding_on_the_t4_costs_a_tenth():
    tiles, padding = 2 * (256 * 64 + 64 * 128), 16 * 256 + 16 * 64
    assert (tiles, padding) == (49_152, 4_096 + 1_024) and round(padding / tiles, 1) == 0.1 and tiles == 6_144 * 8


def test_c_and_d_of_m16n8k8_are_16_by_8():
    held = Mma("m16n8k8", "f16").coordinates("C").reshape(-1, 2)
    assert {tuple(place) for place in held.tolist()} == {(row, column) for row in range(16) for column in range(8)}
    assert len(held) == 16 * 8


def test_an_xor_has_no_single_stride_and_padding_has():
    """`load_matrix_sync` takes one distance between rows. Distances of chunk 1 of eight rows, in bytes."""
    rows = np.arange(8)
    steps = {how: np.diff(TileLayout(8, 128, layout=how).address(rows, 16)).tolist() for how in ("xor", "padded")}
    assert len(set(steps["xor"])) > 1 and set(steps["padded"]) == {144}


GOOD = """## A text
### An error
- **It says:** the text says 1.
- **Right:** it is
  2.
- **How we know:** `tests/notebooks/test_errata.py::test_padding_on_the_t4_costs_a_tenth`.
"""


def test_a_good_entry_passes():
    ((key, entry),) = entries(GOOD).items()
    assert key == ("A text", "An error") and entry["Right"] == "it is 2." and wrong(entry) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- **Right:** it is\n  2.\n", "", "its parts are It says, How we know"),
        ("test_padding_on_the_t4_costs_a_tenth", "test_nothing", "is no test"),
        ("tests/notebooks/test_errata.py::", "tests/nowhere.py::", "is no test"),
        ("`tests/notebooks/test_errata.py::test_padding_on_the_t4_costs_a_tenth`", "believe us", "names no test"),
    ],
)
def test_an_entry_without_evidence_is_refused(old, new, said):
    (entry,) = entries(GOOD.replace(old, new)).values()
    assert any(said in sentence for sentence in wrong(entry))
