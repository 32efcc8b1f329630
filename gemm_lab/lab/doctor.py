"""`gemm-lab doctor`: examines what works on this machine, what does not, and which command would help."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import gpu_runner as device
from gemm_lab import compiling
from gpu_runner import settings
from gpu_runner.baselines import cutlass, nvcc
from gpu_simulator import compiler
from gpu_simulator.errors import SimulatorError
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


def _tried(what: str, find: Callable[[], str], remedy: str, missing: str = "", needed: bool = False) -> SetupItem:
    """What `find` returns, or why it found nothing: `missing`, or else its error."""
    try:
        return SetupItem(what, True, find(), needed=needed)
    except (SimulatorError, importlib.metadata.PackageNotFoundError) as error:
        return SetupItem(what, False, missing or str(error), remedy, needed)


def _packages() -> list[SetupItem]:
    return [
        _tried(name, partial(importlib.metadata.version, name), f"pip install {name}", "not installed", needed)
        for needed, names in ((True, ("numpy", "ml_dtypes")), (False, ("matplotlib", "ipywidgets", "jupyterlab")))
        for name in names
    ]


def _compile() -> SetupItem:
    def find() -> str:
        made = compiling.compile(_PROBE, arch="sm_75", name="probe")
        version = ".".join(map(str, compiler.version()))
        return f"NVRTC {version} compiles ({len(made.cubin):,} bytes for sm_75)"

    remedy = "pip install cuda-bindings 'cuda-toolkit[nvrtc,cudart,crt,cccl]'"
    return _tried("compiler", find, remedy, needed=True)


def _disassemble() -> SetupItem:
    def find() -> str:
        count = len(compiler.disassemble(compiling.compile(_PROBE, arch="sm_75", name="probe")))
        return f"nvdisasm reads the kernel ({count} instructions)"

    return _tried("disassembler", find, "pip install 'cuda-toolkit[nvdisasm]'")


def _gpu() -> list[SetupItem]:
    present = detect()
    if present is None:
        found = "none found (no NVIDIA driver, or no device): kernels run on the simulator"
        return [SetupItem("GPU", False, found, needed=False)]
    driver = ".".join(map(str, present.driver))
    detail = f"{present.name}, {present.arch}, {present.sms} SMs, driver for CUDA {driver}"
    gpu = SetupItem("GPU", True, detail, needed=False)
    matching, major = settings.install_command(f"cuda{present.driver[0]}"), compiler.version()[0]
    if major > present.driver[0]:
        detail = f"the driver supports CUDA {driver}, the compiler is {major}.x: its kernels will not load"
        return [gpu, SetupItem("driver", False, detail, f"{matching}  (or update the driver)")]
    if settings.server():
        return [gpu]
    if device.available():
        return [gpu, SetupItem("launching", True, "kernels can be launched")]
    return [gpu, SetupItem("launching", False, device.why_not(), matching)]


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
    without = "not installed: no Inductor baseline, no torch tensors"
    return _tried("torch", lambda: importlib.metadata.version("torch"), settings.install_command("torch"), without)


def _nvcc() -> SetupItem:
    without = "not found on PATH, in CUDA_HOME or in /usr/local/cuda: no CUTLASS baselines"
    remedy = "install the CUDA Toolkit (only the baselines cutlass_sm75 and cutlass_sm80 need it)"
    return _tried("nvcc", lambda: f"{nvcc.version(path := nvcc.find())} at {path}", remedy, without)


def _cutlass() -> SetupItem:
    without = "not installed: no baselines cutlass_sm75 and cutlass_sm80"
    return _tried("CUTLASS", lambda: f"headers {cutlass.headers()[1]}", settings.install_command("cutlass"), without)
