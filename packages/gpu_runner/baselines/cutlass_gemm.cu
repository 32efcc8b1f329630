// cutlass_gemm.cu: one tile of CUTLASS's GEMM (2.x API, mma.sync) behind a C function, a baseline for the ladders.
// D[M,N] = alpha · A[M,K] · B[K,N] + beta · C[M,N]   C and D row-major; types, layouts and tile by macros:
//   nvcc -shared -DARCH=Sm75 -DELEMENT=cutlass::half_t -DELEMENT_ACC=… -DELEMENT_OUT=… -DLAYOUT_A=RowMajor
//        -DLAYOUT_B=RowMajor -DBLOCK_M=128 … -DWARP_M=64 … -DMMA_M=16 … -DNUM_STAGES=2
// gpu_runner/baselines/cutlass.py builds it once for each tile and times the results against each other.
#include "cutlass/cutlass.h"
#include "cutlass/device_kernel.h"
#include "cutlass/epilogue/thread/linear_combination.h"
#include "cutlass/gemm/kernel/default_gemm.h"
#include "cutlass/gemm/threadblock/threadblock_swizzle.h"

using namespace cutlass;
using LayoutA = layout::LAYOUT_A;
using LayoutB = layout::LAYOUT_B;
constexpr int ALIGNMENT_IN = 128 / sizeof_bits<ELEMENT>::value;  // elements of one 16-byte access
constexpr int ALIGNMENT_OUT = 128 / sizeof_bits<ELEMENT_OUT>::value;

using Epilogue = epilogue::thread::LinearCombination<ELEMENT_OUT, ALIGNMENT_OUT, ELEMENT_ACC, ELEMENT_ACC>;
using GemmKernel = typename gemm::kernel::DefaultGemm<
    ELEMENT, LayoutA, ALIGNMENT_IN, ELEMENT, LayoutB, ALIGNMENT_IN, ELEMENT_OUT, layout::RowMajor, ELEMENT_ACC,
    arch::OpClassTensorOp, arch::ARCH, gemm::GemmShape<BLOCK_M, BLOCK_N, BLOCK_K>,
    gemm::GemmShape<WARP_M, WARP_N, WARP_K>, gemm::GemmShape<MMA_M, MMA_N, MMA_K>, Epilogue,
    gemm::threadblock::GemmIdentityThreadblockSwizzle<>, NUM_STAGES, false, arch::OpMultiplyAdd>::GemmKernel;

// The width of GemmIdentityThreadblockSwizzle acts on the host alone: it sets the grid and one kernel parameter, so
// one kernel serves every width.
template <int WIDTH>
dim3 grid_for(typename GemmKernel::Params& params) {
  using Swizzle = gemm::threadblock::GemmIdentityThreadblockSwizzle<WIDTH>;
  params.swizzle_log_tile = Swizzle::get_log_tile(params.grid_tiled_shape);
  return Swizzle::get_grid_shape(params.grid_tiled_shape);
}

// Starts the kernel: 0, a cudaError_t, or a cutlass::Status negated. `threadblock_swizzle` is 1, 4 or 8.
extern "C" int run(int threadblock_swizzle, void* a, void* b, void* c, void* d, int m, int n, int k, float alpha,
                   float beta, void* stream) {
  constexpr int smem_bytes = sizeof(typename GemmKernel::SharedStorage);
  static const cudaError_t allowed =
      cudaFuncSetAttribute(Kernel<GemmKernel>, cudaFuncAttributeMaxDynamicSharedMemorySize, smem_bytes);
  if (allowed != cudaSuccess) return allowed;

  const gemm::GemmCoord problem(m, n, k);
  const auto tiled = gemm::threadblock::GemmIdentityThreadblockSwizzle<>::get_tiled_shape(
      problem, {BLOCK_M, BLOCK_N, BLOCK_K}, 1);
  const layout::RowMajor layout_out(n);
  typename GemmKernel::Mma::IteratorA::TensorRef ref_a(static_cast<ELEMENT*>(a), LayoutA::packed({m, k}));
  typename GemmKernel::Mma::IteratorB::TensorRef ref_b(static_cast<ELEMENT*>(b), LayoutB::packed({k, n}));
  typename GemmKernel::Epilogue::OutputTileIterator::TensorRef ref_c(static_cast<ELEMENT_OUT*>(c), layout_out);
  typename GemmKernel::Epilogue::OutputTileIterator::TensorRef ref_d(static_cast<ELEMENT_OUT*>(d), layout_out);
  const Status fits = GemmKernel::can_implement(problem, ref_a, ref_b, ref_c, ref_d);
  if (fits != Status::kSuccess) return -static_cast<int>(fits);

  typename GemmKernel::Params params(problem, tiled, ref_a, ref_b, ref_c, ref_d,
                                 {static_cast<ELEMENT_ACC>(alpha), static_cast<ELEMENT_ACC>(beta)});
  const dim3 grid = threadblock_swizzle == 1 ? grid_for<1>(params)
                  : threadblock_swizzle == 4 ? grid_for<4>(params) : grid_for<8>(params);
  Kernel<GemmKernel><<<grid, GemmKernel::kThreadCount, smem_bytes, static_cast<cudaStream_t>(stream)>>>(params);
  return cudaGetLastError();
}

// What a code that `run` returned means.
extern "C" const char* reason(int code) {
  return code < 0 ? cutlassGetStatusString(static_cast<Status>(-code)) : cudaGetErrorString(cudaError_t(code));
}
