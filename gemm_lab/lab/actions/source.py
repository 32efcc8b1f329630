"""The source of a Kernel with the learner's edits: as text, line by line, compiled, and its entry as it has to be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gemm_lab import catalog, compiling, source_text
from gemm_lab.cards.diff import Diff
from gemm_lab.lab.launchable import Launchable
from gemm_lab.problem import MATRICES, SCALES, Problem
from gemm_results.errors import LabError
from gpu_simulator.compiler import Compiled
from gpu_simulator.errors import ConfigError, LaunchError

C_NAMES = {"f16": "half", "bf16": "__nv_bfloat16", "f32": "float", "e4m3": "__nv_fp8_e4m3"}
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(?P<type>\w+)[^,\[]*?\w+(?:\[(?P<bytes>\d+)\])?\s*$")


def text(kernel: Launchable) -> str:
    """The CUDA text with the learner's edits, without `#line` directives."""
    if kernel.whole:
        return kernel.whole.text
    lines = source_text.splice(kernel.spec.source, kernel.spec.file, kernel.edits).split("\n")
    return "\n".join(line for line in lines if not line.startswith("#line "))


def label(kernel: Launchable) -> str:
    """The name, with the learner's own name if the kernel is edited, and with every changed setting."""
    default = kernel.spec.configure(kernel.tuned_for)
    changed = [f"{name}={value}" for name, value in kernel.config.items() if default.get(name) != value]
    edited = " edited" if kernel.edited and text(kernel) != kernel.spec.source else ""
    edited += f" as {kernel.alias}" if kernel.edited and kernel.alias else ""
    return f"{kernel.name}{edited}" + (f" ({', '.join(changed)})" if changed else "")


def changes(kernel: Launchable) -> Diff | None:
    """The changes from the rung to its edited kernel, or from the rung that it extends to an unedited one.

    None for an unedited first rung.
    """
    spec = kernel.spec
    if kernel.edited:
        return Diff(kernel.unedited().label, kernel.label, spec.source, text(kernel))
    base = catalog.kernel(spec.extends) if spec.extends else None
    return Diff(base.name, kernel.label, base.source, text(kernel)) if base else None


def listing(kernel: Launchable) -> Iterator[tuple[str, int, str]]:
    """Yields (file, line number, text) of every line. Lines of an edited region have the learner's own numbers."""
    if kernel.whole:
        for offset, line in enumerate(kernel.whole.text.split("\n")):
            yield kernel.whole.file, kernel.whole.first_line + offset, line
        return
    spec = kernel.spec
    regions = {region.first_line: (region, kernel.edits.get(name)) for name, region in spec.regions.items()}
    lines, number = spec.source.split("\n"), 1
    while number <= len(lines):
        region, edit = regions.get(number, (None, None))
        if edit is not None:
            for offset, line in enumerate(edit.text.rstrip("\n").split("\n")):
                yield edit.file, edit.first_line + offset, line
            number = region.last_line + 1
        else:
            yield spec.file, number, lines[number - 1]
            number += 1


def places(kernel: Launchable, where: int | str) -> set[tuple[str, int]]:
    """(file, line number) of the lines of a region, or of every line with this number.

    Raises `ConfigError` for a region and `LabError` for a number that the source does not have.
    """
    lines = [(file, number) for file, number, _ in listing(kernel)]
    if isinstance(where, int):
        found = {(file, number) for file, number in lines if number == where}
        if not found:
            raise LabError(f"{kernel.label} has no line {where}; it has lines to {max(number for _, number in lines)}.")
        return found
    if kernel.whole:
        regions, file, first = source_text.find_regions(kernel.whole.text), kernel.whole.file, kernel.whole.first_line
    else:
        regions, file, first = kernel.spec.regions, kernel.spec.file, 1
    if where not in regions:
        raise ConfigError(f"{kernel.label} has no region “{where}”; it has {source_text.listed(regions)}.")
    if edit := kernel.edits.get(where):
        return {(edit.file, edit.first_line + offset) for offset in range(edit.text.count("\n") + 1)}
    region = regions[where]
    return {(file, number + first - 1) for number in range(region.first_line, region.last_line + 1)}


def compiled(kernel: Launchable, arch: str) -> Compiled:
    """Compile to PTX and CUBIN for `arch`. Compile errors name the lines of the learner's cell."""
    spec, source, cell = kernel.spec, kernel.spec.source, None
    if kernel.whole:
        source = f'#line {kernel.whole.first_line} "{kernel.whole.file}"\n{kernel.whole.text}'
        cell = (kernel.whole.text, kernel.whole.first_line)
    elif kernel.edits:
        source = source_text.splice(spec.source, spec.file, kernel.edits)
        edit = next(iter(kernel.edits.values()))
        cell = (edit.text, edit.first_line)
    file = f"{spec.ladder}/{spec.path.stem}"  # several kernels may share the file
    return compiling.compile(source, config=kernel.config, arch=arch, name=file, cell=cell)


def require_form(kernel: Launchable, compiled: Compiled) -> None:
    """Raise `LaunchError` if a source of the learner's own cannot be launched as its rung is.

    The message says how to declare its parameters.
    """
    if kernel.whole is None:
        return
    problem = kernel.problem
    found, wanted = parameters(compiled), [_wanted(name, problem) for name in problem.arguments]
    declared = f"{compiled.entry}({', '.join(words for _, words in wanted)})"
    if not compiled.threads:
        raise LaunchError(
            f"{compiled.entry} does not say how many threads its blocks have. Write __launch_bounds__(…) between void "
            f"and {declared}, as the rung does."
        )
    if len(found) != len(wanted) or any(one not in known for one, (known, _) in zip(found, wanted, strict=True)):
        raise LaunchError(
            f"The parameters of {compiled.entry} do not match the arguments that it is launched with. Declare it as "
            f"{declared}."
        )


def parameters(compiled: Compiled) -> list[str]:
    """The PTX types of the entry's parameters, in order, such as "u64" or, for a struct, "b8[128]"."""
    entry = re.search(rf"\.entry\s+{re.escape(compiled.entry)}\s*(?:\(([^)]*)\))?", compiled.ptx)
    inside = entry[1] or "" if entry else ""
    matches = [_PARAMETER.search(" ".join(item.split())) for item in inside.split(",") if item.strip()]
    return [match["type"] + (f"[{match['bytes']}]" if match["bytes"] else "") for match in matches if match]


def _wanted(name: str, problem: Problem) -> tuple[set[str], str]:
    """The PTX types that the argument `name` may have, and its declaration in CUDA C++."""
    if name in (*MATRICES, *SCALES):
        constant, kind = "const " * (name != "d"), problem.dtype(name)
        return {"u64", "s64", "b64"}, f"{constant}{C_NAMES.get(kind, kind)}* gmem_{name}"
    if name in "mnk":
        return {"u32", "s32", "b32"}, f"int {name.upper()}"
    if name in ("alpha", "beta"):
        return {"f32"}, f"float {name}"
    return {"b8[128]"}, f"const __grid_constant__ CUtensorMap {name}"
