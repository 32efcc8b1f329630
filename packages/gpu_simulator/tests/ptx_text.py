"""Builds PTX kernels for tests, with three buffers as parameters and registers of every type."""

import numpy as np

import gpu_simulator

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 param_a, .param .u64 param_b, .param .u64 param_d) {{
.reg .pred %p<4>;
.reg .b16 %h<8>;
.reg .b32 %r<32>, %t, %b, %n;
.reg .b64 %q<16>, %a, %bb, %d;
.reg .f32 %f<16>;
.reg .f64 %g<8>;
.shared .align 16 .b8 smem[{shared}];
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mov.u32 %n, %ntid.x;
ld.param.u64 %a, [param_a];
ld.param.u64 %bb, [param_b];
ld.param.u64 %d, [param_d];
"""


def text(body: str, shared: int = 4096) -> str:
    """The PTX of a kernel. In `body`, %t is the thread, %b the block, %n the number of threads per block, and %a, %bb
    and %d are the addresses of the buffers.
    """
    return HEAD.format(shared=shared) + body + "\nret;\n}\n"


def run(body: str, a, b, d, grid=1, block=32, shared: int = 4096, **options):
    """Launch the kernel of `text` on three arrays and return the report. None as an array gives a null pointer."""
    return gpu_simulator.launch(text(body, shared), "kernel", grid, block, [a, b, d], **options)


def at(pointer: str, index: str, size: int, into: str) -> str:
    """PTX that puts the address of element `index` (a .u32 register) of a buffer into a 64-bit register."""
    return f"mul.wide.u32 {into}, {index}, {size}; add.u64 {into}, {into}, {pointer};\n"


def words(count: int, start: int = 0) -> np.ndarray:
    """The numbers start, start + 1, … as uint32."""
    return np.arange(start, start + count, dtype=np.uint32)
