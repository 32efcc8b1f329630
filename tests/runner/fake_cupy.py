"""A replacement for `cupy.cuda` that works on host memory, so that the worker's own code runs without a GPU.

It has only what `gpu_runner` uses, with CuPy's names. Like CuPy's compiled wrappers, it accepts only integers as
handles, addresses and sizes. A "kernel" is a Python function, whose arguments are read from the same pointers that the
driver would read. `gemmEx` follows cuBLAS's definition (column-major, leading dimensions), so it reveals a wrong
transposition.
"""

import ctypes
from operator import index

import numpy as np

from gpu_simulator.hardware.number_types import dtype_of

POINTER, C_INT, C_FLOAT, U64 = ctypes.c_uint64, ctypes.c_int, ctypes.c_float, ctypes.c_uint64
NAMES = ("f16", "bf16", "f32", "e4m3")
REAL = {0: "f32", 2: "f16", 14: "bf16"}


def view(address, count, dtype):
    """`count` elements of host memory at `address`, as an array that shares this memory."""
    dtype = dtype_of(dtype)
    raw = (ctypes.c_ubyte * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(raw, np.uint8).view(dtype)


def fill_normal(data, count, kind, seed):
    view(data, count, NAMES[kind])[:] = np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def fill_integers(data, count, kind, seed, limit):
    view(data, count, NAMES[kind])[:] = np.random.default_rng(seed).integers(-limit, limit + 1, count)


def fill_scales(data, count, seed, powers):
    view(data, count, "f32")[:] = np.exp2(np.random.default_rng(seed).integers(-1, 2, count) * (1.0 if powers else 0.7))


def scale(values, count, columns, factors, row_block, column_block, row_step, column_step):
    rows = count // columns
    row, column = np.arange(rows)[:, None] // row_block, np.arange(columns) // column_block
    at = row * row_step + column * column_step
    view(values, count, "f32")[:] *= view(factors, int(at.max()) + 1, "f32")[at].ravel()


def widen(out, source, count, kind):
    view(out, count, "f32")[:] = view(source, count, NAMES[kind]).astype(np.float32)


def narrow(out, source, count, kind):
    view(out, count, NAMES[kind])[:] = view(source, count, "f32").astype(dtype_of(NAMES[kind]))


def compare(
    out, kind, reference, c, beta, first_row, rows, columns, exact, absolute, relative, block_m, block_n, report, tiles
):
    got = view(out, (first_row + rows) * columns, NAMES[kind])[first_row * columns :].astype(np.float32)
    want = view(reference, rows * columns, "f32").copy()
    if c:
        want += beta * view(c, (first_row + rows) * columns, NAMES[kind])[first_row * columns :].astype(np.float32)
    if exact:
        want = want.astype(dtype_of(NAMES[kind])).astype(np.float32)
    good = np.isfinite(got) & (got == want if exact else np.abs(got - want) <= absolute + relative * np.abs(want))
    words, counts = view(report, 6, "uint64"), view(tiles, 4096, "uint32")
    words[0] += np.uint64((~good).sum())
    words[1] += np.uint64((~np.isfinite(got)).sum())
    for place in np.nonzero(~good)[0]:
        words[2] = min(words[2], np.uint64(first_row * columns + place))
        row, column = divmod(first_row * columns + int(place), columns)
        counts[row // block_m * -(-columns // block_n) + column // block_n] += 1
    words[3] = max(words[3], np.uint64(np.nan_to_num(np.abs(got - want)).astype(np.float32).max().view(np.uint32)))
    sums = words[4:].view(np.float64)
    sums += np.nansum((got - want).astype(np.float64) ** 2), np.sum(want.astype(np.float64) ** 2)


class CUDARuntimeError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__(f"cudaError{status}: what the runtime says")


class CUDADriverError(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__(f"CUDA_ERROR_{status}: what the driver says")


class CUBLASError(RuntimeError):
    pass


class FakeGpu:
    """The state that all parts of the fake share: memory, a clock in milliseconds, the error of the last kernel."""

    def __init__(self, kernels, free=2**30, capability=(9, 0)):
        self.kernels = {
            "fill_normal": ((POINTER, U64, C_INT, U64), fill_normal),
            "fill_integers": ((POINTER, U64, C_INT, U64, C_INT), fill_integers),
            "fill_scales": ((POINTER, U64, U64, C_INT), fill_scales),
            "scale": ((POINTER, U64, U64, POINTER, C_INT, C_INT, U64, U64), scale),
            "widen": ((POINTER, POINTER, U64, C_INT), widen),
            "narrow": ((POINTER, POINTER, U64, C_INT), narrow),
            "compare": (
                (
                    POINTER,
                    C_INT,
                    POINTER,
                    POINTER,
                    C_FLOAT,
                    U64,
                    U64,
                    U64,
                    C_INT,
                    C_FLOAT,
                    C_FLOAT,
                    C_INT,
                    C_INT,
                    POINTER,
                    POINTER,
                ),
                compare,
            ),
            **kernels,
        }
        self.free, self.used, self.memory, self.sizes = free, 0, {}, {}
        self.attributes = {75: capability[0], 76: capability[1], 16: 4, 38: 1 << 16, 97: 232448}
        self.handles, self.clock, self.launches, self.failing, self.images = [None], 0.0, [], 0, []
        self.variables = {}
        self.refuse_image = lambda image: 0
        self.cublas = FakeBlas(self)
        self.driver, self.runtime = FakeDriver(self), FakeRuntime(self)
        gpu = self

        class Event:
            """An event that records the clock."""

            def __init__(self):
                self.ptr = gpu.handle(None)

            def record(self, stream=None):
                assert stream is None, "everything runs in the default stream"
                gpu.handles[self.ptr] = gpu.clock

            def synchronize(self):
                gpu.runtime.deviceSynchronize()

        self.Event = Event

    def handle(self, what):
        self.handles.append(what)
        return len(self.handles) - 1

    def get_elapsed_time(self, start, stop):
        return self.handles[stop.ptr] - self.handles[start.ptr]

    def run(self, function, pointers, grid, threads, cluster):
        name = self.handles[function]
        if threads > 512:
            return 701
        types, body = self.kernels[name]
        values = [kind.from_address(POINTER.from_address(pointers + 8 * i).value) for i, kind in enumerate(types)]
        self.launches.append((name, grid, threads, cluster))
        self.clock += 1.0 if name in ("fill_normal", "widen", "narrow") else getattr(body, "milliseconds", 0.5)
        self.failing = body(*(getattr(value, "value", value) for value in values)) or 0
        return 0


class FakeRuntime:
    CUDARuntimeError = CUDARuntimeError
    cudaDevAttrMultiProcessorCount, cudaDevAttrL2CacheSize, cudaDevAttrMaxSharedMemoryPerBlockOptin = 16, 38, 97
    memcpyDefault, hostAllocPortable, hostAllocMapped = 4, 1, 2

    def __init__(self, gpu):
        self.gpu, self.host = gpu, []

    def check_status(self, status):
        if status:
            raise CUDARuntimeError(status)

    def setDevice(self, device):
        assert device == 0

    def malloc(self, size):
        gpu = self.gpu
        self.check_status(2 if gpu.used + index(size) > gpu.free else 0)
        memory = ctypes.create_string_buffer(size + 65536)
        address = ctypes.addressof(memory)
        gpu.memory[address], gpu.sizes[address] = memory, size
        gpu.used += size
        return address

    def free(self, address):
        self.gpu.used -= self.gpu.sizes.pop(index(address))
        self.gpu.memory.pop(address)
        self.check_status(self.gpu.failing)

    def memGetInfo(self):
        return self.gpu.free - self.gpu.used, self.gpu.free

    def memcpy(self, target, source, size, kind):
        assert kind == self.memcpyDefault
        self.check_status(self.gpu.failing)
        ctypes.memmove(index(target), index(source), index(size))

    def memset(self, address, value, size):
        ctypes.memset(index(address), index(value), index(size))

    def hostAlloc(self, size, flags):
        assert flags == 3
        self.host.append(ctypes.create_string_buffer(b"\x55" * index(size)))
        return ctypes.addressof(self.host[-1])

    def deviceGetAttribute(self, number, device):
        assert device == 0
        return self.gpu.attributes[index(number)]

    def deviceGetPCIBusId(self, device):
        return "0000:1B:00.0"

    def driverGetVersion(self):
        return 13000

    def deviceSynchronize(self):
        self.check_status(self.gpu.failing)

    def eventQuery(self, event):  # like CuPy, returns the status and raises nothing
        assert isinstance(self.gpu.handles[index(event)], float)
        return self.gpu.failing


class FakeDriver:
    CUDADriverError = CUDADriverError
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8

    def __init__(self, gpu):
        self.gpu, self.attributes = gpu, []

    def check_status(self, status):
        if status:
            raise CUDADriverError(status)

    def moduleLoadData(self, image):
        assert isinstance(image, bytes)
        self.gpu.images.append(image)
        self.check_status(self.gpu.refuse_image(image))
        return self.gpu.handle(image)

    def moduleGetFunction(self, module, name):
        assert isinstance(name, str) and isinstance(self.gpu.handles[index(module)], bytes)
        return self.gpu.handle(name)

    def funcSetAttribute(self, function, number, value):
        self.attributes.append((self.gpu.handles[index(function)], number, value))
        self.check_status(1 if number == 8 and value > 232448 else 0)

    def launchKernel(self, function, gx, gy, gz, bx, by, bz, smem, stream, pointers, extra):
        assert (by, bz, stream, extra) == (1, 1, 0, 0)
        shape = (index(gx), index(gy), index(gz))
        self.check_status(self.gpu.run(index(function), index(pointers), shape, index(bx), None))

    # ---- The functions of cuda.bindings.driver that `gpu_runner.bindings` calls ----

    def cuLaunchKernelEx(self, config, function, pointers, extra):
        (attribute,) = config.attrs
        assert config.numAttrs == 1 and int(attribute.id) == 4
        assert (config.blockDimY, config.blockDimZ, extra) == (1, 1, 0)
        size = attribute.value.clusterDim
        grid, cluster = (config.gridDimX, config.gridDimY, config.gridDimZ), (size.x, size.y, size.z)
        return (self.gpu.run(index(function), index(pointers), grid, config.blockDimX, cluster),)

    def cuModuleGetGlobal(self, module, name):
        assert isinstance(self.gpu.handles[index(module)], bytes)
        if name.decode() not in self.gpu.variables:
            return 500, None, None
        return (0, *self.gpu.variables[name.decode()])


class FakeBlas:
    """A replacement for `cupy.cuda.cublas`: gemmEx by cuBLAS's definition, on host memory."""

    CUBLASError = CUBLASError

    def __init__(self, gpu):
        self.gpu, self.calls, self.refuse = gpu, [], False

    def create(self):
        return 77

    def gemmEx(
        self, handle, op_a, op_b, m, n, k, alpha, a, kind_a, lda, b, kind_b, ldb, beta, c, kind_c, ldc, compute, algo
    ):
        assert handle == 77 and algo == -1
        if self.refuse:
            raise CUBLASError("CUBLAS_STATUS_NOT_SUPPORTED")

        def matrix(address, kind, ld, rows, columns):
            flat = view(index(address), ld * (columns - 1) + rows, REAL[kind])
            item = flat.dtype.itemsize
            return np.lib.stride_tricks.as_strided(flat, (rows, columns), (item, ld * item))

        def scale(address):  # alpha and beta have the compute type
            return float(view(index(address), 1, "f16" if compute == 64 else "f32")[0])

        left = matrix(a, kind_a, lda, *((m, k) if op_a == 0 else (k, m))).astype(np.float64)
        right = matrix(b, kind_b, ldb, *((k, n) if op_b == 0 else (n, k))).astype(np.float64)
        out = matrix(c, kind_c, ldc, m, n)
        product = (left if op_a == 0 else left.T) @ (right if op_b == 0 else right.T)
        old = scale(beta) * out.astype(np.float64) if scale(beta) else 0.0
        out[...] = (scale(alpha) * product + old).astype(np.float32).astype(out.dtype)
        self.calls.append(compute)
        self.gpu.clock += 0.25
