"""An XOR beside a bare sum is refused, with a sentence that says how C++ reads it."""

import pytest

from gemm_lab_lessons.shared.criteria.brackets import sums_beside_xor

UNCLEAR = {
    "return row * 8 + chunk ^ row % 8;": "“row * 8 + chunk ^ row % 8” means (row * 8 + chunk) ^ row % 8",
    "at = chunk ^ row % 8 + row * 8;": "“chunk ^ row % 8 + row * 8” means chunk ^ (row % 8 + row * 8)",
    "f(row, a - b xor c);": "“a - b ^ c” means (a - b) ^ c",
    "x = s[i + 1] ^ k + 1 ^ (m + n);": "means s[i + 1] ^ (k + 1) ^ (m + n)",
    "x = p ? a + b ^ c : d;": "“a + b ^ c” means (a + b) ^ c",
    "x = y && a + b ^ c;": "“a + b ^ c”",
    "x += a +\n b /* two */ ^ c;": "means (a + b) ^ c",
}
CLEAR = [
    "return row * 8 + (chunk ^ row % 8);",
    "return (row * 8 + chunk) ^ row % 8;",
    "chunk ^= row + 1;",
    "x = lane ^ k * 2;",
    "x = (lane ^ k * 2) + m * 4;",
    "x = at ^ (at >> 3 & 112);",
    "x = at ^ at >> 3;",
    "x = i++ ^ -1;",
    "x = a + b < (c ^ d);",
    "x = a + b && c ^ d;",
    "x = a + b, y = c ^ d;",
    "load(set ^ 1, k + 1);",
    "// a + b ^ c",
]


@pytest.mark.parametrize("text", UNCLEAR)
def test_a_bare_sum_beside_an_xor_is_named(text):
    (said,) = sums_beside_xor(text, 5)
    assert UNCLEAR[text] in said and said.startswith(f"Line {5 + text.count(chr(10))}: ") and "brackets" in said


@pytest.mark.parametrize("text", CLEAR)
def test_what_the_brackets_say_is_accepted(text):
    assert sums_beside_xor(text) == []


def test_each_xor_is_named_with_its_line():
    text = "int a(int r, int c) { return r + c ^ 1; }\nint b(int r, int c) { return r + c ^ 2; }"
    assert [said[:7] for said in sums_beside_xor(text, 2)] == ["Line 2:", "Line 3:"]
