"""The swizzle puzzle: a layout of a tile to be found by hand, without bank conflicts."""
