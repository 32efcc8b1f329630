"""One PTX instruction as a kernel of blocks of 32 threads, with arrays of raw words as inputs and outputs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tools.opcodes.inputs import values

# For a PTX type: (C type of the array, asm constraint, conversion from word to operand, from operand to word). For a
# constraint: the C type of the operand.
_WORD16 = ("unsigned short", "h", "{}", "{}")
_WORD32 = ("unsigned", "r", "{}", "{}")
_WORD64 = ("unsigned long long", "l", "{}", "{}")
HOLDERS = {
    **dict.fromkeys(("u8", "s8", "u16", "s16", "b16", "f16", "bf16", "pred"), _WORD16),
    **dict.fromkeys(("u32", "s32", "b32", "f16x2", "bf16x2", "u16x2", "s16x2", "tf32", "s8x4", "u8x4"), _WORD32),
    **dict.fromkeys(("u64", "s64", "b64"), _WORD64),
    "f32": ("unsigned", "f", "__uint_as_float({})", "__float_as_uint({})"),
    "f64": ("unsigned long long", "d", "__longlong_as_double({})", "__double_as_longlong({})"),
}
VARIABLE = {"f": "float", "d": "double", "h": "unsigned short", "r": "unsigned", "l": "unsigned long long"}
DTYPES = {"unsigned short": np.uint16, "unsigned": np.uint32, "unsigned long long": np.uint64}


@dataclass(frozen=True)
class Case:
    """One instruction, its operands and how its result is compared.

    text: PTX with %0, %1, … for results and then operands.
    body: instead of `text`, CUDA statements that use x0, x1, … (input arrays), y0, y1, … (output arrays), `i` (number
    of the thread in the grid) and `lane`.
    ins, outs: PTX types; an operand may name its set of values after a colon ("s32:nonzero", see inputs.py).
    tolerance: (relative, absolute) error for approximations; None: the same bits, of a NaN too.
    lanes: number of threads, a multiple of 32; 0: 64 or 128, depending on the number of operands.
    per_lane: elements of each output per thread, by default 1.   words: elements of each input, by default one per
    thread.   sort: compare the results of a warp sorted, because the order of the lanes is not defined.
    """

    name: str
    text: str
    ins: tuple[str, ...]
    outs: tuple[str, ...]
    tolerance: tuple[float, float] | None = None
    body: str = ""
    lanes: int = 0
    per_lane: tuple[int, ...] = ()
    words: tuple[int, ...] = ()
    sort: bool = False

    @property
    def family(self) -> str:
        """The first part of the opcode, such as "add"."""
        return self.name.split(".")[0].split(" ")[0]

    @property
    def entry(self) -> str:
        """The name of the kernel."""
        return "k_" + re.sub(r"\W+", "_", self.name)

    @property
    def threads(self) -> int:
        return self.lanes or (64 if len(self.ins) < 2 else 128)

    def source(self) -> str:
        """CUDA source of the kernel. Its parameters are the input arrays, then the output arrays."""
        holders = [HOLDERS[kind.split(":")[0]] for kind in (*self.outs, *self.ins)]
        outs, ins = holders[: len(self.outs)], holders[len(self.outs) :]
        parameters = [f"const {h[0]}* x{n}" for n, h in enumerate(ins)] + [f"{h[0]}* y{n}" for n, h in enumerate(outs)]
        body = self.body
        if not body:
            made = " ".join(f"{VARIABLE[h[1]]} r{n};" for n, h in enumerate(outs))
            results = ", ".join(f'"={h[1]}"(r{n})' for n, h in enumerate(outs))
            operands = ", ".join(f'"{h[1]}"({h[2].format(f"x{n}[i]")})' for n, h in enumerate(ins))
            stores = " ".join(f"y{n}[i] = {h[3].format(f'r{n}')};" for n, h in enumerate(outs))
            body = f'{made}\n  asm volatile("{self.text}" : {results} : {operands});\n  {stores}'
        return (
            f'extern "C" __global__ void __launch_bounds__(32) {self.entry}({", ".join(parameters)}) {{\n'
            "  const unsigned lane = threadIdx.x, i = blockIdx.x * 32 + lane;\n"
            f"  {body}\n}}\n"
        )

    def arrays(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """(inputs, outputs filled with bytes 0xA5), with the numbers of elements that `words` and `per_lane` give."""
        ins = []
        for n, kind in enumerate(self.ins):
            count = self.words[n] if self.words else self.threads
            dtype = DTYPES[HOLDERS[kind.split(":")[0]][0]]
            ins.append(np.ascontiguousarray(values(kind, n, len(self.ins), count).astype(dtype)))
        cancel(self, ins)
        outs = []
        for n, kind in enumerate(self.outs):
            dtype = np.dtype(DTYPES[HOLDERS[kind][0]])
            count = self.threads * (self.per_lane[n] if self.per_lane else 1)
            outs.append(np.full(count * dtype.itemsize, 0xA5, np.uint8).view(dtype))
        return ins, outs

    def digest(self) -> str:
        """A hash of the source and the inputs, 12 hexadecimal digits."""
        digest = hashlib.sha256(self.source().encode())
        for array in self.arrays()[0]:
            digest.update(array.tobytes())
        return digest.hexdigest()[:12]


def written(name: str, body: str, ins: tuple[str, ...], outs: tuple[str, ...], **more) -> Case:
    """A case with CUDA statements in place of PTX, by default for one warp. more: as for `Case`."""
    return Case(name, "", ins, outs, **{"body": body, "lanes": 32, **more})


def registers(first: int, count: int) -> str:
    """The operands of inline PTX from number `first` on, as a vector."""
    return "{" + ", ".join(f"%{first + n}" for n in range(count)) + "}"


def cancel(case: Case, ins: list[np.ndarray]) -> None:
    """For a floating-point fma, set c = -(a · b), rounded, in the last 16 elements of `ins`, in place.

    The result is then the rounding error of the product, so a simulator that rounds the product gives another result.
    """
    kinds = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "f16x2": np.float16}
    if case.family != "fma" or len(ins) != 3 or case.ins[0] not in kinds:
        return
    a, b, c = (array.view(kinds[case.ins[0]]) for array in ins)
    with np.errstate(all="ignore"):
        c[-16:] = -(a[-16:] * b[-16:])


def fields(kind: str, words: np.ndarray) -> np.ndarray:
    """Words as the numbers that they store: bf16 as float32, packed pairs as two numbers, integers unchanged."""
    if kind in ("f16", "f16x2"):
        return words.view(np.float16)
    if kind in ("bf16", "bf16x2"):
        return (words.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    return words.view({"f32": np.float32, "f64": np.float64}.get(kind, words.dtype))


def agree(case: Case, got: Iterable[np.ndarray], wanted: Iterable[np.ndarray]) -> list[np.ndarray]:
    """For each output of a case, a Boolean array that says which numbers agree, within the case's tolerance."""
    verdicts = []
    for kind, mine, theirs in zip(case.outs, got, wanted, strict=True):
        if case.sort:
            mine, theirs = (np.sort(words.reshape(-1, 32)).reshape(-1) for words in (mine, theirs))
        a, b = fields(kind, mine), fields(kind, theirs)
        if a.dtype.kind != "f":
            verdicts.append(a == b)
            continue
        bits = f"u{a.dtype.itemsize}"
        same = a.view(bits) == b.view(bits)
        if case.tolerance is not None:
            relative, absolute = case.tolerance
            with np.errstate(all="ignore"):
                wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
                near = np.abs(wide_a - wide_b) <= absolute + relative * np.abs(wide_b)
            same |= near & np.isfinite(a) & np.isfinite(b)
        verdicts.append(same)
    return verdicts
