"""The trace of a kernel's machine code against the instructions that an H200 executed."""

import csv
from collections import defaultdict

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.lab.actions.predicting import product_of
from gemm_lab.source_text import parse_settings
from gpu_simulator.errors import SimulatorError
from gpu_timing.cycles.tracing import trace

ARCH, N, SMS = "sm_90a", 4096, 132
# Kernels whose warps never spin, so that the counts have to agree. In the others a waiting warp repeats its test.
EXACT = ("ampere/04_swizzled", "ampere/11_any_size", "t4/03_swizzled", "wmma/best_wmma", "first_kernels/03_wmma",
         "hopper/01_wgmma", "rtx5090/01_tma", "simt/05_warp_tiles")  # fmt: skip


@pytest.fixture(scope="module")
def executed():
    found = defaultdict(dict)
    with (data_dir("results") / "profiles/h200/executed.csv").open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if int(row["n"]) == N:
                found[row["kernel"], row["config"]][row["opcode"]] = int(row["executed"])
    return found


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", EXACT)
def test_a_block_times_the_grid_gives_the_recorded_counts(name, executed):
    (config, counts), *_ = [(config, counts) for (kernel, config), counts in executed.items() if kernel == name]
    kernel = lab.kernel(name, **parse_settings(config.split()))
    compiled = kernel.compile(ARCH)
    launch = product_of(kernel, compiled, N, N, N, SMS).launch(N, N)
    found = trace(compiled, ARCH, launch)
    mine = defaultdict(int)
    for path in found.paths:
        for index, times in enumerate(np.bincount(path, minlength=len(found.code))):
            mine[found.code[index].op] += int(times) * launch.grid[0] * launch.grid[1] * launch.grid[2]
    total = sum(counts.values())
    for opcode in {*counts, *mine}:
        assert abs(mine[opcode] - counts.get(opcode, 0)) <= 0.002 * total, opcode
    assert not found.unknown


def test_conflicts_are_in_the_trace():
    def wavefronts(name):
        kernel = lab.kernel(name)
        compiled = kernel.compile(ARCH)
        found = trace(compiled, ARCH, product_of(kernel, compiled, 512, 512, 512, SMS).launch(512, 512))
        return sum(one.wavefronts for accesses in found.accesses for one in accesses if one is not None)

    assert wavefronts("ampere/02_cp_async") > 3 * wavefronts("ampere/04_swizzled")


def test_spilled_loop_counters_are_followed():
    kernel = lab.kernel("rtx5090/03_persistent", BLOCK_N=128, BLOCK_K=64, NUM_WARPS_N=2, NUM_STAGES=3)
    compiled = kernel.compile(ARCH)
    found = trace(compiled, ARCH, product_of(kernel, compiled, N, N, 256, SMS).launch(N, 256))
    copies = [sum(found.code[i].op == "UTMALDG" for i in path) for path in found.paths]
    turns = [sum(found.code[i].op == "HMMA" for i in path) for path in found.paths]
    tiles = -(-((N // 128) ** 2) // SMS)
    assert max(copies) == 2 * tiles * 256 // 64  # the producer's two maps, for each k tile
    assert max(turns) == tiles * 256 // 16 * (64 // 16) * (64 // 8)


def test_a_loop_that_never_ends_is_a_sentence(monkeypatch):
    monkeypatch.setattr("gpu_timing.cycles.tracing.MAX_STEPS", 3)
    kernel = lab.kernel("t4/03_swizzled")
    compiled = kernel.compile(ARCH)
    with pytest.raises(SimulatorError, match="does not end .* has no end, or one that is further away"):
        trace(compiled, ARCH, product_of(kernel, compiled, 512, 512, 512, SMS).launch(512, 512))
