"""What a learner gives a function: wrong types get a sentence that names the argument; NumPy's numbers are numbers."""

import inspect

import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.catalog import UnknownKernel
from gemm_lab.notebook import widgets
from gemm_lab_lessons.ch02.counted_matrix import count
from gemm_lab_lessons.ch10.tile_bounds import tail
from gemm_lab_lessons.shared.three_counts import three_counts
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.errors import ConfigError, SimulatorError


@checked
def example(n: int, scale: float = 1.0, name: str | None = None, *rest: int, anything=None, **more: bool):
    """An example."""
    return n, scale, name, rest, anything, more


@pytest.mark.parametrize(
    ("given", "named", "says"),
    [
        (("8",), {}, "n must be a whole number, not '8'"),
        ((8.0,), {}, "n must be a whole number, not 8.0"),
        ((True,), {}, "n must be a whole number, not True"),
        ((None,), {}, "n must be a whole number, not None"),
        ((8, "2"), {}, "scale must be a number, not '2'"),
        ((8, 1j), {}, "scale must be a number, not 1j"),
        ((8, 1, 5), {}, "name must be a text in quotes or None, not 5"),
        ((8, 1, None, 3, [4]), {}, "rest must be a whole number, not [4]"),
        ((8,), {"loud": 1}, "loud must be True or False, not 1"),
        ((np.zeros((50, 50)),), {}, "…"),
    ],
)
def test_a_wrong_type_is_named(given, named, says):
    with pytest.raises(ConfigError) as caught:
        example(*given, **named)
    assert says in str(caught.value) and len(str(caught.value)) < 120 and "\n" not in str(caught.value)


def test_what_fits_arrives_as_it_is_and_numbers_of_numpy_as_pythons():
    assert example(3, 2, "x", 4, anything=[1], loud=True) == (3, 2, "x", (4,), [1], {"loud": True})
    n, scale, _, rest, _, more = example(np.int64(3), np.float32(0.5), None, np.uint8(4), loud=np.bool_(True))
    assert (n, rest, more) == (3, (4,), {"loud": True}) and scale == 0.5
    assert {type(value) for value in (n, *rest)} == {int} and more["loud"] is True


def test_tuples_of_whole_numbers():
    @checked
    def tile(block: "tuple[int, int] | None" = None, size: "tuple[int, int, int]" = (1, 1, 1)):
        return block, size

    assert tile() == (None, (1, 1, 1)) and tile([np.int64(4), 8], (1, 2, 3)) == ((4, 8), (1, 2, 3))
    for wrong in (4, "ab", (4,), (4, 8, 1), (4, 2.5), [None, 1], {4: 1, 8: 2}):
        with pytest.raises(ConfigError, match="block must be 2 whole numbers in brackets or None, not"):
            tile(wrong)
    with pytest.raises(ConfigError, match="size must be 3 whole numbers"):
        tile(size=(1, 2))


def test_a_missing_or_unknown_argument_is_said_by_python():
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        example()
    assert example.__doc__ == "An example." and "scale: float" in inspect.getsource(example)


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        (3, 3),
        (np.int32(-3), -3),
        (np.array(3), 3),
        (3.0, None),
        (True, None),
        (np.bool_(True), None),
        ("3", None),
        (None, None),
        ([3], None),
    ],
)
def test_whole_numbers(value, whole):
    assert as_whole(value) == whole and type(as_whole(value)) in (int, type(None))


def test_what_is_shown_is_one_short_line():
    assert shown("x" * 1000) == "'" + 58 * "x" + "…" and "\n" not in shown(np.zeros((3, 3)))


# ---- The functions of the notebooks ----

ODD = [None, True, -1, 0, 2**31, 10**30, 1.5, float("nan"), "", "x", "128", b"t4", [], (1, 2), {}, np.zeros((2, 2)), 1j]
FUNCTIONS = {
    "kernel": lab.kernel,
    "ladder": lab.ladder,
    "gpu": lab.gpu,
    "exercise": lab.exercise,
    "figure": lab.figure,
    "guess": lab.guess,
    "roofline": lab.roofline,
    "three_counts": three_counts,
    "choices": lambda value: lab.guess("Which?", choices=value),
    "occupancy": lambda value: lab.occupancy("t4", value, 64, 0),
    "swizzle": lab.swizzle,
    "goal": lab.swizzle_puzzle,
    "by hand": lambda value: lab.swizzle_puzzle().change(layout=value),
    "padding": lambda value: lab.swizzle_puzzle("rows_128").change(padding=value),
    "bits": lambda value: lab.swizzle(64, 64, "swizzle", bits=value),
    "zoom": lambda value: lab.zoom(level=value),
    "tile": widgets.TileExplorer,
    "selected": lambda value: lab.swizzle(selected=value),
    "predicted": lambda value: lab.swizzle(predict=value),
    "walk": lambda value: widgets.tile_walk(lambda A, B, D: None, value, 4, 4),
    "walked": lambda value: widgets.tile_walk(value, 4, 4, 4),
    "counted": lambda value: count(value, 4, 4, 4),
    "lane": lambda value: widgets.fragments("m16n8k8", "f16", value),
    "shape": widgets.fragments,
    "story": widgets.mbarrier,
    "step": lambda value: widgets.mbarrier("parity never flipped", value),
    "warp": lambda value: widgets.TileExplorer(warp=value),
    "tiles": lambda value: widgets.block_order(block=value),
    "tail": lambda value: tail(4096, 4096, value, 132),
    "order": lambda value: widgets.block_order(order=value),
    "rows": widgets.block_order,
    "matrix": lambda value: lab.tiled_matmul(value, np.ones((2, 2))),
    "block": lambda value: lab.tiled_matmul(np.ones((2, 2)), np.ones((2, 2)), block=value),
    "setting": lambda value: lab.kernel("t4/03")(BLOCK_K=value),
    "run": lambda value: lab.kernel("t4/03").run(value),
    "seed": lambda value: lab.kernel("t4/03").run(256, m=256, k=64, seed=value),
    "predicted timeline": widgets.predicted_timeline,
    "where": lambda value: lab.kernel("t4/03").predicted_timeline(n=512, where=value),
    "cycles": lambda value: lab.kernel("t4/03").predicted_timeline(n=512, cycles=value),
    "start": lambda value: lab.kernel("t4/03").predicted_timeline(n=512, start=value),
    "arch": lambda value: lab.kernel("t4/03").compile(value),
    "diff": lab.kernel("t4/03").diff,
    "edit": lambda value: lab.kernel("t4/03").edit(layout=value),
    "bench": lab.ladder("t4").bench,
    "regime": lambda value: lab.ladder("t4").bench([4096], regime=value),
    "ratio": lambda value: lab.ladder("t4").bench([4096]).ratio("t4/03", value, 4096),
    "warps": lambda value: lab.exercise("02_warp_tile").check(warps_m=value, warps_n=1),
    "answer": lab.exercise("00_coalesce").check,
}


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_odd_arguments_are_refused_by_the_lab_itself(name):
    for value in ODD:
        try:
            FUNCTIONS[name](value)
        except SimulatorError as error:
            assert 10 < len(str(error)) < 2500, f"{name}({shown(value)}): {error}"


def test_a_gpu_is_named_by_its_key():
    assert lab.roofline("t4").name == "Tesla T4" and lab.occupancy("t4", 256, 64, 0).blocks == 4


def test_what_has_no_near_name_is_not_answered_with_a_long_list():
    for ask in (lab.kernel, lab.exercise, lab.figure):
        with pytest.raises(LabError) as caught:
            ask("????")
        assert len(str(caught.value)) < 300
    with pytest.raises(UnknownKernel, match="lab.ladder"):
        lab.kernel("????")
