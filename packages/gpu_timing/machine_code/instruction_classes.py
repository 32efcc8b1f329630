"""Classifies machine instructions by the work that they do: tensor core, shared memory, addresses …

SASS opcodes are listed in NVIDIA's "CUDA Binary Utilities", in one table per architecture. An opcode that is in no
class here counts as "other"; nothing is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

TENSOR, MATRIX, SHARED, GLOBAL = "tensor core", "ldmatrix", "shared memory", "global memory"
ASYNC, INTEGER, FLOAT, CONTROL, OTHER = "async copy", "integer and address", "floating point", "control", "other"

_OPCODES = {
    TENSOR: "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA BGMMA QGMMA UTCHMMA UTCIMMA UTCQMMA UTCOMMA UTCMXQMMA",
    MATRIX: "LDSM",
    SHARED: "LDS STS STSM ATOMS LDTM STTM UTCCP",
    GLOBAL: "LDG STG LD ST LDL STL ATOM ATOMG RED REDG LDGMC CCTL CCTLL SULD SUST TEX TLD",
    ASYNC: "LDGSTS LDGDEPBAR UTMALDG UTMASTG UTMAREDG UTMAPF UTMACMDFLUSH UTMACCTL UBLKCP UBLKPF UBLKRED ARRIVES",
    # Uniform-datapath forms (UIADD3, ULOP3 …) are found by their first letter. LDC, S2R and MOV load parameters,
    # thread indices and constants into the registers from which addresses are computed.
    INTEGER: "IADD IADD3 IADD32I IMAD IMUL IMNMX IABS IDP IDP4A ISCADD ISETP ISET ICMP LEA LOP LOP3 LOP32I SHF SHL SHR "
    "BMSK SGXT PRMT SEL MOV MOV32I PLOP3 PSETP P2R R2P FLO POPC BREV VIADD VIMNMX VIMNMX3 VIADDMNMX VABSDIFF "
    "VABSDIFF4 VHMNMX MOVM REDUX LDC LDCU S2R CS2R S2UR R2UR P2UR VOTE VOTEU MATCH SHFL",
    FLOAT: "FADD FADD32I FADD2 FMUL FMUL32I FMUL2 FFMA FFMA32I FFMA2 FMNMX FMNMX3 FSEL FSETP FSET FSWZADD FCHK MUFU "
    "HADD2 HADD2_32 HMUL2 HMUL2_32 HFMA2 HFMA2_32 HMNMX2 HSET2 HSETP2 DADD DMUL DFMA DSETP DMNMX F2F F2FP F2I "
    "F2IP I2F I2FP I2I I2IP FRND",
    CONTROL: "BRA BRX BRXU JMP JMX JMXU EXIT CALL RET BSSY BSYNC BREAK BMOV BPT YIELD WARPSYNC NOP KILL BAR B2R DEPBAR "
    "MEMBAR ERRBAR FENCE SYNCS NANOSLEEP WARPGROUP WARPGROUPSET USETMAXREG SETMAXREG ELECT ENDCOLLECTIVE "
    "UCGABAR_ARV UCGABAR_WAIT CGAERRBAR ACQBULK PREEXIT UTCBAR UTCATOMSWS",
}
CLASSES = (*_OPCODES, OTHER)
_CLASS = {opcode: name for name, opcodes in _OPCODES.items() for opcode in opcodes.split()}


def instruction_class(opcode: str) -> str:
    """The class of an opcode with or without modifiers: "LDSM.16.M88.4" → "ldmatrix"."""
    base = opcode.split(".")[0].upper()
    if base in _CLASS:
        return _CLASS[base]
    uniform = _CLASS.get(base[1:]) if base.startswith("U") else None
    return uniform if uniform in (INTEGER, FLOAT, CONTROL) else OTHER


def by_class(counts: Mapping[str, float]) -> dict[str, float]:
    """The counts by opcode, summed for each class, in the order of CLASSES, without classes that do not occur."""
    sums: dict[str, float] = {}
    for opcode, count in counts.items():
        kind = instruction_class(opcode)
        sums[kind] = sums.get(kind, 0) + count
    return {name: sums[name] for name in CLASSES if sums.get(name)}
