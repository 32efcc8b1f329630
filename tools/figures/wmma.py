"""The machine code of wmma: the load of one fragment, and main loops as stripes."""

from __future__ import annotations

from gemm_lab.lab import kernel
from gemm_look import style
from gemm_look.sheet import Sheet
from gemm_results.plots import code_strip
from gpu_simulator.hardware.wmma_access import access
from gpu_timing.machine_code.main_loop import main_loop

ARCH = "sm_90a"
WAYS = (  # the call, the type, whether the instruction names shared memory, the kind of address
    ("load_matrix_sync, BF16", "bf16", False, "generic pointer"),
    ("load_matrix_sync, FP16", "f16", True, "shared address"),
    ("wmma.load … .shared.bf16", "bf16", True, "shared address"),
)
_SHARED, _TURN = style.tint(style.MEMORY["shared memory"], 0.4), style.tint(style.VERMILION, 0.4)


def instructions(kind: str, shared: bool) -> list[tuple[str, int]]:
    """The machine instructions that load one fragment of B (16 × 16) stored by rows, as [("LD", 4), ("MOVM", 4)]."""
    loads = access("b", "m16n16k16", "row", kind, shared).instructions
    return [("LDSM", loads)] if shared else [("LD", loads), ("MOVM", loads)]  # MOVM transposes one register


def wmma_fragment_load():
    """One fragment of B, stored by rows: three ways to load it, and the instructions of each."""
    page = Sheet(3.45)
    width, gap, high = 0.64, 0.08, 0.4
    title = "one fragment of B for a warp, machine code of an H100"
    page.text(0.35, 0.38, title, ha="left", bold=True, size=style.BODY)
    for y, (call, kind, shared, address) in zip((0.85, 1.6, 2.35), WAYS, strict=True):
        page.text(0.35, y + 0.1, call, ha="left", mono=True)
        page.note(0.35, y + 0.36, address)
        x = 2.9
        for name, count in instructions(kind, shared):
            for _ in range(count):
                fill = _TURN if name == "MOVM" else _SHARED
                page.labelled(x, y, width - gap, high, name, fill=fill, mono=True, radius=0.04)
                x += width * 0.94
    page.note(0.35, 3.1, "The same values arrive. LDSM is ldmatrix; MOVM transposes 8 × 8 values over the lanes.")
    return page.fig


def wmma_loops():
    """From a loop of mostly loads, transposes and addresses to one of mostly products."""
    rungs = [kernel("wmma_opt_bf16_v3"), kernel("hybrid_bf16"), kernel("mma_bf16"), kernel("best_wmma")]
    rows = [(made.spec.short, main_loop(made.sass(arch=ARCH).lines).lines) for made in rungs]
    return code_strip(rows, "one turn of the main loop, machine code of an H100", counts=False)
