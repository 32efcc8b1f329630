"""The figures of the course's GPUs, with their sources; detects which GPU is in this machine.

Peaks are dense, without sparsity. `None` means that no source was found. Most peaks can be checked by hand as SMs x
FLOP per clock and SM x clock. T4: 40 x 1024 x 1.59 GHz = 65.1; A100: 108 x 2048 x 1.41 = 311.9; RTX 5090: 170 x 1024 x
2.407 = 419.0 (FP16 accumulate; half of it with FP32); H100: 132 x 4096 x 1.83 = 989.4, at a lower clock than its FP32
peak (1.98 GHz).
"""

from __future__ import annotations

import csv
import ctypes
import re
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_simulator.argument_checks import checked, shown
from gpu_simulator.errors import SimulatorError


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One GPU model. Bandwidths in GB/s (10^9), DRAM in GB, L2 in MiB, shared memory in bytes."""

    key: str
    name: str
    arch: str
    sms: int
    boost_mhz: int | None
    # (input, accumulator) -> dense TFLOPS (TOPS for i8); names: f16 bf16 tf32 f32 f8 i8 i32
    tensor_tflops: Mapping[tuple[str, str], float] = field(compare=False)
    fp32_tflops: float
    dram_gb: float
    dram_gbps: float
    dram_measured_gbps: float | None = None
    l2_mb: float
    l2_measured_gbps: float | None = None
    smem_measured_gbps: float | None = None
    smem_banks: int
    bank_bytes: int
    smem_bytes_per_clock: int  # per SM; the T4 has 32 banks too but moves 64 bytes a clock
    smem_per_block: int  # the most that one block can have, after opting in
    smem_per_sm: int
    smem_reserved_per_block: int
    smem_alloc_unit: int
    registers_per_sm: int
    max_registers_per_thread: int
    register_alloc_unit: int  # registers; they are allocated to whole warps
    max_threads_per_sm: int
    max_blocks_per_sm: int
    max_threads_per_block: int
    warp_schedulers: int
    power_w: int
    sources: Mapping[str, str] = field(compare=False, repr=False)  # field -> source

    @checked
    def peak(self, dtype_in: str, dtype_acc: str) -> float:
        """Dense tensor-core TFLOPS for this input and accumulator type. `SimulatorError` lists the known ones."""
        dtype_in = "f8" if dtype_in in ("e4m3", "e5m2") else dtype_in
        try:
            return self.tensor_tflops[dtype_in, dtype_acc]
        except KeyError:
            known = ", ".join(f"{i} with {a} accumulate" for i, a in self.tensor_tflops)
            raise SimulatorError(
                f"No tensor-core peak is known for {dtype_in} with {dtype_acc} accumulate "
                f"on the {self.name}; known: {known}."
            ) from None


def _sheet(key: str) -> Gpu:
    """The GPU of `sheets/<key>.csv`, whose columns are name, value, unit and source; an unknown value is empty."""
    values: dict[str, Any] = {}
    peaks: dict[tuple[str, str], float] = {}
    sources: dict[str, str] = {}
    with (Path(__file__).parent / "sheets" / f"{key}.csv").open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            (name, *types), text = row["name"].split(), row["value"]
            sources[name] = row["source"]
            if types:
                peaks[types[0], types[1]] = float(text)
            elif name in ("name", "arch"):
                values[name] = text
            else:
                values[name] = None if not text else int(text) if text.isdecimal() else float(text)
    return Gpu(key=key, tensor_tflops=peaks, sources=sources, **values)


GPUS = {key: _sheet(key) for key in ("t4", "a100", "rtx5090", "h100", "h200", "b200")}
T4, A100, RTX5090, H100, H200, B200 = GPUS.values()

# Words in the names of variants, whose figures differ from those of the model.
_OTHER_MODELS = {"pcie", "nvl", "laptop", "d", "max", "mig"}


def gpu(key_or_name: str | Gpu) -> Gpu:
    """The `Gpu` of a key ("h200") or of a device name of the driver ("NVIDIA H200"); a `Gpu` is returned as it is.

    Raises `SimulatorError` with the known GPUs, also for a PCIe, NVL, laptop or MIG variant, whose figures differ.
    """
    if isinstance(key_or_name, Gpu):
        return key_or_name
    found = _match(str(key_or_name)) if isinstance(key_or_name, str) else None
    if found is None:
        raise SimulatorError(f"No figures are known for the GPU {shown(key_or_name)}; known are {', '.join(GPUS)}.")
    return found


def with_article(name: str) -> str:
    """A GPU's name with "a" or "an", as it is spoken: an H200, an RTX 5090, a B200, a Tesla T4."""
    spelled = len(name) < 2 or not name[1].islower()  # its first letter is read as a letter
    return f"{'an' if name[:1] in ('AEFHILMNORSX' if spelled else 'AEIOU') else 'a'} {name}"


def _match(name: str) -> Gpu | None:
    words = re.findall(r"[a-z0-9]+", name.lower())
    if _OTHER_MODELS.intersection(words):
        return None
    pairs = {a + b for a, b in zip(words, words[1:], strict=False)}  # "RTX 5090" -> "rtx5090"
    return next((g for g in GPUS.values() if g.key in words or g.key in pairs), None)


@dataclass(frozen=True)
class Present:
    """The first visible CUDA device: its name, architecture, driver and, if its figures are known, its `Gpu`."""

    name: str
    arch: str  # the exact architecture to compile for, "sm_90a"
    sms: int
    driver: tuple[int, int]  # newest CUDA version that the driver supports, (13, 0)
    memory_gb: float
    gpu: Gpu | None
    uuid: str = ""  # "GPU-…"; "" if the driver does not give it


def arch_of(major: int, minor: int) -> str:
    """The architecture to compile for, by compute capability; "a" adds the features that only this architecture has."""
    suffix = "a" if (major, minor) in {(9, 0), (10, 0), (10, 3), (12, 0)} else ""
    return f"sm_{major}{minor}{suffix}"


@lru_cache(maxsize=1)
def detect() -> Present | None:
    """The first visible CUDA device, or None without a driver or device. Never raises; the answer is kept.

    Asks libcuda only, without creating a context. The driver itself applies CUDA_VISIBLE_DEVICES. `gpu` is None for a
    model that is not in `GPUS`, and for a part of a GPU (MIG), which has fewer SMs.
    """
    try:
        return _ask_driver(ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"))
    except Exception:  # no library, a library without these entry points, a driver that does not answer
        return None


def count() -> int:
    """The number of visible CUDA devices; 0 without a driver. Never raises."""
    found = ctypes.c_int()
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        asked = cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(found)) == 0
    except (OSError, AttributeError):
        return 0
    return found.value if asked else 0


_ATTRIBUTE_SMS, _ATTRIBUTE_MAJOR, _ATTRIBUTE_MINOR = 16, 75, 76  # CUdevice_attribute in cuda.h


def _ask_driver(cuda: ctypes.CDLL) -> Present | None:
    def call(function: str, *args: object) -> None:
        status = getattr(cuda, function)(*args)
        if status != 0:
            raise OSError(f"{function} returned {status}")

    def attribute(number: int) -> int:
        value = ctypes.c_int()
        call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    count, device, version = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    memory, name = ctypes.c_size_t(), ctypes.create_string_buffer(256)
    call("cuInit", 0)
    call("cuDeviceGetCount", ctypes.byref(count))
    if count.value == 0:
        return None
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDeviceGetName", name, len(name), device)
    call("cuDeviceTotalMem_v2", ctypes.byref(memory), device)
    call("cuDriverGetVersion", ctypes.byref(version))
    text, sms = name.value.decode(errors="replace"), attribute(_ATTRIBUTE_SMS)
    known = _match(text)
    return Present(
        name=text,
        arch=arch_of(attribute(_ATTRIBUTE_MAJOR), attribute(_ATTRIBUTE_MINOR)),
        sms=sms,
        driver=(version.value // 1000, version.value % 1000 // 10),
        memory_gb=round(memory.value / 1e9, 1),
        gpu=known if known is not None and known.sms == sms else None,
        uuid=_uuid(cuda, device),
    )


def _uuid(cuda: ctypes.CDLL, device: ctypes.c_int) -> str:
    """The GPU's UUID as nvidia-smi prints it, or that of a part of a GPU (MIG); "" if the driver does not give it."""
    raw = (ctypes.c_ubyte * 16)()
    try:
        if cuda.cuDeviceGetUuid_v2(raw, device) != 0:
            return ""
    except AttributeError:
        return ""
    return f"GPU-{uuid.UUID(bytes=bytes(raw))}"
