  if (grid.x % $X || grid.y % $Y || grid.z % $Z) {
    std::printf("the grid %u x %u x %u is not made of whole clusters of $X x $Y x $Z\n", grid.x, grid.y, grid.z);
    return 1;
  }
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = $X, cluster.val.clusterDim.y = $Y, cluster.val.clusterDim.z = $Z;
  cudaLaunchConfig_t launch = {};
  launch.gridDim = grid, launch.blockDim = dim3(NUM_THREADS), launch.dynamicSmemBytes = $SMEM;
  launch.attrs = &cluster, launch.numAttrs = 1;
