"""What notebook 07 says in prose, held against the compiler, the simulator, the models and the recorded runs."""

from functools import lru_cache
from types import SimpleNamespace

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.lab.actions.ablating import recorded_gains, rung_of
from gemm_lab_lessons.ch07.shared_roofline import cycles_in, cycles_per_mma, shared_roofline
from gemm_lab_lessons.ch10.block_orders import order_facts
from gemm_results.published_trials import steps
from gemm_results.recorded_cards import read_cards
from gpu_simulator.errors import SimulatorError
from gpu_timing.machine_code.address_reuse import until_overwritten
from gpu_timing.machine_code.instruction_order import mma_before_use, runs
from gpu_timing.machine_code.main_loop import main_loop
from tools.figures import async_copies, tails

ARCH = "sm_90a"  # that of the recorded GPU
K = {number: lab.kernel(f"ampere/{number:02d}") for number in range(1, 12)}
SAME_TILES = {"BLOCK_N": 256, "BLOCK_K": 32, "NUM_WARPS_N": 4, "NUM_STAGES": 4}


def sass(kernel):
    return _sass(kernel.name, tuple(kernel.config.items()))


@lru_cache
def _sass(name, config):
    return lab.kernel(name, **dict(config)).sass(arch=ARCH).lines


@pytest.fixture(scope="module")
def bench():
    return lab.ladder("ampere").recorded([2048, 4096, 8192], "burst")


@pytest.fixture(scope="module")
def pipes():
    return dict(
        zip(
            (1, 3, 4, 10, 64),
            shared_roofline("ampere/01", "ampere/03", "ampere/04", K[10], K[10](BLOCK_K=64, NUM_STAGES=3)).rows,
            strict=True,
        )
    )


# ---- Two pipes ----


@pytest.mark.parametrize("gpu, cycles", [("a100", 8), ("rtx5090", 32), ("h200", 6)])
def test_cycles_of_one_mma(gpu, cycles):
    assert cycles_per_mma(gpu) == pytest.approx(cycles, rel=0.005)


def test_every_recorded_card_gives_the_same_cycles():
    cards = [
        card for card in read_cards(data_dir("results") / "profiles" / "h200") if card.kernel.startswith("ampere/")
    ]
    assert len(cards) >= 9 and all(cycles_in(card) == pytest.approx(6, rel=0.01) for card in cards)


@pytest.mark.long
@pytest.mark.parametrize(
    "rung, ldmatrix, copies", [(1, 2048, 128), (3, 256, 336), (4, 256, 128), (10, 512, 384), (64, 512, 192)]
)
def test_wavefronts_of_a_step_of_32(pipes, rung, ldmatrix, copies):
    assert (pipes[rung].ldmatrix, pipes[rung].copies) == (ldmatrix, copies)


@pytest.mark.long
def test_bounds(pipes):
    assert min(("a100", "rtx5090", "h200"), key=pipes[1].bound) == "h200" and pipes[1].bound("rtx5090") > 0.9
    assert pipes[1].bound("h200") < 0.2 and 0.6 < pipes[3].bound("h200") < 0.7
    assert pipes[3].bound("rtx5090") == 1 and pipes[3].bound("a100") < 0.9
    assert pipes[10].wavefronts > pipes[10].tensor["h200"] > pipes[64].wavefronts
    assert pipes[10].bound("a100") == 1


def test_no_rung_is_faster_than_its_bound(bench, pipes):
    for rung in (1, 3, 4, 10):
        assert bench.ratio(K[rung].name, "mma_m16n8k16_bf16", 8192) < pipes[rung].bound("h200")
    assert bench.ratio("ampere/10", "mma_m16n8k16_bf16", 8192) > 0.9 * pipes[10].bound("h200"), "close to it"


def test_a_gpu_without_cards_has_no_bound(monkeypatch):
    from gemm_lab_lessons.ch07 import shared_roofline as module

    monkeypatch.setattr(module, "cycles_per_mma", lambda name: None if name == "h200" else 8.0)
    shown = module.shared_roofline("ampere/04")
    assert "not recorded" in repr(shown) and shown.rows[0].bound("h200") is None


# ---- 02 to 06 ----


@pytest.mark.long
def test_a_copy_of_02_has_no_register_between_and_that_of_01_has():
    names = [{line.opcode.split(".")[0] for line in main_loop(sass(K[number])).lines} for number in (1, 2)]
    assert {"LDG", "STS"} <= names[0] and "LDGSTS" in names[1] and not {"LDG", "STS"} & names[1]


def test_without_its_barrier_02_is_exact_here_and_racy():
    first = next(line for line in K[2].source.split("\n") if "__syncthreads" in line)
    race = K[2].rewrite(K[2].source.replace(first, "")).run(256, backend="simulator")
    assert race.passed and "which thread" in str(race.hazards()[0]) and "cp.async" in str(race.hazards()[0])


@pytest.mark.long
def test_05_has_less_of_everything_and_is_slower(bench):
    loops = [K[number].instruction_mix(ARCH).loop for number in (4, 5)]
    assert sum(loops[1].values()) < sum(loops[0].values()) and loops[1]["ldmatrix"] < loops[0]["ldmatrix"]
    assert K[5].compile(ARCH).registers < 0.75 * K[4].compile(ARCH).registers
    assert bench.ratio("ampere/05", "ampere/04", 8192) < 1


@pytest.mark.long
def test_05_loads_just_in_time():
    zeros = [mma_before_use(sass(K[number])).count(0) for number in (4, 5)]
    assert zeros[0] <= 2 and zeros[1] > len(mma_before_use(sass(K[5]))) / 2


@pytest.mark.long
def test_the_addresses_of_05_move_its_loads_and_not_their_width():
    x2, x4 = (
        "x2(frag_b[ni][0], frag_b[ni][1],",
        "x4(frag_b[ni][0], frag_b[ni][1], frag_b[ni + 1][0], frag_b[ni + 1][1],",
    )
    wide = K[4].regions["multiply"].replace(x2, x4).replace("ni++) {", "ni += 2) {")
    wide = K[4].edit(multiply=wide.replace("lane % 8,", "lane / 16 * 8 + lane % 8,"))
    narrow = K[5].edit(multiply=K[5].regions["multiply"].replace(x4, x2).replace("ni += 2)", "ni++)"))
    for kernel, early in ((wide, True), (narrow, False)):
        assert kernel.run(256, backend="simulator", timed=False).passed
        between = mma_before_use(kernel.sass(arch=ARCH).lines)
        assert (between.count(0) < 0.1 * len(between)) == early and (between.count(0) > 0.5 * len(between)) != early


def test_three_blocks_need_168_registers_a_thread():
    h200 = lab.gpu("h200")
    assert [lab.occupancy(h200, 128, registers, 32_768).blocks for registers in (168, 172)] == [3, 2]
    bounds = K[5].rewrite(K[5].source.replace("__launch_bounds__(NUM_THREADS)", "__launch_bounds__(NUM_THREADS, 3)"))
    made = bounds.compile(ARCH)
    assert (made.registers, made.spill_stores, bounds.occupancy(made, on="h200").blocks) == (168, 0, 3)
    orders = [mma_before_use(kernel.sass(arch=ARCH).lines).count(0) for kernel in (K[5], bounds)]
    assert orders[0] == orders[1] > 10, "the same loads just in time"


@pytest.mark.parametrize("regime", ["sustained", "burst"])
def test_with_a_third_block_05_is_ahead_of_04(regime):
    gains = recorded_gains(*rung_of(lab.ladder("ampere").spec, "ampere/05"), 8192, regime, "h200")
    step = lab.ladder("ampere").recorded([8192], regime).ratio("ampere/05", "ampere/04", 8192)
    assert len(gains) == 2 and all(gain.high < 0.9 for gain in gains.values())
    assert step / gains["registers for two blocks instead of three"].high > 1.05 > 1 > step


@pytest.mark.long
def test_the_model_does_not_see_the_loss_of_05_on_an_h200_either(bench):
    third = K[5].rewrite(K[5].source.replace("__launch_bounds__(NUM_THREADS)", "__launch_bounds__(NUM_THREADS, 3)"))
    four, two, three = (kernel.predict(on="h200", n=8192).cycles for kernel in (K[4], K[5], third))
    assert four / two > 0.99 and bench.ratio("ampere/05", "ampere/04", 8192) < 0.96 and four / three > 1.1
    assert [K[number].occupancy(K[number].compile("sm_80"), on="a100").blocks for number in (4, 5)] == [2, 2]


def test_no_prediction_explains_the_published_loss_of_05_on_an_a100():
    published = {one.step: one for one in steps() if (one.source, one.gpu, one.n) == ("learn_cuda_sm80", "a100", 4096)}
    assert [published[f"v{number}"].kernel for number in range(1, 7)] == [K[number].name for number in range(1, 7)]
    v4, v5 = published["v4"], published["v5"]
    assert v5.published < 0.9 * v4.published and v5.predicted > 0.98 * v4.predicted
    assert all(published[step].error > 0.1 for step in ("v3", "v4", "v5")) and abs(published["v6"].error) < 0.05
    assert K[4].predict(on="a100").cycles > 0.95 * K[5].predict(on="a100").cycles  # the model as it is now


@pytest.mark.parametrize("rung", [4, 5])
def test_on_an_a100_loads_stand_ahead_of_their_products(rung):
    between = mma_before_use(K[rung].sass(arch="sm_80").lines)
    assert between.count(0) < 0.1 * len(between)


def test_05_waits_right_behind_its_copies_and_06_a_turn_later():
    order = [runs(sass(K[number]), ("LDGSTS", "DEPBAR", "BAR", "HMMA")) for number in (5, 6)]
    assert order[0] == [("LDGSTS", 16), ("DEPBAR", 1), ("BAR", 1), ("HMMA", 128), ("BAR", 1)]
    assert order[1] == [("LDGSTS", 16), ("DEPBAR", 1), ("BAR", 1), ("LDGSTS", 16), ("HMMA", 128)]


@pytest.mark.parametrize("gpu, blocks", [("a100", (2, 1)), ("rtx5090", (1, 1)), ("h200", (2, 2))])
def test_blocks_of_06_and_07(gpu, blocks):
    arch = lab.gpu(gpu).arch
    assert tuple(K[number].occupancy(K[number].compile(arch), on=gpu).blocks for number in (6, 7)) == blocks


def test_one_stage_leaves_room_for_more_blocks_on_a_5090():
    assert K[5].occupancy(K[5].compile("sm_120a"), on="rtx5090").blocks > 1


# ---- 07 to 11 ----


def test_the_order_matters_at_8192_and_not_at_2048(bench):
    saved = [
        facts.dram["row"] / facts.dram["grouped"]
        for n in (2048, 4096, 8192)
        for facts in [order_facts(n, n, n, (128, 128), "a100", "grouped", 16)]
    ]
    assert saved[0] == 1 and saved[0] < saved[1] < saved[2]
    gains = [bench.ratio("ampere/08", "ampere/07", n) for n in (2048, 4096, 8192)]
    assert gains[0] < gains[1] < gains[2]
    assert lab.gpu("h200").dram_gbps > 2 * max(lab.gpu(name).dram_gbps for name in ("a100", "rtx5090"))


@pytest.mark.long
def test_in_09_and_10_products_come_first():
    for number in (9, 10):
        names = [line.opcode.split(".")[0] for line in main_loop(sass(K[number])).lines]
        assert "HMMA" in names[: names.index("LDGSTS")] and "HMMA" in names[names.index("BAR") + 1 :]


@pytest.mark.long
def test_copies_of_09_have_little_time_and_those_of_10_half_a_turn():
    same = K[9](**SAME_TILES)
    assert same.config == K[10].config
    turn = len(main_loop(sass(K[10])).lines)
    assert min(until_overwritten(sass(same))) < 10 and min(until_overwritten(sass(K[10]))) > 0.45 * turn


def test_full_rows_fit_an_a100_and_no_5090():
    needed = K[10](BLOCK_K=64, NUM_STAGES=3).compile(ARCH).smem
    assert needed == 144 * 1024 and lab.gpu("rtx5090").smem_per_block < needed < lab.gpu("a100").smem_per_block
    assert 4 * (128 + 256) * 32 * 2 < lab.gpu("rtx5090").smem_per_block < 4 * (128 + 256) * 64 * 2


def test_any_size_costs_nothing_at_8192_and_more_at_smaller_sizes(bench):
    costs = [bench.ratio("ampere/11", "ampere/10", n) for n in (2048, 4096, 8192)]
    assert costs[0] < costs[1] < costs[2] and costs[0] < 0.97 and costs[2] > 0.99
    assert "if (k_copy" in K[10].regions["copy"] and "if (" not in K[11].regions["copy"]


def test_the_tile_of_a_sweep_is_further_ahead_and_1024_is_lost_without_it():
    for regime in ("burst", "sustained"):
        run = lab.ladder("ampere").recorded([1024, 2048, 4096, 8192], regime)
        over = {n: [run.ratio(name, "cutlass_sm80", n) for name in ("ampere/10", "tuned")] for n in run.sizes}
        assert all(tuned > own for own, tuned in over.values()) and over[1024][0] < 0.65 and over[1024][1] > 1
    chosen = lab.ladder("ampere").tuned(4096, on="h200")
    assert chosen.block == (256, 128) and (chosen.config["BLOCK_K"], chosen.config["NUM_STAGES"]) == (64, 3)
    assert chosen.compile(ARCH).smem == 144 * 1024


def test_10_passes_cutlass_and_11_not_at_2048(bench):
    for run in (bench, lab.ladder("ampere").recorded([2048, 4096, 8192])):
        assert all(1 < run.ratio("ampere/10", "cutlass_sm80", n) < 1.08 for n in (2048, 4096, 8192))
        assert all(1 < run.ratio("ampere/11", "cutlass_sm80", n) < 1.08 for n in (4096, 8192))
        assert run.ratio("ampere/11", "cutlass_sm80", 2048) < 1


def test_the_ceiling_tells_a_clock_below_the_drivers(bench):
    row = next(row for row in bench.rows if row.kernel == "ampere/11_any_size" and row.n == 8192)
    mhz = row.ceiling_tflops * 1e6 * cycles_per_mma("h200") / 4096 / 528
    assert 0.85 * row.sm_clock_mhz < mhz < 0.95 * row.sm_clock_mhz


# ---- Registers that copies read ----


def code(*texts):
    """A loop of these instructions."""
    words = [(f"HMMA.16816.F32.BF16 R{4 * k}, R64, R66, R{4 * k} ;", None) for k in range(2)]
    lines = [
        SimpleNamespace(address=16 * at, text=text, target=target, opcode=text.split("@P0 ")[-1].split()[0])
        for at, (text, target) in enumerate([*words, *((text, None) for text in texts), ("BRA `(.L_x_0) ;", 0)])
    ]
    return lines


@pytest.mark.parametrize(
    "texts, found",
    [
        (["LDGSTS.E.128 [R20], desc[UR6][R22.64] ;", "IADD3 R9, R9, 1, RZ ;", "IADD3 R23, P0, R23, R1, RZ ;"], [2]),
        (["LDGSTS.E.128 [R20+0x800], desc[UR6][R22.64] ;", "IMAD.WIDE R22, R1, 0x2, R8 ;"], [1]),
        (["IADD3 R20, R9, 1, RZ ;", "LDGSTS.E.128 [R20], desc[UR6][R22.64] ;"], [4]),  # a turn later
        (["LDGSTS.E.128 [R20], desc[UR6][R22.64] ;", "IADD3 R30, R20, R22, RZ ;"], [5]),  # read only
        (["@P0 LDGSTS.E.128 [R20], desc[UR6][R22.64] ;", "@P0 LDC.64 R22, c[0x0][0x210] ;"], [1]),
    ],
)
def test_until_a_register_is_written_again(texts, found):
    assert until_overwritten(code(*texts)) == found


def test_code_without_copies_is_refused():
    with pytest.raises(SimulatorError, match="no main loop with LDGSTS"):
        until_overwritten(sass(K[1]))


# ---- Pictures ----


def test_the_last_tile_is_the_one_of_11():
    block_m, block_k = (K[11].config[name] for name in ("BLOCK_M", "BLOCK_K"))
    assert (130 % block_m, 40 % block_k // 8, block_k // 8) == (tails.ROWS_LEFT, tails.CHUNKS_LEFT, tails.CHUNKS)
    assert [tails.source_of(row, 0) for row in (0, 1, 2, 5)] == ["128", "129", "129", "129"] and tails.source_of(
        0, 1
    ) == "0"


def test_three_stages_are_those_of_07():
    assert async_copies._STAGES == K[7].config["NUM_STAGES"] == 3
