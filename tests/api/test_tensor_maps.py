"""A ladder whose kernels take tensor maps: ladder.toml to a checked run on the emulator."""

from pathlib import Path

import pytest

from gemm_lab import catalog
from gemm_lab.api import emulating
from gemm_lab.api.kernel import Kernel
from gemm_lab.errors import ConfigError
from gemm_lab.model.tensor_map import TensorMapError

SHARED = Path(__file__).parents[1] / "emulator"


def folder_with(tmp_path, **replaced) -> Path:
    folder = tmp_path / "ring"
    folder.mkdir()
    source = (SHARED / "ring.cu").read_text().replace("\nkernel(", "\ngemm(")
    (folder / "01_ring.cu").write_text(source.replace(" int K) {", " int M, int N, int K) {"))
    text = (SHARED / "ring.toml").read_text()
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


def test_a_kernel_with_maps_is_checked_and_clean(made):
    compiled = made.compile("sm_120a")
    verdicts, report = emulating.check_on_emulator(made, compiled, 136, 72, 200)
    assert all(verdicts) and len(verdicts) == 2 and report.totals.conflict_degree == 1
    assert emulating.find_hazards(made, compiled) == []


def test_boxes_follow_the_configuration(made):
    assert made(BLOCK_K=32).problem.tokens[0] == ("map", "a", (32, 64), 64)
    with pytest.raises(TensorMapError, match="no 256-byte swizzle"):
        emulating.check_on_emulator(made(BLOCK_K=128), made.compile("sm_120a"), 128, 128, 128)


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


def test_a_kernel_with_maps_cannot_be_exported(made):
    from gemm_lab.compiler.export import standalone
    from gemm_lab.errors import LabError

    with pytest.raises(LabError, match="cannot be exported"):
        standalone(made.spec, made.config)
