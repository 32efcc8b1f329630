"""Ablations: each idea that a ladder.toml names can be left out, which changes the kernel and not its result."""

from dataclasses import replace

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.ablations import Idea, read_ideas
from gemm_lab.lab.actions import ablating
from gemm_lab.lab.tuning import current, path_for, tuned
from gemm_lab.notebook.scoreboard import scoreboard
from gemm_results import results
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError
from tools.recording.tiles import TILES, best, candidates, fits

IDEAS = [(ladder, idea) for ladder, spec in catalog.ladders().items() for idea in spec.ideas]
RUNGS = list(dict.fromkeys((ladder, idea.rung) for ladder, idea in IDEAS))


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(("ladder", "rung"), RUNGS, ids="/".join)
def test_every_idea_can_be_left_out_and_the_result_stays_right(ladder, rung):
    kernel, ideas = ablating.rung_of(catalog.ladder(ladder), rung)
    variants, _ = ablating.count(kernel, ideas)  # raises for a wrong result
    whole = variants[0].kernel.compile_as_taught()
    assert all(variant.kernel.compile_as_taught().cubin != whole.cubin for variant in variants[1:])


@pytest.mark.parametrize(("ladder", "idea"), IDEAS, ids=[f"{ladder}-{idea.idea}" for ladder, idea in IDEAS])
def test_each_replaced_text_stands_in_the_source_once(ladder, idea):
    rung = lab.kernel(f"{ladder}/{idea.rung}")
    changed = ablating.without(rung, idea)
    assert changed.source != rung.source or changed.config != rung.config
    assert f"without {idea.idea}" in ablating._name(changed.label)


def test_ideas_of_one_rung_have_names_of_their_own():
    assert len({(ladder, idea.rung, idea.idea) for ladder, idea in IDEAS}) == len(IDEAS) > 20


@pytest.mark.parametrize("entry", [
    {"rung": "01_a", "idea": "x"}, {"rung": "02_b", "idea": "x", "without": {"K": 1}},
    {"rung": "01_a", "idea": "", "without": {"K": 1}}, {"rung": "01_a", "idea": "x", "without": {"K": 1}, "also": 1},
])  # fmt: skip
def test_an_entry_of_another_form_is_refused_with_a_sentence(entry):
    with pytest.raises(ConfigError, match="an ablation names its rung"):
        read_ideas([entry], ["01_a"], "x/ladder.toml")


@pytest.mark.parametrize(("source", "times"), [("a b", 0), ("old old", 2)])
def test_a_text_that_does_not_stand_there_once_is_refused(source, times):
    with pytest.raises(ConfigError, match=f"stands {times} times"):
        Idea("01_a", "x", {}, (("old", "new"),)).source_without(source)


def test_a_rung_without_ablations_names_those_that_have_some():
    with pytest.raises(LabError, match="10_steady_addresses"):
        lab.ladder("ampere").ablate("ampere/02")
    with pytest.raises(LabError, match="no rung of this ladder"):
        lab.ladder("simt").ablate("01")


def test_recorded_gains_are_of_one_run_and_shown_with_its_conditions():
    found = lab.ladder("t4").ablate("05", 8192)
    assert set(found.gains) == {variant.idea.idea for variant in found.variants[1:]}
    assert found.gains["256 columns instead of 128"].low > 1 and "NVIDIA H200" in repr(found)
    assert "256 columns instead of 128" in found._repr_html_()
    assert "No burst run at 512 is recorded" in repr(lab.ladder("hopper").ablate("02", 512, regime="burst"))


def test_counts_are_of_the_settings_that_were_timed():
    """rtx5090/02 has other tiles on the recorded GPU than on an RTX 5090, for which the ladder is taught."""
    shown = lab.ladder("rtx5090").ablate("02_producer_warp", 4096)
    spec = lab.kernel("rtx5090/02").spec
    assert spec.configure("h200") != spec.configure()
    assert {variant.kernel.config["BLOCK_N"] for variant in shown.variants} == {spec.configure("h200")["BLOCK_N"]}
    assert f"BLOCK_N {spec.configure('h200')['BLOCK_N']}" in repr(shown).splitlines()[-1]


def test_a_wrong_result_is_never_counted(monkeypatch):
    rung, ideas = ablating.rung_of(catalog.ladder("t4"), "08")
    broken = replace(ideas[0], replace=(("stage ^= 1;", ""),))
    with pytest.raises(LabError, match="gives a wrong result"):
        ablating.count(rung, [broken])


# ---- Tiles by size ----


def test_a_swept_ladder_has_a_kernel_for_every_size():
    hopper = lab.ladder("hopper")
    for n in (512, 2048, 6000, 16384):
        assert hopper.tuned(n).name.startswith("hopper/08_ping_pong")
    assert hopper.tuned(9000).label == hopper.tuned(8192).label and path_for("h200").is_file()
    assert lab.ladder("t4").tuned(1024).config["BLOCK_M"] < lab.ladder("t4").tuned(4096).config["BLOCK_M"]
    with pytest.raises(LabError, match="No sweep over the tiles of wmma"):
        tuned("wmma", 4096, "h200")


def test_the_choice_is_the_best_of_the_worse_regime():
    assert best({"a": {"sustained": 1.1, "burst": 0.9}, "b": {"sustained": 1.0, "burst": 0.95}}) == "b"


def test_candidates_are_the_last_source_with_every_band():
    found = candidates(lab.ladder("hopper"))
    assert len({kernel.label for kernel in found}) == len(found) == 24
    assert {kernel.spec.file for kernel in found} == {"08_ping_pong.cu"}


def test_a_ladder_with_tiles_of_its_own_tries_each_in_every_band():
    found = candidates(lab.ladder("rtx5090"))
    asked = TILES["rtx5090"]
    assert (
        len({kernel.label for kernel in found}) == len(found) == len(asked.rungs) * len(asked.tiles) * len(asked.bands)
    )
    assert all("GROUP_M" not in kernel.config for kernel in candidates(lab.ladder("t4")))


def test_a_tile_that_is_much_too_small_or_does_not_divide_the_size_is_not_tried():
    small, large = lab.kernel("t4/08")(BLOCK_M=64, BLOCK_N=64, NUM_WARPS_M=2, NUM_WARPS_N=1), lab.kernel("t4/08")
    assert fits(small, 1024, sms=132) and not fits(small, 16384, sms=132) and fits(large, 16384, sms=132)
    assert not fits(large, 1024 + 128, sms=132)


def test_an_idea_may_be_another_rung_with_the_settings_of_this_one():
    rung, ideas = ablating.rung_of(catalog.ladder("rtx5090"), "01_tma")
    other = ablating.without(rung, next(idea for idea in ideas if idea.instead))
    assert other.name == "ampere/10_steady_addresses" and other.config == rung.config
    assert ablating._name(other.label) == "ampere/10_steady_addresses without TMA instead of cp.async"
    found = ablating.recorded_gains(rung, ideas, 4096, "burst", "h200")
    assert found["TMA instead of cp.async"].ratio < 1, "01 is slower than the rung that it extends"


def test_an_idea_is_told_in_one_way():
    with pytest.raises(ConfigError, match="or a rung in `instead`"):
        read_ideas([{"rung": "01_a", "idea": "x", "without": {"K": 1}, "instead": "t4/01"}], ["01_a"], "x/ladder.toml")


# ---- Which recorded rows are current ----


def recorded(name, n, gpu="h200", **changes):
    """A recorded row of this kernel on this GPU, with these settings changed."""
    row = next(row for row in results.recorded("h200") if row.kernel == name)
    config = lab.kernel(name).spec.configure(gpu, **changes)
    return replace(row, m=n, n=n, k=n, config=" ".join(f"{key}={value}" for key, value in config.items()))


def test_a_row_of_other_settings_is_neither_the_rung_nor_the_tuned_one():
    default, retired = recorded("hopper/08_ping_pong", 4096), recorded("hopper/08_ping_pong", 4096, GROUP_M=7)
    swept = recorded("hopper/08_ping_pong", 4096, GROUP_M=tuned("hopper", 4096, "h200").config["GROUP_M"])
    at_another_size = replace(swept, m=8192, n=8192, k=8192)
    assert current([retired, swept, default, at_another_size], "h200") == ([default], [swept])
    assert current([retired, swept, default], None) == ([default], []), "a GPU without a data sheet has no sweep"


def test_a_choice_that_is_the_rungs_own_setting_is_both():
    wide = recorded("hopper/08_ping_pong_wide", 8192)
    assert current([wide], "h200") == ([wide], [wide])


def test_settings_for_a_gpu_are_the_rungs_own_on_it():
    own = recorded("rtx5090/02_producer_warp", 4096)
    assert current([own], "h200")[0] == [own] and current([own], "rtx5090") == ([], [])


def test_baselines_stay():
    cublas = next(row for row in results.recorded("h200") if row.kernel == "cublas")
    assert current([cublas], "h200") == ([cublas], [])


@pytest.mark.parametrize("n", [4096, 8192, 16384])
def test_the_rung_on_an_h100_is_todays_setting(n):
    board = scoreboard(n, on="h100")
    assert "GROUP_M=8" in board.row("hopper/08_ping_pong").config
    assert all("GROUP_M=4" not in row.config for row in board.ladders["hopper"])


def test_the_fastest_of_a_ladder_may_be_the_tuned_one():
    board = scoreboard(1024, on="h200")
    assert board.best("t4") == board.row("t4/tuned") != board.row("t4/08")
    bench = lab.ladder("t4").recorded([1024, 4096])
    assert bench.tflops("tuned", 1024) > 1.5 * bench.tflops("08_pipelined_fragments", 1024)
    assert bench.tflops("tuned", 4096) == bench.tflops("08_pipelined_fragments", 4096)
    assert any(line.split()[0] == "tuned" for line in repr(bench).splitlines())
