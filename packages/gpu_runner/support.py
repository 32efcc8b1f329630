"""Runs the worker's own kernels (`support.cu`): they fill inputs, convert between types, and compare results."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpu_runner.driver import Buffer, Device, Function, words
from gpu_runner.faults import RunnerError

TYPES = {"f16": 0, "bf16": 1, "f32": 2, "e4m3": 3}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "e4m3": 1}
SOURCE = Path(__file__).with_name("support.cu")


class U64(int):
    """An int that is passed to a kernel as a 64-bit argument."""


def build(arch: str) -> bytes:
    """Compile `support.cu` with NVRTC for `arch` (such as "sm_90"); returns the CUBIN.

    Raises `RunnerError` with the compiler's log.
    """
    from cuda.bindings import nvrtc

    error, program = nvrtc.nvrtcCreateProgram(SOURCE.read_bytes(), b"support.cu", 0, [], [])
    options = [f"--gpu-architecture={arch}".encode(), b"--std=c++17"]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(error):
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RunnerError(f"NVRTC could not compile the lab's own kernels for {arch}: {log.decode(errors='replace')}")
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    cubin = b" " * size
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(program)
    return cubin


@dataclass
class Comparison:
    """What `compare` found.

    wrong, nonfinite: numbers of elements.   first: flat row-major index of the first wrong element, or None.
    largest: largest |difference| of a finite element.   relative_error: ‖D − reference‖ / ‖reference‖, Frobenius norms.
    tiles: number of wrong elements of each tile.   got, expected: D and the reference at `first`, where they were read.
    """

    wrong: int
    nonfinite: int
    first: int | None
    largest: float
    relative_error: float
    tiles: np.ndarray
    got: float | None = None
    expected: float | None = None


class Support:
    """The support kernels, loaded on a device."""

    def __init__(self, device: Device):
        self.device = device
        self._module = device.load(build("sm_{}{}".format(*device.capability)))
        self._loaded: dict[str, Function] = {}

    def _run(self, name: str, *arguments: object) -> None:
        if name not in self._loaded:
            self._loaded[name] = self.device.function(self._module, name, 256, 0, name)
        values = [struct.pack("<Q", value) if isinstance(value, U64) else value for value in arguments]
        self.device.launcher(self._loaded[name], (self.device.sms * 8, 1, 1), values)()

    def normal(self, buffer: Buffer, count: int, dtype: str, seed: int) -> None:
        """Fill `count` elements with N(0, 1) numbers, rounded to `dtype`."""
        self._run("fill_normal", buffer, U64(count), TYPES[dtype], U64(seed))

    def integers(self, buffer: Buffer, count: int, dtype: str, seed: int, limit: int) -> None:
        """Fill `count` elements with whole numbers from -limit to limit."""
        self._run("fill_integers", buffer, U64(count), TYPES[dtype], U64(seed), limit)

    def scales(self, buffer: Buffer, count: int, seed: int, powers: bool) -> None:
        """Fill `count` f32 elements with factors from 1/2 to 2; with `powers`, with powers of two."""
        self._run("fill_scales", buffer, U64(count), U64(seed), int(powers))

    def scale(
        self, values: Buffer, count: int, columns: int, factors: Buffer, block: tuple[int, int], steps: tuple[int, int]
    ) -> None:
        """Multiply a row-major f32 matrix of `columns` columns by the factors of its blocks.

        block: (rows, columns) of a block.   steps: elements of `factors` from one block to the next, down and across.
        """
        self._run("scale", values, U64(count), U64(columns), factors, *block, *map(U64, steps))

    def widen(self, out: Buffer, source: Buffer, count: int, dtype: str) -> None:
        """Convert `count` elements of `dtype` to f32."""
        self._run("widen", out, source, U64(count), TYPES[dtype])

    def narrow(self, out: Buffer, source: Buffer, count: int, dtype: str) -> None:
        """Convert `count` elements from f32 to `dtype`, rounding to nearest, ties to even."""
        self._run("narrow", out, source, U64(count), TYPES[dtype])

    def comparison(self, m: int, n: int, block: tuple[int, int]) -> tuple[Buffer, Buffer, int]:
        """The buffers that `compare` writes, initialised: (report, tiles, number of tiles)."""
        report = self.device.upload(np.array([0, 0, 2**64 - 1, 0, 0, 0], np.uint64))
        count = -(-m // block[0]) * -(-n // block[1])
        tiles = Buffer(self.device, 4 * count)
        tiles.fill(0)
        return report, tiles, count

    def compare(
        self,
        out: Buffer,
        dtype: str,
        reference: Buffer,
        c: Buffer | None,
        beta: float,
        rows: tuple[int, int],
        columns: int,
        exact: bool,
        limits: tuple[float, float],
        block: tuple[int, int],
        report: Buffer,
        tiles: Buffer,
    ) -> None:
        """Compare rows `rows[0]`:`rows[1]` of `out` (M, columns) with `reference`, which holds only these rows.

        `reference` is alpha·A·B in f32; where `c` is given, beta·C is added. If `exact`, an element must equal the
        reference rounded to `dtype`; else |difference| ≤ limits[0] + limits[1] · |reference|. The findings are added to
        `report` and `tiles`.
        """
        self._run(
            "compare",
            out,
            TYPES[dtype],
            reference,
            c if c is not None else U64(0),
            float(beta),
            U64(rows[0]),
            U64(rows[1] - rows[0]),
            U64(columns),
            int(exact),
            float(limits[0]),
            float(limits[1]),
            int(block[0]),
            int(block[1]),
            report,
            tiles,
        )

    def result(self, report: Buffer, tiles: Buffer, count: int) -> Comparison:
        raw = report.read("uint64", (6,))
        wrong, nonfinite, first, largest, _, _ = words(raw.tobytes())
        differences, references = raw[4:].view(np.float64)
        return Comparison(
            wrong,
            nonfinite,
            first if wrong else None,
            ctypes.c_float.from_buffer_copy(struct.pack("<I", largest)).value,
            float(np.sqrt(differences / references)) if references else float(np.sqrt(differences)),
            tiles.read("uint32", (count,)),
        )
