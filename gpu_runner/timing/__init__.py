"""Device events, clocks and power: interleaved rounds of kernels and baselines."""
