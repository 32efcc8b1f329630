"""tcgen05.cp and tcgen05.shift: which cell gets which byte of shared memory, and what orders them with their neighbours.

The reference writes down the PTX ISA's shared-memory layouts ("Canonical layouts") and its sentences about the lanes.
"""

import re

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator import TensorMemoryFault
from gpu_simulator.hardware.matrix_descriptor import SharedTile
from gpu_simulator.hardware.matrix_descriptor_sm100 import encode_sm100

BYTES, COLUMNS = 16384, 32

# Every cell of tensor memory holds its lane and column, and shared memory holds `image`; then come the OPERATIONS of
# thread 32, and all cells are loaded to `out`. word: the descriptor of the image at its beginning.
SOURCE = """
#define GROUP_(n) "cta_group::" #n
#define GROUP(n) GROUP_(n)
__device__ void meet() {
#if GROUPS == 2
  asm volatile("barrier.cluster.arrive.aligned;\\n\\tbarrier.cluster.wait.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}
__device__ void commit(unsigned barrier) {
  asm volatile("tcgen05.commit." GROUP(GROUPS) ".mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(barrier)
               : "memory");
}
__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile("{\\n\\t.reg .pred p;\\n\\tWAIT_%=:\\n\\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\\n\\t"
               "@!p bra WAIT_%=;\\n\\t}" :: "r"(barrier), "r"(parity) : "memory");
}
__device__ void copy(unsigned to, unsigned long long word) {
  asm volatile("tcgen05.cp." GROUP(GROUPS) ".SHAPE [%0], %1;" :: "r"(to), "l"(word) : "memory");
}
__device__ void shift(unsigned at) {
  asm volatile("tcgen05.shift." GROUP(GROUPS) ".down [%0];" :: "r"(at) : "memory");
}
__device__ void after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }
extern "C" __global__ void __launch_bounds__(128) CLUSTER
kernel(const uint4* image, unsigned* out, unsigned long long word) {
  __shared__ __align__(1024) uint4 tile[BYTES / 16];
  __shared__ __align__(8) unsigned long long barriers[2];
  __shared__ unsigned slot[1];
  const unsigned warp = threadIdx.x / 32, barrier = __cvta_generic_to_shared(barriers);
  const unsigned at_slot = __cvta_generic_to_shared(slot);
  meet();
  if (warp == 0)
    asm volatile("tcgen05.alloc." GROUP(GROUPS) ".sync.aligned.shared::cta.b32 [%0], COLUMNS;" :: "r"(at_slot) : "memory");
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier + 8 * i) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  for (int i = threadIdx.x; i < BYTES / 16; i += 128) tile[i] = image[blockIdx.x * (BYTES / 16) + i];
  /* proxy fence */ asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned base = slot[0], quarter = base + (warp * 32 << 16);
  const unsigned long long own = (__cvta_generic_to_shared(tile) & 0x3ffff) >> 4;
  for (int c = 0; c < COLUMNS; c++)
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" :: "r"(quarter + c), "r"(threadIdx.x << 16 | c)
                 : "memory");
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  meet();
  after();
  if (threadIdx.x == 32 && blockIdx.x == 0) {
    OPERATIONS
    /* commit */ commit(barrier);
  }
  if (blockIdx.x == 0) {
    /* wait */ wait(barrier, 0);
  }
  meet();
  /* fence */ after();
  for (int c = 0; c < COLUMNS; c++) {
    unsigned r;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\\n\\ttcgen05.wait::ld.sync.aligned;"
                 : "=r"(r) : "r"(quarter + c) : "memory");
    out[(blockIdx.x * 128 + threadIdx.x) * COLUMNS + c] = r;
  }
  meet();
  if (warp == 0)
    asm volatile("tcgen05.dealloc." GROUP(GROUPS) ".sync.aligned.b32 %0, COLUMNS;" :: "r"(base));
}
"""
COPY = "copy(base + 8, own + word);"


def launch(operations=COPY, shape="128x256b", tile=None, groups=1, edit=lambda text: text, **options):
    """(tensor memory afterwards, (blocks, 128, COLUMNS); the images of shared memory, (blocks, BYTES); the report)."""
    text = edit(SOURCE).replace("OPERATIONS", operations).replace("SHAPE", shape)
    cluster = "__cluster_dims__(2, 1, 1)" if groups == 2 else ""
    head = f"#define GROUPS {groups}\n#define CLUSTER {cluster}\n"
    text = head + text.replace("BYTES", str(BYTES)).replace("COLUMNS", str(COLUMNS))
    compiled = compiling.compile(text, arch="sm_100a", name="kernel.cu", entry="kernel")
    image = np.random.default_rng(5).integers(0, 256, (groups, BYTES)).astype(np.uint8)
    out = np.zeros((groups, 128, COLUMNS), np.uint32)
    word = encode_sm100(tile or dense(shape))
    report = gpu_simulator.launch(
        compiled,
        "kernel",
        groups,
        128,
        [image.reshape(-1), out.reshape(-1), word],
        **{"observers": ("hazards",), **options},
    )
    return out, image, report


# ---- The reference ----


def dense(shape: str, swizzle: int = 0) -> SharedTile:
    """The tile without gaps: blocks of `swizzle` bytes (16 without one) of all rows, one after the other."""
    rows = int(shape.split("x")[0])
    wide = swizzle or 16
    return SharedTile(0, max(rows, 8) * wide, 8 * wide, swizzle, "k")


def address(tile: SharedTile, row: int, byte: int) -> int:
    """The address of a byte of a K-major tile: rows in groups of 8, and the 16-byte chunks XORed with the row's bits."""
    wide = tile.swizzle or 16
    place = tile.start + row // 8 * tile.stride_bytes + row % 8 * wide + byte % wide + byte // wide * tile.leading_bytes
    return place ^ (place >> 7 & {0: 0, 32: 1, 64: 3, 128: 7}[tile.swizzle]) << 4


def lanes(shape: str) -> list[list[int]]:
    """For each row the lanes that receive it."""
    if shape.startswith("128x"):
        return [[row] for row in range(128)]
    if shape == "4x256b":
        return [[32 * row] for row in range(4)]
    if shape == "64x128b.warpx2::02_13":  # warps 0 and 2 receive the first half, 1 and 3 the second
        return [[row, row + 64] for row in range(64)]
    if shape == "64x128b.warpx2::01_23":  # warps 0 and 1, 2 and 3
        return [[row, row + 32] if row < 32 else [row + 32, row + 64] for row in range(64)]
    return [[row + 32 * warp for warp in range(4)] for row in range(32)]


def expected(image, shape: str, tile: SharedTile, at: int = 8) -> np.ndarray:
    cells = (np.arange(128)[:, None] << 16 | np.arange(COLUMNS)).astype(np.uint32)
    wide = int(shape.split(".")[0].split("x")[1][:-1]) // 8
    for row, some in enumerate(lanes(shape)):
        raw = np.array([image[address(tile, row, byte)] for byte in range(wide)], np.uint8)
        for lane in some:
            cells[lane, at : at + wide // 4] = raw.view(np.uint32)
    return cells


SHAPES = ["128x256b", "128x128b", "4x256b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_and_swizzle(shape, swizzle, timing):
    tile = dense(shape, swizzle)
    got, image, report = launch(shape=shape, tile=tile, timing=timing)
    assert np.array_equal(got[0], expected(image[0], shape, tile)) and report.hazards == []


def test_strides_leave_gaps():
    tile = SharedTile(256, 6144, 256, 0, "k")
    got, image, report = launch(shape="128x256b", tile=tile)
    assert np.array_equal(got[0], expected(image[0], "128x256b", tile)) and report.hazards == []


@pytest.mark.parametrize("timing", ["early", "late"])
def test_a_pair_copies_from_its_own_shared_memories(timing):
    got, image, report = launch(shape="32x128b.warpx4", groups=2, timing=timing)
    assert not np.array_equal(*image) and report.hazards == []
    for rank in range(2):
        assert np.array_equal(got[rank], expected(image[rank], "32x128b.warpx4", dense("32x128b")))


def test_four_rows_may_begin_at_the_last_lane_of_a_quarter():
    got, image, _ = launch("copy(base + (31 << 16) + 8, own + word);", "4x256b")
    want = expected(image[0], "4x256b", dense("4x256b"))
    plain = (np.arange(128)[:, None] << 16 | np.arange(COLUMNS)).astype(np.uint32)
    plain[31::32] = np.where(np.arange(COLUMNS) // 8 == 1, want[::32], plain[31::32])
    assert np.array_equal(got[0], plain)


def shifted(cells, quarter: int, column: int) -> None:
    """Rows 0 to 30 of a quarter get what the row below holds; the last one stays."""
    part = cells[32 * quarter : 32 * quarter + 32, column : column + 8]
    part[:31] = part[1:].copy()


@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_shift_moves_the_rows_of_one_quarter(groups, timing):
    got, _, report = launch("shift(base + (64 << 16) + 16);", groups=groups, timing=timing)
    want = (np.arange(128)[:, None] << 16 | np.arange(COLUMNS)).astype(np.uint32)
    shifted(want, 2, 16)
    assert all(np.array_equal(cells, want) for cells in got) and report.hazards == []


def test_a_shift_and_the_copy_that_renews_the_last_row_are_in_order():
    """PTX ISA, "Pipelined tcgen05 Instructions": tcgen05.shift, then tcgen05.cp.4x256b."""
    operations = (
        "for (int q = 0; q < 4; q++) shift(base + (32 * q << 16) + 8); copy(base + (31 << 16) + 8, own + word);"
    )
    got, image, report = launch(operations, "4x256b", timing="late")
    want = (np.arange(128)[:, None] << 16 | np.arange(COLUMNS)).astype(np.uint32)
    for quarter in range(4):
        shifted(want, quarter, 8)
        want[32 * quarter + 31, 8:16] = expected(image[0], "4x256b", dense("4x256b"))[32 * quarter, 8:16]
    assert np.array_equal(got[0], want) and report.hazards == []


# ---- Addresses and descriptors that are refused ----


@pytest.mark.parametrize(
    ("operations", "shape", "words"),
    [
        ("copy(base + (32 << 16), own + word);", "128x128b", "tcgen05.cp.128x128b begins at lane 0, and at a column"),
        ("copy(base + (32 << 16), own + word);", "4x256b", "begins at a lane from 0 to 31"),
        ("copy(base + 2, own + word);", "128x128b", "a column that is a multiple of 4"),
        ("copy(base + 28, own + word);", "128x256b", "uses columns 28 to 35 of tensor memory, among them column 32"),
        ("copy(base, word | 1ull << 14);", "128x128b", "issues tcgen05.cp. The descriptor .* has bits set"),
        ("copy(base, (word | 1000) & ~(1ull << 46));", "128x128b", "0b001"),
        ("copy(base, own + word + 1000);", "128x128b", "reads up to shared address"),
        ("shift(base + (16 << 16));", "4x256b", "the lane has to be 0, 32, 64 or 96"),
        ("shift(base + (128 << 16));", "4x256b", "the lane has to be 0, 32, 64 or 96"),
        ("shift(base + 4);", "4x256b", "the column a multiple of 8"),
        ("shift(base + 32);", "4x256b", "column 32, which is not allocated"),
    ],
)
def test_what_no_gpu_would_do(operations, shape, words):
    with pytest.raises(TensorMemoryFault, match=words):
        launch(operations, shape)


# ---- Hazards ----


def messages(report) -> list[tuple[str, str]]:
    return [(hazard.kind, hazard.message) for hazard in report.hazards]


def found(report, kind: str, words: str) -> bool:
    return any(kind == one and re.search(words, text) for one, text in messages(report))


@pytest.mark.parametrize("name", ["cp", "shift"])
@pytest.mark.parametrize(
    ("left_out", "kind", "words"),
    [
        (
            "wait",
            "missing wait",
            "loads tensor memory that tcgen05.NAME at .* may still be .*: no thread has waited for",
        ),
        ("fence", "missing fence", "tensor memory that tcgen05.NAME at .* warp 0 has to execute .*after_thread_sync"),
    ],
)
def test_a_load_before_the_operation_is_known_to_be_done(name, left_out, kind, words):
    operations = COPY if name == "cp" else "shift(base + 8);"
    cut = lambda text: re.sub(rf"/\* {left_out} \*/[^\n]*", "", text)  # noqa: E731
    got, image, report = launch(operations, edit=cut, timing="late")
    assert found(report, kind, words.replace("NAME", name)), messages(report)
    if left_out == "wait" and name == "cp":
        assert not np.array_equal(got[0], expected(image[0], "128x256b", dense("128x256b")))


def test_no_commit_at_all():
    cut = lambda text: re.sub(r"/\* (commit|wait) \*/[^\n]*", "", text)  # noqa: E731
    _, _, report = launch(edit=cut, timing="late")
    assert found(report, "missing wait", "may still be writing: no tcgen05.commit follows it"), messages(report)


def test_a_store_to_the_source_while_it_is_read():
    """Thread 32 overwrites the tile that it has just given to the tensor cores."""
    got, image, report = launch(COPY + " tile[0] = make_uint4(1, 2, 3, 4);", timing="late")
    assert found(
        report, "missing wait", r"writes tile\[0\] \(shared address 1024\) while tcgen05.cp at .* may still"
    ), messages(report)
    assert not np.array_equal(got[0], expected(image[0], "128x256b", dense("128x256b")))


def test_another_thread_that_has_not_met_the_waiting_one_overwrites_the_source():
    add = lambda text: text.replace(  # noqa: E731
        "/* wait */ wait(barrier, 0);",
        "if (warp < 2) wait(barrier, 0); else tile[threadIdx.x] = make_uint4(1, 2, 3, 4);",
    )
    _, _, report = launch(edit=add)
    assert messages(report) and all(
        "which tcgen05.cp at" in text or "while tcgen05.cp at" in text for _, text in messages(report)
    ), messages(report)


def test_the_source_needs_a_proxy_fence():
    cut = lambda text: re.sub(r"/\* proxy fence \*/[^\n]*", "", text)  # noqa: E731
    _, _, report = launch(edit=cut)
    assert found(report, "missing fence", "lets the tensor cores read .* through the async proxy"), messages(report)


@pytest.mark.parametrize(
    ("operations", "words"),
    [
        (COPY + " copy(base + 12, own + word);", "tcgen05.cp may overtake the tcgen05.cp before it"),
        (COPY + " shift(base + 8);", "tcgen05.shift may overtake the tcgen05.cp"),
        ("shift(base + 8); shift(base + 8);", "tcgen05.shift may overtake the tcgen05.shift"),
        ("shift(base + 8); " + COPY, "tcgen05.cp may overtake the tcgen05.shift"),
    ],
)
def test_operations_that_ptx_does_not_order(operations, words):
    _, _, report = launch(operations)
    assert found(report, "missing wait", words), messages(report)
    first, second = operations.split("; ")
    _, _, report = launch(f"{first}; commit(barrier + 8); wait(barrier + 8, 0); {second}")
    assert report.hazards == [], messages(report)


def test_a_store_that_was_not_waited_for():
    statement = 'asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");'
    assert SOURCE.count(statement) == 1
    _, _, report = launch(edit=lambda text: text.replace(statement, ""))
    assert found(report, "missing wait", "copies to tensor memory that tcgen05.st at .* may still be writing")


def test_several_threads_of_a_warp_that_issue():
    _, _, report = launch(edit=lambda text: text.replace("threadIdx.x == 32 &&", "threadIdx.x / 4 == 8 &&").replace(
        "/* commit */ commit(barrier);", "if (threadIdx.x == 32) commit(barrier);"))  # fmt: skip
    assert found(
        report, "repeated issue", "4 threads of the warp .* issue this tcgen05.cp, and each of them is one copy"
    )


LATER = "  if (blockIdx.x == 0) {\n    /* wait */"  # what every thread does after the operations were issued


def test_operations_of_two_warps_need_a_wait():
    """The shift and the copy that renews its last row are in order only if one warp issues both."""
    other = "  meet(); if (threadIdx.x == 64) { copy(base + (31 << 16) + 8, own + word); commit(barrier + 8); }\n"
    more = "wait(barrier + 8, 0); /* wait */"
    edit = lambda text: text.replace(LATER, other + LATER.replace("/* wait */", more))  # noqa: E731
    _, _, report = launch("shift(base + 8);", "4x256b", edit=edit)
    assert found(report, "missing wait", "tcgen05.cp may overtake the tcgen05.shift before it"), messages(report)


def test_a_store_to_the_source_of_the_other_block():
    other = "  meet(); if (blockIdx.x == 1) tile[threadIdx.x] = make_uint4(1, 2, 3, 4);\n"
    _, _, report = launch(groups=2, edit=lambda text: text.replace(LATER, other + LATER), timing="late")
    assert found(report, "missing wait", r"block \(1, 0, 0\), .* while tcgen05.cp at .* may still be reading it")


def test_a_shift_of_what_nothing_has_written():
    edit = lambda text: text.replace("for (int c = 0; c < COLUMNS; c++)", "for (int c = 0; c < 16; c++)")  # noqa: E731
    _, _, report = launch("shift(base + 16);", edit=edit)
    assert found(report, "uninitialised read", "thread .* shifts columns of tensor memory that nothing has written")
    _, _, report = launch("shift(base + 8);", edit=edit)
    assert report.hazards == [], messages(report)
