"""What notebook 10 says in prose, held against the simulator, the models, the machine code and the recorded run."""

import itertools
import re

import nbformat
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.notebook.scoreboard import scoreboard
from gemm_lab_lessons.ch10.block_order import block_order, waves
from gemm_lab_lessons.ch10.tile_bounds import tail
from gemm_lab_lessons.ch10.wgmma_operands import wavefronts
from gemm_lab_lessons.shared.fault_injection import inject_fault
from gemm_results.profile import read_rows
from gpu_simulator.hardware.matrix_descriptor import SharedTile, decode_sm90, encode_sm90
from gpu_timing.machine_code.main_loop import main_loop

K = {k.name.split("/")[1]: k for k in lab.ladder("hopper")}
K1, K2, K3, K4, K5, K6, K7, K8, WIDE, NARROW = K.values()
CEILING = "wgmma_m64n256k16_bf16"
SHUFFLE = "__shfl_sync(0xffffffff, threadIdx.x / 128, 0)"


def changed(kernel, old, new):
    assert old in kernel.source
    return kernel.rewrite(kernel.source.replace(old, new))


def loop(kernel):
    return main_loop(kernel.sass(arch="sm_90a").lines).lines


def count(kernel, opcode):
    return sum(line.opcode.split(".")[0] == opcode for line in loop(kernel))


# ---- 01 and 02 ----


def test_no_fragments_in_the_loop():
    assert [count(lab.kernel("ampere/10"), op) for op in ("LDSM", "HMMA", "HGMMA")] == [16, 64, 0]
    assert [count(K1, op) for op in ("LDSM", "HMMA", "HGMMA")] == [0, 0, 8]
    assert 8 * 64 * 128 * 16 == 128 * 16 * 8 * 16 * 4, "8 products are 128 mma in each of four warps"


def test_64_rows_are_512_and_16_values_of_k_are_2_in_a_descriptor():
    word = encode_sm90(SharedTile(start=16384, leading_bytes=16, stride_bytes=1024, swizzle=128))
    assert [decode_sm90(word + step).start - 16384 for step in (2, 512)] == [16 * 2, 64 * 128]
    assert "tile_a + k * 2 + mi * 512, tile_b + k * 2" in K1.regions["multiply"]


def test_registers_that_the_copies_took():
    assert [k.compile("sm_90a").registers for k in (K1, K2)] == [241, 154]
    assert K1.config["BLOCK_M"] * K1.config["BLOCK_N"] // 128 == 128


def test_pauses_stay_and_grow_shorter():
    found = [k.timeline().timeline for k in (K1, K2)]
    assert [len(shown.bubbles()) for shown in found] == [7, 7]
    assert 2 * sum(b - a for a, b in found[1].bubbles()) < sum(b - a for a, b in found[0].bubbles())


# ---- 03 and 04 ----


@pytest.mark.long
def test_a_wait_that_drains_costs_a_pause_for_every_k_tile():
    drained = changed(K3, "wgmma_wait_group<1>();", "wgmma_wait_group<0>();")
    full, dry = (k.timeline() for k in (K3, drained))
    assert (len(full.timeline.bubbles()), len(dry.timeline.bubbles())) == (2, 7) and full.share > dry.share + 0.2
    assert inject_fault(K3, {"wgmma_wait_group<1>();": "wgmma_wait_group<0>();"}).kind == "nothing"


def test_registers_of_three_warpgroups():
    begun = 65536 // 384 // 8 * 8
    assert (begun, begun + (begun - 24) // 2) == (168, 240)
    made = K4.compile("sm_90a")
    assert (made.threads, made.registers, made.spill_stores) == (384, 168, 0)


def test_wavefronts_and_cycles_of_a_product():
    shares = [wavefronts(n) * 4096 / (2 * 64 * n * 16) for n in (64, 128, 192, 256)]
    assert shares == pytest.approx([1, 0.75, 2 / 3, 0.625])
    assert (wavefronts(128), wavefronts(256)) == (48, 80) and round(80 / (2 * 48), 3) == 0.833


def test_the_simulator_counts_the_wavefronts_of_a_product():
    report = K1.run(256, backend="simulator").report
    products = [site for site in report.sites if "mma_async" in site.opcode]
    assert products
    for site in products:
        columns = int(re.search(r"\.m64n(\d+)k16\.", site.opcode)[1])
        assert site.wavefronts == site.executions // 4 * wavefronts(columns) > 0  # four warps execute one product


def test_operands_and_loads_of_04():
    kib, sectors = [], []
    for k in (K3, K4):
        lines = k.run(512, backend="simulator").hot_lines().lines
        kib.append(sum(line.operand_bytes for line in lines) // 1024)
        sectors.append(sum(line.sectors for line in lines if "copy(" in line.text))
    assert kib == [6144, 5120] and sectors[1] == sectors[0] * 3 // 4 == 98304


def test_the_shuffle_makes_the_number_uniform():
    plain = changed(K4, SHUFFLE, "threadIdx.x / 128")
    assert [count(k, "R2UR") for k in (K4, plain)] == [0, 2 * count(K4, "HGMMA")] == [0, 8]
    assert all(SHUFFLE in k.source for k in (K4, K5, K6, K7, K8))


# ---- 05 and 06 ----


def read_and_busy(kernel, n=16384):
    card = kernel.profile(n, on="h200").card
    assert card.n == n
    return card["dram_read_bytes"] / 1e9, card["tensor_pipe_pct"]


@pytest.mark.long
def test_without_bands_every_byte_comes_from_memory_again_and_again():
    both = 2 * 16384**2 * 2 / 1e9
    assert round(both, 2) == 1.07 and 61 < read_and_busy(K4)[0] / both < 67
    assert all(gb > 60 and busy < 75 for gb, busy in map(read_and_busy, (K2, K3, K4, K5(GROUP_M=1))))
    gb, busy = read_and_busy(K5)
    assert gb < 20 and busy > 98


def test_at_8192_what_the_first_rungs_read_is_not_the_same_twice():
    rows = read_rows(data_dir("results") / "profiles" / "h200" / "repeats.csv")
    reads = {
        rung: [float(row["dram_read_gb"]) for row in rows if row["kernel"].startswith(f"hopper/{rung}")]
        for rung in ("02", "03", "05")
    }
    assert {rung: (len(gb), round(min(gb), 1), round(max(gb) + 0.001, 1)) for rung, gb in reads.items()} == {
        "02": (5, 2.9, 6.6),
        "03": (5, 4.8, 6.0),
        "05": (5, 1.2, 1.2),
    }
    times = {(row["recording"], row["kernel"][7:9]): int(row["duration_ns"]) for row in rows}
    assert len({times[number, "02"] < times[number, "03"] for number in "123"}) == 2, (
        "now the one was faster, now the other"
    )


def test_bands_touch_a_quarter_of_the_bytes():
    found = [
        waves(block_order(order, 128, 64, K5.config["GROUP_M"]), 132, (128, 256), 16384)[0].distinct_bytes
        for order in ("row", "grouped")
    ]
    assert found[1] < 0.3 * found[0]
    assert "const Tile tile = place(index);\n        for (int k_tile" in K5.source, "not in the loop over k"


@pytest.mark.long
def test_the_scope_of_an_arrival_is_a_fence_of_the_gpu():
    scoped = changed(K6, "mbarrier_arrive_remote(mapa", "mbarrier_arrive_cluster(mapa")
    fences = [[line.opcode for line in loop(k) if line.opcode.startswith("MEMBAR")] for k in (K6, scoped)]
    assert fences[0] == [] and "MEMBAR.ALL.GPU" in fences[1]
    assert scoped.run(512, backend="simulator").passed, "slower, not wrong"


ARRIVE = "threadIdx.x % 32 < CLUSTER) mbarrier_arrive_remote(mapa(empty + stage * 8, threadIdx.x % 32))"


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("kernel", "changes", "kind", "says"),
    [
        (K1, {"fence_proxy_async();": ""}, "a hazard", "need fence.proxy.async"),
        (
            K6,
            {
                ARRIVE: "threadIdx.x % 32 == 0) mbarrier_arrive(empty + stage * 8)",
                "CLUSTER * NUM_CONSUMERS * 4": "NUM_CONSUMERS * 4",
            },
            "a hazard",
            "overwrites shared address",
        ),
        (K6, {"cluster_sync();": "__syncthreads();"}, "a hazard", ""),
        (K6, {"0b11": "0b01"}, "a deadlock", ""),
    ],
)
def test_what_is_broken_is_found(kernel, changes, kind, says):
    found = inject_fault(kernel, changes)
    assert found.kind == kind and says in found.says


# ---- 07 and 08 ----


def test_07_takes_nearly_any_size():
    assert K7.run(n=264, m=200, k=72, backend="simulator").passed


def test_turns_leave_no_pause_where_storing_takes_long():
    together, turns = K5.timeline(store_bytes=16).timeline, K8.timeline(n=512, store_bytes=16).timeline
    assert len(together.bubbles()) > 0 == len(turns.bubbles()) and turns.share() > together.share() + 0.05


def test_rounds():
    assert tail(4096, 4096, WIDE.block, 132).tiles == 704 and round(704 / 132, 2) == 5.33
    shares = {(n, k.block[1]): tail(n, n, k.block, 132).efficiency for n in (4096, 8192, 16384) for k in (K8, WIDE)}
    assert round(100 * shares[4096, 192], 1) == 88.9 < round(100 * shares[4096, 128], 1)
    assert shares[8192, 192] > 0.99 and tail(8192, 8192, WIDE.block, 132).waves == 21
    assert shares[16384, 192] == pytest.approx(shares[16384, 128], abs=0.01)


def test_112_columns_are_the_widest_of_the_fewest():
    paid = {width: tail(4096, 4096, (128, width), 132).waves * width for width in range(64, 257, 8)}
    assert paid[128] == 1024 and round(4096 * 32 / 132) == 993 and len(paid) == 25
    assert min(paid.values()) == paid[NARROW.block[1]] == 1008
    assert all(width < 112 for width in paid if width != 112 and paid[width] == 1008)


# ---- What was recorded ----


@pytest.fixture(scope="module")
def sustained():
    return lab.ladder("hopper").recorded([2048, 4096, 8192, 16384])


def test_the_ladder_passes_cublas(sustained):
    share = {(k.name, n): sustained.ratio(k.name, "cublas", n) for k in K.values() for n in sustained.sizes}
    assert all(share[K8.name, n] > 1 for n in sustained.sizes)
    assert all(0.4 < share[K1.name, n] < 0.65 for n in sustained.sizes)
    assert share[K3.name, 2048] > 0.97 and share[K3.name, 16384] < 0.8 < 1 < share[K5.name, 16384]


def test_order_counts_at_16384_and_multicast_gains_nothing(sustained):
    assert sustained.ratio(K5.name, K4.name, 16384) > 1.2
    assert sustained.ratio(K6.name, K5.name, 8192) < 1.01


def test_the_wide_tile_wins_at_8192_alone(sustained):
    wins = {n: sustained.ratio(WIDE.name, K8.name, n) > 1 for n in sustained.sizes}
    assert wins == {2048: False, 4096: False, 8192: True, 16384: False}


def test_the_narrow_tile_wins_at_4096_while_the_clock_is_low(sustained):
    burst = lab.ladder("hopper").recorded([4096], "burst")
    assert sustained.ratio(NARROW.name, K8.name, 4096) > 1 > burst.ratio(NARROW.name, K8.name, 4096)


def test_power_is_the_limit(sustained):
    burst = lab.ladder("hopper").recorded([8192], "burst")
    assert sustained.tflops(CEILING, 8192) < 0.85 * burst.tflops(CEILING, 8192)
    assert burst.ratio(K8.name, "cublas", 8192) < 1 < sustained.ratio(K8.name, "cublas", 8192)
    assert sustained.ratio(K8.name, CEILING, 16384) == pytest.approx(1, abs=0.03)
    for run in (burst, sustained):
        (row,) = [row for row in run.rows if row.kernel == K8.name and row.n == 8192]
        assert run.tflops(CEILING, 8192) * 1e6 / 132 / 4096 < row.sm_clock_mhz, "the clock kept is below NVML's"
        assert run is burst or row.power_w > 650


def step(after, n, regime):
    return scoreboard(n, regime, on="h200").gain(after)


def test_the_losses_that_the_text_tells():
    assert step(K4.name, 4096, "sustained").high < 1 < step(K4.name, 4096, "burst").low
    assert all(step(K4.name, n, regime).low > 1 for n in (8192, 16384) for regime in ("sustained", "burst"))
    for n in (4096, 8192, 16384):
        assert (
            step(K8.name, n, "sustained").ratio == pytest.approx(1.02, abs=0.01) and step(K8.name, n, "burst").high < 1
        )
        assert all(0.99 < step(K7.name, n, regime).ratio < 1.015 for regime in ("sustained", "burst"))
    assert all(step(WIDE.name, 8192, regime).low > 1 for regime in ("sustained", "burst"))


def test_registers_that_change_hands_are_what_keeps_the_wide_tile_from_spilling():
    def spilled(kernel):
        words = ("setmaxnreg_dec<PRODUCER_REGISTERS>();", "setmaxnreg_inc<CONSUMER_REGISTERS>();")
        for text in words:
            kernel = changed(kernel, text, "")
        built = kernel.compile("sm_90a")
        return built.spill_stores + built.spill_loads

    assert spilled(K8) == 0 < 1000 < spilled(WIDE)
    assert WIDE.compile("sm_90a").spill_stores == 0


def test_the_notebook_names_where_its_times_come_from():
    book = nbformat.read(data_dir("notebooks") / "10_hopper_wgmma.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in book.cells)
    assert "logical time" in text and 'timeline(on="h200")' in text and "recorded on an H200" in text
    names = {"10_layout", "10_products", "10_consumer", "10_multicast", "10_store"}
    assert names <= set(text.replace('"', " ").replace("`", " ").split())


def clocks_of_a_k_tile(kernel):
    """Median clocks between the first products of two k tiles in the stamped copy, and the least that they take."""
    issues = [e for e in kernel.timeline(on="h200").timeline.of("warp 0") if e.kind == "issue"]
    begun = [b.start for a, b in itertools.pairwise(issues) if a.stage != b.stage]
    return np.median(np.diff(begun)), kernel.block[0] * kernel.block[1] * 64 * 2 / 4096


def test_stamps_cost_the_short_k_tile_more(sustained):
    (long, best_long), (short, best_short) = clocks_of_a_k_tile(K5), clocks_of_a_k_tile(K8)
    assert (best_long, best_short) == (1024, 512) and long < 1.15 * best_long and short > 1.3 * best_short
    (row,) = [row for row in sustained.rows if row.kernel == K8.name and row.n == 8192]
    unstamped = 2 * 128 * 128 * 64 * 132 * row.sm_clock_mhz / row.tflops / 1e6
    assert best_short < unstamped < 0.8 * short, "as many clocks as NVML's clock allows, at most"


def test_eight_warps_store_at_once_in_05_and_never_together_in_08():
    for kernel, together in ((K5, True), (K8, False)):
        events = kernel.timeline(on="h200").timeline.events
        spans = [
            [(e.start, e.end) for e in events if e.kind == "epilogue" and f"{e.agent} ".startswith(f"warp {warp} ")][0]
            for warp in (0, 4)
        ]
        assert (spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]) == together


def test_the_choices_that_cells_name_as_right_are_right():
    assert 60 < lab.kernel("hopper/04").profile(16384).card["dram_read_bytes"] / 1e9 < 80
    top = "wgmma_m64n256k16_bf16"
    sustained, burst = (
        lab.ladder("hopper").recorded([8192], regime).tflops(top, 8192) for regime in ("sustained", "burst")
    )
    assert 0.71 < sustained / burst < 0.75
