"""wgmma on a GPU against the simulator: every form, and the shared address of every element that a descriptor names.

Needs sm_90: wgmma exists nowhere else.
"""

from itertools import product

import numpy as np
import pytest
import test_wgmma as of_simulator
import warpgroup_samples as samples

import gpu_runner as device
import gpu_simulator
from gpu_simulator.hardware import data_sheets as hardware
from gpu_simulator.hardware.matrix_descriptor import SharedTile, element_addresses, encode_sm90, problem
from gpu_simulator.hardware.tensor_map import TensorMap

PRESENT = hardware.detect()
ON_GPU = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.available(), reason=device.why_not() or "a GPU"),
    pytest.mark.skipif(PRESENT is None or PRESENT.arch != "sm_90a", reason="wgmma exists on 9.0 alone"),
]
on_gpu = pytest.param("gpu", marks=ON_GPU)
FORMS = [*of_simulator.SIZES, *of_simulator.LAYOUTS, *of_simulator.TYPES, *of_simulator.REGISTERS, *of_simulator.SCALES]
CODE = 0x0100  # of the first two bytes: from there on BF16 numbers are neither subnormal nor NaN, for 60 KB


def launch(where: str, compiled, args, grid=(1, 1, 1), threads: int = 128) -> list:
    """The arrays of `args` after the launch."""
    if where == "gpu":
        return device.launch(compiled, grid=grid, args=args, timeout_s=20)
    gpu_simulator.launch(compiled, "kernel", grid, threads, args)
    return [arg for arg in args if isinstance(arg, np.ndarray)]


@pytest.mark.parametrize("where", [on_gpu])
@pytest.mark.parametrize("form", FORMS, ids=lambda f: "-".join(map(str, f)))
def test_one_multiplication(form, where, monkeypatch):
    def instead(compiled, entry, grid, block, args, **options):
        for kept, found in zip(
            (a for a in args if isinstance(a, np.ndarray)), launch(where, compiled, args), strict=True
        ):
            kept[...] = np.asarray(found).reshape(kept.shape)

    monkeypatch.setattr(of_simulator.simulator, "launch", instead)
    got, want, _ = of_simulator.multiplied(form, "early")
    assert np.array_equal(got, want)


def tiles():
    """Operands of 64 rows that can be meant: every swizzle and major, steps within the row, strides of all kinds."""
    base = 4096
    for swizzle, major in product((0, 32, 64, 128), ("k", "mn")):
        span = 8 * (swizzle or 16)
        lead, stride = (512, 128) if not swizzle else (16, span) if major == "k" else (4 * span, span)
        for step, more, other in product((0, 32, 64, 96), (0, 1024), (0, 2048)):
            tile = SharedTile(base + step, lead + other, stride + more, swizzle, major)
            if not problem(tile, 64, 16, 2, samples.IMAGE_BYTES):
                yield tile


TILES = list(tiles())


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("where", ["simulator", on_gpu])
@pytest.mark.parametrize(
    "tile", TILES, ids=lambda t: f"{t.major}-{t.swizzle}-{t.start}-{t.leading_bytes}-{t.stride_bytes}"
)
def test_every_element_comes_from_where_the_model_says(tile, where):
    """A picks single elements of B out, and shared memory holds its own addresses."""
    form = samples.Form(64, "bf16", majors=("k", tile.major), a_in_registers=True)
    image = (np.arange(samples.IMAGE_BYTES // 2) + CODE).astype(np.uint16)
    a = np.zeros((64, 16), np.float32)
    a[np.arange(64), np.arange(64) % 16] = 1
    at = samples.in_registers("A", 16)
    fragments = np.ascontiguousarray(of_simulator.raw(a, "bf16")[at[..., 0], at[..., 1]]).view(np.uint32).reshape(-1)
    args = [
        image.view(np.uint32),
        np.zeros(128 * 32, np.float32),
        fragments,
        np.uint64(0),
        np.uint64(encode_sm90(tile)),
        0,
    ]
    d = np.asarray(launch(where, samples.one(form), args)[1])
    place, found = samples.in_registers("D", 64)[:, :, 0], np.zeros((64, 64), np.float32)
    found[place[..., 0], place[..., 1]] = d.reshape(128, -1)
    addresses = ((found[:16].view(np.uint32) >> 16).astype(np.int64) - CODE) * 2
    assert np.array_equal(addresses.T, element_addresses(tile, 64, 16, 2))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("where", ["simulator", on_gpu])
@pytest.mark.parametrize(("n", "size"), [(64, (256, 192, 448)), (128, (256, 256, 64)), (256, (1024, 1024, 1024))])
def test_a_ring_of_stages(n, size, where):
    rows, columns, k = size
    config = {**samples.CONFIG, "BLOCK_N": n, "WGMMA_N": n}
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape) for shape in ((rows, k), (columns, k)))
    maps = [
        TensorMap.of(of_simulator.raw(x, "bf16"), (64, height), 128, element="bf16") for x, height in ((a, 128), (b, n))
    ]
    args = [*maps, np.full((rows, columns), np.nan, np.float32), columns, k]
    compiled = samples.ring(samples.ring_source(config), config)
    found = launch(where, compiled, args, (columns // n, rows // 128, 1), 384)[-1]
    assert np.array_equal(np.asarray(found).reshape(rows, columns), (a @ b.T).astype(np.float32))
