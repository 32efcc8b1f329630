"""wgmma on the simulator: exact for every form and every layout, and a ring of stages whose mistakes are all named."""

import dataclasses
import re
from itertools import product

import numpy as np
import pytest
from mutants import altered_mbarriers, altered_wgmma, mutants
from survivors import TIMINGS, survivors
from warpgroup_samples import CONFIG, IMAGE_BYTES, Form, in_registers, one, place, ring, ring_source, tile_of

import gpu_simulator
from gpu_simulator.arithmetic.fp8 import decoded
from gpu_simulator.hardware.tensor_map import TensorMap

# ---- One multiplication ----


def raw(values: np.ndarray, kind: str) -> np.ndarray:
    """Small integers as elements of a type, in raw bits."""
    if kind == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind in ("f16", "tf32"):
        return values.astype(np.float16 if kind == "f16" else np.float32)
    if kind in ("s8", "u8"):
        return values.astype(np.int8).view(np.uint8)
    table = decoded(kind)
    codes = {float(value): code for code, value in reversed(list(enumerate(table.tolist())))}
    return np.array([codes[float(value)] for value in values.reshape(-1)], np.uint8).reshape(values.shape)


def multiplied(form: Form, timing: str, seed=0, **launch):
    """(D from the simulator, D from NumPy, the report) of one multiplication by one warpgroup."""
    rng = np.random.default_rng(seed)
    kinds = form.types
    low = {kind: 0 if kind == "u8" else -4 for kind in kinds}
    a = rng.integers(low[kinds[0]], 5, (64, form.k))
    b = rng.integers(low[kinds[1]], 5, (form.n, form.k))
    before = rng.integers(-20, 20, (64, form.n))
    image = rng.integers(0, 256, IMAGE_BYTES, dtype=np.uint8)
    words = [
        np.uint64(place(image, tile_of(1024 * (1 + 15 * i), len(m), form, i), raw(m, kind)))  # a GPU asks for 8 bytes
        for i, (m, kind) in enumerate(zip((a, b), kinds, strict=True))
    ]
    where = in_registers("D", form.n)[:, :, 0]
    own = before[where[..., 0], where[..., 1]]
    d = own.astype({"f32": np.float32, "s32": np.int32, "f16": np.float16}[form.accumulator]).reshape(-1)
    at = in_registers("A", form.k, form.a)
    fragments = np.ascontiguousarray(raw(a, kinds[0])[at[..., 0], at[..., 1]]).view(np.uint32).reshape(-1)
    args = [
        image.view(np.uint32),
        d.view(np.uint32) if form.accumulator == "f16" else d,
        fragments,
        *words,
        form.scale_d,
    ]
    report = gpu_simulator.launch(one(form), "kernel", 1, 128, args, timing=timing, **launch)
    got = np.zeros((64, form.n))
    got[where[..., 0], where[..., 1]] = d.reshape(128, -1)
    want = form.signs[0] * form.signs[1] * (a @ b.T) + (before if form.scale_d else 0)
    return got, want, report


SIZES = [Form(n) for n in (8, 24, 40, 64, 96, 128, 192, 256)]
LAYOUTS = [
    Form(64, majors=majors, swizzles=(x, y))
    for majors in product(("k", "mn"), repeat=2)
    for x, y in ((0, 0), (32, 64), (64, 128), (128, 32))
]
TYPES = [
    Form(64, "f16"),
    Form(64, "f16", accumulator="f16"),
    Form(32, "f16", majors=("mn", "mn")),
    Form(64, "tf32"),
    Form(64, "tf32", swizzles=(0, 32)),
    Form(64, "e4m3"),
    Form(32, "e4m3", "e5m2", "f16"),
    Form(64, "e5m2", "e4m3", swizzles=(64, 0)),
    Form(48, "s8", accumulator="s32"),
    Form(32, "u8", "s8", "s32"),
]
REGISTERS = [
    Form(64, kind, accumulator=acc, a_in_registers=True, swizzles=(0, 64))
    for kind, acc in (("bf16", "f32"), ("f16", "f16"), ("tf32", "f32"), ("e4m3", "f32"), ("s8", "s32"))
]
REGISTERS.append(Form(32, "bf16", majors=("k", "mn"), a_in_registers=True))
SCALES = [
    Form(16, signs=(-1, 1)),
    Form(16, signs=(1, -1)),
    Form(16, signs=(-1, -1)),
    Form(16, scale_d=0),
    Form(16, "f16", accumulator="f16", signs=(-1, 1), scale_d=0),
    Form(16, "s8", accumulator="s32", scale_d=0),
]


@pytest.mark.sampled(every=18)
@pytest.mark.parametrize("form", [*SIZES, *LAYOUTS, *TYPES, *REGISTERS, *SCALES], ids=lambda f: "-".join(map(str, f)))
def test_one_multiplication_is_exact_and_clean(form):
    for timing in TIMINGS:
        got, want, report = multiplied(form, timing, observers=("hazards",))
        assert np.array_equal(got, want), timing
        assert report.hazards == []


def test_fp16_accumulators_are_rounded_and_scale_d_0_reads_no_nan():
    form = Form(16, "f16", accumulator="f16")
    image = np.zeros(IMAGE_BYTES, np.uint8)
    a, b = np.zeros((64, 16), np.float16), np.zeros((16, 16), np.float16)
    a[:, 0], b[:, 0] = 1, 0.25
    words = [place(image, tile_of(1024 * (1 + 31 * i), len(m), form, i), m) for i, m in enumerate((a, b))]
    d = np.full(128 * 8, 1024, np.float16)
    args = [image.view(np.uint32), d.view(np.uint32), np.zeros(512, np.uint32), *words]
    gpu_simulator.launch(one(form), "kernel", 1, 128, [*args, 1])
    assert (d == 1024).all()  # 1024.25 lies below half a step
    d[:] = np.nan
    gpu_simulator.launch(one(form), "kernel", 1, 128, [*args, 0])
    assert (d == 0.25).all()


def test_what_is_read_is_counted():
    _, _, report = multiplied(Form(96), "early")
    (site,) = [s for s in report.sites if "mma_async" in s.opcode]
    assert (site.executions, site.requests, site.bytes, site.wavefronts) == (4, 1, (64 + 96) * 32, 40)
    assert site.ideal_wavefronts == site.wavefronts
    _, _, report = multiplied(REGISTERS[0], "early")
    (site,) = [s for s in report.sites if "mma_async" in s.opcode]
    assert (site.bytes, site.wavefronts) == (64 * 32, 16)


@pytest.mark.parametrize(("n", "wavefronts"), [(128, 48), (256, 80)])
def test_the_counts_recorded_on_an_h200(n, wavefronts):
    _, _, report = multiplied(Form(n), "early")
    assert [s.wavefronts for s in report.sites if "mma_async" in s.opcode] == [wavefronts]


def test_registers_hold_the_tiles_of_m16n8():
    """The rows of warp w are 16w … 16w + 15; columns go on in tiles of 8, as PTX ISA draws D of m64nNk16."""
    d = in_registers("D", 24)[:, :, 0]
    assert d.shape == (128, 12, 2)
    assert len(np.unique(d[..., 0] * 24 + d[..., 1])) == 64 * 24
    for thread, element, place_ in (
        (0, 0, (0, 0)),
        (0, 1, (0, 1)),
        (0, 2, (8, 0)),
        (0, 4, (0, 8)),
        (5, 0, (1, 2)),
        (31, 3, (15, 7)),
        (32, 0, (16, 0)),
        (127, 11, (63, 23)),
    ):
        assert tuple(d[thread, element]) == place_
    a = in_registers("A", 16)
    for thread, register, half, place_ in (
        (0, 0, 1, (0, 1)),
        (0, 1, 0, (8, 0)),
        (0, 2, 0, (0, 8)),
        (33, 0, 0, (16, 2)),
    ):
        assert tuple(a[thread, register, half]) == place_


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("m64n16k16", "m64n12k16", "n is a multiple of 8 up to 256, not 12"),
        ("m64n16k16", "m64n264k16", "n is a multiple of 8 up to 256, not 264"),
        ("m64n16k16", "m64n24k16", "the accumulator takes 12 registers here, and 8 stand there"),
        ("m64n16k16", "m64n16k8", "k is 16 for bf16"),
        ("f32.bf16.bf16", "f32.bf16.f16", "bf16 and f16 into f32 is no combination of types"),
        ("f32.bf16.bf16", "f16.bf16.bf16", "bf16 and bf16 into f16 is no combination"),
        ("mma_async.sync", "mma_async.sp.sync", "products with a sparse A are not supported; mma.sp is"),
        ("p, 1, 1, 0, 0", "p, 2, 1, 0, 0", "imm-scale is 1 or -1"),
        ("p, 1, 1, 0, 0", "p, 1, 1, 0, 2", "imm-trans 0 or 1"),
        ("p, 1, 1, 0, 0", "p, 1, 1, 0", "3 constants behind scale-d"),
    ],
)
def test_forms_that_do_not_exist_are_refused(old, new, said):
    ptx = one(Form(16)).ptx
    assert old in ptx
    args = [np.zeros(IMAGE_BYTES // 4, np.uint32), np.zeros(1024, np.float32), np.zeros(512, np.uint32), 0, 0, 0]
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match=said):
        gpu_simulator.launch(ptx.replace(old, new), "kernel", 1, 128, args, IMAGE_BYTES)


# ---- A ring of stages ----


def gemm(
    source=None,
    timing="early",
    m=256,
    n=128,
    k=448,
    config=CONFIG,
    ptx=None,
    observers=("hazards",),
    block=384,
    **launch,
):
    """(is D exact, the report)."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape) for shape in ((m, k), (n, k)))
    d = np.full((m, n), np.nan, np.float32)
    compiled = ring(source or ring_source(config), config)
    if ptx is not None:
        compiled = dataclasses.replace(compiled, ptx=ptx)
    maps = [
        TensorMap.of(raw(x, "bf16"), (64, rows), 128, element="bf16")
        for x, rows in ((a, config["BLOCK_M"]), (b, config["BLOCK_N"]))
    ]
    grid = n // config["BLOCK_N"], m // config["BLOCK_M"]
    launch = {"max_instructions": 300_000, **launch}
    report = gpu_simulator.launch(
        compiled, "kernel", grid, block, [*maps, d, n, k], observers=observers, timing=timing, **launch
    )
    return np.array_equal(d, (a @ b.T).astype(np.float32)), report


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize(("n", "k"), [(64, 448), (64, 64), (256, 320)])
def test_the_ring_is_exact_and_clean(timing, n, k):
    config = {**CONFIG, "BLOCK_N": n, "WGMMA_N": n}
    exact, report = gemm(timing=timing, n=max(n, 128), k=k, config=config)
    assert exact and report.hazards == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_rings_of_all_kinds_are_exact_and_clean(seed):
    """Any number of stages, width and depth of waiting; one thread or one a warp frees a stage, from any warp."""
    rng = np.random.default_rng(seed)
    stages, n, k = int(rng.integers(2, 5)), int(rng.choice([8, 24, 64, 96])), 64 * int(rng.integers(1, 9))
    config = {**CONFIG, "NUM_STAGES": stages, "BLOCK_N": n, "WGMMA_N": n}
    tells = {"thread == 0": 1, "thread == 64": 1, "thread % 32 == 0": 4, "thread % 64 == 32": 2}
    who = str(rng.choice(list(tells)))
    source = ring_source(config).replace("previous >= 0 && thread == 0", f"previous >= 0 && {who}")
    source = source.replace("CONSUMERS);\n    }", f"CONSUMERS * {tells[who]});\n    }}")
    if rng.integers(2):
        source = source.replace("wait_group.sync.aligned 1;", "wait_group.sync.aligned 0;")
    for timing in TIMINGS:
        exact, report = gemm(source, timing, n=2 * n, k=k, config=config)
        assert exact and report.hazards == []


def test_512_takes_few_steps():
    config = {**CONFIG, "BLOCK_N": 256, "WGMMA_N": 256}
    exact, report = gemm(m=512, n=512, k=512, config=config, observers=())
    assert exact and report.steps < 16_000


@pytest.mark.long
def test_mutants_of_the_ring_are_caught():
    ptx = ring(ring_source()).ptx
    missed = survivors(
        (*mutants(ptx), *altered_mbarriers(ptx), *altered_wgmma(ptx)),
        lambda ptx, timing: gemm(m=128, n=64, k=320, ptx=ptx, timing=timing),
    )
    # The hardware does not look at the leading offset of K-major operands that are swizzled: no change at all.
    assert len(missed) == 2 * ptx.count("wgmma.mma_async")
    assert all("→ leading offset of " in statement for statement in missed)


def test_scale_d_is_one_for_the_whole_warpgroup():
    ptx, by_lane = re.subn(
        r"setp\.ne\.b32 p, %r\d+, 0;",
        "{.reg .b32 q; mov.u32 q, %tid.x; and.b32 q, q, 1; setp.ne.b32 p, q, 0;}",
        one(Form(16)).ptx,
    )
    assert by_lane == 1
    args = [np.zeros(IMAGE_BYTES // 4, np.uint32), np.zeros(128 * 8, np.float32), np.zeros(512, np.uint32), 0, 0, 1]
    with pytest.raises(gpu_simulator.WarpgroupFault, match=r"scale-d = 0, and .*thread \(1, 0, 0\) gives 1"):
        gpu_simulator.launch(ptx, "kernel", 1, 128, args, IMAGE_BYTES)
