"""Runs the learner's layout of the swizzle puzzle in a kernel on the simulator, which counts what the lights predict.

The goals with chunks of 16 bytes run a rung of the Ampere ladder: the line goes into its region `layout`, so both tiles
are stored and read through it. No rung runs on the toy machine, so a transposition by four lanes takes its place.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from html import escape

import numpy as np

from gemm_lab.compiling import compile
from gemm_lab.lab import Kernel, kernel
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_formula import formula, index
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_goals import Goal
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_layout import PuzzleLayout
from gemm_look import theme
from gemm_look.card import card, facts
from gpu_simulator import launch
from gpu_simulator.hardware.banks import conflict_degree

N = 64  # the product is N × N × N: one block, one tile of A and one of B
ACCESSES = ("st.shared", "ld.shared", "ldmatrix", "cp.async")

# The four banks of the toy machine are the first four of the 32: word i of the tile is word i % 4 of line i / 4.
TOY = """
__device__ __forceinline__ int word(int row, int chunk) {{
  const int index = {index};
  return index / 4 * 32 + index % 4;
}}
extern "C" __global__ void transpose(const float* from, float* to) {{
  __shared__ float tile[{lines} * 32];
  const int lane = threadIdx.x;
  for (int row = 0; row < 4; row++) tile[word(row, lane)] = from[row * 4 + lane];
  __syncwarp();
  for (int chunk = 0; chunk < 4; chunk++) to[chunk * 4 + lane] = tile[word(lane, chunk)];
}}
"""


@dataclass(frozen=True)
class Judged:
    """What the simulator found. `passed`: the result is right and no access needs more wavefronts than the ideal.

    counts: instruction -> (wavefronts, ideal wavefronts).   line: the C++ that ran.   kernel: its name.
    reasons: a sentence for each thing that is not as the goal wants it.
    """

    title: str
    line: str
    kernel: str
    right: bool
    counts: dict[str, tuple[int, int]]
    shared_bytes: int
    reasons: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.reasons

    @property
    def conflict_degree(self) -> float | None:
        """That of all accesses to shared memory together."""
        return conflict_degree(*map(sum, zip(*self.counts.values(), strict=True)))

    @property
    def facts(self) -> list[tuple[str, str]]:
        return [
            ("result", "right" if self.right else "wrong"),
            *((f"{name}: wavefronts", f"{found:,} of {ideal:,} ideal") for name, (found, ideal) in self.counts.items()),
            ("for each ideal one", f"{self.conflict_degree:.2f}"),
            ("shared memory", f"{self.shared_bytes:,} B"),
        ]

    def __repr__(self) -> str:
        head = f"{self.title}, {self.kernel}: {'passed' if self.passed else 'not yet'}."
        counted = ", ".join(f"{label} {value}" for label, value in self.facts)
        return "\n".join([head, self.line, counted, *self.reasons])

    def _repr_html_(self) -> str:
        head = f"<b>{escape(self.title)}: {'passed' if self.passed else 'not yet'}.</b> On {escape(self.kernel)}."
        code = theme.tag("pre", "one line", escape(self.line))
        reasons = theme.tag("ul", "list", "".join(f"<li>{escape(reason)}</li>" for reason in self.reasons))
        body = head + code + facts(self.facts) + (reasons if self.reasons else "")
        return card(body, theme.GOOD if self.passed else theme.BAD)


def kernel_of(goal: Goal, layout: PuzzleLayout) -> Kernel:
    """The goal's rung with the learner's line in its region `layout`, and room for the padding in its two tiles."""
    rung = kernel(goal.kernel)(**dict(goal.settings))
    region = f"__device__ __forceinline__ int chunk_at(int row, int chunk) {{ return {index(layout)}; }}"
    if not layout.padding:
        return rung.edit(layout=region, alias="puzzle")
    text = rung.edit(layout=region).source
    for tile in ("BLOCK_M", "BLOCK_N"):
        text = text.replace(f"[{tile} * BLOCK_K / 8];", f"[{tile} * {layout.row_chunks}];")
    return rung.rewrite(text, alias="puzzle")


def judge(goal: Goal, layout: PuzzleLayout) -> Judged:
    """Run `layout` on the simulator and compare its result and its wavefronts with what the goal wants."""
    if goal.kernel:
        run = kernel_of(goal, layout).run(N, backend="simulator")
        right, report, name, size = run.passed, run.report, goal.kernel, run.compiled.smem
    else:
        right, report, size = _on_the_toy(layout)
        name = "a transposition by four lanes"
    counts = counts_of(report)
    reasons = [] if right else ["The result is wrong: two chunks share a place, or one lies outside of the tile."]
    for instruction, (found, ideal) in counts.items():
        if found > ideal:
            reasons.append(f"{instruction} needs {found:,} wavefronts; {ideal:,} are possible.")
    kind = formula(layout).kind
    line = f"{index(layout)}" + (
        "   // a table: no XOR with bits of the row, and no addition" if kind == "table" else ""
    )
    return Judged(goal.title, line, name, right, counts, size, reasons)


def counts_of(report) -> dict[str, tuple[int, int]]:
    """Instruction -> (wavefronts, ideal wavefronts), for the instructions that use shared memory."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for site in report.sites:
        if site.ideal_wavefronts:
            name = next((name for name in ACCESSES if site.opcode.startswith(name)), site.opcode)
            found[name][0] += site.wavefronts
            found[name][1] += site.ideal_wavefronts
    return {name: (count, ideal) for name, (count, ideal) in sorted(found.items(), reverse=True)}


def _on_the_toy(layout: PuzzleLayout):
    """(whether the transposition is right, the report, bytes of shared memory that the tile takes)."""
    source = TOY.format(index=index(layout), lines=-(-layout.bytes // 16))
    compiled = compile(source, arch="sm_80", name="four banks", entry="transpose")
    given, result = np.arange(1, 17, dtype=np.float32), np.full(16, np.nan, np.float32)
    report = launch(compiled, grid=1, block=4, args=(given, result))
    return bool((result == given.reshape(4, 4).T.reshape(-1)).all()), report, layout.bytes
