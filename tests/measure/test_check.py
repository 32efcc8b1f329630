"""Verdicts: wrong outputs are rejected with the right words, right ones pass, at the edge of the bound too."""

import ml_dtypes
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab.catalog import Problem
from gemm_lab.measure.bounds import bound, element_limits
from gemm_lab.measure.check import check, make_inputs, reference, told_apart, verdict
from gemm_lab.measure.inputs import integer_limit, scales
from gpu_simulator.errors import ConfigError, SizeError
from gpu_simulator.hardware.number_types import dtype_of

PLAIN = ("a", "b", "d", "m", "n", "k")
WITH_C = ("a", "b", "c", "d", "m", "n", "k", "alpha", "beta")
T4 = Problem("D = αAB + βC", "f16", "f16", "f16", "row", "col", WITH_C)
AMPERE = Problem("D = AB", "bf16", "f32", "bf16", "row", "col", PLAIN)
SIMT = Problem("D = αAB + βC", "f32", "f32", "f32", "row", "row", WITH_C)
HALF = Problem("D = AB", "f16", "f32", "f16", "row", "row", PLAIN)
ALL = [T4, AMPERE, SIMT, HALF]
M, N, K, BLOCK = 128, 192, 160, (64, 64, 32)
KINDS = ("integers", "normal")


def rounded(problem, ref):
    return ref.astype(np.float32).astype(dtype_of(problem.dtype_out))


def made(problem, kind, seed=0, m=M, n=N, k=K):
    inputs = make_inputs(problem, m, n, k, kind, seed)
    ref = reference(inputs)
    return inputs, ref, rounded(problem, ref)


def judged(out, ref, problem, kind, inputs=None):
    return verdict(out, ref, kind, problem, K, BLOCK, inputs)


# ---- Right outputs ----


@pytest.mark.parametrize("problem", ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_the_rounded_exact_result_passes(problem, kind):
    inputs, ref, out = made(problem, kind)
    result = judged(out, ref, problem, kind, inputs)
    assert result and result.passed and result.first_bad is None and str(result).startswith("PASS")


@pytest.mark.parametrize("step", [8, 16])
@pytest.mark.parametrize("k", [256, 1024, 4096])
def test_f16_accumulation_in_the_order_of_the_mma_passes(k, step):
    what = Problem("D = AB", "f16", "f16", "f16", "row", "col", PLAIN)
    inputs = make_inputs(what, 16, 512, k, "normal", seed=k)
    a, b = (operand.astype(np.float64) for operand in inputs.wide())
    acc = np.zeros((16, 512), np.float16)
    for start in range(0, k, step):
        acc = (acc.astype(np.float64) + a[:, start : start + step] @ b[start : start + step]).astype(np.float16)
    result = verdict(acc, reference(inputs), "normal", what, k)
    assert result.passed, result.message
    assert result.error > bound(what, k) / 20  # the bound is not so wide that it says nothing


@pytest.mark.parametrize("k", [512, 4096])
def test_f32_accumulation_one_product_at_a_time_passes(k):
    inputs = make_inputs(SIMT, 8, 256, k, "normal", seed=k)
    a, b = inputs.wide()
    acc = np.zeros((8, 256), np.float32)
    for i in range(k):
        acc = acc + a[:, i : i + 1] * b[i : i + 1]
    out = np.float32(inputs.alpha) * acc + np.float32(inputs.beta) * inputs.c
    result = verdict(out, reference(inputs), "normal", SIMT, k)
    assert result.passed, result.message


def test_an_accumulator_that_cuts_passes():
    inputs = make_inputs(HALF, 8, 256, 4096, "normal")
    a, b = (operand.astype(np.float64) for operand in inputs.wide())
    acc = np.zeros((8, 256), np.float32)
    for start in range(0, 4096, 4):
        exact = acc.astype(np.float64) + a[:, start : start + 4] @ b[start : start + 4]
        near = exact.astype(np.float32)
        acc = np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
    assert verdict(acc.astype(np.float16), reference(inputs), "normal", HALF, 4096).passed


@pytest.mark.parametrize("problem, k", [(T4, 64), (T4, 512), (T4, 4096), (T4, 32768), (SIMT, 16384), (AMPERE, 65536)])
def test_every_partial_sum_of_whole_numbers_is_exact(problem, k):
    inputs = make_inputs(problem, 4, 64, k, "integers", seed=k)
    a, b = (operand.astype(np.float64) for operand in inputs.wide())
    room = 2**11 if problem.dtype_acc == "f16" else 2**24
    for row in a:
        assert np.abs(np.cumsum(row[:, None] * b, axis=0)).max() <= room
    assert len(np.unique(a)) == 2 * integer_limit(problem, k) + 1


def test_the_range_of_integers_shrinks_with_k_and_ends_in_a_sentence():
    limits = [integer_limit(T4, k) for k in (64, 512, 2048, 8192, 65536)]
    assert limits == sorted(limits, reverse=True) and limits[0] == 4 and limits[-1] == 1
    with pytest.raises(SizeError, match="normal inputs"):
        integer_limit(T4, 200_000)


def test_inputs_have_the_layout_of_the_problem_and_a_poisoned_output():
    inputs = make_inputs(T4, M, N, K)
    assert inputs.a.shape == (M, K) and inputs.b.shape == (N, K) and inputs.a.dtype == np.float16
    assert np.isnan(inputs.d).all() and (inputs.alpha, inputs.beta) == (2.0, -1.0)
    assert [type(value) for value in inputs.arguments()[4:]] == [int] * 3 + [float] * 2
    assert make_inputs(AMPERE, M, N, K).b.dtype == ml_dtypes.bfloat16
    with pytest.raises(ConfigError, match="integers or normal"):
        make_inputs(T4, M, N, K, kind="zeros")


# ---- Wrong outputs ----


@pytest.mark.sampled(every=5, first=1)
@pytest.mark.parametrize("problem", ALL)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_one_nan_or_infinity_anywhere_is_rejected(problem, kind, value):
    inputs, ref, out = made(problem, kind)
    out[101, 7] = value
    result = judged(out, ref, problem, kind, inputs)
    assert not result.passed and result.first_bad == (101, 7) and result.bad_tiles == ((1, 0),)


@pytest.mark.parametrize("problem", ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_an_untouched_tile_is_named(problem, kind):
    inputs, ref, out = made(problem, kind)
    out[64:, 64:128] = np.nan
    result = judged(out, ref, problem, kind, inputs)
    assert not result.passed and result.bad_tiles == ((1, 1),) and "(1, 1) was never written" in result.message


@pytest.mark.parametrize("kind", KINDS)
def test_an_output_never_written_is_named(kind):
    inputs, ref, _ = made(T4, kind)
    result = judged(inputs.d, ref, T4, kind, inputs)
    assert not result.passed and "never written" in result.message and result.wrong == M * N


@pytest.mark.parametrize("problem", ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_the_result_of_other_inputs_is_rejected(problem, kind):
    _, ref, _ = made(problem, kind, seed=1)
    _, _, stale = made(problem, kind, seed=2)
    assert not judged(stale, ref, problem, kind).passed


def wrong_by(problem, inputs, a=None, b=None, alpha=None, beta=None):
    plain_a, plain_b = inputs.wide()
    out = (inputs.alpha if alpha is None else alpha) * ((plain_a if a is None else a) @ (plain_b if b is None else b))
    if inputs.c is not None:
        out = out + (inputs.beta if beta is None else beta) * inputs.c.astype(np.float32)
    return rounded(problem, out)


@pytest.mark.parametrize("problem", ALL)
@pytest.mark.parametrize("kind", KINDS)
def test_a_transposed_operand_is_named(problem, kind):
    inputs = make_inputs(problem, 128, 192, 128, kind)
    ref = reference(inputs)
    a, b = inputs.wide()
    result = verdict(wrong_by(problem, inputs, a=a.T), ref, kind, problem, 128, BLOCK, inputs)
    assert not result.passed and "A is read with rows and columns exchanged" in result.message
    square = make_inputs(problem, 128, 128, 64, kind)
    result = verdict(rounded(problem, reference(square).T), reference(square), kind, problem, 64, BLOCK, square)
    assert not result.passed and "transposed product" in result.message


def by_tiles(matrix, across, change):
    """The matrix with `change` applied to each tile; what sticks out is zero, as a kernel fills its tiles."""
    padded = np.pad(matrix, [(0, -extent % across) for extent in matrix.shape])
    for row in range(0, padded.shape[0], across):
        for column in range(0, padded.shape[1], across):
            tile = padded[row : row + across, column : column + across]
            tile[:] = change(tile.copy())
    return padded


@pytest.mark.parametrize("problem", [T4, SIMT])
@pytest.mark.parametrize("kind", KINDS)
def test_a_tile_that_is_read_transposed_or_with_exchanged_quarters_is_named(problem, kind):
    m, n, k = 72, 104, 88  # of none of which 16 or 32 is a divisor
    inputs = make_inputs(problem, m, n, k, kind)
    a, b = inputs.wide()

    def quarters(tile):
        tile[:8, 8:], tile[8:, :8] = tile[8:, :8].copy(), tile[:8, 8:].copy()
        return tile

    changes = [(across, np.transpose, "is transposed") for across in (8, 16, 32)] + [
        (16, quarters, "quarters exchanged")
    ]
    for across, change, words in changes:
        for name, wrong in (("A", by_tiles(a, across, change)[:m]), ("B", by_tiles(b, across, change)[:, :n])):
            other = np.pad(b, [(0, -k % across), (0, 0)]) if name == "A" else np.pad(a, [(0, 0), (0, -k % across)])
            out = wrong_by(problem, inputs, **({"a": wrong, "b": other} if name == "A" else {"a": other, "b": wrong}))
            message = verdict(out, reference(inputs), kind, problem, k, (32, 32), inputs).message
            assert f"each {across} × {across} tile of {name} " in message and words in message


@pytest.mark.parametrize("problem", [T4, SIMT])
def test_accumulators_in_wrong_places_are_named_and_wrong_sums_are_not_taken_for_them(problem):
    inputs, ref, _ = made(problem, "integers")
    a, b = inputs.wide()
    rows = np.arange(M) ^ 8  # registers of an mma exchanged
    message = judged(wrong_by(problem, inputs, a=a[rows]), ref, problem, "integers", inputs).message
    assert "accumulators were exchanged: the 8 × 8 tile at D[0, 0] belongs to D[8, 0]" in message
    columns = np.where(np.arange(N) % 32 < 16, np.arange(N) ^ 8, np.arange(N))
    message = judged(wrong_by(problem, inputs, b=b[:, columns]), ref, problem, "integers", inputs).message
    assert "the 8 × 8 tile at D[0, 0] belongs to D[0, 8]" in message
    for strange in (a + (np.arange(a.shape[1]) == 3), a[rows - 1]):  # another value; each row one further
        message = judged(wrong_by(problem, inputs, a=strange), ref, problem, "integers", inputs).message
        assert "accumulators" not in message and "tile of" not in message


@pytest.mark.sampled(every=5, first=2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "change, words",
    [
        ({"alpha": -1.0, "beta": 2.0}, "alpha and beta are exchanged"),
        ({"beta": 0.0}, "beta·C is missing"),
        ({"alpha": 1.0}, "alpha is missing"),
        ({"beta": 1.0}, "beta"),
    ],
)
@pytest.mark.parametrize("problem", [T4, SIMT])
def test_a_mistake_in_alpha_or_beta_is_named(problem, kind, change, words):
    inputs, ref, _ = made(problem, kind)
    result = judged(wrong_by(problem, inputs, **change), ref, problem, kind, inputs)
    assert not result.passed and words in result.message


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("problem", ALL)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "part, words",
    [
        (slice(0, 32), "stopped after the first"),
        (slice(0, -32), "last BLOCK_K"),
        (slice(32, None), "first BLOCK_K = 32 of K were missing"),
    ],
)
def test_a_missing_k_tile_is_named(problem, kind, part, words):
    inputs, ref, _ = made(problem, kind)
    a, b = inputs.wide()
    result = judged(wrong_by(problem, inputs, a=a[:, part], b=b[part]), ref, problem, kind, inputs)
    assert not result.passed and words in result.message


def read_wrongly(x, height, how):
    """An operand (edge, K), each tile of which was copied from another place of the matrix."""
    out, step = np.zeros_like(x), BLOCK[2]
    for row in range(0, x.shape[0], height):
        for column in range(0, x.shape[1], step):
            at_row, at_column = (column, row) if how == "exchanged" else (row, 0)
            tile = x[at_row : at_row + height, at_column : at_column + step]
            out[row : row + tile.shape[0], column : column + tile.shape[1]] = tile
    return out


@pytest.mark.parametrize("problem", [T4, AMPERE])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sides, named", [("a", "of A "), ("b", "of B "), ("ab", "of A and of B ")])
@pytest.mark.parametrize("how, words", [("first", "first k tile"), ("exchanged", "its two coordinates exchanged")])
def test_a_tile_from_a_wrong_place_is_named(problem, kind, sides, named, how, words):
    inputs, ref, _ = made(problem, kind)
    a, b = inputs.wide()
    a = read_wrongly(a, BLOCK[0], how) if "a" in sides else a
    b = read_wrongly(b.T, BLOCK[1], how).T if "b" in sides else b
    result = judged(wrong_by(problem, inputs, a=a, b=b), ref, problem, kind, inputs)
    assert not result.passed and words in result.message and named in result.message


@pytest.mark.parametrize("problem", ALL)
def test_a_wrong_result_of_another_kind_is_not_explained_by_tiles(problem):
    inputs, ref, _ = made(problem, "integers")
    a, b = inputs.wide()
    result = judged(wrong_by(problem, inputs, a=a[:, ::-1], b=b), ref, problem, "integers", inputs)
    assert not result.passed and "It looks as if it" not in result.message


def test_a_kernel_tells_its_check_the_tile_of_k():
    kernel = lab.kernel("t4/04_register_prefetch")
    stays = kernel.edit(fetch=kernel.regions["fetch"].replace("K + k_tile)", "K)").replace("(k_tile + row)", "(row)"))
    message = stays.run(256, backend="simulator").message
    assert "multiplied the first k tile of A and of B in each turn" in message


@pytest.mark.parametrize("problem", ALL)
def test_one_unit_in_the_last_place_anywhere_is_too_much_for_integers(problem):
    _, ref, out = made(problem, "integers")
    ulps = out.view(np.uint32 if problem.dtype_out == "f32" else np.uint16)
    ulps[M - 1, N - 1] ^= 1
    result = judged(out, ref, problem, "integers")
    assert not result.passed and result.first_bad == (M - 1, N - 1) and result.wrong == 1


@pytest.mark.parametrize("problem", ALL)
def test_just_beyond_the_bound_is_rejected_and_just_within_passes(problem):
    inputs, ref, _ = made(problem, "normal")
    limit = bound(problem, K, M * N)
    absolute, relative = element_limits(problem, K, scales(problem)[0])
    room = absolute + relative * np.abs(ref)  # spread so that no single element exceeds its own limit
    noise = room * min(1.0, limit * np.linalg.norm(ref) / np.linalg.norm(room))
    scale = limit * np.linalg.norm(ref) / np.linalg.norm(noise)
    if scale <= 1.0:
        assert judged(ref + 0.95 * noise, ref, problem, "normal").passed
    worse = verdict(ref + 1.05 * scale * noise, ref, "normal", problem, K, BLOCK)
    assert not worse.passed


@pytest.mark.parametrize("problem", ALL)
def test_one_element_beyond_its_own_limit_is_rejected(problem):
    _, ref, out = made(problem, "normal")
    absolute, relative = element_limits(problem, K, scales(problem)[0])
    values = ref.copy()
    values[3, 5] += 1.05 * (absolute + relative * abs(ref[3, 5]))
    result = judged(values, ref, problem, "normal")
    assert not result.passed and result.first_bad == (3, 5) and result.wrong == 1
    values[3, 5] = ref[3, 5] + 0.95 * (absolute + relative * abs(ref[3, 5]))
    assert judged(values, ref, problem, "normal").passed


def test_whole_wrong_tiles_are_named():
    inputs, ref, out = made(HALF, "integers")
    out[:64, 64:128] += 100
    assert "All of tile (0, 1) is wrong" in judged(out, ref, HALF, "integers", inputs).message


def test_all_zeros_and_a_wrong_shape_are_rejected():
    inputs, ref, out = made(HALF, "normal")
    assert "all zeros" in judged(np.zeros_like(out), ref, HALF, "normal", inputs).message
    assert "shape" in judged(out[:-1], ref, HALF, "normal").message


def test_the_bound_grows_with_k_and_is_small():
    assert bound(T4, 4096) > bound(T4, 256) and bound(T4, 4096) < 0.02
    assert bound(AMPERE, 16384) < 0.006 and bound(SIMT, 4096) < 1e-5


# ---- The whole check with a launcher ----


def test_check_hands_the_arguments_to_the_launcher_in_order():
    def launch(compiled, *, grid, args, cluster):
        a, b, c, d, m, n, k, alpha, beta = args
        assert (compiled, grid, cluster, m, n, k) == ("compiled", (2, 3, 1), (1, 1, 1), M, N, K)
        d[...] = alpha * (a.astype(np.float32) @ b.astype(np.float32).T) + beta * c
        return [a, b, c, d]

    for kind in KINDS:
        result = check("compiled", T4, grid=(2, 3, 1), m=M, n=N, k=K, block=BLOCK, kind=kind, launch=launch)
        assert result.passed, result.message


@pytest.mark.parametrize("operand", ["A", "B", "C"])
def test_a_right_result_of_a_kernel_that_overwrote_an_operand_is_rejected(operand):
    def launch(compiled, *, grid, args, cluster):
        a, b, c, d = (array.copy() for array in args[:4])
        d[...] = args[7] * (a.astype(np.float32) @ b.astype(np.float32).T) + args[8] * c
        {"A": a, "B": b, "C": c}[operand][3, 5] += 1
        return [a, b, c, d]

    result = check("compiled", T4, grid=(2, 3, 1), m=M, n=N, k=K, block=BLOCK, launch=launch)
    assert not result.passed and f"has overwritten {operand}, first [3, 5]" in result.message


@pytest.mark.parametrize(
    ("got", "expected", "texts"),
    [
        (1.5, 2.0, ("1.5", "2")),
        (-11.03921, -11.03923, ("-11.03921", "-11.03923")),
        (1.0, 1.0 + 2.0**-52, ("1", "1.0000000000000002")),
        (float("nan"), 3.0, ("nan", "3")),
    ],
)
def test_two_numbers_that_differ_are_told_apart(got, expected, texts):
    assert told_apart(got, expected) == texts


@pytest.mark.parametrize("seed", range(40))
def test_a_product_of_one_element_is_judged_by_that_element(seed):
    draw, k = np.random.default_rng(seed), 20_000
    a, b = (draw.standard_normal(k).astype(np.float32) for _ in "ab")
    exact = np.dot(a.astype(np.float64), b.astype(np.float64)).reshape(1, 1)
    total = np.float32(0)
    for product in a * b:
        total += product
    found = verdict(np.full((1, 1), total), exact, "normal", SIMT, k)
    assert found.passed and "within its own limit" in found.message
    assert not verdict(np.full((1, 1), total + np.float32(0.2)), exact, "normal", SIMT, k)


def test_the_errors_of_rare_large_sums_pass():
    k, rng = 1024, np.random.default_rng(0)
    absolute, relative = element_limits(SIMT, k)
    acc, exact = np.zeros(2**14, np.float32), np.zeros(2**14)
    for _ in range(k):
        products = (rng.standard_normal(acc.size) + 4.4 / np.sqrt(k)).astype(np.float32)  # one in 2¹⁸ gets as far
        acc, exact = acc + products, exact + products
    used = np.abs(acc - exact) / (absolute + relative * np.abs(exact))
    assert 0.3 < used.max() < 1
