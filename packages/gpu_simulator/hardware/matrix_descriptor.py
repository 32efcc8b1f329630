"""Where the elements of a wgmma or tcgen05.mma operand lie in shared memory, and the matrix descriptor of wgmma.

    tile = SharedTile(start=0x400, leading_bytes=0, stride_bytes=1024, swizzle=128)      # rows of 128 bytes, K-major
    element_addresses(tile, rows=64, columns=16, element_bytes=2)                        # (64, 16) byte addresses

An operand is read in chunks of 16 bytes. If it is K-major, a chunk holds neighbours along K, and a line of chunks is a
row of A or a column of B. If it is MN-major, a chunk holds neighbours along M or N, and a line has one value of k. The
swizzle is an XOR on the absolute address; therefore a start that is moved by 32 bytes within a row of the pattern reads
the next 32 bytes of K.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout": "Strides", "Canonical Layouts", "Matrix
Descriptor Format".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.swizzle import CHUNK_BYTES, TMA_SWIZZLES

SWIZZLES = (0, 32, 64, 128)
MAJORS = ("k", "mn")
PATTERN_ROWS = 8  # number of rows, or values of k, after which a swizzle's pattern repeats
LINE_BITS = 7  # the swizzles read their source bits from address bit 7 on
_PERIOD = 1 << 10  # no swizzle depends on address bit 10 or higher


class DescriptorError(SimulatorError, ValueError):
    """A matrix descriptor that the hardware would refuse, or would understand differently."""


@dataclass(frozen=True)
class SharedTile:
    """An operand in shared memory, as its descriptor describes it.

    start: byte address of the first element, before the XOR.   swizzle: 0, 32, 64 or 128 bytes.
    major: "k" or "mn", the dimension along which neighbours are next to each other.
    base_offset: 0 to 7; number of 128-byte lines from a multiple of the pattern's size to the beginning of the pattern.

    leading_bytes (LBO) and stride_bytes (SBO) are distances in bytes:

    | major, swizzle | LBO                                       | SBO                       |
    |----------------|-------------------------------------------|---------------------------|
    | k, none        | to the next 16 bytes along K              | to the next 8 rows        |
    | k, swizzled    | not used                                  | to the next 8 rows        |
    | mn, none       | to the next 8 values of k                 | to the next 16 bytes of M or N |
    | mn, swizzled   | to the next `swizzle` bytes of M or N     | to the next 8 values of k |
    """

    start: int
    leading_bytes: int
    stride_bytes: int
    swizzle: int = 0
    major: str = "k"
    base_offset: int = 0

    def __post_init__(self) -> None:
        if self.swizzle not in SWIZZLES:
            raise DescriptorError(f"There is no {self.swizzle}-byte swizzle; there are 32, 64 and 128, and 0 for none.")
        if self.major not in MAJORS:
            raise DescriptorError(f'An operand is "k"-major or "mn"-major, not {self.major!r}.')

    @property
    def pattern_bytes(self) -> int:
        """The size of the swizzle's pattern in bytes. The pattern begins at multiples of this size."""
        return PATTERN_ROWS * max(self.swizzle, CHUNK_BYTES)


def chunk_addresses(tile: SharedTile, rows: int, columns: int, element_bytes: int) -> np.ndarray:
    """Byte address of each 16-byte chunk of an operand of `rows` (M or N) × `columns` (K).

    Shape (rows, columns · element_bytes / 16) for K-major tiles, (columns, rows · element_bytes / 16) for MN-major.
    Raises `DescriptorError` if a line is not a whole number of chunks.
    """
    base = tile.start // _PERIOD * _PERIOD
    return base + _chunks(replace(tile, start=tile.start - base), rows, columns, element_bytes)


@lru_cache(maxsize=512)
def _chunks(tile: SharedTile, rows: int, columns: int, element_bytes: int) -> np.ndarray:
    lines, across = (rows, columns) if tile.major == "k" else (columns, rows)
    if across * element_bytes % CHUNK_BYTES:
        raise DescriptorError(f"{across} elements of {element_bytes} bytes are no whole chunks of 16 bytes.")
    line, chunk = np.ix_(range(lines), range(across * element_bytes // CHUNK_BYTES))
    group, within = np.divmod(line, PATTERN_ROWS)
    if tile.swizzle == 0:
        to_group, to_chunk = tile.stride_bytes, tile.leading_bytes
        if tile.major == "mn":
            to_group, to_chunk = to_chunk, to_group
        plain = tile.start + within * CHUNK_BYTES + group * to_group + chunk * to_chunk
    elif tile.major == "k":
        plain = tile.start + within * tile.swizzle + group * tile.stride_bytes + chunk * CHUNK_BYTES
    else:
        block, inside = np.divmod(chunk, tile.swizzle // CHUNK_BYTES)
        plain = (
            tile.start
            + within * tile.swizzle
            + group * tile.stride_bytes
            + block * tile.leading_bytes
            + inside * CHUNK_BYTES
        )
    out = _swizzled(plain, tile)
    out.setflags(write=False)
    return out


def _swizzled(address: np.ndarray, tile: SharedTile) -> np.ndarray:
    if not tile.swizzle:
        return address
    shift = tile.base_offset << LINE_BITS  # the lines of the pattern are counted from here
    return address ^ (TMA_SWIZZLES[tile.swizzle](address - shift) ^ (address - shift))


def element_addresses(tile: SharedTile, rows: int, columns: int, element_bytes: int) -> np.ndarray:
    """Byte address of every element of an operand: int64 (rows, columns); rows along M or N, columns along K."""
    each = CHUNK_BYTES // element_bytes
    chunks = chunk_addresses(tile, rows, columns, element_bytes)
    lines = (chunks[..., None] + np.arange(each) * element_bytes).reshape(len(chunks), -1)
    return lines if tile.major == "k" else lines.T


def inside_pattern(tile: SharedTile) -> str:
    """Why a tile that begins within the pattern of its swizzle needs a base offset, as a sentence; "" if it does not.

    PTX ISA, "Matrix descriptor", asks for the base offset of such tiles. An H200 does without: TMA and wgmma take the
    XOR from absolute addresses (results/profiles/h200/rules.json, wgmma_at_a_multiple_of_128). So this rule holds for
    tcgen05 alone, of which nothing was measured.
    """
    width = tile.swizzle
    if not width or tile.start % tile.pattern_bytes < width or tile.base_offset:
        return ""
    return (
        f"the start address {tile.start:#x} lies in row {tile.start % tile.pattern_bytes // width} of the pattern of "
        f"the {width}-byte swizzle, which begins at multiples of {tile.pattern_bytes:,}: align the buffer to "
        f"{tile.pattern_bytes:,} bytes, or set the base offset"
    )


def problem(tile: SharedTile, rows: int, columns: int, element_bytes: int, shared_bytes: int) -> str:
    """Why an instruction cannot read this operand as it is meant, as a sentence; "" if it can.

    shared_bytes: size of the block's shared memory.
    """
    width = tile.swizzle
    along, name = (columns, "K") if tile.major == "k" else (rows, "M or N")
    taken = min(along * element_bytes, width)
    if width and tile.start % width + taken > width:
        return (
            f"from the start address {tile.start:#x} the {taken} bytes of {name} that it reads leave the "
            f"{width}-byte row of the swizzle: a start may move along {name} by multiples of {taken} bytes"
        )
    span, name = _span_of_8(tile), "leading" if _swaps(tile) else "stride"
    step = tile.leading_bytes if _swaps(tile) else tile.stride_bytes
    lines = rows if tile.major == "k" else columns
    if lines > PATTERN_ROWS and 0 < step < span:
        what = "rows" if tile.major == "k" else "values of k"
        return (
            f"the {name} byte offset of {step:,} is less than the {span:,} bytes that 8 {what} take, so that they "
            f"overlap; {span:,} is what dense ones have, and the field holds it divided by 16, once"
        )
    reach = chunk_addresses(tile, rows, columns, element_bytes)
    if reach.max() + CHUNK_BYTES > shared_bytes:
        return (
            f"it reads up to shared address {int(reach.max()) + CHUNK_BYTES:,}, and the block has {shared_bytes:,} "
            f"bytes of shared memory: start {tile.start:#x}, leading byte offset {tile.leading_bytes:,}, stride "
            f"byte offset {tile.stride_bytes:,}"
        )
    return ""


def _swaps(tile: SharedTile) -> bool:
    """Whether the leading offset, and not the stride offset, is the distance to the next 8 lines."""
    return tile.major == "mn" and not tile.swizzle


def _span_of_8(tile: SharedTile) -> int:
    return PATTERN_ROWS * (tile.swizzle or CHUNK_BYTES)


# ---- The 64 bits of sm_90 ----

_FIELD = (1 << 14) - 1
_SM90_SWIZZLES = (0, 128, 64, 32)
_SM90_UNUSED = 0b11 << 14 | 0b11 << 30 | 0b111 << 46 | 0x3FF << 52


def common_fields(tile: SharedTile) -> int:
    """Bits 0 to 51, which wgmma and tcgen05 share but for a constant: start, leading and stride offset, base offset.

    Raises `DescriptorError` if a value does not fit its field.
    """
    word = tile.base_offset << 49
    for name, value, at in (
        ("start address", tile.start, 0),
        ("leading byte offset", tile.leading_bytes, 16),
        ("stride byte offset", tile.stride_bytes, 32),
    ):
        if value % CHUNK_BYTES or not 0 <= value >> 4 <= _FIELD:
            raise DescriptorError(
                f"The {name} of a descriptor is a multiple of 16 below {(_FIELD + 1) * 16:,}, not {value:,}."
            )
        word |= value >> 4 << at
    if not 0 <= tile.base_offset < 8:
        raise DescriptorError(f"The base offset of a descriptor is 0 to 7, not {tile.base_offset}.")
    return word


def common_tile(word: int, swizzle: int, major: str) -> SharedTile:
    """The tile of a word with `common_fields`."""
    start, leading, stride = ((word >> at & _FIELD) << 4 for at in (0, 16, 32))
    return SharedTile(start, leading, stride, swizzle, major, word >> 49 & 0b111)


def encode_sm90(tile: SharedTile) -> int:
    """The descriptor of wgmma. Raises `DescriptorError` if a value does not fit its field."""
    return common_fields(tile) | _SM90_SWIZZLES.index(tile.swizzle) << 62


def decode_sm90(word: int, major: str = "k") -> SharedTile:
    """The tile that a descriptor of wgmma describes; `major` comes from the instruction.

    Raises `DescriptorError` if bits are set that the format does not use.
    """
    if word & _SM90_UNUSED:
        hint = " Bits 46 to 48 belong to the descriptors of tcgen05." if word >> 46 & 0b111 else ""
        raise DescriptorError(
            f"The descriptor {word:#018x} has bits set that the format of wgmma leaves 0 "
            f"({word & _SM90_UNUSED:#018x}): each field holds (x & 0x3FFFF) >> 4 at bit 0, 16 or 32, "
            f"the base offset stands at bit 49, the swizzle at bit 62.{hint}"
        )
    return common_tile(word, _SM90_SWIZZLES[word >> 62], major)
