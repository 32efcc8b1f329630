"""libcuda and libcublas as Python objects over host memory, so that the worker's own logic runs without a GPU.

A "kernel" is a Python function; arguments are read from the pointers that the driver would read. GemmEx follows
cuBLAS's definition (column-major, leading dimensions), so a wrong transposition shows.
"""

import ctypes
import itertools

import numpy as np

from gemm_lab.device.wire import dtype_of

POINTER, C_INT, C_FLOAT, U64 = ctypes.c_uint64, ctypes.c_int, ctypes.c_float, ctypes.c_uint64
NAMES = ("f16", "bf16", "f32")
REAL = {0: "f32", 2: "f16", 14: "bf16"}


def view(address, count, dtype):
    """`count` elements of host memory as an array."""
    dtype = dtype_of(dtype)
    raw = (ctypes.c_ubyte * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(raw, np.uint8).view(dtype)


def fill_normal(data, count, kind, seed):
    view(data, count, NAMES[kind])[:] = np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def fill_integers(data, count, kind, seed, limit):
    view(data, count, NAMES[kind])[:] = np.random.default_rng(seed).integers(-limit, limit + 1, count)


def widen(out, source, count, kind):
    view(out, count, "f32")[:] = view(source, count, NAMES[kind]).astype(np.float32)


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
    for index in np.nonzero(~good)[0]:
        words[2] = min(words[2], np.uint64(first_row * columns + index))
        row, column = divmod(first_row * columns + int(index), columns)
        counts[row // block_m * -(-columns // block_n) + column // block_n] += 1
    words[3] = max(words[3], np.uint64(np.nan_to_num(np.abs(got - want)).astype(np.float32).max().view(np.uint32)))
    sums = words[4:].view(np.float64)
    sums += np.nansum((got - want).astype(np.float64) ** 2), np.sum(want.astype(np.float64) ** 2)


class FakeCuda:
    """The driver calls that `gemm_lab.device.driver` makes. `kernels`: name -> (argument types, function)."""

    def __init__(self, kernels, free=2**30, capability=(9, 0)):
        self.kernels = {
            "fill_normal": ((POINTER, U64, C_INT, U64), fill_normal),
            "fill_integers": ((POINTER, U64, C_INT, U64, C_INT), fill_integers),
            "widen": ((POINTER, POINTER, U64, C_INT), widen),
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
        self.handles, self.counter, self.clock, self.launches, self.failing = {}, itertools.count(1), 0.0, [], 0

    def __getattr__(self, name):  # cuInit, cuCtxSynchronize and the like succeed and do nothing
        if name.startswith("cu"):
            return lambda *arguments: 0
        raise AttributeError(name)

    def cuMemAlloc_v2(self, out, size):
        if self.used + size.value > self.free:
            return 2
        memory = ctypes.create_string_buffer(size.value + 65536)
        address = ctypes.addressof(memory)
        self.memory[address], self.sizes[address] = memory, size.value
        self.used += size.value
        out._obj.value = address
        return 0

    def cuMemFree_v2(self, address):
        self.used -= self.sizes.pop(address.value)
        self.memory.pop(address.value)
        return 0

    def cuMemGetInfo_v2(self, free, total):
        free._obj.value, total._obj.value = self.free - self.used, self.free
        return 0

    def cuMemcpyHtoD_v2(self, to, source, size):
        ctypes.memmove(to.value, source.value, size.value)
        return 0

    def cuMemcpyDtoH_v2(self, to, source, size):
        ctypes.memmove(to.value, source.value, size.value)
        return 0

    cuMemcpyDtoD_v2 = cuMemcpyDtoH_v2

    def cuMemsetD8_v2(self, address, value, size):
        ctypes.memset(address.value, value.value, size.value)
        return 0

    def cuDeviceGetAttribute(self, out, number, device):
        out._obj.value = self.attributes[number.value]
        return 0

    def cuDriverGetVersion(self, out):
        out._obj.value = 13000
        return 0

    def cuGetErrorName(self, code, out):
        out._obj.value = {700: b"CUDA_ERROR_ILLEGAL_ADDRESS", 701: b"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}.get(
            code, b"CUDA_ERROR_UNKNOWN"
        )
        return 0

    def cuModuleGetFunction(self, out, module, name):
        handle = next(self.counter)
        self.handles[handle] = name.value.decode()
        out._obj.value = handle
        return 0

    def cuFuncSetAttribute(self, function, number, value):
        return 1 if number.value == 8 and value.value > 232448 else 0

    def cuCtxSynchronize(self):
        return self.failing

    def cuEventCreate(self, out, flags):
        out._obj.value = next(self.counter)
        return 0

    def cuEventRecord(self, event, stream):
        self.handles[event.value] = self.clock
        return 0

    def cuEventElapsedTime(self, out, start, stop):
        out._obj.value = self.handles[stop.value] - self.handles[start.value]
        return 0

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, smem, stream, pointers, extra):
        return self._run(function, pointers, (gx.value, gy.value, gz.value), bx.value, None)

    def cuLaunchKernelEx(self, config, function, pointers, extra):
        facts = config._obj
        attribute = facts.attrs[0]
        assert facts.count == 1 and attribute.id == 4
        return self._run(function, pointers, tuple(facts.grid), facts.block[0], (attribute.x, attribute.y, attribute.z))

    def _run(self, function, pointers, grid, threads, cluster):
        name = self.handles[function.value]
        if threads > 512:
            return 701
        types, body = self.kernels[name]
        values = [kind.from_address(pointers[i]).value for i, kind in enumerate(types)]
        self.launches.append((name, grid, threads, cluster))
        self.clock += 1.0 if name in ("fill_normal", "widen") else getattr(body, "milliseconds", 0.5)
        self.failing = body(*values) or 0
        return 0


class FakeBlas:
    """cublasGemmEx by its definition, on host memory."""

    def __init__(self, cuda=None):
        self.cuda, self.calls = cuda, []

    def cublasCreate_v2(self, handle):
        return 0

    def cublasGemmEx(
        self,
        handle,
        op_a,
        op_b,
        m,
        n,
        k,
        alpha,
        a,
        type_a,
        lda,
        b,
        type_b,
        ldb,
        beta,
        c,
        type_c,
        ldc,
        compute,
        algorithm,
    ):
        m, n, k, lda, ldb, ldc = (x.value for x in (m, n, k, lda, ldb, ldc))

        def matrix(address, kind, ld, rows, columns):
            flat = view(address.value, ld * (columns - 1) + rows, REAL[kind.value])
            item = flat.dtype.itemsize
            return np.lib.stride_tricks.as_strided(flat, (rows, columns), (item, ld * item))

        def scale(value):
            half = isinstance(value._obj, ctypes.c_uint16)
            return float(np.uint16(value._obj.value).view(np.float16)) if half else value._obj.value

        left = matrix(a, type_a, lda, *((m, k) if op_a.value == 0 else (k, m))).astype(np.float64)
        right = matrix(b, type_b, ldb, *((k, n) if op_b.value == 0 else (n, k))).astype(np.float64)
        out = matrix(c, type_c, ldc, m, n)
        product = (left if op_a.value == 0 else left.T) @ (right if op_b.value == 0 else right.T)
        old = scale(beta) * out.astype(np.float64) if scale(beta) else 0.0
        out[...] = (scale(alpha) * product + old).astype(np.float32).astype(out.dtype)
        self.calls.append(compute.value)
        if self.cuda is not None:
            self.cuda.clock += 0.25
        return 0
