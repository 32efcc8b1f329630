"""The emulator against the hardware, opcode by opcode: one-instruction kernels and what an H200 answered.

`all_cases` lists the kernels; `recording` runs and stores them. Record with
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
