def joules(watts, tflops, n):
    return watts * 2 * n**3 / (tflops * 1e12)
