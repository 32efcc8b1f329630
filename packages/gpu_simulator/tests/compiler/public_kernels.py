"""How many public kernel files a compiler takes: a list that was fixed before the headers for clang were written.

`python packages/gpu_simulator/tests/compiler/public_kernels.py FOLDER` compiles each file of `public_kernels.csv` that lies in
FOLDER/OWNER+NAME/PATH, at the commit that the list names, as the simulator would, and prints which of those that NVRTC
takes clang takes too. All kernels of a file have to compile, templates with the arguments in the list. Of the files,
every fourth in the order of their paths is of the set A, towards which the headers were written, and every fourth of
the set B, which was left alone until they were done.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gpu_simulator import kernel_file
from gpu_simulator.compiler import clang, nvrtc
from gpu_simulator.compiler.device_code import device_code
from gpu_simulator.errors import SimulatorError

LIST = Path(__file__).with_name("public_kernels.csv")


class Named(NamedTuple):
    """A row of the list. instances: of templates, such as "sum<float, 32>", separated by semicolons."""

    set: str
    repository: str
    path: str
    commit: str
    arch: str
    instances: str


class PageClang(clang.Installed):
    """The installed clang, asked for LLVM IR, as the one of the page is."""

    writes_ir = True


def rows() -> list[Named]:
    """The rows of the list."""
    with LIST.open(encoding="utf-8", newline="") as file:
        return [Named(**row) for row in csv.DictReader(file)]


def told(row: Named, folder: Path, using: str) -> str:
    """Why a compiler does not take the file; "" if it does."""
    root = folder / row.repository.replace("/", "+")
    path, include = root / row.path, [root / "Common"] if (root / "Common").is_dir() else []
    chosen, nvrtc.chosen = nvrtc.chosen, lambda _=None: using
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        code = device_code(path, text, include, kernel_file._compiler_has)
        instances = [one for one in row.instances.split("; ") if one]
        made = kernel_file._compiled(code, {}, arch=row.arch, name=path.stem, cache=None, instances=instances, std=None)
        return "" if re.search(r"\.entry\b", made.ptx) else "no kernel"
    except (OSError, SimulatorError) as error:
        return " | ".join(str(error).split("\n"))
    finally:
        nvrtc.chosen = chosen


def compared(folder: Path, only: str, ir: bool) -> Iterator[tuple[Named, str, str]]:
    """(row, why NVRTC does not take it, why clang does not) of each row of the set."""
    if ir:
        clang.use(PageClang())
    for row in rows():
        if row.set in only:
            yield row, told(row, folder, "nvrtc"), told(row, folder, "clang")


def main(arguments: list[str] | None = None) -> int:
    """Print the files that NVRTC takes and clang does not, and how many each takes of every repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default="AB", help="A, B or AB")
    parser.add_argument("--ir", action="store_true", help="by way of LLVM IR, as in a web page")
    options = parser.parse_args(arguments)
    taken: dict[str, list[bool]] = {}
    for row, by_nvrtc, by_clang in compared(options.folder, options.sets, options.ir):
        if not by_nvrtc:
            taken.setdefault(f"{row.set} {row.repository}", []).append(not by_clang)
            if by_clang:
                print(f"{row.set} {row.repository} {row.path}: {by_clang[:500]}", flush=True)
    print("\nset and repository: files that NVRTC takes, and of these clang")
    for name, found in sorted(taken.items()):
        print(f"{name}: {len(found)}, {sum(found)}")
    for name in sorted({name[0] for name in taken}):
        found = [one for key, values in taken.items() if key[0] == name for one in values]
        print(f"{name} together: {len(found)}, {sum(found)} ({sum(found) / len(found):.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
