"""The operands of tcgen05.mma: decodes descriptors (cached), and gathers numbers from shared or tensor memory."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_simulator.arithmetic.fragment_products import elements
from gpu_simulator.hardware.instruction_descriptor import InstructionDescriptor, decode, problem
from gpu_simulator.hardware.matrix_descriptor import DescriptorError, chunk_addresses, inside_pattern
from gpu_simulator.hardware.matrix_descriptor import problem as tile_problem
from gpu_simulator.hardware.matrix_descriptor_sm100 import decode_sm100
from gpu_simulator.hardware.tensor_memory_layout import Piece, pieces


@lru_cache(maxsize=256)
def instruction(word: int, kind: str, group: int, ws: bool, inside: bool = False) -> InstructionDescriptor:
    """A decoded instruction descriptor. Raises `DescriptorError` if it is invalid. inside: A is in tensor memory."""
    found = decode(word, kind)
    if why := problem(found, group, ws, inside):
        raise DescriptorError(f"The instruction descriptor {word:#010x} is refused: {why}.")
    known = ("f16", "bf16", "f32", "tf32", "e4m3", "e5m2", "u8", "s8", "s32")
    if strange := next((name for name in (found.a, found.b, found.d) if name not in known), None):
        raise DescriptorError(f"Elements of type {strange} are not supported; {', '.join(known)} are.")
    return found


@lru_cache(maxsize=4096)
def chunks(word: int, major: str, rows: int, columns: int, size: int, shared_bytes: int) -> np.ndarray:
    """Positions of the 16-byte chunks of an operand in shared memory, in units of 16 bytes, as `chunk_addresses`.

    word: matrix descriptor.   size: bytes of an element. Raises `DescriptorError` if the descriptor is invalid.
    """
    tile = decode_sm100(word, major)
    if why := inside_pattern(tile) or tile_problem(tile, rows, columns, size, shared_bytes):
        raise DescriptorError(f"The descriptor {word:#018x} is refused: {why}.")
    return chunk_addresses(tile, rows, columns, size) >> 4


@lru_cache(maxsize=256)
def places(m: int, n: int, group: int, ws: bool, first: int) -> tuple[tuple[Piece, object, np.ndarray], ...]:
    """(piece, its lanes as an index, groups of 16 lanes) of the part of D in one block. first: lane of the address."""
    found = []
    for piece in pieces(m, n, group, ws):
        lanes = np.array(piece.lanes) + first
        dense = len(lanes) == lanes[-1] - lanes[0] + 1
        index = slice(int(lanes[0]), int(lanes[-1]) + 1) if dense else lanes[:, None]
        found.append((piece, index, np.unique(lanes >> 4)))
    return tuple(found)


def fits(m: int, group: int, ws: bool, first: int) -> bool:
    """Whether D may begin at lane `first`: at 0, or at 16 if D has only half of the lanes of each quarter."""
    return first == 0 or (first == 16 and m == 64 and group == 1 and not ws)


def numbers(words: np.ndarray, kind: str) -> np.ndarray:
    """Elements along the last axis of words of any width, as float32 (int32 for 8-bit integers)."""
    return elements(words, kind).astype(np.int32 if kind in ("s8", "u8") else np.float32, copy=False)


def from_shared(view16: np.ndarray, index: np.ndarray, major: str, kind: str) -> np.ndarray:
    """(rows, k) numbers of an operand. view16: shared memory in units of 16 bytes.   index: from `chunks`."""
    found = numbers(view16[index], kind)
    return found if major == "k" else found.T


def from_tensor_memory(cells: np.ndarray, lanes, column: int, k: int, size: int, kind: str) -> np.ndarray:
    """(rows, k) numbers of A, whose elements are packed along k, several in a cell of 32 bits."""
    wide = k * size // 4
    block = (
        cells[lanes, column : column + wide]
        if isinstance(lanes, slice)
        else (cells[lanes, np.arange(column, column + wide)])
    )
    return numbers(np.ascontiguousarray(block), kind)
