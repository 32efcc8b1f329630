  const int k_tiles = cdiv(K, BLOCK_K), splits = gridDim.z, split = blockIdx.z;
  int first = 0, last = k_tiles;
  first = k_tiles * split / splits, last = k_tiles * (split + 1) / splits;   // they differ by at most one
