// calibration.cu: what an instruction or a memory request costs on one SM, in cycles of its clock.
// One block an SM. A pass makes `turns` or, every second time, twice as many turns of the same work, so that the
// difference of two passes has neither the reading of the clock nor the first and the last wait in it.
// KIND says what a turn does: ITEMS instructions in WAYS independent chains, or LOADS requests of each thread.
#include "config.cuh"

constexpr int HMMA_16816 = 0, HMMA_1688 = 1, FFMA = 2, IMAD = 3, LOP3 = 4, MUFU = 5, MOVM = 6, SHFL = 7;
constexpr int LDS = 8, STS = 9, BAR = 10, CHASE = 11, LOAD = 12, COPY = 13, STORE = 14, STREAM = 15;
constexpr int THREADS = 32 * WARPS, CHUNK = 16;      // bytes of a thread's request
constexpr int CHASE_STEP = 4224;                     // bytes: 33 lines, so that all slices of L2 are asked
constexpr int TURN_BYTES = LOADS * (KIND == CHASE ? CHASE_STEP : THREADS * CHUNK);

// from, to: arrays of `region` bytes and of TURN_BYTES more.   cycles[blocks][passes].   share: neighbouring blocks
// that ask for the same bytes.   apart: bytes between the first requests of two others.   step: bytes by which a turn
// reaches further, around the region.   spread: bytes between the shared words of two lanes.
extern "C" __global__ void __launch_bounds__(THREADS)
    gemm(const char* from, char* to, unsigned* cycles, int region, int step, int share, int apart, int spread,
         int turns, int passes) {
  __shared__ __align__(128) unsigned words[KIND == COPY ? TURN_BYTES / 4 : 1024];
  const int tid = threadIdx.x;
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(words));
  for (int i = tid; i < 1024; i += THREADS) words[i] = base + 4 * i;  // each word holds its own address
  const unsigned mine = base + tid % 32 * spread;
  const unsigned a = spread, b = spread + tid;
  unsigned value[WAYS];
  float sum[WAYS][4];
  for (int i = 0; i < WAYS; ++i) {
    value[i] = KIND == LDS ? mine : KIND == CHASE ? spread : tid + i + spread;
    for (int j = 0; j < 4; ++j) sum[i][j] = tid + i + spread;  // a lane's own, or sm_120 adds in uniform registers
  }
  int place = blockIdx.x / share * apart;

  // ---- One instruction, and one turn of memory requests ----
  auto instruction = [&](unsigned& x, float (&d)[4]) {
    if (KIND == HMMA_16816)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                   "{%0,%1,%2,%3}, {%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "r"(b));
    if (KIND == HMMA_1688)
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                   "{%0,%1,%2,%3}, {%4,%5}, {%4}, {%0,%1,%2,%3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "r"(b));
    if (KIND == FFMA) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(d[0]));
    if (KIND == IMAD) asm volatile("mad.lo.u32 %0, %0, %0, %0;" : "+r"(x));
    if (KIND == LOP3) asm volatile("lop3.b32 %0, %0, %1, %2, 0x2d;" : "+r"(x) : "r"(a), "r"(b));
    if (KIND == MUFU) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(d[0]));
    if (KIND == MOVM) asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(x));
    if (KIND == SHFL) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(x));
    if (KIND == LDS) asm volatile("ld.volatile.shared.u32 %0, [%0];" : "+r"(x));
    if (KIND == STS) asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(mine), "r"(x) : "memory");
    if (KIND == BAR) asm volatile("bar.sync 0;" ::: "memory");
  };
  auto requests = [&] {
    constexpr bool bursts = KIND == LOAD || KIND == COPY;  // every turn waits for its own bytes
    if (bursts) __syncthreads();
    if (KIND == CHASE) {
      const char* next = from + place;
#pragma unroll
      for (int i = 0; i < LOADS; ++i, next += CHASE_STEP)  // what is loaded is 0, which the compiler does not know
        asm volatile("{ .reg .b32 low, high; .reg .b64 at; mov.b64 {low, high}, %1; add.u32 low, low, %0;\n"
                     "  mov.b64 at, {low, high}; ld.global.cg.u32 %0, [at]; }" : "+r"(value[0]) : "l"(next));
    } else if (KIND == LOAD || KIND == STREAM) {
      uint4 part[LOADS];
#pragma unroll
      for (int i = 0; i < LOADS; ++i)
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(part[i].x), "=r"(part[i].y), "=r"(part[i].z), "=r"(part[i].w)
                     : "l"(from + place + (i * THREADS + tid) * CHUNK));
      unsigned all = 0;
#pragma unroll
      for (int i = 0; i < LOADS; ++i) all |= part[i].x | part[i].y | part[i].z | part[i].w;
      if (all) to[tid] = 1;  // so that the turn waits for what it loads, which is 0
    } else if (KIND == COPY) {
#pragma unroll
      for (int i = 0; i < LOADS; ++i)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + (i * THREADS + tid) * CHUNK),
                     "l"(from + place + (i * THREADS + tid) * CHUNK) : "memory");
      asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;" ::: "memory");
    } else {
#pragma unroll
      for (int i = 0; i < LOADS; ++i)
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(to + place + (i * THREADS + tid) * CHUNK),
                     "r"(value[0]) : "memory");
    }
    if (bursts) __syncthreads();
    place += step;
    if (place >= region) place -= region;
  };

  // ---- The passes ----
#pragma unroll 1
  for (int pass = 0; pass < passes; ++pass) {
    const int long_or_short = turns << (pass & 1);
    __syncthreads();
    const long long before = clock64();
#pragma unroll 1
    for (int turn = 0; turn < long_or_short; ++turn) {
      if (KIND >= CHASE) {
        requests();
      } else {
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) instruction(value[item % WAYS], sum[item % WAYS]);
      }
    }
    __syncthreads();  // the work of all warps is over before the clock is read
    const long long after = clock64();
    if (tid == 0) cycles[blockIdx.x * passes + pass] = static_cast<unsigned>(after - before);
  }
  unsigned all = 0;
  for (int i = 0; i < WAYS; ++i)
    all += value[i] + __float_as_uint(sum[i][0]) + __float_as_uint(sum[i][1] + sum[i][2] + sum[i][3]);
  reinterpret_cast<unsigned*>(to)[blockIdx.x * THREADS + tid] = all;  // every result is used
}
