"""Kernel arguments as words: what they give, and the sentence for each that is none."""

import numpy as np
import pytest

from gpu_simulator.arithmetic.rounding import f32_to_bf16
from gpu_simulator.cli.argument_words import argument, word_of_structs
from gpu_simulator.errors import ConfigError
from gpu_simulator.ptx.struct_types import size_of


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("5", 5),
        ("-5", -5),
        ("0x1f", 31),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("i32=5", 5),
        ("f32=5", 5.0),
        ("u64=0xffffffffffffffff", 2**64 - 1),
        ("f16=1.5", np.float16(1.5)),
        ("bf16=1", np.uint16(0x3F80)),
        ("null", None),
        ("bytes=00ff10", b"\x00\xff\x10"),
    ],
)
def test_numbers(word, value):
    found = argument(word)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("word", "dtype", "shape", "first"),
    [
        ("f32:8", "f4", (8,), [0, 0]),
        ("f32[8]", "f4", (8,), [0, 0]),
        ("i32:2x4:arange", "i4", (2, 4), [0, 1]),
        ("u8[4]=ones", "u1", (4,), [1, 1]),
        ("f64:3:-2.5", "f8", (3,), [-2.5, -2.5]),
        ("i16:3:7", "i2", (3,), [7, 7]),
        ("bf16:4:1", "u2", (4,), [0x3F80, 0x3F80]),
        ("f32:1_000", "f4", (1000,), [0, 0]),
    ],
)
def test_arrays(word, dtype, shape, first):
    found = argument(word)
    assert found.dtype == dtype and found.shape == shape and found.reshape(-1)[:2].tolist() == first


def test_an_array_of_structs_has_its_members_where_c_places_them():
    found = argument("{u8, x=f32:3, f64}:2x3:ones")
    assert found.shape == (2, 3) and found.dtype.names == ("f0", "x", "f2") and found.dtype.itemsize == 24
    assert [found.dtype.fields[name][1] for name in found.dtype.names] == [0, 4, 16]
    assert found["x"].tolist() == [[[1, 1, 1]] * 3] * 2 and (found["f2"] == 1).all()
    assert (argument("{u8, f32}:2:uninit").view(np.uint8) == 0xFF).all()
    assert not np.array_equal(argument("{f32, f32}:9:random")["f0"], argument("{f32, f32}:9:random")["f1"])


SOURCE = """struct Body { float x, y; /* and */ int id; double m[2]; };
typedef struct tag { const float* a, *b; float4 v; char c; unsigned int n; } Table;
struct Nested { Body b[2]; unsigned char w[2][3]; half h; size_t s; };
struct Class { float x; Class(float); };
struct List { List* next; float v = 1.f; };
"""


@pytest.mark.parametrize(
    ("kind", "size", "word"),
    [
        ("Body", 32, "{x=f32, y=f32, id=i32, m=f64:2}"), ("Table", 48, ""), ("Nested", 80, ""), ("Class", 0, ""),
        ("List", 16, ""), ("float3", 12, ""), ("float4*", 8, ""), ("missing", 0, ""),
    ],
)  # fmt: skip
def test_structs_of_a_source(kind, size, word):
    assert size_of(kind, SOURCE) == size and word_of_structs(kind, SOURCE) == word


def test_random_arrays_differ_by_their_seed_and_repeat():
    assert not np.array_equal(argument("f32:100:random", 0), argument("f32:100:random", 1))
    assert np.array_equal(argument("i32:100:random", 3), argument("i32[100]=random", 3))
    assert set(argument("u8:5000:random").tolist()) == set(range(100))
    assert abs(argument("f64:5000:random").std() - 1) < 0.05


def test_a_file(tmp_path):
    values = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.save(tmp_path / "a.npy", values)
    found = argument(str(tmp_path / "a.npy"))
    assert np.array_equal(found, values) and found.flags.c_contiguous


def test_bfloat16_is_rounded_to_the_nearest():
    values = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -2.0, np.inf, np.nan], np.float32)
    assert [hex(bits) for bits in f32_to_bf16(values)] == [
        "0x3f80",
        "0x3f80",
        "0x3f82",
        "0x3f81",
        "0xc000",
        "0x7f80",
        "0x7fff",
    ]


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("hello", "is not an argument; write 5, 1.5"),
        ("q32:5", "Types: f16, f32"),
        ("f32:5:many", "zeros, ones, arange, random, uninit or a number, not with “many”"),
        ("i8:5:300", "from -128 to 127"),
        ("i32=1.5", "holds whole numbers"),
        ("i8=200", "from -128 to 127"),
        ("i32=nan", "holds whole numbers"),
        ("bytes=0g", "pairs of digits"),
        ("none.npy", "none.npy cannot be read"),
        ("f32:99999999999999", "may be used"),
        ("{f32, q8}:5", "“q8” is no member of an array of structs"),
        ("{x=f32, x=i32}:5", "“{x=f32, x=i32}:5”: field 'x' occurs more than once"),
        ("{i8, f32}:5:300", "from -128 to 127"),
    ],
)
def test_what_is_no_argument_is_a_sentence(word, says):
    with pytest.raises(ConfigError) as told:
        argument(word)
    assert says in str(told.value)
