def seconds(flop, bytes, flops, bandwidth):
    return max(flop / flops, bytes / bandwidth)
