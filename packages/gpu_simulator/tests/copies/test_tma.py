"""TMA on the simulator: boxes land where they should, and every way to use it wrongly is named."""

import dataclasses
import re
from pathlib import Path

import compiling
import numpy as np
import pytest
from boxes import NAN_BYTES, POISON, ROOM, Box, arguments, boxes, build
from mutants import altered_mbarriers, mutants
from survivors import survivors

import gpu_simulator
from gpu_simulator.hardware.tensor_map import TensorMap

RING = (Path(__file__).parent / "ring.cu").read_text()
CONFIG = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "NUM_STAGES": 3}


# ---- Boxes ----


def reference(box: Box, array: np.ndarray, tensor_map: TensorMap):
    """(value, inside) of every element that a copy moves: element by element, outermost dimension first."""
    shape = tensor_map.copied[::-1]
    values, inside = np.zeros(shape, array.dtype), np.zeros(shape, bool)
    if box.fill == "nan":
        values.view(np.uint8).reshape(-1, array.itemsize)[:] = list(bytes.fromhex(NAN_BYTES[box.dtype]))
    for at in np.ndindex(shape):
        place = tuple(
            c + i * s for c, i, s in zip(box.coordinates[::-1], at, tensor_map.element_strides[::-1], strict=True)
        )
        if all(0 <= p < n for p, n in zip(place, array.shape, strict=True)):
            values[at], inside[at] = array[place], True
    return values, inside


def places(box: Box, tensor_map: TensorMap) -> np.ndarray:
    """The shared byte address of every element, by model/tile_layout: an XOR on absolute addresses."""
    rows = int(np.prod(tensor_map.copied[1:]))
    plain = box.at + np.arange(rows)[:, None] * tensor_map.row_pitch + np.arange(box.box[0]) * tensor_map.element_bytes
    if not box.swizzle:
        return plain
    return plain ^ (plain >> 7 & box.swizzle // 16 - 1) << 4


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("box", [box for box in boxes() if not box.stops(False)], ids=str)
def test_a_box_is_loaded(box):
    array = box.array()
    tensor_map = box.tensor_map(array)
    values, _ = reference(box, array, tensor_map)
    want = np.full(ROOM, POISON, np.uint8)
    for place, value in zip(places(box, tensor_map).reshape(-1), values.reshape(-1), strict=True):
        want[place : place + array.itemsize] = np.frombuffer(value.tobytes(), np.uint8)
    got, done = np.zeros(ROOM // 4, np.uint32), np.zeros(1, np.uint32)
    compiled = build(len(box.shape), False, "sm_90a" if box.swizzle else "sm_120a")
    gpu_simulator.launch(compiled, "kernel", 1, 128, arguments(box, tensor_map, got, done))
    assert done[0] == 1 and np.array_equal(got.view(np.uint8), want)


OFF = r"boxes.cu:\d+.*thread \(0, 0, 0\) {} a box at .* bytes along its row, which is not a multiple of 16 bytes.*H200"
NEGATIVE = r"boxes.cu:\d+.*thread \(0, 0, 0\) stores a box at .* coordinate -\d+ along dimension \d is negative.*H200"


@pytest.mark.parametrize("store", [False, True], ids=["load", "store"])
@pytest.mark.parametrize("box", boxes(), ids=str)
def test_a_corner_that_stops_the_gpu_is_refused_and_no_other(box, store):
    def run():
        args = arguments(box, box.tensor_map(box.array()), np.zeros(ROOM // 4, np.uint32), np.zeros(1, np.uint32))
        gpu_simulator.launch(build(len(box.shape), store, "sm_90a"), "kernel", 1, 128, args)

    if not box.stops(store):
        return run()
    words = OFF.format("stores" if store else "loads") if box.stops(False) else NEGATIVE
    with pytest.raises(gpu_simulator.MemoryFault, match=words):
        run()


def test_the_refusal_names_coordinates_that_work():
    with pytest.raises(
        gpu_simulator.MemoryFault, match=r"at \(3, 1\), .* 3 lies 6 bytes along .* multiple of 8, such as 0 or 8"
    ):
        load(PLAIN._replace(coordinates=(3, 1)))
    with pytest.raises(gpu_simulator.MemoryFault, match=r"at \(-5, 1\), .* multiple of 8, such as -8 or 0"):
        load(PLAIN._replace(coordinates=(-5, 1)))


@pytest.mark.sampled(every=4, first=1)
@pytest.mark.parametrize("box", [box for box in boxes() if not box.stops(True)], ids=str)
def test_a_box_is_stored(box):
    array = box.array()
    before, rng = array.copy(), np.random.default_rng(0)
    tensor_map = box.tensor_map(array)
    smem = rng.integers(1, 100, ROOM // array.itemsize).astype(array.dtype)
    _, inside = reference(box, array, tensor_map)
    want = before.copy()
    for at, place in zip(np.ndindex(inside.shape), places(box, tensor_map).reshape(-1), strict=True):
        if inside[at]:
            where = tuple(
                c + i * s for c, i, s in zip(box.coordinates[::-1], at, tensor_map.element_strides[::-1], strict=True)
            )
            want[where] = smem[place // array.itemsize]
    report = gpu_simulator.launch(
        build(len(box.shape), True, "sm_90a"), "kernel", 1, 128,
        arguments(box, tensor_map, smem.view(np.uint32), np.zeros(1, np.uint32)), timing="late", observers=("hazards",),
    )  # fmt: skip
    assert np.array_equal(array, want) and report.hazards == []


def load(box: Box, size=None, observers=("hazards",), **options):
    array = box.array()
    tensor_map = box.tensor_map(array)
    args = arguments(box, tensor_map, np.zeros(ROOM // 4, np.uint32), np.zeros(1, np.uint32), size)
    return gpu_simulator.launch(build(2, False, "sm_120a"), "kernel", 1, 128, args, observers=observers, **options)


PLAIN = Box("float16", (100, 88), (64, 24), (8, 8), 128)


def test_bytes_are_counted_and_wavefronts_are_not():
    (site,) = [s for s in load(PLAIN).sites if "tensor" in s.opcode and s.executions]
    assert (site.bytes, site.requests, site.wavefronts) == (64 * 24 * 2, 1, 0)
    assert site.sectors == 24 * 4 + sum((8 + y) * 176 % 32 // 16 != 1 for y in range(24))


def test_too_many_and_too_few_bytes_are_deadlocks_with_the_difference():
    with pytest.raises(
        gpu_simulator.Deadlock, match=r"phase 0 \(parity 0\), which expects 16 bytes more than have been cop"
    ):
        load(PLAIN, 64 * 24 * 2 + 16)
    with pytest.raises(gpu_simulator.Deadlock, match=r"has got 48 bytes more than were announced by expect_tx"):
        load(PLAIN, 64 * 24 * 2 - 48)


def test_places_that_tma_cannot_use():
    with pytest.raises(
        gpu_simulator.MemoryFault, match=r"boxes.cu:\d+.*thread \(0, 0, 0\).*not a multiple of 128 bytes"
    ):
        load(PLAIN._replace(at=64))
    with pytest.raises(
        gpu_simulator.MemoryFault, match=r"copies 3,072 bytes at shared address .* has 25,600 bytes of shared"
    ):
        load(PLAIN._replace(at=ROOM - 1024))


def test_what_is_no_tensor_map():
    args = arguments(PLAIN, None, np.zeros(ROOM // 4, np.uint32), np.zeros(1, np.uint32), 64)
    compiled = build(2, False, "sm_90a")
    with pytest.raises(gpu_simulator.MemoryFault, match="is not a tensor map: pass a TensorMap"):
        gpu_simulator.launch(compiled, "kernel", 1, 128, [bytes(128), *args[1:]])
    with pytest.raises(gpu_simulator.MemoryFault, match="has 3 dimensions, and the copy names 2 coordinates"):
        three = TensorMap.of(np.zeros((4, 8, 64), np.float16), (64, 8, 1))
        gpu_simulator.launch(compiled, "kernel", 1, 128, [three, *args[1:]])
    with pytest.raises(gpu_simulator.SimulatedFault.__mro__[1], match="declare the parameter `const __grid_constant__"):
        gpu_simulator.launch(compiled, "kernel", 1, 128, [PLAIN.tensor_map(PLAIN.array()), *args[1:-1], three])
    with pytest.raises(gpu_simulator.SimulatedFault.__mro__[1], match="without an array"):
        gpu_simulator.launch(compiled, "kernel", 1, 128, [dataclasses.replace(three, array=None), *args[1:]])
    local = (Path(__file__).parent / "boxes.cu").read_text().replace("const __grid_constant__ ", "")
    config = {"RANK": 2, "ROOM": ROOM, "STORE": 0, "POLLS": 4}
    made = compiling.compile(local, arch="sm_90a", name="boxes.cu", entry="kernel", config=config)
    with pytest.raises(gpu_simulator.MemoryFault, match="lies in local memory: declare the parameter"):
        gpu_simulator.launch(made, "kernel", 1, 128, [PLAIN.tensor_map(PLAIN.array()), *args[1:]])


# ---- A ring of stages ----


def ring(source=RING, m=64, n=64, k=448, arch="sm_90a", ptx=None, **options):
    """(is D exact, the report) of one GEMM, hazards searched."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    d = np.full((m, n), np.nan, np.float16)
    compiled = compiling.compile(source, arch=arch, name="ring.cu", entry="kernel", config=CONFIG)
    if ptx is not None:
        compiled = dataclasses.replace(compiled, ptx=ptx)
    args = [*(TensorMap.of(x, (64, 64), 128) for x in (a, b, d)), k]
    options = {"observers": ("hazards",), "max_instructions": 500_000, **options}
    report = gpu_simulator.launch(compiled, "kernel", (-(-n // 64), -(-m // 64)), 160, args, **options)
    want = (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)
    return np.array_equal(d, want), report


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
@pytest.mark.parametrize("timing", ["early", "late"])
def test_the_ring_is_exact_and_clean(arch, timing):
    exact, report = ring(arch=arch, timing=timing, m=136, n=72, k=200)
    assert exact and report.hazards == []


def found(source, timing="early") -> str:
    """Every sentence about a broken ring."""
    try:
        _, report = ring(source, timing=timing)
    except gpu_simulator.SimulatedFault as error:
        return str(error)
    return "\n".join(f"{h.kind}: {h}" for h in report.hazards)


def line(text: str) -> int:
    return 1 + next(i for i, content in enumerate(RING.splitlines()) if text in content)


WRONG = {
    "no wait for full": (
        "mbarrier_wait_parity(full + 8 * stage, phase);", "",
        r"missing wait: ring.cu:{ldmatrix}.*thread \(0, 0, 0\) of warp 0 reads shared address \d+ while the copy at "
        r"ring.cu:{load}.*may still be writing it: no thread has waited for the end of phase 0 \(parity 0\)",
    ),
    "no wait for empty": (
        "mbarrier_wait_parity(empty + 8 * stage, phase ^ 1);", "",
        r"thread \(128, 0, 0\) of warp 4 overwrites shared address \d+.*ring.cu:{load}",
    ),
    "one warp waits for all": (
        "mbarrier_wait_parity(full + 8 * stage, phase);", "if (warp == 0) mbarrier_wait_parity(full + 8 * stage, phase);",
        r"ring.cu:{ldmatrix}.*of warp 1 reads shared address \d+, which the copy at ring.cu:{load}.*this thread has not wai",
    ),
    "no expect_tx": (
        "mbarrier_arrive_expect_tx(full + 8 * stage, STAGE_BYTES);", "mbarrier_arrive(full + 8 * stage);",
        r"has got 32,768 bytes more than were announced by expect_tx.*Found before that: ring.cu:{ldmatrix}",
    ),
    "too many bytes": (
        "STAGE_BYTES);   // EXPECT", "STAGE_BYTES + 16);",
        r"threads 0-127 wait at the mbarrier .* which expects 16 bytes more than have been copied \(ring.cu:{full}",
    ),
    "the parity of full": (
        "(full + 8 * stage, phase)", "(full + 8 * stage, phase ^ 1)",
        r"threads 0-127 wait at the mbarrier at shared address 0 for the end of phase 1 \(parity 1\), which expects 1 more "
        r"of its 1 arrivals \(phase 0 is over, and nothing has come since\) \(ring.cu:{full}",
    ),
    "the parity of empty": (
        "(empty + 8 * stage, phase ^ 1)", "(empty + 8 * stage, phase)",
        r"thread 128 waits at the mbarrier .*end of phase 0 \(parity 0\), which expects 4 more of its 4 arrivals",
    ),
    "the producer waits at the barrier that it fills": (
        "mbarrier_wait_parity(empty + 8 * stage, phase ^ 1);", "mbarrier_wait_parity(full + 8 * stage, phase ^ 1);",
        r"nothing has come since\) \(ring.cu:{full}.*Thread 128, which alone arrives at this mbarrier, has waited at it",
    ),
    "nobody releases": (
        "if (lane == 0) mbarrier_arrive(empty + 8 * stage);", "",
        r"thread 128 waits .* which expects 4 more of its 4 arrivals \(ring.cu:{empty}",
    ),
    "inits not fenced": (
        "fence_mbarrier_init();", "",
        r"missing fence: ring.cu:{load}.*no fence follows its init by .*thread \(0, 0, 0\) \(ring.cu:{init}",
    ),
    "inits not awaited": (
        "__syncthreads();", "",
        r"uses the mbarrier .*thread \(0, 0, 0\) \(ring.cu:.*initialises: there is no barrier between them",
    ),
    "stores not fenced": (
        "fence_proxy_async();  ", "",
        r"missing fence: ring.cu:{store}.*async proxy read shared address \d+, which was written at ring.cu:{st}",
    ),
    "stores fenced by one thread": (
        "fence_proxy_async();  ", "if (threadIdx.x == 0) fence_proxy_async();", "missing fence: ring.cu:{store}",
    ),
    "stores not awaited": (
        'asm volatile("bar.sync 1, 128;" ::: "memory");', "", r"race: ring.cu:{store}.*reads shared .*ring.cu:{st}",
    ),
    "the store is not waited for": (
        "tma_store_wait_read<0>();", "", r"missing wait: ring.cu:{store}.*block ends, and no wait_group has made sure",
    ),
    "two inits": (
        "mbarrier_init(empty + 8 * i", "mbarrier_init(full + 8 * i",
        r"ring.cu:{init_empty}.*initialises the mbarrier at shared address 0, which .*ring.cu:{init}.*initialised alread",
    ),
    "every lane loads": (
        "if (lane == 0) {", "{", r"thread \(129, 0, 0\) arrives at the mbarrier .* and is one too many",
    ),
}  # fmt: skip


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", WRONG)
def test_a_broken_ring_says_what_is_wrong(name):
    old, new, words = WRONG[name]
    lines = {
        "ldmatrix": line("ldmatrix_x4(a[0]"), "load": line("map_a, k"), "store": line("tma_store_2d("),
        "st": f"(?:{line('st.shared')}|{line('st.shared') + 1})",  # a statement of two lines: compilers name one of them
        "full": line("FULL_WAIT"), "empty": line("EMPTY_WAIT"), "init": line("mbarrier_init(full"),
        "init_empty": line("mbarrier_init(empty"),
    }  # fmt: skip
    assert RING.count(old) == 1
    text = found(RING.replace(old, new))
    for key, number in lines.items():
        words = words.replace(f"{{{key}}}", str(number))
    assert re.search(words, text), text


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("timing", ["early", "late"])
def test_a_stage_released_before_it_is_read(timing):
    release = "if (lane == 0) mbarrier_arrive(empty + 8 * stage);      // RELEASE\n"
    waited = "mbarrier_wait_parity(full + 8 * stage, phase);          // FULL_WAIT\n"
    assert release in RING and waited in RING
    text = found(RING.replace(release, "\n").replace(waited, waited + release), timing)
    assert re.search(
        r"warp 0 reads shared address \d+ while the copy at ring.cu:\d+.*no thread has waited for the end of phase 1 ",
        text,
    ), text


@pytest.mark.long
def test_mutants_of_the_ring_are_caught():
    source = compiling.compile(RING, arch="sm_120a", name="ring.cu", entry="kernel", config=CONFIG).ptx
    missed = survivors(
        (*mutants(source), *altered_mbarriers(source)), lambda ptx, timing: ring(arch="sm_120a", ptx=ptx, timing=timing)
    )
    assert missed == []


# ---- Bulk copies of plain bytes, cp.async that arrive ----

COPIES = """
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
extern "C" __global__ void kernel(const uint32_t* from, uint32_t* to) {
  __shared__ alignas(128) uint32_t tile[1024];
  __shared__ alignas(8) uint64_t full;
  const uint32_t barrier = shared_address(&full), at = shared_address(tile);
  if (threadIdx.x == 0) {
    mbarrier_init(barrier, ARRIVALS);
    fence_mbarrier_init();
  }
  __syncthreads();
  COPY
  mbarrier_wait_parity(barrier, 0);
  BACK
}
"""
BULK = (
    'if (threadIdx.x == 0) { mbarrier_arrive_expect_tx(barrier, 4096); asm volatile("cp.async.bulk.shared::cluster.global'
    '.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];" :: "r"(at), "l"(from), "r"(barrier) : "memory"); }'
)
STORED = (
    'if (threadIdx.x == 0) { asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" :: "l"(to), '
    '"r"(at) : "memory"); asm volatile("cp.async.bulk.commit_group;"); asm volatile("cp.async.bulk.wait_group 0;"); }'
)
EACH = (
    'asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at + 16 * threadIdx.x), "l"(from + 4 * threadIdx.x)'
    ' : "memory"); asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(barrier) : "memory");'
)
PLAIN_BACK = "for (int i = threadIdx.x; i < 1024; i += 256) to[i] = tile[1023 - i];"


def copies(arrivals, copy, back, timing="late", drop=""):
    source = COPIES.replace("ARRIVALS", str(arrivals)).replace("COPY", copy).replace("BACK", back).replace(drop, "")
    compiled = compiling.compile(source, arch="sm_90a", name="kernel.cu", entry="kernel")
    given, taken = np.arange(1024, dtype=np.uint32) * 7, np.zeros(1024, np.uint32)
    return (
        gpu_simulator.launch(compiled, "kernel", 1, 256, [given, taken], observers=("hazards",), timing=timing),
        given,
        taken,
    )


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize(("arrivals", "copy"), [(1, BULK), (256, EACH)], ids=["bulk", "cp.async"])
def test_plain_bytes_in(arrivals, copy, timing):
    report, given, taken = copies(arrivals, copy, PLAIN_BACK, timing)
    assert np.array_equal(taken, given[::-1]) and report.hazards == []


@pytest.mark.parametrize(("arrivals", "copy"), [(1, BULK), (256, EACH)], ids=["bulk", "cp.async"])
def test_plain_bytes_read_too_early(arrivals, copy):
    report, given, taken = copies(arrivals, copy, PLAIN_BACK, "late", "mbarrier_wait_parity(barrier, 0);")
    assert not np.array_equal(taken, given[::-1])
    assert any(h.kind == "missing wait" and "may still be writing" in h.message for h in report.hazards)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize(("arrivals", "copy"), [(1, BULK), (256, EACH)], ids=["bulk", "cp.async"])
@pytest.mark.parametrize("dropped", ["", "mbarrier_wait_parity(barrier, 0);"])
def test_a_copy_comes_before_the_inval_of_its_mbarrier(arrivals, copy, timing, dropped):
    inval = '__syncthreads(); if (threadIdx.x == 9) asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(barrier));'
    report, *_ = copies(arrivals, copy, inval, timing, dropped)
    assert any("which the copy at kernel.cu" in str(hazard) for hazard in report.hazards) == bool(dropped)
    assert dropped or not report.hazards


def test_plain_bytes_out():
    report, given, taken = copies(1, BULK, STORED)
    assert np.array_equal(taken, given) and report.hazards == []


# ---- As others write it ----

STYLE = r"""
#include "ptx/ldmatrix.cuh"
#include "ptx/tma.cuh"
extern "C" __global__ void kernel(const __grid_constant__ CUtensorMap map, uint16_t* out) {
  __shared__ alignas(1024) uint16_t tile[64 * 64];
  __shared__ alignas(8) uint64_t full[1];
  const uint32_t barrier = shared_address(full), to = shared_address(tile);
  uint32_t elected;
  asm volatile("{ .reg .pred %%px; elect.sync _|%%px, %1; selp.b32 %0, 1, 0, %%px; }" : "=r"(elected) : "r"(0xffffffff));
  const bool first = threadIdx.x < 32 && elected;
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  if (first) {
    tma_prefetch(map);
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" :: "l"(&map), "r"(0), "r"(64));
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 128;" :: "l"(out));
    asm volatile("mbarrier.init.shared::cta.b64 [%1], %0;" :: "r"(1), "r"(barrier));
    asm volatile("{\n\tfence.mbarrier_init.release.cluster;\n}" ::);
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0;\n"
    "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n"
    "@p cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
    " [%2], [%4, {%5, %6}], [%0], %7; }" :: "r"(barrier), "r"(8192), "r"(to), "r"((uint32_t)first), "l"(&map), "r"(0),
    "r"(64), "l"(policy) : "memory");
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\n"
    "bra LAB_WAIT;\nDONE:\n}" :: "r"(barrier), "r"(0));
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) out[i] = tile[i];
}
"""


def test_a_prefetch_is_held_to_the_same_corners():
    source = STYLE.replace('"l"(&map), "r"(0), "r"(64));', '"l"(&map), "r"(4), "r"(64));', 1)
    compiled = compiling.compile(source, arch="sm_90a", name="kernel.cu", entry="kernel")
    args = [TensorMap.of(np.zeros((128, 64), np.uint16), (64, 64)), np.zeros((64, 64), np.uint16)]
    with pytest.raises(gpu_simulator.MemoryFault, match=r"prefetches a box at \(4, 64\), .* 8 bytes along its row"):
        gpu_simulator.launch(compiled, "kernel", 1, 96, args)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
def test_waits_with_labels_guards_and_hints(arch, timing):
    compiled = compiling.compile(STYLE, arch=arch, name="kernel.cu", entry="kernel")
    given, taken = np.arange(128 * 64, dtype=np.uint16).reshape(128, 64), np.zeros((64, 64), np.uint16)
    args = [TensorMap.of(given, (64, 64)), taken]
    report = gpu_simulator.launch(compiled, "kernel", 1, 96, args, observers=("hazards",), timing=timing)
    assert np.array_equal(taken, given[64:]) and report.hazards == []
    (site,) = [s for s in report.sites if "bulk.tensor" in s.opcode]
    assert report.trace(site) and report.inspect(site).opcode.startswith("cp.async.bulk.tensor")
