"""The ranges of generic addresses of the state spaces. They are the emulator's own choice."""

FUNCTION_BASE = 0x6000_0000_0000
LINE_BYTES = 1 << 32  # pointers to both sides of a multiple of it differ in their upper 32 bits
BELOW_LINE = 1 << 24  # bytes from GLOBAL_BASE to the next such multiple
GLOBAL_BASE = 0x7000_0000_0000 - BELOW_LINE
# The lower 32 bits of the windows are not 0, as on GPUs: a generic address that is cut to 32 bits is no shared address.
LOCAL_WINDOW = 0x7E00_8000_0000
SHARED_WINDOW = 0x7F00_8000_0000
# Where shared memory does not begin at 0, neither does its window: this is a multiple of 4,096 alone.
OTHER_SHARED_WINDOW = 0x7F00_8421_5000
WINDOW_BYTES = 1 << 32


def align_up(value: int, align: int) -> int:
    """The smallest multiple of `align` that is not below `value`."""
    return -(-value // align) * align
