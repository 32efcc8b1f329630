"""A ladder whose kernels take tensor maps: ladder.toml to a checked run on the simulator."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.lab import export, on_simulator
from gemm_lab.lab.kernel import Kernel
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware.tensor_map import TensorMapError

SIMULATOR_TESTS = Path(__file__).resolve().parents[2] / "packages/gpu_simulator/tests" / "copies"


def folder_with(tmp_path, **replaced) -> Path:
    folder = tmp_path / "ring"
    folder.mkdir()
    source = (SIMULATOR_TESTS / "ring.cu").read_text().replace("\nkernel(", "\ngemm(")
    (folder / "01_ring.cu").write_text(source.replace(" int K) {", " int M, int N, int K) {"))
    text = Path(__file__).with_name("ring.toml").read_text()
    for old, new in replaced.values():
        assert old in text
        text = text.replace(old, new)
    (folder / "ladder.toml").write_text(text)
    return folder


@pytest.fixture
def made(tmp_path, monkeypatch):
    found = catalog.read_ladder(folder_with(tmp_path))
    monkeypatch.setitem(catalog.ladders(), "ring", found)
    return Kernel(found.kernels[0], found.kernels[0].configure())


@pytest.mark.long
def test_a_kernel_with_maps_is_checked_and_clean(made):
    compiled = made.compile("sm_120a")
    verdicts, report = on_simulator.check_on_simulator(made, compiled, 136, 72, 200)
    assert all(verdicts) and len(verdicts) == 3 and report.totals.conflict_degree == 1
    assert on_simulator.find_hazards(made, compiled).found == []


def test_boxes_follow_the_configuration(made):
    assert made(BLOCK_K=32).problem.tokens[0] == ("map", "a", (32, 64), 64)
    with pytest.raises(TensorMapError, match="no 256-byte swizzle"):
        on_simulator.check_on_simulator(made(BLOCK_K=128), made.compile("sm_120a"), 128, 128, 128)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"map_a", "map_b", "map_d"', '"map_x", "map_b", "map_d"', "unknown arguments “map_x”"),
        ('array = "a"', 'array = "q"', "tensor map “map_a” needs a name of its own, an array"),
        ("swizzle = 128", "swizle = 128", "unknown keys “swizle”"),
        ("map_b = {", "b = {", "tensor map “b” needs a name of its own"),
    ],
)
def test_wrong_keys_are_named(tmp_path, old, new, words):
    with pytest.raises(ConfigError, match=words):
        catalog.read_ladder(folder_with(tmp_path, change=(old, new)))


NVCC = shutil.which("nvcc")
EXPORTED = ["hopper/02_tma", "hopper/06_clusters", "hopper/08_ping_pong", "rtx5090/03_persistent"]
OF_8_BITS = ["hopper_fp8/01_fast_sums", "hopper_fp8/04_block_scales"]


@pytest.mark.parametrize("name", EXPORTED)
def test_an_export_makes_its_maps_its_clusters_and_its_persistent_grid(name):
    spec = catalog.kernel(name)
    text = export.standalone(spec, spec.configure())
    assert "cuTensorMapEncodeTiled" in text and text.count("= tensor_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, ") == len(
        spec.problem.tensor_maps
    )
    for title, tensor_map in spec.problem.configured(spec.configure()).tensor_maps:
        box = ", ".join(map(str, tensor_map.box))
        assert re.search(
            rf"{title} = .*, {tensor_map.array}, \w, \w, {box}, CU_TENSOR_MAP_SWIZZLE_{tensor_map.swizzle}B", text
        )
    assert ("cudaLaunchKernelEx" in text) == (spec.cluster != (1, 1, 1))
    assert ("cudaDevAttrMultiProcessorCount" in text) == any("SMS" in extent for extent in spec.grid)
    assert f"code={lab.kernel(name).taught_gpu().arch} " in text


@pytest.mark.long
@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
@pytest.mark.parametrize("name", EXPORTED + OF_8_BITS)
def test_nvcc_builds_the_export(name, tmp_path):
    spec = catalog.kernel(name)
    text = export.standalone(spec, spec.configure())
    (tmp_path / "out.cu").write_text(text)
    flags = re.search(r"Build: nvcc -O3 (.*) FILE.cu", text)[1].split()
    done = subprocess.run(
        [NVCC, *flags, "-o", tmp_path / "out", tmp_path / "out.cu"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and (tmp_path / "out").exists(), done.stderr


def test_a_ceiling_cannot_be_exported():
    spec = catalog.kernel("ceilings/mma_m16n8k8_f16")
    with pytest.raises(LabError, match="cannot be exported: .* multiplies no matrices"):
        export.standalone(spec, spec.configure())
