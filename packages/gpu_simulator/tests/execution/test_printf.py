"""printf in a kernel: the text that C would write."""

HEAD = 'extern "C" __global__ void kernel'


def test_printf_gives_its_text(cuda):
    source = (
        HEAD
        + r"""(int n) {
      if (threadIdx.x < n) printf("thread %d of %u: %.2f %s %c %lld %5d|%x\n", threadIdx.x, blockDim.x, threadIdx.x * 0.5, "ok",
                                  'z', 1LL << 40, 7, 255);
    }"""
    )
    report = cuda(source, 2)
    assert report.output == "".join(f"thread {i} of 32: {i * 0.5:.2f} ok z {1 << 40} {7:5d}|ff\n" for i in range(2))


def test_printf_pads_and_cuts_as_c_does(cuda):
    source = (
        HEAD
        + r"""(double x) {
      if (threadIdx.x == 0) printf("%5c|%-3c|%.*f|%*d|%-*d|%.3d|%08.3d|%8.3s|%.f|%a|%.1a|%12A|%.2a|%05f", 'B', 'C', -1,
                                   2.5, -6, 4, 6, 5, 7, 7, "abcdef", 1.5, x, x, x, 0.0, 1 / (x - x));
    }"""
    )
    expected = (
        "    B|C  |2.500000|4     |5     |007|     007|     abc|2|0x1.4cp+2|0x1.5p+2|   0X1.4CP+2|0x0.00p+0|  inf"
    )
    assert cuda(source, 5.1875).output == expected
