"""Reads one machine instruction: its opcode, its operands, and the control fields that ptxas wrote into it.

Bits 105 to 124 of an instruction hold the stall count, the scoreboards it sets, and those it waits for; the layout is
the same from Volta to Blackwell. NVIDIA does not document it. Sources: Jia and others, "Dissecting the NVIDIA Volta
GPU architecture via microbenchmarking" (arXiv 1804.06826), and the control codes that CuAssembler decodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpu_simulator.compiler.disassembly import SassLine

NO_SCOREBOARD = 7

# Opcodes whose first operands are all sources.
_NO_DESTINATION = frozenset((
    "BAR", "BMOV", "BRA", "BREAK", "BSSY", "BSYNC", "CALL", "CCTL", "CGAERRBAR", "DEPBAR", "ERRBAR", "EXIT", "FENCE",
    "JMP", "LDGDEPBAR", "LDGSTS", "MEMBAR", "NANOSLEEP", "NOP", "RED", "RET", "ST", "STAS", "STG", "STL", "STS",
    "STSM", "UCGABAR_ARV", "UCGABAR_WAIT", "UTMACCTL", "UTMACMDFLUSH", "UTMALDG", "UTMAPF", "UTMASTG", "UTMAREDG",
    "UTCBAR", "UTCHMMA", "UTCIMMA", "UTCQMMA", "WARPGROUP", "WARPSYNC", "YIELD", "UBLKCP", "UBLKPF",
))  # fmt: skip
_NAME = re.compile(r"(U?)([RP])(Z|T|\d+)")
_CONSTANT = re.compile(r"c\[(0x[0-9a-f]+)\]\[(?:(?:U?RZ|(U?R\d+))\+?)?(0x[0-9a-f]+)?\]")


@dataclass(frozen=True)
class Operand:
    """One operand. `kind` is "R", "UR", "P", "UP", "imm", "const", "address", "special", or "label".

    value: the register number (None for RZ and URZ, which read as zero; 7 for PT and UPT), the number of an immediate,
    (bank, offset, register) of a constant, (registers, 64-bit or not, offset) of an address, or a name.
    """

    kind: str
    value: object
    negative: bool = False
    inverted: bool = False
    absolute: bool = False


@dataclass(frozen=True)
class Instruction:
    """A decoded machine instruction.

    stall: cycles until the warp may issue again.   keep: the scheduler may issue this warp again at once.
    sets: scoreboard that is released with the result, `frees` with the sources read; `NO_SCOREBOARD` for none.
    waits: scoreboards that must be clear before it issues.   reuse: operands kept in the reuse cache, a bit each.
    """

    index: int
    line: SassLine
    op: str
    modifiers: tuple[str, ...]
    guard: tuple[str, int, bool] | None  # ("P" or "UP", number, inverted)
    destinations: tuple[Operand, ...]
    sources: tuple[Operand, ...]
    stall: int
    keep: bool
    sets: int
    frees: int
    waits: tuple[int, ...]
    reuse: int
    width: int = field(default=1, compare=False)  # registers of each destination

    @property
    def name(self) -> str:
        """The opcode with its modifiers."""
        return ".".join((self.op, *self.modifiers))


def decode(lines: tuple[SassLine, ...]) -> tuple[Instruction, ...]:
    """All instructions of a kernel, in the order of their addresses."""
    return tuple(_instruction(index, line) for index, line in enumerate(lines))


def _instruction(index: int, line: SassLine) -> Instruction:
    text = re.sub(r"\(\*.*?\*\)", "", line.text).rstrip("; ")
    guard = None
    if text.startswith("@"):
        first, _, text = text.partition(" ")
        name = first[1:].lstrip("!")
        guard = ("UP" if name[0] == "U" else "P", _number(name), first[1] == "!")
    opcode, _, rest = text.strip().partition(" ")
    op, *modifiers = opcode.split(".")
    operands = [_operand(word) for word in _split(rest)]
    count = _destinations(op, tuple(modifiers), operands)
    control = line.encoding >> 105
    waits = (control >> 11) & 63
    return Instruction(
        index,
        line,
        op,
        tuple(modifiers),
        guard,
        tuple(operands[:count]),
        tuple(operands[count:]),
        stall=control & 15,
        keep=bool(control & 16),
        sets=(control >> 5) & 7,
        frees=(control >> 8) & 7,
        waits=tuple(board for board in range(6) if waits >> board & 1),
        reuse=(control >> 17) & 7,
        width=_width(op, tuple(modifiers)),
    )


def _split(text: str) -> list[str]:
    words, depth, word = [], 0, ""
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and not depth:
            words.append(word.strip())
            word = ""
        else:
            word += letter
    return [*words, word.strip()] if word.strip() else words


def _number(name: str) -> int:
    digits = _NAME.fullmatch(name)
    return 7 if digits is None or not digits[3].isdigit() else int(digits[3])


def _operand(word: str) -> Operand:
    negative = inverted = absolute = False
    while word and word[0] in "-~!|":
        negative |= word[0] == "-"
        inverted |= word[0] in "~!"
        absolute |= word[0] == "|"
        if word[0] == "-" and re.match(r"-[\d.]|-0x", word):
            negative = False
            break
        word = word[1:]
    word = word.replace("|", "")
    if "[" in word and not word.startswith("c["):
        return _address(word)
    if constant := _CONSTANT.match(word):
        bank, register, offset = constant.groups()
        value: object = (int(bank, 16), int(offset or "0", 16), register)
        return Operand("const", value, negative, inverted, absolute)
    base = word.split(".")[0]
    if named := _NAME.fullmatch(base):
        kind = named[1] + named[2]
        plain = named[3].isdigit()
        value = int(named[3]) if plain else 7 if named[2] == "P" else None
        return Operand(kind, value, negative, inverted, absolute)
    if word.startswith(("SR_", "SRZ")):
        return Operand("special", word)
    try:
        number: object = int(word, 0)
    except ValueError:
        try:
            number = float(word.replace("+INF", "inf").replace("-INF", "-inf").replace("QNAN", "nan"))
        except ValueError:
            return Operand("label", word)
    return Operand("imm", number, negative, inverted, absolute)


def _address(word: str) -> Operand:
    """`desc[UR8][R4.64+0x60]`, `[R17+UR7+0x10]`, `[R144.64+UR4]`, `gdesc[UR4]`."""
    inside = re.findall(r"\[([^\]]*)\]", word)[-1]
    registers, wide, offset = [], False, 0
    for part in re.findall(r"[+-]?[^+-]+", inside):
        name = part.lstrip("+")
        if match := re.match(r"(U?R)(\d+|Z)((?:\.\w+)*)", name):
            if match[2] != "Z":
                registers.append((match[1], int(match[2]), ".64" in match[3]))
            wide |= ".64" in match[3]
        else:
            offset += int(name, 0)
    return Operand("address", (tuple(registers), wide, offset), inverted=word.startswith("gdesc"))


def _destinations(op: str, modifiers: tuple[str, ...], operands: list[Operand]) -> int:
    """How many of the operands are written."""
    if op in _NO_DESTINATION or not operands:
        return 0
    if op in ("ISETP", "UISETP", "FSETP", "HSETP2", "DSETP", "PLOP3", "UPLOP3"):
        return 2
    first = operands[0].kind
    if op == "USETMAXREG":
        return int(first in ("P", "UP"))
    if op in ("LOP3", "ULOP3", "SHFL", "ELECT", "VOTE", "VOTEU", "REDUX", "MATCH") and first in ("P", "UP"):
        return 2 if len(operands) > 1 and operands[1].kind in ("R", "UR", "UP") else 1
    if op == "UTCATOMSWS" and first == "UP":
        return 2
    count = 1
    if op in ("IADD3", "UIADD3", "LEA", "ULEA", "IMAD", "UIMAD"):
        while count < len(operands) and operands[count].kind in ("P", "UP") and not operands[count].inverted:
            count += 1
    return count


def _width(op: str, modifiers: tuple[str, ...]) -> int:
    """Registers that each destination takes."""
    if op.startswith("LDSM") or op in ("MOVM",):
        return int(modifiers[-1]) if modifiers and modifiers[-1] in ("2", "4") else 1
    if op == "LDTM":
        return int(modifiers[-1].lstrip("x"))
    if "128" in modifiers:
        return 4
    if not {"64", "WIDE", "TRANS64"}.isdisjoint(modifiers) or (op == "CS2R" and "32" not in modifiers):
        return 2
    return 1
