// 64 rows of D leave a warpgroup through shared memory, from where TMA stores them while the warpgroup goes on.
// hopper/08_ping_pong.cu does the same in smaller parts, in the kernel itself.
#pragma once
#include "ptx/named_barrier.cuh"
#include "ptx/stmatrix.cuh"
#include "ptx/tma.cuh"
#include "tile/bf16_pair.cuh"

// The rows, in registers as wgmma leaves them, go to (x, y) in D; map_d has boxes of WIDTH columns.
// staged: (64, COLUMNS · 8) values of this warpgroup's own.   barrier: a named barrier of its own.
template <int WIDTH, int COLUMNS>
__device__ __forceinline__ void store_rows(const CUtensorMap& map_d, const float (&rows)[COLUMNS][4], int x, int y,
                                           uint32_t staged, int barrier) {
  constexpr int CHUNKS = WIDTH / 8, PART_BYTES = 64 * WIDTH * 2;
  static_assert(COLUMNS % CHUNKS == 0 && CHUNKS % 2 == 0, "D leaves in boxes, of which stmatrix takes 16 columns");
  const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
  if (threadIdx.x % 128 == 0) tma_store_wait_read<0>();       // the rows before these no longer lie there,
  named_barrier_sync<128>(barrier);                           // and the warpgroup waits for that
  #pragma unroll
  for (int j = 0; j < COLUMNS; j += 2) {                      // two chunks of 8 columns; map_d names the same swizzle
    const int place = row * CHUNKS + ((j % CHUNKS + lane / 16) ^ row * CHUNKS / 8 % CHUNKS);
    stmatrix_x4(staged + j / CHUNKS * PART_BYTES + 16 * place, bf16_pair(rows[j][0], rows[j][1]),
                bf16_pair(rows[j][2], rows[j][3]), bf16_pair(rows[j + 1][0], rows[j + 1][1]),
                bf16_pair(rows[j + 1][2], rows[j + 1][3]));
  }
  fence_proxy_async();                                        // TMA sees what this thread has written,
  named_barrier_sync<128>(barrier);                           // and one thread waits for the warpgroup
  if (threadIdx.x % 128 == 0) {
    for (int part = 0; part < COLUMNS / CHUNKS; part++)
      tma_store_2d(map_d, x + part * WIDTH, y, staged + part * PART_BYTES);
    tma_store_commit();
  }
}
