"""Kernels of 8 bits as functions of the caller's matrices, and as exported programs."""

import ml_dtypes
import numpy as np
import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.cards import kernel_card
from gemm_lab.lab import export
from gpu_simulator.errors import ConfigError, SizeError

E4M3 = ml_dtypes.float8_e4m3fn
M, N, K = 40, 136, 272


def matrices():
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype(np.float32).astype(E4M3) for shape in ((M, K), (K, N)))
    scales = [np.exp2(rng.integers(-1, 2, shape)).astype(np.float32) for shape in ((3, M), (2, 3))]
    return a, b, *scales


def product(a, b, scale_a=None, scale_b=None):
    a, b = a.astype(np.float64), b.astype(np.float64)
    if scale_a is not None:
        a = a * np.repeat(scale_a, 128, 0)[:K].T
        b = b * np.repeat(np.repeat(scale_b, 128, 0), 128, 1)[:N, :K].T
    return (a @ b).astype(np.float32).astype(ml_dtypes.bfloat16)


def test_a_kernel_multiplies_arrays_of_8_bits_with_and_without_scales():
    a, b, scale_a, scale_b = matrices()
    assert np.array_equal(lab.kernel("hopper_fp8/01_fast_sums").gemm(a, b), product(a, b))
    scaled = lab.kernel("hopper_fp8/04_block_scales")
    assert np.array_equal(scaled.gemm(a, b, scale_a=scale_a, scale_b=scale_b), product(a, b, scale_a, scale_b))
    turned = np.asfortranarray(scale_a)  # the same numbers, stored the other way round
    assert np.array_equal(scaled.gemm(a, b, scale_a=turned, scale_b=scale_b), product(a, b, scale_a, scale_b))


def test_tensors_of_torch_give_a_tensor():
    torch = pytest.importorskip("torch")
    a, b, scale_a, scale_b = matrices()
    left, right = (torch.from_numpy(x.view(np.int8)).view(torch.float8_e4m3fn) for x in (a, b))
    d = lab.kernel("hopper_fp8/04_block_scales").gemm(
        left, right, scale_a=torch.from_numpy(scale_a), scale_b=torch.from_numpy(scale_b)
    )
    assert d.dtype == torch.bfloat16
    assert np.array_equal(d.float().numpy(), product(a, b, scale_a, scale_b).astype(np.float32))
    with pytest.raises(ConfigError, match=r"A is float8_e5m2; this kernel takes float8_e4m3fn.*A\.to\(torch\."):
        lab.kernel("hopper_fp8/01_fast_sums").gemm(left.float().to(torch.float8_e5m2), right)


@pytest.mark.parametrize(
    ("name", "changes", "error", "sentence"),
    [
        (
            "04_block_scales",
            {"a": lambda a: a.astype(np.float32)},
            ConfigError,
            r"A is float32; .*astype\(ml_dtypes.float8_e4m3fn\)",
        ),
        ("04_block_scales", {"b": lambda b: b.astype(ml_dtypes.float8_e5m2)}, ConfigError, "B is float8_e5m2"),
        (
            "04_block_scales",
            {"scale_a": lambda s: s.T},
            SizeError,
            r"\(40, 3\); .* has to be \(3, 40\), \(K / 128, M\) .*transposed",
        ),
        (
            "04_block_scales",
            {"scale_b": lambda s: s[:1]},
            SizeError,
            r"\(1, 3\); .* has to be \(2, 3\), \(N / 128, K / 128\) rounded up",
        ),
        (
            "04_block_scales",
            {"scale_b": lambda s: s.astype(np.float64)},
            ConfigError,
            "scale_b is float64; this kernel takes float32",
        ),
        ("04_block_scales", {"scale_b": lambda s: None}, ConfigError, r"pass scale_b, float32 of shape \(2, 3\)"),
        ("01_fast_sums", {}, ConfigError, "without scales; leave out scale_a and scale_b"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(name, changes, error, sentence):
    given = dict(zip(("a", "b", "scale_a", "scale_b"), matrices(), strict=True))
    given |= {key: change(given[key]) for key, change in changes.items()}
    with pytest.raises(error, match=sentence):
        lab.kernel(f"hopper_fp8/{name}").gemm(**given)


def test_a_sum_in_half_precision_is_refused_where_float_is_promised():
    kernel = lab.kernel("simt/01")
    half = kernel.rewrite("#include <cuda_fp16.h>\n" + kernel.source.replace("float acc = 0.0f", "half acc = 0.0f"))
    assert "half acc" in half.source
    run = half.run(64, backend="simulator")
    assert not run.passed and "before they cancel" in run.message and "not kept in f32" in run.message
    assert kernel.run(64, backend="simulator").passed


def test_a_promotion_too_late_is_refused():
    kernel, changes = lab.kernel("hopper_fp8/02"), {
        "multiply = [&](int stage) {": "multiply = [&](int stage, int goes_on) {",
        "k > 0);": "k > 0 || goes_on);",
        "multiply(stage);": "multiply(stage, k_tile / BLOCK_K % 2);",
        "      promote();": "      if (k_tile / BLOCK_K % 2 || k_tile + BLOCK_K >= K) promote();",
    }  # fmt: skip
    source = kernel.source
    for old, new in changes.items():
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    late = kernel.rewrite(source).run(128, k=256, backend="simulator")
    assert not late.passed and "after each 128 of K" in late.message
    assert "At 128 × 192 × 512" in late.message, "two parts of 128 are too few to see it"


@pytest.mark.parametrize("rung", ["01_fast_sums", "04_block_scales"])
def test_an_exported_program_makes_operands_and_scales_of_its_own(rung):
    spec = catalog.kernel(f"hopper_fp8/{rung}")
    text = export.standalone(spec, spec.configure())
    assert "__nv_fp8_e4m3 *all_a" in text and ("fill_scales" in text) == spec.problem.scaled and "$" not in text
    assert "CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, a" in text


def test_a_card_says_where_the_sums_are_kept():
    texts = [
        kernel_card.types(catalog.kernel(f"hopper_fp8/{rung}").problem) for rung in ("01_fast_sums", "02_promoted")
    ]
    assert texts == ["e4m3, sums in the tensor cores", "e4m3, sums in f32 after each 128 of k"]
    assert lab.gpu("h100").peak("e4m3", "f32") == pytest.approx(2 * lab.gpu("h100").peak("bf16", "f32"), rel=0.001)
