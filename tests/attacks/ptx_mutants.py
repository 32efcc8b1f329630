"""Mutants of PTX: kernels and small samples, changed by a seeded generator into text that no compiler would write."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import gpu_simulator
from gemm_lab import compiling, kernel
from gemm_lab.lab.on_simulator import copied, smallest_size
from gemm_lab.measure.inputs import make_inputs

KERNELS = (
    "simt/02_coalesced", "simt/03_shared_memory_tiles", "simt/04_register_tiles", "first_kernels/01_plain_loads",
    "first_kernels/02_ldmatrix", "first_kernels/03_wmma", "t4/03_swizzled", "ampere/04_swizzled", "ampere/07_multistage",
    "rtx5090/02_producer_warp", "wmma/wmma", "wmma/async_bf16", "wmma/mma_bf16", "hopper/01_wgmma", "hopper/02_tma",
    "hopper/05_persistent", "hopper/06_clusters", "b200/01_synchronous", "b200/04_cta_pairs",
)  # fmt: skip
SMALL = {
    "calls": """
__device__ __noinline__ int twice(int x) { return 2 * x + (x & 1); }
__device__ __noinline__ int pick(int (*f)(int), int x) { return f(x) + 1; }
extern "C" __global__ void kernel(int* p, float* q, int n) {
  const int t = threadIdx.x;
  if (t == 0) printf("block %d of %d: %s %f\\n", blockIdx.x, n, "text", 1.5);
  p[t] = pick(twice, p[t] + n) + twice(t);
}""",
    "recursion": """
__device__ __noinline__ int walk(int n) { return n < 2 ? n : walk(n - 1) + walk(n - 2); }
extern "C" __global__ void kernel(int* p, float* q, int n) { p[threadIdx.x] = walk(threadIdx.x % 5); }""",
    "atomics": """
__device__ int total; __constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
extern "C" __global__ void kernel(int* p, float* q, int n) {
  __shared__ int bins[16]; __shared__ float s[64];
  const int t = threadIdx.x;
  if (t < 16) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[p[t] & 15], table[t & 7]);
  atomicMax(&total, t); atomicCAS(&p[1], 0, t); atomicAdd(q, 1.f); atomicExch(p + 2, 7);
  s[t] = q[t];
  __syncthreads();
  for (int d = 16; d; d >>= 1) s[t] += __shfl_xor_sync(~0u, s[t], d);
  const unsigned v = __ballot_sync(~0u, s[t] > 0.f);
  if (__all_sync(~0u, v != 1)) p[t] = bins[t & 15] + __popc(v) + __clz(t) + __reduce_add_sync(~0u, t);
  __syncwarp();
}""",
    "numbers": """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void kernel(int* p, float* q, int n) {
  const int t = threadIdx.x;
  const __half2 h = __hfma2(__floats2half2_rn(q[t], 1.5f), __float2half2_rn(2.f), __float2half2_rn(0.25f));
  const __nv_bfloat162 b = __hmul2(__floats2bfloat162_rn(q[t], -1.f), __float2bfloat162_rn(3.f));
  const double d = sqrt((double)q[t]) / 3.0 + (double)__low2float(h);
  const long long w = (long long)p[t] * n + __mulhi(p[t], n) + (p[t] << (n & 31)) + p[t] / (n | 1) + p[t] % 7;
  const unsigned m = __byte_perm(p[t], n, 0x5140) ^ __brev(t) ^ __funnelshift_l(t, n, 5) ^ __dp4a(t, n, 1);
  q[t] = fmaf((float)d, rsqrtf(q[t] + 1.f), __high2float(b)) + __expf(q[t]) + fminf(q[t], 1.f) + __saturatef(q[t]);
  p[t] = (int)(w >> 3) + m + (int)rintf(q[t]) + (unsigned char)w;
}""",
    "local": """
extern "C" __global__ void kernel(int* p, float* q, int n) {
  int own[24]; extern __shared__ int4 words[];
  const int t = threadIdx.x;
  for (int i = 0; i < 24; i++) own[(t + i * i) % 24] = i + p[t];
  words[t] = ((const int4*)p)[t & 15];
  __syncthreads();
  switch (n & 7) { case 0: p[t] = 1; break; case 1: p[t] = words[t ^ 1].x; break; case 2: q[t] = 1; break;
    case 3: q[t] = 2; break; case 4: p[t] = 5; break; case 5: p[t] = own[t % 24]; break; default: p[t] = own[n % 24]; }
}""",
}


@dataclass(frozen=True)
class Sample:
    """One kernel and its launch parameters. `arguments()` returns new arrays each time."""

    name: str
    ptx: str
    entry: str
    threads: int
    dynamic_smem: int
    grid: tuple[int, int, int]
    cluster: tuple[int, int, int]
    arguments: Callable[[], list]


@cache
def sample(name: str) -> Sample:
    """A kernel of the catalogue or of `SMALL`, which is compiled once in each process."""
    if name in SMALL:
        built = compiling.compile(SMALL[name], arch="sm_80", name="kernel.cu", entry="kernel")
        return Sample(
            name,
            built.ptx,
            "kernel",
            64,
            2048 if name == "local" else 0,
            (1, 1, 1),
            (1, 1, 1),
            lambda: [np.arange(256, dtype=np.int32), np.ones(256, np.float32), 5],
        )
    taught = kernel(name)
    built = taught.compile_as_taught()
    sizes = smallest_size(taught)
    inputs = make_inputs(taught.problem, *sizes, "integers", 0)
    return Sample(
        name,
        built.ptx,
        built.entry,
        built.threads,
        built.dynamic_smem,
        tuple(taught.grid(*sizes)),
        tuple(taught.spec.cluster),
        lambda: copied(inputs.arguments())[0],
    )


def launch(chosen: Sample, ptx: str, **options):
    """Launch a changed PTX text with the parameters of a sample; returns the report. options: of `launch`."""
    return gpu_simulator.launch(
        ptx,
        chosen.entry,
        chosen.grid,
        (chosen.threads, 1, 1),
        chosen.arguments(),
        dynamic_smem_bytes=chosen.dynamic_smem,
        cluster=chosen.cluster,
        **options,
    )


# ---- Mutations ----

NAMES = (
    "import", "__import__", "__builtins__", "lambda", "None", "True", "__class__", "self", "os", "exec", "eval", "S",
    "L", "R", "m", "np", "get", "put", "block", "t1", "k0", "r5", "acc1", "%__class__", "$exit", "x.y", "a;b", "a'b",
    'a"b', "a\\nb", "a\nb", "é", "%r１", "ǅ", "\x00", "a b", "a#b", "%", "$", "_", "_ZZ9999999", "{0}", "%(x)s",
)  # fmt: skip
NUMBERS = (
    "0", "1", "-1", "7", "32", "64", "255", "256", "-2147483648", "4294967295", "4294967296", "18446744073709551616",
    "9" * 40, "-" + "9" * 40, "9" * 5000, "0x0", "0xFFFFFFFFFFFFFFFFFFFF", "0x", "0b2", "08", "0f7F800000", "0f7FC00001",
    "0d7FF0000000000000", "0fZZ", "0d00", "1.5", "-1.5e400", "1e5", "nan", "0U", "1_000", "-0", "--1", "+1", "0f", "1U",
    "0x1p4", "٣",
)  # fmt: skip
DECLARATIONS = (
    ".global .align 16 .b8 big[3221225472];", ".shared .align 16 .b8 huge[1099511627776];", ".local .b8 l[4294967296];",
    ".const .b32 c[-5];", ".global .b32 z[0];", ".global .align 0 .b32 a0;", ".global .align 3 .b32 a3;",
    ".global .align 99999999999 .b32 a9;", ".global .b64 m[65536][65536][65536];", ".global .v4 .f32 v[2] = {1,2};",
    ".global .b32 i[2] = {1,2,3,4,5};", ".global .b8 s[4] = {256,-1,0x,1};", ".global .b64 p = nothing;",
    ".global .b64 q = 0xFF(nothing);", ".global .f32 f = {x};", ".reg .b32 %big<900000>;", ".reg .v4 .b32 %vec;",
    ".reg .b128 %wide<3>;", ".reg .b8 %b<-1>;", ".reg .pred %p;", ".shared .b32 nothing", ".global .b32 e[];",
    ".extern .shared .b8 x[];", ".param .b8 pp[99999999];", ".file 1 \"a\\\"b\"", ".file 9 \"__import__('os')\"",
    ".loc 1 99999999999999999999 0", ".loc 9 1 1", ".pragma \"nounroll\";", ".section .x { .b8 0", ".branchtargets a, b;",
    ".callprototype _;", "@%p1 @%p2 ret;", ".alias a, b;", ".global .b32 g = 1 = 2;", ".b32 nospace;",
)  # fmt: skip
OPERANDS = (
    "{}", "[]", "()", "{{}}", "[[0]]", "{{%r1,%r2}}", "{{%r1}}", "[%r1]", "[%rd1+8]", "[%rd1+-8]", "[0]", "_", "!%p1",
    "%r1|%p1", "%tid.x", "%clock64", "%__dict__", "%tid.__class__", "WARP_SZ", "{%r1,%r2}", "{%r1,%r2,%r3}",
    "{%r1,%r2,%r3,%r4}", "{_,_}", "{%f1,%f2,%f3,%f4}", "[%rd1, {%r1, %r2}]", "%p1", "%rd1", "%f1", "%fd1", "%rs1", "%r1.x",
    "%r0", "%rd0", "%r1|%r2|%r3", "!!%p1", "!%r1", "-%r1", "%p1|%p2", "(%r1)", "[%p1]", "[%f1]", "[%rs1]",
    "{" * 60 + "}" * 60, "[" * 400 + "]" * 400, "!" * 3000 + "%p1", "{" * 3000 + "%r1" + "}" * 3000,
)  # fmt: skip

_WORD = re.compile(r"[%\w$.:]+")
_NUMBER = re.compile(r"(?<![\w.%$])-?(?:0[fFdDxX][0-9a-fA-F]+|\d+)(?![\w.])")
_REGISTER = re.compile(r"%[a-z]+\d+")
_INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+ +)?[a-z][\w.:]*\s[^;]*;|^\s*ret;", re.M)
_LABEL = re.compile(r"^\s*(\$?[A-Za-z_][\w$]*):", re.M)
_DECLARED = re.compile(r"^\s*\.(?:reg|shared|local|global|const|param|extern|visible)[^\n]*", re.M)
_OPCODE = re.compile(r"^\s*(?:@!?%\w+ +)?([a-z][\w.:]*)", re.M)


class Mutator:
    """Makes one to four changes to a text. The same seed gives the same mutant."""

    def __init__(self, text: str, seed: int):
        self.random, self.text = random.Random(seed), text

    def mutant(self) -> str:
        ways = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("by_")]
        for _ in range(self.random.choice((1, 1, 1, 2, 3, 4))):
            self.text = self.random.choice(ways)() or self.text
        return self.text

    # ---- Pieces ----

    def match(self, pattern: re.Pattern):
        """The first match of a pattern after a random position, or else in the whole text; None if there is none."""
        start = self.random.randrange(len(self.text) + 1)
        found = pattern.search(self.text, start) or pattern.search(self.text)
        return found

    def replaced(self, found, text: str, group: int = 0) -> str | None:
        return None if found is None else self.text[: found.start(group)] + text + self.text[found.end(group) :]

    def operand(self):
        """(match of an instruction, begin and end of one of its operands); None if there is no operand."""
        found = self.match(_INSTRUCTION)
        if found is None:
            return None
        line = found[0]
        begin = re.match(r"\s*(?:@!?%\w+ +)?[\w.:]+\s*", line).end()
        cuts, depth = [begin], 0
        for at in range(begin, len(line)):
            depth += (line[at] in "{[(") - (line[at] in "}])")
            if line[at] in ",;" and depth <= 0:
                cuts.append(at + 1)
        if len(cuts) < 2:
            return None
        which = self.random.randrange(len(cuts) - 1)
        return found, cuts[which], cuts[which + 1] - 1

    # ---- Ways ----

    def by_swapping_tokens(self):
        one, other = sorted((self.match(_WORD), self.match(_WORD)), key=lambda m: m.start())
        if one.end() > other.start():
            return None
        return (
            self.text[: one.start()]
            + other[0]
            + self.text[one.end() : other.start()]
            + one[0]
            + self.text[other.end() :]
        )

    def by_deleting_a_token(self):
        return self.replaced(self.match(_WORD), "")

    def by_doubling_a_token(self):
        found = self.match(_WORD)
        return self.replaced(found, found[0] + self.random.choice((" ", "", ",", ".")) + found[0])

    def by_another_token(self):
        return self.replaced(self.match(_WORD), self.match(_WORD)[0])

    def by_another_modifier(self):
        found, other = self.match(_OPCODE), self.match(_OPCODE)
        if found is None:
            return None
        parts, more = found[1].split("."), other[1].split(".")
        at, how = self.random.randrange(len(parts)), self.random.random()
        if how < 0.2 and len(parts) > 1:
            del parts[at]
        elif how < 0.4:
            parts.insert(at + 1, self.random.choice(more))
        elif how < 0.6:
            parts[at] = self.random.choice(
                ("u8", "s8", "u16", "b16", "f16", "b32", "f32", "s64", "f64", "pred", "b128", "f16x2", "bf16x2", "v2",
                 "v4", "v8", "e4m3x2", "tf32", "x4", "cc", "sat", "wide", "hi", "global", "shared", "param", "local")
            )  # fmt: skip
        else:
            parts[at] = self.random.choice(more)
        return self.replaced(found, ".".join(parts), 1)

    def by_another_opcode(self):
        found, other = self.match(_OPCODE), self.match(_OPCODE)
        return None if found is None else self.replaced(found, other[1], 1)

    def by_a_known_opcode(self):
        found = self.match(_OPCODE)
        family = self.random.choice(sorted(gpu_simulator.supported()))
        return None if found is None else self.replaced(found, family + found[1][len(found[1].split(".")[0]) :], 1)

    def by_another_operand(self):
        found = self.operand()
        return found and self.cut(*found, self.random.choice(OPERANDS))

    def by_dropping_an_operand(self):
        found = self.operand()
        if found is None:
            return None
        where, begin, end = found
        return self.text[: where.start() + begin] + self.text[where.start() + end + 1 :]

    def by_exchanging_operands(self):
        found, other = self.operand(), self.operand()
        if found is None or other is None:
            return None
        return self.cut(*found, other[0][0][other[1] : other[2]])

    def cut(self, where, begin: int, end: int, text: str) -> str:
        return self.text[: where.start() + begin] + text + self.text[where.start() + end :]

    def by_an_odd_number(self):
        return self.replaced(self.match(_NUMBER), self.random.choice(NUMBERS))

    def by_an_odd_name(self):
        return self.replaced(self.match(_WORD), self.random.choice(NAMES))

    def by_renaming_a_register(self):
        found = self.match(_REGISTER)
        if found is None:
            return None
        name = self.random.choice(NAMES)
        return re.sub(rf"{re.escape(found[0])}(?!\d)", lambda _: name, self.text)

    def by_renaming_registers(self):
        found = self.match(re.compile(r"(%[a-z]+)<\d+>"))
        if found is None:
            return None
        name = self.random.choice(NAMES)
        return re.sub(rf"{re.escape(found[1])}(?=[\d<])", lambda _: name, self.text)

    def by_another_register(self):
        return self.replaced(self.match(_REGISTER), self.match(_REGISTER)[0]) if self.match(_REGISTER) else None

    def by_another_register_type(self):
        found = self.match(re.compile(r"\.reg\s+\.(\w+)"))
        kinds = ("b8", "b16", "b32", "b64", "b128", "f32", "f64", "pred", "f16", "f16x2", "u32", "s64", "v2")
        return self.replaced(found, self.random.choice(kinds), 1)

    def by_fewer_registers(self):
        return self.replaced(self.match(re.compile(r"<(\d+)>")), str(self.random.randrange(40)), 1)

    def by_another_target(self):
        labels = _LABEL.findall(self.text)
        found = self.match(re.compile(r"\bbra(?:\.uni)?\s+([\w$]+);"))
        if found is None or not labels:
            return None
        return self.replaced(found, self.random.choice([*labels, "$nowhere", "4", "%r1", "kernel"]), 1)

    def by_moving_a_label(self):
        found = self.match(_LABEL)
        if found is None:
            return None
        self.text = self.replaced(found, "")
        return self.replaced(self.match(re.compile(r"\n")), f"\n{found[0].strip()}\n")

    def by_deleting_lines(self):
        lines = self.text.split("\n")
        at = self.random.randrange(len(lines))
        del lines[at : at + self.random.choice((1, 1, 2, 5, 20))]
        return "\n".join(lines)

    def by_doubling_lines(self):
        lines = self.text.split("\n")
        at, count = self.random.randrange(len(lines)), self.random.choice((1, 1, 2, 5, 20))
        lines[at:at] = lines[at : at + count]
        return "\n".join(lines)

    def by_swapping_lines(self):
        lines = self.text.split("\n")
        one, other, count = (
            self.random.randrange(len(lines)),
            self.random.randrange(len(lines)),
            self.random.choice((1, 3, 9)),
        )
        lines[one : one + count], lines[other : other + count] = lines[other : other + count], lines[one : one + count]
        return "\n".join(lines)

    def by_truncating(self):
        return self.text[: self.random.randrange(len(self.text) + 1)]

    def by_one_character(self):
        at = self.random.randrange(len(self.text))
        char = self.random.choice("{}[]()<>;:,.\"'\\\n\t %$@!|+-=#/*0x_é\x00\x1b")
        return self.text[:at] + char + self.text[at + self.random.randrange(2) :]

    def by_a_declaration(self):
        found = self.match(_DECLARED)
        if found is None:
            return None
        line = self.random.choice(DECLARATIONS)
        return self.replaced(found, f"{found[0]}\n{line}" if self.random.random() < 0.7 else line)

    def by_another_size(self):
        found = self.match(re.compile(r"^\s*\.(?:shared|local|global|const|extern|visible)[^\n;\[]*\[(\d*)\]", re.M))
        return self.replaced(found, self.random.choice((*NUMBERS, "", "3221225472")), 1)

    def by_nesting(self):
        found, depth = self.match(_INSTRUCTION), self.random.choice((1, 5, 200, 3000))
        return found and self.replaced(found, "{" * depth + found[0] + "}" * (depth - self.random.randrange(2)))

    def by_many_labels(self):
        found, count = self.match(_INSTRUCTION), self.random.choice((3, 300))
        text = "".join(f"\n$many{n}:\n" for n in range(count))
        return found and self.replaced(found, f"{text} bra $many{self.random.randrange(count)};\n{found[0]}")

    def by_a_guard(self):
        found = self.match(_INSTRUCTION)
        if found is None:
            return None
        guard = self.random.choice(("@%p1 ", "@!%p1 ", "@%r1 ", "@! ", "@[0] ", "@%f1 ", "@%laneid ", "@1 "))
        return self.replaced(found, guard + re.sub(r"^\s*@!?%\w+ +", "", found[0]))

    def by_an_odd_string(self):
        text = self.random.choice(("'); import os; ('", '\\"', "\\", "é", "a" * 5000, "{}", "%s", "\\n"))
        found = self.match(re.compile(r'"([^"\n]*)"'))
        return self.replaced(found, text, 1)
