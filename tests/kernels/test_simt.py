"""What notebook 02b says of the ladder simt: loads for each multiply-add, the warp tiles of its kernels, what it asks for."""

from collections import Counter

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Patch

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.notebook.puzzle import puzzle
from gemm_look import style
from gpu_simulator import compiler
from gpu_simulator.errors import SimulatorError, SizeError
from gpu_simulator.faults import SimulatedFault
from gpu_timing.machine_code.main_loop import main_loop
from tools.figures import warp_tiles

WARPED = ("simt/05_warp_tiles", "simt/06_wide_loads", "simt/07_prefetch")
TILED = ("simt/04_register_tiles", *WARPED)


DEPTH = 32  # two steps of the main loop, four in 07


RUNS = {}  # by the name of the kernel and its source


def counted(kernel, what: str) -> list:
    """The sites with opcode `what` of a product of one block tile, K = DEPTH, whose result was exact."""
    key = kernel.name, kernel.source
    if key not in RUNS:
        RUNS[key] = kernel.run(128, k=DEPTH, backend="simulator", timed=False)
        assert RUNS[key].passed
    return [site for site in RUNS[key].report.sites if site.opcode.startswith(what)]


def wavefronts_for_one_k(kernel) -> float:
    """Wavefronts of a warp's reads of shared memory, for one k."""
    warps = kernel.compile().threads // 32
    return sum(site.wavefronts for site in counted(kernel, "ld.shared")) / (warps * DEPTH)


def loop_of(name: str, arch: str = "sm_90a") -> Counter:
    """How often each opcode stands in the main loop, with its width and without its other modifiers."""
    lines = main_loop(compiler.disassemble(lab.kernel(name).compile(arch))).lines
    return Counter(line.opcode.split(".")[0] + ".128" * (".128" in line.opcode) for line in lines)


@pytest.mark.long
def test_loads_for_each_multiply_add_in_the_code_for_a_t4():
    """Two without tiles, a little over one with block tiles, and what the formula gives for thread tiles of 8 × 8."""
    loads = {}
    for kernel in lab.ladder("simt"):
        mix = kernel.sass(arch="sm_75").mix
        loads[kernel.name] = (mix.get("LDS") or mix["LDG"]) / mix["FFMA"]
    assert loads["simt/01_naive"] == loads["simt/02_coalesced"] == 2
    assert 1 < loads["simt/03_shared_memory_tiles"] < 1.5
    assert loads["simt/04_register_tiles"] == puzzle("02_reads").solution()(8, 8) == 0.25
    assert {loads[name] for name in WARPED} == {0.25 / 4}  # four words with each


@pytest.mark.parametrize(("settings", "loads"), [({"THREAD_M": 4}, 3 / 8), ({"THREAD_M": 4, "THREAD_N": 4}, 1 / 2)])
def test_smaller_thread_tiles_load_more_and_leave_room_for_more_warps(settings, loads):
    plain = lab.kernel("simt/04_register_tiles")
    small = plain(**settings)
    mix = small.sass(arch="sm_75").mix
    assert mix["LDS"] / mix["FFMA"] == loads
    warps = [kernel.occupancy(kernel.compile("sm_75"), on="t4").warps for kernel in (plain, small)]
    assert warps == [16, 32]


def test_a_warp_of_02_coalesced_fetches_five_sectors_for_one_k():
    lane = np.arange(32)
    from_a, from_b = np.zeros(32, int), 4 * lane
    assert np.unique(from_a // 32).size + np.unique(from_b // 32).size == 5


def test_rung_02_asked_for_more_than_dram_can_give():
    tflops = lab.ladder("simt").recorded([4096]).tflops("simt/02", 4096)
    assert tflops * 5 * 32 / (2 * 32) > 2 * lab.gpu("h200").dram_gbps / 1000


# ---- Warp tiles, wide loads, prefetch ----


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("simt/05_warp_tiles", (130, 67, 45)),
        ("simt/05_warp_tiles", (1, 1, 1)),
        ("simt/06_wide_loads", (131, 68, 44)),
        ("simt/06_wide_loads", (1, 4, 4)),
        ("simt/07_prefetch", (131, 252, 20)),
        ("simt/07_prefetch", (3, 132, 4)),
    ],
)
def test_sizes_that_are_no_multiple_of_the_tile(name, size):
    m, n, k = size
    run = lab.kernel(name).run(n, m, k, backend="simulator", timed=False)
    assert run.passed and run.hazards() == []


@pytest.mark.sampled(every=4)  # each of the kernels once, and each of the settings
@pytest.mark.parametrize("name", WARPED)
@pytest.mark.parametrize("settings", [{"BLOCK_M": 64}, {"WARP_M": 32, "WARP_N": 64}, {"BLOCK_N": 64, "BLOCK_K": 32}])
def test_other_tiles(name, settings):
    run = lab.kernel(name)(**settings).run(132, 70, 36, backend="simulator", timed=False)
    assert run.passed and run.hazards() == []


@pytest.mark.parametrize("name", WARPED[1:])
@pytest.mark.parametrize("size", [(64, 66, 64), (64, 64, 30)])
def test_a_float4_needs_rows_of_whole_float4s(name, size):
    m, n, k = size
    with pytest.raises(SizeError, match="multiple of 4"):
        lab.kernel(name).run(n, m, k, backend="simulator")


def test_a_row_of_a_tile_that_does_not_begin_at_16_bytes_is_refused():
    kernel = lab.kernel("simt/05_warp_tiles")
    broken = kernel.rewrite(kernel.source.replace("[BLOCK_M + 4]", "[BLOCK_M + 1]"))
    with pytest.raises(SimulatedFault, match="accessed 16 bytes at shared address .*, which is not a multiple of 16"):
        broken.run(128, backend="simulator", timed=False)


def test_tiles_that_lanes_cannot_fill_are_refused():
    with pytest.raises(SimulatorError, match="the thread tiles of 32 lanes must fill the warp tile"):
        lab.kernel("simt/05_warp_tiles")(WARP_N=64).compile()


def test_words_that_warps_read_for_one_k():
    """Two rows of 16 threads are a warp in 04: 16 rows of A, each seen by all 128 columns of B; 64 × 32 in 05."""
    reads = puzzle("02_warp_reads").solution()
    assert reads(128, 128, 8, 1) == 8 * (16 + 128) and reads(128, 128, 2, 4) == 8 * (64 + 32)
    for name, warp in (("simt/04_register_tiles", 16 + 128), ("simt/05_warp_tiles", 64 + 32)):
        run = lab.kernel(name).run(128, k=16, backend="simulator", timed=False)
        lines = {site.line for site in run.report.sites if site.opcode.startswith("ld.shared")}
        read = [access for line in lines for access in run.trace(line, block=0, warp=3)]
        words = {int(at) + byte for access in read for at in access.addresses for byte in range(0, access.width, 4)}
        assert len(words) == 16 * warp


@pytest.mark.parametrize(
    ("name", "owned"), [("simt/04", warp_tiles.owned_04), ("simt/05", warp_tiles.owned_05)], ids=lambda v: str(v)[:7]
)
def test_the_picture_shows_what_a_warp_stores(name, owned):
    run = lab.kernel(name).run(128, k=16, backend="simulator", timed=False)
    (line,) = {site.line for site in run.report.sites if site.opcode.startswith("st.global")}
    stored = np.array([access.addresses for access in run.trace(line, block=0, warp=0)])  # (64, 32)
    at = (stored - stored.min()) // 4
    for lane in (0, 5, 31):
        assert (set(at[:, lane] // 128), set(at[:, lane] % 128)) == owned(lane)
    assert (set((at // 128).ravel()), set((at % 128).ravel())) == warp_tiles.of_warp(owned)


def test_what_belongs_to_a_thread_is_large_enough_to_be_seen():
    page = warp_tiles.warp_tiles()
    yellow = [box for box in page.findobj(Patch) if to_hex(box.get_facecolor()) == style.LIT.lower()]
    assert len(yellow) == 8 * 8 + 2 * 2
    width, height = page.get_size_inches()
    for box in yellow:
        shown = box.get_window_extent()
        assert min(shown.width, shown.height) / page.dpi > 0.07


def test_wavefronts_for_one_k():
    counts = {name: wavefronts_for_one_k(lab.kernel(name)) for name in TILED}
    assert counts == {"simt/04_register_tiles": 16} | dict.fromkeys(WARPED, 12)


def test_another_order_of_lanes_takes_fewer_wavefronts():
    """The comment in 05 to 07: lanes in quads, so that neighbours share their words of A and those two apart of B."""
    kernel = lab.kernel("simt/05_warp_tiles")
    text = kernel.source.replace("lane / LANES_N * 4", "(lane / 8 * 2 + lane / 2 % 2) * 4")
    text = text.replace("lane % LANES_N * 4", "(lane / 4 % 2 * 2 + lane % 2) * 4")
    assert wavefronts_for_one_k(kernel.rewrite(text)) == 8


def test_stores_of_the_tile_of_a():
    """A warp stores 2 rows of 16 elements, or 8 rows of 4 float4, and half of them meet in a bank; 16 rows of 2 do not."""
    degrees = {}
    for kernel in map(lab.kernel, TILED):
        stores = [s for s in counted(kernel, "st.shared.f32") if "smem_a" in kernel.source.split("\n")[s.line - 1]]
        degrees[kernel.name] = sum(s.wavefronts for s in stores) / sum(s.requests for s in stores)
    assert degrees == {kernel: 2 for kernel in degrees} | {"simt/07_prefetch": 1}


@pytest.mark.long
def test_wide_reads_and_wide_loads_in_the_machine_code():
    loops = {name[5:7]: loop_of(name) for name in TILED}
    assert [loops[rung]["LDS"] for rung in ("04", "05", "06", "07")] == [256, 0, 0, 0]
    assert [loops[rung]["LDS.128"] for rung in ("04", "05", "06", "07")] == [0, 64, 64, 32]  # 4 for each k
    assert [(loops[rung]["LDG"], loops[rung]["LDG.128"]) for rung in ("04", "05", "06", "07")] == [
        (16, 0),
        (16, 0),
        (0, 4),
        (0, 2),  # of a tile that is half as deep
    ]


@pytest.mark.long
def test_which_share_of_the_main_loop_are_multiply_adds():
    """Two of three instructions in 04; 05 saves reads of shared memory, 06 saves loads and addresses, 07 neither."""
    share = {}
    for kernel in map(lab.kernel, TILED):
        loop = loop_of(kernel.name)
        share[kernel.name[5:7]] = loop["FFMA"] / loop.total()
    assert 0.64 < share["04"] < 0.71 and 0.74 < share["05"] < 0.81 and 0.86 < share["06"] < 0.92
    assert abs(share["07"] - share["06"]) < 0.02


@pytest.mark.parametrize("name", WARPED)
@pytest.mark.parametrize(("arch", "on"), [("sm_75", "t4"), ("sm_90a", "h200")])
def test_two_blocks_fit(name, arch, on):
    kernel = lab.kernel(name)
    made = kernel.compile(arch)
    assert made.registers <= 128 and kernel.occupancy(made, on=on).blocks == 2


@pytest.mark.parametrize("arch", catalog.kernel("simt/07").targets)
def test_registers_for_a_deeper_next_tile_leave_room_for_one_block(arch):
    """Why 07 has BLOCK_K = 8: with 16, a thread keeps four float4 of the next tile and not two."""
    kernel = lab.kernel("simt/07")
    assert kernel.compile(arch).registers <= 128 < kernel(BLOCK_K=16).compile(arch).registers
