"""ladder.toml, regions and splicing."""

import re

import pytest

from gemm_lab import catalog
from gemm_lab.catalog import UnknownKernel, kernel, ladder
from gemm_lab.ladder_expressions import evaluate
from gemm_lab.source_text import Edit, find_regions, splice
from gpu_simulator.errors import ConfigError, SizeError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cdiv(N, BLOCK_N)", 4),
        ("N // BLOCK_N * 2", 6),
        ("min(SMS, 7)", 7),
        ("-3 + N % 7", -2),
        ("12", 12),
    ],
)
def test_expressions(text, value):
    assert evaluate(text, {"N": 495 // 5 * 5 - 95, "BLOCK_N": 128, "SMS": 40}) == value


@pytest.mark.parametrize("text", ["__import__('os')", "N.real", "N ** 9", "1 / 2", "'a'", "M", "N //", "N // 0", "[N]"])
def test_an_expression_is_arithmetic_only(text):
    with pytest.raises(ConfigError):
        evaluate(text, {"N": 4})


def test_regions_know_their_lines():
    source = "one\n// region: a\n  x\n  y\n// end region\n\n// region: b why\nz\n// end region\n"
    regions = find_regions(source)
    assert {name: (r.first_line, r.last_line, r.text) for name, r in regions.items()} == {
        "a": (3, 4, "  x\n  y"),
        "b": (8, 8, "z"),
    }


@pytest.mark.parametrize(
    "source",
    [
        "// region: a\nx\n// end region\n// region: a\ny\n// end region\n",
        "// region: a\nx\n// region: b\ny\n// end region\n",
    ],
)
def test_regions_that_overlap_are_refused(source):
    with pytest.raises(ConfigError):
        find_regions(source)


def test_splice_keeps_every_line_number():
    source = "one\n// region: a\nold 1\nold 2\n// end region\nsix\n"
    text = splice(source, "k.cu", {"a": Edit("new 1\nnew 2\nnew 3", "cell", 2)})
    position, seen = ("", 0), {}
    for line in text.split("\n"):
        directive = re.match(r'#line (\d+) "(.+)"', line)
        if directive:
            position = (directive[2], int(directive[1]))
            continue
        seen[line] = position
        position = (position[0], position[1] + 1)
    assert seen["one"] == ("k.cu", 1)
    assert seen["new 3"] == ("cell", 4)
    assert seen["// end region"] == ("k.cu", 5)
    assert seen["six"] == ("k.cu", 6)
    assert "old 1" not in text


def test_an_unknown_region_is_named():
    with pytest.raises(ConfigError, match="“a”"):
        splice("// region: a\nx\n// end region\n", "k.cu", {"b": Edit("y")})


@pytest.mark.parametrize("name", ["t4/03_swizzled", "t4/03"])
def test_a_kernel_is_found_by_number_and_by_part(name):
    assert catalog.kernel(name).name == "t4/03_swizzled"


def test_a_part_of_a_name_is_enough_where_it_is_unique():
    assert catalog.kernel("staged_epilogue").name == "t4/07_staged_epilogue"
    with pytest.raises(UnknownKernel, match="t4/03_swizzled.*ampere/04_swizzled"):
        catalog.kernel("swizzled")


def test_rungs_that_share_a_source_have_names_and_settings_of_their_own():
    one, other = catalog.kernel("unroll_bf16"), catalog.kernel("wmma_opt_bf16_v3")
    assert one.name == "wmma/unroll_bf16" and one.short == "unroll_bf16" and one.path == other.path
    assert one.configure()["K_UNROLL"] == 4 and other.configure()["K_UNROLL"] == 1
    assert catalog.kernel("wmma").name == "wmma/wmma"  # not one of those that begin so
    assert catalog.kernel("wmma_v3").problem.multiplied == "f16" and one.problem.multiplied == "bf16"
    assert catalog.kernel("t4/03").problem.multiplied == "f16" and catalog.kernel("simt/01").problem.multiplied == "f32"


def test_a_source_states_the_settings_of_the_rung_that_shows_it():
    one, other = catalog.kernel("unroll_bf16"), catalog.kernel("wmma_bf16")
    changed = [(a, b) for a, b in zip(one.source.split("\n"), other.source.split("\n"), strict=True) if a != b]
    assert len(changed) == 2 and "K_UNROLL 4" in changed[0][0] and "PADDING 0" in changed[1][1]
    assert other.source == other.path.read_text()  # the first rung of its file


def test_two_rungs_of_one_name_are_refused(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "01_a.cu").write_text("")
    text = (catalog.ladder("simt").kernels[0].path.parent / "ladder.toml").read_text().split("[[rung]]")[0]
    rung = '[[rung]]\nfile = "01_a.cu"\nsummary = "s"\ngrid = ["1"]\n'
    (folder / "ladder.toml").write_text(text + rung + rung + 'name = "b"\n')
    assert [k.name for k in catalog.read_ladder(folder).kernels] == ["x/01_a", "x/b"]
    for wrong, sentence in ((rung, "two rungs “x/01_a”"), (rung + 'name = "b"\ncompute = "f8"\n', "compute “f8”")):
        (folder / "ladder.toml").write_text(text + rung + wrong)
        with pytest.raises(ConfigError, match=sentence):
            catalog.read_ladder(folder)


def test_an_unknown_kernel_gets_near_names():
    with pytest.raises(UnknownKernel, match="t4/03_swizzled"):
        catalog.kernel("t4/03_swizled")
    with pytest.raises(UnknownKernel, match="simt"):
        catalog.ladder("smit")


def test_a_size_that_does_not_fit_names_one_that_does():
    spec = catalog.kernel("t4/01")
    with pytest.raises(SizeError, match="M = 512, N = 512, K = 512"):
        spec.require_size(spec.configure(), 500, 500, 500)
    with pytest.raises(SizeError, match="M = 256"):
        spec.require_size(spec.configure(), 1, 128, 64)
    for bad in (0, -256, 1.5, True, 10**6):
        with pytest.raises(SizeError):
            spec.require_size(spec.configure(), bad, 128, 64)
    spec.require_size(spec.configure(), 256, 128, 64)


CLUSTERED = """
title = "rings"
targets = ["sm_90a"]
grid = ["min(SMS, M // BLOCK_M * (N // BLOCK_N))"]
multiples = { m = "BLOCK_M", n = "BLOCK_N" }
[problem]
formula = "D = AB"
dtype_in = "bf16"
dtype_acc = "f32"
dtype_out = "bf16"
layout_a = "row"
layout_b = "col"
arguments = ["a", "b", "d", "m", "n", "k"]
[config]
BLOCK_M = 128
BLOCK_N = 256
CLUSTER_M = 2
[[rung]]
file = "01_ring.cu"
summary = "a ring"
cluster = ["CLUSTER_M"]
"""


@pytest.fixture
def clustered(tmp_path):
    (tmp_path / "01_ring.cu").write_text("")
    (tmp_path / "ladder.toml").write_text(CLUSTERED)
    return catalog.read_ladder(tmp_path).kernels[0]


def test_a_cluster_follows_the_settings(clustered):
    assert clustered.cluster == (2, 1, 1)
    assert clustered.clustered(clustered.configure(CLUSTER_M=4)).cluster == (4, 1, 1)
    for wrong in (0, 32):
        with pytest.raises(ConfigError, match=f"clusters of {wrong} × 1 × 1 blocks; 1 to 16 are possible"):
            clustered.clustered(clustered.configure(CLUSTER_M=wrong))


@pytest.mark.parametrize(("sms", "cluster", "blocks"), [(132, 2, 132), (133, 2, 132), (131, 4, 128), (1, 2, 2)])
def test_persistent_blocks_fill_whole_clusters(clustered, sms, cluster, blocks):
    config = clustered.configure(CLUSTER_M=cluster)
    assert clustered.launch_grid(config, 8192, 8192, 64, sms) == (blocks, 1, 1)


def test_a_size_that_breaks_a_cluster_names_one_that_does_not(clustered):
    config = clustered.configure()
    assert clustered.launch_grid(config, 256, 256, 64, 132) == (2, 1, 1)
    with pytest.raises(SizeError, match=r"in clusters of 2 × 1 × 1 .* grid of 3 × 1 × 1. Nearest .* M = 256, N = 256"):
        clustered.launch_grid(config, 384, 256, 64, 132)
    with pytest.raises(SizeError, match="Nearest size that works: M = 128, N = 512, K = 64"):
        clustered.launch_grid(config, 128, 256, 64, 132)
    odd = 128 * 133  # more tiles than multiprocessors: the grid does not depend on their number
    assert clustered.launch_grid(config, odd, 256, 64, 132) == (132, 1, 1)


def test_a_setting_is_checked():
    spec = catalog.kernel("t4/01")
    with pytest.raises(ConfigError, match="Did you mean BLOCK_K"):
        spec.configure(BLOCKK=32)
    for bad in (-1, 1.5, "32", True):
        with pytest.raises(ConfigError):
            spec.configure(BLOCK_K=bad)
    assert spec.configure(BLOCK_K=32)["BLOCK_K"] == 32


def test_a_ladder_file_with_a_wrong_key_is_refused(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "01_a.cu").write_text("")
    text = (catalog.ladder("simt").kernels[0].path.parent / "ladder.toml").read_text()
    (folder / "ladder.toml").write_text(text.replace("01_naive.cu", "01_a.cu").split('[[rung]]\nfile    = "02')[0])
    assert catalog.read_ladder(folder).kernels[0].name == "x/01_a"
    (folder / "ladder.toml").write_text((folder / "ladder.toml").read_text() + 'sumary = "typo"\n')
    with pytest.raises(ConfigError, match="sumary"):
        catalog.read_ladder(folder)


def test_a_ladder_answers_to_its_older_name():
    assert kernel("lessons/02_ldmatrix") is kernel("first_kernels/02_ldmatrix") is kernel("lessons/02")
    assert ladder("lessons") is ladder("first_kernels")
