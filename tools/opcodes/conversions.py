"""Cases of cvt: every pair of types that the simulator executes, with its roundings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tools.opcodes.arithmetic import ROUNDINGS, plain
from tools.opcodes.case import Case

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
TO_INTEGER = ("rni", "rzi", "rmi", "rpi")


def cases() -> Iterator[Case]:
    """All cases of this module: cvt between every pair of types that PTX has."""
    yield from _integers()
    yield from _to_integers()
    yield from _from_integers()
    yield from _floats()
    yield from _fp8()


def _integers() -> Iterator[Case]:
    for to in INTEGERS:
        for source in INTEGERS:
            if to != source:
                yield plain(f"cvt.{to}.{source}", (source,), to)
                if not _holds(to, source):  # otherwise ptxas rejects .sat
                    yield plain(f"cvt.sat.{to}.{source}", (source,), to)


def _holds(to: str, source: str) -> bool:
    """Whether the type `to` can represent every value of the type `source`."""
    bits = int(to[1:]) - (to[0] == "s" and source[0] == "u")
    return bits >= int(source[1:]) and not (to[0] == "u" and source[0] == "s")


def _to_integers() -> Iterator[Case]:
    for source in ("f16", "bf16", "f32", "f64"):
        for to in INTEGERS[2:] if source == "bf16" else INTEGERS:  # bf16 has no 8-bit forms
            for mode in TO_INTEGER:
                yield plain(f"cvt.{mode}.{to}.{source}", (source,), to)
            if source == "f32":
                yield plain(f"cvt.rzi.ftz.{to}.f32", ("f32",), to)
                yield plain(f"cvt.rpi.ftz.{to}.f32", ("f32",), to)
    for to in ("s32", "u8"):
        yield plain(f"cvt.rni.sat.{to}.f32", ("f32",), to)


def _from_integers() -> Iterator[Case]:
    for to in ("f16", "bf16", "f32", "f64"):
        for source in INTEGERS[2:] if to == "bf16" else INTEGERS:
            for mode in ROUNDINGS:
                yield plain(f"cvt.{mode}.{to}.{source}", (source,), to)
    for source in ("s32", "u64"):
        yield plain(f"cvt.rn.sat.f32.{source}", (source,), "f32")


def _floats() -> Iterator[Case]:
    for mode in ROUNDINGS:
        for to, source in (("f16", "f32"), ("f16", "f64"), ("f32", "f64")):
            yield plain(f"cvt.{mode}.{to}.{source}", (source,), to)
    for mode in ("rn", "rz"):
        yield plain(f"cvt.{mode}.bf16.f32", ("f32",), "bf16")
        yield plain(f"cvt.{mode}.relu.bf16.f32", ("f32",), "bf16")
        yield plain(f"cvt.{mode}.relu.f16.f32", ("f32",), "f16")
        yield plain(f"cvt.{mode}.tf32.f32", ("f32",), "tf32")
        for to in ("f16x2", "bf16x2"):
            for relu in ("", ".relu"):
                yield plain(f"cvt.{mode}{relu}.{to}.f32", ("f32", "f32"), to)
    yield plain("cvt.rn.bf16.f64", ("f64",), "bf16")
    yield plain("cvt.rna.tf32.f32", ("f32",), "tf32")
    for to, source in (("f32", "f16"), ("f64", "f16"), ("f64", "f32"), ("f32", "bf16"), ("f64", "bf16")):
        yield plain(f"cvt.{to}.{source}", (source,), to)
    yield plain("cvt.rn.bf16.f16", ("f16",), "bf16")
    yield plain("cvt.rn.f16.bf16", ("bf16",), "f16")
    for mode in TO_INTEGER:
        for kind in ("f16", "f32", "f64"):
            yield plain(f"cvt.{mode}.{kind}.{kind}", (kind,), kind)
    yield plain("cvt.rni.ftz.f32.f32", ("f32",), "f32")
    yield plain("cvt.sat.f32.f32", ("f32",), "f32")
    yield plain("cvt.ftz.f32.f32", ("f32",), "f32")
    yield plain("cvt.ftz.sat.f32.f32", ("f32",), "f32")
    yield plain("cvt.rn.sat.f32.f64", ("f64",), "f32")
    yield plain("cvt.rn.sat.f16.f32", ("f32",), "f16")
    yield plain("cvt.rn.ftz.f32.f64", ("f64",), "f32")
    yield plain("cvt.ftz.f32.f16", ("f16",), "f32")
    yield plain("cvt.ftz.f64.f32", ("f32",), "f64")
    yield plain("cvt.rn.ftz.f16.f32", ("f32",), "f16")
    yield plain("cvt.sat.f32.f16", ("f16",), "f32")


def _fp8() -> Iterator[Case]:
    for kind in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            plain_f32 = plain(f"cvt.rn.satfinite{relu}.{kind}.f32", ("f32", "f32"), "b16")
            yield replace(plain_f32, lanes=256)
            yield replace(plain(f"cvt.rn.satfinite{relu}.{kind}.f16x2", ("f16x2",), "b16"), lanes=256)
            every_code = f"{{ .reg .b16 x; cvt.u16.u32 x, %1; cvt.rn{relu}.f16x2.{kind} %0, x; }}"
            yield Case(f"cvt.rn{relu}.f16x2.{kind}", every_code, ("u32:pairs",), ("f16x2",), lanes=128)
