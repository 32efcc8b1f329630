"""`python -m tools.libcudacxx CCCL` puts the headers that clang needs of a checkout of NVIDIA/cccl into one archive.

CCCL: the folder of the checkout at the tag `TAG`. Which files are needed, clang says when it compiles the headers in
`PUBLIC`. Each file keeps its notice of licence; the lines of `CHANGES` say that they were changed.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from gpu_simulator.compiler import clang

TAG = "v3.0.3"
_STD = "type_traits limits utility tuple array functional initializer_list cstdint cstddef cassert climits cfloat cmath"
_STD += " complex bit concepts iterator atomic barrier span optional variant numeric ratio cstring cstdlib numbers"
_STD += " expected mdspan chrono memory __algorithm/max.h __algorithm/min.h"
_CUDA = "barrier pipeline atomic semaphore latch functional cmath bit ptx"
PUBLIC = [f"cuda/std/{name}" for name in _STD.split()] + [f"cuda/{name}" for name in _CUDA.split()]
ARCHITECTURES = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a")
# What is changed in a file, with the comment that says so: clang takes no address in a null object for a constant, and
# no shared variable with a destructor, which nvcc never calls for it.
_NOTE = "  // changed for clang"
CHANGES = {
    "cuda/__barrier/barrier_block_scope.h": (
        ("!(&(((type*) 0)->member))", f"!__builtin_offsetof(type, member){_NOTE}"),
        (" ~barrier()\n", f" void __lab_end(){_NOTE}\n"),
    ),
    "cuda/pipeline": ((".~barrier();", f".__lab_end();{_NOTE}"),),
}


def files(include: Path) -> set[str]:
    """The names of the headers that clang reads for those in `PUBLIC`."""
    found: set[str] = set()
    with tempfile.TemporaryDirectory() as made:
        for arch in ARCHITECTURES:
            for standard in ("c++17", "c++20"):
                source, listed = Path(made, "all.cu"), Path(made, "all.d")
                source.write_text("".join(f"#include <{name}>\n" for name in PUBLIC), encoding="utf-8")
                options = clang._options(arch, standard, [], [str(clang.HEADERS), str(include)], False)
                options = ["-Eonly" if word == "-S" else word for word in options]
                options += ["-sys-header-deps", "-dependency-file", str(listed), "-MT", "all", str(source)]
                subprocess.run([sys.executable, "-m", "ziglang", "clang", *options], check=True)
                found |= set(re.findall(rf"{re.escape(str(include))}/(\S+)", listed.read_text(encoding="utf-8")))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Write the archive and the licence into the package."""
    parser = argparse.ArgumentParser(prog="python -m tools.libcudacxx", description=__doc__)
    parser.add_argument("cccl", type=Path)
    folder = parser.parse_args(arguments).cccl / "libcudacxx"
    into, whole = clang.HEADERS.with_name("libcudacxx"), io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for name in sorted(files(folder / "include")):
            text = (folder / "include" / name).read_text(encoding="utf-8")
            for before, after in CHANGES.get(name, ()):
                assert before in text, (name, before)
                text = text.replace(before, after)
            data = text.encode()
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    (into / "headers.tar.gz").write_bytes(gzip.compress(whole.getvalue(), 9, mtime=0))
    (into / "LICENSE.txt").write_bytes((folder / "LICENSE.TXT").read_bytes())
    print(f"{(into / 'headers.tar.gz').stat().st_size / 1e3:.0f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
