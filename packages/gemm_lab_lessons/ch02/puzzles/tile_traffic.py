"""What the puzzles about tiles ask of a function: a right product, moved with no more traffic than its loops take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gemm_lab.notebook.puzzle import Facts
from gemm_lab.notebook.trying import Missed, NotWritten, call
from gemm_lab_lessons.ch02.counted_matrix import Product
from gemm_lab_lessons.ch02.loop_orders import Cache
from gemm_lab_lessons.shared.tiled_matmul import Traffic

Function = Callable[..., Any]
SIZE, BLOCK, WARP, THREAD = (16, 32, 8), (8, 16, 4), (4, 8, 2), (2, 4)  # those of the cards and of the pictures

# What the field of a traffic counts, and what to think about if there is too much of it.
WORDS = {
    "dram_c_read": ("elements of D were read from DRAM", "Let the sums grow in Python's variables, not in D."),
    "dram_c_write": ("elements of D were stored to DRAM", "Store each sum once, when it is complete."),
    "dram_a": ("elements of A were read from DRAM", ""),
    "dram_b": ("elements of B were read from DRAM", ""),
    "shared_a": ("elements of A's tiles were read from shared memory", ""),
    "shared_b": ("elements of B's tiles were read from shared memory", ""),
    "register_a": ("elements of A were loaded into registers", ""),
    "register_b": ("elements of B were loaded into registers", ""),
}


def multiplied(function: Function, size: tuple[int, int, int], *args: Any, cache: Cache | None = None) -> Product:
    """Let the function multiply matrices of this size.

    Raises `Missed` unless D is right, and `NotWritten` if nothing of A and B was read.
    """
    product = Product(*size, seed=sum(size), cache=cache)
    call(function, *product.matrices, *args)
    if not any(count for field, count in product.ledger.counts.items() if not field.startswith("dram_c")):
        raise NotWritten
    if product.wrong:
        raise Missed(product.wrong)
    return product


def require(
    product: Product, wanted: Traffic, most: tuple[str, ...] = (), tips: Mapping[str, str] | None = None
) -> None:
    """Raise `Missed` if the traffic differs from `wanted`; of the memories in `most`, less is right too.

    tips: by memory ("dram", "shared", "register"), what to think about if more was moved than wanted.
    """
    for field, (words, why) in WORDS.items():
        mine, right = product.ledger.counts[field], getattr(wanted, field)
        memory = field.split("_")[0]
        if mine == right or (mine < right and memory in most):
            continue
        m, n, k = product.size
        said = f"The product is right. But for {m} × {n} with k = {k}, {mine:,} {words}, and "
        if mine > right:
            raise Missed(f"{said}{right:,} are enough. {why or (tips or {}).get(memory, '')}".strip())
        raise Missed(f"{said}these loops take {right:,}. Is a tile larger than it was asked to be?")


def counters(product: Product) -> Facts:
    """The four counters of a card."""
    names = ("DRAM", "shared memory", "registers", "multiply-adds")
    return [(name, f"{value:,}") for name, value in zip(names, product.ledger.counters, strict=True)]
