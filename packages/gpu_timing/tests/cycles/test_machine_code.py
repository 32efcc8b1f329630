"""Machine instructions are decoded: operands, destinations and the control fields."""

import math

import numpy as np
import pytest

from gpu_simulator.allow_list import Refused, function_of
from gpu_simulator.compiler.disassembly import SassLine
from gpu_simulator.errors import SimulatorError
from gpu_timing.cycles.constants_file import constants, known
from gpu_timing.cycles.machine_code import decode
from gpu_timing.cycles.path_functions import PATHS
from gpu_timing.cycles.pipes import flop_per_cycle, wgmma_flop_per_cycle, wgmma_shape
from gpu_timing.cycles.word_functions import highest_bit, mask_of


def one(text, control=0):
    return decode((SassLine(0, text, "f", 1, encoding=control << 105),))[0]


def test_control_fields():
    # stall 4, keep, sets 2, frees 7, waits for 0 and 5, reuse of the first operand
    control = 4 | 1 << 4 | 2 << 5 | 7 << 8 | 0b100001 << 11 | 1 << 17
    found = one("FFMA R4, R8, R4, R25 ;", control)
    assert (found.stall, found.keep, found.sets, found.frees, found.waits, found.reuse) == (4, True, 2, 7, (0, 5), 1)


@pytest.mark.parametrize(
    "text, written, read",
    [
        ("IADD3 R8, P0, R6, R7, RZ ;", ["R", "P"], 3),
        ("IADD3.X R5, RZ, R5, RZ, P0, !PT ;", ["R"], 5),
        ("ISETP.GE.AND P0, PT, R0, 0x1, PT ;", ["P", "P"], 3),
        ("STG.E desc[UR8][R4.64], R25 ;", [], 2),
        ("LOP3.LUT P0, RZ, R0, 0x1f, RZ, 0xc0, !PT ;", ["P", "R"], 5),
        ("SHFL.IDX PT, R2, R2, RZ, 0x1f ;", ["P", "R"], 3),
        ("@!P0 BRA `(.L_x_0) ;", [], 1),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR13+0x30000], R2 ;", ["P"], 2),
        ("LEA R167, R167, UR5, 0x4 ;", ["R"], 3),
        ("UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR13], tmem[UR24], idesc[UR25], UP0 ;", [], 6),
        ("UTCBAR.2CTA.MULTICAST [UR8], URZ, UR9 ;", [], 3),
        ("UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR4, UR4 ;", ["UP", "UR"], 1),
        ("UTCATOMSWS.AND URZ, UR5 ;", ["UR"], 1),
    ],
)
def test_what_is_written_and_read(text, written, read):
    found = one(text)
    assert [operand.kind for operand in found.destinations] == written
    assert len(found.sources) == read


def test_a_load_from_tensor_memory_writes_as_many_registers_as_it_says():
    found = one("LDTM.x32 R4, tmem[UR4+0x60] ;")
    assert found.width == 32 and found.destinations[0].value == 4


def test_a_product_of_8_bits_takes_as_long_as_one_of_16_bits_with_half_of_k():
    of = constants("h200")
    both = [
        one(f"{text} R24, gdesc[UR8], R24 ;") for text in ("HGMMA.64x192x16.F32.BF16", "QGMMA.64x192x32.F32.E4M3.E4M3")
    ]
    long, short = (math.prod(wgmma_shape(product)) / wgmma_flop_per_cycle(product, of) for product in both)
    assert long == short and flop_per_cycle(both[1:], of) == 2 * flop_per_cycle(both[:1], of)


def test_the_bits_of_a_warp():
    lanes = np.zeros((2, 32), bool)
    lanes[0, [0, 3, 31]] = True
    assert mask_of(lanes).tolist() == [[0x80000009], [0]]
    assert highest_bit(np.array([[0x80000009], [1], [0]], np.uint32)).tolist() == [[31], [0], [0xFFFFFFFF]]


def test_addresses_and_guards():
    found = one("@!P3 LDG.E.128 R96, desc[UR8][R232.64+0x60] ;")
    assert found.guard == ("P", 3, True) and found.width == 4
    assert found.sources[0].value == ((("R", 232, True),), True, 0x60)
    assert one("LDS R8, [R17+UR7+-0x10] ;").sources[0].value == ((("R", 17, False), ("UR", 7, False)), False, -0x10)


def test_constants_name_their_sources_and_refuse_unknown_names():
    for gpu in known():
        found = constants(gpu)
        assert all(
            source.split(":")[0] in ("measured", "published", "derived", "fitted", "assumed")
            for source in found.sources.values()
        )
    with pytest.raises(SimulatorError, match="no speed_of_light"):
        constants("h200")["speed_of_light"]
    with pytest.raises(SimulatorError, match="predictions exist for"):
        constants("tpu")


@pytest.mark.parametrize("line", ["t = open", "t = np.load", "R[0].x = t", "t = special('a\\n')", "import os"])
def test_generated_lines_pass_the_same_check_as_those_of_ptx(line):
    assert function_of(f"{PATHS.head}    t = u64(m)\n    return t\n", "text", {"u64": None}, PATHS)
    with pytest.raises(Refused):
        function_of(f"{PATHS.head}    {line}\n    return t\n", "text", {"np": None}, PATHS)
