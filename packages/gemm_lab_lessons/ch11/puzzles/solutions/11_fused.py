TEXT = r"""
  for (int n = 0; n < BLOCK_N / 8; n++)
    for (int half = 0; half < 2; half++) {
      const float left = acc[n][half * 2] + bias[col + n * 8];
      const float right = acc[n][half * 2 + 1] + bias[col + n * 8 + 1];
      *reinterpret_cast<__nv_bfloat162*>(d + (row + half * 8) * N + col + n * 8) =
          __floats2bfloat162_rn(left / (1 + __expf(-left)), right / (1 + __expf(-right)));
    }
"""


def epilogue():
    return TEXT
