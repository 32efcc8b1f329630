import struct


def tensor_map(address, rows, columns, box_rows, box_columns):
    sizes, strides = (columns - 1, rows - 1, 0, 0, 0), (columns * 2, 0, 0, 0)
    box, steps = (box_columns, box_rows, 1, 1, 1), (1, 1, 1, 1, 1)
    rest = (2, 6, 128, 64, 0)
    return struct.pack("<8sQ5I4Q5H5B5B", b"LabTMap\x01", address, *sizes, *strides, *box, *steps, *rest).ljust(
        128, b"\0"
    )
