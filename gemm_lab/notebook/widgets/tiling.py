"""A block tile on a roofline: turn BLOCK_M, BLOCK_N, BLOCK_K and the GPU, watch the point move.

    TileExplorer(block_m=256, block_n=128, gpu="t4")
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from gemm_lab import plots
from gemm_lab.api import html
from gemm_lab.hardware import GPUS, Gpu, gpu
from gemm_lab.model import roofline as model
from gemm_lab.notebook.figures.png import smaller
from gemm_lab.plots.style import png

ELEMENT_BYTES = 2  # FP16
TILES, DEPTHS = (32, 64, 128, 256, 512), (8, 16, 32, 64, 128)
MEMORIES = ("DRAM", "L2")  # where a block tile is read from
DPI = 110


@dataclass(frozen=True)
class TileFacts:
    """What one block tile of FP16 asks of a GPU. Intensity in FLOP/byte, shared memory in bytes."""

    gpu: Gpu
    block: tuple[int, int, int]
    intensity: float
    smem: int  # for one stage of A and B
    attainable: Mapping[str, float]  # memory -> TFLOPS at most, when every read goes there
    balance: Mapping[str, float]  # memory -> FLOP/byte

    @property
    def fits(self) -> bool:
        return self.smem <= self.gpu.smem_per_block

    @property
    def text(self) -> str:
        shape = " × ".join(map(str, self.block))
        parts = [f"{shape} does {self.intensity:.1f} FLOP for each byte it reads."]
        for name, tflops in self.attainable.items():
            side = "memory bound" if self.intensity < self.balance[name] else "compute bound"
            parts.append(f"From {name}, balance {self.balance[name]:.1f}: at most {tflops:.1f} TFLOPS, {side}.")
        room = f"the {self.gpu.name} gives a block {self.gpu.smem_per_block:,}"
        parts.append(f"One stage takes {self.smem:,} bytes; {room}: it {'fits' if self.fits else 'does not fit'}.")
        return " ".join(parts)


def tile_facts(block_m: int, block_n: int, block_k: int, gpu_key: str = "t4") -> TileFacts:
    """The facts of a BLOCK_M × BLOCK_N × BLOCK_K tile; bandwidths and peak as `model.roofline` takes them."""
    target = gpu(gpu_key)
    machine, intensity = model.roofline(target), model.intensity(block_m, block_n, ELEMENT_BYTES)
    names = [level.name for level in machine.levels if level.name in MEMORIES]
    return TileFacts(
        gpu=target,
        block=(block_m, block_n, block_k),
        intensity=intensity,
        smem=(block_m + block_n) * block_k * ELEMENT_BYTES,
        attainable={name: machine.attainable(intensity, name) for name in names},
        balance={name: machine.balance(name) for name in names},
    )


def tile_picture(facts: TileFacts) -> bytes:
    """The GPU's roofline with this tile on it, as PNG bytes."""
    words: dict[float, list[str]] = {}
    for name, tflops in facts.attainable.items():
        words.setdefault(tflops, []).append(name)
    points = [(f"from {' or '.join(names)}", facts.intensity, tflops) for tflops, names in words.items()]
    machine = model.roofline(facts.gpu)
    return smaller(png(plots.roofline(machine, points, ceilings={"FP16 tensor": machine.tflops}), DPI))


class TileExplorer:
    """Four choices, one sentence, one roofline. `facts` always describes the current choice."""

    def __init__(self, block_m: int = 128, block_n: int = 128, block_k: int = 32, gpu: str = "t4"):
        self.facts = tile_facts(block_m, block_n, block_k, gpu)

    def choose(self, block_m: int, block_n: int, block_k: int, gpu: str) -> TileFacts:
        """Move to another tile or GPU."""
        self.facts = tile_facts(block_m, block_n, block_k, gpu)
        return self.facts

    # ---- Display ----

    def _widget(self):
        import ipywidgets as widgets

        block_m, block_n, block_k = self.facts.block
        controls = {
            "block_m": widgets.SelectionSlider(options=_with(TILES, block_m), value=block_m, description="BLOCK_M"),
            "block_n": widgets.SelectionSlider(options=_with(TILES, block_n), value=block_n, description="BLOCK_N"),
            "block_k": widgets.SelectionSlider(options=_with(DEPTHS, block_k), value=block_k, description="BLOCK_K"),
            "gpu": widgets.Dropdown(options=[(g.name, key) for key, g in GPUS.items()], value=self.facts.gpu.key,
                                    description="GPU"),
        }
        words = widgets.HTML(self._words())
        picture = widgets.Image(value=tile_picture(self.facts), layout=widgets.Layout(max_width="760px"))

        def changed(_) -> None:
            self.choose(**{name: control.value for name, control in controls.items()})
            words.value, picture.value = self._words(), tile_picture(self.facts)

        for control in controls.values():
            control.observe(changed, names="value")
        rows = list(controls.values())
        return widgets.VBox([widgets.HBox(rows[:2]), widgets.HBox(rows[2:]), words, picture])

    def _words(self) -> str:
        return html.card(self.facts.text, html.GOOD if self.facts.fits else html.BAD)

    def _repr_html_(self) -> str:
        data = b64encode(tile_picture(self.facts)).decode()
        return (f'{self._words()}<img alt="this tile on the roofline of the {self.facts.gpu.name}" '
                f'style="max-width:760px;width:100%" src="data:image/png;base64,{data}">')

    def __repr__(self) -> str:
        return self.facts.text

    def _ipython_display_(self) -> None:
        from IPython.display import display

        bundle = {}
        with suppress(Exception):  # no widget front end: the still picture says the same
            bundle = dict(self._widget()._repr_mimebundle_() or {})
        display({**bundle, "text/plain": repr(self), "text/html": self._repr_html_()}, raw=True)


def _with(options: tuple[int, ...], value: int) -> list[int]:
    return sorted({*options, value})
