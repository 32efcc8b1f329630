"""The lessons of gemm_lab: what its notebooks ask, show and draw, a room for each chapter.

The lab finds them by an entry point (see `gemm_lab.courses`), so that a learner imports gemm_lab alone. A room imports
`shared` and the rooms of earlier chapters; `zoom`, which all chapters use, imports what it draws.

lab.swizzle(rows=64, row_bytes=128)     show the banks that an access uses
lab.swizzle_puzzle("toy")               find by hand a layout that is free of bank conflicts
lab.tiled_matmul(a, b)                  a product by nested tiles, which counts what each level moves
lab.zoom(run)                           one product from DRAM to address bits, step by step
"""

# The names that the lessons add to the lab, such as lab.zoom, and to gemm_lab.notebook.widgets; each with its module.
NAMES = {
    "swizzle": "gemm_lab_lessons.ch05.swizzle_explorer",
    "swizzle_puzzle": "gemm_lab_lessons.ch05.layout_puzzle.swizzle_puzzle",
    "tiled_matmul": "gemm_lab_lessons.shared.tiled_matmul",
    "zoom": "gemm_lab_lessons.zoom.zoom",
}
WIDGETS = {
    "swizzle": "gemm_lab_lessons.ch05.swizzle_explorer",
    "fragments": "gemm_lab_lessons.ch03.fragment_map",
    "wavefronts": "gemm_lab_lessons.ch04.wavefront_stepper",
    "zoom": "gemm_lab_lessons.zoom.zoom",
    "mbarrier": "gemm_lab_lessons.ch08.mbarrier_stepper",
    "tile_walk": "gemm_lab_lessons.ch02.tile_walker",
    "block_order": "gemm_lab_lessons.ch10.block_orders",
    "TileExplorer": "gemm_lab_lessons.ch01.tiling",
    "predicted_timeline": "gemm_lab_lessons.shared.predicted_timeline",
}
