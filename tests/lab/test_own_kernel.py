"""A learner's kernel as one file with a main: it compiles, and another text, grid or block is refused in a sentence."""

import re
import shutil
import subprocess

import nbformat
import pytest

import gemm_lab as lab
from gemm_lab import compiling
from gemm_lab.config import data_dir
from gemm_lab.lab.export import own_kernel
from gpu_simulator.errors import ConfigError

GRID, BLOCK = ("cdiv(N, 16)", "cdiv(M, 16)"), (16, 16)


def shipped(name):
    return re.search('r"""(.+?)"""', (lab.puzzle(name).folder / "solutions" / f"{name}.py").read_text(), re.S)[1]


@pytest.mark.parametrize("name", ["00_own_kernel", "02_own_kernel"])
def test_the_file_has_the_kernel_its_launch_and_a_check(name):
    text = own_kernel(shipped(name), GRID, BLOCK)
    assert shipped(name) in text and "dim3 grid(host_cdiv(N, 16), host_cdiv(M, 16), 1)" in text
    assert "gemm<<<grid, dim3(16, 16), 0>>>(a, b, d, M, N, K)" in text and "NUM_THREADS" not in text
    device = text[: text.index("// ---- Host")]
    assert compiling.compile(device, arch="sm_80", name="export").entry == "gemm"


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_nvcc_builds_the_file(tmp_path):
    (tmp_path / "my.cu").write_text(own_kernel(shipped("02_own_kernel"), GRID, BLOCK))
    done = subprocess.run(["nvcc", "-std=c++17", "-arch=sm_80", "my.cu", "-o", "my"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("source", "grid", "block", "says"),
    [
        ("// Your turn", GRID, BLOCK, "no kernel “gemm”"),
        ("__global__ void product(float* d) {}", GRID, BLOCK, "no kernel “gemm”"),
        ("__global__ void gemm() {}", "cdiv(N, 16)", BLOCK, "grid is one or two texts"),
        ("__global__ void gemm() {}", ("system(0)",), BLOCK, "grid is one or two texts"),
        ("__global__ void gemm() {}", (), BLOCK, "grid is one or two texts"),
        ("__global__ void gemm() {}", GRID, (16, 0), "block is one or two whole numbers"),
        ("__global__ void gemm() {}", GRID, (8, 8, 8), "block is one or two whole numbers"),
        ("__global__ void gemm() {}", GRID, ("x",), "block is one or two whole numbers"),
    ],
)
def test_what_cannot_be_exported_is_a_sentence(source, grid, block, says):
    with pytest.raises(ConfigError, match=says):
        own_kernel(source, grid, block)


def test_one_direction_is_enough():
    text = own_kernel("__global__ void gemm(float* d) {}", ["cdiv(M * N, 256)"], [256])
    assert "dim3 grid(host_cdiv(M * N, 256), 1, 1)" in text and "dim3(256)" in text


@pytest.mark.parametrize("notebook", ["00_start_here", "02b_tiling_on_a_gpu"])
def test_a_card_counts_the_lines_of_the_kernel_as_the_cell_does(notebook):
    cells = nbformat.read(data_dir("notebooks") / f"{notebook}.ipynb", as_version=4).cells
    own = next(cell.source for cell in cells if "_own_kernel" in cell.source and "@lab.puzzle(" in cell.source)
    assert own.startswith('kernel = r"""\n'), "line 2 of the cell is line 2 of the text"
