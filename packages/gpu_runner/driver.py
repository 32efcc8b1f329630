"""Gives the worker access to the GPU through CuPy: context, memory, modules, launches and events.

Memory is allocated by the driver itself, not from CuPy's pool, so that freed memory is available again at once. The
arguments of a launch are prepared once and reused whenever the launch is repeated. Everything runs in the legacy
default stream, which PyTorch uses as well.
"""

from __future__ import annotations

import contextlib
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_runner import bindings, refusals
from gpu_runner.faults import FAULTS, DeviceOutOfMemory, KernelFault, RunnerError
from gpu_runner.numbers import held
from gpu_simulator.errors import LaunchError
from gpu_simulator.hardware.number_types import dtype_of
from gpu_simulator.hardware.tensor_map import TensorMap

MAJOR, MINOR = 75, 76  # cudaDeviceAttr numbers that CuPy does not name
NON_PORTABLE_CLUSTER = 14  # CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
OUT_OF_MEMORY = 2


class DriverError(RunnerError):
    """A driver call failed. `code` is CUDA's error number, `name` its name, with a description where one is known."""

    def __init__(self, code: int, name: str):
        super().__init__(f"The CUDA driver refused a call: {name}.")
        self.code, self.name = code, name


class Buffer:
    """A piece of device memory: its `address`, and its size `nbytes`. The caller frees it with `free()`.

    Raises `DeviceOutOfMemory` if there is not enough free memory.
    """

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
        """A copy of part of the buffer as an array of `shape` (`()` for one element), from `offset_bytes` on."""
        out = np.empty(tuple(shape), dtype_of(dtype))
        self.device.copy(out.ctypes.data, self.address + offset_bytes, out.nbytes)
        return out

    def fill(self, byte: int) -> None:
        """Set every byte to `byte`. 0xFF makes every f16, bf16 and f32 element a NaN, as D has to be before a check."""
        self.device.runtime.memset(self.address, byte, self.nbytes)

    def copy_from(self, other: Buffer) -> None:
        self.device.copy(self.address, other.address, min(self.nbytes, other.nbytes))

    def free(self) -> None:
        """Free the memory. Errors are ignored, because after a fault the context is lost and its memory with it."""
        if self.address:
            with contextlib.suppress(self.device.runtime.CUDARuntimeError):
                self.device.runtime.free(self.address)
            self.address = 0


@dataclass(frozen=True)
class Mapped:
    """A kernel argument: a tensor map of the array that is in `buffer`."""

    tensor_map: TensorMap
    buffer: Buffer


@dataclass(frozen=True)
class Function:
    """A loaded kernel: its driver handle, and the threads and dynamic shared memory (bytes) of a block."""

    handle: int
    threads: int
    dynamic_smem: int
    name: str
    parameters: tuple[int, ...] | None = None  # bytes of each, where known


class Device:
    """The first GPU of CUDA_VISIBLE_DEVICES, with its primary context current.

    `cuda` is `cupy.cuda`, or a test's substitute for it.
    """

    def __init__(self, cuda: Any = None):
        if cuda is None:
            from cupy import cuda
        self.cuda, self.driver, self.runtime = cuda, cuda.driver, cuda.runtime
        with self.explained():
            self.runtime.setDevice(0)
            self.wait()  # this creates the context, without which no module can be loaded
            self.capability = (self.attribute(MAJOR), self.attribute(MINOR))
            self.sms = self.attribute(self.runtime.cudaDevAttrMultiProcessorCount)
            self.l2_bytes = self.attribute(self.runtime.cudaDevAttrL2CacheSize)
        self._functions: dict[tuple[str, str], Function] = {}

    # ---- Errors ----

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Context manager that replaces CuPy's errors by the lab's: KernelFault, DeviceOutOfMemory, DriverError."""
        try:
            yield
        except (self.driver.CUDADriverError, self.runtime.CUDARuntimeError) as error:
            raise self.explanation(error.status, str(error)) from None

    def explanation(self, code: int, name: str) -> RunnerError:
        if code in FAULTS:
            sys.unraisablehook = lambda ignored: None  # from now on events cannot be destroyed either
            name, what = FAULTS[code]
            return KernelFault(name, f"The kernel was stopped: {what} ({name}).")
        if code == OUT_OF_MEMORY:
            return DeviceOutOfMemory(0, self.memory()[0])
        return DriverError(code, name)

    # ---- Facts ----

    def attribute(self, number: int) -> int:
        return self.runtime.deviceGetAttribute(number, 0)

    def memory(self) -> tuple[int, int]:
        """(free, total) device memory in bytes."""
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
        """A CuPy event that is recorded now, in the default stream."""
        event = self.cuda.Event()
        event.record()
        return event

    def milliseconds(self, start: Any, stop: Any) -> float:
        """The milliseconds between two events; the GPU must have reached both."""
        return self.cuda.get_elapsed_time(start, stop)

    # ---- Memory ----

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Copy bytes between two addresses, each on the host or on the device; the driver recognises which."""
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
        """Copy the arrays among `args` to the device, and return the arguments in the form that `launcher` takes.

        Each array's buffer is put into `buffers` under its position in `args`; the caller frees them. The position of
        an array that is only used by tensor maps is that of the first of these maps.
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

    # ---- Modules ----

    def load(self, image: bytes) -> int:
        """Load a CUBIN, or PTX that the driver assembles, and return the module's handle.

        Modules are never unloaded, because unloading would wait for a kernel that hangs.
        """
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
        """The loaded function of a compiled kernel, from a cache if it was loaded before.

        `compiled` has the keys key, cubin, arch, entry, threads, dynamic_smem, name and, where known, parameters.
        Raises `LaunchError` if the kernel cannot be loaded on this GPU.
        """
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
        """A callable that launches the kernel once.

        `grid` and `cluster` are numbers of blocks in x, y and z. `arguments` are `Buffer`s, `Mapped`s, numbers and
        bytes (see `numbers.held`). Raises `LaunchError` if the launch does not fit the kernel or the GPU, here or when
        it is called.
        """
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

        start.keep = values, pointers  # the driver reads these arrays at every launch
        return start


def _argument(value: Any, size: int | None) -> np.ndarray:
    """An array with the bytes of one kernel argument, which the driver reads. size: see `held`."""
    if isinstance(value, Buffer):
        return np.array(value.address, np.uint64)
    if isinstance(value, Mapped):
        return held(bindings.encode(value.tensor_map, value.buffer.address))
    return held(value, size)


def words(data: Any) -> tuple[int, ...]:
    """The little-endian unsigned 64-bit words in `data`, whose length is a multiple of 8 bytes."""
    raw = bytes(data)
    return struct.unpack(f"<{len(raw) // 8}Q", raw)
