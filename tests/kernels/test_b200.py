"""The machine code of the b200 ladder: tensor, TMA and tensor-memory instructions, which no other GPU of the course has."""

import re
from collections import Counter

import pytest

from gemm_lab import catalog, compiling
from gpu_simulator import compiler
from gpu_simulator.hardware.data_sheets import gpu

LADDER = catalog.ladder("b200")
RUNGS = [spec.short for spec in LADDER.kernels]
PAIRS = ("04_cta_pairs", "05_tma_store")


def build(rung: str, arch: str = "sm_100a", **settings):
    spec = catalog.kernel(f"b200/{rung}")
    return compiling.compile(spec.source, config=spec.configure(**settings), arch=arch, name=spec.name)


def opcodes(rung: str, **settings) -> Counter:
    return Counter(line.opcode for line in compiler.disassemble(build(rung, **settings)))


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("rung", RUNGS)
def test_the_tensor_cores_read_shared_memory_and_write_tensor_memory(rung):
    """BLOCK_K / 16 products a k tile and no others; no mma of registers, no ldmatrix, no copies through registers."""
    mix, pair = opcodes(rung), ".2CTA" if rung in PAIRS else ""
    assert mix[f"UTCHMMA{pair}"] == 64 // 16
    assert sum(count for opcode, count in mix.items() if opcode.startswith("UTC") and "MMA" in opcode) == 4
    assert mix[f"UTMALDG.2D{pair}"] == 2  # a box of A and one of B
    # Every column once, 32 at a time. The loop of 05 over pairs of them is unrolled or not, as the compiler likes.
    assert mix["LDTM.x32"] in ({8, 2} if rung == "05_tma_store" else {8})
    assert mix[f"UTCATOMSWS{pair}.FIND_AND_SET.ALIGN"] >= 1  # columns of tensor memory are taken,
    assert any(opcode.startswith("UTCATOMSWS.AND") for opcode in mix)  # and given back
    assert not any(opcode.startswith(("HMMA", "LDSM", "LDGSTS", "LDG", "LDL", "STL")) for opcode in mix)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("rung", RUNGS)
def test_commits(rung):
    """One in the loop of 01; from 02 on one for the stage and one for the tile; of a pair they arrive in both blocks."""
    commits = [opcode for opcode, count in opcodes(rung).items() for _ in range(count) if opcode.startswith("UTCBAR")]
    kind = "UTCBAR.2CTA.MULTICAST" if rung in PAIRS else "UTCBAR"
    assert commits == [kind] * (1 if rung == "01_synchronous" else 2)


@pytest.mark.parametrize("rung", RUNGS)
def test_how_d_leaves(rung):
    """16 bytes a thread and store until 05, where TMA stores four boxes of 64 columns."""
    mix = opcodes(rung)
    if rung == "05_tma_store":
        assert mix["UTMASTG.2D"] == mix["LDTM.x32"] / 2 and not any(opcode.startswith("STG") for opcode in mix)
    else:
        assert mix["STG.E.128"] == 256 // 8 and not any(opcode.startswith("UTMASTG") for opcode in mix)
    assert not any(opcode.startswith("RED.") or opcode.startswith("ATOMG") for opcode in mix)


@pytest.mark.parametrize("rung", RUNGS)
def test_barriers_of_the_cluster_only_in_pairs(rung):
    arrivals = opcodes(rung)["UCGABAR_ARV"]
    assert arrivals == (3 if rung in PAIRS else 0)
    assert (".reqnctapercluster 2, 1, 1" in build(rung).ptx) == (rung in PAIRS)
    assert catalog.kernel(f"b200/{rung}").cluster == ((2, 1, 1) if rung in PAIRS else (1, 1, 1))


@pytest.mark.parametrize("rung", RUNGS)
def test_one_thread_issues(rung):
    """Products, loads and commits stand behind an elect.sync of their warp: their operands are uniform registers."""
    lines = compiler.disassemble(build(rung))
    for line in lines:
        if line.opcode.startswith(("UTCHMMA", "UTMALDG", "UTCBAR")):
            assert re.search(r"\bUR\d+\b", line.text) and not re.search(r"\[R\d", line.text)
    assert not any(line.opcode.startswith("BRA") and ".ANY" in line.text for line in lines)  # no loop over lanes


@pytest.mark.parametrize("rung", RUNGS)
def test_the_machine_code_holds_the_words_of_cutlass(rung):
    """Its make_instr_desc for BF16, 256 columns and 128 or 256 rows; the upper half of its descriptor of a K-major tile."""
    text = "\n".join(line.text for line in compiler.disassemble(build(rung)))
    instruction = "0x10400490" if rung in PAIRS else "0x8400490"
    assert f"idesc[{re.search(rf'UMOV (UR[0-9]+), {instruction} ', text)[1]}]" in text
    high = set(re.findall(r"UMOV UR[0-9]+, (0x4000[0-9a-f]{4}) ", text))
    assert high == {"0x40004040"}  # 1024 / 16 at bit 32, 1 at bit 46, 2 at bit 61


@pytest.mark.parametrize("rung", RUNGS)
def test_it_fits_a_b200(rung):
    made, b200 = build(rung), gpu("b200")
    assert made.smem <= b200.smem_per_block and made.threads * made.registers <= b200.registers_per_sm
    assert made.threads == 256 and made.spill_loads == made.spill_stores == made.stack == 0
    stage = made.config["BLOCK_M"] * 128 + made.config["BLOCK_N"] * 128 // (2 if rung in PAIRS else 1)
    assert made.config["NUM_STAGES"] * stage == 196608  # four stages of 48 KB, six of 32 KB in each of a pair


@pytest.mark.parametrize("rung", RUNGS)
def test_other_tiles(rung):
    """Narrower tiles take fewer columns of tensor memory; one wider than the instruction is refused in a sentence."""
    narrow = build(rung, BLOCK_N=128)
    assert "tcgen05.mma" in narrow.ptx and narrow.smem < build(rung).smem
    for wrong in ({"BLOCK_M": 64}, {"BLOCK_K": 32}, {"BLOCK_N": 96}):
        with pytest.raises(compiler.CompileError, match="128 lanes|powers of two"):
            build(rung, **wrong)


def test_no_other_gpu_compiles_them():
    for arch in ("sm_90a", "sm_120a"):
        with pytest.raises(compiler.CompileError, match="tcgen05"):
            build("01_synchronous", arch=arch)


def test_the_buffers_of_the_tma_store_take_turns():
    with pytest.raises(compiler.CompileError, match="two buffers take turns"):
        build("05_tma_store", BLOCK_N=64)
