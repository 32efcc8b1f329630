"""What was recorded of products in FP8: which results have the same bits, how fast they are, and error beside speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab_lessons.ch13.quantised import Errors
from gemm_look import style
from gemm_look.table import Table
from gemm_results.cards.short_tables import ShortTable
from gemm_results.errors import LabError
from gemm_results.profile import read_rows
from gemm_results.results import Measurement
from gemm_results.results import recorded as measured
from gpu_simulator.hardware.data_sheets import gpu as chip

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LADDER, GPUS = "hopper_fp8", ("h200", "h100")
REGIMES = ("sustained", "burst")
SUMS = {"cublaslt_fp8_fast": "fast", "cublaslt_fp8": "promoted", "cublaslt_fp8_blocks": "promoted, block scales"}
KINDS_OF_LIBRARY = {
    "cublaslt_fp8_fast": "fast accumulation",
    "cublaslt_fp8": "without",
    "cublaslt_fp8_blocks": "block scales",
}


def bits(inputs: str = "N(0, 1)", gpu: str = "h200") -> ShortTable:
    """How many elements of D differ between a rung and a kind of cuBLASLt, by size; D is BF16."""
    rows = [row for row in read_rows(data_dir("results") / LADDER / f"{gpu}_bits.csv") if row["input"] == inputs]
    sizes = list(dict.fromkeys(row["n"] for row in rows))
    of = {(row["kernel"], row["source"], row["n"]): int(row["different"]) for row in rows}
    pairs = dict.fromkeys((kernel, source) for kernel, source, _ in of)
    body = [[name, KINDS_OF_LIBRARY[source], *(f"{of[(name, source, n)]:,}" for n in sizes)] for name, source in pairs]
    header = ["kernel", "cuBLASLt", *(f"n = {n}" for n in sizes)]
    caption = f"Elements of D that differ, of n²; inputs {inputs}; {conditions(rows)}"
    return ShortTable(Table(header, body, caption, text_columns=2))


def conditions(rows: Sequence[Mapping[str, str]]) -> str:
    """What has to stand beside the numbers of these rows, whose kernels had the text of the commits."""
    commits = ", ".join(dict.fromkeys(row["commit"] for row in rows))
    return f"{rows[0]['gpu']}, CUDA {rows[0]['cuda']}, {rows[0]['date']}, texts of commit {commits}"


def counters(gpu: str = "h200") -> ShortTable:
    """How long launches took in Nsight Compute, and in which share of the cycles the tensor cores worked."""
    rows = read_rows(data_dir("results") / LADDER / f"{gpu}_counters.csv")
    body = [
        [row["kernel"], row["microseconds"], f"{int(row['tensor_cycles']) / int(row['cycles']):.1%}"] for row in rows
    ]
    caption = f"{rows[0]['n']}³, tiles of 128 × 192, one launch each; {conditions(rows)}"
    return ShortTable(Table(["kernel", "µs", "tensor cores work"], body, caption))


def variants(gpu: str = "h200") -> ShortTable:
    """The speeds of a rung in other words, recorded in turns in one run."""
    rows = read_rows(data_dir("results") / LADDER / f"{gpu}_variants.csv")
    body = [[row["kernel"], row["idea"], row["sustained_tflops"], row["burst_tflops"]] for row in rows]
    caption = f"At {rows[0]['n']}³, in turns in one run; {conditions(rows)}"
    head = ["kernel", "its promotion", "TFLOPS, sustained", "TFLOPS, burst"]
    return ShortTable(Table(head, body, caption, text_columns=2))


def best(kernel: str, n: int, regime: str, gpu: str) -> Measurement | None:
    """The fastest recorded row of a kernel, in any of its tiles, or None."""
    rows = [row for row in measured(gpu) if (row.kernel, row.n, row.regime) == (kernel, n, regime)]
    return max(rows, key=lambda row: row.tflops, default=None)


def recorded_on() -> str:
    """The GPU whose rows of the ladder are shown. Raises `LabError` if there are none."""
    for gpu in GPUS:
        if any(row.ladder == LADDER for row in measured(gpu)):
            return gpu
    raise LabError(f"No run of {LADDER} has been recorded; `python -m tools.recording speeds {LADDER}` records one.")


def speeds(n: int = 8192) -> ShortTable:
    """The rungs and the kinds of cuBLASLt at one size, each in its fastest recorded tile."""
    gpu, body = recorded_on(), []
    rungs = [(kernel.name, _sums(kernel.problem)) for kernel in catalog.ladder(LADDER).kernels]
    some = None
    for name, sums in (*rungs, *SUMS.items()):
        rows = [best(name, n, regime, gpu) for regime in REGIMES]
        if not any(rows):
            continue
        some = some or next(row for row in rows if row)
        cells = (
            (f"{row.tflops:,.0f}", f"{row.ratio_cublaslt:.3f}" if row.ratio_cublaslt else "") for row in rows if row
        )
        body.append([name, sums, *(cell for pair in cells for cell in pair)])
    head = [f"{what}" for regime in REGIMES for what in (f"TFLOPS, {regime}", "÷ cuBLASLt")]
    caption = f"{n} × {n} × {n}; cuBLASLt: the fastest of its candidates with the same sums. {some.label}, {some.date}"
    return ShortTable(Table(["kernel", "sums", *head], body, caption, text_columns=2))


def prices(sums: str, than: str, sizes: Sequence[int] = (2048, 4096, 8192, 16384)) -> ShortTable:
    """The speed of the fastest rung with these sums, as a share of that of the fastest with the others, by size.

    sums, than: values of `SUMS`.
    """
    gpu, kernels = recorded_on(), catalog.ladder(LADDER).kernels

    def fastest(kind: str, n: int, regime: str) -> float:
        rows = [best(kernel.name, n, regime, gpu) for kernel in kernels if _sums(kernel.problem) == kind]
        return max(row.tflops for row in rows if row)

    shares = {(n, regime): fastest(sums, n, regime) / fastest(than, n, regime) for n in sizes for regime in REGIMES}
    body = [[str(n), *(f"{shares[(n, regime)]:.3f}" for regime in REGIMES)] for n in sizes]
    caption = f"Fastest rung of the kind “{sums}” ÷ fastest of the kind “{than}”, recorded on {chip(gpu).name}"
    return ShortTable(Table(["n", *REGIMES], body, caption))


def _sums(problem: catalog.Problem) -> str:
    return SUMS[
        "cublaslt_fp8_blocks" if problem.scaled else "cublaslt_fp8" if problem.promotion else "cublaslt_fp8_fast"
    ]


MARKS = {"Dots": ("o", True), "rings": ("o", False), "crosses": ("x", True)}  # marker of matplotlib; filled
POINTS = (  # kernel, kind of scale, place in `Errors.of`, words, colour, on which side they stand
    (f"{LADDER}/01_fast_sums_wide", "tensor", 1, "fast sums, one scale", style.VERMILION, "left"),
    (f"{LADDER}/02_promoted", "tensor", 2, "promoted, one scale", style.ORANGE, "right"),
    (f"{LADDER}/04_block_scales", "block", 2, "promoted, block scales", style.GREEN, "right"),
)


@style.drawn
def plot_error_and_speed(errors: dict[str, Errors], n: int = 8192, regime: str = "sustained") -> Figure:
    """The errors of products by the kind of scale, over the recorded speed of the kernel with such sums and scales.

    errors: {name of the product: its errors}, at most three.
    """
    gpu = recorded_on()
    points = [
        (best(name, n, regime, gpu), [one.of[kind][at] for one in errors.values()], *look)
        for name, kind, at, *look in POINTS
    ]
    rungs = [kernel.name for kernel in catalog.ladder("hopper").kernels]
    in_bf16 = max(filter(None, (best(name, n, regime, gpu) for name in rungs)), key=lambda row: row.tflops)
    points.append((in_bf16, [one.bf16 for one in errors.values()], "BF16", style.BLUE, "left"))
    fig = style.figure(style.WIDTH, 4.6)
    ax = style.axes(fig, left=0.8, right=2.0, top=0.55, bottom=1.4)
    for row, shares, words, colour, side in points:
        for share, (mark, fill) in zip(shares, MARKS.values(), strict=False):
            look = {"color": colour, "markersize": 9, "markeredgewidth": style.LINE}
            ax.plot([row.tflops], [100 * share], mark, markerfacecolor=colour if fill else "none", **look)
        at, offset = (row.tflops, 100 * shares[0]), (9 if side == "left" else -9, 0)
        style.near(ax, words, at, offset, va="center", ha=side, color=style.ink(colour))
    ax.set(yscale="log", xlim=(0, None), ylim=(0.1, 100))
    style.plain_ticks(ax.yaxis, (0.1, 1, 10, 100))
    style.axis_titles(ax, f"TFLOPS, {regime}", "error of the product, %")
    shown = points[0][0]
    named = "; ".join(f"{mark}: {name}" for mark, name in zip(MARKS, errors, strict=False))
    style.caption(
        fig,
        f"{named}. Errors at K = 1024.\n"
        f"Speeds at {n}³: {shown.gpu}, CUDA {shown.cuda}, {shown.date},\n"
        f"commit {shown.commit}; BF16: {in_bf16.kernel}, commit {in_bf16.commit}.",
        0.8,
    )
    return fig
