"""The emulator against the hardware, opcode by opcode: one-instruction kernels and what an H200 answered.

`all_cases` lists the kernels; `recording` runs and stores them. Record with
`python -m gemm_lab.measure.opcodes --record FOLDER`.
"""

from gemm_lab.measure.opcodes.case import Case, agree
from gemm_lab.measure.opcodes.cases import all_cases, case
from gemm_lab.measure.opcodes.coverage import UNTESTED
from gemm_lab.measure.opcodes.recording import COMMAND, FILE, Recording, answers, compiled, difference, load, record

__all__ = [
    "COMMAND",
    "FILE",
    "UNTESTED",
    "Case",
    "Recording",
    "agree",
    "all_cases",
    "answers",
    "case",
    "compiled",
    "difference",
    "load",
    "record",
]
