"""Explains why a one-warp kernel is wrong, by comparing the registers at its mma with the layout of mma.sync.

The kernel runs on the simulator with inputs whose values encode their positions in A and B, and the registers are read
at each mma. This only explains wrong results; a kernel with a right result may use any layout.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np

from gemm_lab.lab.on_simulator import launch
from gemm_lab.notebook.judges.cuda_tokens import normalised, tokens
from gpu_simulator.hardware.mma_layouts import Mma

SHAPE = re.compile(r"mma\.sync\.aligned\.(m\d+n\d+k\d+)\.")
NOTHING = (-1, -1, -1)
ORDINALS = ("first", "second", "third", "fourth")


def coded_inputs(m: int, n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """FP16 A (m, k) with the values 1, 2, 3 … and B (k, n) with -1, -2, -3 …, each of which encodes its position.

    0 is not used, so it encodes no position.
    """
    a = 1 + np.arange(m * k).reshape(m, k)
    b = -1 - np.arange(k * n).reshape(k, n)
    return a.astype(np.float16), b.astype(np.float16)


def decoded(registers: np.ndarray, k: int, n: int) -> np.ndarray:
    """The positions (matrix, row, column) that the two FP16 halves of uint32 registers encode.

    The matrix is 0 for A, 1 for B, and -1 for neither. The result has the shape of `registers` and two more axes, of
    lengths 2 and 3. k and n are the row lengths of A and B.
    """
    value = registers[..., None].copy().view(np.float16).astype(np.float64)
    whole = np.where(np.isfinite(value) & (value == np.round(value)), value, 0).astype(int)
    place, width = np.abs(whole) - 1, np.where(whole > 0, k, n)
    found = np.stack([np.where(whole > 0, 0, 1), place // width, place % width], axis=-1)
    return np.where((whole == 0)[..., None], NOTHING, found)


def fragments_held(kernel: Any) -> tuple[str, np.ndarray, np.ndarray]:
    """(shape, A, B): the operands of all mma that the first warp executes for one k tile, in program order.

    shape: such as "m16n8k16". A and B are arrays of shape (mma, 32 lanes, registers, 2 halves, 3); for the last axis
    see `decoded`. If no mma is executed, the shape is "" and the arrays are empty.
    """
    m, n, k = kernel.spec.size_multiples(kernel.config).values()
    a, b = coded_inputs(m, n, k)
    compiled = kernel.compile_as_taught()
    _, report = launch(compiled, (1, 1, 1), [a, b, np.zeros((m, n), np.float32), m, n, k], max_instructions=100_000)
    sites = [site for site in report.sites if site.executions and SHAPE.match(site.opcode)]
    text, found = compiled.ptx.split("\n"), {"A": [], "B": []}
    for site in sites:
        state = report.inspect(site)
        groups = re.findall(r"\{([^}]*)\}", text[site.ptx_line - 1])
        for operand, names in zip("AB", groups[1:3], strict=True):
            registers = [state.registers[name.strip()] for name in names.split(",")]
            found[operand].append(decoded(np.stack(registers, axis=1).astype(np.uint32), k, n))
    return (SHAPE.match(sites[0].opcode)[1] if sites else ""), np.array(found["A"]), np.array(found["B"])


def explain_fragments(kernel: Any) -> list[str]:
    """Sentences that say what is wrong with a kernel's fragments: the first error for each of A and B."""
    shape, a, b = fragments_held(kernel)
    k_tile = kernel.config["BLOCK_K"]
    if not shape:
        return ["No mma was executed."]
    mma = Mma(shape, "f16")
    each = mma.mnk[2]
    if len(a) * each != k_tile:
        return [f"The warp executes {len(a)} mma of k = {each} for a tile of k = {k_tile}; it takes {k_tile // each}."]
    reasons = [
        reason
        for operand, held in (("A", a), ("B", b))
        if (reason := compare(operand, held, mma, _names(kernel, operand, held)))
    ]
    return reasons or ["Every register holds what mma wants. Look at what is added: C goes in, D comes out."]


def _names(kernel: Any, operand: str, held: np.ndarray) -> list[str]:
    """The names of a matrix's registers in all mma, as the learner's text has them.

    If the text has the mma itself, these are the operands of its asm statements, such as "%4 of the first mma";
    otherwise the text fills arrays, such as frag_a[0].
    """
    mmas, registers = held.shape[0], held.shape[2]
    statements = [found for edit in kernel.edits.values() for found in _mma_operands(edit.text)]
    if not statements:
        return [f"frag_{operand.lower()}[{number}]" for number in range(mmas * registers)]
    names = []
    for number in range(mmas):
        written = statements[min(number, len(statements) - 1)].get(operand, [])
        written = written if len(written) == registers else [f"register {r} of {operand}" for r in range(registers)]
        which = ORDINALS[number] if number < len(ORDINALS) else f"{number + 1}th"
        names += [f"{name} of the {which} mma" for name in written]
    return names


def _mma_operands(text: str) -> list[dict[str, list[str]]]:
    """The operands of A and B, such as ["%4", "%5"], of each asm statement in the text whose instruction is an mma."""
    code = [token for token in tokens(normalised(text)) if not token.blank]
    found = []
    for place, token in enumerate(code):
        if token.text not in ("asm", "__asm__", "__asm"):
            continue
        strings = itertools.takewhile(lambda other: other.mark != ":", code[place:])
        ptx = "".join(other.text.strip('"') for other in strings if other.kind == "string")
        if SHAPE.search(ptx):
            groups = [[name.strip() for name in group.split(",")] for group in re.findall(r"\{([^}]*)\}", ptx)]
            found.append(dict(zip("DABC", groups, strict=False)))
    return found


def compare(operand: str, held: np.ndarray, mma: Mma, names: Sequence[str]) -> str:
    """A text about the first wrong register of an operand's fragments; "" if all are right.

    operand: "A" or "B". held: its array from `fragments_held`. names: those of its registers in all mma, in order.
    """
    wanted = np.stack([_wanted(operand, mma, number) for number in range(len(held))])
    held, wanted = (np.concatenate(list(part), axis=1) for part in (held, wanted))  # the registers of all mma in order
    wrong = (held != wanted).any(axis=(2, 3))
    if not wrong.any():
        return ""
    lane, register = np.argwhere(wrong)[0]
    place = (
        f"Lane {lane} holds {_places(held[lane, register])} in {names[register]}, and mma wants "
        f"{_places(wanted[lane, register])} there"
    )
    count = f"{int(wrong.sum())} of {wrong.size} registers of {operand} are wrong"
    return f"{place}; {count}. {_pattern(operand, names, held, wanted)}".rstrip()


def _wanted(operand: str, mma: Mma, number: int) -> np.ndarray:
    """The positions that the mma of this number needs, of shape (32, registers, 2, 3).

    Each mma continues along k where the one before ended.
    """
    places = mma.coordinates(operand).copy()
    places[..., 1 if operand == "A" else 0] += number * mma.mnk[2]
    return np.concatenate([np.full((*places.shape[:3], 1), "AB".index(operand)), places], axis=-1)


def _pattern(operand: str, names: Sequence[str], held: np.ndarray, wanted: np.ndarray) -> str:
    """A sentence about the cause, if it is one of the usual mistakes; else ""."""
    if (_transposed(wanted) == held).all():
        return f"Every 8 × 8 matrix of {operand} arrives transposed: rows were handed out where mma wants columns."
    if (wanted[:, :, ::-1] == held).all():
        return "The two halves of each register are exchanged: the one with the lower k goes into the lower 16 bits."
    count = held.shape[1]
    for order in permutations(range(count)):
        if order != tuple(range(count)) and (wanted[:, order] == held).all():
            moved = [register for register in range(count) if order[register] != register]
            return f"The right elements lie in the wrong registers: {', '.join(names[r] for r in moved)}."
    if (held == wanted[:, :1]).all() and count > 1:
        array = names[0].partition("[")[0] if names[0].startswith("frag_") else operand
        return f"All registers of {array} hold the same elements."
    if (held == NOTHING).all(axis=(2, 3)).any():
        return "A register that holds nothing of the tile was never loaded."
    return ""


def _transposed(wanted: np.ndarray) -> np.ndarray:
    """The same positions, with row and column exchanged within each 8 × 8 matrix."""
    matrix, row, column = np.moveaxis(wanted, -1, 0)
    return np.stack([matrix, row // 8 * 8 + column % 8, column // 8 * 8 + row % 8], axis=-1)


def _places(halves: np.ndarray) -> str:
    said = ["nothing of A or B" if matrix < 0 else f"{'AB'[matrix]}[{row}, {column}]" for matrix, row, column in halves]
    return " and ".join(dict.fromkeys(said))
