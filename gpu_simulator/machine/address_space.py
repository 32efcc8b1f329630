"""Where the state spaces lie among generic addresses. The windows are the emulator's own choice."""

FUNCTION_BASE = 0x6000_0000_0000
GLOBAL_BASE = 0x7000_0000_0000
LOCAL_WINDOW = 0x7E00_0000_0000
SHARED_WINDOW = 0x7F00_0000_0000
WINDOW_BYTES = 1 << 32


def align_up(value: int, align: int) -> int:
    """The next multiple of `align`, in the unit of `value`."""
    return -(-value // align) * align
