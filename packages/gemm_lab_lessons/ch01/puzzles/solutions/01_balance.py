def balance(tflops, gbps):
    return 1000 * tflops / gbps
