"""The part of libcu++, NVIDIA's C++ library for kernels, that clang needs: cuda::std, cuda::barrier, cuda::pipeline.

`headers.tar.gz` holds headers of NVIDIA/cccl as `tools.libcudacxx` took them; `LICENSE.txt` is their licence, Apache
2.0 with LLVM's exceptions.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

FOLDER = "libcudacxx"  # where clang finds them
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([\w/.]+)[>"]', re.M)


@lru_cache(maxsize=1)
def headers() -> dict[str, str]:
    """The text of each header by its name, such as "cuda/std/limits"."""
    with tarfile.open(Path(__file__).with_name("headers.tar.gz")) as archive:
        files = ((member.name, archive.extractfile(member)) for member in archive)
        return {name: file.read().decode() for name, file in files if file is not None}


def needed(texts: Iterable[str], others: Mapping[str, str]) -> dict[str, str]:
    """The headers of libcu++ that these texts need. others: the texts of further headers that they may include."""
    found: dict[str, str] = {}
    wanted = [name for text in texts for name in _INCLUDE.findall(text)]
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in others:
            wanted += _INCLUDE.findall(others[name])
        elif name.startswith(("cuda/", "nv/")) and (text := headers().get(name)):
            found[name] = text
            wanted += _INCLUDE.findall(text)
    return found
