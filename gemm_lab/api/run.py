"""The outcome of one run: right or wrong, how fast, and what it was compiled to."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from gemm_lab.api import html

if TYPE_CHECKING:
    from gemm_lab.api.kernel import Kernel
    from gemm_lab.compiler import Compiled


@dataclass(frozen=True)
class Run:
    """`passed` is None where the kernel was compiled but not launched.

    `tflops` and `cublas_tflops` come from one interleaved run on this GPU; `recorded` is a row of the
    recorded results, shown where nothing was launched.
    """

    kernel: Kernel
    backend: str
    m: int
    n: int
    k: int
    compiled: Compiled
    passed: bool | None = None
    message: str = ""
    tflops: float | None = None
    cublas_tflops: float | None = None
    wavefronts: int | None = None
    ideal_wavefronts: int | None = None
    recorded: Any = None
    output: str = ""

    @property
    def ratio(self) -> float | None:
        """TFLOPS as a share of cuBLAS in the same run."""
        if self.tflops is None or not self.cublas_tflops:
            return None
        return self.tflops / self.cublas_tflops

    @property
    def verdict(self) -> str:
        return {True: "PASS", False: "FAIL", None: "COMPILED"}[self.passed]

    def as_dict(self) -> dict[str, Any]:
        """What `gemm-lab run --json` prints."""
        return {"kernel": self.kernel.name, "backend": self.backend, "m": self.m, "n": self.n, "k": self.k,
                "passed": bool(self.passed), "error": None if self.passed else self.message, "tflops": self.tflops,
                "wavefronts": self.wavefronts, "ideal_wavefronts": self.ideal_wavefronts}

    def _lines(self) -> list[tuple[str, str]]:
        pairs = [("size", f"{self.m} × {self.n} × {self.k}"), ("compiled for", self.compiled.arch),
                 ("registers", str(self.compiled.registers)), ("shared memory", f"{self.compiled.smem:,} B"),
                 ("spilled", f"{self.compiled.spill_stores + self.compiled.spill_loads} B"),
                 ("blocks on an SM", self._occupancy())]
        if self.tflops is not None:
            pairs.append(("speed", f"{self.tflops:.1f} TFLOPS"))
        if self.ratio is not None:
            pairs.append(("of cuBLAS", f"{self.ratio:.0%}"))
        return pairs

    def _occupancy(self) -> str:
        found = self.kernel.occupancy(self.compiled)
        return f"{found.blocks} (limit: {found.binding})"

    def _recorded(self) -> str:
        if self.recorded is None:
            return ""
        r = self.recorded
        return (f"Recorded on {r.gpu} at {r.m} × {r.n} × {r.k} ({r.regime}): {r.tflops:.1f} TFLOPS, "
                f"{r.ratio_cublas:.0%} of cuBLAS in the same run; driver {r.driver}, CUDA {r.cuda}, commit {r.commit}.")

    def __repr__(self) -> str:
        lines = [f"{self.verdict}  {self.kernel.label}  {self.message}".rstrip()]
        lines += ["      " + " · ".join(f"{label} {value}" for label, value in self._lines())]
        lines += [f"      {text}" for text in (self._recorded(), self.output.strip()) if text]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        colour = {True: html.GOOD, False: html.BAD, None: html.NOTE}[self.passed]
        body = (f'<div><b style="color:{colour}">{self.verdict}</b> &nbsp;<b>{escape(self.kernel.label)}</b> '
                f"&nbsp;{escape(self.message)}</div>{html.facts(self._lines())}")
        if self._recorded():
            body += f'<div style="color:{html.MUTED};font-size:11px">{escape(self._recorded())}</div>'
        if self.output.strip():
            body += html.folded("printed by the kernel", f"<pre>{escape(self.output.strip()[:4000])}</pre>")
        return html.card(body, colour)
