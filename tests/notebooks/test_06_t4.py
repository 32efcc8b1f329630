"""What notebook 06 says in prose about machine code and memory, held against the compiler."""

import re

import nbformat
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir

ARCH = "sm_75"
K1, K2, K3 = (lab.kernel(f"t4/0{number}") for number in (1, 2, 3))


def opcodes(kernel, line=None):
    return [item.opcode for item in kernel.sass(line=line, arch=ARCH).lines]


@pytest.fixture(scope="module")
def lines():
    """The source lines whose machine code the notebook shows, by kernel variable."""
    book = nbformat.read(data_dir("notebooks") / "06_t4.ipynb", as_version=4)
    source = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    return {name: int(line) for name, line in re.findall(r"(k\d)\.sass\(line=(\d+)", source)}


def test_the_lines_shown_are_the_copies_of_a(lines):
    assert "chunk[col % 8] = gmem_a" in K1.source.split("\n")[lines["k1"] - 1]
    assert "smem_a[chunk_a(row, chunk)] =" in K2.source.split("\n")[lines["k2"] - 1]


def test_01_loads_two_bytes_and_stores_them(lines):
    moves = [name for name in opcodes(K1, lines["k1"]) if name.startswith(("LDG", "STS"))]
    assert [name.split(".SYS")[0] for name in moves] == ["LDG.E.U16", "STS.U16"]


def test_02_sends_eight_wide_loads_before_the_first_store(lines):
    moves = [name for name in opcodes(K2, lines["k2"]) if name.startswith(("LDG", "STS"))]
    assert [name.split(".SYS")[0] for name in moves] == ["LDG.E.128"] * 8 + ["STS.128"] * 8


@pytest.mark.parametrize("kernel", [K2, K3], ids=["02", "03"])
def test_twelve_loads_twelve_stores_two_barriers(kernel):
    kept = [name.split(".")[0] for name in opcodes(kernel)]
    kept = [name for name in kept if name in ("LDG", "STS", "BAR")]
    assert kept == ["LDG"] * 12 + ["STS"] * 12 + ["BAR"] * 2 + ["LDG"] * 64


@pytest.mark.parametrize("kernel", [K1, K2, K3], ids=["01", "02", "03"])
def test_a_step_is_256_mma_and_a_t4_holds_one_block(kernel):
    assert kernel.sass(arch=ARCH).mix["HMMA"] == 256
    compiled = kernel.compile(ARCH)
    held = kernel.occupancy(compiled, on="t4")
    assert (compiled.smem, held.blocks, held.binding) == (49_152, 1, "shared memory")


def test_two_lines_change_what_happens_in_03():
    added = [line for line in K3.diff().lines if line.startswith("+")]
    assert len([line for line in added if "static_assert" not in line]) == 2 and len(added) == 3


@pytest.mark.parametrize("rows_bytes", [128, 256])
@pytest.mark.parametrize("swizzled, wavefronts", [(False, 8), (True, 1)])
def test_the_count_of_conflicts_in_prose(rows_bytes, swizzled, wavefronts):
    for chunk in range(rows_bytes // 16):
        first = [(row * rows_bytes + (chunk ^ row % 8 if swizzled else chunk) * 16) // 4 % 32 for row in range(8)]
        assert max(map(first.count, first)) == wavefronts
