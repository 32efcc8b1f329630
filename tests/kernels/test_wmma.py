"""The wmma ladder: every kernel of the H100 report under its name, made of the instructions that it teaches."""

import csv
import re
from types import SimpleNamespace

import pytest

from gemm_lab import catalog, compiling
from gemm_lab.config import data_dir
from gemm_lab.lab.ladder import Bench, Ladder
from gpu_simulator import compiler
from gpu_simulator.compiler import CompileError
from gpu_timing.machine_code.main_loop import main_loop

LADDER = catalog.ladder("wmma")
DOCUMENT = [
    "wmma",
    "wmma_opt",
    "wmma_v2",
    "wmma_v3",
    "wmma_bf16",
    "wmma_opt_bf16",
    "wmma_opt_bf16_v2",
    "wmma_opt_bf16_v3",
    "wmma_opt_bf16_v4",
    "wmma_opt_bf16_v5",
    "wmma_opt_bf16_v6",
    "wmma_opt_bf16_v7",
    "wmma_opt_bf16_v8",
    "wmma_opt_bf16_v10",
    "stage3_bf16",
    "unroll_bf16",
    "hybrid_bf16",
    "large_tile_bf16",
    "tuned_bf16",
    "compact_bf16",
    "best_bf16",
    "mma_bf16",
    "async_bf16",
    "swizzle_bf16",
]


def build(name: str, **settings):
    spec = catalog.kernel(f"wmma/{name}")
    return compiling.compile(
        spec.source, config=spec.configure(**settings), arch="sm_90a", name=f"wmma/{spec.path.stem}"
    )


def opcodes(name: str, **settings) -> list[str]:
    return [line.opcode for line in compiler.disassemble(build(name, **settings))]


def count(found: list[str], *starts: str) -> int:
    return sum(code.startswith(starts) for code in found)


def test_every_kernel_of_the_report_is_here_and_published():
    names = [spec.short for spec in LADDER.kernels]
    assert len(DOCUMENT) == 24 and sorted(names) == sorted([*DOCUMENT, "best_wmma"])
    assert len({spec.path for spec in LADDER.kernels}) <= 5
    with (data_dir("results") / "published.csv").open(newline="") as file:
        published = {row["kernel"]: row["dtype"] for row in csv.DictReader(file) if row["source"] == "h100_wmma"}
    for name in DOCUMENT:
        spec = catalog.kernel(name) if name != "wmma" else catalog.kernel("wmma/wmma")
        assert spec.published == name and published[name] == spec.problem.multiplied
        assert spec.configure()["BF16"] == (spec.problem.multiplied == "bf16")


TILES = {  # what the H100 report says of each
    "wmma_opt_bf16": (128, 256, 32),
    "wmma_opt_bf16_v2": (256, 256, None),
    "wmma_opt_bf16_v3": (128, 128, 16),
    "wmma_opt_bf16_v5": (256, 128, None),
    "wmma_opt_bf16_v6": (64, 64, None),
    "wmma_opt_bf16_v10": (None, None, 32),
    "unroll_bf16": (128, 128, 16),
    "large_tile_bf16": (256, 128, None),
    "tuned_bf16": (128, 256, None),
    "compact_bf16": (64, 64, None),
    "wmma_opt": (128, 256, 32),
    "wmma_v2": (256, 128, None),
    "wmma_v3": (128, 128, 64),
}


@pytest.mark.parametrize("name", TILES)
def test_tiles_are_those_of_the_report(name):
    config = catalog.kernel(name).configure()
    for axis, size in zip("MNK", TILES[name], strict=True):
        assert size in (None, config[f"BLOCK_{axis}"])


def test_warps_stages_and_unrolling_are_those_of_the_report():
    unroll = catalog.kernel("unroll_bf16").configure()
    assert {
        name: unroll[name] for name in ("NUM_WARPS_M", "NUM_WARPS_N", "K_UNROLL", "PADDING", "SERPENTINE", "MIN_BLOCKS")
    } == {"NUM_WARPS_M": 4, "NUM_WARPS_N": 2, "K_UNROLL": 4, "PADDING": 8, "SERPENTINE": 1, "MIN_BLOCKS": 2}
    assert re.search(r"\.maxntid 256.*\.minnctapersm 2", build("unroll_bf16").ptx, re.S)
    assert build("wmma_v2").threads == 16 * 32
    assert catalog.kernel("stage3_bf16").configure()["NUM_STAGES"] == 3
    hybrid = catalog.kernel("hybrid_bf16").configure()
    assert (hybrid["NUM_STAGES"], hybrid["K_UNROLL"]) == (3, 2)
    for name in ("best_bf16", "wmma_opt_bf16_v2"):
        config = catalog.kernel(name).configure()
        assert config["BLOCK_M"] // config["NUM_WARPS_M"] == config["BLOCK_N"] // config["NUM_WARPS_N"] == 64


def test_more_registers_than_two_blocks_leave_is_what_the_best_of_the_report_died_of():
    assert build("best_bf16").spill_stores > 0 == build("best_bf16", MIN_BLOCKS=1).spill_stores


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", ["wmma_bf16", "unroll_bf16", "stage3_bf16", "hybrid_bf16", "wmma"])
def test_wmma_kernels_use_wmma_and_16_byte_loads(name):
    assert "wmma.load.a" in build(name).ptx and "wmma.mma" in build(name).ptx
    found = opcodes(name)
    assert count(found, "LDG.E.128") == count(found, "LDG") > 0
    assert count(found, "F2FP.BF16" if name != "wmma" else "F2FP.F16") > 0


@pytest.mark.long
def test_mma_bf16_and_swizzle_bf16_have_no_wmma():
    for name in ("mma_bf16", "swizzle_bf16"):
        made = build(name)
        assert "wmma" not in made.ptx
        assert "ldmatrix" in made.ptx and "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" in made.ptx
        found = opcodes(name)
        assert count(found, "LDSM") == 2 * (4 + 4) and count(found, "HMMA.16816.F32.BF16") == 2 * 4 * 8


def test_async_bf16_copies_with_cp_async_and_multiplies_with_wmma():
    made = build("async_bf16")
    assert "cp.async.cg.shared.global" in made.ptx and "wmma.mma" in made.ptx
    assert count(opcodes("async_bf16"), "LDG.") == 0 < count(opcodes("async_bf16"), "LDGSTS.E.BYPASS.LTC128B.128")


def test_rows_that_are_not_16_byte_aligned_are_refused():
    """What the H100 report calls an error of alignment, as a sentence of the compiler."""
    for name in ("async_bf16", "mma_bf16", "unroll_bf16"):
        with pytest.raises(CompileError, match="16 bytes"):
            build(name, PADDING=1)


@pytest.mark.long
def test_a_generic_address_costs_ldmatrix_and_the_shared_window_gets_it_back():
    """NVRTC leaves mma.h's BF16 loads generic: four loads and, crosswise, MOVM. For FP16 it names shared memory."""
    load = "wmma.load.a.sync.aligned.col.m16n16k16"
    assert f"{load}.bf16" in build("unroll_bf16").ptx and f"{load}.shared.f16" in build("wmma_v3").ptx
    slow, half, best = opcodes("unroll_bf16"), opcodes("wmma_v3"), opcodes("best_wmma")
    assert count(slow, "LDSM") == 0 < count(slow, "MOVM") and count(slow, "LD.E") > 0
    assert count(half, "LDSM") > 0 == count(half, "MOVM")
    assert count(best, "LDSM") > 0 == count(best, "MOVM") + count(best, "LD.E")
    assert "wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16" in build("best_wmma").ptx
    assert "mma.sync.aligned.m16n8k16" not in build("best_wmma").ptx


def test_the_main_loop_of_the_best_has_no_branch_and_one_barrier():
    """Loads, stores and fetches stand between the products of one basic block."""
    loop = main_loop(compiler.disassemble(build("best_wmma")))
    found = [line.opcode for line in loop.lines]
    assert loop.inner == () and count(found, "BRA") == 1 and count(found, "BAR.SYNC") == 1
    assert count(found, "HMMA") == 2 * 4 * 4 * 2 and count(found, "LDSM") == 2 * (4 + 4)
    assert count(found, "LDG.E.128") == count(found, "STS.64") == 4 + 8


@pytest.mark.long
def test_k_unrolling_is_a_longer_block_k():
    """Four k tiles of 16 between two barriers, or one of 64: the same machine code."""
    assert opcodes("unroll_bf16") == opcodes("unroll_bf16", BLOCK_K=64, K_UNROLL=1)


def test_a_row_is_found_by_its_whole_name_before_the_names_that_begin_so():
    rows = [
        SimpleNamespace(kernel=name, n=4096, tflops=speed)
        for name, speed in (
            ("wmma/wmma_bf16", 1.0),
            ("wmma/wmma", 2.0),
            ("wmma/wmma_opt_bf16_v2", 3.0),
            ("wmma/wmma_opt_bf16", 4.0),
        )
    ]
    bench = Bench(Ladder(LADDER), rows)
    assert [bench.tflops(name, 4096) for name in ("wmma/wmma", "wmma", "wmma_opt_bf16")] == [2.0, 2.0, 4.0]
