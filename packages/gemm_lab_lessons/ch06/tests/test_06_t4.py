"""What notebook 06 says in prose, held against the compiler, the simulator, the models and the recorded counters."""

import re

import nbformat
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.lab.actions.ablating import recorded_gains, rung_of
from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom import skeletons
from gemm_results import plots
from gemm_results.published import published
from gemm_results.roofline_model import l2_argument
from gpu_timing.machine_code.instruction_order import mma_before_use, runs
from gpu_timing.machine_code.main_loop import main_loop
from tools.figures import png

ARCH = "sm_75"
K = {number: lab.kernel(f"t4/0{number}") for number in range(1, 9)}


def opcodes(kernel, line=None):
    return [item.opcode for item in kernel.sass(line=line, arch=ARCH).lines]


def order(kernel, *names):
    return runs(kernel.sass(arch=ARCH).lines, names)


def loop(kernel):
    return main_loop(kernel.sass(arch=ARCH).lines).lines


def card(number):
    return K[number].profile().card


@pytest.fixture(scope="module")
def lines():
    """The source lines whose machine code the notebook shows, by kernel variable."""
    book = nbformat.read(data_dir("notebooks") / "06a_t4_feeding_tensor_cores.ipynb", as_version=4)
    source = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
    return {name: int(line) for name, line in re.findall(r"(k\d)\.sass\(line=(\d+)", source)}


# ---- 01 to 03 ----


def test_the_lines_shown_are_the_copies_of_a(lines):
    assert "chunk[col % 8] = gmem_a" in K[1].source.split("\n")[lines["k1"] - 1]
    assert "smem_a[chunk_a(row, chunk)] =" in K[2].source.split("\n")[lines["k2"] - 1]


def test_01_loads_two_bytes_and_stores_them(lines):
    moves = [name for name in opcodes(K[1], lines["k1"]) if name.startswith(("LDG", "STS"))]
    assert [name.split(".SYS")[0] for name in moves] == ["LDG.E.U16", "STS.U16"]


def test_02_sends_eight_wide_loads_before_the_first_store(lines):
    moves = [name for name in opcodes(K[2], lines["k2"]) if name.startswith(("LDG", "STS"))]
    assert [name.split(".SYS")[0] for name in moves] == ["LDG.E.128"] * 8 + ["STS.128"] * 8


@pytest.mark.parametrize("number", [2, 3])
def test_load_store_barrier_multiply_barrier(number):
    assert order(K[number], "LDG", "STS", "HMMA", "BAR") == [
        ("LDG", 12),
        ("STS", 12),
        ("BAR", 1),
        ("HMMA", 256),
        ("BAR", 1),
        ("LDG", 64),
    ]


@pytest.mark.long
def test_01_loses_to_a_kernel_without_tensor_cores():
    before = lab.kernel("simt/04").profile().card
    assert before.n == card(1).n and before["cycles"] < card(1)["cycles"] and before["tensor_pipe_pct"] < 1
    assert card(1)["tensor_pipe_pct"] < 10


@pytest.mark.parametrize("number, state", [(1, "long scoreboard"), (2, "short scoreboard"), (3, "long scoreboard")])
def test_the_suspects_of_the_first_three_cards(number, state):
    assert card(number).limiting.label == state


@pytest.mark.parametrize("rows_bytes", [128, 256])
@pytest.mark.parametrize("swizzled, wavefronts", [(False, 8), (True, 1)])
def test_the_count_of_conflicts_in_prose(rows_bytes, swizzled, wavefronts):
    for chunk in range(rows_bytes // 16):
        first = [(row * rows_bytes + (chunk ^ row % 8 if swizzled else chunk) * 16) // 4 % 32 for row in range(8)]
        assert max(map(first.count, first)) == wavefronts


# ---- 04 and 05 ----


def test_04_loads_behind_the_barrier_and_multiplies_meanwhile():
    assert order(K[4], "LDG", "STS", "HMMA", "BAR") == [
        ("LDG", 12),
        ("STS", 12),
        ("BAR", 1),
        ("LDG", 12),
        ("HMMA", 256),
        ("BAR", 1),
        ("LDG", 64),
    ]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_step_is_256_mma_and_a_t4_holds_one_block(number):
    assert K[number].sass(arch=ARCH).mix["HMMA"] == 256
    compiled = K[number].compile(ARCH)
    held = K[number].occupancy(compiled, on="t4")
    assert (compiled.smem, held.blocks) == (49_152, 1) and held.binding.startswith("shared memory")
    fewer = lab.occupancy(lab.gpu("t4"), compiled.threads, 64, compiled.smem)
    assert (fewer.blocks, fewer.binding) == (1, "shared memory"), "fewer registers do not help"


def test_04_pays_in_registers():
    assert K[4].compile(ARCH).registers > K[3].compile(ARCH).registers


def test_the_grey_stretch_of_04_stands_between_barrier_and_loads():
    names = [line.opcode.split(".")[0] for line in loop(K[4])]
    stretch = names[names.index("BAR") + 1 : names.index("LDG")]
    assert len(stretch) > 40 and not {"HMMA", "LDSM", "STS"} & set(stretch)


def test_addresses_computed_once_save_most_of_it_whatever_the_compiler():
    once = K[4].edit(fetch=skeletons.solution("06_addresses"))
    assert len(loop(K[4])) - len(loop(once)) >= 45 > exercises()["06_addresses"].criteria["fewer_instructions"] >= 40


@pytest.mark.long
def test_the_compiler_finds_the_xor_steps_itself():
    again = K[5].edit(multiply=K[4].regions["multiply"])
    assert len(loop(again)) <= len(loop(K[5])) and again.run(256, timed=False).passed


def test_05_executes_less_of_everything_but_mma():
    before, after = card(4).classes, card(5).classes
    assert before.pop("tensor core") == after.pop("tensor core")
    assert all(after[name] <= before[name] for name in before) and sum(after.values()) < 0.6 * sum(before.values())
    assert card(5)["l2_bytes"] < 0.7 * card(4)["l2_bytes"]


def test_the_argument_about_bytes():
    assert not l2_argument(256, 128).enough and l2_argument(256, 256).enough and l2_argument(128, 128).intensity == 64
    assert round(65_000 / (110 + 640), 2) == 86.67
    # Half of the reads from L2: both tiles are too small; more than three quarters: both are large enough.
    enough = {
        share: [l2_argument(256, n, hit_rate=share).enough for n in (128, 256)]
        for share in (0.5, 2 / 3, 0.75, card(4)["l2_hit_pct"] / 100)
    }
    assert list(enough.values()) == [[False, False], [False, True], [True, True], [True, True]]
    assert K[5].compile(ARCH).smem * 2 == K[6].compile(ARCH).smem == 65_536


# ---- 06 to 08 ----


@pytest.mark.parametrize("number, barriers", [(5, 2), (6, 1), (7, 1), (8, 1)])
def test_barriers_in_a_turn(number, barriers):
    assert sum(line.opcode.startswith("BAR") for line in loop(K[number])) == barriers


@pytest.mark.long
def test_without_its_second_barrier_05_is_exact_here_and_racy():
    barriers = [line for line in K[5].source.split("\n") if "__syncthreads" in line]
    assert len(barriers) == 2
    race = K[5].rewrite(K[5].source.replace(barriers[1], "")).run(512, backend="simulator")
    assert (
        race.passed
        and "st.shared" in str(race.hazards()[0])
        and "there is no barrier between them" in str(race.hazards()[0])
    )


def test_06_waits_no_less_at_its_barrier_and_less_for_the_queue():
    before, after = card(5), card(6)
    assert abs(after["stall_barrier"] - before["stall_barrier"]) < 0.1
    assert after["stall_mio_throttle"] < 0.5 * before["stall_mio_throttle"]


@pytest.mark.long
def test_the_model_misses_most_of_what_06_gained_on_a_t4():
    told = {row.kernel: row.percent_of_cublas for row in published() if row.source == "t4_hgemm"}
    gained, predicted = told["kernel6"] / told["kernel5"], K[5].predict(on="t4", n=8192).cycles
    assert predicted / K[6].predict(on="t4", n=8192).cycles < 1 + 0.5 * (gained - 1)


def test_a_store_of_06_takes_eight_sectors_and_one_of_07_sixteen_full_ones():
    for number, sectors, used in ((6, 8, 0.5), (7, 16, 1.0)):
        seen = card(number)
        assert seen["store_sectors"] / seen["store_requests"] == sectors
        assert 2 * seen.n**2 / (32 * seen["store_sectors"]) == used


def test_two_ldmatrix_of_07_have_no_mma_before_their_use_and_those_of_08_have_many():
    assert sorted(mma_before_use(K[7].sass(arch=ARCH).lines))[:3].count(0) == 2
    assert min(mma_before_use(K[8].sass(arch=ARCH).lines)) >= 8


def test_08_loads_early_and_stores_late():
    names = [line.opcode.split(".")[0] for line in loop(K[8])]
    loads, stores = ([place for place, name in enumerate(names) if name == kind] for kind in ("LDG", "STS"))
    assert len(loads) == 8 and loads[-1] < len(names) / 3 and stores[0] > len(names) / 2
    assert names[0] == "HMMA" or "HMMA" in names[:4], "the loop begins with products"


@pytest.mark.parametrize("regime", ["sustained", "burst"])
def test_the_tile_of_05_is_worth_most_whatever_a_turn_is_and_addresses_cost_with_the_small_one(regime):
    gains = recorded_gains(*rung_of(lab.ladder("t4").spec, "05"), 8192, regime, "h200")
    worth = {name: gain.ratio for name, gain in gains.items()}
    turn, tile = worth["256 columns instead of 128"], worth["tiles of 256 × 256 × 32 instead of 256 × 128 × 64"]
    stepped = [worth[f"addresses of {memory} memory that step"] for memory in ("global", "shared")]
    assert min(turn, tile) > max(stepped) > min(stepped) > 1 and abs(turn - tile) < 0.06 and min(stepped) < 1.03
    assert tile > lab.ladder("t4").recorded([8192], regime).ratio("t4/05", "t4/04", 8192), "slower than 04"


@pytest.mark.parametrize("regime", ["sustained", "burst"])
def test_a_chosen_tile_brings_08_near_to_cutlass_at_2048_and_not_at_1024(regime):
    ladder = lab.ladder("t4")
    over = {n: ladder.recorded(n, regime).ratio("tuned", "cutlass_sm75", n) for n in (1024, 2048)}
    assert 0.95 < over[2048] < 1 and over[1024] < 0.9
    own = {n: ladder.recorded(n, regime).ratio("t4/08", "cutlass_sm75", n) for n in (1024, 2048)}
    assert all(over[n] > 1.4 * own[n] for n in own)
    assert [ladder.tuned(n, on="h200").block for n in (2048, 4096)] == [(128, 128), (256, 256)]


@pytest.mark.parametrize("regime", ["sustained", "burst"])
def test_08_is_limited_by_the_tensor_core_and_passes_cutlass_where_it_has_tiles_enough(regime):
    assert card(8).limiting.label == "math pipe throttle" and card(8)["tensor_pipe_pct"] > 75
    bench = lab.ladder("t4").recorded([2048, 4096, 8192], regime)
    assert all(1.05 < bench.ratio("t4/08", "cutlass_sm75", n) < 1.2 for n in (4096, 8192))
    assert all(0.9 < bench.ratio("t4/07", "cutlass_sm75", n) < 1.1 for n in (4096, 8192))
    assert bench.ratio("t4/08", "cutlass_sm75", 2048) < 0.7 and bench.ratio("t4/08", "t4/04", 2048) < 0.8


def test_the_closing_plots_keep_their_words_on_the_card():
    bench = lab.ladder("t4").recorded()
    for fig in (bench.plot(lit="t4/08_pipelined_fragments", n=8192), plots.sizes(bench.rows)):
        words, width = png.texts(fig), fig.canvas.get_width_height()[0]
        assert "CUTLASS" in " ".join(text.get_text() for text in words)
        for box in (text.get_window_extent(fig.canvas.get_renderer()) for text in words):
            assert box.x0 > 6 and box.x1 < width - 6


def test_a_strip_of_nothing_is_refused():
    with pytest.raises(lab.LabError, match="nothing to draw"):
        plots.code_strip([("mine", [])])


def test_waves_at_2048():
    t4, h200, tiles = lab.gpu("t4").sms, lab.gpu("h200").sms, (2048 // 256) ** 2
    assert (t4, h200) == (40, 132) and tiles < h200 / 2 and 0.9 * h200 < 2 * tiles <= h200
    small = K[8](BLOCK_M=128, BLOCK_N=128, NUM_WARPS_M=2, NUM_WARPS_N=2)
    assert small.occupancy(small.compile(ARCH), on="t4").blocks == 2
    assert small.run(256, timed=False).passed and (2048 // 128) ** 2 == 256
