"""What notebook 11 says in prose, held against the simulator, the models and the machine code."""

import nbformat
import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.notebook import widgets
from gemm_lab_lessons.ch10.tile_bounds import tail, tile_bounds
from gemm_lab_lessons.shared.fault_injection import inject_fault
from gemm_results.published import published
from gpu_simulator.hardware.instruction_descriptor import KINDS, InstructionDescriptor, problem
from gpu_simulator.hardware.matrix_descriptor import SharedTile
from gpu_simulator.hardware.matrix_descriptor_sm100 import decode_sm100, encode_sm100

K = {int(k.spec.number): k for k in lab.ladder("b200")}
B200 = lab.gpu("b200")


def rows(pair=False):
    return {row.what: row for row in tile_bounds(B200, 4096, 4096, 4096, pair=pair)}


# ---- Figures and bounds ----


def test_published_figures_have_no_size():
    found = {r.kernel: r for r in published() if r.source == "b200_tcgen05"}
    assert {name: (r.tflops, r.n, round(r.share_of_peak)) for name, r in found.items()} == {
        "synchronous": (800, None, 36),
        "pipelined": (1200, None, 53),
    }


def test_published_ladders_climb_by_the_same_steps():
    found = {(r.source, r.n, r.kernel): r.tflops for r in published()}
    steps = ("v2b TMA", "v3 pipelined", "v4 warp specialised", "v5 pairs", "v6 persistent", "v7c")
    ladder = [found["learn_cuda_sm100", 4096, name] for name in steps]
    assert ladder == sorted(ladder) and ladder[-1] < found["learn_cuda_sm100", 4096, "cublas"]
    assert found["learn_cuda_sm100", 8192, "v7c"] < found["learn_cuda_sm100", 8192, "v7a"]
    assert found["tilus_b200", 8192, "V6 pairs"] > found["tilus_b200", 8192, "cublas"]
    assert 1.1 < found["tilus_b200", 8192, "cublas"] / found["learn_cuda_sm100", 8192, "cublas"] < 1.15


def producer_loop(kernel):
    lines = kernel.sass(arch="sm_100a").lines
    backwards = [line for line in lines if line.target is not None and line.target < line.address]
    loops = [[line for line in lines if end.target <= line.address <= end.address] for end in backwards]
    return min((loop for loop in loops if sum("UTMALDG" in line.opcode for line in loop) == 2), key=len)


def test_the_place_of_a_tile_stands_outside_of_the_loop_over_k():
    rung, inside = (variant.kernel for variant in lab.ladder("b200").ablate("b200/05", 4096).variants[:2])
    assert "place" in inside.label and (len(producer_loop(rung)), len(producer_loop(inside))) == (33, 94)


def test_bounds_at_4096():
    turns = tail(4096, 4096, (128, 256), B200.sms)
    assert (turns.tiles, turns.workers, round(100 * turns.efficiency, 1)) == (512, 148, 86.5)
    assert round(rows()["tiles over multiprocessors"].bound_tflops) == 1946
    alone, pair = rows()["L2"], rows(True)["L2"]
    assert alone.bound_tflops is None and round(alone.value / 1000, 1) == 26.4
    assert pair.value == pytest.approx(alone.value * 2 / 3), "a third less"


def test_a_product_is_32_bytes_deep_in_every_kind():
    assert {kind.k * kind.size for kind in KINDS.values()} == {32}
    assert KINDS["f16"].k == 16 and {"f16", "bf16"} <= set(KINDS["f16"].operands.values())
    assert KINDS["tf32"].k == 8, "not FP32, and not 16"


# ---- Tensor memory, tiles, barriers, descriptors ----


def test_the_sums_are_not_in_registers():
    assert 128 * 256 // 256 == 128 > K[1].compile("sm_100a").registers


@pytest.mark.parametrize(
    ("changes", "kind", "says"),
    [
        ({"warp * 32 << 16": "0 << 16"}, "a fault", "a warp reaches only its quarter"),
        ({"tcgen05_alloc<1>(slot, BLOCK_N)": "tcgen05_alloc<1>(slot, 96)"}, "a fault", "32, 64, 128, 256 or 512"),
        ({"if (warp == 0) tcgen05_dealloc<1>(tmem_acc, BLOCK_N);": ""}, "a fault", "nobody gives back"),
    ],
)
def test_tensor_memory_is_guarded(changes, kind, says):
    found = inject_fault(K[1], changes)
    assert found.kind == kind and says in found.says


def test_tile_150_belongs_to_block_2_in_row_9():
    assert (150 // (4096 // 256), 150 % B200.sms) == (9, 2)
    loop = "for (int index = blockIdx.x; index < tiles_m * tiles_n; index += gridDim.x)"
    assert all(loop in K[number].source for number in (1, 2, 3))
    assert "tile / tiles_n, tile % tiles_n" in K[1].source


def test_the_stepper_shows_a_wait_that_returns_at_once():
    stepper = widgets.mbarrier("parity never flipped", step=6)
    assert not stepper.moment.waiting and not stepper.moment.good and "mbarrier_wait_parity" in stepper.moment.code
    assert stepper.played[5].good and stepper.played[1].waiting == (("consumer", 0),)


def test_96_bytes_are_6_in_a_descriptor():
    word = encode_sm100(SharedTile(start=49152, leading_bytes=16, stride_bytes=1024, swizzle=128))
    assert decode_sm100(word + 6).start - 49152 == 96
    assert "tile_a + k2 * 32 / 16, tile_b + k2 * 32 / 16" in K[1].regions["multiply"]


def test_256_rows_take_a_pair():
    assert "M is 64 or 128" in problem(InstructionDescriptor(m=256, n=128))
    assert (
        problem(InstructionDescriptor(m=256, n=256), cta_group=2) == problem(InstructionDescriptor(m=128, n=256)) == ""
    )
    assert (K[1].config["BLOCK_M"], K[1].config["BLOCK_N"]) == (128, 256)


# ---- Timelines ----


def test_pauses_of_the_first_three_rungs():
    """Two tiles of eight k tiles: after each of the first seven of a tile and between the tiles; between; none."""
    pauses = {number: len(K[number].timeline().timeline.bubbles()) for number in (1, 2, 3)}
    assert pauses == {1: 7 + 1 + 7, 2: 1, 3: 0}


@pytest.mark.parametrize("costs", [{"load_latency": 3000}, {"load_bytes": 64}])
def test_where_bytes_are_slow_the_second_kernel_gains_little(costs):
    first, second = (K[number].timeline(**costs).share for number in (1, 2))
    assert first < second < first + 0.05
    stated = [K[number].timeline().share for number in (1, 2)]
    assert stated[1] > stated[0] + 0.2


def test_news_that_take_no_time_make_the_first_kernel_good():
    assert K[1].timeline(signal=0, mma_latency=0).share > 0.9


def test_a_k_tile_takes_an_h200_nearly_what_the_model_says():
    import statistics

    timeline = lab.kernel("hopper/05").timeline(on="h200").timeline
    ends = [event.end for event in timeline.of("TMA", "load") if event.stage == 0]
    each = statistics.median(b - a for a, b in zip(ends, ends[1:], strict=False)) / timeline.stages
    assert 1.0 < each / (2 * 128 * 256 * 64 / 4096) < 1.1
    assert timeline.unit.startswith("clocks") and timeline.title.endswith("NVIDIA H200")


def test_the_model_sees_that_draining_costs_time_and_no_speed_follows():
    import itertools
    import statistics

    from gemm_lab.notebook.scoreboard import scoreboard

    def k_tile(name, on):
        issues = [one for one in lab.kernel(name).timeline(on=on).timeline.of("warp 0") if one.kind == "issue"]
        starts = [b.start for a, b in itertools.pairwise(issues) if a.stage != b.stage]
        return statistics.median(b - a for a, b in itertools.pairwise(starts))

    model, stamps = (k_tile("hopper/03", on) / k_tile("hopper/02", on) for on in (None, "h200"))
    assert 0.6 < model < 0.72 and stamps == pytest.approx(model, abs=0.05)
    assert scoreboard(4096, "burst", on="h200").gain("hopper/03").ratio < 1.05


def test_three_roles_and_two_idle_warps():
    from gemm_lab.measure.inputs import make_inputs
    from gpu_timing.logical.recording import record

    compiled = K[3].compile()
    arguments = make_inputs(K[3].problem, 128, 256, 64, "integers", 0).arguments()
    trace = record(compiled, (1,), (compiled.threads, 1, 1), arguments)
    roles = [trace.role(0, warp) for warp in range(8)]
    assert roles == ["epilogue"] * 4 + ["producer", "MMA", "other", "other"]


def test_in_a_pair_one_warp_issues_and_the_commit_reaches_both_blocks():
    agents = K[5].timeline().timeline.agents
    assert [agent for agent in agents if agent.endswith("MMA")] == ["block 0 · warp 5 · MMA"]
    assert "tcgen05_commit_multicast<2>(empty" in K[4].source
    kib = [
        (K[number].config["BLOCK_M"] + K[number].config["BLOCK_N"] // share) * 64 * 2 // 1024
        for number, share in ((3, 1), (4, 2))
    ]
    assert kib == [48, 32]


# ---- How it breaks ----


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "options", "kind", "says"),
    [
        (
            {"tcgen05_commit<1>(empty + stage * 8);": "mbarrier_arrive(empty + stage * 8);"},
            {},
            "a wrong result",
            "overwrites shared address",
        ),
        ({"k2 * 32 / 16": "k2 * 32"}, {}, "a fault", "row 4 of the pattern"),
        (
            {"k_tile > 0 || k2 > 0": "true"},
            {"blocks": 1},
            "a wrong result",
            "accumulates on columns of tensor memory that nothing has written",
        ),
        ({"tcgen05_wait_ld();": ""}, {}, "a hazard", "has not executed tcgen05.wait::ld"),
    ],
)
def test_what_is_broken_is_found(changes, options, kind, says):
    found = inject_fault(K[2], changes, **options)
    assert found.kind == kind and says in found.says


def test_the_notebook_is_quick_and_names_its_sources():
    book = nbformat.read(data_dir("notebooks") / "11_b200.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in book.cells)
    assert "logical time" in text.replace("*", "") and "nanosecond" not in text
    assert "published" in text and "../docs/REFERENCES.md#b200-walk-through" in text
    assert {"11_products", "11_release", "11_accumulators"} <= set(text.replace('"', " ").replace("`", " ").split())
