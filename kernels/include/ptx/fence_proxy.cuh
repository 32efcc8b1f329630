// The async proxy: TMA, wgmma and tcgen05 reach shared memory on a way of their own. What threads stored there, with
// st, stmatrix or cp.async, becomes visible to it: each of them fences, then all meet, then one of them goes on.
// PTX ISA, "membar / fence", .proxy.async. sm_90 and later.
#pragma once

__device__ __forceinline__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
