"""The ceiling of the b200 ladder multiplies what it says: two tiles in turns, 256 × 256 × 64 a turn and pair."""

import ml_dtypes
import numpy as np
import pytest

import gpu_simulator
from gemm_lab import catalog, compiling
from gpu_simulator import compiler
from gpu_simulator.hardware.data_sheets import B200

NAME, TURNS, TILES, SEED = "ceilings/tcgen05_m256n256k16_bf16", 5, 2, 7


def shared_tiles(block: int) -> np.ndarray:
    """(TILES, 256, 64) as the block fills its shared memory: rows of A, rows of B, read through the 128-byte swizzle."""
    state = (np.uint32(block * 128) + np.arange(128, dtype=np.uint32)) * np.uint32(2654435761) + np.uint32(SEED)
    words = np.empty((TILES * 256 * 32 // 128, 128), np.uint32)
    for row in words:
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        row[:] = (state >> 3) & np.uint32(0x807F807F) | np.uint32(0x3D803D80)
    chunks = words.reshape(TILES, 256, 8, 4)
    places = np.arange(8) ^ np.arange(256)[:, None] % 8
    return np.take_along_axis(chunks, places[None, :, :, None], 2).view(ml_dtypes.bfloat16).astype(np.float64)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("timing", ["early", "late"])
def test_it_computes_what_it_is_counted_for(timing):
    spec = catalog.kernel(NAME)
    made = compiling.compile(spec.source, config=spec.configure(TURNS=TURNS, TILES=TILES), arch="sm_100a", name=NAME)
    d = np.full(2 * 128, np.nan, np.float32)
    report = gpu_simulator.launch(
        made,
        made.entry,
        (2, 1, 1),
        made.threads,
        [d, SEED],
        dynamic_smem_bytes=made.dynamic_smem,
        cluster=spec.cluster,
        observers=("hazards",),
        timing=timing,
    )
    blocks = [shared_tiles(block).reshape(TILES, 256, 64) for block in (0, 1)]
    a, b = (np.concatenate([block[:, rows] for block in blocks], 1) for rows in (slice(0, 128), slice(128, 256)))
    sums = [sum(a[turn % TILES] @ b[turn % TILES].T for turn in range(TURNS) if turn % 2 == half) for half in (0, 1)]
    assert np.allclose(d, sum(part[:, 0] + part[:, 7] for part in sums), rtol=1e-5)
    assert report.hazards == []


def test_its_operations_are_those_of_its_products():
    spec = catalog.kernel(NAME)
    config = spec.configure()
    blocks = spec.launch_grid(config, 1, 1, 1, B200.sms)[0]
    assert blocks == 148 and spec.launch_grid(config, 1, 1, 1, 7)[0] == 6
    per_pair = config["TURNS"] * 4 * 2 * 256 * 256 * 16
    assert catalog.evaluate(spec.flops_per_thread, config) * 2 * 128 == per_pair
    assert catalog.ladder("b200").ceiling == NAME


def test_no_loop_over_lanes_stands_between_the_products():
    """Issued behind elect.sync; behind `threadIdx.x == 0` the compiler wraps every product in a loop over lanes."""
    spec = catalog.kernel(NAME)
    made = compiling.compile(spec.source, config=spec.configure(), arch="sm_100a", name=NAME)
    lines = compiler.disassemble(made)
    assert not any(line.opcode.startswith("BRA") and ".ANY" in line.text for line in lines)
    at = [number for number, line in enumerate(lines) if line.opcode.startswith("UTCHMMA")]
    assert len(at) >= 4 and np.median(np.diff(at)) <= 4  # in such loops they are 6 apart
