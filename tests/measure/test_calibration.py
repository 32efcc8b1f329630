"""`gemm-lab calibrate`: its machine code has the work that is counted, and known cycles give known constants."""

import shutil

import numpy as np
import pytest

import gpu_runner as device
from gemm_lab import cli
from gpu_simulator.compiler.disassembly import disassemble
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware import data_sheets
from gpu_timing import calibration
from gpu_timing.calibration import EXPERIMENTS, ITEMS, OPCODES, constants_of, experiments, of_a_turn
from gpu_timing.cycles import constants_file
from gpu_timing.cycles.constants_file import constants
from gpu_timing.cycles.launches import launch_of
from gpu_timing.cycles.machine_code import decode
from gpu_timing.cycles.memory_path import Beyond
from gpu_timing.cycles.sm import SmModel
from gpu_timing.cycles.tracing import trace

ARCHITECTURES = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")
CASES = [(arch, name) for arch in ARCHITECTURES for name in experiments(arch)]
# Cycles of a turn as a GPU might give them.
MADE_UP = {
    "hmma_16816": 6 * 2 * ITEMS, "hmma_1688": 4 * 2 * ITEMS, "hmma_16816_chain": 24 * ITEMS,
    "hmma_1688_chain": 16 * ITEMS, "ffma": 2 * ITEMS, "imad": 4 * ITEMS, "lop3": 4 * ITEMS, "movm_chain": 25 * ITEMS,
    "mufu": 16 * ITEMS, "mufu_chain": 20 * ITEMS, "shfl_chain": 23 * ITEMS,
    "lds_chain": 30 * ITEMS, "lds_chain_8": 44 * ITEMS, "sts_8": 64 * ITEMS, "bar_4": 21 * ITEMS, "bar_16": 45 * ITEMS,
    "l2_chase": 16 * 294, "dram_chase": 16 * 644, "load_4": 400, "load_16": 592, "copy_16": 600, "copy_32": 856,
    "own_16": 700, "own_32": 1212, "store": 4096, "stream": 3276.8,
}  # fmt: skip
FOUND = {
    "hmma_16816_cycles": 6, "hmma_1688_cycles": 4, "hmma_latency": 24, "ffma_cycles": 1, "imad_cycles": 2,
    "alu_cycles": 2, "movm_latency": 25, "xu_cycles": 8, "xu_latency": 20, "shuffle_latency": 23, "shared_latency": 30,
    "shared_wavefront_latency": 2, "wavefront_cycles": 1,
    "barrier_warp_cycles": 2, "barrier_latency": 13, "l2_latency": 290, "dram_latency": 640,
    "copy_bytes_per_cycle": 64, "load_bytes_per_cycle": 64, "local_bytes_per_cycle": 32, "store_bytes_per_cycle": 16,
    "dram_bytes_per_cycle": 20,
}  # fmt: skip
# What the model cannot give back: it does not follow the values that a chain of LDS loads; it takes MOVM and SHFL to
# last as long as LDS; how long a product waits for another one is written in the machine code; DRAM is no part of one
# SM; and bytes that no other SM reads are in the model those of stacks.
NOT_IN_THE_MODEL = {
    "shared_wavefront_latency", "movm_latency", "shuffle_latency", "hmma_latency", "dram_bytes_per_cycle",
    "local_bytes_per_cycle",
}  # fmt: skip


# On the way to these bytes the model has a queue and a port besides.
BEYOND_L1 = {"l2_latency", "dram_latency", "load_bytes_per_cycle", "copy_bytes_per_cycle", "store_bytes_per_cycle"}


# ---- The machine code ----


def loops(code):
    """The bodies of the innermost loops."""
    at = {one.line.address: one.index for one in code}
    spans = [
        (at[one.line.target], one.index) for one in code if one.op == "BRA" and at.get(one.line.target, 1e9) < one.index
    ]
    inner = [a for a in spans if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in spans)]
    return [[one.op for one in code[first : last + 1]] for first, last in inner]


@pytest.mark.sampled(every=7)
@pytest.mark.parametrize(("arch", "name"), CASES)
def test_a_turn_has_as_many_instructions_as_it_is_divided_by(arch, name):
    one = EXPERIMENTS[name]
    found = max(body.count(OPCODES[one.kind]) for body in loops(decode(disassemble(one.compile(arch)))))
    wanted = one.loads if one.kind in calibration.MEMORY else ITEMS
    assert wanted <= found <= wanted + (3 if one.kind in ("IMAD", "LOP3") else 0), "others count and compare turns"


def test_turing_is_not_asked_for_what_it_lacks():
    assert set(EXPERIMENTS) - set(experiments("sm_75")) == {
        "hmma_16816", "hmma_16816_chain", "copy_16", "copy_32", "own_16", "own_32",
    }  # fmt: skip
    assert experiments("sm_120a") == EXPERIMENTS


@pytest.mark.parametrize("key", data_sheets.GPUS)
def test_no_request_leaves_its_array_and_new_lines_stay_out_of_l2(key):
    """The last place of a block, by the arithmetic of calibration.cu."""
    sheet = data_sheets.gpu(key)
    l2_bytes = int(sheet.l2_mb * 2**20)
    for one in EXPERIMENTS.values():
        if one.kind not in calibration.MEMORY:
            continue
        source, target, _, region, step, share, apart, *_ = one.arguments(sheet.sms, l2_bytes)
        reached = target if one.kind == "STORE" else source
        turns = one.turns * one.passes * 3 // 2
        first = (sheet.sms - 1) // share * apart
        last = first + (turns - 1) * step if not one.around else region - 1
        assert first < region and last + one.turn_bytes <= reached.nbytes < 2**31
        if one.around:
            assert one.kind == "CHASE" or region + one.turn_bytes < l2_bytes
        else:
            assert last < region and reached.nbytes - region >= 2 * l2_bytes


# ---- The arithmetic ----


def test_the_constants_follow_from_cycles():
    found = constants_of(MADE_UP)
    assert {name: value for name, (value, _) in found.items()} == pytest.approx(FOUND)
    assert all(source.startswith("measured: ") for _, source in found.values())


def test_without_the_longer_product_the_shorter_one_gives_the_latency():
    found = constants_of({name: MADE_UP[name] for name in experiments("sm_75")})
    assert found["hmma_latency"] == (16, "measured: dependent chain of HMMA.1688")
    assert set(FOUND) - set(found) == {"hmma_16816_cycles", "copy_bytes_per_cycle", "local_bytes_per_cycle"}


@pytest.mark.parametrize("wrong", [{"ffma": 0}, {"bar_16": 1}, {"load_16": 100}, {"load_16": 400}, {"store": np.nan}])
def test_cycles_that_no_gpu_takes_are_refused(wrong):
    with pytest.raises(SimulatorError, match=r"The measured cycles give \w+ = .*measure again"):
        constants_of(MADE_UP | wrong)


def test_a_turn_is_what_a_long_pass_takes_longer_than_a_short_one():
    passes = np.array([8, 16, 8, 16, 8, 16])
    cycles = np.tile(500 + 25 * passes, (5, 1)).astype(np.uint32)
    cycles[:, :2] = 90_000, 7  # caches are cold
    cycles[3] += 10_000  # an SM that was late
    cycles[0, 3] = 0  # one that was disturbed
    assert of_a_turn(cycles, 8) == 25


@pytest.mark.parametrize("shape", [(6,), (5, 3), (5, 2)])
def test_passes_that_are_no_pairs_are_refused(shape):
    with pytest.raises(SimulatorError, match="two or more pairs"):
        of_a_turn(np.zeros(shape, np.uint32), 8)


# ---- The law: calibrating the model gives the model's constants ----


def predicted_turn(one, gpu):
    """Predicted cycles of a turn: what two turns take longer than one."""
    of, sheet = constants(gpu), data_sheets.gpu(gpu)
    compiled = one.compile(sheet.arch)
    beyond = Beyond(of["l2_latency" if one.around else "dram_latency"], (1.0, of["l2_latency"]))

    def cycles(turns):
        launch = launch_of(compiled, (sheet.sms, 1, 1), one.arguments(sheet.sms, 0, turns, 1))
        no_l1 = 0.0  # the loads bypass it (.cg), which the model does not know
        return SmModel([trace(compiled, sheet.arch, launch)], of, beyond, no_l1).run().cycles

    return cycles(2) - cycles(1)


@pytest.mark.long
@pytest.mark.parametrize("gpu", ["h200", "t4"])
def test_calibrating_the_model_gives_its_constants(gpu):
    chosen = experiments(data_sheets.gpu(gpu).arch)
    found = constants_of({name: predicted_turn(one, gpu) for name, one in chosen.items()})
    assert len(found) > 12
    for name, (value, _) in found.items():
        if name not in NOT_IN_THE_MODEL:
            assert value == pytest.approx(constants(gpu)[name], rel=0.12 if name in BEYOND_L1 else 0.05), name


# ---- The file, and the command ----


@pytest.mark.parametrize("gpu", ["h200", "h100", "t4"])
def test_the_file_is_read_back_and_complete(gpu, tmp_path, monkeypatch):
    before = constants(gpu)
    shutil.copytree(constants_file.FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / f"my_{gpu}.csv").write_text(calibration.file_of(gpu, constants_of(MADE_UP)))
    monkeypatch.setattr(constants_file, "FOLDER", tmp_path)
    after = constants(f"my_{gpu}")
    assert after.values == before.values | FOUND
    measured = {name for name in FOUND if after.sources[name].startswith("measured: ")}
    assert measured == set(FOUND)
    assert {n: s for n, s in after.sources.items() if n not in FOUND} == {
        n: s for n, s in before.sources.items() if n not in FOUND
    }


def test_a_constant_that_no_file_has_is_refused():
    with pytest.raises(SimulatorError, match="No file of constants has warp_drive"):
        calibration.file_of("h200", {"warp_drive": (1.0, "measured: never")})


def present(monkeypatch, sheet):
    monkeypatch.setattr(device, "why_not", lambda: "")
    gpu = data_sheets.Present("NVIDIA Made-up", "sm_90a", 132, (13, 0), 80.0, sheet)
    monkeypatch.setattr(device, "present", lambda: gpu)


def test_the_command_prints_and_writes_what_was_measured(monkeypatch, tmp_path, capsys):
    present(monkeypatch, data_sheets.gpu("h100"))

    def launch(compiled, grid, args, outputs):
        (name,) = {n for n, one in EXPERIMENTS.items() if one.arguments(132, 50 << 20)[3:] == args[3:]
                   and one.compile("sm_90a").cubin == compiled.cubin}  # fmt: skip
        assert grid == (132, 1, 1) and outputs == [2]
        one = EXPERIMENTS[name]
        lengths = np.tile([one.turns, 2 * one.turns], one.passes // 2)
        return [np.tile(300 + np.round(lengths * MADE_UP[name]), (132, 1)).astype(np.uint32)]

    monkeypatch.setattr(device, "launch", launch)
    path = tmp_path / "mine.csv"
    assert cli.main(["calibrate", "--into", str(path)]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in FOUND) and str(path) in printed
    assert path.read_text() == calibration.file_of("h100", constants_of(MADE_UP))
    assert cli.main(["calibrate", "--into", str(tmp_path)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_gpu_without_a_data_sheet_is_a_sentence(monkeypatch, capsys):
    present(monkeypatch, None)
    assert cli.main(["calibrate"]) == 2
    assert "no data sheet of the NVIDIA Made-up" in capsys.readouterr().err


def test_without_a_gpu_calibrating_says_that_it_needs_one(monkeypatch, capsys):
    monkeypatch.setattr(device, "why_not", lambda: "No NVIDIA driver or GPU was found.")
    assert cli.main(["calibrate"]) == 2
    assert "Calibrating needs a GPU: No NVIDIA driver" in capsys.readouterr().err
