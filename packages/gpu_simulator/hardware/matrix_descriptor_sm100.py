"""The 64-bit descriptor of an operand of tcgen05.mma in shared memory.

| bits    | field                                                                             |
|---------|-----------------------------------------------------------------------------------|
| 0 … 13  | start address / 16                                                                |
| 16 … 29 | leading byte offset / 16                                                          |
| 32 … 45 | stride byte offset / 16                                                           |
| 46 … 48 | 0b001, where wgmma has 0                                                          |
| 49 … 51 | base offset                                                                       |
| 52      | 1 where the leading offset is an absolute address (sm_103a)                       |
| 61 … 63 | swizzle: 0 none, 2 128 bytes, 4 64, 6 32; 1 is 128 bytes in chunks of 32 for TF32 |

All other bits are 0. Source: PTX ISA, "tcgen05: Shared Memory Descriptor".
"""

from __future__ import annotations

from gpu_simulator.hardware.matrix_descriptor import DescriptorError, SharedTile, common_fields, common_tile

VERSION = 0b001
SWIZZLES = {0: 0, 2: 128, 4: 64, 6: 32}
CODES = {width: code for code, width in SWIZZLES.items()}
_UNUSED = 0b11 << 14 | 0b11 << 30 | 0xFF << 53


def encode_sm100(tile: SharedTile) -> int:
    """The descriptor of tcgen05.mma. Raises `DescriptorError` if a value does not fit its field."""
    return common_fields(tile) | VERSION << 46 | CODES[tile.swizzle] << 61


def decode_sm100(word: int, major: str = "k") -> SharedTile:
    """The tile that a descriptor describes; `major` comes from the instruction descriptor.

    Raises `DescriptorError` for values that the format does not have.
    """
    if word & _UNUSED:
        raise DescriptorError(
            f"The descriptor {word:#018x} has bits set that the format leaves 0 "
            f"({word & _UNUSED:#018x}): each field holds (x & 0x3FFFF) >> 4 at bit 0, 16 or 32."
        )
    version = word >> 46 & 0b111
    if version != VERSION:
        hint = "" if version else " without it this is a descriptor of wgmma, whose swizzle stands at bit 62;"
        raise DescriptorError(
            f"The descriptor {word:#018x} has {version:#05b} at bits 46 to 48, where tcgen05 has the "
            f"constant 0b001:{hint} set bit 46."
        )
    if word >> 52 & 1:
        raise DescriptorError(
            f"The descriptor {word:#018x} has bit 52 set, a leading offset that is an address: only sm_103a knows it."
        )
    code = word >> 61
    if code not in SWIZZLES:
        if code == 1:
            raise DescriptorError(
                "The swizzle 1 (128 bytes in chunks of 32) is for TF32 operands that are not "
                "K-major; 2 is the 128-byte swizzle of TMA."
            )
        raise DescriptorError(
            f"The descriptor {word:#018x} names the swizzle {code} at bits 61 to 63, which does not "
            "exist: 0 none, 2 128 bytes, 4 64 bytes, 6 32 bytes."
        )
    return common_tile(word, SWIZZLES[code], major)
