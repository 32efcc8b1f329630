"""Every kernel compiles for every target it names, uses what it teaches, and fits the GPU it is taught on."""

import pytest

from gemm_lab import catalog, compiling
from gpu_simulator import compiler
from gpu_simulator.compiler import CompileError
from gpu_simulator.hardware.data_sheets import gpu
from gpu_timing.machine_code.main_loop import main_loop
from gpu_timing.occupancy import occupancy

EVERYTHING = [spec for ladder in catalog.ladders().values() for spec in ladder.kernels]
# Rungs that share a source: the first for every target, the other configurations for the GPU they are taught on.
FIRST = {spec.path: spec for spec in reversed(EVERYTHING)}
CASES = [
    (spec, arch)
    for spec in EVERYTHING
    for arch in spec.targets
    if spec is FIRST[spec.path] or arch == gpu(catalog.ladder(spec.ladder).gpu).arch
]


def build(name: str, arch: str = "sm_75", **settings):
    spec = catalog.kernel(name)
    return compiling.compile(spec.source, config=spec.configure(**settings), arch=arch, name=spec.name)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(("spec", "arch"), CASES, ids=lambda v: getattr(v, "name", v))
def test_builds_without_spills_or_warnings(spec, arch):
    if arch == "sm_103a" and compiler.version() < (12, 9):
        pytest.skip("NVRTC knows sm_103a from CUDA 12.9 on")
    compiled = compiling.compile(spec.source, config=spec.configure(), arch=arch, name=spec.name)
    assert compiled.cubin[:4] == b"\x7fELF"
    assert f".target {arch}" in compiled.ptx
    # One value that is put away at the start, 4 bytes, costs nothing: rtx5090/03 keeps its number of tiles there.
    # The compilers up to CUDA 13.0 put away more outside of the main loop; of t4/07 one value comes back in it.
    stores, loads = (4, 16) if compiler.version() > (13, 0) else (80, 80)
    assert (compiled.spill_stores > stores) == (compiled.spill_loads > loads) == spec.spills
    if compiled.spill_stores and not spec.spills:
        loop = main_loop(compiler.disassemble(compiled)).lines
        assert sum(line.opcode.split(".")[0] in ("LDL", "STL") for line in loop) <= 1
    assert compiled.warnings == ()
    assert 0 < compiled.threads <= 1024 and compiled.registers > 0


@pytest.mark.parametrize("spec", list(catalog.kernels().values()), ids=lambda s: s.name)
def test_fits_the_gpu_it_is_taught_on(spec):
    target = gpu(catalog.ladder(spec.ladder).gpu)
    compiled = compiling.compile(spec.source, config=spec.configure(), arch=target.arch, name=spec.name)
    assert occupancy(target, compiled.threads, compiled.registers, compiled.smem).blocks >= 1


def test_t4_rungs_use_what_they_teach():
    mixes = {rung: compiler.instruction_mix(compiler.disassemble(build(f"t4/{rung}"))) for rung in ("01", "02", "03")}
    opcodes = {rung: {line.opcode for line in compiler.disassemble(build(f"t4/{rung}"))} for rung in ("01", "02", "03")}
    for rung in mixes:
        assert mixes[rung]["HMMA"] == 256  # (64/16)·(64/8) mma tiles · 64/8 steps of k, fully unrolled
        assert mixes[rung]["LDSM"] == 32  # 2 for A and 2 for B in each step of k
    assert any(code.startswith("LDG.E.U16") for code in opcodes["01"])
    assert not any(code.startswith("LDG.E.U16") for code in opcodes["02"])
    assert any(code.startswith("LDG.E.128") for code in opcodes["02"])
    assert any(code.startswith("STS.128") for code in opcodes["03"])


def test_shared_memory_is_what_the_tiles_need():
    assert build("t4/02").smem == (256 + 128) * 64 * 2 == 49152
    assert build("t4/02", BLOCK_K=32).smem == 24576


def test_a_tile_that_cannot_work_says_why():
    with pytest.raises(CompileError, match="WARP_M must be a multiple of 32"):
        build("t4/01", BLOCK_M=64)
    with pytest.raises(CompileError, match="8 places"):
        build("t4/03", BLOCK_K=32)
    with pytest.raises(CompileError, match="too much shared data"):
        build("t4/01", BLOCK_K=128)
