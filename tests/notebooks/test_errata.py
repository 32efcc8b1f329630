"""Where the source documents are wrong, a notebook says so and shows how we know."""

import re
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"

# (document, what it says) → the notebook, words of the correction, and code or words that show it there.
ERRATA = {
    ("ampere_rtx5090", "ldmatrix conflicts 16-way and 32-way"): (
        "04",
        "no conflict of `ldmatrix` can be worse than 8-way",
        'three_counts("ldmatrix.x4", "64-byte rows',
    ),
    ("ampere_rtx5090", "padding leaves no conflict"): (
        "07",
        "finds no conflict left after padding",
        "cp_async_cg_wavefronts",
    ),
    ("t4_hgemm", "balance points without decimals"): ("01", "cuts the decimals off", "model.balance("),
    ("t4_hgemm", "a balance point of 87.24"): ("01", "The formula as printed gives 86.667", "65_000 / (0.5 * 220"),
    ("t4_hgemm", "C and D are 8 × 8"): ("06", "writes 8 × 8 for C and D", "an m × k times a k × n matrix is m × n"),
    ("t4_hgemm", "the mask selects the column bits"): ("06", "names them the other way round", "(i & 0b1100) >> 2"),
    ("t4_hgemm", "padding costs 25 %"): ("06", "gives 6,144 bytes and 25 %", "padding / tiles"),
    ("t4_hgemm", "a T4 has 16 multiprocessors"): ("06", "`t4_hgemm` once says 16", "gpu.sms"),
    ("h100_wmma", "MFU against the TF32 peak"): (
        "09",
        "The percentages were taken against TF32",
        "h100.peak(kind, 'f32')",
    ),
    ("h100_wmma", "cuBLAS at 127 %"): ("01", "495 is the TF32 peak", 'h100.peak("bf16", "f32")'),
    ("h100_wmma", "unrolling raises the intensity"): ("09", "K is above and below the bar", "flop / fetched"),
    ("h100_wmma", "unrolling over K raises the intensity"): (
        "01",
        "raises the intensity. The count says no",
        "reads[16] / reads[8]",
    ),
    ("h100_wmma", "mma and ldmatrix fail on alignment"): (
        "09",
        "it is 16 bytes",
        '"async_bf16", "mma_bf16", "swizzle_bf16"',
    ),
    ("h100_wmma", "why wmma cannot swizzle"): ("09", "the reason is the stride", "one_stride.png"),
    ("b200_tcgen05", "tensor memory is shared, for results only"): (
        "11",
        "it belongs to one; A may lie there",
        "inject_fault(k1",
    ),
    ("b200_tcgen05", "each thread owns 8 × 16 sums"): (
        "11",
        "a warp reads 32 lanes, a thread one row",
        "warp * 32 << 16",
    ),
    ("b200_tcgen05", "all threads of a warp take part"): (
        "11",
        "one thread issues, the operands are descriptors",
        "elect_one",
    ),
    ("b200_tcgen05", "256 × 128 for 128 × 256"): ("11", "M = 256 is refused above", "InstructionDescriptor(m=256"),
    ("b200_tcgen05", "K = 16 belongs to FP32"): ("11", "for the 16-bit kinds", "KINDS.items()"),
    ("b200_tcgen05", "tiles are taken at random"): ("11", "in steps of the grid", "index += gridDim.x"),
    ("b200_tcgen05", "caches are zeroed"): ("11", "L2 stays", "L2 outlives every block"),
    ("b200_tcgen05", "what a barrier counts"): (
        "11",
        "arrivals and bytes still missing, and the phase",
        "widgets.mbarrier(",
    ),
    ("b200_tcgen05", "800 and 1,200 TFLOPS"): ("11", "It gives no problem size", "published()"),
}


def text_of(number: str) -> str:
    """All cells of a notebook as one text, white space folded."""
    (path,) = FOLDER.glob(f"{number}_*.ipynb")
    return " ".join(" ".join(cell.source.split()) for cell in nbformat.read(path, as_version=4).cells)


@pytest.mark.parametrize(("error", "place"), ERRATA.items(), ids=lambda value: re.sub(r"\W+", "_", str(value))[:40])
def test_a_notebook_corrects_it_and_shows_how_we_know(error, place):
    number, correction, evidence = place
    text = text_of(number)
    assert correction in text and evidence in text, error
