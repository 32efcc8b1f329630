"""Shared arrays as the source declares them."""

import pytest

from gpu_simulator.ptx.shared_declarations import declarations, number_of


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("__shared__ float tile[32][33];", [("tile", "float", 4, ("32", "33"), (32, 33))]),
        ("__shared__ __align__(16) half a[64*2], b[8];", [("a", "half", 2, ("64*2",), (128,)), ("b", "half", 2, ("8",), (8,))]),
        ("alignas(128) __shared__ unsigned char x[N][M];", [("x", "unsigned char", 1, ("N", "M"), (16, None))]),
        ("extern __shared__ __align__(1024) float4 smem[];", [("smem", "float4", 16, ("",), (None,))]),
        ("__shared__ volatile int flag;", [("flag", "int", 4, (), ())]),
        ("__shared__ Pair<int, 2> pairs[4];", [("pairs", "Pair<int, 2>", None, ("4",), (4,))]),
        ("// __shared__ float no[1];\n/* __shared__ int no[2]; */", []),
        ("__shared__ float s[(1 << 3) + K];", [("s", "float", 4, ("(1 << 3) + K",), (12,))]),
    ],
)  # fmt: skip
def test_declarations_are_read(text, wanted):
    source = f"#define N 16\nconstexpr int K = N / 4;\n__global__ void kernel() {{\n{text}\n}}"
    found = [(one.name, one.type, one.element_bytes, one.extents, one.values) for one in declarations(source)]
    assert found == wanted


def test_macros_of_the_command_line_count():
    (found,) = declarations("__shared__ int s[N];", {"N": 7})
    assert found.values == (7,)


@pytest.mark.parametrize(
    "text", ["", "f(3)", "1 / 0", "1 << 99", "a", "loop", "2 ** 99", "'a'", "1.5", "-(", "9" * 5000]
)
def test_what_is_no_constant_has_no_value(text):
    assert number_of(text, {"loop": "loop + 1"}) is None
