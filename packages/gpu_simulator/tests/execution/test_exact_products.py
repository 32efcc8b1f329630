"""Chains of mma.sync and of wmma on the simulator, summed as each architecture does it."""

import compiling
import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.cli.command_line import main
from gpu_simulator.hardware.exact_sums import exact_sum, sum_rule

K = 96
# A warp multiplies 32 × K by K × 16: four products for each step of k, which the simulator computes together.
CHAIN = """
extern "C" __global__ void kernel(const unsigned* a, const unsigned* b, float* d) {
    unsigned g = threadIdx.x / 4, t = threadIdx.x % 4;
    float acc[2][2][4] = {};
#pragma unroll UNROLLED
    for (int k = 0; k < WORDS; k += STEP) {
        unsigned fa[2][4], fb[2][2];
        for (int i = 0; i < 2; ++i)
            for (int r = 0; r < STEP / 2; ++r) fa[i][r] = a[(16 * i + g + r % 2 * 8) * WORDS + k + r / 2 * 4 + t];
        for (int j = 0; j < 2; ++j)
            for (int r = 0; r < STEP / 4; ++r) fb[j][r] = b[(8 * j + g) * WORDS + k + 4 * r + t];
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                asm("mma.sync.aligned.OPCODE {%0, %1, %2, %3}, A, B, {%0, %1, %2, %3};"
                    : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                    : INPUTS);
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            for (int e = 0; e < 4; ++e) d[(16 * i + g + e / 2 * 8) * 16 + 8 * j + 2 * t + e % 2] = acc[i][j][e];
}
"""
WMMA = """
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void kernel(const __half* a, const __half* b, float* d) {
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> acc;
    fill_fragment(acc, 0.0f);
    for (int k = 0; k < 96; k += 16) {
        load_matrix_sync(fa, a + k, 96);
        load_matrix_sync(fb, b + k, 96);
        mma_sync(acc, fa, fb, acc);
    }
    store_matrix_sync(d, acc, 16, mem_row_major);
}
"""
CHAINS = [
    ("sm_75", "f16", 8), ("sm_80", "f16", 16), ("sm_80", "f16", 8), ("sm_80", "tf32", 8), ("sm_86", "f16", 16),
    ("sm_89", "e4m3", 32), ("sm_90", "f16", 16), ("sm_90", "f16", 8), ("sm_90", "e4m3", 32), ("sm_120", "f16", 16),
    ("sm_120", "e4m3", 32),
]  # fmt: skip


def chain(kind: str, depth: int, unrolled: int = 1) -> str:
    step = 4 if (kind, depth) == ("f16", 8) else 8  # registers of A and B that hold 32-bit words
    registers = [f'"r"(fa[i][{r}])' for r in range(step // 2)] + [f'"r"(fb[j][{r}])' for r in range(step // 4)]
    numbers = [f"%{4 + n}" for n in range(len(registers))]
    a, b = ", ".join(numbers[: step // 2]), ", ".join(numbers[step // 2 :])
    words = {"STEP": step, "WORDS": K * {"f16": 2, "tf32": 4, "e4m3": 1}[kind] // 4, "UNROLLED": unrolled}
    text = CHAIN.replace("INPUTS", ", ".join(registers)).replace(
        "OPCODE", f"m16n8k{depth}.row.col.f32.{kind}.{kind}.f32"
    )
    text = text.replace("}, A, B, {", f"}}, {{{a}}}, {{{b}}}, {{")
    return "".join(f"#define {name} {value}\n" for name, value in words.items()) + text


def operands(kind: str, rows: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """A matrix as it is stored, and its numbers as float32."""
    import ml_dtypes

    x = rng.standard_normal((rows, K), np.float32)
    if kind == "e4m3":  # with a wide range, so that sums need more than the bits of float32
        x *= np.exp2(rng.integers(-8, 7, x.shape)).astype(np.float32)
    if kind == "tf32":
        return x, (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    stored = x.astype(np.float16 if kind == "f16" else ml_dtypes.float8_e4m3fn)
    return stored, stored.astype(np.float32)


def by_rule(a, b, arch: str, kind: str, depth: int) -> np.ndarray:
    rule, total = sum_rule(int(arch[3:]), "mma", kind, kind, "f32"), None
    for k in range(0, K, depth):
        total = exact_sum(a[:, k : k + depth], b[:, k : k + depth].T, total, rule)
    return total


@pytest.mark.parametrize("unrolled", [1, 3])
@pytest.mark.parametrize(("arch", "kind", "depth"), CHAINS)
def test_a_chain_of_mma(arch, kind, depth, unrolled, rng):
    (a, left), (b, right) = operands(kind, 32, rng), operands(kind, 16, rng)
    compiled = compiling.compile(chain(kind, depth, unrolled), arch=arch, name="kernel.cu", entry="kernel")
    found = {}
    for exact in (True, False, None):
        d = np.full((32, 16), np.nan, np.float32)
        gpu_simulator.launch(compiled, "kernel", 1, 32, [a.view(np.uint32), b.view(np.uint32), d], exact=exact)
        found[exact] = d
    assert np.array_equal(found[True], by_rule(left, right, arch, kind, depth))
    assert not np.array_equal(found[True], found[False])
    assert np.array_equal(found[None], found[kind == "e4m3"])  # the default is exact for FP8 only
    assert np.allclose(found[False], left @ right.T, rtol=1e-5, atol=1e-5 * np.abs(left @ right.T).max())


def test_the_command_line_has_it(rng, tmp_path, capsys):
    (a, left), (b, right) = operands("f16", 32, rng), operands("f16", 16, rng)
    (tmp_path / "kernel.cu").write_text(chain("f16", 16))
    for name, x in (
        ("a", a.view(np.uint32)),
        ("b", b.view(np.uint32)),
        ("d", by_rule(left, right, "sm_90", "f16", 16)),
    ):
        np.save(tmp_path / f"{name}.npy", x)
    compiling.need_compiler()
    words = [
        f"{tmp_path}/kernel.cu",
        "--arch",
        "sm_90",
        "--compare",
        f"2={tmp_path}/d.npy",
        "--arg",
        f"{tmp_path}/a.npy",
    ]
    words += ["--arg", f"{tmp_path}/b.npy", "--arg", "f32:32x16"]
    assert [main([*words, *more]) for more in (["--exact"], [], ["--no-exact"])] == [0, 1, 1], capsys.readouterr().err


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_a_chain_of_wmma(arch, rng):
    (a, left), (b, right) = operands("f16", 16, rng), operands("f16", 16, rng)
    compiled = compiling.compile(WMMA, arch=arch, name="kernel.cu", entry="kernel")
    d = np.full((16, 16), np.nan, np.float32)
    gpu_simulator.launch(compiled, "kernel", 1, 32, [a, b, d], exact=True)
    assert np.array_equal(d, by_rule(left, right, arch, "f16", 16))
    other = {"sm_75": "sm_70", "sm_80": "sm_90", "sm_90": "sm_80"}[arch]
    assert not np.array_equal(d, by_rule(left, right, other, "f16", 16))
