// D leaves a warpgroup in parts of 64 rows and WIDTH columns: through shared memory, from where TMA stores each part
// while the warpgroup goes on. hopper/08_ping_pong.cu has the same lines in the kernel itself.
#pragma once
#include "ptx/named_barrier.cuh"
#include "ptx/stmatrix.cuh"
#include "ptx/tma.cuh"
#include "tile/bf16_pair.cuh"

// The WIDTH columns from `column` on of 64 rows, in registers as wgmma leaves them, go to (x, y) in D.
// staged: one of two buffers, used in turns, for (64, WIDTH) values.   barrier: a named barrier of the warpgroup's own.
template <int WIDTH, int COLUMNS>
__device__ __forceinline__ void store_part(const CUtensorMap& map_d, const float (&rows)[COLUMNS][4], int column, int x,
                                           int y, uint32_t staged, int barrier) {
  constexpr int CHUNKS = WIDTH / 8;
  static_assert(COLUMNS * 8 % WIDTH == 0 && WIDTH % 16 == 0, "D leaves in parts, of which stmatrix takes 16 columns");
  const int lane = threadIdx.x % 32, staged_row = threadIdx.x % 128 / 32 * 16 + lane % 16;
  if (threadIdx.x % 128 == 0) tma_store_wait_read<1>();       // the store before last no longer reads this buffer,
  named_barrier_sync<128>(barrier);                           // and the warpgroup waits for that
  #pragma unroll
  for (int chunk = 0; chunk < CHUNKS; chunk += 2) {           // two at a time; map_d names the same swizzle
    const auto &left = rows[column / 8 + chunk], &right = rows[column / 8 + chunk + 1];
    const int place = staged_row * CHUNKS + ((chunk + lane / 16) ^ staged_row * CHUNKS / 8 % CHUNKS);
    stmatrix_x4(staged + 16 * place, bf16_pair(left[0], left[1]), bf16_pair(left[2], left[3]),
                bf16_pair(right[0], right[1]), bf16_pair(right[2], right[3]));
  }
  fence_proxy_async();                                        // TMA sees what this thread has written,
  named_barrier_sync<128>(barrier);                           // and one thread waits for the warpgroup
  if (threadIdx.x % 128 == 0) tma_store_2d(map_d, x, y, staged), tma_store_commit();
}
