"""The command line: JSON that scripts can read, exit codes that can be trusted, sentences for mistakes."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys

import pytest

import gemm_lab as lab
import gpu_runner as device
from gemm_lab import catalog, cli
from gemm_lab.lab import on_simulator

needs_no_gpu = pytest.mark.skipif(device.available(), reason="says what happens without a GPU")


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = cli.main(list(words))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_list_json(capsys):
    code, out, _ = run(capsys, "list", "--json")
    rows = json.loads(out)
    assert code == 0 and [row["name"] for row in rows] == list(catalog.kernels())
    for row in rows:
        assert set(row) >= {"name", "ladder", "targets", "runs_here"}
        assert isinstance(row["runs_here"], bool)
        assert ("sm_100a" if row["ladder"] == "b200" else "sm_90a") in row["targets"]


def test_list_for_people(capsys):
    code, out, _ = run(capsys, "list")
    assert code == 0 and "t4/03_swizzled" in out


RUN_KEYS = {
    "kernel",
    "backend",
    "m",
    "n",
    "k",
    "passed",
    "error",
    "tflops",
    "timed_at",
    "wavefronts",
    "ideal_wavefronts",
}


def test_run_json_has_one_object_per_kernel_and_the_exit_code_follows(capsys):
    code, out, _ = run(capsys, "run", "simt", "-n", "64", "-m", "96", "-k", "40", "--verify", "--json")
    rows = json.loads(out)
    assert len(rows) == len(catalog.ladder("simt").kernels)
    for row in rows:
        assert set(row) == RUN_KEYS
        assert (row["m"], row["n"], row["k"]) == (96, 64, 40)
        assert (row["error"] is None) == row["passed"]
    assert (code == 0) == all(row["passed"] for row in rows)


KERNEL = 'extern "C" __global__ void k(volatile int* a) { while (a[0] == 0) {} }\n'


def test_a_launch_of_the_simulator_ends_and_says_in_time_that_it_will(capsys, tmp_path, monkeypatch):
    file = tmp_path / "spin.cu"
    file.write_text(KERNEL)
    monkeypatch.setattr(on_simulator, "WORD_S", 0.2)
    code, _, err = run(capsys, "simulate", str(file), "--arg", "i32[4]", "--max-seconds", "1.5")
    assert code == 1 and f"Still running: {file}, for 1.5 seconds at most" in err and "longer than its limit" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("/dev/zero",), "a kernel has fewer"),
        (("/dev/null", "--arg", "f32[99999999999999]"), "may be used"),
        (("/dev/null", "--arg", "nothing.npy"), "cannot be read"),
    ],
)
def test_files_and_arguments_without_end_are_refused(capsys, words, says):
    code, _, err = run(capsys, "simulate", *words)
    assert code == 2 and says in err


def test_places_that_cannot_be_written_are_a_sentence(capsys, tmp_path):
    file = tmp_path / "one.cu"
    file.write_text('extern "C" __global__ void k(int* a) { a[0] = 1; }\n')
    code, _, err = run(capsys, "simulate", str(file), "--arg", "i32[4]", "--save", str(file))
    assert code == 2 and f"cannot be written to {file}: File exists" in err
    code, _, err = run(capsys, "notebooks", str(file))
    assert code == 2 and "Choose another folder" in err


@pytest.mark.parametrize("port", ["-1", "99999999", "many"])
def test_a_port_is_one(capsys, port):
    with pytest.raises(SystemExit):
        cli.main(["serve", f"--port={port}"])
    assert "is not a port, 0 to 65535" in capsys.readouterr().err


def test_a_ceiling_is_no_product(capsys):
    code, out, _ = run(capsys, "run", "ceilings/ffma", "-n", "64")
    assert code == 1 and "multiplies no matrices" in out


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("words", [("run", "simt/01", "-n", "32"), ("list",), ("run", "simt/01", "-n", "0")])
def test_a_terminal_and_a_system_without_utf8_will_do(words, tmp_path):
    """Files of ours are UTF-8 whatever the locale says; what a terminal cannot show is a question mark."""
    plain = {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "GEMM_LAB_CACHE": str(tmp_path),
        "GEMM_LAB_BACKEND": "simulator",
    }
    done = subprocess.run(
        [sys.executable, "-m", "gemm_lab.cli", *words], env={**os.environ, **plain}, capture_output=True, timeout=120
    )
    assert b"Traceback" not in done.stderr and done.stdout.isascii()
    assert done.returncode == ("0" in words)


def test_a_bad_size_fails_with_the_size_that_works(capsys):
    code, out, _ = run(capsys, "run", "t4/01", "-n", "500", "--json")
    (row,) = json.loads(out)
    assert code == 1 and row["passed"] is False and "M = 512, N = 512, K = 512" in row["error"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("run", "t4/03_swizled"), "Did you mean “t4/03_swizzled”"),
        (("run", "t4/03", "--set", "BLOCKK=1"), "Did you mean BLOCK_K"),
        (("run", "t4/03", "--set", "BLOCK_K"), "BLOCK_K=32"),
        (("bench", "t5"), "“t4”"),
        (("bench", "t4", "--sizes", "1000"), "M = 1024"),
        (("export", "nothing"), "There is no kernel"),
        (("predict", "t4/33"), "There is no kernel"),
        (("predict", "t4/03", "--on", "gtx480"), "h200"),
        (("predict", "t4/03", "--set", "BLOCK_K"), "BLOCK_K=32"),
        (("predict", "t4/03", "-n", "1000"), "multiple"),
    ],
)
def test_mistakes_get_a_sentence_and_no_traceback(capsys, words, sentence):
    code, out, err = run(capsys, *words)
    assert code == (1 if "BLOCKK=1" in words else 2) and sentence in out + err and "Traceback" not in out + err


@needs_no_gpu
def test_predict_prints_the_card_of_the_kernel_with_its_settings(capsys):
    code, out, _ = run(capsys, "predict", "t4/03", "-n", "1024", "-k", "2048", "--set", "BLOCK_M=128")
    assert code == 0 and "BLOCK_M=128" in out and "predicted for an H200" in out and "not measured" in out
    assert lab.kernel("t4/03", BLOCK_M=128).predict(n=1024, k=2048).headline in " ".join(out.split())


def test_a_backend_that_is_not_here_is_said(capsys):
    code, out, _ = run(capsys, "run", "t4/03", "--backend", "gpu", "--json")
    assert code == 1 and "GPU" in json.loads(out)[0]["error"]


def test_doctor_names_what_works(capsys):
    code, out, _ = run(capsys, "doctor")
    assert code == 0 and "NVRTC" in out and "GPU" in out
    _, out, _ = run(capsys, "doctor", "--json")
    assert {f["what"] for f in json.loads(out)} >= {
        "Python",
        "compiler",
        "disassembler",
        "GPU",
        "torch",
        "nvcc",
        "CUTLASS",
    }


def test_doctor_names_what_the_baselines_and_the_profiles_need(capsys, monkeypatch, tmp_path):
    from gpu_runner.baselines import nvcc

    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(nvcc, "USUAL_FOLDERS", ())
    code, out, _ = run(capsys, "doctor")
    assert code == 0 and "nvcc: not found" in out and "CUDA Toolkit" in out, "only the baselines need it"
    tool = tmp_path / "nvcc"
    tool.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
    tool.chmod(0o755)
    nvcc.version.cache_clear()
    assert f"nvcc: 13.0.88 at {tool}" in run(capsys, "doctor")[1]
    nvcc.version.cache_clear()


def test_doctor_says_what_to_type(capsys, monkeypatch):
    from gpu_simulator import compiler
    from gpu_simulator.errors import MissingDependency

    def missing(*_, **__):
        raise MissingDependency("NVRTC is not usable here.")

    monkeypatch.setattr(compiler, "compile", missing)
    code, out, _ = run(capsys, "doctor")
    assert code == 1 and "pip install cuda-bindings" in out


def test_doctor_suggests_only_packages_that_an_index_has(monkeypatch):
    from gemm_lab.lab import doctor
    from gpu_runner import settings
    from gpu_runner.baselines import cutlass
    from gpu_simulator.errors import MissingDependency

    def missing(*_, **__):
        raise MissingDependency("It is not installed.")

    monkeypatch.setattr(cutlass, "headers", missing)
    assert doctor._cutlass().remedy == "pip install 'nvidia-cutlass>=4.2'"
    with monkeypatch.context() as patched:
        patched.setattr(importlib.metadata, "version", lambda name: missing_package(name))
        assert doctor._torch().remedy == "pip install 'torch>=2.11'"
    assert settings.install_command("classroom").split()[2:] == [
        "'httpx>=0.27'",
        *(["'landlockpy>=0.2'"] if sys.platform == "linux" else []),
        "'tornado>=6.4'",
    ]
    assert settings.install_command("no such extra") == "pip install --editable '.[no such extra]'", "in a clone"


def missing_package(name):
    raise importlib.metadata.PackageNotFoundError(name)


@pytest.mark.parametrize(
    ("name", "arch", "says"),
    [
        ("t4/03", (), "-arch=sm_75"),
        ("ampere/11", (), "-arch=sm_80"),
        ("rtx5090/02", (), "-gencode arch=compute_120a,code=sm_120a"),
        ("hopper/02", (), "-gencode arch=compute_90a,code=sm_90a"),
        ("ampere/11", ("--arch", "sm_120a"), "-gencode arch=compute_120a,code=sm_120a"),
        ("t4/03", ("--arch", "sm_80"), "-arch=sm_80"),
    ],
)
def test_an_export_is_for_the_ladders_gpu_or_for_the_one_that_is_named(capsys, name, arch, says):
    code, out, _ = run(capsys, "export", name, *arch)
    assert code == 0 and f"// Build: nvcc -O3 -std=c++17 {says} FILE.cu" in out


@pytest.mark.parametrize(("name", "arch"), [("hopper/02", "sm_120a"), ("t4/03", "5090"), ("rtx5090/02", "sm_75")])
def test_an_export_for_a_gpu_that_the_kernel_is_not_written_for_is_a_sentence(capsys, name, arch):
    code, out, err = run(capsys, "export", name, "--arch", arch)
    assert code == 2 and not out and arch in err and "sm_" in err


def test_export_writes_a_file(capsys, tmp_path):
    target = tmp_path / "k.cu"
    code, out, _ = run(capsys, "export", "t4/03", "-o", str(target), "--set", "BLOCK_M=128")
    assert code == 0 and str(target) in out
    assert re.search(r"constexpr int BLOCK_M = 128;", target.read_text())
    code, _, err = run(capsys, "export", "t4/03", "-o", str(tmp_path / "no" / "k.cu"))
    assert code == 2 and "cannot be written" in err


def test_the_program_shows_its_help():
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "gemm_lab.cli", "--help"], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0
    for command in ("doctor", "list", "run", "calibrate", "bench", "notebooks", "simulate", "serve", "export"):
        assert re.search(rf"^\s+{command}\s", done.stdout, re.M)


TRANSPOSE = """extern "C" __global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * n + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def test_simulate_runs_a_file_from_elsewhere(capsys, tmp_path):
    import numpy as np

    file = tmp_path / "transpose.cu"
    file.write_text(TRANSPOSE)
    words = [
        "simulate",
        str(file),
        "--block",
        "32,32",
        "--arg",
        "f32[1024]=arange",
        "--arg",
        "f32[1024]",
        "--arg",
        "32",
    ]
    code, out, _ = run(capsys, *words, "--save", str(tmp_path / "out"))
    assert code == 0 and re.search(r"1,?024\s+32\.0\s.*out\[", out)
    assert np.array_equal(np.load(tmp_path / "out" / "array1.npy").reshape(32, 32), np.arange(1024).reshape(32, 32).T)
    file.write_text(TRANSPOSE.replace("  __syncthreads();\n", ""))
    code, out, _ = run(capsys, *words, "--hazards")
    assert code == 1 and "hazard (race):" in out


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("q32[1024]", "is not an argument"),
        ("f32[10]", "past the end"),
        ("none.npy", "cannot be read"),
    ],
)
def test_simulate_refuses_bad_arguments(capsys, tmp_path, argument, sentence):
    file = tmp_path / "transpose.cu"
    file.write_text(TRANSPOSE)
    code, _, err = run(
        capsys, "simulate", str(file), "--block", "32,32", "--arg", argument, "--arg", "f32[1024]", "--arg", "32"
    )
    assert code == (1 if sentence == "past the end" else 2) and sentence in err


def test_first_kernels_and_ceilings_are_not_recorded_unless_named():
    from gemm_lab.lab.ladder import measured_ladders

    assert {"simt", "t4", "ampere"} <= set(measured_ladders())
    assert not {"first_kernels", "ceilings"} & set(measured_ladders())
