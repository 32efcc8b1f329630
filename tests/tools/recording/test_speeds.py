"""`python -m tools.recording speeds` over a worker that answers without a GPU: what is picked, what is refused, what the file holds."""

import csv
import json

import numpy as np
import pytest

import gpu_runner as device
from gemm_lab import catalog
from gemm_lab.lab import here
from gemm_results.errors import LabError
from gemm_results.results import COLUMNS
from gpu_simulator.hardware import data_sheets as hardware
from gpu_simulator.hardware import presence
from tools.recording import speeds
from tools.recording.__main__ import main

GPUS = {
    "t4": ("Tesla T4", "sm_75"),
    "a100": ("NVIDIA A100-SXM4-40GB", "sm_80"),
    "rtx5090": ("NVIDIA GeForce RTX 5090", "sm_120a"),
    "b200": ("NVIDIA B200", "sm_100a"),
}


def expected(arch: str) -> dict[str, int]:
    """Ladders with a baseline and how many of their rungs name this architecture."""
    counts = {
        name: sum(arch in k.targets for k in spec.kernels) for name, spec in catalog.ladders().items() if spec.baselines
    }
    return {name: count for name, count in counts.items() if count}


class Worker:
    """Right answers to a launch, except from `wrong`; then samples of 1 ms for every kernel that is to be timed."""

    queue = None

    def __init__(self, gpu: str, wrong: str = ""):
        self.gpu, self.wrong, self.output, self.timed = gpu, wrong, "", []

    def launch(self, compiled, *, grid, args, cluster):
        problem = catalog.kernel(compiled.name).problem
        maps, named = dict(problem.tensor_maps), {}
        for name, value in zip(problem.arguments, args, strict=True):
            named[maps[name].array if name in maps else name] = value.array if name in maps else value
        left, right = (named[x].astype(np.float32) for x in "ab")
        left = left if problem.layout_a == "row" else left.T
        d = named.get("alpha", 1.0) * (left @ (right if problem.layout_b == "row" else right.T))
        if problem.uses_c:
            d += named["beta"] * named["c"].astype(np.float32)
        if compiled.name == self.wrong:
            d[3, 5] += 1
        return [d.astype(named["d"].dtype) if name == "d" else named[name] for name in problem.arrays]

    def request(self, op, **payload):
        assert op == "benchmark"
        self.timed.append((payload["m"], payload["regime"], [e["label"] for e in payload["entries"]]))
        entries = [
            {"label": e["label"], "check": None, "skipped": None, "samples_ms": [1.0] * payload["rounds"]}
            for e in payload["entries"]
        ]
        for entry in entries:
            if entry["label"].startswith("cutlass"):
                entry |= {"skipped": "nvcc was not found", "samples_ms": []}
        return {
            "entries": entries,
            "readings": [{"sm_clock_mhz": 1500.0, "power_w": 300.0}],
            "gpu": self.gpu,
            "regime": payload["regime"],
            "m": payload["m"],
            "n": payload["n"],
            "k": payload["k"],
            "driver": "580.65",
            "cuda": "13.0",
        }


@pytest.fixture
def machine(monkeypatch):
    """A machine with one of the GPUs and a worker that answers; kernels are compiled, not run."""

    def build(key: str, wrong: str = "") -> Worker:
        name, arch = GPUS[key]
        present = hardware.Present(name, arch, hardware.gpu(key).sms, (13, 0), 16.0, hardware.gpu(key))
        worker = Worker(name, wrong)
        monkeypatch.setattr(presence, "why_none", lambda: "")
        monkeypatch.setattr(device, "why_not", lambda: "")
        monkeypatch.setattr(device, "present", lambda: present)
        monkeypatch.setattr(device, "session", lambda: worker)
        monkeypatch.setattr(device, "launch", worker.launch)
        monkeypatch.setattr(speeds, "CHECK_N", 64)  # the worker multiplies in NumPy
        return worker

    return build


@pytest.mark.parametrize("key", GPUS)
def test_the_ladders_that_a_gpu_runs_are_picked(key):
    arch = GPUS[key][1]
    found = {plan.ladder.name: len(plan.kernels) for plan in speeds.plans((), arch)}
    assert found == expected(arch)
    assert ("b200" in found) == (key == "b200") and ("rtx5090" in found) == (key == "rtx5090")


def test_a_rung_or_a_ceiling_of_another_architecture_is_left_out_and_named():
    (plan,) = speeds.plans(["wmma"], "sm_75")
    assert 0 < len(plan.kernels) < len(plan.ladder) and plan.ceiling is None
    assert len(plan.left_out) == len(plan.ladder) - len(plan.kernels) + 1
    assert all("not for sm_75" in why for why in plan.left_out.values())


def test_a_ladder_that_does_not_run_here_is_refused_with_those_that_do():
    with pytest.raises(LabError, match=r"b200 has no kernel for Tesla T4 \(sm_75\)\. Ladders that run here: simt, t4"):
        speeds.plans(["b200"], "sm_75", "Tesla T4")
    with pytest.raises(LabError, match="No ladder has a kernel"):
        speeds.plans((), "sm_70")


def test_a_b200_records_one_file_with_every_condition(machine, tmp_path, capsys):
    worker = machine("b200")
    code = main(["speeds", "b200", "--sizes", "512,1024", "--rounds", "5", "--into", str(tmp_path)])
    said = capsys.readouterr()
    assert code == 0 and said.err.count("PASS") == 5 and "20 rows" not in said.err
    rows = list(csv.DictReader((tmp_path / "b200.csv").open()))
    spec = catalog.ladder("b200")
    names = [*(k.name for k in spec.kernels), *spec.baselines, spec.ceiling]
    assert len(rows) == 2 * 2 * len(names) and f"{len(rows)} rows → {tmp_path / 'b200.csv'}" in said.out
    assert {row["kernel"] for row in rows} == set(names) and tuple(rows[0]) == COLUMNS
    assert {(row["gpu"], row["driver"], row["cuda"], row["power_w"], row["sm_clock_mhz"]) for row in rows} == {
        ("NVIDIA B200", "580.65", "13.0", "300", "1500")
    }
    assert all(row["commit"] and row["date"] and row["ratio_cublas"] and row["ratio_ceiling"] for row in rows)
    samples = [json.loads(line) for line in (tmp_path / "raw" / "b200.jsonl").read_text().splitlines()]
    assert len(samples) == len(rows) and samples[0]["samples_ms"] == [1.0] * 5
    assert [(n, regime) for n, regime, _ in worker.timed] == [
        (512, "sustained"),
        (1024, "sustained"),
        (512, "burst"),
        (1024, "burst"),
    ]


def test_a_wrong_rung_is_named_and_not_timed(machine, tmp_path, capsys):
    worker = machine("b200", wrong="b200/03_warp_specialised")
    code = main(["speeds", "b200", "--sizes", "512", "--regimes", "burst", "--into", str(tmp_path)])
    out, err = capsys.readouterr()
    assert code == 1 and "FAIL  b200/03_warp_specialised" in err
    assert "wrong, not timed: b200/03_warp_specialised: " in out and "d[3, 5]" in out.lower()
    assert all("b200/03_warp_specialised" not in labels for _, _, labels in worker.timed) and worker.timed
    assert "03_warp" not in (tmp_path / "b200.csv").read_text()


def test_all_ladders_of_a_t4(machine, tmp_path, capsys, monkeypatch):
    """Without a name; what one size cannot do is said, and the other sizes are still recorded."""
    worker = machine("t4")
    monkeypatch.setattr(speeds, "_passes", lambda rung, wrong, say: True)
    code = main(["speeds", "--sizes", "100,1024", "--regimes", "burst", "--rounds", "2", "--into", str(tmp_path)])
    out, _ = capsys.readouterr()
    labels = {label for _, _, timed in worker.timed for label in timed}
    for name, count in expected("sm_75").items():
        assert sum(label.startswith(f"{name}/") for label in labels) == count
    assert (
        code == 0 and "t4/03_swizzled at 100" in out and "cutlass_sm75 at 1024" in out and "nvcc was not found" in out
    )


def test_what_fails_at_one_size_does_not_stop_the_others(machine, tmp_path, capsys):
    worker = machine("b200")
    answer = worker.request

    def request(op, **payload):
        if payload["m"] == 1024:
            raise device.DeviceOutOfMemory(2**34, 2**30)
        return answer(op, **payload)

    worker.request = request
    code = main(["speeds", "b200", "--sizes", "1024,512", "--regimes", "burst", "--into", str(tmp_path)])
    out, _ = capsys.readouterr()
    assert code == 0 and "not timed: b200 at 1024, burst" in out and "512" in (tmp_path / "b200.csv").read_text()


def test_nothing_is_recorded_without_a_gpu(monkeypatch):
    monkeypatch.setattr(presence, "why_none", lambda: "No GPU was found.")
    with pytest.raises(LabError, match="Nothing can be recorded here: No GPU was found."):
        speeds.record(here())
