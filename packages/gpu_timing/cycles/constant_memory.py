"""Constant memory as a kernel finds it: the shapes of the launch, the parameters, and literals of the compiler."""

from __future__ import annotations

import struct

SHARED_WINDOW = 0x7F00_0000_0000  # where generic addresses of shared memory begin, in this model
LOCAL_WINDOW = 0x7E00_0000_0000
PARAMETERS_AT = 0x7D00_0000_0000  # generic address of the kernel's parameters


def generation_of(arch: str) -> int:
    """The number of an architecture: 90 of "sm_90a"."""
    return int("".join(letter for letter in arch if letter.isdigit()))


def first_parameter(arch: str) -> int:
    """Where the kernel's parameters begin in constant bank 0."""
    generation = generation_of(arch)
    return 0x160 if generation < 90 else 0x210 if generation < 100 else 0x380


class ConstantMemory:
    """Words of constant memory: launch shapes and parameters in bank 0, literals in the other banks."""

    def __init__(
        self, cubin: bytes, entry: str, arch: str, grid: tuple[int, int, int], threads: int, parameters: bytes
    ) -> None:
        generation, first = generation_of(arch), first_parameter(arch)
        shapes, pointer = ((0x0, 0xC), 0x198) if generation < 100 else ((0x360, 0x370), 0x348)
        bank = bytearray(max(first + len(parameters), 0x400))
        bank[first : first + len(parameters)] = parameters
        struct.pack_into("<3I", bank, shapes[0], threads, 1, 1)
        struct.pack_into("<3I", bank, shapes[1], *grid)
        struct.pack_into("<Q", bank, 0x18, SHARED_WINDOW)
        struct.pack_into("<Q", bank, 0x20, LOCAL_WINDOW)
        if generation >= 90:
            struct.pack_into("<Q", bank, pointer, PARAMETERS_AT)
        self.banks = {0: bytes(bank), **_literals(cubin, entry)}
        launch = (*(range(start, start + 12) for start in shapes), range(first, first + len(parameters)))
        # A word at 0x140 says how sm_90 waits for a cluster; both ways take about as long, and 0 stands for it.
        self.known = (*launch, range(0x18, 0x30), range(pointer, pointer + 8), range(0x140, 0x144))

    def knows(self, bank: int, offset: int, register: str | None) -> bool:
        """Whether a word is what the kernel finds there: a shape of the launch, a window, a parameter, a literal."""
        inside = any(offset in words for words in self.known) if bank == 0 else offset < len(self.banks.get(bank, b""))
        return inside and register is None

    def __call__(self, bank: int, offset: int) -> int:
        words = self.banks.get(bank, b"")
        return struct.unpack_from("<I", words, offset)[0] if offset + 4 <= len(words) else 0


def _literals(cubin: bytes, entry: str) -> dict[int, bytes]:
    """The constant banks that the compiler filled, from the sections `.nv.constant<N>.<entry>` of the ELF file."""
    at, size, count, names = struct.unpack_from("<Q10xHHH", cubin, 40)
    headers = [struct.unpack_from("<IIQQQQ", cubin, at + i * size) for i in range(count)]
    text = headers[names][4]
    banks = {}
    for name, _, _, _, offset, length in headers:
        end = cubin.index(b"\0", text + name)
        label = cubin[text + name : end].decode()
        if label.startswith(".nv.constant") and label.endswith(entry) and label[12].isdigit():
            banks[int(label[12])] = cubin[offset : offset + length]
    banks.pop(0, None)
    return banks
