"""The instruction mix of a Kernel: its machine code by class, with inner loops counted as often as they run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from gemm_lab.lab.actions.inner_loops import trips
from gemm_lab.lab.launchable import Launchable
from gemm_results.cards.instruction_mix import InstructionMix
from gpu_simulator import compiler
from gpu_timing.machine_code.instruction_classes import by_class
from gpu_timing.machine_code.main_loop import main_loop, opcodes


def instruction_mix(kernel: Launchable, arch: str | None = None) -> InstructionMix:
    """The instruction mix of a kernel for `arch` (default: as in `Kernel.compile`)."""
    compiled = kernel.compile(arch)
    lines = compiler.disassemble(compiled)
    loop, tile = main_loop(lines), kernel.config.get("BLOCK_K")
    multiplying = [kernel.config.get(name, 0) for name in ("NUM_WARPS_M", "NUM_WARPS_N")]  # without producer warps
    warps = multiplying[0] * multiplying[1] or compiled.threads // 32
    products = kernel.block[0] * kernel.block[1] / warps if kernel.block else None
    macs, step = (loop.macs if loop else 0), None
    if loop and loop.repeats:  # the multiply-adds are in inner loops, and one iteration of the main loop is one k tile
        macs, step = 0, tile
    elif loop and products:
        step = loop.macs / products
    turns = trips(kernel, compiled, loop, lines) if loop else []
    body: Counter = opcodes(loop.lines) if loop else Counter()
    for part, count in zip(loop.inner if loop else (), turns, strict=True):
        for opcode, copies in opcodes(part).items():
            body[opcode] += copies * ((count or 1) - 1)
    whole = opcodes(lines)
    return InstructionMix(
        kernel.label,
        compiled.arch,
        compiled.registers,
        by_class(whole),
        by_class(body),
        tuple(turns),
        step,
        tile,
        products,
        macs,
        loop.macs_elsewhere if loop else 0,
        warps,
        len(lines) - len(loop.lines) if loop else 0,
        _load_bytes(body),
        dict(whole),
    )


def _load_bytes(body: Mapping[str, float]) -> int | None:
    """The width of all LDG instructions in `body` in bytes per lane; None if they differ or if there are none.

    "LDG.E.128.CONSTANT" loads 16 bytes per lane; an opcode without a width loads 4.
    """

    def width(opcode: str) -> int:
        bits = re.search(r"\.[US]?(8|16|64|128|256)\b", opcode)
        return int(bits[1]) // 8 if bits else 4

    widths = {width(opcode) for opcode in body if opcode.startswith("LDG.") or opcode == "LDG"}
    return widths.pop() if len(widths) == 1 else None
