"""What to say of a name of CUDA that clang does not find: the header that has it, or that there is none here.

clang's own "use of undeclared identifier" is left for names of the learner's.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

HEADERS = Path(__file__).parent / "clang_headers"
_MISSING = re.compile(
    r"(?:use of undeclared (?:identifier|template name)|unknown type name|no (?:member|type|template)(?: named)?|"
    r"implicit instantiation of undefined template) '(?P<space>(?:\w+::)*)(?P<name>\w+)[^']*'"
    r"(?: in namespace '(?:::)?(?P<in>[\w:]+)')?(?:.*did you mean (?:simply )?'(?P<near>[\w:]+)'\?)?"
)
_SPACES = ("std", "cuda", "cooperative_groups", "nvcuda", "cub", "thrust")
# CUDA's own names: of the language, of its functions that the headers lack, and of its libraries.
_OF_CUDA = re.compile(
    r"__\w+|[tl]gammaf?|(?:erfc?inv|normcdfinv|remquo|cyl_bessel_i[01])f?|r?normf|[jy][01n]f|atomic[A-Z]\w+|curand\w*"
    r"|cuda(?!_)\w+|cu[A-Z]\w+|cub|thrust|make_(?:u?(?:char|short|int|long|longlong)|float|double)\w*|h2?[a-z]+_approx"
)
_ADVICE = {
    "curand": "make the random numbers on the host and pass them as an array",
    "cub": "write the sum or scan with cooperative groups: cg::reduce, cg::inclusive_scan",
    "thrust": "it is for the host; write a kernel",
    "std": "of std:: there is what libcu++ has as cuda::std, such as min, max, numeric_limits, pair, tuple, array",
}
# A header by the file in which its functions stand.
_WRITTEN_IN = {"cuda_fp16.h": ("builtin/sixteen_bits.h",), "cuda_pipeline.h": (), "mma.h": (), "cuda_bf16.h": ()}
_WRITTEN_IN |= {"cuda_fp8.h": (), "cooperative_groups.h": (), "math_constants.h": (), "cuComplex.h": ()}
_WRITTEN_IN |= {f"cooperative_groups/{name}.h": () for name in ("reduce", "scan", "memcpy_async")}


def told(message: str, here: str) -> str:
    """A sentence in place of a message about a name of CUDA that was not found; "" for any other message.

    here: how the sentence calls the compiler, such as "the page's compiler".
    """
    found = _MISSING.match(message)
    if found is None:
        return ""
    name, near = found["name"], found["near"]
    spaces = (found["in"] or found["space"].rstrip(":")).removeprefix("cuda::" if "std" in found["space"] else "")
    space = spaces.partition("::")[0]
    if not space and (header := _header_of(name)):
        return f"'{name}' is in a header that the source does not include: write #include <{header}>"
    if space not in _SPACES and not _OF_CUDA.fullmatch(name):
        return ""
    near = near or next(iter(get_close_matches(name, _names(), 1, 0.8)), "")
    family = next((key for key in _ADVICE if name.startswith(key) or space == key), "")
    advice = _ADVICE.get(family, "") or (f"the nearest that it has is {near}" if near else "")
    full = f"{spaces}::{name}" if space else name
    return f"{here} does not have '{full}'{f'; {advice}' if advice else ''}"


@lru_cache(maxsize=1)
def _words() -> dict[str, frozenset[str]]:
    """The words of each header that a source includes."""
    parts = {name: (name, *more) for name, more in _WRITTEN_IN.items()}
    texts = {name: "".join((HEADERS / part).read_text(encoding="utf-8") for part in of) for name, of in parts.items()}
    return {name: frozenset(re.findall(r"(?<!\")\b[A-Za-z_]\w{2,}", text)) for name, text in texts.items()}


def _header_of(name: str) -> str:
    return next((header for header, words in _words().items() if name in words and not name.startswith("lab_")), "")


@lru_cache(maxsize=1)
def _names() -> list[str]:
    """The names that the headers give to functions."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(HEADERS.rglob("*.h")))
    found = {name for text in texts for name in re.findall(r"\b(?:__)?[a-z]\w{2,}(?=\()", text)}
    found |= {name for text in texts for name in re.findall(r"^LAB_\w+\((\w+)", text, re.M)}
    return sorted(name for name in found if not name.startswith("lab_"))
