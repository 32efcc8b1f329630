"""The simulator's schedule as a trace: who asks for what, in which phase, and what a broken kernel's timeline shows."""

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.measure.inputs import make_inputs
from gpu_simulator import BudgetExceeded
from gpu_timing.logical.pipeline_placing import Costs, place
from gpu_timing.logical.pipeline_timeline import broken_laws
from gpu_timing.logical.recording import record

K_TILES, TILES = 6, 2


def traced(kernel, m=128, n=256, k=64 * K_TILES, **limits):
    compiled = kernel.compile()
    arguments = make_inputs(kernel.problem, m, n, k, "integers", 0).arguments()
    grid = kernel.spec.launch_grid(kernel.config, m, n, k, 1)
    return record(compiled, grid, (compiled.threads, 1, 1), arguments, **limits)


@pytest.fixture(scope="module")
def persistent():
    made = lab.kernel("rtx5090/03_persistent")
    return made(**made.spec.configure())  # as it is taught, whichever GPU is here


@pytest.fixture(scope="module")
def trace(persistent):
    return traced(persistent)


def test_the_ring_and_the_roles_are_found(trace, persistent):
    assert trace.stages == persistent.config["NUM_STAGES"]
    assert [trace.role(0, warp) for warp in (0, 3, 4, 5)] == ["consumer", "consumer", "producer", "other"]


def test_every_byte_and_every_product_is_there(trace, persistent):
    steps = [step for steps in trace.steps.values() for step in steps]
    c = persistent.config
    loads = [step for step in steps if step.what == "load"]
    assert len(loads) == 2 * K_TILES * TILES
    assert sum(s.amount for s in loads) == K_TILES * TILES * (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * 2
    assert sum(s.amount for s in steps if s.what == "mma") == 2 * 128 * 256 * 64 * K_TILES
    assert sum(s.amount for s in steps if s.what == "epilogue") == 128 * 256 * 2


def test_products_come_from_the_stages_in_turn(trace):
    turns = [(step.tile, step.stage, step.turn) for step in trace.steps[0, 0] if step.what == "mma"]
    wanted = [(number // K_TILES, number % 3, number // 3) for number in range(K_TILES * TILES)]
    assert list(dict.fromkeys(turns)) == wanted


def test_the_producer_waits_for_the_phase_before(trace):
    waits = [step.signal[2] for step in trace.steps[0, 4] if step.what == "wait" and type(step.signal[1]) is int]
    assert waits == [number // 3 - 1 for number in range(K_TILES * TILES)]


def test_a_sound_kernel_keeps_the_laws(persistent, trace):
    made = place(trace, Costs.of(persistent.taught_gpu()))
    assert broken_laws(made) == []
    assert [event.tile for event in made.of("TMA", "load")] == [0] * 2 * K_TILES + [1] * 2 * K_TILES


def test_recording_leaves_the_arrays_and_later_launches_alone(persistent):
    inputs = make_inputs(persistent.problem, 128, 128, 128, "integers", 0)
    before = [np.array(value) for value in inputs.arguments() if isinstance(value, np.ndarray)]
    compiled = persistent.compile()
    record(compiled, (1,), (compiled.threads, 1, 1), inputs.arguments())
    after = [value for value in inputs.arguments() if isinstance(value, np.ndarray)]
    assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(before, after, strict=True))
    assert persistent.run(n=128, backend="simulator").passed


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("limits", [{"max_seconds": 0.2}, {"max_instructions": 20_000}], ids=str)
def test_a_kernel_that_spins_is_stopped(persistent, limits):
    copy = persistent.regions["copy"]
    spins = persistent.edit(copy=copy.replace("const uint32_t at", "while (stage >= 0) {}\n    const uint32_t at"))
    with pytest.raises(BudgetExceeded, match="it spins at"):
        traced(spins, **limits)


def test_cp_async_groups_and_barriers_of_the_block_are_heard():
    made = lab.kernel("ampere/07_multistage").timeline()
    kinds = {event.kind for event in made.events}
    assert {"copy", "mma", "wait", "epilogue"} <= kinds and made.broken_laws == []


# ---- tcgen05 ----


@pytest.fixture(scope="module")
def b200():
    return {int(kernel.spec.number): kernel for kernel in lab.ladder("b200")}


@pytest.mark.long
def test_only_the_synchronous_kernel_lets_the_tensor_cores_idle_between_k_tiles(b200):
    """Two tiles of D of eight k tiles: 7 + 7 gaps and the epilogue; the epilogue alone; none."""
    made = {number: kernel.timeline() for number, kernel in b200.items()}
    assert {number: len(one.timeline.bubbles()) for number, one in made.items()} == {1: 15, 2: 1, 3: 0, 4: 0, 5: 0}
    assert made[1].share < 0.75 < 0.85 < made[2].share < made[3].share == pytest.approx(1)
    assert all(one.broken_laws == [] for one in made.values())
    products = {sum(e.length for e in one.timeline.of("tensor core")) for one in (made[1], made[2], made[3])}
    assert len(products) == 1  # the same work


def test_products_name_the_stage_that_their_descriptors_point_to(b200):
    events = b200[2].timeline().timeline.of("tensor core", "mma")
    assert [(e.tile, e.stage) for e in events] == [(n // 32, n // 4 % 4) for n in range(64)]
    assert {e.tile for e in b200[2].timeline().timeline.of("warp 3", "epilogue")} == {0, 1}


def test_a_commit_before_its_products_breaks_the_laws(b200):
    text = b200[2].regions["consumer"]
    products, commit = ("multiply(tmem_acc, stage, k_tile);", "tcgen05_commit<1>(empty + stage * 8);")
    assert products in text and commit in text
    broken = b200[2].edit(consumer=text.replace(commit, "").replace(products, commit + products))
    assert any("while it is multiplied" in law for law in broken.timeline(load_latency=0).broken_laws)


def test_a_pair_loads_half_of_b_each_and_multiplies_on_both_sms(b200):
    one, two = b200[3].timeline().timeline, b200[4].timeline().timeline
    assert two.busy("block 0 · TMA") == two.busy("block 1 · TMA") == one.busy("TMA") * (128 + 128) / (128 + 256)
    first, second = ([e[1:] for e in two.of(f"block {n} · tensor core")] for n in (0, 1))
    assert first == second and two.busy("tensor core") == one.busy("tensor core")


# ---- wgmma ----


@pytest.mark.long
def test_the_hopper_ladder_keeps_the_laws_and_two_consumers_hide_what_one_waits_for():
    made = {kernel.name: kernel.timeline() for kernel in lab.ladder("hopper")}
    assert {name: one.broken_laws for name, one in made.items()} == dict.fromkeys(made, [])
    shares = [made[name].share for name in ("hopper/02_tma", "hopper/03_producer", "hopper/04_two_consumers")]
    assert shares == sorted(shares) and shares[0] < 0.8 < 0.95 < shares[2]


def test_warpgroups_that_take_turns_work_on_different_tiles():
    events = lab.kernel("hopper/08_ping_pong").timeline().timeline.of("tensor core", "mma")
    tiles = {event.tile for event in events}
    assert len(tiles) >= 2
    starts = [min(event.start for event in events if event.tile == tile) for tile in sorted(tiles)]
    assert starts == sorted(starts)


@pytest.mark.long
def test_the_api_draws_and_refuses(persistent):
    made = persistent.timeline(k=256)
    assert "logical time" in repr(made) and made.share > 0.9
    assert made._repr_png_()[:4] == b"\x89PNG"
    both = made.beside(lab.kernel("rtx5090/02_producer_warp").timeline(k=256))
    assert len(both.timelines) == 2 and both.plot().get_figheight() > made.plot().get_figheight()
    with pytest.raises(lab.LabError, match="There is no cost speed; there are flop"):
        persistent.timeline(speed=2)
    with pytest.raises(lab.LabError, match="has no pipeline"):
        lab.kernel("simt/04_register_tiles").timeline()
    with pytest.raises(lab.LabError, match="would take long"):
        persistent.timeline(4096, 4096, 4096)
    with pytest.raises(lab.LabError, match="No timeline of simt/01_naive was recorded on T4|recorded on Tesla T4"):
        lab.kernel("simt/01_naive").timeline(on="t4")
    run = persistent.run(n=128, backend="simulator")
    assert run.timeline().timeline.title == persistent.label
