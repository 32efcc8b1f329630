"""Builds kernels in LLVM IR for tests, translates them and runs them on the simulator."""

import numpy as np

import gpu_simulator
from llvm_ir_to_ptx import translate

HEAD = """target triple = "nvptx64-nvidia-cuda"
{before}
define ptx_kernel void @kernel(ptr %a, ptr %b, ptr %d{more}) {{
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
"""


def module(body: str, before: str = "", more: str = "") -> str:
    """The text of a module. In `body`, %t is the thread, %i the same in 64 bits, and %a, %b and %d are the buffers.

    before: variables, types and functions.   more: further parameters, with a comma before each.
    """
    return HEAD.format(before=before, more=more) + body + "\n}\n"


def run(body: str, a, b, d, *others, before: str = "", more: str = "", arch: str = "sm_90a", block: int = 32):
    """Translate the kernel of `module`, launch one block of it and return the report; `d` holds the result."""
    ptx = translate(module(body, before, more), arch=arch)
    return gpu_simulator.launch(ptx, "kernel", 1, block, [a, b, d, *others])


def at(name: str, of: str, buffer: str) -> str:
    """IR that puts the address of this thread's element of a buffer into %name."""
    return f"  %{name} = getelementptr inbounds {of}, ptr %{buffer}, i64 %i\n"


def apply(code: str, a, b, into, of: str, to: str, **options) -> np.ndarray:
    """What `code` makes of %x and %y, the elements of a and b of IR type `of`, as an array like `into` of type `to`.

    `code` puts its result into %r.
    """
    d = np.zeros_like(into)
    body = at("pa", of, "a") + at("pb", of, "b") + at("pd", to, "d")
    body += f"  %x = load {of}, ptr %pa\n  %y = load {of}, ptr %pb\n{code}\n  store {to} %r, ptr %pd\n  ret void"
    run(body, a, b, d, block=len(a), **options)
    return d


def wholes(dtype, count: int = 64, seed: int = 0) -> np.ndarray:
    """Integers of a type: those at its ends, around 0, and random ones."""
    info = np.iinfo(dtype)
    ends = [info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2, 3, 7]
    rng = np.random.default_rng(seed)
    rest = rng.integers(info.min, info.max, count - len(ends), dtype=dtype, endpoint=True)
    return rng.permutation(np.concatenate([np.array(ends, dtype), rest]))
