"""The GPU as the worker uses it: one context, memory, modules, launches, events, through CuPy.

Memory comes straight from the driver, not from CuPy's pool, so that what is free is free. A launch hands the
driver the same prepared argument block every time. Everything runs in the legacy default stream, which PyTorch
uses as well.
"""

from __future__ import annotations

import contextlib
import ctypes
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_runner import bindings, refusals
from gpu_runner.faults import FAULTS, DeviceOutOfMemory, KernelFault
from gpu_runner.numbers import held
from gpu_runner.transport.wire import dtype_of
from gpu_simulator.errors import LabError, LaunchError
from gpu_simulator.hardware.tensor_map import TensorMap

MAJOR, MINOR = 75, 76  # cudaDeviceAttr numbers that CuPy does not name
NON_PORTABLE_CLUSTER = 14  # CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
OUT_OF_MEMORY, NOT_READY = 2, 600


class DriverError(LabError):
    """A call of the driver failed; `code` is CUDA's number, `name` its name, with a description where known."""

    def __init__(self, code: int, name: str):
        super().__init__(f"The CUDA driver refused a call: {name}.")
        self.code, self.name = code, name


class Buffer:
    """Device memory: `address` and `nbytes`; freed by `free()`."""

    def __init__(self, device: Device, nbytes: int):
        self.device, self.nbytes, self.address = device, nbytes, 0
        try:
            self.address = device.runtime.malloc(max(nbytes, 16))
        except device.runtime.CUDARuntimeError as error:
            if error.status != OUT_OF_MEMORY:
                raise
            raise DeviceOutOfMemory(nbytes, device.memory()[0]) from None

    def write(self, array: np.ndarray) -> None:
        self.device.write(self.address, array)

    def read(self, dtype: str, shape: Sequence[int], offset_bytes: int = 0) -> np.ndarray:
        """An array of `shape`, `()` for one element, at a distance in bytes from the start."""
        out = np.empty(tuple(shape), dtype_of(dtype))
        self.device.copy(out.ctypes.data, self.address + offset_bytes, out.nbytes)
        return out

    def fill(self, byte: int) -> None:
        """Set every byte; 0xFF makes every f16, bf16 and f32 a NaN, which is the poison before a check."""
        self.device.runtime.memset(self.address, byte, self.nbytes)

    def copy_from(self, other: Buffer) -> None:
        self.device.copy(self.address, other.address, min(self.nbytes, other.nbytes))

    def free(self) -> None:
        """Give the memory back; after a fault the context is lost and takes the memory with it."""
        if self.address:
            with contextlib.suppress(self.device.runtime.CUDARuntimeError):
                self.device.runtime.free(self.address)
            self.address = 0


@dataclass(frozen=True)
class Mapped:
    """An argument that is a tensor map of the array in a buffer."""

    tensor_map: TensorMap
    buffer: Buffer


@dataclass(frozen=True)
class Function:
    """A kernel that is loaded: its handle and the block and shared memory it is launched with."""

    handle: int
    threads: int
    dynamic_smem: int
    name: str
    parameters: tuple[int, ...] | None = None  # bytes of each, where known


class Device:
    """GPU 0 of CUDA_VISIBLE_DEVICES with its primary context made current. `cuda` is `cupy.cuda`, or a test's own."""

    def __init__(self, cuda: Any = None):
        if cuda is None:
            from cupy import cuda
        self.cuda, self.driver, self.runtime = cuda, cuda.driver, cuda.runtime
        with self.explained():
            self.runtime.setDevice(0)
            self.wait()  # the context exists from here on, which modules need
            self.capability = (self.attribute(MAJOR), self.attribute(MINOR))
            self.sms = self.attribute(self.runtime.cudaDevAttrMultiProcessorCount)
            self.l2_bytes = self.attribute(self.runtime.cudaDevAttrL2CacheSize)
        self._functions: dict[tuple[str, str], Function] = {}

    # ---- Errors ----

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn CuPy's errors into the lab's: KernelFault, DeviceOutOfMemory, DriverError."""
        try:
            yield
        except (self.driver.CUDADriverError, self.runtime.CUDARuntimeError) as error:
            raise self.explanation(error.status, str(error)) from None

    def explanation(self, code: int, name: str) -> LabError:
        if code in FAULTS:
            sys.unraisablehook = lambda ignored: None  # destructors of events fail from now on, which says nothing new
            name, what = FAULTS[code]
            return KernelFault(name, f"The kernel was stopped: {what} ({name}).")
        if code == OUT_OF_MEMORY:
            return DeviceOutOfMemory(0, self.memory()[0])
        return DriverError(code, name)

    # ---- Facts ----

    def attribute(self, number: int) -> int:
        return self.runtime.deviceGetAttribute(number, 0)

    def memory(self) -> tuple[int, int]:
        """(free, total) bytes."""
        return self.runtime.memGetInfo()

    def driver_version(self) -> tuple[int, int]:
        """The CUDA version that the driver supports, such as (13, 0)."""
        version = self.runtime.driverGetVersion()
        return version // 1000, version % 1000 // 10

    def bus_id(self) -> str:
        return self.runtime.deviceGetPCIBusId(0)

    # ---- Time ----

    def wait(self) -> None:
        self.runtime.deviceSynchronize()

    def mark(self) -> Any:
        """A CuPy event, recorded now."""
        event = self.cuda.Event()
        event.record()
        return event

    def milliseconds(self, start: Any, stop: Any) -> float:
        """Between two marks; both have to be reached."""
        return self.cuda.get_elapsed_time(start, stop)

    def reached(self, event: Any) -> bool:
        """False while the GPU has not come to this mark; raises the error of a kernel before it."""
        status = self.runtime.eventQuery(event.ptr)  # `event.done` is False for an error as well
        if status != NOT_READY:
            self.runtime.check_status(status)
        return status == 0

    # ---- Memory ----

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Copy between addresses of host or device; the driver tells them apart."""
        if nbytes:
            self.runtime.memcpy(target, source, nbytes, self.runtime.memcpyDefault)

    def write(self, address: int, array: np.ndarray) -> None:
        array = np.ascontiguousarray(array)
        self.copy(address, array.ctypes.data, array.nbytes)

    def upload(self, array: np.ndarray) -> Buffer:
        buffer = Buffer(self, array.nbytes)
        buffer.write(array)
        return buffer

    def upload_all(self, args: Sequence[Any], buffers: dict[int, Buffer]) -> list[Any]:
        """The arguments for `launcher`; arrays go to `buffers`, by position.

        An array that only tensor maps name has the position of the first of them.
        """
        places: dict[int, int] = {}
        for wanted in (np.ndarray, TensorMap):
            for position, value in enumerate(args):
                array = value.array if isinstance(value, TensorMap) else value
                if isinstance(value, wanted) and (wanted is np.ndarray or id(array) not in places):
                    buffers[position] = self.upload(array)
                    places.setdefault(id(array), position)
        return [
            Mapped(value, buffers[places[id(value.array)]])
            if isinstance(value, TensorMap)
            else buffers.get(position, value)
            for position, value in enumerate(args)
        ]

    def mapped(self, nbytes: int) -> tuple[ctypes.Array, int]:
        """Host memory that a kernel can write, zeroed: (bytes, device address). It outlives a fault.

        Both sides see it at one address (CUDA C++ Programming Guide, "Unified Virtual Address Space").
        """
        address = self.runtime.hostAlloc(nbytes, self.runtime.hostAllocPortable | self.runtime.hostAllocMapped)
        ctypes.memset(address, 0, nbytes)
        return (ctypes.c_ubyte * nbytes).from_address(address), address

    # ---- Modules ----

    def load(self, image: bytes) -> int:
        """The handle of a CUBIN, or of PTX that the driver assembles. It stays loaded: a hang would block unloading."""
        return self.driver.moduleLoadData(image)

    def function(self, module: int, entry: str, threads: int, dynamic_smem: int, name: str = "kernel") -> Function:
        handle = self.driver.moduleGetFunction(module, entry)
        if dynamic_smem < 0:
            raise LaunchError(f"{name} asks for {dynamic_smem:,} bytes of dynamic shared memory; give 0 or more.")
        if dynamic_smem > 0:
            attribute = self.driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            try:
                self.driver.funcSetAttribute(handle, attribute, dynamic_smem)
            except self.driver.CUDADriverError:
                most = self.attribute(self.runtime.cudaDevAttrMaxSharedMemoryPerBlockOptin)
                raise refusals.too_much_shared_memory(name, dynamic_smem, most) from None
        return Function(handle, threads, dynamic_smem, name)

    def kernel(self, compiled: dict[str, Any]) -> Function:
        """The function of a compiled kernel (`key, cubin, arch, entry, threads, dynamic_smem, name`), cached."""
        slot = (compiled["key"], compiled["entry"])
        if slot not in self._functions:
            name, arch = compiled["name"], compiled["arch"]
            refusals.require_architecture(arch, name, self.capability)
            try:
                module = self.load(compiled["cubin"])
            except self.driver.CUDADriverError as error:
                raise refusals.not_loaded(name, arch, self.capability, str(error)) from None
            function = self.function(module, compiled["entry"], compiled["threads"], compiled["dynamic_smem"], name)
            self._functions[slot] = replace(function, parameters=compiled.get("parameters"))
        return self._functions[slot]

    # ---- Launch ----

    def launcher(
        self,
        function: Function,
        grid: Sequence[int],
        arguments: Sequence[Any],
        cluster: Sequence[int] = (1, 1, 1),
    ) -> Callable[[], None]:
        """A callable that starts the kernel once. `arguments`: Buffer, Mapped, numbers and bytes (`numbers.held`)."""
        handle, threads, smem, name = function.handle, function.threads, function.dynamic_smem, function.name
        refusals.require_shape(grid, threads, name)
        known = function.parameters or ()
        sizes = known if len(known) == len(arguments) else (None,) * len(arguments)
        values = [_argument(value, size) for value, size in zip(arguments, sizes, strict=True)]
        refusals.require_arguments(function.parameters, values, name)
        pointers = np.array([value.ctypes.data for value in values], np.uint64)
        driver, at, shape = self.driver, pointers.ctypes.data, (*grid, threads, 1, 1)
        clustered = None
        if tuple(cluster) != (1, 1, 1):
            refusals.require_cluster(grid, cluster, name)
            clustered = bindings.cluster_launch(handle, grid, threads, smem, cluster, at)
            if np.prod(cluster) > 8:
                driver.funcSetAttribute(handle, NON_PORTABLE_CLUSTER, 1)

        def start() -> None:
            try:
                if clustered is None:
                    driver.launchKernel(handle, *shape, smem, 0, at, 0)
                else:
                    driver.check_status(clustered())
            except driver.CUDADriverError as error:
                refusal = refusals.not_started(error.status, name, grid, threads, smem, cluster)
                if refusal is None:
                    raise
                raise refusal from None

        start.keep = values, pointers  # the driver reads them at every launch
        return start


def _argument(value: Any, size: int | None) -> np.ndarray:
    """One kernel argument as an array that holds its bytes where the driver reads them; size: see `held`."""
    if isinstance(value, Buffer):
        return np.array(value.address, np.uint64)
    if isinstance(value, Mapped):
        return held(bindings.encode(value.tensor_map, value.buffer.address))
    return held(value, size)


def words(data: Any) -> tuple[int, ...]:
    """The unsigned 64-bit words of some bytes."""
    raw = bytes(data)
    return struct.unpack(f"<{len(raw) // 8}Q", raw)
