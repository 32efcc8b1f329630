"""The form of a kernel file: header, sections, size, and how little a rung changes."""

import difflib
import re

import pytest

from gemm_lab import catalog

# Rungs that share a source are looked at once, in the first of them.
RUNGS = list({spec.path: spec for spec in reversed(catalog.kernels().values())}.values())[::-1]
SECTIONS = ["Where this", "Shared memory", "Main loop", "Epilogue"]
# A source of the wmma ladder stands for several rungs and takes the step of as many.
MOST_CHANGED = {
    "t4/03_swizzled": 10,
    "ampere/03_padded": 10,
    "ampere/04_swizzled": 10,
    "ampere/08_block_order": 10,
    "rtx5090/02_producer_warp": 60,  # full, empty, the producer, and products that do not wait: it needs all four
    "decode/04_wgmma": 75,  # TMA, mbarriers, a producer warp and wgmma, each taught on the ladder of notebook 10
    "rtx5090/03_persistent": 50,  # its loop over tiles moves what it holds to the right
    "hopper_fp8/04_block_scales": 50,  # scales, and a tile that two or three warpgroups share
    "wmma/wmma_opt_bf16_v4": 55,
    "wmma/mma_bf16": 65,
    "wmma/best_wmma": 90,
}


def body(spec) -> list[str]:
    """The lines of a kernel after its header comment."""
    lines = spec.source.split("\n")
    while lines and lines[0].startswith("//"):
        lines.pop(0)
    return lines


@pytest.mark.parametrize("spec", RUNGS, ids=lambda s: s.name)
def test_header(spec):
    header = spec.source.split("\n")[:4]
    assert header[0].startswith(f"// {spec.file}: ")
    if spec.extends:
        other = catalog.kernel(spec.extends)
        base = other.path.stem if other.ladder == spec.ladder else spec.extends
        assert header[1].startswith(f"// Extends {base}.cu: ")
    else:
        assert header[1] == "// The first rung."
    assert header[2].startswith("// D[M,N] = ")
    number = catalog.ladder(spec.ladder).notebook[:2]
    assert re.search(rf"^// \S.*   Notebook {number}\.$", header[3]), (
        f"Line 4 of {spec.file} names the GPUs that the kernel runs on, and then the notebook that teaches its ladder "
        f"(`notebook` in ladder.toml): “// … Notebook {number}.”"
    )


@pytest.mark.parametrize("spec", RUNGS, ids=lambda s: s.name)
def test_sections_come_in_one_order(spec):
    places = [spec.source.find(f"// ---- {title}") for title in SECTIONS]
    there = [place for place in places if place >= 0]
    assert there == sorted(there)
    assert places[0] >= 0 and places[2] >= 0 and places[3] >= 0


@pytest.mark.parametrize("spec", RUNGS, ids=lambda s: s.name)
def test_a_kernel_fits_on_three_screens(spec):
    lines = spec.source.split("\n")
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("spec", [s for s in RUNGS if s.extends], ids=lambda s: s.name)
def test_a_rung_changes_little(spec):
    base = catalog.kernel(spec.extends)
    if base.ladder != spec.ladder:
        pytest.skip("the first rung of a ladder starts a new file")
    added = [line for line in difflib.ndiff(body(base), body(spec)) if line.startswith("+ ")]
    assert 0 < len(added) <= MOST_CHANGED.get(spec.name, 45)


@pytest.mark.parametrize("spec", catalog.kernels().values(), ids=lambda s: s.name)
def test_the_comment_beside_config_states_the_default(spec):
    stated = re.search(r'#include "config.cuh"\s*// (.*(?:\n {20,}// .*)*)', spec.source)[1]
    stated = re.sub(r"\s+(?:// )?", " ", stated)
    assert stated == ", ".join(f"{name} {value}" for name, value in spec.configure().items())


@pytest.mark.parametrize("spec", RUNGS, ids=lambda s: s.name)
def test_every_barrier_says_who_waits(spec):
    for line in spec.source.split("\n"):
        if "__syncthreads()" in line:
            assert "//" in line
