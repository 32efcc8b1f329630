"""The CUDA driver as the worker uses it: one context, memory, modules, launches, events.

Plain ctypes on libcuda, whose C interface is stable across driver versions; structure layouts and attribute
numbers are those of `cuda.h`. Everything runs in the legacy default stream, which PyTorch uses as well.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from gemm_lab.device.faults import DeviceOutOfMemory, KernelFault
from gemm_lab.device.wire import dtype_of, name_of
from gemm_lab.errors import LabError, LaunchError

MAJOR, MINOR, SM_COUNT, L2_BYTES, SMEM_OPTIN = 75, 76, 16, 38, 97
MAX_DYNAMIC_SMEM, NON_PORTABLE_CLUSTER, CLUSTER_DIMENSION = 8, 14, 4
HOST_PORTABLE_MAPPED = 3
FAULTS = {
    700: "it accessed an address outside every array",
    710: "a device-side assert failed",
    714: "the hardware stack failed",
    715: "it met an illegal instruction",
    716: "it accessed a misaligned address",
    717: "it used an address of the wrong memory space",
    718: "it jumped to an invalid instruction",
    719: "it was stopped by a trap or by an access to shared or local memory that is not its own",
    721: "it left tensor memory allocated",
}


class DriverError(LabError):
    """A driver call failed; `code` and `name` are CUDA's."""

    def __init__(self, call: str, code: int, name: str):
        super().__init__(f"The CUDA driver refused {call}: {name}.")
        self.call, self.code, self.name = call, code, name


class _LaunchAttribute(ctypes.Structure):
    _fields_ = [
        ("id", ctypes.c_int),
        ("pad", ctypes.c_int),
        ("x", ctypes.c_uint),
        ("y", ctypes.c_uint),
        ("z", ctypes.c_uint),
        ("rest", ctypes.c_char * 52),
    ]


class _LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("smem", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attrs", ctypes.POINTER(_LaunchAttribute)),
        ("count", ctypes.c_uint),
    ]


class Buffer:
    """Device memory: `address` and `nbytes`; freed by `free()` or when its context manager ends."""

    def __init__(self, device: Device, nbytes: int):
        self.device, self.nbytes = device, nbytes
        address = ctypes.c_uint64()
        code = device.cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(nbytes, 16)))
        if code == 2:
            raise DeviceOutOfMemory(nbytes, device.memory()[0])
        device.check(code, "cuMemAlloc")
        self.address = address.value

    def write(self, array: np.ndarray) -> None:
        array = np.ascontiguousarray(array)
        if array.nbytes:
            self.device.call(
                "cuMemcpyHtoD_v2",
                ctypes.c_uint64(self.address),
                ctypes.c_void_p(array.ctypes.data),
                ctypes.c_size_t(array.nbytes),
            )

    def read(self, dtype: str, shape: Sequence[int]) -> np.ndarray:
        out = np.empty(tuple(shape), dtype_of(dtype))
        if out.nbytes:
            self.device.call(
                "cuMemcpyDtoH_v2",
                ctypes.c_void_p(out.ctypes.data),
                ctypes.c_uint64(self.address),
                ctypes.c_size_t(out.nbytes),
            )
        return out

    def read_at(self, offset_bytes: int, dtype: str) -> np.ndarray:
        """One element, at a distance in bytes from the start."""
        out = np.empty((), dtype_of(dtype))
        self.device.call(
            "cuMemcpyDtoH_v2",
            ctypes.c_void_p(out.ctypes.data),
            ctypes.c_uint64(self.address + offset_bytes),
            ctypes.c_size_t(out.nbytes),
        )
        return out

    def fill(self, byte: int) -> None:
        """Set every byte; 0xFF makes every f16, bf16 and f32 a NaN, which is the poison before a check."""
        self.device.call(
            "cuMemsetD8_v2", ctypes.c_uint64(self.address), ctypes.c_ubyte(byte), ctypes.c_size_t(self.nbytes)
        )

    def copy_from(self, other: Buffer) -> None:
        self.device.call(
            "cuMemcpyDtoD_v2",
            ctypes.c_uint64(self.address),
            ctypes.c_uint64(other.address),
            ctypes.c_size_t(min(self.nbytes, other.nbytes)),
        )

    def free(self) -> None:
        if self.address:
            self.device.cuda.cuMemFree_v2(ctypes.c_uint64(self.address))
            self.address = 0


class Event:
    """A point in the default stream's time."""

    def __init__(self, device: Device):
        self.device, self.handle = device, ctypes.c_void_p()
        device.call("cuEventCreate", ctypes.byref(self.handle), ctypes.c_uint(0))

    def record(self) -> Event:
        self.device.call("cuEventRecord", self.handle, ctypes.c_void_p(None))
        return self

    def wait(self) -> None:
        self.device.call("cuEventSynchronize", self.handle)

    def done(self) -> bool:
        code = self.device.cuda.cuEventQuery(self.handle)
        if code != 600:  # not ready
            self.device.check(code, "cuEventQuery")
        return code == 0

    def since(self, start: Event) -> float:
        """Milliseconds from `start` to this event."""
        span = ctypes.c_float()
        self.device.call("cuEventElapsedTime", ctypes.byref(span), start.handle, self.handle)
        return span.value

    def free(self) -> None:
        self.device.cuda.cuEventDestroy_v2(self.handle)


class Function:
    """A kernel that is loaded: its handle and the block and shared memory it is launched with."""

    def __init__(self, handle: ctypes.c_void_p, threads: int, dynamic_smem: int, name: str):
        self.handle, self.threads, self.dynamic_smem, self.name = handle, threads, dynamic_smem, name


class Device:
    """GPU 0 of CUDA_VISIBLE_DEVICES with its primary context made current."""

    def __init__(self, cuda: Any = None):
        self.cuda = cuda if cuda is not None else ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", ctypes.c_uint(0))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self.handle = device
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.capability = (self.attribute(MAJOR), self.attribute(MINOR))
        self.sms, self.l2_bytes = self.attribute(SM_COUNT), self.attribute(L2_BYTES)
        self._functions: dict[tuple[str, str], Function] = {}

    # ---- Calls and errors ----

    def call(self, name: str, *args: Any) -> None:
        self.check(getattr(self.cuda, name)(*args), name)

    def check(self, code: int, call: str) -> None:
        if code == 0:
            return
        text = ctypes.c_char_p()
        self.cuda.cuGetErrorName(code, ctypes.byref(text))
        name = (text.value or str(code).encode()).decode()
        if code in FAULTS:
            raise KernelFault(name, f"The kernel was stopped: {FAULTS[code]} ({name}).")
        if code == 2:
            raise DeviceOutOfMemory(0, self.memory()[0])
        raise DriverError(call.removesuffix("_v2"), code, name)

    def attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(number), self.handle)
        return value.value

    def memory(self) -> tuple[int, int]:
        """(free, total) bytes."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def driver_version(self) -> tuple[int, int]:
        """The CUDA version that the driver supports, such as (13, 0)."""
        value = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(value))
        return value.value // 1000, value.value % 1000 // 10

    def bus_id(self) -> str:
        text = ctypes.create_string_buffer(32)
        self.call("cuDeviceGetPCIBusId", text, ctypes.c_int(32), self.handle)
        return text.value.decode()

    def wait(self) -> None:
        self.call("cuCtxSynchronize")

    # ---- Memory ----

    def upload(self, array: np.ndarray) -> Buffer:
        buffer = Buffer(self, array.nbytes)
        buffer.write(array)
        return buffer

    def mapped(self, nbytes: int) -> tuple[ctypes.Array, int]:
        """Host memory that a kernel can write, zeroed: (bytes, device address). It outlives a fault."""
        pointer, address = ctypes.c_void_p(), ctypes.c_uint64()
        self.call(
            "cuMemHostAlloc",
            ctypes.byref(pointer),
            ctypes.c_size_t(nbytes),
            ctypes.c_uint(HOST_PORTABLE_MAPPED),
        )
        self.call("cuMemHostGetDevicePointer_v2", ctypes.byref(address), pointer, ctypes.c_uint(0))
        ctypes.memset(pointer, 0, nbytes)
        return (ctypes.c_ubyte * nbytes).from_address(pointer.value), address.value

    # ---- Modules ----

    def load(self, cubin: bytes) -> ctypes.c_void_p:
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(cubin))
        return module

    def assemble(self, ptx: str) -> ctypes.c_void_p:
        """Assemble PTX with the driver; raises `DriverError` (code 222: its .version is too new)."""
        log, module = ctypes.create_string_buffer(8192), ctypes.c_void_p()
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        code = self.cuda.cuModuleLoadDataEx(
            ctypes.byref(module), ctypes.c_char_p(ptx.encode()), ctypes.c_uint(2), options, values
        )
        try:
            self.check(code, "cuModuleLoadDataEx")
        except DriverError as error:
            error.message += " " + log.value.decode("utf-8", "replace").strip()
            raise
        return module

    def function(
        self, module: ctypes.c_void_p, entry: str, threads: int, dynamic_smem: int, name: str = "kernel"
    ) -> Function:
        handle = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(handle), module, ctypes.c_char_p(entry.encode()))
        if dynamic_smem > 0:
            code = self.cuda.cuFuncSetAttribute(handle, ctypes.c_int(MAX_DYNAMIC_SMEM), ctypes.c_int(dynamic_smem))
            if code:
                most = self.attribute(SMEM_OPTIN)
                raise LaunchError(
                    f"{name} asks for {dynamic_smem:,} bytes of dynamic shared memory besides its static arrays; a "
                    f"block on this GPU has at most {most:,} in all. Use smaller tiles or fewer stages."
                )
        return Function(handle, threads, dynamic_smem, name)

    def variable(self, module: ctypes.c_void_p, name: str) -> tuple[int, int]:
        """(address, bytes) of a `__device__` variable."""
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call(
            "cuModuleGetGlobal_v2",
            ctypes.byref(address),
            ctypes.byref(size),
            module,
            ctypes.c_char_p(name.encode()),
        )
        return address.value, size.value

    def kernel(self, compiled: dict[str, Any]) -> Function:
        """The function of a compiled kernel (`key, cubin, arch, entry, threads, dynamic_smem, name`), cached."""
        slot = (compiled["key"], compiled["entry"])
        if slot not in self._functions:
            self.refuse_other_architecture(compiled["arch"], compiled["name"])
            try:
                module = self.load(compiled["cubin"])
            except DriverError as error:
                raise LaunchError(
                    f"The driver does not load {compiled['name']} ({error.name}); it was compiled for "
                    f"{compiled['arch']} and this GPU is sm_{self.capability[0]}{self.capability[1]}."
                ) from None
            self._functions[slot] = self.function(
                module, compiled["entry"], compiled["threads"], compiled["dynamic_smem"], compiled["name"]
            )
        return self._functions[slot]

    def refuse_other_architecture(self, arch: str, name: str) -> None:
        """A CUBIN runs on its own major version from its minor version up; an sm_90a one only on 9.0."""
        digits, special = arch.removeprefix("sm_").rstrip("af"), arch[-1] in "af"
        major, minor = int(digits[:-1]), int(digits[-1])
        here = self.capability
        fits = major == here[0] and (minor == here[1] if arch[-1] == "a" else minor <= here[1])
        if not fits:
            only = "exactly that architecture" if special else f"GPUs {major}.{minor} to {major}.9"
            raise LaunchError(
                f"{name} is compiled for {arch}, which runs on {only}; this GPU is {here[0]}.{here[1]}. "
                f"Compile it for sm_{here[0]}{here[1]}, or use the emulator."
            )

    # ---- Launch ----

    def launcher(
        self,
        function: Function,
        grid: Sequence[int],
        arguments: Sequence[Any],
        cluster: Sequence[int] = (1, 1, 1),
    ) -> Any:
        """A callable that starts the kernel once. `arguments`: Buffer, int (C int), float (C float), bytes."""
        if any(extent < 1 for extent in grid) or max(grid[1:]) > 65535:
            raise LaunchError(
                f"The grid is {tuple(grid)}: each extent has to be at least 1, and y and z at most "
                "65,535. Choose another size or other tiles."
            )
        if not 1 <= function.threads <= 1024:
            raise LaunchError(f"{function.name} has blocks of {function.threads} threads; a block has 1 to 1,024.")
        values = [_argument(value) for value in arguments]
        pointers = (ctypes.c_void_p * max(len(values), 1))(*[ctypes.addressof(value) for value in values])
        cuda, handle = self.cuda, function.handle
        sizes = [ctypes.c_uint(value) for value in (*grid, function.threads, 1, 1, function.dynamic_smem)]
        attribute = _LaunchAttribute(CLUSTER_DIMENSION, 0, *cluster)
        config = _LaunchConfig(
            (ctypes.c_uint * 3)(*grid),
            (ctypes.c_uint * 3)(function.threads, 1, 1),
            function.dynamic_smem,
            None,
            ctypes.pointer(attribute),
            1,
        )
        clustered = tuple(cluster) != (1, 1, 1)
        if clustered and int(np.prod(cluster)) > 8:
            self.call("cuFuncSetAttribute", handle, ctypes.c_int(NON_PORTABLE_CLUSTER), ctypes.c_int(1))

        def start() -> None:
            if clustered:
                code = cuda.cuLaunchKernelEx(ctypes.byref(config), handle, pointers, None)
            else:
                code = cuda.cuLaunchKernel(handle, *sizes, None, pointers, None)
            if code:
                self._refused(code, function, grid, cluster)

        start.keep = values  # the driver reads them at every launch
        return start

    def _refused(self, code: int, function: Function, grid: Sequence[int], cluster: Sequence[int]) -> None:
        if code in (1, 701, 912):
            shape = f"grid {tuple(grid)}, {function.threads} threads, {function.dynamic_smem:,} bytes of shared memory"
            shape += f", cluster {tuple(cluster)}" if tuple(cluster) != (1, 1, 1) else ""
            why = (
                "threads × registers, or its shared memory, exceed one SM"
                if code == 701
                else "the grid must be a multiple of the cluster, and every part must fit one SM"
            )
            raise LaunchError(
                f"The GPU cannot start {function.name} with {shape}: {why}. "
                "Use fewer threads, smaller tiles or __launch_bounds__."
            )
        self.check(code, "cuLaunchKernel")


def _argument(value: Any) -> Any:
    if isinstance(value, Buffer):
        return ctypes.c_uint64(value.address)
    if isinstance(value, (bool, int, np.integer)):
        if not -(2**31) <= int(value) < 2**31:
            raise LaunchError(f"The argument {value} does not fit a C int.")
        return ctypes.c_int(int(value))
    if isinstance(value, (float, np.floating)):
        return ctypes.c_float(float(value))
    if isinstance(value, bytes):  # a struct by value, such as a CUtensorMap, which wants 64-byte alignment
        room = ctypes.create_string_buffer(len(value) + 64)
        start = -ctypes.addressof(room) % 64
        field = (ctypes.c_char * len(value)).from_buffer(room, start)
        field.raw = value
        return field
    raise LaunchError(f"A kernel argument must be an array, an int, a float or bytes, not {type(value).__name__}.")


def words(data: Any) -> tuple[int, ...]:
    """The unsigned 64-bit words of some bytes."""
    raw = bytes(data)
    return struct.unpack(f"<{len(raw) // 8}Q", raw)


__all__ = ["Buffer", "Device", "DriverError", "Event", "Function", "dtype_of", "name_of", "words"]
