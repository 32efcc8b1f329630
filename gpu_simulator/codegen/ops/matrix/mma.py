"""mma.sync: fragments gathered into float matrices, multiplied, rounded as the instruction rounds."""

from __future__ import annotations

from gpu_simulator.codegen.ops.matrix import mma_f64
from gpu_simulator.codegen.registry import op
from gpu_simulator.ptx.mma_forms import fusible


@op(
    "mma",
    forms="sync.aligned m16n8k8, m16n8k16 (f16, bf16), m16n8k4, m16n8k8 (tf32), m8n8k16, m16n8k16, m16n8k32 (s8, u8), "
    "m8n8k4, m16n8k4, m16n8k8, m16n8k16 (f64)",
)
def mma(e, i):
    """A single mma that the fuser could not take: of float64, or with operands that are not plain registers."""
    if "f64" in i.parts:
        mma_f64.emit(e, i)
        return
    known = fusible(i.opcode) is not None
    raise e.unsupported("operands that are not its registers of 32 bits" if known else "this shape or these types")
