"""The sums of tensor cores, bit for bit: what one instruction makes of C + A · B.

A step adds a few products (`SumRule.products`) to the accumulator. Products are exact. The largest exponent among them
and the accumulator fixes a window: of each addend only the bits down to `fraction` places below that exponent are kept,
the rest is cut off, so small addends lose bits, or vanish, beside a large one. What is kept is summed exactly, and the
sum is cut off (float32) or rounded to nearest (float16). The exponent of a product is the sum of its factors' exponents
as they are encoded: 1.5 · 1.5 has exponent 0, and a subnormal number has the exponent of the least normal one.

`sheets/tensor_core_sums.csv` has the numbers by architecture, instruction and type, with a source for each. Those of
Hopper were compared with an H200: 108,945,920 words of 70 instructions, and none differs (`python -m tools.tensor_sums`
in the course's repository). The others follow publications, which the README sets against the words that exist:
- MMA-Sim, arXiv 2511.10909, https://github.com/microsoft/MMA-Sim
- Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores", arXiv 2512.07004,
  https://github.com/north-numerical-computing/MATLAB-tensor-core
- tcgen05-model, https://github.com/sf-tensor/tcgen05
"""

from __future__ import annotations

import csv
import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
LEAST_NORMAL = {
    "f16": -14, "bf16": -126, "tf32": -126, "f32": -126, "e5m2": -14, "e4m3": -6, "e3m2": -2, "e2m3": 0, "e2m1": 0,
}  # fmt: skip
_NO_EXPONENT = -9000  # of a zero: it takes no part in the largest; two of them can be added in 16 bits
_AT_ONCE = 1 << 16  # elements of a result that stay in the cache between the operations
_PARTIAL = 16  # products whose sum fits 32 bits: each is below 2^2 · 2^25
_USUAL = 90  # exponents up to this size are far from the ends of float32, also when scaled by 2^25
_NAN = np.uint32(0x7FFFFFFF).view(np.float32)


@dataclass(frozen=True)
class SumRule:
    """How one instruction of one architecture sums.

    a, b: the types of the factors.   out: the type of C and D, "f32" or "f16".
    products: added in one step.   fraction: bits that are kept below the largest exponent.
    result: bits of the fraction of a float32 result; 13 for FP8 of Ada and Hopper, 23 elsewhere.
    floor: the largest exponent counts as at least this; None for no limit.
    late: the products of k % 4 in {0, 1} are summed first, those of {2, 3} are added to them, and C is added last, in
    float32: how `mma.sync` multiplies FP8 where it has no unit for it.
    measured: compared bit for bit with such a GPU; otherwise it follows publications.
    """

    a: str
    b: str
    out: str
    products: int
    fraction: int
    result: int
    floor: int | None
    late: bool
    measured: bool
    source: str


@lru_cache(maxsize=1)
def _sheet() -> list[dict[str, str]]:
    path = Path(__file__).parent / "sheets" / "tensor_core_sums.csv"
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@lru_cache(maxsize=64)
def sum_rule(capability: int, instruction: str, a: str, b: str, out: str) -> SumRule | None:
    """The rule of an instruction; None where none is known, as for integers, whose sums are exact.

    capability: such as 90.   instruction: "mma", "wgmma" or "tcgen05".   a, b, out: types as in `SumRule`.
    """
    rows = [
        row
        for row in _sheet()
        if row["instruction"] == instruction
        and {a, b} <= {*row["types"].split()}
        and int(row["capability"]) <= capability
    ]
    if not rows:
        return None
    row = max(rows, key=lambda row: int(row["capability"]))
    floor = row["floor_f16"] if out == "f16" and row["floor_f16"] else row["floor"]
    return SumRule(
        a, b, out,
        int(row["products"]), int(row["fraction"]), int(row["result"]), int(floor) if floor else None,
        row["addend"] == "last", row["evidence"] == "measured", row["source"],
    )  # fmt: skip


def chosen_rule(exact: bool | None, capability: int, instruction: str, a: str, b: str, out: str) -> SumRule | None:
    """The rule by which the simulator sums; None for sums in float32. exact: that of `launch`, None for FP8 only."""
    if exact is False or (exact is None and a not in ("e4m3", "e5m2")):
        return None
    return sum_rule(capability, instruction, a, b, out)


def exact_sum(a: Array, b: Array, c: Array | None, rule: SumRule) -> Array:
    """C + A · B as the tensor core computes it: float32, with values of `rule.out`.

    a: (…, M, K), b: (…, K, N), c: (…, M, N), or None for zeros; all float32, with values of the rule's types. K is that
    of one instruction. Unless the rule is `late`, it may also be that of several instructions, one after the other,
    with a multiple of `products` each.
    """
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    c = None if c is None else np.asarray(c, np.float32)
    if _lossless(a, b, c, rule):
        total: Array = np.matmul(a, b)
        total += np.float32(0) if c is None else c
        total += np.float32(0)  # a sum of negative zeros is +0
        return _to_f16(total) if rule.out == "f16" and np.abs(total).max() > 2048 else total
    shape = (*a.shape[:-1], b.shape[-1])
    a, b = a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:])
    c = None if c is None else c.reshape(-1, *c.shape[-2:])
    groups, rows, columns = len(a), a.shape[1], b.shape[2]
    out = np.empty((groups, rows, columns), np.float32)
    few = max(1, _AT_ONCE // columns)  # rows at once; several matrices if they are small
    for first in range(0, groups, max(1, few // rows)):
        some = slice(first, first + max(1, few // rows))
        for begin in range(0, rows, few):
            part = slice(begin, begin + few)
            out[some, part] = _instruction(a[some, part], b[some], None if c is None else c[some, part], rule)
    return out.reshape(shape)


def _lossless(a: Array, b: Array, c: Array | None, rule: SumRule) -> bool:
    """Whether all numbers are integers so small that nothing is cut off: then sums in float32 are exact as well.

    Every partial sum is below 2^(kept + 1), so the window begins at most `kept` places above the units.
    """
    limit = 2.0 ** (min(rule.fraction, rule.result) + 1)
    if rule.out == "f16" and (rule.late or a.shape[-1] > rule.products):
        limit = 2049.0  # sums between the steps are FP16, too
    bound = float(a.shape[-1])
    for x in (a, b):
        bound *= max(float(x.max()), -float(x.min()))
    if not bound < limit or not (np.rint(a) == a).all() or not (np.rint(b) == b).all():
        return False
    if c is None:
        return True
    bound += max(float(c.max()), -float(c.min()))
    return bound < limit and bool((np.rint(c) == c).all())


def _instruction(a: Array, b: Array, c: Array | None, rule: SumRule) -> Array:
    """One instruction on matrices of three dimensions that fit the cache."""
    if rule.late:
        order = np.argsort(np.arange(a.shape[2]) % 4 >= 2, kind="stable")
        a, b = a[:, :, order], b[:, order]
    b = np.ascontiguousarray(b)
    total: Any = None if rule.late else c
    for first in range(0, a.shape[2], rule.products):
        step = slice(first, first + rule.products)
        total = _step(a[:, :, step], b[:, step], total, rule)
    if rule.late and c is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            total = total + c
        total = _to_f16(total) if rule.out == "f16" else np.where(np.isnan(total), _NAN, total)
    return np.asarray(total)


def _step(a: Array, b: Array, c: Array | None, rule: SumRule) -> Array:
    """A sum of products and C in one window. Infinities and NaN are those of IEEE arithmetic."""
    special = None
    if not (np.isfinite(a).all() and np.isfinite(b).all() and (c is None or np.isfinite(c).all())):
        special, a, b, c = _specials(a, b, c)
    least = [LEAST_NORMAL["f16" if rule.late else kind] for kind in (rule.a, rule.b)]  # it converts FP8 to FP16
    ea, eb = _exponents(a, least[0]), _exponents(b, least[1])
    out = _usual(a, b, c, ea, eb, rule)
    if out is None:
        out = _unusual(a, b, c, ea, eb, rule)
    return out if special is None else np.where(np.isfinite(special), out, special)


def _usual(a: Array, b: Array, c: Array | None, ea: Array, eb: Array, rule: SumRule) -> Array | None:
    """The sum, if float32 represents the products and the sums without subnormal numbers; otherwise None."""
    if _least(ea) + _least(eb) < -_USUAL or int(ea.max()) + int(eb.max()) > _USUAL:
        return None
    shape = (len(a), a.shape[1], b.shape[2])
    product, scale, total = (_scratch(name, shape, np.float32) for name in ("product", "scale", "total"))
    top, exponent = (_scratch(name, shape, np.int32) for name in ("top", "exponent"))
    wide = _scratch("wide", shape, np.float64)
    # A number 2^(8 · e) for each factor of exponent e: the exponent of their scalar product is 8 · (the largest e of a
    # product) plus at most 5, because there are at most 32 products. Zeros take no part.
    np.matmul(_eightfold(ea, 1024), _eightfold(eb, 1023), out=wide)
    np.right_shift(wide.view(np.int32)[..., 1::2], 23, out=top)  # e + 128
    if c is not None:
        np.right_shift(c.view(np.int32), 23, out=exponent)
        exponent &= 255
        exponent += 1
        if rule.out == "f16":
            np.maximum(exponent, LEAST_NORMAL["f16"] + 128, out=exponent)
            exponent[c == 0] = 0
        np.maximum(top, exponent, out=top)
    if rule.floor is not None:
        np.maximum(top, 128 + rule.floor, out=top)
    if int(top.min()) < 128 - _USUAL:
        few = top < 128 - _USUAL
        if wide[few].any() or (c is not None and c[few].any()):
            return None
        top[few] = 128  # nothing but zeros
    if int(top.max()) > 128 + _USUAL:
        return None
    np.left_shift(np.subtract(255 + rule.fraction, top, out=scale.view(np.int32)), 23, out=scale.view(np.int32))
    narrow = rule.fraction < 20  # float32 holds the sum
    cut, partial = (product, total) if narrow else (exponent, total.view(np.int32))
    for first in range(0, a.shape[2], _PARTIAL):
        if first == 0 or not narrow:
            partial[...] = 0
        for k in range(first, min(first + _PARTIAL, a.shape[2])):
            np.multiply(a[:, :, k, None], b[:, k, None, :], out=product)
            np.multiply(product, scale, out=product)
            if narrow:
                np.trunc(product, out=product)
            else:
                np.copyto(cut, product, casting="unsafe")  # towards zero
            np.add(partial, cut, out=partial)
        if not narrow:
            np.copyto(wide, partial) if first == 0 else np.add(wide, partial, out=wide)
    found = total if narrow else wide
    if c is not None:
        np.multiply(c, scale, out=product)
        np.add(found, np.trunc(product, out=product), out=found)
    top -= 1 + rule.fraction
    top <<= 23
    found *= top.view(np.float32)
    if rule.out == "f16":
        return _to_f16(found)
    if narrow:
        return (found.view(np.int32) & np.int32(-1 << (23 - rule.result))).view(np.float32) + np.float32(0)
    bits = found.view(np.int64)
    bits &= np.int64(-1 << (52 - rule.result))
    return found.astype(np.float32)


_kept = threading.local()


def _scratch(name: str, shape: tuple[int, ...], dtype: type) -> Array:
    """An array with anything in it, in memory that is used again: new memory would cost more than the arithmetic."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = _kept.__dict__.get(name)
    if memory is None or memory.nbytes < size:
        memory = _kept.__dict__[name] = np.empty(size, np.uint8)
    return memory[:size].view(dtype).reshape(shape)


def _eightfold(exponents: Array, bias: int) -> Array:
    """2^(8 · e + bias - 1023) for each exponent, float64; 0 for a zero's."""
    bits = (exponents.astype(np.int64) * 8 + bias) << 52
    return np.where(exponents == _NO_EXPONENT, np.int64(0), bits).view(np.float64)


def _unusual(a: Array, b: Array, c: Array | None, ea: Array, eb: Array, rule: SumRule) -> Array:
    """The sum in float64, at any exponent."""
    top = np.full((len(a), a.shape[1], b.shape[2]), _NO_EXPONENT, np.int16)
    if c is not None:
        top[...] = _exponents(c, LEAST_NORMAL[rule.out])
    for k in range(a.shape[2]):
        np.maximum(top, ea[:, :, k, None] + eb[:, k, None, :], out=top)
    top[top < -1000] = 0  # nothing but zeros
    if rule.floor is not None:
        np.maximum(top, np.int16(rule.floor), out=top)
    shift = rule.fraction - top.astype(np.int64)
    scale, unit = (((power + 1023) << 52).view(np.float64) for power in (shift, -shift))
    total = np.zeros(scale.shape) if c is None else np.trunc(c * scale)
    for k in range(a.shape[2]):
        total += np.trunc(a[:, :, k, None].astype(np.float64) * b[:, k, None, :] * scale)
    return _rounded(total * unit, rule)


def _exponents(x: Array, least: int) -> Array:
    """The encoded exponents of float32 numbers, int16; at least `least`, and `_NO_EXPONENT` for zeros."""
    bits = x.view(np.int32) if x.flags.c_contiguous else np.ascontiguousarray(x).view(np.int32)
    found = ((bits >> 23) & 255).astype(np.int16)
    found -= np.int16(127)
    np.maximum(found, np.int16(least), out=found)
    found[x == 0] = _NO_EXPONENT
    return found


def _least(exponents: Array) -> int:
    """The smallest exponent of a number that is not zero; 0 if there is none."""
    there = exponents[exponents != _NO_EXPONENT]
    return int(there.min()) if there.size else 0


def _specials(a: Array, b: Array, c: Array | None) -> tuple[Array, Array, Array, Array | None]:
    """What NaN and infinities contribute, float32 with 0 where nothing, and the operands with zeros in their place."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.zeros((len(a), a.shape[1], b.shape[2]), np.float64)
        for k in range(a.shape[2]):
            left, right = a[:, :, k, None].astype(np.float64), b[:, k, None, :].astype(np.float64)
            if not (np.isfinite(left).all() and np.isfinite(right).all()):
                product = left * right
                total += np.where(np.isfinite(product), 0.0, product)
        if c is not None:
            total += np.where(np.isfinite(c), 0.0, c)
    a, b = (np.where(np.isfinite(x), x, np.float32(0)) for x in (a, b))
    c = None if c is None else np.where(np.isfinite(c), c, np.float32(0))
    return np.where(np.isnan(total), _NAN, total.astype(np.float32)), a, b, c


def _rounded(value: Array, rule: SumRule) -> Array:
    """Float64 sums in the result's type, as float32: cut off for "f32", to nearest even for "f16"."""
    if rule.out == "f16":
        return _to_f16(value)
    least = np.float64(2.0**-126)
    cut = (value.view(np.int64) & np.int64(-1 << (52 - rule.result))).view(np.float64)
    small = np.abs(value) < least
    if (small & (value != 0)).any():
        unit = np.float64(2.0 ** (-126 - rule.result))
        cut = np.where(small, np.trunc(value / unit) * unit, cut)
    with np.errstate(over="ignore"):
        return np.asarray(cut, np.float32) + np.float32(0)


def _to_f16(x: Array) -> Array:
    """Numbers rounded to nearest even FP16, as float32. NaN is the GPU's, and what rounds to zero is +0.

    x: float64 or float32.
    """
    wide = np.array(x, np.float64)
    bits, size = wide.view(np.int64), np.abs(wide)
    with np.errstate(over="ignore", invalid="ignore"):
        other = (~((size >= 2.0**-14) & (size < 65504)) & (wide != 0)).nonzero()  # subnormal, too large, or none
        rare = wide[other].astype(np.float16).astype(np.float32)
    bits += ((bits >> 42) & 1) + np.int64((1 << 41) - 1)
    bits &= np.int64(-1 << 42)
    with np.errstate(over="ignore", invalid="ignore"):
        out = wide.astype(np.float32)
    out[other] = np.where(np.isnan(rare), _NAN, rare) + np.float32(0)
    return out
