"""Wrong answers to 11_tensor_map. The docstring of each holds words of its refusal."""

import struct


def _packed(address, sizes, strides, box, steps=(1, 1, 1, 1, 1), rest=(2, 6, 128, 64, 0)):
    return struct.pack("<8sQ5I4Q5H5B5B", b"LabTMap\x01", address, *sizes, *strides, *box, *steps, *rest).ljust(
        128, b"\0"
    )


def zeros(address, rows, columns, box_rows, box_columns):
    """differs in the mark, bytes 0 to 7"""
    return bytes(128)


def not_filled_up(address, rows, columns, box_rows, box_columns):
    """a tensor map has 128 bytes"""
    return _packed(address, (columns - 1, rows - 1, 0, 0, 0), (columns * 2, 0, 0, 0), (box_columns, box_rows, 1, 1, 1))[
        :88
    ]


def rows_first(address, rows, columns, box_rows, box_columns):
    """differs in the sizes"""
    return _packed(address, (rows - 1, columns - 1, 0, 0, 0), (columns * 2, 0, 0, 0), (box_columns, box_rows, 1, 1, 1))


def sizes_not_less_one(address, rows, columns, box_rows, box_columns):
    """differs in the sizes"""
    return _packed(address, (columns, rows, 0, 0, 0), (columns * 2, 0, 0, 0), (box_columns, box_rows, 1, 1, 1))


def stride_in_elements(address, rows, columns, box_rows, box_columns):
    """differs in the strides"""
    return _packed(address, (columns - 1, rows - 1, 0, 0, 0), (columns, 0, 0, 0), (box_columns, box_rows, 1, 1, 1))


def box_of_rows_first(address, rows, columns, box_rows, box_columns):
    """differs in the box"""
    return _packed(address, (columns - 1, rows - 1, 0, 0, 0), (columns * 2, 0, 0, 0), (box_rows, box_columns, 1, 1, 1))


def float16(address, rows, columns, box_rows, box_columns):
    """differs in the element type"""
    sizes, strides = (columns - 1, rows - 1, 0, 0, 0), (columns * 2, 0, 0, 0)
    return _packed(address, sizes, strides, (box_columns, box_rows, 1, 1, 1), rest=(2, 5, 128, 64, 0))
