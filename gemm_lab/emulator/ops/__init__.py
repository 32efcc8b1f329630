"""One file per instruction family; importing this registers them all."""

from gemm_lab.emulator.ops import (  # noqa: F401
    arithmetic,
    async_copy,
    atomic,
    bulk,
    calls,
    compare,
    convert,
    half,
    integer,
    logic,
    matrix,
    mbarrier,
    memory,
    mma,
    move,
    sync,
    video,
    warp,
    wgmma,
    wmma,
)
