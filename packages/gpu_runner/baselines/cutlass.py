"""CUTLASS as a baseline: its `mma.sync` GEMMs of two generations, several tiles each, built here with nvcc.

`cutlass_sm75` are the two-stage kernels that CUTLASS has for Turing (mma.m16n8k8), `cutlass_sm80` its cp.async
pipelines for Ampere (mma.m16n8k16). Both are built for the architecture of this GPU. Which tile and which threadblock
swizzle are fastest depends on the size, so all are timed, and the fastest is CUTLASS's result
(`timing.rounds.fastest`). The headers come from the package nvidia-cutlass; the code that uses them is
`gpu_runner/baselines/cutlass_gemm.cu`.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_runner import settings
from gpu_runner.baselines import nvcc
from gpu_runner.driver import Device
from gpu_runner.faults import RunnerError
from gpu_runner.timing.verify import Inputs
from gpu_simulator.errors import ConfigError, LaunchError, MissingDependency, SimulatorError, SizeError
from gpu_simulator.hardware.data_sheets import arch_of

ELEMENTS = {"f16": "cutlass::half_t", "bf16": "cutlass::bfloat16_t", "f32": "float"}
LAYOUTS = {"row": "RowMajor", "col": "ColumnMajor"}
BYTES = {"f16": 2, "bf16": 2, "f32": 4}
THREADBLOCK_SWIZZLES = (1, 4, 8)  # widths of GemmIdentityThreadblockSwizzle
ACCESS_BYTES = 16


@dataclass(frozen=True)
class Tile:
    """A block tile, its shared-memory stages and its warps along M, N and K, which are fixed when a kernel is built."""

    m: int
    n: int
    k: int
    stages: int
    warps: tuple[int, int, int]

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k} stages={self.stages}"

    @property
    def smem_bytes(self) -> int:
        """Shared memory of all stages in bytes, for 2-byte inputs."""
        return 2 * self.stages * (self.m + self.n) * self.k

    @property
    def warp(self) -> tuple[int, int, int]:
        """The tile of one warp. Several warps along K each multiply a part of the k tile, and their sums are added."""
        m, n, k = self.warps
        return self.m // m, self.n // n, self.k // k


@dataclass(frozen=True)
class Family:
    """One generation of CUTLASS's tensor-core GEMMs; it needs a GPU of compute capability `capability` or newer.

    `dtypes` are (input, accumulator).
    """

    name: str
    generation: str
    capability: tuple[int, int]
    mma: tuple[int, int, int]
    dtypes: tuple[tuple[str, str], ...]
    tiles: tuple[Tile, ...]


# What CUTLASS's own generator lists for mma.m16n8k8 (generator.py, GenerateSM75_TensorOp_1688): two stages, nine tiles.
_SM75 = (
    Tile(256, 128, 32, 2, (4, 2, 1)),
    Tile(128, 256, 32, 2, (2, 4, 1)),
    Tile(128, 128, 32, 2, (2, 2, 1)),
    Tile(64, 256, 32, 2, (1, 4, 1)),
    Tile(256, 64, 32, 2, (4, 1, 1)),
    Tile(64, 128, 32, 2, (2, 2, 1)),
    Tile(128, 64, 32, 2, (2, 2, 1)),
    Tile(64, 64, 32, 2, (2, 2, 1)),
    Tile(64, 128, 64, 2, (1, 2, 2)),
)
# Its list for mma.m16n8k16 (GenerateSM80_TensorOp_16816), and the large tiles with more stages, which are often faster.
_SM80 = (
    *(Tile(256, 128, 32, stages, (4, 2, 1)) for stages in (3, 4, 5)),
    *(Tile(128, 256, 32, stages, (2, 4, 1)) for stages in (3, 4, 5)),
    *(Tile(256, 64, 32, stages, (4, 1, 1)) for stages in (3, 4)),
    Tile(64, 256, 32, 4, (1, 4, 1)),
    *(Tile(128, 128, 32, stages, (2, 2, 1)) for stages in (3, 4, 5)),
    Tile(128, 64, 32, 6, (2, 2, 1)),
    Tile(64, 128, 32, 6, (2, 2, 1)),
    Tile(64, 64, 32, 10, (2, 2, 1)),
    Tile(256, 128, 64, 3, (4, 2, 1)),
    Tile(128, 256, 64, 3, (2, 4, 1)),
    *(Tile(256, 64, 64, stages, (4, 1, 1)) for stages in (3, 4)),
    *(Tile(64, 256, 64, stages, (1, 4, 1)) for stages in (3, 4)),
    *(Tile(128, 128, 64, stages, (2, 2, 1)) for stages in (3, 4, 5)),
    Tile(128, 64, 64, 3, (2, 2, 1)),
    Tile(64, 128, 64, 3, (2, 2, 1)),
    Tile(64, 64, 64, 5, (2, 2, 1)),
)
FAMILIES = {
    family.name: family
    for family in (
        Family("cutlass_sm75", "Sm75", (7, 5), (16, 8, 8), (("f16", "f16"), ("f16", "f32")), _SM75),
        Family(
            "cutlass_sm80",
            "Sm80",
            (8, 0),
            (16, 8, 16),
            (("bf16", "f32"), ("f16", "f16"), ("f16", "f32")),
            _SM80,
        ),
    )
}


# ---- What can be built and run ----


def headers() -> tuple[Path, str]:
    """CUTLASS's include folder and version, from the package nvidia-cutlass; MissingDependency without it."""
    try:
        package = importlib.metadata.distribution("nvidia-cutlass")
    except importlib.metadata.PackageNotFoundError:
        raise MissingDependency(
            "The package nvidia-cutlass is not installed, so there is no CUTLASS baseline; "
            f"type `{settings.install_command('cutlass')}`."
        ) from None
    for file in package.files or ():
        if file.as_posix().endswith("include/cutlass/cutlass.h"):
            return Path(package.locate_file(file)).resolve().parents[1], package.version
    raise MissingDependency(
        f"The package nvidia-cutlass {package.version} holds no cutlass/cutlass.h; "
        "install it again with `pip install --force-reinstall nvidia-cutlass`."
    )


def require(family: Family, problem: Mapping[str, Any], m: int, n: int, k: int, capability: tuple[int, int]) -> None:
    """Raise an error if this family has no kernel for the GPU, the types or the size.

    The error is a `LaunchError` for the GPU, a `ConfigError` for the types, a `SizeError` for the size.
    """
    if tuple(capability) < family.capability:
        raise LaunchError(
            f"The {family.generation} kernels of CUTLASS need a GPU of compute capability "
            f"{family.capability[0]}.{family.capability[1]} or newer; this one has {capability[0]}.{capability[1]}."
        )
    asked = (problem["dtype_in"], problem["dtype_acc"])
    if asked not in family.dtypes or problem["dtype_out"] not in ELEMENTS:
        known = ", ".join(f"{given} with {acc} accumulation" for given, acc in family.dtypes)
        raise ConfigError(f"{family.name} multiplies {known}; not {asked[0]} with {asked[1]} accumulation.")
    inner = {
        "A": ("K", k, "dtype_in") if problem["layout_a"] == "row" else ("M", m, "dtype_in"),
        "B": ("N", n, "dtype_in") if problem["layout_b"] == "row" else ("K", k, "dtype_in"),
        "D": ("N", n, "dtype_out"),
    }
    for operand, (axis, extent, dtype) in inner.items():
        multiple = ACCESS_BYTES // BYTES[problem[dtype]]
        if extent % multiple:
            raise SizeError(
                f"{family.name} reads and writes 16 bytes at a time, so {axis}, along which {operand} is contiguous, "
                f"has to be a multiple of {multiple}; {extent} is not, {extent // multiple * multiple + multiple} is."
            )


def builds(family: Family, problem: Mapping[str, Any], arch: str) -> dict[Tile, nvcc.Build]:
    """What nvcc has to build for this problem's types and layouts: {tile: build}, for every tile of the family."""
    include, version = headers()
    fixed = {
        "ARCH": family.generation,
        "ELEMENT": ELEMENTS[problem["dtype_in"]],
        "ELEMENT_ACC": ELEMENTS[problem["dtype_acc"]],
        "ELEMENT_OUT": ELEMENTS[problem["dtype_out"]],
        "LAYOUT_A": LAYOUTS[problem["layout_a"]],
        "LAYOUT_B": LAYOUTS[problem["layout_b"]],
        **dict(zip(("MMA_M", "MMA_N", "MMA_K"), family.mma, strict=True)),
    }
    source = Path(__file__).with_name("cutlass_gemm.cu")
    return {
        tile: nvcc.Build(
            source,
            fixed
            | {"BLOCK_M": tile.m, "BLOCK_N": tile.n, "BLOCK_K": tile.k, "NUM_STAGES": tile.stages}
            | dict(zip(("WARP_M", "WARP_N", "WARP_K"), tile.warp, strict=True)),
            (include,),
            arch,
            f"CUTLASS {version}",
        )
        for tile in family.tiles
    }


# ---- The launches ----


@lru_cache(maxsize=64)
def load(path: Path) -> ctypes.CDLL:
    """Load a built library. Its own CUDA runtime uses the primary context of GPU 0, as CuPy does."""
    library = ctypes.CDLL(str(path))
    pointer, number = ctypes.c_void_p, ctypes.c_int
    library.run.argtypes = [number, *[pointer] * 4, *[number] * 3, ctypes.c_float, ctypes.c_float, pointer]
    library.run.restype = number
    library.reason.argtypes, library.reason.restype = [number], ctypes.c_char_p
    return library


def call(library: Any, width: int, inputs: Inputs, alpha: float, beta: float) -> Callable[[], None]:
    """A callable that computes D = alpha·A·B + beta·C once; if the problem has no C, beta is 0 and C is not read.

    `width` is that of the threadblock swizzle. The callable raises `LaunchError` if CUTLASS refuses.
    """
    uses_c = inputs.problem["uses_c"]
    c = inputs.c if uses_c else inputs.d
    addresses = (inputs.a.address, inputs.b.address, c.address, inputs.d.address)
    arguments = (width, *addresses, inputs.m, inputs.n, inputs.k, alpha, beta if uses_c else 0.0, None)
    run = library.run

    def start() -> None:
        code = run(*arguments)
        if code:
            raise LaunchError(f"CUTLASS refused the product: {library.reason(code).decode()}.")

    return start


def candidates(
    device: Device,
    context: Any,
    family: Family,
    problem: Mapping[str, Any],
    copies: Sequence[Inputs],
    alpha: float,
    beta: float,
) -> tuple[dict[str, list[Callable[[], None]]], dict[str, str]]:
    """All kernels of the family that can run here: {configuration: one callable for each copy of the inputs}.

    The second result is {tile: why it is left out}. The first use on a machine builds the libraries, which takes some
    seconds of processor time for each tile and is reported to `context`. Raises a `RunnerError` if no kernel can run.
    """
    require(family, problem, copies[0].m, copies[0].n, copies[0].k, device.capability)
    most = device.attribute(device.runtime.cudaDevAttrMaxSharedMemoryPerBlockOptin)
    wanted = builds(family, problem, arch_of(*device.capability))
    left_out = {
        str(tile): f"its stages take {tile.smem_bytes:,} bytes of shared memory; a block here has at most {most:,}."
        for tile in wanted
        if tile.smem_bytes > most
    }
    libraries = nvcc.shared_libraries(
        {str(tile): build for tile, build in wanted.items() if str(tile) not in left_out},
        nvcc.find(),
        lambda name, done, total: context.progress(
            stage=f"building {family.name} {name}".rstrip(), done=done, total=total
        ),
    )
    found = {}
    for tile, library in libraries.items():
        try:
            if isinstance(library, str):
                raise RunnerError(library)
            loaded = load(library)
        except (SimulatorError, OSError) as error:
            left_out[tile] = str(error)
            continue
        for width in THREADBLOCK_SWIZZLES:
            found[f"{tile} threadblock_swizzle={width}"] = [call(loaded, width, each, alpha, beta) for each in copies]
    if not found:
        raise RunnerError(
            f"No tile of {family.name} can run here; {'; '.join(f'{t}: {w}' for t, w in left_out.items())}"
        )
    return found, left_out
