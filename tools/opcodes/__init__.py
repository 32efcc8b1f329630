"""Compares the simulator with the hardware, opcode by opcode: one-instruction kernels and their results on an H200.

`all_cases` lists the kernels; `recording` runs them and stores the results. To record, type
`python -m tools.opcodes --record FOLDER`.
"""

from tools.opcodes.case import Case, agree
from tools.opcodes.cases import all_cases, case
from tools.opcodes.coverage import UNTESTED
from tools.opcodes.recording import COMMAND, FILE, Recording, answers, compiled, difference, load, record

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
