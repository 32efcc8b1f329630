
#include <cuda.h>
static CUtensorMap tensor_map(CUtensorMapDataType type, size_t element, void* data, size_t rows, size_t columns,
                              unsigned box_columns, unsigned box_rows, CUtensorMapSwizzle swizzle) {
  const char* name = "cuTensorMapEncodeTiled";
  void* found = nullptr; cudaDriverEntryPointQueryResult known;
#if CUDART_VERSION >= 12050
  require(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &known), name);
#else
  require(cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &known), name);
#endif
  if (!found || known != cudaDriverEntryPointSuccess) std::printf("the driver has no %s\n", name), std::exit(1);
  const cuuint64_t sizes[] = {columns, rows}, strides[] = {columns * element};
  const cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
  CUtensorMap map;
  const CUresult status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
      &map, type, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) std::printf("the driver refuses a tensor map: error %d\n", (int)status), std::exit(1);
  return map;
}
