def attainable(intensity, tflops, gbps):
    return min(intensity * gbps / 1000, tflops)
