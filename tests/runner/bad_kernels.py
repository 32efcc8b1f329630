"""More than a hundred bad kernels that a learner might write, for both backends.

Every kernel is `gemm(float* d, int n)` with d[1024] and n = 1024, launched with the parameters of its `Bad`. `gpu` and
`simulated` are the allowed outcomes: names of error classes, or "ran" if nothing stops the kernel. Each row in the table
of a family becomes a kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

ELEMENTS = 1024
HEAD = 'extern "C" __global__ void __launch_bounds__({threads}) gemm(float* d, int n) {{\n'
FAULT, HANG, REFUSED, RAN = "KernelFault", "KernelHang", ("LaunchError", "CompileError"), "ran"
SPIN = ("BudgetExceeded",)


@dataclass(frozen=True)
class Bad:
    """One bad kernel: its text, its launch parameters, and the allowed outcomes on a GPU and on the simulator."""

    kind: str
    name: str
    source: str
    gpu: tuple[str, ...]
    simulated: tuple[str, ...]
    grid: tuple[int, int, int] = (2, 1, 1)
    cluster: tuple[int, int, int] = (1, 1, 1)
    given: str = "dn"  # the arguments: d is the array, n its length, f a float; some may be missing or extra

    def arguments(self) -> list:
        values = {"d": np.zeros(ELEMENTS, np.float32), "n": ELEMENTS, "f": 0.5}
        return [values[letter] for letter in self.given]


def bad_kernels() -> list[Bad]:
    """All bad kernels, with the families taking turns."""
    families = [list(family()) for family in FAMILIES]
    return [family[row] for row in range(max(map(len, families))) for family in families if row < len(family)]


def body(*lines: str, threads: int = 64, above: str = "") -> str:
    return above + HEAD.format(threads=threads) + "".join(f"  {line}\n" for line in lines) + "}\n"


# ---- Faults ----


def outside() -> Iterator[Bad]:
    """Kernels that access addresses outside every array, where no memory is mapped."""
    pointers = {
        "null": "((T*)0)", "first page": "((T*)(size_t)(16 * (threadIdx.x + 1)))", "far": "((T*)((char*)d + (1ll << 38)))",
        "behind": "((T*)((char*)d - (1ll << 38)))", "not canonical": "((T*)0xdead000000000000ull)",
        "product": "((T*)((char*)d + (long long)n * n * n * 1000))",
    }  # fmt: skip
    for where, pointer in pointers.items():
        for what, kind, line in (
            ("write", "float", "*p = n;"),
            ("read", "float4", "float4 v = *p; d[0] = v.x + v.w;"),
            ("atomic", "float", "atomicAdd(p, 1.0f);"),
        ):
            text = body(
                f"volatile float* seen = d; auto* p = {pointer.replace('T', kind)};", f"if (seen[0] == 0) {{ {line} }}"
            )
            yield Bad("address outside", f"{where}, {what}", text, (FAULT,), ("MemoryFault", "Trap"))


def misaligned() -> Iterator[Bad]:
    for kind, words, step in (
        ("float4", "16 bytes", 4),
        ("float2", "8 bytes", 4),
        ("double", "8 bytes", 4),
        ("float", "4 bytes", 2),
        ("int", "4 bytes", 1),
        ("short", "2 bytes", 1),
    ):
        text = body(
            f"volatile {kind}* p = (volatile {kind}*)((char*)d + {step} + 0 * n);".replace(
                "volatile float4", "float4"
            ).replace("volatile float2", "float2"),
            "auto v = p[threadIdx.x];",
            "if (*(int*)&v != 12345) p[threadIdx.x + 1] = v;".replace("*(int*)&v", "n"),
        )
        yield Bad("misaligned", f"{kind}, {words} at + {step}", text, (FAULT,), ("MemoryFault",))


def shared_outside() -> Iterator[Bad]:
    for name, index in (
        ("far", "threadIdx.x + n * 100000"),
        ("negative", "(int)threadIdx.x - n * 100000"),
        ("one megabyte", "threadIdx.x + 64 * n * 4"),
        ("thread times row", "threadIdx.x * n * 64 + n * 512"),
    ):
        yield Bad(
            "shared outside",
            f"{name}, write",
            body(
                "__shared__ float tile[64];",
                f"tile[{index}] = 1;",
                "__syncthreads();",
                "d[threadIdx.x] = tile[63 - threadIdx.x];",
            ),
            (FAULT,),
            ("MemoryFault",),
        )
        yield Bad(
            "shared outside",
            f"{name}, read",
            body(
                "__shared__ float tile[64];",
                "tile[threadIdx.x] = 1;",
                "__syncthreads();",
                f"d[threadIdx.x] = tile[{index}];",
            ),
            (FAULT,),
            ("MemoryFault",),
        )


def traps() -> Iterator[Bad]:
    for name, line in (
        ("trap", 'if (n) asm volatile("trap;");'),
        ("of one thread", "if (threadIdx.x == 33 && n) __trap();"),
        ("behind a barrier", "__syncthreads(); if (threadIdx.x == 0 && n) __trap(); d[0] = 1;"),
        ("in the second block", "if (blockIdx.x == 1 && n) __trap(); d[threadIdx.x] = 1;"),
    ):
        yield Bad("trap", name, body(line), (FAULT,), ("Trap",))
    for name, line in (("assert", "assert(n < 0);"), ("assert of one lane", "assert(threadIdx.x != 7 || n < 0);")):
        yield Bad(
            "trap",
            name,
            body(line, "d[0] = n;", above="#include <cassert>\n"),
            (FAULT, "CompileError"),
            ("AssertionFailed", "CompileError"),
        )


def recursion() -> Iterator[Bad]:
    for name, frame, call in (
        ("small frames", 4, "f(d, n + 1)"),
        ("large frames", 256, "f(d, n + 1)"),
        ("two at a time", 8, "f(d, n + 1) + f(d, n + 2)"),
    ):
        text = (
            f"__device__ __noinline__ float f(volatile float* d, int n) {{\n  volatile float own[{frame}];\n"
            f"  own[n % {frame}] = d[n & 63];\n  if (n < 0) return own[0];\n  return own[n % {frame}] + {call};\n}}\n"
        )
        yield Bad(
            "stack overflow", name, body("d[0] = f(d, n);", above=text), (FAULT, HANG), ("UnsupportedInstruction",)
        )
    for name, deep in (("of what is live", "d[n & 63] * f(d, n + 1) + n"), ("through another", "g(d, n + 1) - n")):
        text = (
            "__device__ __noinline__ float g(volatile float* d, int n);\n"
            f"__device__ __noinline__ float f(volatile float* d, int n) {{ return n < 0 ? d[0] : {deep}; }}\n"
            "__device__ __noinline__ float g(volatile float* d, int n) { return f(d, n + 1) * d[n & 63] + n; }\n"
        )
        yield Bad(
            "stack overflow",
            name,
            body("d[0] = f(d, n);", above=text),
            (FAULT, HANG),
            ("MemoryFault", "BudgetExceeded"),
        )


def wrong_calls() -> Iterator[Bad]:
    for name, target in (("null", "(size_t)(n - 1024)"), ("into data", "(size_t)d"), ("odd", "(size_t)(n + 1)")):
        yield Bad(
            "wrong call",
            name,
            body(f"auto f = (void (*)(float*))({target});", "f(d);"),
            (FAULT, HANG),
            ("UnsupportedInstruction", "MemoryFault", "Trap"),
        )
    ptr = '"r"((int)__cvta_generic_to_shared(tile))'
    yield Bad(
        "wrong call",
        "ldmatrix at an odd address",
        body(
            "__shared__ float tile[256];",
            "int r;",
            f'asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%0}}, [%1];" : "=r"(r) : {ptr[:-1]} + 4 * (n & 1023) + 4));',
            "d[threadIdx.x] = r;",
        ),
        (FAULT,),
        ("MemoryFault",),
    )
    yield Bad(
        "wrong call",
        "cp.async from an odd address",
        body(
            "__shared__ float tile[256];",
            f'asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: {ptr}, "l"((char*)d + 4));',
            'asm volatile("cp.async.wait_all;");',
            "d[threadIdx.x] = tile[threadIdx.x];",
        ),
        (FAULT,),
        ("MemoryFault",),
    )


# ---- Hangs ----


def hangs() -> Iterator[Bad]:
    spins = {
        "a flag that nobody sets": "volatile float* p = d; while (p[0] == 0) ;",
        "a loop that counts on": "volatile float* p = d; for (unsigned i = 1; i; i += 2) p[threadIdx.x] = i;",
        "the last lane": "volatile float* p = d; while (threadIdx.x == 63 && p[0] == 0) ; d[1] = n;",
        "a lock that is never freed": "while (atomicCAS((int*)d, 0, 1) != 0) ;",
        "another block": "volatile float* p = d; if (blockIdx.x == 0) while (p[5] == 0) ; else p[6] = 1;",
        "a sleeping loop": "volatile float* p = d; while (p[0] == 0) __nanosleep(100);",
        "a backward step": "volatile float* p = d; for (int i = n; i != -7; i = i % 5 + 3) p[0] = i;",
        "__syncthreads in a loop": "volatile float* p = d; while (p[0] == 0) __syncthreads();",
    }
    for name, line in spins.items():
        yield Bad("hang", name, body(line), (HANG,), SPIN)
    waits = {
        "two barriers": 'if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); else asm volatile("bar.sync 2, 64;");',
        "a barrier for too many": 'asm volatile("bar.sync 3, 96;");',
        "a barrier of one warp": 'if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;"); d[0] = n;',
    }
    for name, line in waits.items():
        ends = (HANG,) if "too many" in name or "two" in name else (HANG, RAN)  # a warp that has exited may count
        yield Bad("hang", name, body(line, "d[1] = n;"), ends, ("Deadlock",))
    yield Bad(
        "hang",
        "an mbarrier without its arrivals",
        body(
            "__shared__ unsigned long long full;",
            "unsigned at = (unsigned)__cvta_generic_to_shared(&full);",
            'if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 65;" :: "r"(at));',
            "__syncthreads();",
            'asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" :: "r"(at));',
            "unsigned done = 0;",
            'while (!done) asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"'
            ' : "=r"(done) : "r"(at));',
            "d[0] = n;",
        ),
        (HANG,),
        ("Deadlock", "BudgetExceeded"),
    )


# ---- Impossible launches ----


def huge_launches() -> Iterator[Bad]:
    plain = body("if (n < 0) d[threadIdx.x] = n;")
    for grid in (
        (1, 65536, 1),
        (1, 1, 65536),
        (0, 1, 1),
        (2, 0, 1),
        (-1, 1, 1),
        (2**31, 1, 1),
        (2**40, 1, 1),
        (1, 2**31, 1),
        (1, 100000, 100000),
    ):
        yield Bad("huge launch", f"grid {grid}", plain, ("LaunchError",), ("LaunchError",), grid=grid)
    for threads in (1025, 1536, 2048, 65536):
        yield Bad("huge launch", f"{threads} threads", body("d[0] = n;", threads=threads), REFUSED, REFUSED)
    for grid in ((2**31 - 1, 1, 1), (2**20, 64, 1)):
        yield Bad(
            "huge launch",
            f"grid {grid}, work for hours",
            body("volatile float* p = d;", "for (int i = 0; i < n * 64; ++i) p[threadIdx.x] = i;"),
            (HANG,),
            SPIN,
            grid=grid,
        )
    lines = "".join(f"r{i} = r{i} * r{(i + 1) % 200} + d[{i}]; " for i in range(200))
    yield Bad(
        "huge launch",
        "1,024 threads of many registers",
        body(
            "float " + ", ".join(f"r{i} = d[{i}]" for i in range(200)) + ";",
            f"for (int i = 0; i < n / 128; ++i) {{ {lines} }}",
            "d[threadIdx.x] = " + " + ".join(f"r{i}" for i in range(200)) + ";",
            threads=1024,
        ),
        (RAN, *REFUSED),
        (RAN, *SPIN),
        grid=(1, 1, 1),
    )


def clusters() -> Iterator[Bad]:
    for cluster, grid in (
        ((3, 1, 1), (4, 1, 1)),
        ((32, 1, 1), (32, 1, 1)),
        ((64, 1, 1), (64, 1, 1)),
        ((2, 2, 1), (2, 1, 1)),
    ):
        yield Bad(
            "cluster",
            f"{cluster} of {grid}",
            body("d[blockIdx.x] = n;"),
            ("LaunchError",),
            ("LaunchError",),
            grid,
            cluster,
        )


def shared_sizes() -> Iterator[Bad]:
    for size in (233_000, 262_144, 400_000, 1 << 20, 1 << 26, 2**31 - 1):
        yield Bad(
            "shared size",
            f"{size:,} bytes",
            "extern __shared__ float tile[];\n"
            + body("tile[threadIdx.x] = n;", "__syncthreads();", "d[threadIdx.x] = tile[63 - threadIdx.x];")
            + f"constexpr int SMEM_BYTES = {size};\n",
            REFUSED,
            REFUSED,
        )
    for static in (12_289, 16_384, 1 << 20, 1 << 28):
        yield Bad(
            "shared size",
            f"{4 * static:,} bytes static",
            body(
                f"__shared__ float tile[{static}];",
                "tile[threadIdx.x + n] = n;",
                "__syncthreads();",
                "d[threadIdx.x] = tile[63 - threadIdx.x + n];",
            ),
            (*REFUSED, RAN),
            (*REFUSED, RAN),
        )
    yield Bad(
        "shared size",
        "static and dynamic together",
        "extern __shared__ float more[];\n"
        + body(
            "__shared__ float tile[8192];",
            "tile[threadIdx.x] = more[threadIdx.x] = n;",
            "__syncthreads();",
            "d[threadIdx.x] = tile[63 - threadIdx.x] + more[0];",
        )
        + "constexpr int SMEM_BYTES = 232448;\n",
        REFUSED,
        REFUSED,
    )
    yield Bad(
        "shared size",
        "none for an extern array",
        "extern __shared__ float tile[];\n"
        + body("tile[threadIdx.x + n * 999] = n;", "__syncthreads();", "d[threadIdx.x] = tile[n * 999];"),
        (FAULT,),
        ("MemoryFault",),
    )


def out_of_memory() -> Iterator[Bad]:
    yield Bad(
        "out of memory",
        "malloc of a thread, unchecked",
        body("float* p = (float*)malloc(1ull << 38);", "p[threadIdx.x] = n;", "d[0] = p[63 - threadIdx.x];"),
        (FAULT, RAN),
        ("MemoryFault", "UnsupportedInstruction"),
    )
    yield Bad(
        "out of memory",
        "malloc in a loop",
        body(
            "float* p = 0;",
            "for (int i = 0; i < 100 * n; ++i) {",
            "float* q = (float*)malloc(4096); if (q) { q[0] = i; p = q; } }",
            "d[0] = p[0];",
        ),
        (RAN, FAULT, HANG),
        (RAN, "MemoryFault", "UnsupportedInstruction", "LaunchError", *SPIN),
    )
    for size in (1 << 15, 1 << 17):
        yield Bad(
            "out of memory",
            f"{4 * size >> 10} KB of local memory a thread",
            body(
                f"volatile float own[{size}];",
                "for (int i = 0; i < n; ++i) own[(i * 977 + threadIdx.x) % " + f"{size}] = i;",
                "d[0] = own[n];",
            ),
            (RAN, "DeviceOutOfMemory", "CompileError", "LaunchError", "DriverError", HANG),
            (RAN, "LaunchError", *SPIN, "CompileError"),
        )


# ---- Output, exits, arguments ----


def floods() -> Iterator[Bad]:
    for name, line, gpu in (
        ("a million lines", 'for (int i = 0; i < 8192; ++i) printf("line %d of %d\\n", i, threadIdx.x);', (RAN, HANG)),
        ("long lines", 'for (int i = 0; i < n; ++i) printf("' + 80 * "x" + '%d\\n", i);', (RAN, HANG)),
        # The compiler may remove a store through a null pointer, as it did for an H200.
        ("and a fault", 'for (int i = 0; i < n; ++i) printf("%d\\n", i); ((float*)0)[n] = 1;', (FAULT, RAN)),
        ("without end", 'volatile float* p = d; while (p[0] == 0) printf("still %f\\n", p[0]);', (HANG,)),
    ):
        yield Bad("flood", name, body(line), gpu, (RAN, "BudgetExceeded", "MemoryFault"))


def exits() -> Iterator[Bad]:
    for name, lines in (
        ("all", ['asm volatile("exit;");', "d[0] = n;"]),
        (
            "half of each warp",
            ['if (threadIdx.x % 32 < 16) asm volatile("exit;");', "__syncthreads();", "d[threadIdx.x] = n;"],
        ),
        ("one warp before the barrier", ["if (threadIdx.x < 32) return;", "__syncthreads();", "d[threadIdx.x] = n;"]),
    ):
        yield Bad("exit", name, body(*lines), (RAN, HANG), (RAN, "Deadlock"))
    for call in ("exit(1)", "abort()", "std::terminate()", "raise(9)", "throw 1"):
        yield Bad("exit", call, body(f"if (n) {call};", "d[0] = n;"), ("CompileError", FAULT), ("CompileError", "Trap"))


def wrong_arguments() -> Iterator[Bad]:
    plain = body("d[threadIdx.x] = n;")
    for given in ("", "d", "n", "dnn", "dd", "nd", "nn", "dnf", "ddn"):
        yield Bad("arguments", given or "none", plain, ("LaunchError",), ("LaunchError", "MemoryFault"), given=given)


def nonsense() -> Iterator[Bad]:
    for name, line in (
        ("unknown instruction", 'asm volatile("fly.to.the.moon;");'),
        ("barrier 17", 'asm volatile("bar.sync 17;");'),
        ("undeclared", "d[0] = undeclared;"),
        ("host code", 'd[0] = fopen("x", "w") != 0;'),
        ("no end", "if (n) {"),
        ("endless constant", "constexpr int f(int x); d[0] = f(1)"),
        ("wrong register", 'asm volatile("mov.u32 %r99999999999, 1;");'),
    ):
        yield Bad("does not compile", name, body(line), ("CompileError",), ("CompileError",))


FAMILIES = (outside, hangs, shared_sizes, misaligned, huge_launches, traps, floods, shared_outside, wrong_arguments, exits,
            clusters, wrong_calls, recursion, out_of_memory, nonsense)  # fmt: skip
