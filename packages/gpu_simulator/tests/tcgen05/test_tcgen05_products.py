"""tcgen05.mma on the simulator: every shape, layout, type and flag to the last bit, all other cells left alone."""

import numpy as np
import pytest
from mutants_tcgen05 import INSTRUCTION_FIELDS, SHARED_FIELDS
from products import Product, run

import gpu_simulator

PRODUCTS = [
    Product(128, 16), Product(128, 24), Product(128, 256, column=256), Product(64, 8, column=3), Product(64, 200), Product(64, 64, lane=16),
    Product(128, 64, accumulate=False), Product(128, 48, a="f16", b="f16"), Product(128, 48, a="bf16", b="f16"),
    Product(128, 32, a="f16", b="f16", d="f16"), Product(64, 32, a="f16", b="f16", d="f16"),
    Product(128, 32, negate=(True, False)), Product(128, 32, negate=(True, True)), Product(128, 32, scale=2),
    Product(128, 32, disabled=0xF0F0), Product(64, 32, disabled=0xFF00FF), Product(128, 64, steps=4),
    *(Product(128, 64, swizzle_a=a, swizzle_b=b) for a, b in ((0, 32), (32, 64), (64, 0))),
    *(Product(64, 64, major_a="mn", swizzle_a=s) for s in (0, 32, 64, 128)),
    *(Product(128, 64, major_b="mn", swizzle_b=s) for s in (0, 32, 64, 128)),
    Product(128, 128, major_a="mn", major_b="mn"),
    *(Product(128, 64, swizzle_a=s, swizzle_b=s, steps=n) for s, n in ((64, 2), (0, 2))),
    Product(128, 64, major_a="mn", major_b="mn", steps=2),
    Product(128, 64, "tf32", "tf32", "tf32"), Product(64, 32, "f8f6f4", "e4m3", "e5m2"),
    Product(128, 64, "f8f6f4", "e5m2", "e4m3", major_b="mn"), Product(128, 64, "i8", "u8", "s8", "s32"),
    Product(128, 64, inside=True), Product(64, 64, inside=True), Product(128, 32, inside=True, steps=2),
    Product(128, 64, ws=True), Product(64, 128, ws=True), Product(32, 256, ws=True), Product(64, 64, ws=True, inside=True),
    Product(256, 64, group=2), Product(256, 256, group=2, steps=2), Product(128, 64, group=2),
    Product(128, 128, group=2, accumulate=False, column=64), Product(256, 32, group=2, major_a="mn", major_b="mn",
                                                                     swizzle_b=32),
    Product(256, 64, group=2, inside=True), Product(128, 64, group=2, inside=True), Product(256, 64, group=2, disabled=9),
]  # fmt: skip


@pytest.mark.sampled(every=54)
@pytest.mark.parametrize("product", PRODUCTS, ids=str)
def test_exact_in_late_timing_without_hazards(product):
    got, want, report = run(product, timing="late", observers=("hazards",))
    assert np.array_equal(got, want)
    assert report.hazards == []


@pytest.mark.parametrize("product", PRODUCTS[::7], ids=str)
def test_exact_in_early_timing(product):
    got, want, _ = run(product)
    assert np.array_equal(got, want)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("product", [product for product in PRODUCTS if product.kind != "i8"], ids=str)
def test_normal_numbers_are_summed_as_on_the_gpu(product):
    """To the bit. In float32 a few words differ, unless the result is FP16."""
    got, want, _ = run(product, normal=True, exact=True, timing="late")
    assert np.array_equal(got, want)
    plain, _, _ = run(product, normal=True, exact=False)
    assert product.d == "f16" or not np.array_equal(plain, want)


def altered(product: Product, which: int, bits: int):
    """What becomes of a product with one descriptor XORed: "exact", "wrong" or the error."""

    def change(*descriptors):
        return tuple(d ^ bits if number == which else d for number, d in enumerate(descriptors))

    try:
        got, want, report = run(product, change=change, observers=("hazards",))
    except gpu_simulator.SimulatedFault as error:
        return str(error)
    return "exact" if np.array_equal(got, want) and not report.hazards else "wrong"


# Fields that an operand does not use, by the PTX ISA: the leading offset of a swizzled K-major one ("not used, assumed to
# be 1"), the shift of .ws, and the base offset where nothing is swizzled.
UNUSED = {("k", 128): {"leading offset"}, ("k", 0): {"base offset"}, ("mn", 128): set(), ("mn", 0): {"base offset"}}


@pytest.mark.sampled(every=18, first=1)
@pytest.mark.parametrize(("major", "swizzle"), UNUSED)
@pytest.mark.parametrize("field", SHARED_FIELDS)
@pytest.mark.parametrize("which", (0, 1))
def test_every_field_of_a_shared_descriptor_matters(which, field, major, swizzle):
    product = Product(128, 128, major_a=major, major_b=major, swizzle_a=swizzle, swizzle_b=swizzle)
    got = altered(product, which, SHARED_FIELDS[field])
    assert (got == "exact") == (field in UNUSED[major, swizzle]), got
    if field == "version":
        assert "bits 46 to 48, where tcgen05 has the constant 0b001" in got
    if field == "unused bit":
        assert "bits set that the format leaves 0" in got


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("field", INSTRUCTION_FIELDS)
def test_every_field_of_an_instruction_descriptor_matters(field):
    got = altered(Product(128, 128, major_a="mn"), 2, INSTRUCTION_FIELDS[field])
    assert (got == "exact") == (field == "shift"), got
    wanted = {
        "sparse": "asks for a sparse A",
        "type of D": "D in FP16 needs A and B in FP16",
        "M": "M = 0 does not exist",
    }
    assert wanted.get(field, "") in got


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("product", "which", "xor", "says"),
    [
        (Product(128, 64), 0, 1 << 61, "names the swizzle 3 at bits 61 to 63, which does not exist"),
        (Product(128, 64), 0, 3 << 61, "swizzle 1 (128 bytes in chunks of 32) is for TF32"),
        (Product(128, 64), 0, 1 << 52, "bit 52 set"),
        (Product(128, 64), 1, 1 << 13, "bytes of shared memory"),
        (Product(128, 64), 1, 1 << 3, "lies in row 1 of the pattern of the 128-byte swizzle"),
        (Product(128, 64), 2, 1 << 8, "gives A the type 3; kind::f16 knows 0 for f16, 1 for bf16"),
        (Product(256, 64, group=2), 2, 1 << 17, "N is a multiple of 16 from 16 to 256"),
        (
            Product(128, 64, inside=True),
            2,
            1 << 17,
            "with M = 128 and A in tensor memory: N is a multiple of 16 from 16",
        ),
        (Product(128, 48, "i8", "u8", "s8", "s32"), 2, 1 << 17, "with integers and N above 32: N is a multiple of 16"),
        (Product(64, 64), 2, 1 << 25, "M = 96 does not exist for tcgen05.mma.cta_group::1: M is 64 or 128"),
        (Product(256, 64, group=2), 2, 20 << 24, "M = 64 does not exist for tcgen05.mma.cta_group::2: M is 128 or 256"),
        (Product(128, 64, ws=True), 2, 1 << 19, "N is 64, 128 or 256"),
        (Product(128, 64), 2, 1 << 23, "reserved bits"),
    ],
)
def test_descriptors_that_do_not_exist_are_refused_in_a_sentence(product, which, xor, says):
    got = altered(product, which, xor)
    assert says in got and got.startswith("products.cu:") and "thread (64, 0, 0)" in got


def test_accumulators_outside_the_allocation_or_from_a_wrong_lane_on():
    with pytest.raises(
        gpu_simulator.TensorMemoryFault, match="uses columns 480 to 543 .*column 512, which is not allocated"
    ):
        run(Product(128, 64, column=480))
    with pytest.raises(gpu_simulator.TensorMemoryFault, match="D of M = 128 begins at lane 0"):
        run(Product(128, 64, lane=16))


@pytest.mark.parametrize(("product", "rows"), [
    (Product(128, 64), 192), (Product(128, 64, inside=True), 64), (Product(256, 64, group=2), 320),
    (Product(64, 64, ws=True, steps=2), 256),
])  # fmt: skip
def test_bytes_read_in_shared_memory_are_counted(product, rows):
    sites = [s for s in run(product)[2].sites if s.opcode.startswith("tcgen05.mma")]
    assert sum(s.bytes for s in sites) == rows * 32
