"""`python -m tools.recording library`: cuBLAS named like a kernel."""

import json

import pytest

import gpu_runner as device
from gemm_lab import cli
from gemm_results.errors import LabError
from tools.recording.__main__ import main
from tools.recording.library_run import PROBLEMS, run_library


class Session:
    """Answers as the worker does: 2 ms a launch, or a reason why nothing was timed."""

    def __init__(self, refused=None):
        self.refused, self.payload = refused, None

    def request(self, op, **payload):
        self.payload = payload
        (entry,) = payload["entries"]
        samples = [] if self.refused else [2.0] * payload["rounds"]
        report = {
            "label": entry["label"],
            "check": {"relative_error": 1e-7},
            "skipped": self.refused,
            "samples_ms": samples,
        }
        return {
            "entries": [report],
            "readings": [],
            "cuda": "13.0",
            **{name: payload[name] for name in ("regime", "m", "n", "k")},
        }


@pytest.mark.parametrize("name", PROBLEMS)
def test_cublas_is_asked_for_the_product_of_the_wmma_ladder(name):
    session = Session()
    run = run_library(name, 512, 256, 128, session=session)
    problem, dtype = session.payload["problem"], name.split("_")[1]
    assert (problem["dtype_in"], problem["dtype_out"], problem["multiplied"]) == ("f32", "f32", dtype)
    assert run.passed and run.tflops == pytest.approx(2 * 512 * 256 * 128 / 2e-3 / 1e12)
    assert str(run).startswith(f"PASS  {name}") and "size 256 × 512 × 128" in str(run)
    assert run_library(name, 512, 256, 128, timed=False, session=Session()).as_dict()["tflops"] is None


def test_a_wrong_product_fails():
    run = run_library("cublas_bf16", 64, 64, 64, session=Session("not timed: 3 elements of D are wrong"))
    assert not run.passed and run.as_dict()["error"].startswith("not timed: 3 elements") and "FAIL" in str(run)


def test_the_simulator_cannot_run_a_library(capsys):
    with pytest.raises(LabError, match="cannot be simulated"):
        run_library("cublas_bf16", 512, 512, 512, backend="simulator")
    if not device.available():
        assert main(["library", "cublas_bf16"]) == 1 and "runs on a GPU only" in capsys.readouterr().err


def test_a_kernel_is_run_under_its_short_name(capsys):
    assert cli.main(["run", "unroll_bf16", "-n", "128", "--verify", "--backend", "simulator", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["kernel"] == "wmma/unroll_bf16" and row["passed"]


def test_the_ladder_is_benched_under_its_name_at_sizes_that_all_its_kernels_take(capsys):
    assert cli.main(["bench", "wmma", "--sizes", "1000"]) == 1
    assert "N = 1024" in capsys.readouterr().err
