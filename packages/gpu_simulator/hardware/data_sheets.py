"""The figures of the course's GPUs, with their sources; detects which GPU is in this machine.

Peaks are dense, without sparsity. `None` means that no source was found. Most peaks can be checked by hand as SMs x
FLOP per clock and SM x clock. T4: 40 x 1024 x 1.59 GHz = 65.1; A100: 108 x 2048 x 1.41 = 311.9; RTX 5090: 170 x 1024 x
2.407 = 419.0 (FP16 accumulate; half of it with FP32); H100: 132 x 4096 x 1.83 = 989.4, at a lower clock than its FP32
peak (1.98 GHz).
"""

from __future__ import annotations

import ctypes
import re
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from gpu_simulator.argument_checks import checked, shown
from gpu_simulator.errors import LabError

KIB = 1024


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
    smem_banks: int = 32
    bank_bytes: int = 4
    smem_bytes_per_clock: int = 128  # per SM; the T4 has 32 banks too but moves 64 bytes a clock
    smem_per_block: int  # the most that one block can have, after opting in
    smem_per_sm: int
    smem_reserved_per_block: int = KIB
    smem_alloc_unit: int = 128
    registers_per_sm: int = 65536
    max_registers_per_thread: int = 255
    register_alloc_unit: int = 256  # registers; they are allocated to whole warps
    max_threads_per_sm: int
    max_blocks_per_sm: int
    max_threads_per_block: int = 1024
    warp_schedulers: int = 4
    power_w: int
    sources: Mapping[str, str] = field(compare=False, repr=False)  # field -> source

    @checked
    def peak(self, dtype_in: str, dtype_acc: str) -> float:
        """Dense tensor-core TFLOPS for this input and accumulator type. Raises `LabError` that lists the known ones."""
        try:
            return self.tensor_tflops[dtype_in, dtype_acc]
        except KeyError:
            known = ", ".join(f"{i} with {a} accumulate" for i, a in self.tensor_tflops)
            raise LabError(
                f"No tensor-core peak is known for {dtype_in} with {dtype_acc} accumulate "
                f"on the {self.name}; known: {known}."
            ) from None


_GUIDE = "CUDA C++ Programming Guide, technical specifications per compute capability"
_OCCUPANCY = "cuda_occupancy.h of the CUDA Toolkit 13.0"
_COMMON_SOURCES = {
    "smem_banks": "CUDA C++ Programming Guide, shared memory of compute capability 5.x and later",
    "bank_bytes": "CUDA C++ Programming Guide, shared memory of compute capability 5.x and later",
    "smem_per_block": _GUIDE,
    "smem_per_sm": _GUIDE,
    "smem_reserved_per_block": "reservedSharedMemPerBlock; A100, H100 and Blackwell tuning guides",
    "smem_alloc_unit": _OCCUPANCY,
    "registers_per_sm": _GUIDE,
    "max_registers_per_thread": _GUIDE,
    "register_alloc_unit": _OCCUPANCY,
    "max_threads_per_sm": _GUIDE,
    "max_blocks_per_sm": _GUIDE,
    "max_threads_per_block": _GUIDE,
}


def _sources(source: str, **special: str) -> dict[str, str]:
    fields = (
        "sms",
        "boost_mhz",
        "tensor_tflops",
        "fp32_tflops",
        "dram_gb",
        "dram_gbps",
        "l2_mb",
        "power_w",
        "smem_bytes_per_clock",
        "warp_schedulers",
    )
    return {**dict.fromkeys(fields, source), **_COMMON_SOURCES, **special}


_JIA = "Jia et al., arXiv:1903.07486, as quoted in the T4 article"

T4 = Gpu(
    key="t4",
    name="Tesla T4",
    arch="sm_75",
    sms=40,
    boost_mhz=1590,
    tensor_tflops={("f16", "f16"): 65.0, ("f16", "f32"): 65.0, ("i8", "i32"): 130.0},
    fp32_tflops=8.1,
    dram_gb=16,
    dram_gbps=320,
    dram_measured_gbps=220,
    l2_mb=4,
    l2_measured_gbps=1280,
    smem_measured_gbps=3662,
    smem_bytes_per_clock=64,
    smem_per_block=64 * KIB,
    smem_per_sm=64 * KIB,
    smem_reserved_per_block=0,
    smem_alloc_unit=256,
    max_threads_per_sm=1024,
    max_blocks_per_sm=16,
    power_w=70,
    sources=_sources(
        "NVIDIA T4 data sheet and Turing architecture whitepaper",
        boost_mhz="NVIDIA T4 product brief",
        smem_bytes_per_clock="Jia et al., arXiv:1903.07486; 40 x 64 B x 1.59 GHz = 4070 GB/s, measured 3662",
        smem_reserved_per_block="the reservation begins with compute capability 8.0 (A100 tuning guide)",
        dram_measured_gbps=_JIA,
        l2_measured_gbps="T4 article, in its formula; its own result there, 87.24 FLOP/byte, needs 1270 GB/s",
        smem_measured_gbps=_JIA,
    ),
)

A100 = Gpu(
    key="a100",
    name="A100-SXM4-40GB",
    arch="sm_80",
    sms=108,
    boost_mhz=1410,
    tensor_tflops={
        ("f16", "f16"): 312.0,
        ("f16", "f32"): 312.0,
        ("bf16", "f32"): 312.0,
        ("tf32", "f32"): 156.0,
        ("i8", "i32"): 624.0,
    },
    fp32_tflops=19.5,
    dram_gb=40,
    dram_gbps=1555,
    l2_mb=40,
    smem_per_block=163 * KIB,
    smem_per_sm=164 * KIB,
    max_threads_per_sm=2048,
    max_blocks_per_sm=32,
    power_w=400,
    sources=_sources(
        "NVIDIA A100 Tensor Core GPU architecture whitepaper",
        dram_gb="A100 data sheet, 40 GB SXM4; the 80 GB SXM4 model has 2039 GB/s and is otherwise the same",
        dram_gbps="A100 data sheet, 40 GB SXM4; the 80 GB SXM4 model has 2039 GB/s and is otherwise the same",
    ),
)

RTX5090 = Gpu(
    key="rtx5090",
    name="GeForce RTX 5090",
    arch="sm_120a",
    sms=170,
    boost_mhz=2407,
    tensor_tflops={
        ("f16", "f16"): 419.0,
        ("f16", "f32"): 209.5,
        ("bf16", "f32"): 209.5,
        ("tf32", "f32"): 104.8,
        ("f8", "f16"): 838.0,
        ("f8", "f32"): 419.0,
        ("i8", "i32"): 838.0,
    },
    fp32_tflops=104.8,
    dram_gb=32,
    dram_gbps=1792,
    l2_mb=96,
    smem_per_block=99 * KIB,
    smem_per_sm=100 * KIB,
    max_threads_per_sm=1536,
    max_blocks_per_sm=24,
    power_w=575,
    sources=_sources(
        "NVIDIA RTX Blackwell GPU architecture whitepaper",
        tensor_tflops="NVIDIA RTX Blackwell GPU architecture whitepaper; 209.5 also in the Ampere article",
    ),
)

_HOPPER_TENSOR = {
    ("f16", "f16"): 989.4,
    ("f16", "f32"): 989.4,
    ("bf16", "f32"): 989.4,
    ("tf32", "f32"): 494.7,
    ("f8", "f16"): 1978.9,
    ("f8", "f32"): 1978.9,
    ("i8", "i32"): 1978.9,
}
_HOPPER_CLOCK = "NVIDIA H100 Tensor Core GPU architecture whitepaper; the tensor peaks are at 1830 MHz"

H100 = Gpu(
    key="h100",
    name="H100 SXM5 80GB",
    arch="sm_90a",
    sms=132,
    boost_mhz=1980,
    tensor_tflops=_HOPPER_TENSOR,
    fp32_tflops=66.9,
    dram_gb=80,
    dram_gbps=3352,
    l2_mb=50,
    smem_per_block=227 * KIB,
    smem_per_sm=228 * KIB,
    max_threads_per_sm=2048,
    max_blocks_per_sm=32,
    power_w=700,
    sources=_sources("NVIDIA H100 Tensor Core GPU architecture whitepaper", boost_mhz=_HOPPER_CLOCK),
)

H200 = Gpu(
    key="h200",
    name="H200 SXM",
    arch="sm_90a",
    sms=132,
    boost_mhz=1980,
    tensor_tflops=_HOPPER_TENSOR,
    fp32_tflops=66.9,
    dram_gb=141,
    dram_gbps=4800,
    l2_mb=60,
    smem_per_block=227 * KIB,
    smem_per_sm=228 * KIB,
    max_threads_per_sm=2048,
    max_blocks_per_sm=32,
    power_w=700,
    sources=_sources(
        "NVIDIA H100 Tensor Core GPU architecture whitepaper (the H200 is the same chip)",
        boost_mhz=_HOPPER_CLOCK,
        dram_gb="NVIDIA H200 data sheet",
        dram_gbps="NVIDIA H200 data sheet",
        power_w="NVIDIA H200 data sheet",
        l2_mb="device query of an H200: 62,914,560 bytes; the H100 has 50 MB",
    ),
)

B200 = Gpu(
    key="b200",
    name="B200",
    arch="sm_100a",
    sms=148,
    boost_mhz=None,
    tensor_tflops={
        ("f16", "f32"): 2250.0,
        ("bf16", "f32"): 2250.0,
        ("tf32", "f32"): 1125.0,
        ("f8", "f32"): 4500.0,
        ("i8", "i32"): 4500.0,
    },
    fp32_tflops=75.0,
    dram_gb=180,
    dram_gbps=7700,
    l2_mb=126,
    smem_per_block=227 * KIB,
    smem_per_sm=228 * KIB,
    max_threads_per_sm=2048,
    max_blocks_per_sm=32,
    power_w=1000,
    sources=_sources(
        "NVIDIA Blackwell data sheet, one GPU of an HGX B200",
        tensor_tflops="NVIDIA Blackwell data sheet, one GPU of an HGX B200, its sparse figures halved. "
        "TF32 is half of FP16, printed there as 2.2 PFLOPS; no accumulator types are named",
        dram_gbps="NVIDIA Blackwell data sheet, one GPU of an HGX B200; the DGX B200 data sheet has 8000",
        sms="device query of a B200 (cudaDevAttrMultiProcessorCount), and the B200 walk-through",
        boost_mhz="not published",
        l2_mb="NVIDIA Blackwell tuning guide",
        smem_bytes_per_clock="taken as for the H100; no source found",
        warp_schedulers="taken as for the H100; no source found",
    ),
)

GPUS: dict[str, Gpu] = {g.key: g for g in (T4, A100, RTX5090, H100, H200, B200)}

# Words in the names of variants, whose figures differ from those of the model.
_OTHER_MODELS = {"pcie", "nvl", "laptop", "d", "max", "mig"}


def gpu(key_or_name: str | Gpu) -> Gpu:
    """The `Gpu` of a key ("h200") or of a device name of the driver ("NVIDIA H200"); a `Gpu` is returned as it is.

    Raises `LabError` that lists the known GPUs, also for a PCIe, NVL, laptop or MIG variant, whose figures differ.
    """
    if isinstance(key_or_name, Gpu):
        return key_or_name
    found = _match(str(key_or_name)) if isinstance(key_or_name, str) else None
    if found is None:
        raise LabError(f"No figures are known for the GPU {shown(key_or_name)}; known are {', '.join(GPUS)}.")
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
