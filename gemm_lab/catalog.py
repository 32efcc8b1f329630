"""The catalogue of kernels: reads every ladder.toml and finds the regions of every source.

Nothing here compiles or runs a kernel. A `KernelSpec` says what a rung computes, with which tile sizes and which grid,
and for which architectures it exists.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

from gemm_lab.ablations import Idea, read_ideas
from gemm_lab.config import data_dir
from gemm_lab.ladder_expressions import evaluate
from gemm_lab.problem import DTYPE_BYTES, LONGEST_EDGE, MATRICES, OPERANDS, SCALES, MapSpec, Problem
from gemm_lab.source_text import Region, find_regions, listed, state
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import as_whole, shown
from gpu_simulator.errors import ConfigError, SizeError

RENAMED = {"lessons": "first_kernels"}  # ladders that answer to an older name


class UnknownKernel(LabError):
    """No kernel or ladder has this name; the message lists names that are close."""


# ---- One rung, one ladder ---------------------------------------------------


@dataclass(frozen=True)
class KernelSpec:
    """One rung of a ladder as its ladder.toml describes it. Several rungs may share one source.

    grid: three expressions over M, N, K, SMS and the configuration.   cluster: blocks in x, y and z, computed from
    the expressions in `cluster_of` for the default configuration, or for the one passed to `clustered`.
    multiples: for m, n and k, an expression of which the size must be a multiple; any size works if there is none.
    ceiling: not a GEMM but a loop on registers, with the expression flops_per_thread for the work of one thread.
    published: the kernel of results/published.csv that the rung follows.   spills: some configuration spills registers.
    """

    name: str
    ladder: str
    title: str
    summary: str
    extends: str | None
    path: Path
    source: str
    targets: tuple[str, ...]
    problem: Problem
    grid: tuple[str, str, str]
    config: Mapping[str, int]
    configs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    multiples: Mapping[str, str] = field(default_factory=dict)
    cluster: tuple[int, int, int] = (1, 1, 1)
    cluster_of: tuple[str | int, ...] = ()
    ceiling: bool = False
    flops_per_thread: str = ""
    published: str | None = None
    spills: bool = False

    @property
    def short(self) -> str:
        """The name without its ladder, such as "03_swizzled"."""
        return self.name.split("/", 1)[-1]

    @property
    def file(self) -> str:
        return self.path.name

    @property
    def number(self) -> str:
        return self.file.split("_")[0]

    def written_for(self, arch: str) -> bool:
        """Whether the kernel exists for `arch`. Newer is not enough: wgmma and tcgen05 exist on some targets only."""
        return bool({arch, arch.removesuffix("a")} & set(self.targets))

    def not_for(self, arch: str) -> str:
        """The end of a sentence about a kernel for which `written_for(arch)` is False."""
        return f"is written for {', '.join(self.targets)}, not for {arch}"

    @property
    def regions(self) -> dict[str, Region]:
        return find_regions(self.source)

    def configure(self, gpu_key: str | None = None, **changes: int) -> dict[str, int]:
        """The configuration for a GPU with `changes` applied. Raises `ConfigError` for an unknown name or bad value."""
        config = {**self.config, **self.configs.get(gpu_key or "", {})}
        for name, value in changes.items():
            if name not in config:
                near = difflib.get_close_matches(name, config, n=1)
                hint = f" Did you mean {near[0]}?" if near else ""
                raise ConfigError(f"{self.name} has no setting {name}; it has {', '.join(config)}.{hint}")
            number = as_whole(value)
            if number is None or not 0 <= number < 2**31:
                raise ConfigError(f"{name} must be a whole number from 0 to 2³¹ - 1, not {shown(value)}.")
            config[name] = number
        return config

    def launch_grid(self, config: Mapping[str, int], m: int, n: int, k: int, sms: int) -> tuple[int, int, int]:
        """Blocks in x, y and z for an m by n by k product on a GPU with `sms` multiprocessors.

        For a rung with clusters, SMS is `sms` rounded down to whole clusters. Raises `SizeError`, with the nearest size
        that works, if the grid does not consist of whole clusters.
        """
        cluster = self.clustered(config).cluster
        blocks = cluster[0] * cluster[1] * cluster[2]
        whole = max(sms // blocks, 1) * blocks

        def grid(m: int, n: int) -> tuple[int, int, int]:
            names = {**config, "M": m, "N": n, "K": k, "SMS": whole}
            x, y, z = (evaluate(expression, names) for expression in self.grid)
            return x, y, z

        def works(m: int, n: int) -> bool:
            return all(extent > 0 and extent % step == 0 for extent, step in zip(grid(m, n), cluster, strict=True))

        found = grid(m, n)
        if blocks == 1 or works(m, n):
            return found
        steps = self.size_multiples(config)
        near = [(m + i * steps["m"], n + j * steps["n"]) for i, j in _around(2 * blocks)]
        nearest = next((size for size in near if min(size) > 0 and works(*size)), None)
        works_at = "No size near it works; the grid has to be a multiple of the cluster."
        if nearest:
            works_at = f"Nearest size that works: M = {nearest[0]}, N = {nearest[1]}, K = {k}."
        needs, made = (" × ".join(map(str, extents)) for extents in (cluster, found))
        raise SizeError(
            f"{self.name} runs in clusters of {needs} blocks, and M = {m}, N = {n} makes a grid of {made}. {works_at}"
        )

    def clustered(self, config: Mapping[str, int]) -> KernelSpec:
        """The rung with the cluster for this configuration."""
        cluster = tuple(evaluate(expression, config) for expression in self.cluster_of) or self.cluster
        return self if cluster == self.cluster else replace(self, cluster=_shape_of(cluster, self.name))

    def size_multiples(self, config: Mapping[str, int]) -> dict[str, int]:
        """{"m", "n", "k"}: the number of which each size must be a multiple; 1 if any size works."""
        return {axis: evaluate(self.multiples.get(axis, 1), config) for axis in "mnk"}

    def require_size(self, config: Mapping[str, int], m: int, n: int, k: int) -> None:
        """Raise `SizeError`, with the nearest size that works, if this rung cannot compute m × n × k.

        Raises `ConfigError` for a configuration that no size fits.
        """
        sizes, steps = {"m": m, "n": n, "k": k}, self.size_multiples(config)
        for axis, size in sizes.items():
            if as_whole(size) is None or size < 1:
                raise SizeError(f"{axis.upper()} must be a whole number ≥ 1, not {shown(size)}.")
            if size > LONGEST_EDGE:
                raise SizeError(f"{axis.upper()} = {size:,} is too large for one GEMM; {LONGEST_EDGE:,} is the limit.")
        if min(steps.values()) < 1:
            raise ConfigError(f"{self.name} fits no size with {dict(config)}: tiles have to be at least 1.")
        nearest = {axis: max(step, round(sizes[axis] / step) * step) for axis, step in steps.items()}
        wrong = [axis for axis in sizes if sizes[axis] % steps[axis]]
        if wrong:
            needs = ", ".join(f"{axis.upper()} a multiple of {steps[axis]}" for axis in wrong)
            works = ", ".join(f"{axis.upper()} = {nearest[axis]}" for axis in "mnk")
            raise SizeError(f"{self.name} needs {needs}. Nearest size that works: {works}.")


@dataclass(frozen=True)
class LadderSpec:
    """A ladder: a folder of kernels for one problem, as its ladder.toml describes it."""

    name: str
    title: str
    gpu: str
    notebook: str
    ceiling: str | None
    baselines: tuple[str, ...]
    kernels: tuple[KernelSpec, ...]
    ablations: tuple[Mapping[str, Any], ...] = ()

    @cached_property
    def ideas(self) -> tuple[Idea, ...]:
        """The ideas of the rungs. Raises `ConfigError` for an entry of ladder.toml that is none."""
        return read_ideas(self.ablations, [k.name.split("/")[1] for k in self.kernels], f"{self.name}/ladder.toml")

    @property
    def problem(self) -> Problem:
        return self.kernels[0].problem

    @property
    def eight_bits(self) -> bool:
        """Whether the ladder multiplies 8-bit numbers, which are half the bytes and twice the products of others."""
        return DTYPE_BYTES.get(self.problem.multiplied) == 1


_RUNG_KEYS = {
    "file", "name", "title", "summary", "extends", "targets", "grid", "cluster", "config", "on", "multiples",
    "flops_per_thread", "published", "compute", "spills", "tensor_maps", "arguments", "promotion",
}  # fmt: skip
_LADDER_KEYS = {
    "title", "gpu", "notebook", "ceiling", "baselines", "targets", "problem", "config", "grid", "cluster",
    "multiples", "kind", "rung", "tensor_maps", "ablation",
}  # fmt: skip
_MAP_KEYS = {"array", "box", "swizzle"}


def read_ladder(folder: Path) -> LadderSpec:
    """Read `folder`/ladder.toml. Raises `ConfigError` for a missing file, an unknown key or an invalid value."""
    path = folder / "ladder.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{folder.name}/ladder.toml cannot be read: {error}.") from None
    _known(data, _LADDER_KEYS, f"{folder.name}/ladder.toml")
    problem = Problem(**{**data["problem"], "arguments": tuple(data["problem"]["arguments"])})
    kernels = tuple(_rung(folder, data, problem, rung) for rung in data["rung"])
    twice = {k.name for k in kernels if sum(other.name == k.name for other in kernels) > 1}
    if twice:
        raise ConfigError(f"{folder.name}/ladder.toml has two rungs {listed(sorted(twice))}; give each its own name.")
    baselines, ablations = tuple(data.get("baselines", ())), tuple(data.get("ablation", ()))
    gpu, notebook = data.get("gpu", ""), data.get("notebook", "")
    return LadderSpec(folder.name, data["title"], gpu, notebook, data.get("ceiling"), baselines, kernels, ablations)


def _rung(folder: Path, data: dict, problem: Problem, rung: dict) -> KernelSpec:
    _known(rung, _RUNG_KEYS, f"{folder.name}/ladder.toml, rung {rung.get('file', '?')}")
    source_path = folder / rung["file"]
    if not source_path.is_file():
        raise ConfigError(f"{folder.name}/ladder.toml names {rung['file']}, which does not exist.")
    compute = rung.get("compute", problem.compute)
    if compute not in ("", *DTYPE_BYTES):
        raise ConfigError(f"{folder.name}/ladder.toml: compute “{compute}” is not one of {', '.join(DTYPE_BYTES)}.")
    name, config = rung.get("name", source_path.stem), {**data.get("config", {}), **rung.get("config", {})}
    source = source_path.read_text(encoding="utf-8")
    arguments = tuple(rung.get("arguments", problem.arguments))
    promotion = rung.get("promotion", problem.promotion)
    maps = _tensor_maps({**data.get("tensor_maps", {}), **rung.get("tensor_maps", {})}, f"{folder.name}/ladder.toml")
    unknown = set(arguments) - set(OPERANDS) - set(maps)
    if unknown:
        raise ConfigError(f"{folder.name}/ladder.toml: unknown arguments {listed(sorted(unknown))}.")
    if set(SCALES) & set(arguments) and (problem.layout_a, problem.layout_b) != ("row", "col"):
        raise ConfigError(f"{folder.name}/ladder.toml: scales need a row-major A and a column-major B.")
    used = tuple((key, spec) for key, spec in maps.items() if key in arguments)
    grid = tuple(str(expression) for expression in rung.get("grid", data.get("grid")))
    extends = rung.get("extends")
    cluster = [*rung.get("cluster", data.get("cluster", ())), 1, 1, 1][:3]
    return KernelSpec(
        name=f"{folder.name}/{name}",
        ladder=folder.name,
        title=rung.get("title", name if "name" in rung else name.split("_", 1)[-1].replace("_", " ")),
        summary=rung["summary"],
        extends=extends and (extends if "/" in extends else f"{folder.name}/{extends}"),
        path=source_path,
        source=state(source, config) if "name" in rung else source,  # one file, many configurations
        targets=tuple(rung.get("targets", data["targets"])),
        problem=replace(problem, compute=compute, promotion=promotion, arguments=arguments, tensor_maps=used),
        grid=(*grid, *("1",) * (3 - len(grid))),
        config=config,
        configs=rung.get("on", {}),
        multiples=rung.get("multiples", data.get("multiples", {})),
        cluster=_shape_of([evaluate(expression, config) for expression in cluster], f"{folder.name}/{name}"),
        cluster_of=tuple(cluster),
        ceiling=data.get("kind") == "ceiling",
        flops_per_thread=rung.get("flops_per_thread", ""),
        published=rung.get("published"),
        spills=rung.get("spills", False),
    )


def _around(most: int) -> list[tuple[int, int]]:
    """Steps (i, j) in m and n from -most to most, nearest first; of equally near ones, the smaller first."""
    every = [(i, j) for i in range(-most, most + 1) for j in range(-most, most + 1)]
    return sorted(every, key=lambda step: (abs(step[0]) + abs(step[1]), step))


def _shape_of(cluster, name: str) -> tuple[int, int, int]:
    """The blocks of a cluster, 1 to 16 in all; else `ConfigError`. 8 run everywhere (CUDA C++ Programming Guide)."""
    x, y, z = cluster
    if min(x, y, z) < 1 or x * y * z > 16:
        raise ConfigError(f"{name} has clusters of {x} × {y} × {z} blocks; 1 to 16 are possible, and 8 on every GPU.")
    return x, y, z


def _tensor_maps(table: dict, where: str) -> dict[str, MapSpec]:
    """The tensor maps of a ladder, by the name that `arguments` uses. where: the file, for messages."""
    found = {}
    for name, entry in table.items():
        _known(entry, _MAP_KEYS, f"{where}, tensor map {name}")
        if entry.get("array") not in (*MATRICES, *SCALES) or name in OPERANDS or not entry.get("box"):
            raise ConfigError(
                f"{where}: the tensor map “{name}” needs a name of its own, an array (a, b, c, d or a scale) and "
                'a box, such as { array = "a", box = ["BLOCK_K", "BLOCK_M"], swizzle = 128 }.'
            )
        found[name] = MapSpec(entry["array"], tuple(entry["box"]), entry.get("swizzle", 0))
    return found


def _known(table: dict, keys: set[str], where: str) -> None:
    unknown = set(table) - keys
    if unknown:
        raise ConfigError(f"{where}: unknown keys {listed(sorted(unknown))}; known are {', '.join(sorted(keys))}.")


@lru_cache(maxsize=1)
def ladders() -> dict[str, LadderSpec]:
    """All ladders by name, in the order in which the series teaches them."""
    order = ["simt", "first_kernels", "t4", "ampere", "rtx5090", "wmma", "hopper", "hopper_fp8", "b200", "ceilings"]
    folders = [path.parent for path in data_dir("kernels").glob("*/ladder.toml")]
    folders.sort(key=lambda f: (order.index(f.name) if f.name in order else len(order), f.name))
    return {folder.name: read_ladder(folder) for folder in folders}


def ladder(name: str) -> LadderSpec:
    """One ladder. Raises `UnknownKernel`, with the names of all ladders, for an unknown name."""
    name = RENAMED.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in ladders():
        raise UnknownKernel(f"There is no ladder {shown(name)}; there are {listed(ladders())}.")
    return ladders()[name]


def kernels() -> dict[str, KernelSpec]:
    """All rungs of all ladders by name, except ceilings."""
    return {k.name: k for spec in ladders().values() for k in spec.kernels if not k.ceiling}


def kernel(name: str) -> KernelSpec:
    """One rung by full name (`t4/03_swizzled`), by number (`t4/03`) or by a unique part (`swizzled`, `unroll_bf16`).

    Raises `UnknownKernel`, with similar names, if no rung or more than one fits.
    """
    everything = {k.name: k for spec in ladders().values() for k in spec.kernels}
    if not isinstance(name, str):
        raise UnknownKernel(f"The name of a kernel is a text such as “t4/03_swizzled”, not {shown(name)}.")
    old, slash, rung = name.partition("/")
    name = RENAMED.get(old, old) + slash + rung
    if name in everything:
        return everything[name]
    exact = [key for key, spec in everything.items() if spec.short == name]
    parts = [key for key in everything if name and (key.startswith(name + "_") or name == key.split("_", 1)[-1])]
    close = exact or parts
    if len(close) == 1:
        return everything[close[0]]
    near = close or difflib.get_close_matches(name, everything, n=3, cutoff=0.4)
    hint = f"Did you mean {listed(near)}?" if near else f"lab.ladder(…) lists the rungs of {listed(ladders())}."
    form = "" if near else "A name is a ladder and a rung, such as “t4/03_swizzled”; "
    raise UnknownKernel(f"There is no kernel {shown(name)}. {form}{hint}")
