"""The 32-bit instruction descriptor of tcgen05.mma: sizes, types, and whether the tiles are K-major or MN-major.

| bits    | field                                  | bits    | field                                    |
|---------|----------------------------------------|---------|------------------------------------------|
| 0, 1    | sparsity selector                      | 13, 14  | negate A, negate B                       |
| 2       | sparse A                               | 15, 16  | A, B "transposed": MN-major, not K-major |
| 3       | saturate (integers)                    | 17 … 22 | N / 8                                    |
| 4, 5    | type of D                              | 24 … 28 | M / 16                                   |
| 7 … 9   | type of A                              | 30, 31  | largest shift of B in .ws                |
| 10 … 12 | type of B                              | 6, 23, 29 | 0                                      |

Source: PTX ISA, "tcgen05: Instruction Descriptor", "Matrix Shape", "Transpose and Negate operations". The rule for N
with A in tensor memory is not given there; it is that of CUTLASS (cute/arch/mma_sm100_umma.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gpu_simulator.hardware.matrix_descriptor import DescriptorError


class OperandTypes(NamedTuple):
    """The types and sizes of a kind of tcgen05.mma.

    operands, results: the types of A and B, and of D, by their codes.   size: bytes of an element of A and B.
    k: elements along K that one instruction multiplies.
    """

    operands: dict[int, str]
    results: dict[int, str]
    size: int
    k: int


KINDS = {
    "f16": OperandTypes({0: "f16", 1: "bf16"}, {0: "f16", 1: "f32"}, 2, 16),
    "tf32": OperandTypes({2: "tf32"}, {1: "f32"}, 4, 8),
    "f8f6f4": OperandTypes({0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}, {0: "f16", 1: "f32"}, 1, 32),
    "i8": OperandTypes({0: "u8", 1: "s8"}, {2: "s32"}, 1, 32),
}
_RESERVED = 1 << 6 | 1 << 23 | 1 << 29


@dataclass(frozen=True)
class InstructionDescriptor:
    """The fields of the descriptor.

    m, n: rows of A, rows of B (columns of D); for cta_group::2, those of both blocks together.
    a, b, d: types such as "bf16" and "f32".   a_major, b_major: "k" or "mn".
    """

    m: int
    n: int
    a: str = "bf16"
    b: str = "bf16"
    d: str = "f32"
    a_major: str = "k"
    b_major: str = "k"
    negate_a: bool = False
    negate_b: bool = False
    kind: str = "f16"

    @property
    def k(self) -> int:
        """The depth of the product, in elements."""
        return KINDS[self.kind].k

    @property
    def element_bytes(self) -> int:
        """The size of an element of A and B."""
        return KINDS[self.kind].size

    def encode(self) -> int:
        """The 32 bits. Raises `DescriptorError` if a value does not fit its field."""
        kind = KINDS[self.kind]
        if self.m % 16 or not 0 < self.m <= 496 or self.n % 8 or not 0 < self.n <= 504:
            raise DescriptorError(f"M = {self.m} and N = {self.n} do not fit: M / 16 has 5 bits, N / 8 has 6.")
        word = self.n // 8 << 17 | self.m // 16 << 24
        for name, table, at in ((self.d, kind.results, 4), (self.a, kind.operands, 7), (self.b, kind.operands, 10)):
            code = next((code for code, known in table.items() if known == name), None)
            if code is None:
                raise DescriptorError(f"kind::{self.kind} knows no {name} there, but {', '.join(table.values())}.")
            word |= code << at
        return (
            word
            | self.negate_a << 13
            | self.negate_b << 14
            | (self.a_major == "mn") << 15
            | (self.b_major == "mn") << 16
        )


def decode(word: int, kind: str = "f16") -> InstructionDescriptor:
    """What the 32 bits mean to tcgen05.mma.kind. Raises `DescriptorError` for values that the format does not have."""
    known = KINDS[kind]
    if word & _RESERVED:
        raise DescriptorError(
            f"The instruction descriptor {word:#010x} has reserved bits set "
            f"({word & _RESERVED:#010x}): N / 8 stands at bit 17, M / 16 at bit 24."
        )
    if word & 0b111:
        raise DescriptorError(
            f"The instruction descriptor {word:#010x} asks for a sparse A (bits 0 to 2), which is for tcgen05.mma.sp."
        )
    if word >> 3 & 1:
        raise DescriptorError("Bit 3 of the instruction descriptor, saturation, is not known here.")
    types = []
    for name, table, code in (
        ("D", known.results, word >> 4 & 0b11),
        ("A", known.operands, word >> 7 & 0b111),
        ("B", known.operands, word >> 10 & 0b111),
    ):
        if code not in table:
            listed = ", ".join(f"{number} for {kind_}" for number, kind_ in table.items())
            raise DescriptorError(
                f"The instruction descriptor {word:#010x} gives {name} the type {code}; kind::{kind} knows {listed}."
            )
        types.append(table[code])
    d, a, b = types
    m, n = (word >> 24 & 0b11111) * 16, (word >> 17 & 0b111111) * 8
    major_a, major_b = ("mn" if word >> at & 1 else "k" for at in (15, 16))
    return InstructionDescriptor(m, n, a, b, d, major_a, major_b, bool(word >> 13 & 1), bool(word >> 14 & 1), kind)


def problem(d: InstructionDescriptor, cta_group: int = 1, ws: bool = False, inside: bool = False) -> str:
    """Why no tcgen05.mma of this group has these sizes and types, as a sentence; "" if there is one.

    ws: for the .ws form.   inside: A is in tensor memory.
    """
    where = f"tcgen05.mma{'.ws' if ws else ''}.cta_group::{cta_group}"
    rows = (32, 64, 128) if ws else (64, 128) if cta_group == 1 else (128, 256)
    if d.m not in rows:
        return f"M = {d.m} does not exist for {where}: M is {', '.join(map(str, rows[:-1]))} or {rows[-1]}"
    if ws and d.n not in (64, 128, 256):
        return f"N = {d.n} does not exist for {where}: N is 64, 128 or 256"
    step, why = _step(d, cta_group, inside)
    if not ws and (d.n % step or not step <= d.n <= 256):
        return f"N = {d.n} does not exist for {where} with {why}: N is a multiple of {step} from {step} to 256"
    if d.d == "f16" and d.kind == "f16" and (d.a, d.b) != ("f16", "f16"):
        return f"D in FP16 needs A and B in FP16, and they are {d.a} and {d.b}"
    if d.kind == "i8" and (d.negate_a or d.negate_b):
        return "integers cannot be negated (bits 13 and 14)"
    if d.kind in ("tf32",) and "mn" in (d.a_major, d.b_major):
        return "TF32 operands that are not K-major need the swizzle in chunks of 32 bytes, which is not known here"
    return ""


def _step(d: InstructionDescriptor, cta_group: int, inside: bool) -> tuple[int, str]:
    """The number of which N must be a multiple without .ws, and the reason."""
    least = 8 * cta_group
    if d.kind == "i8" and (cta_group == 2 or d.n > 32):
        return 2 * least, "integers" if cta_group == 2 else "integers and N above 32"
    if d.b_major == "mn" and d.element_bytes == 1:
        return 2 * least, "B of 8 bits along N"
    if inside and cta_group == 1 and d.m == 128:
        return 2 * least, "M = 128 and A in tensor memory"
    return least, f"M = {d.m}"
