// Kernels as people type them, each behind its launch: name, grid, block, arguments | further options of the page.
// A launch without a text launches the text above it. `test_own_kernels.py` runs them in the page and beside it.

//// vector_add 4 256 f32:1000:random f32:1000:random f32:1000 1000
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
//// wrong_launch_2048 1 2048 f32:1000:random f32:1000:random f32:1000 1000
//// huge_grid 1048576 256 f32:1000:random f32:1000:random f32:1000 1000 | --max-seconds 3
//// reduce_shuffle 4 256 f32:5000:random f32:1 5000
__global__ void sum(const float* in, float* out, int n) {
  float v = 0.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  __shared__ float part[32];
  if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.f;
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}
//// transpose_padded 2,2 32,8 f32:64x64 f32:64x64:random 64 64 | --define PAD=1
#define TILE 32
__global__ void transpose(float *odata, const float *idata, int width, int height) {
  __shared__ float tile[TILE][TILE + PAD];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
  for (int j = 0; j < TILE; j += 8) odata[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
//// transpose_conflicts 2,2 32,8 f32:64x64 f32:64x64:random 64 64 | --define PAD=0
//// softmax_expf 4 32 f32:4x100:random f32:4x100 100 | --define EXP=expf
__global__ void softmax(const float* x, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  float m = -INFINITY, s = 0.f;
  for (int i = threadIdx.x; i < cols; i += 32) m = fmaxf(m, row[i]);
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int i = threadIdx.x; i < cols; i += 32) s += EXP(row[i] - m);
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  for (int i = threadIdx.x; i < cols; i += 32) y[blockIdx.x * cols + i] = EXP(row[i] - m) / s;
}
//// softmax_fast 4 32 f32:4x100:random f32:4x100 100 | --define EXP=__expf
//// histogram_shared_atomics 2 128 u8:4000:random u32:256 4000
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  __shared__ unsigned int local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}
//// sgemm_tiled 2,2 16,16 32 32 32 1.0 f32:32x32:random f32:32x32:random 0.0 f32:32x32
template <int T>
__global__ void sgemm(int M, int N, int K, float alpha, const float* __restrict__ A, const float* __restrict__ B, float beta, float* __restrict__ C) {
  __shared__ float As[T][T], Bs[T][T];
  int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
  float acc = 0.0f;
  for (int t = 0; t < K; t += T) {
    As[threadIdx.y][threadIdx.x] = A[row * K + t + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * N + col];
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < T; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * N + col] = alpha * acc + beta * C[row * N + col];
}
template __global__ void sgemm<16>(int, int, int, float, const float*, const float*, float, float*);
//// mma_inline_ptx 1 32 f16:16x16:random f16:16x8:random f32:16x8
#include <cuda_fp16.h>
#include <stdint.h>
__global__ void mma(const half* A, const half* B, float* D) {
  int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  uint32_t a[4], b[2]; float d[4] = {0, 0, 0, 0};
  for (int i = 0; i < 4; i++) a[i] = *(const uint32_t*)&A[(g + (i & 1) * 8) * 16 + t * 2 + (i >> 1) * 8];
  for (int i = 0; i < 2; i++) { half2 p = __halves2half2(B[(t * 2 + i * 8) * 8 + g], B[(t * 2 + 1 + i * 8) * 8 + g]); b[i] = *(uint32_t*)&p; }
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int i = 0; i < 4; i++) D[(g + (i >> 1) * 8) * 8 + t * 2 + (i & 1)] = d[i];
}
//// ldmatrix 1 32 f16:8x8:random f16:8x8
#include <cuda_fp16.h>
__global__ void load(const half* in, half* out) {
  __shared__ __align__(16) half s[8 * 8];
  for (int i = threadIdx.x; i < 64; i += 32) s[i] = in[i];
  __syncthreads();
  unsigned addr = (unsigned)__cvta_generic_to_shared(&s[(threadIdx.x % 8) * 8]), v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(addr));
  reinterpret_cast<unsigned*>(out)[threadIdx.x] = v;
}
//// cp_async 1 64 f32:64x4:random f32:64x4
__global__ void copy(const float4* in, float4* out) {
  __shared__ float4 buf[64];
  unsigned s = __cvta_generic_to_shared(&buf[threadIdx.x]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(s), "l"(in + threadIdx.x));
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;\n" ::);
  __syncthreads();
  out[threadIdx.x] = buf[63 - threadIdx.x];
}
//// cuda_pipeline_h 1 64 f32:64x4:random f32:64x4
#include <cuda_pipeline.h>
__global__ void copy(const float4* in, float4* out) {
  __shared__ float4 buf[64];
  __pipeline_memcpy_async(&buf[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit(); __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = buf[63 - threadIdx.x];
}
//// wmma 1 32 f16:16x16:random f16:16x16:random f32:16x16
#include <mma.h>
using namespace nvcuda;
__global__ void tile(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2.0f;
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
//// half2_math 1 64 f16:64x2:random f16:64x2:random f16=2 64
#include <cuda_fp16.h>
__global__ void axpy(const half2* x, half2* y, half a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  half2 s = __half2half2(a);
  if (i < n) { half2 v = __hfma2(s, x[i], y[i]); y[i] = __hadd2(v, __hmul2(v, __float2half2_rn(0.5f))); }
}
//// half_operators 1 32 f16:32:random f16:32
#include <cuda_fp16.h>
__global__ void f(const half* x, half* y) {
  int i = threadIdx.x;
  half v = x[i] * x[i] + __float2half(1.0f);
  if (v > __float2half(1.5f)) v = -v;
  y[i] = hexp(__hsub(v, x[i]));
}
//// lambda_constexpr_template 1 32 f32:32x8:random f32:32
template <typename T, int N, typename F>
__device__ T fold(const T (&v)[N], F f) { T s = v[0]; 
  #pragma unroll
  for (int i = 1; i < N; ++i) s = f(s, v[i]); return s; }
constexpr int ipow(int b, int e) { return e == 0 ? 1 : b * ipow(b, e - 1); }
__global__ void k(const float* in, float* out) {
  constexpr int N = ipow(2, 3);
  float v[N];
  for (int i = 0; i < N; i++) v[i] = in[threadIdx.x * N + i];
  auto add = [](float a, float b) { return a + b; };
  float scale = 3.f;
  out[threadIdx.x] = fold(v, add) * scale + fold(v, [=](float a, float b) { return fmaxf(a, b * scale); });
}
//// constant_memory 1 128 f32:128:random f32:128 128
__constant__ float taps[5] = {1.f, 2.f, 3.f, 2.f, 1.f};
__global__ void conv(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 4) return;
  float s = 0;
  for (int j = 0; j < 5; j++) s += taps[j] * in[i + j];
  out[i] = s;
}
//// dynamic_shared 1 64 f32:64:random 64 | --smem 256
extern __shared__ float smem[];
__global__ void rev(float* d, int n) {
  int t = threadIdx.x; smem[t] = d[t]; __syncthreads(); d[t] = smem[n - t - 1];
}
//// printf 1 32 7
#include <cstdio>
__global__ void hello(int n) { if (threadIdx.x < 2) printf("hello from %d of %d: %f\n", threadIdx.x, n, 1.5f); }
//// cooperative_groups 1 64 i32:64:arange i32:1
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(const int* in, int* out) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  int s = cg::reduce(warp, in[block.thread_rank()], cg::plus<int>());
  block.sync();
  if (warp.thread_rank() == 0) atomicAdd(out, s);
}
//// cuda_barrier 1 64 i32:64:arange i32:64
#include <cuda/barrier>
__global__ void k(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  bar.arrive_and_wait();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
//// fp8 1 32 f32:32:random u8:32 f32:32
#include <cuda_fp8.h>
__global__ void q(const float* x, __nv_fp8_e4m3* y, float* back) {
  __nv_fp8_e4m3 v = __nv_fp8_e4m3(x[threadIdx.x]);
  y[threadIdx.x] = v; back[threadIdx.x] = float(v);
}
//// warp_intrinsics 1 32 u32:32:arange u32:32
__global__ void k(const unsigned* in, unsigned* out) {
  unsigned v = in[threadIdx.x];
  unsigned s = __reduce_add_sync(0xffffffff, v);
  unsigned m = __match_any_sync(0xffffffff, v % 4);
  out[threadIdx.x] = s + __popc(m) + __brev(v) % 7 + __ffs(v) + __clz(v) + __byte_perm(v, s, 0x5410) % 3;
}
//// assert 1 32 i32:32:arange i32:32
#include <cassert>
__global__ void k(const int* in, int* out) { int i = threadIdx.x; assert(in[i] < 30); out[i] = in[i]; }
//// launch_bounds_2d 2,2 16,16 f32:30x30:random f32:30x30 30 30
__global__ __launch_bounds__(256, 2) void blur(const float* __restrict__ in, float* __restrict__ out, int w, int h) {
  const int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float s = 0; int c = 0;
  for (int dy = -1; dy <= 1; ++dy) for (int dx = -1; dx <= 1; ++dx) {
    int u = min(max(x + dx, 0), w - 1), v = min(max(y + dy, 0), h - 1);
    s += __ldg(&in[v * w + u]); ++c; }
  out[y * w + x] = s / c;
}
//// early_return_before_barrier 1 64 f32:64:random 40
__global__ void k(float* d, int n) {
  __shared__ float s[64]; int i = threadIdx.x;
  if (i >= n) return;
  s[i] = d[i]; __syncthreads(); d[i] = s[n - 1 - i];
}
//// out_of_bounds 2 64 f32:100 100
__global__ void k(float* d, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i <= n) d[i] = i; }
//// race 1 64 f32:64:random
__global__ void k(float* d) {
  __shared__ float s[64]; int i = threadIdx.x;
  s[i] = d[i];
  d[i] = s[63 - i];
}
//// infinite_loop 1 32 i32:1 | --max-seconds 3
__global__ void k(volatile int* flag) { while (*flag == 0) { } }
//// deadlock 1 64 i32:64 | --max-seconds 3
__global__ void k(int* d) {
  if (threadIdx.x < 32) { __syncthreads(); d[threadIdx.x] = 1; }
  else { while (atomicAdd(d + 40, 0) == 0) ; __syncthreads(); }
}
//// syntax_missing_semicolon 1 32 f32:32
__global__ void k(float* d) {
  int i = threadIdx.x
  d[i] = i;
}
//// undeclared 1 32 f32:32
__global__ void k(float* d) {
  int i = threadIdx.x;
  d[i] = sum[i];
}
//// missing_include 1 32 f16:32
__global__ void k(half* d) {
  d[threadIdx.x] = __float2half(1.0f);
}
//// rmsnorm_sqrtf 1 32 f32:100:random f32:100 f32:100:ones 100 1e-5
__global__ void rms(const float* x, float* y, const float* w, int n, float eps) {
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 32) s += x[i] * x[i];
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffff, s, o);
  float inv = 1.0f / sqrtf(s / n + eps), inv2 = rsqrtf(s / n + eps);
  for (int i = threadIdx.x; i < n; i += 32) y[i] = x[i] * 0.5f * (inv + inv2) * w[i];
}
//// gelu_tanhf 1 128 f32:128:random f32:128 128
__global__ void gelu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { float v = x[i]; y[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v))); }
}
//// pow_log_double 1 32 f64:32:0.7 f64:32
__global__ void f(const double* x, double* y) { int i = threadIdx.x; y[i] = pow(x[i], 2.5) + log(x[i]) + sqrt(x[i]) + exp(-x[i]); }
//// float_modulo_powf 1 32 f32:32:random f32:32
__global__ void f(const float* x, float* y) { int i = threadIdx.x; y[i] = fmodf(x[i], 0.3f) + powf(fabsf(x[i]), 1.5f) + floorf(x[i]) + roundf(x[i]) + sinf(x[i]) + logf(fabsf(x[i])+1.f); }
//// atomic_cas_max_float 2 64 f32:100:random f32:1:-100 100
__device__ float atomicMaxFloat(float* a, float v) {
  int* p = (int*)a; int old = *p, seen;
  do { seen = old; old = atomicCAS(p, seen, __float_as_int(fmaxf(v, __int_as_float(seen)))); } while (seen != old);
  return __int_as_float(old);
}
__global__ void k(const float* x, float* m, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicMaxFloat(m, x[i]); }
//// struct_argument_float4 1 32 {i32=32,f32=2,i64=0,f32=1,f32=2,f32=3,f32=4} f32:32x4
struct P { int n; float a; float4 b; };
__global__ void k(P p, float4* o) { int i = threadIdx.x; if (i < p.n) o[i] = make_float4(p.a * i, p.b.x, p.b.y + 1.f, p.b.w); }
//// curand_math_headers 4 256 1000 2.0 f32:1000:random f32:1000:random
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } } while (0)
__global__ void saxpy(int n, float a, float *x, float *y) {
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) y[i] = a*x[i] + y[i];
}
int main(void) {
  int N = 1<<10; float *x, *d_x; x = (float*)malloc(N*sizeof(float));
  CHECK(cudaMalloc(&d_x, N*sizeof(float)));
  saxpy<<<(N+255)/256, 256>>>(N, 2.0f, d_x, d_x);
  cudaDeviceSynchronize(); return 0;
}
//// std_headers 1 32 f32:32
#include <cstdint>
#include <type_traits>
#include <cuda/std/limits>
#include <limits>
template <typename T> __global__ void k(T* o) { if constexpr (std::is_same_v<T, float>) o[threadIdx.x] = std::numeric_limits<T>::max(); else o[threadIdx.x] = 1; }
template __global__ void k<float>(float*);
//// recursion_function_pointer 1 32 f32:32:random 0
typedef float (*Op)(float);
__device__ float sq(float x) { return x * x; }
__device__ float neg(float x) { return -x; }
__device__ Op table[2] = {sq, neg};
__global__ void k(float* o, int which) { o[threadIdx.x] = table[which](o[threadIdx.x]); }
//// int64_index_div 1 32 i64:32 37 9223372036854775808
__global__ void k(long long* o, long long d, unsigned long long m) { long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; o[i] = (i * 1000003LL) / d + (i * 7919) % d + (long long)__umul64hi(i * 0x123456789abcdefULL, m); }
//// bf16_operators 1 32 bf16:32:random bf16:32
#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* x, __nv_bfloat16* y) { int i = threadIdx.x; __nv_bfloat162 p = __halves2bfloat162(x[i], x[i]); p = __hmul2(p, p); y[i] = __hadd(p.x, __float2bfloat16(1.f)); }
//// grid_sync_threadfence 4 32 f32:4:random f32:4 f32:1
__device__ unsigned counter = 0;
__global__ void k(const float* in, volatile float* part, float* out) {
  __shared__ bool last;
  part[blockIdx.x] = in[blockIdx.x];
  __threadfence();
  if (threadIdx.x == 0) last = atomicInc(&counter, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) { float s = 0; for (int i = 0; i < gridDim.x; i++) s += part[i]; *out = s; }
}
//// texture_like_min_max_mixed 1 32 f32:32:random 5 7
__global__ void k(float* o, int n, size_t m) { unsigned i = threadIdx.x; o[i] = fminf(1.f, max(0.f, o[i])) + min((int)i, n) + max(i, 3u) + (float)min((size_t)i, m) + fdividef(1.f, 2.f) + __saturatef(o[i]) + abs(o[i]) + fabs(o[i]) + isnan(o[i]); }
//// threadfence_one_writer 4 32 f32:4:random f32:4 f32:1
__device__ unsigned arrived = 0;
__global__ void k(const float* in, volatile float* part, float* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) { __threadfence(); float s = 0; for (int i = 0; i < gridDim.x; i++) s += part[i]; *out = s; }
}
