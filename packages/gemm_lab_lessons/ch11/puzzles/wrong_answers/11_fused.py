"""Wrong answers to 11_fused. The docstring of each holds words of its refusal."""

TEXT = r"""
  for (int n = 0; n < BLOCK_N / 8; n++)
    for (int half = 0; half < 2; half++) {
      const float left = acc[n][half * 2] + bias[col + n * 8];
      const float right = acc[n][half * 2 + 1] + bias[col + n * 8 + 1];
      *reinterpret_cast<__nv_bfloat162*>(d + (row + half * 8) * N + col + n * 8) =
          __floats2bfloat162_rn(left / (1 + __expf(-left)), right / (1 + __expf(-right)));
    }
"""


def _changed(*changes):
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def zeros():
    """elements are wrong"""
    return _changed(
        (
            "__floats2bfloat162_rn(left / (1 + __expf(-left)), right / (1 + __expf(-right)))",
            "__floats2bfloat162_rn(0, 0)",
        )
    )


def stores_nothing():
    """it should be"""
    return ""


def no_text():
    """Return the text of the epilogue"""
    return 3


def bias_of_the_row():
    """elements are wrong"""
    return _changed(("bias[col + n * 8]", "bias[row + half * 8]"), ("bias[col + n * 8 + 1]", "bias[row + half * 8]"))


def one_bias_for_both_columns():
    """elements are wrong"""
    return _changed(("bias[col + n * 8 + 1]", "bias[col + n * 8]"))


def sigmoid_alone():
    """elements are wrong"""
    return _changed(("left / (1", "1 / (1"), ("right / (1", "1 / (1"))


def rounded_before_the_activation():
    """elements are wrong"""
    return _changed(
        (
            "acc[n][half * 2] + bias[col + n * 8]",
            "__bfloat162float(__float2bfloat16(acc[n][half * 2] + bias[col + n * 8]))",
        ),
        (
            "acc[n][half * 2 + 1] + bias[col + n * 8 + 1]",
            "__bfloat162float(__float2bfloat16(acc[n][half * 2 + 1] + bias[col + n * 8 + 1]))",
        ),
    )


def a_missing_brace():
    """expected a"""
    return _changed(("    }\n", ""))
