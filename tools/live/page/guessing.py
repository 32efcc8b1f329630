"""What a kernel could be launched with, as far as its text tells: the launch of its program, else a guess that fits.

An array is written `f32:?`: it gets as many elements as the kernel touches, which `touched` finds out when it runs.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from math import prod
from pathlib import Path
from typing import Any

from constants import Constants, between_commas

from gpu_simulator.cli.argument_words import word_of_structs
from gpu_simulator.compiler.declarations import closing, masked
from gpu_simulator.compiler.device_code import device_code
from gpu_simulator.ptx.parameter_types import declared
from gpu_simulator.ptx.shared_declarations import declarations
from gpu_simulator.ptx.struct_types import Member, members

FILE = "kernel.cu"
BLOCKS, THREADS = {1: (256,), 2: (16, 16), 3: (8, 8, 4)}, 1024
SIDE, GRID = 64, 4  # elements of a side of what blocks cover in two or three dimensions; blocks in one dimension
COUNT = 1024  # structs in an array
MOST_THREADS, MOST_BYTES = 1 << 18, 1 << 26  # of a program's launch, which takes seconds in a page
TYPES = (
    (r"(?:float|double|int|uint|half|longlong)([234])\b", ""),  # a vector type; its extent stands behind the count
    (r"\b(?:__nv_)?bfloat16|\bbf16", "bf16"),
    (r"\bhalf|\b__half", "f16"),
    (r"\bdouble", "f64"),
    (r"\bfloat", "f32"),
    (r"\bunsigned\s+char|\buint8_t|\buchar|\bbool|\b__nv_fp8", "u8"),
    (r"\bchar|\bint8_t", "i8"),
    (r"\bunsigned\s+short|\buint16_t|\bushort", "u16"),
    (r"\bshort|\bint16_t", "i16"),
    (r"\bunsigned\s+long|\buint64_t|\bsize_t", "u64"),
    (r"\blong|\bint64_t", "i64"),
    (r"\bunsigned|\buint", "u32"),
    (r"\bint", "i32"),
)
BYTES = {"u8": 1, "i8": 1, "f16": 2, "bf16": 2, "u16": 2, "i16": 2, "f64": 8, "u64": 8, "i64": 8}
TOO_LARGE = "too large"
UNKNOWN = "Grid, block and arguments are guessed from the text: write what your program gives."


def kernels_of(source: str) -> list[dict[str, Any]]:
    """The kernels of a text in their order: {name, parameters, words, grid, block, more, guesses, says}.

    words: for each parameter, what the kernel could be launched with.   more: further options.   guesses: numbers of
    the parameters that no launch in the text gives.   says: where all of this is from, in words.
    """
    code = masked(source)
    source += "}" * max(0, code.count("{") - code.count("}"))  # while it is being written, a brace may be missing
    found, code = device_code(Path(FILE), source), masked(source)
    bodies = {name: _body(code, name) for name in found.kernels}
    return [
        _Guess(source, code, name, found.parameters[name], found.templates.get(name, ""), bodies).made()
        for name in found.kernels
    ]


def _body(code: str, name: str) -> tuple[int, int]:
    """Where the body of a kernel begins and ends."""
    head = re.search(rf"__global__\b[^;{{}}]*?\b{name}\s*\([^{{;]*\{{", code)
    return (head.end(), closing(code, head.end() - 1) or len(code)) if head else (0, 0)


class _Guess:
    def __init__(self, source: str, code: str, name: str, parameters, template: str, bodies):
        self.name, self.parameters, self.code = name, parameters, code
        text = list(code)
        for other, (begin, end) in bodies.items():
            if other != name:
                text[begin:end] = " " * (end - begin)
        self.text = "".join(text)  # without the bodies of other kernels
        head = re.search(rf"__global__\b[^;{{}}]*?\b{name}\s*\(", code)
        self.place, self.head = (head.start(), head[0]) if head else (None, "")
        self.instance = _instance(name, template, code)
        given = between_commas(self.instance[1:-1]) if self.instance[1:-1] else []
        taken = [one.partition("=") for one in between_commas(template)] if template else []
        self.types = {name_of(one): (given[n : n + 1] or [default])[0] for n, (one, _, default) in enumerate(taken)}
        self.constants = Constants(source, self.types)
        self.source = source
        plain = re.sub(r"\bfor\s*\([^;]*;", "", self.text)
        for alias, of in re.findall(r"\b(\w+)\s*=\s*((?:thread|block)Idx\s*\.\s*[xyz])\s*[;,]", plain):
            if len(re.findall(rf"\b{alias}\s*[-+*/]?=[^=]", plain)) == 1:
                self.text = re.sub(rf"(?<![\w.>]){alias}\b(?!\s*=[^=])", of, self.text)
        self.text = re.sub(r"\s*\.\s*", ".", self.text)
        self.floats = iter(range(2, 1000))

    def made(self) -> dict[str, Any]:
        grid, block, self.side = self.extents()
        words, more, says = [self.word(one) for one in self.parameters], "", UNKNOWN
        self.guesses = list(range(len(words)))
        if re.search(r"\bextern\s+__shared__\b", self.text):
            more = "--smem ?"
        if launch := self.launch():
            grid, block, words, more, says = self.of_the_program(launch, grid, block, words, more)
        return {
            "name": self.name + self.instance,
            "parameters": list(self.parameters),
            "words": words,
            "grid": ",".join(map(str, grid)),
            "block": ",".join(map(str, block)),
            "more": more,
            "guesses": self.guesses,
            "says": says,
        }

    # ---- Grid and block ----

    def extents(self) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """(grid, block, a whole number): the number is how many elements the threads of one dimension cover."""
        deep, high = map(self.dimensions, ("threadIdx", "blockIdx"))
        tiles = [self.tile(d) for d in "xyz"]
        block = [self.step(d) or tile or one for d, tile, one in zip("xyz", tiles, BLOCKS[deep], strict=False)]
        if deep == 1:
            bounds = re.search(r"__launch_bounds__\s*\(([^,)]*)", self.head)
            extents = [one.extents[-1] for one in declarations(self.text) if self.stores_its_own(one.name)]
            known = [self.constants.whole(one, self.place) for one in [*extents, *([bounds[1]] if bounds else [])]]
            block = [min([one for one in known if one and one <= THREADS], default=block[0])]
            if self.one_warp():
                block = [32]
        if prod(block) > THREADS:
            block = list(BLOCKS[deep])
        covered = [max(tile or 0, one) for tile, one in zip(tiles, [*block, 1, 1], strict=False)]
        if not re.search(r"\bblockIdx\b|\bgridDim\b|this_grid", self.text):
            return (1,), tuple(block), covered[0]
        if max(deep, high) == 1:
            taken = []
            for each in self.parameters:
                inside = members(declared(each).type, self.source)
                taken += [f"{one.type} {one.name}" for one in inside] if inside else [each]
            whole = [one for one in taken if "*" not in one and self.kind(one)[0][:1] in ("i", "u")]
            side = GRID * covered[0] if len(whole) < 2 else SIDE
            if len(whole) == 1:
                name = name_of(whole[0])
                asks = re.search(rf"\bif\s*\([^;{{]*[<>]=?\s*{name}\b|<\s*{name}\s*\?", self.text)
                side -= side // 42 * bool(asks)  # 1,000 of 1,024: some threads have nothing to do
            return (GRID,), tuple(block), side
        side = max(SIDE, 2 * max(covered[: max(deep, high)]))
        return tuple(side // one for one in covered[: max(deep, high)]), tuple(block), side

    def dimensions(self, what: str) -> int:
        """How many dimensions of threadIdx or blockIdx the kernel uses."""
        return max((number for number, d in enumerate("xyz", 1) if f"{what}.{d}" in self.text), default=1)

    def tile(self, d: str) -> int | None:
        """TILE of blockIdx.x * TILE + threadIdx.x."""
        found = re.search(rf"blockIdx\.{d}\s*\*\s*([\w:]+|\([^()]*\))", self.text) or re.search(
            rf"([\w:]+|\([^()]*\))\s*\*\s*blockIdx\.{d}\b", self.text
        )
        value = self.constants.whole(found[1], self.place) if found else None
        return value if value and value > 1 else None

    def step(self, d: str) -> int | None:
        """S of a loop that goes on from threadIdx.x in steps of S, so that S threads take turns."""
        for name, begin, step in re.findall(
            r"for\s*\([^;]*?\b(\w+)\s*=([^;]*);[^;]*;\s*(?:\w+\s*\+\+\s*,\s*)?\1\s*\+=\s*([^),]+)\)", self.text
        ):
            turns = rf"threadIdx\.{d}\s*\+\s*{name}\b|\b{name}\s*\+\s*threadIdx\.{d}\b"
            value = self.constants.whole(step, self.place)
            if value and (f"threadIdx.{d}" in begin or re.search(turns, self.text)):
                return value
        return None

    def stores_its_own(self, array: str) -> bool:
        """Whether each thread uses the element of a shared array that has its own number."""
        at = r"\s*\[\s*threadIdx\.x\s*\]"
        return bool(re.search(rf"\b{array}{at}\s*=[^=]|&\s*{array}{at}", self.text))

    def one_warp(self) -> bool:
        """Whether the lanes of a warp work together, and nothing tells one warp from another."""
        together = re.search(r"\bwmma::|mma\.sync|\bldmatrix|\bmma_sync", self.text + self.source)
        return bool(together) and not re.search(r"/\s*32|>>\s*5|warp_?size|warp_?id|blockDim", self.text, re.I)

    # ---- Arguments ----

    def kind(self, parameter: str) -> tuple[str, str]:
        """(type, extent of a vector) of a parameter, "" for a type that is not known."""
        for name, meant in self.types.items():
            parameter = re.sub(rf"\b{name}\b", meant, parameter)
        extent = ""
        for pattern, word in TYPES:
            if found := re.search(pattern, parameter):
                if word:
                    return word, extent
                extent = f"x{found[1]}"
        return "", extent

    def word(self, parameter: str) -> str:
        """An argument for a parameter, as --arg takes it."""
        kind, extent = self.kind(parameter)
        if "*" in parameter or "[" in parameter:
            const = ":random" * bool(re.search(r"\bconst\b.*[*[]", parameter))
            if structs := word_of_structs(declared(parameter).type.rstrip("*"), self.source):
                return f"{structs}:{COUNT}{const}"
            return f"{kind or 'f32'}:?{extent}{const}"
        if inside := members(declared(parameter).type, self.source):
            return self.struct(inside)
        return self.number(kind or "f32")

    def number(self, kind: str) -> str:
        if kind in ("f16", "bf16"):
            return f"{kind}={next(self.floats)}.0"
        return f"{next(self.floats)}.0" if kind in ("f32", "f64") else str(self.side if BYTES.get(kind) != 1 else 1)

    def struct(self, inside: list[Member]) -> str:
        """The members of a struct, with zeros between them where a vector has to begin at a multiple of its size."""
        words, at, widest = [], 0, 1
        for one in [each for each in inside for _ in range(max(1, each.count))]:
            kind, extent = self.kind(one.type)
            pointer, count = "*" in one.type, int(extent[1:] or 1)
            size = 8 if pointer else BYTES.get(kind, 4) * count
            align = 4 if count == 3 else size
            gap, widest = -at % align, max(widest, align)
            words += ["0"] * (gap // 4 if count > 1 else 0)
            at += gap + size
            if pointer or (not kind and members(one.type, self.source)):
                words.append(self.word(f"{'const ' * one.const}{one.type} {one.name}"))
                continue
            plain = kind in ("", "f32", "i32", "u32", "f16", "bf16")
            numbers = [self.number(kind or "i32") for _ in range(count)]
            words += [number if plain else f"{kind}={number}" for number in numbers]
        return "{" + ", ".join(words + ["0"] * (-at % widest // 4 if widest > 8 else 0)) + "}"

    # ---- The program's own launch ----

    def launch(self) -> tuple[int, list[str], list[str]] | None:
        """(place, what stands between <<< and >>>, arguments) of the first launch of this kernel."""
        found = re.search(rf"\b{self.name}\s*(?:<[^<>;]*>)?\s*<<<(?P<how>.*?)>>>\s*\(", self.code, re.S)
        if not found:
            return None
        return found.start(), between_commas(found["how"]), _in_brackets(self.code, found.end())

    def of_the_program(self, launch, grid, block, words, more):
        """The launch with what the program's says, as far as it can be read; the last is a sentence on it."""
        place, how, given = launch
        line = 1 + self.code.count("\n", 0, place)
        begin = f"main() is not run, and no other code of the host. Your launch in line {line}"
        read = [self.constants.value(one, place) for one in [*how, "", "", ""][:3]]
        sizes = [one if isinstance(one, tuple) else (one,) if isinstance(one, int) else None for one in read[:2]]
        found = [self.given(*each, place) for each in zip(self.parameters, given, words, strict=False)]
        if prod(one for each in sizes for one in each or ()) > MOST_THREADS or TOO_LARGE in found:
            return grid, sizes[1] or block, words, more, f"{begin} is too large for a page; this one is smaller."
        self.guesses = [number for number in self.guesses if not found[number : number + 1] or not found[number]]
        missing = [name_of(self.parameters[number]) for number in self.guesses if "?" not in words[number]]
        missing = [name for name, one in zip(("grid", "block"), sizes, strict=True) if not one] + missing
        but = f", but for {', '.join(missing)}, which cannot be read there and is guessed" if missing else ""
        words = [new or old for new, old in zip_longest(found[: len(words)], words)]
        more = f"--smem {read[2]}" if isinstance(read[2], int) and read[2] else more
        return sizes[0] or grid, sizes[1] or block, words, more, f"{begin} stands here{but}."

    def given(self, parameter: str, argument: str, word: str, place: int) -> str | None:
        """The word for what the program gives for a parameter; None if it cannot be read, or TOO_LARGE."""
        if "{" in word:
            return None
        if ":?" not in word:
            value = self.constants.value(argument, place)
            if value is None or isinstance(value, tuple):
                return None
            kind = self.kind(parameter)[0]
            if kind in ("f16", "bf16"):
                return f"{kind}={float(value)}"
            return repr(float(value)) if kind in ("f32", "f64") else str(int(value))
        for name in re.findall(r"[A-Za-z_]\w*", argument):
            if found := re.search(rf"cudaMalloc\w*\s*\((?:\s*\([^()]*\))?\s*&\s*{name}\s*,", self.code):
                size = self.constants.whole(_in_brackets(self.code, found.end())[0], place) or 0
                kind, extent = self.kind(parameter)
                count = size // (BYTES.get(kind, 4) * int(extent[1:] or 1))
                if size > MOST_BYTES:
                    return TOO_LARGE
                return word.replace("?", str(count), 1) + ":?" * (word.count(":") < 2) if count else None
        return None


def name_of(parameter: str) -> str:
    """The name of a parameter in its declaration, or all of it."""
    return (re.findall(r"[A-Za-z_]\w*", parameter.partition("[")[0].partition("=")[0]) or [parameter])[-1]


def _in_brackets(code: str, begin: int) -> list[str]:
    """What stands between the commas up to the bracket that closes the one before `begin`."""
    depth = 1
    for found in re.compile(r"[()]").finditer(code, begin):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return between_commas(code[begin : found.start()])
    return between_commas(code[begin:])


def _instance(name: str, template: str, source: str) -> str:
    """The arguments of a template as the text itself gives them somewhere, else some that may fit."""
    if not template:
        return ""
    if used := re.search(rf"\b{name}\s*(<[^<>;(){{}}]*>)\s*(?:<<<|\()", source):
        return used[1]
    words = [
        "float" if re.match(r"\s*(?:typename|class)\b", one) else "true" if "bool" in one else "16"
        for one in template.split(",")
        if "=" not in one
    ]
    return f"<{', '.join(words)}>"
