"""`gemm-lab doctor`: examines what works on this machine, what does not, and which command would help."""

from __future__ import annotations

import importlib.metadata
import sys
from dataclasses import dataclass

import gpu_runner as device
from gemm_lab import compiling
from gpu_runner import settings
from gpu_runner.baselines import cutlass, nvcc
from gpu_simulator import compiler
from gpu_simulator.errors import MissingDependency, SimulatorError
from gpu_simulator.hardware.data_sheets import detect


@dataclass(frozen=True)
class SetupItem:
    """The result of examining one part of the setup.

    `what` names the part, `detail` says what was found, and `remedy` is the command or the advice that would help.
    `needed` is False if the lab works without this part.
    """

    what: str
    ok: bool
    detail: str
    remedy: str = ""
    needed: bool = True


_PROBE = 'extern "C" __global__ void __launch_bounds__(32) gemm(float* d, int n) { d[threadIdx.x] = n; }'


def examine() -> list[SetupItem]:
    """The results for all parts of the setup; each part comes after those that it depends on."""
    return [
        _python(),
        *_packages(),
        _compile(),
        _disassemble(),
        *_gpu(),
        *_server(),
        _torch(),
        _nvcc(),
        _cutlass(),
    ]


def _python() -> SetupItem:
    found = ".".join(map(str, sys.version_info[:3]))
    new_enough = sys.version_info >= (3, 10)
    return SetupItem("Python", new_enough, found, "" if new_enough else "Use Python 3.10 or newer.")


def _packages() -> list[SetupItem]:
    findings = []
    for name in ("numpy", "ml_dtypes", "matplotlib", "ipywidgets", "jupyterlab"):
        try:
            findings.append(SetupItem(name, True, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            needed = name in ("numpy", "ml_dtypes")
            findings.append(SetupItem(name, False, "not installed", f"pip install {name}", needed))
    return findings


def _compile() -> SetupItem:
    try:
        made = compiling.compile(_PROBE, arch="sm_75", name="probe")
    except SimulatorError as error:
        return SetupItem(
            "compiler", False, str(error), "pip install cuda-bindings 'cuda-toolkit[nvrtc,cudart,crt,cccl]'"
        )
    version = ".".join(map(str, compiler.version()))
    return SetupItem("compiler", True, f"NVRTC {version} compiles ({len(made.cubin):,} bytes for sm_75)")


def _disassemble() -> SetupItem:
    try:
        count = len(compiler.disassemble(compiling.compile(_PROBE, arch="sm_75", name="probe")))
    except SimulatorError as error:
        return SetupItem("disassembler", False, str(error), "pip install 'cuda-toolkit[nvdisasm]'", needed=False)
    return SetupItem("disassembler", count > 0, f"nvdisasm reads the kernel ({count} instructions)", needed=False)


def _gpu() -> list[SetupItem]:
    present = detect()
    if present is None:
        return [
            SetupItem(
                "GPU", False, "none found (no NVIDIA driver, or no device): kernels run on the simulator", needed=False
            )
        ]
    driver = ".".join(map(str, present.driver))
    detail = f"{present.name}, {present.arch}, {present.sms} SMs, driver for CUDA {driver}"
    gpu = SetupItem("GPU", True, detail, needed=False)
    if compiler.version()[0] > present.driver[0]:
        return [
            gpu,
            SetupItem(
                "driver",
                False,
                f"the driver supports CUDA {driver}, the compiler is "
                f"{compiler.version()[0]}.x: its kernels will not load",
                f"{settings.install_command(f'cuda{present.driver[0]}')}  (or update the driver)",
            ),
        ]
    if settings.server():
        return [gpu]
    usable = device.available()
    detail = "kernels can be launched" if usable else device.why_not()
    remedy = "" if usable else settings.install_command(f"cuda{present.driver[0]}")
    return [gpu, SetupItem("launching", usable, detail, remedy)]


def _server() -> list[SetupItem]:
    address = settings.server()
    if not address:
        return []
    try:
        here = device.present()
    except SimulatorError as error:
        return [SetupItem("GPU server", False, str(error), "gemm-lab serve  (on the server)")]
    found = f"{here.name}, {here.arch}" if here else "its workers simulate"
    return [SetupItem("GPU server", True, f"{found}, at {address}: kernels run there")]


def _torch() -> SetupItem:
    try:
        return SetupItem("torch", True, importlib.metadata.version("torch"), needed=False)
    except importlib.metadata.PackageNotFoundError:
        return SetupItem(
            "torch",
            False,
            "not installed: no Inductor baseline, no torch tensors",
            settings.install_command("torch"),
            needed=False,
        )


def _nvcc() -> SetupItem:
    try:
        path = nvcc.find()
        return SetupItem("nvcc", True, f"{nvcc.version(path)} at {path}", needed=False)
    except MissingDependency:
        return SetupItem(
            "nvcc",
            False,
            "not found on PATH, in CUDA_HOME or in /usr/local/cuda: no CUTLASS baselines",
            "install the CUDA Toolkit (only the baselines cutlass_sm75 and cutlass_sm80 need it)",
            needed=False,
        )


def _cutlass() -> SetupItem:
    try:
        return SetupItem("CUTLASS", True, f"headers {cutlass.headers()[1]}", needed=False)
    except MissingDependency:
        return SetupItem(
            "CUTLASS",
            False,
            "not installed: no baselines cutlass_sm75 and cutlass_sm80",
            settings.install_command("cutlass"),
            needed=False,
        )
