"""What notebook 08 says in prose, held against the compiler, the simulator and the models."""

import pytest

import gemm_lab as lab
from gemm_lab import compiling
from gemm_lab.config import data_dir
from gemm_lab.lab.actions.ablating import recorded_gains, rung_of
from gemm_lab_lessons.ch07.shared_roofline import cycles_per_mma, shared_roofline
from gemm_lab_lessons.ch08.mbarrier_phases import stage_and_parities
from gemm_lab_lessons.shared.fault_injection import inject_fault
from gemm_results import published_trials
from gemm_results.published import published
from gpu_simulator import compiler
from gpu_simulator.errors import ConfigError, LaunchError
from gpu_simulator.hardware.tensor_map import TensorMap, TensorMapError
from gpu_timing.machine_code.main_loop import main_loop
from tools.figures import quads

AMPERE = lab.kernel("ampere/10")
K = {int(k.spec.number): k(**k.spec.config) for k in lab.ladder("rtx5090")}  # with a 5090's tiles on every machine
WIDE = {"BLOCK_N": 256, "BLOCK_K": 32, "NUM_WARPS_N": 4, "NUM_STAGES": 4}
EXPECT = "expect_tx(full + stage * 8, STAGE_BYTES)"
ARRIVE = "if (lane == 0) mbarrier_arrive(empty + read * 8);"


def loop(kernel, arch="sm_90a"):
    return main_loop(kernel.sass(arch=arch).lines).lines


# ---- What is left ----


def test_published_shares():
    table = {r.kernel: r.percent_of_peak for r in published() if r.gpu == "rtx5090" and "all kernels" in r.note}
    assert [81 <= round(table[f"v{number}"]) <= 84 for number in range(1, 9)] == [False] * 3 + [True] * 5
    article = [r for r in published() if r.source == "ampere_rtx5090" and r.gpu == "rtx5090"]
    large = {r.kernel: round(r.percent_of_peak) for r in article if r.n == 8192}
    assert (large["cublas"], large["v8"]) == (91, 81)
    later = {r.kernel: r.percent_of_peak for r in published() if r.source == "learn_cuda_sm120" and r.n == 8192}
    assert round(later["v0 cp.async"]) == 92 and 3.5 < later["v1 TMA"] - later["v0 cp.async"] < 4
    assert later["v2 warp specialised"] - later["v1 TMA"] == pytest.approx(0.35, abs=0.05)


def test_published_kernels_are_above_the_bound_of_their_tiles_at_2048():
    """So the card ran faster than the clock to which the percentages belong."""
    sms = lab.gpu("rtx5090").sms
    bounds = {}
    for columns, rows in ((128, 128), (64, 128), (128, 256)):
        tiles = (2048 // rows) * (2048 // columns)
        bounds[rows, columns] = tiles / sms / -(-tiles // sms)
    assert {round(100 * bound, 1) for bound in bounds.values()} == {75.3}
    told = [r.percent_of_peak for r in published() if r.source == "learn_cuda_sm120" and r.n == 2048]
    assert len(told) == 4 and min(told) > 75.3


def gains_of(rung, n, regime):
    return recorded_gains(*rung_of(lab.ladder("rtx5090").spec, rung), n, regime, "h200")


@pytest.mark.parametrize("regime", ["sustained", "burst"])
@pytest.mark.parametrize("n", [4096, 8192])
def test_the_gain_of_02_is_the_warp_and_hardly_the_barriers(regime, n):
    worth = {idea: gain.ratio for idea, gain in gains_of("rtx5090/02", n, regime).items()}
    assert 1.2 < worth["a warp that only asks for tiles"] < 1.32 and 1.005 < worth["no barrier of the block"] < 1.025
    assert 1.02 < worth["a wait behind the first products of a step"] < 1.04
    assert 1.005 < worth["a snake over the products"] < 1.02
    assert abs(worth["ldmatrix between the products"] - 1) < 0.005


@pytest.mark.parametrize("regime", ["sustained", "burst"])
def test_01_loses_by_the_part_that_eight_warps_take_in_a_copy(regime):
    worth = {idea: gain.ratio for idea, gain in gains_of("rtx5090/01", 4096, regime).items()}
    assert len(worth) == 3 and max(worth.values()) < 0.96
    loss = 1 - worth["TMA instead of cp.async"]
    assert 1 - worth["a copy that every warp issues, predicated"] > 0.6 * loss


@pytest.mark.parametrize("regime", ["sustained", "burst"])
def test_who_passes_cutlass(regime):
    run = lab.ladder("rtx5090").recorded([2048, 4096, 8192], regime)
    for n in run.sizes:
        over = [run.ratio(f"rtx5090/0{number}", "cutlass_sm80", n) for number in (1, 2, 3)]
        assert over[0] < 1 < min(over[1:]) and run.ratio("tuned", "cutlass_sm80", n) > max(over)
    step = {n: run.ratio("rtx5090/03", "rtx5090/02", n) for n in run.sizes}
    small = lab.ladder("rtx5090").recorded([1024], regime)
    assert all(small.ratio(f"rtx5090/0{number}", "cutlass_sm80", 1024) < 0.6 for number in (1, 2, 3))
    assert small.ratio("tuned", "cutlass_sm80", 1024) > 1
    assert 1.005 < step[4096] < 1.02 and 1 < step[8192] < 1.01 and step[2048] < 1


def test_the_producer_warp_takes_the_integer_instructions_out_of_the_consumers():
    before, after = (kernel.profile().card for kernel in (K[1], K[2](**WIDE)))
    assert K[1].config == K[2](**WIDE).config, "the same tiles"
    assert after.classes["integer and address"] < 0.5 * before.classes["integer and address"]
    assert after["tensor_pipe_pct"] > before["tensor_pipe_pct"] + 10
    assert after["stall_long_scoreboard"] > before["stall_long_scoreboard"]


def test_a_published_step_that_no_prediction_can_decide():
    trials = [one for one in published_trials.steps() if one.gpu == "rtx5090"]
    steps = {one.kernel: one for one in trials if one.source == "learn_cuda_sm120" and one.n == 8192}
    step = published_trials.Ratio(steps[K[1].name], steps[K[2].name])
    found = lab.ladder("rtx5090").predict(on="rtx5090", sizes=8192, progress=False)
    tma, warp, _ = (one.cycles for *_, one in found.rows)
    assert tma / warp > step.published > 1 and step.predicted > step.published
    stated = published_trials.summary(published_trials.ratios(trials))
    assert step.published - 1 < stated.median and str(stated) in repr(found)


def test_the_place_of_a_tile_costs_a_division_for_every_k_tile():
    for n, regime in ((4096, "sustained"), (4096, "burst"), (8192, "sustained"), (8192, "burst")):
        (gain,) = gains_of("rtx5090/03", n, regime).values()
        assert gain.low > 1.015 and gain.high < 1.03


def test_on_a_5090_shared_memory_needs_far_fewer_cycles_than_the_tensor_cores():
    (row,) = shared_roofline("ampere/10").rows
    assert cycles_per_mma("rtx5090") == pytest.approx(32, rel=0.005) and row.wavefronts < row.tensor["rtx5090"] / 4


# ---- Tensor maps and swizzles ----


def test_the_map_of_the_notebook_is_that_of_01():
    (name, spec), _ = K[1].problem.tensor_maps
    told = TensorMap.of_shape("bf16", (4096, 4096), box=(32, 128), swizzle=64)
    assert (name, spec.box, spec.swizzle) == ("map_a", told.box, told.swizzle)
    assert (told.row_bytes, told.smem_align, told.box_bytes) == (64, 512, 8192)


def test_a_box_wider_than_its_swizzle_is_refused():
    with pytest.raises(TensorMapError, match="copy it in several boxes"):
        TensorMap.of_shape("bf16", (4096, 4096), box=(64, 128), swizzle=64)


def test_the_swizzle_of_tma_is_the_function_of_ampere():
    code = [kernel.regions["layout"].split("constexpr", 1)[1] for kernel in (AMPERE, *K.values())]
    assert len(set(code)) == 1


@pytest.mark.parametrize("config", [{}, {"BLOCK_K": 64, "NUM_STAGES": 2}], ids=["64 bytes", "128 bytes"])
def test_reader_and_map_must_agree(config):
    assert inject_fault(K[1](**config), {"chunk ^ row / LINE_ROWS % CHUNKS": "chunk"}).kind == "a wrong result"


# ---- 01 and 02: registers and instructions ----


def test_01_saves_registers_and_has_a_longer_loop():
    registers = [kernel.compile("sm_90a").registers for kernel in (AMPERE, K[1])]
    assert AMPERE.config == K[1].config and registers == [228, 206]
    loops = [loop(kernel) for kernel in (AMPERE, K[1])]
    assert [len(lines) for lines in loops] == [126, 162]
    assert all(sum(line.opcode.startswith("HMMA") for line in lines) == 64 for lines in loops)


def test_every_warp_issues_what_one_thread_asks_for():
    lines = loop(K[1])
    asks = [line.address for line in lines if line.opcode.startswith("UTMALDG")]
    jumps = [(line.address, line.target) for line in lines if line.target is not None and line.target > line.address]
    assert len(asks) == 2 and not any(at < ask < to for ask in asks for at, to in jumps)
    assert {"ELECT", "VOTEU", "R2UR"} <= {line.opcode.split(".")[0] for line in lines}


def test_the_consumers_of_02_have_the_shortest_loop_and_no_barrier():
    lines = loop(K[2](**WIDE))
    names = [line.opcode.split(".")[0] for line in lines]
    assert K[2](**WIDE).config == K[1].config and len(lines) - names.count("HMMA") == 46
    assert not {"BAR", "UTMALDG", "ELECT"} & set(names) and "BAR" in {line.opcode.split(".")[0] for line in loop(K[1])}


def test_a_ninth_warp_costs_as_much_as_four():
    gpu = lab.gpu("rtx5090")
    most = gpu.registers_per_sm // (12 * 32) // 8 * 8
    assert most == 168 and all(lab.occupancy(gpu, threads, most, 0).blocks == 1 for threads in (288, 384))
    for threads in (288, 384):
        with pytest.raises(LaunchError, match="can have 168 a thread"):
            lab.occupancy(gpu, threads, most + 1, 0)
    assert lab.occupancy(gpu, 256, 255, 0).blocks == 1
    assert 384 * most == 128 * 24 + 256 * 240 and "CONSUMER_REGISTERS = NUM_CONSUMERS > 4 ? 240 : 248" in K[2].source


def calls(made):
    return [line for line in compiler.disassemble(made) if line.opcode.startswith("CALL")]


@pytest.mark.long
@pytest.mark.parametrize("rung", [2, 3])
def test_registers_move_unless_a_load_names_the_shared_memory_of_a_cluster(rung):
    wide = K[rung](**WIDE)
    header, own = (
        (data_dir("kernels") / "include" / "ptx" / "tma.cuh").read_text(encoding="utf-8"),
        "2d.shared::cta.global",
    )
    assert header.count(own) == 1 == wide.source.count('#include "ptx/tma.cuh"')
    far = wide.source.replace('#include "ptx/tma.cuh"', header.replace(own, "2d.shared::cluster.global"))
    for arch in ("sm_90a", "sm_120a"):
        made = wide.compile(arch)
        assert (made.registers, made.threads) == (168, 384) and made.spill_stores < 16, (
            "ptxas 13.0 spills 12 bytes of 03"
        )
        assert not calls(made) and not K[rung].compile(arch).warnings
        made = compiling.compile(far, config=wide.config, arch=arch, name=wide.name)
        assert (made.spill_stores > 100) == bool(calls(made)) == (arch == "sm_120a")


@pytest.mark.long
def test_a_turn_of_the_consumers_is_one_k_tile():
    assert (
        K[2].instruction_mix("sm_90a").k_step == K[2].config["BLOCK_K"]
        and K[2](**WIDE).instruction_mix("sm_90a").k_step == 32
    )


# ---- Parities ----


def test_parities_of_tile_7():
    assert stage_and_parities(7, num_stages=3) == (1, 0, 1)


# ---- 03 ----


def test_tiles_of_the_last_round():
    grid = K[3].spec.launch_grid(K[3].spec.config, 4096, 4096, 4096, sms=170)
    assert grid == (170, 1, 1) and lab.gpu("rtx5090").sms == 170
    assert [divmod(32 * 4096 // columns, 170) for columns in (256, 128)] == [(3, 2), (6, 4)]
    assert divmod(512, lab.gpu("h200").sms) == (3, 116), "the last of four rounds is nearly full"


def test_the_staged_epilogue_is_in_the_way_of_the_next_tile():
    old, header = "store_through_quads<WARP_N>(acc, gmem_d", "tile/quad_epilogue.cuh"
    new = "store_through_shared<WARP_N>(acc, smem + warp * (MMA_M * WARP_N / 8), gmem_d"
    seen = inject_fault(K[3], {old: new, header: "tile/staged_epilogue_bf16.cuh"}, blocks=1)
    assert seen.kind == "a wrong result" and "may still be writing it" in seen.says


def test_03_has_only_the_wavefronts_of_ldmatrix():
    report = K[3].run(256, backend="simulator").report
    assert {site.opcode.split(".")[0] for site in report.sites if site.wavefronts} == {"ldmatrix"}
    assert (
        report.totals.wavefronts
        == report.totals.ideal_wavefronts
        < K[2].run(256, backend="simulator").report.totals.wavefronts
    )


def test_the_exchange_is_a_transpose():
    before, between, after = quads.quad_steps()
    assert after == [list(column) for column in zip(*before, strict=True)] and between not in (before, after)
    assert all(held[0] == lane for lane, words in enumerate(after) for held in words)


# ---- The verdict, before and after a run is recorded ----


def test_a_recorded_run_is_drawn():
    bench = lab.ladder("rtx5090").recorded([4096, 8192], "burst")
    assert {row.kernel for row in bench.rows if row.kernel.startswith("rtx5090/")} == {k.name for k in K.values()}
    assert bench.plot(lit="rtx5090/03_persistent", n=8192)._repr_png_()


# ---- How it breaks ----

BROKEN = {
    "parity": ({"parity = 1; k_tile": "parity = 0; k_tile"}, "a deadlock", "expects 4 more of its 4 arrivals"),
    "arrival": ({ARRIVE: ""}, "a deadlock", "expects 4 more of its 4 arrivals"),
    "more bytes": (
        {EXPECT: EXPECT.replace("BYTES)", "BYTES + 16)")},
        "a deadlock",
        "expects 16 bytes more than have been",
    ),
    "fewer bytes": ({EXPECT: EXPECT.replace("STAGE_BYTES)", "STAGE_A)")}, "a deadlock", "more than were announced"),
    "all lanes": (
        {ARRIVE: ARRIVE.removeprefix("if (lane == 0) ")},
        "a wrong result",
        "nothing tells that it has read it",
    ),
    "fence": ({"fence_mbarrier_init();": ""}, "a hazard", "no fence follows its init"),
    "no wait for full": (
        {"if (last && more && ni == begin) mbarrier_wait_parity(full + stage * 8, parity);": ""},
        "a fault",
        "one too many",
    ),
    "no wait for empty": (
        {"mbarrier_wait_parity(empty + stage * 8, parity);": ""},
        "a deadlock",
        "overwrites shared address",
    ),
}


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("name", BROKEN)
def test_an_injected_fault_says_what_becomes_of_it(name):
    changes, kind, says = BROKEN[name]
    seen = inject_fault(K[2], changes)
    assert seen.kind == kind and says in seen.says and kind.capitalize() in seen._repr_html_()


@pytest.mark.long
def test_an_undamaged_kernel_is_right():
    assert inject_fault(K[3], {}, blocks=1).kind == "nothing"


def test_a_fault_in_words_that_are_not_there_is_refused():
    with pytest.raises(ConfigError, match="does not contain “mbarrier_forget”"):
        inject_fault("rtx5090/02", {"mbarrier_forget": ""})


def test_the_gain_came_with_02():
    burst = lab.ladder("rtx5090").recorded([4096, 8192], "burst")
    assert all(burst.ratio("rtx5090/02", "rtx5090/01", n) > 1.1 for n in burst.sizes)
    assert all(0.99 < burst.ratio("rtx5090/03", "rtx5090/02", n) < 1.03 for n in burst.sizes)
    assert 8192 // K[3](**WIDE).config["BLOCK_K"] == 256
