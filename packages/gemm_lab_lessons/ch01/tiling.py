"""A widget that draws a block tile in a corner of the matrices, what it takes of an SM, and how fast it can be.

TileExplorer(block_m=256, block_n=128, gpu="t4")
TileExplorer(256, 128, 64, "t4", warp=(64, 64), stages=1)      also registers, occupancy and the limiting resource
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import traitlets

from gemm_lab.notebook.widgets.modules import css, esm
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_lab_lessons.ch01.tile_resources import TileResources, tile_resources
from gemm_results import roofline_model as model
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.data_sheets import GPUS, Gpu, gpu

ELEMENT_BYTES = 2  # FP16
TENSOR_MEMORY = 128 * 512  # 32-bit cells of an SM: lanes times columns (PTX ISA, tensor memory)
# What the sliders can be set to. The sides are multiples of 16, the rows of an mma, and closer where most tiles are.
TILES = (*range(16, 257, 16), 320, 384, 448, 512)
DEPTHS = (8, 16, 24, 32, 48, 64, 96, 128)
MEMORIES = ("DRAM", "L2")  # the memories from which a block tile is read
WARP_TILES, STAGES = (16, 32, 48, 64, 96, 128), (1, 2, 3, 4, 5, 6)


@dataclass(frozen=True)
class TileFacts:
    """The properties of one FP16 block tile on a GPU. `intensity` is in FLOP/byte, `smem` in bytes."""

    gpu: Gpu
    block: tuple[int, int, int]
    intensity: float
    smem: int  # of one stage of A and B
    attainable: Mapping[str, float]  # memory -> largest possible TFLOPS, if every read comes from this memory
    balance: Mapping[str, float]  # memory -> its balance point in FLOP/byte

    @property
    def fits(self) -> bool:
        return self.smem <= self.gpu.smem_per_block

    @property
    def sums(self) -> int:
        """The FP32 sums of the tile, each of which is one 32-bit register, or one cell of tensor memory."""
        return self.block[0] * self.block[1]

    @property
    def sums_in(self) -> str:
        """Where an SM holds the sums: since sm_100 in tensor memory, which is as large as the registers."""
        return "tensor memory" if self.gpu.arch.startswith("sm_100") else "registers"

    @property
    def room_for_sums(self) -> int:
        """The 32-bit cells of an SM that can hold sums."""
        return TENSOR_MEMORY if self.sums_in == "tensor memory" else self.gpu.registers_per_sm

    @property
    def sums_fit(self) -> bool:
        """Whether the sums fit; in registers something has to be left for the rest of the kernel."""
        return self.sums <= self.room_for_sums - (self.sums_in == "registers")

    @property
    def text(self) -> str:
        shape = " × ".join(map(str, self.block))
        found = "; ".join(f"{bar.name}: {bar.says}" for bar in bars(self))
        return f"{shape} on a {self.gpu.name}: {model.rounded_down(self.intensity)} FLOP for each byte read; {found}."


def tile_facts(block_m: int, block_n: int, block_k: int, gpu_key: str = "t4") -> TileFacts:
    """The properties of a BLOCK_M × BLOCK_N × BLOCK_K tile, with the bandwidths and the peak of `model.roofline`."""
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


def resource_words(found: TileResources) -> str:
    """Sentences about the warps, the registers, the occupancy and what limits the speed."""
    warps = found.threads // 32
    parts = [
        f"{warps} warps of {found.warp[0]} × {found.warp[1]}, {found.stages} "
        f"stage{'s' * (found.stages != 1)}: {found.smem:,} bytes of shared memory, at least {found.registers} "
        "registers a thread."
    ]
    if found.refusal:
        return " ".join([*parts, f"It does not start. {found.refusal}"])
    room = found.occupancy
    parts.append(f"At most {room.blocks} block{'s' * (room.blocks != 1)} on an SM ({room.limit}).")
    if "shared memory" in found.bounds:
        parts.append(
            f"A warp tile does {model.rounded_down(found.warp_intensity)} FLOP for each byte of shared memory: at most "
            f"{found.bounds['shared memory']:.0f} TFLOPS."
        )
    need = found.hit_rate_needed
    when = f", if L2 serves {need:.0%} of the reads" if need else ""
    return " ".join([*parts, f"What binds: {found.binding}, at {found.attainable:.0f} TFLOPS{when}."])


CHOICES = ("block_m", "block_n", "block_k", "gpu", "warp_m", "warp_n", "stages")


class TileExplorer(PicturedWidget):
    """A widget with a few controls, the tile, its bars and some sentences. `facts` describes the current choice.

    The choices are attributes, which follow the live view and change it; `choose` sets several at once. With `warp` =
    (WARP_M, WARP_N), there are also controls for the warp tile and the stages, and `resources` (a `TileResources`) says
    what they need. An impossible choice raises `LabError` and changes nothing; in the live view, a sentence says why,
    and the last possible choice stays drawn.
    """

    what = "The tile explorer: a block tile, what it takes of an SM, and how fast it can be."
    _esm = esm(__file__)
    _css = css()

    block_m = traitlets.Int(128).tag(sync=True)
    block_n = traitlets.Int(128).tag(sync=True)
    block_k = traitlets.Int(32).tag(sync=True)
    gpu = traitlets.Unicode("t4").tag(sync=True)
    warp_m = traitlets.Int(None, allow_none=True).tag(sync=True)
    warp_n = traitlets.Int(None, allow_none=True).tag(sync=True)
    stages = traitlets.Int(1).tag(sync=True)
    options = traitlets.Dict().tag(sync=True)  # choice -> its values, those of `gpu` as [key, name]
    shown = traitlets.Dict().tag(sync=True)  # what the view draws, from `drawn_facts`

    _choosing = False  # True while `choose` sets several choices

    @checked
    def __init__(
        self,
        block_m: int = 128,
        block_n: int = 128,
        block_k: int = 32,
        gpu: str = "t4",
        warp: tuple[int, int] | None = None,
        stages: int = 1,
    ):
        super().__init__()
        self.resources: TileResources | None = None
        warp_m, warp_n = warp or (None, None)
        first = {"block_m": block_m, "block_n": block_n, "block_k": block_k, "stages": stages}
        self.choose(**first, gpu=gpu, warp_m=warp_m, warp_n=warp_n)
        known = {"block_m": TILES, "block_n": TILES, "block_k": DEPTHS}
        if warp:
            known |= {"warp_m": WARP_TILES, "warp_n": WARP_TILES, "stages": STAGES}
        self.options = {
            **{name: sorted({*values, getattr(self, name)}) for name, values in known.items()},
            "gpu": [[key, one.name] for key, one in GPUS.items()],
        }

    def choose(self, **choices) -> TileFacts:
        """Show another tile or GPU; names are those of the attributes. Raises `LabError` if it is impossible."""
        if unknown := set(choices) - set(CHOICES):
            raise LabError(f"The explorer has no choice “{min(unknown)}”; it has {', '.join(CHOICES)}.")
        values = {**self._chosen(), **self.plain(choices)}
        found = _found(**values)
        self._choosing = True
        try:
            with self.hold_sync():
                for name, value in values.items():
                    setattr(self, name, value)
                self._show(*found)
        finally:
            self._choosing = False
        return self.facts

    def __setattr__(self, name: str, value) -> None:
        if name in CHOICES and not self._choosing and hasattr(self, "facts"):
            self.choose(**{name: value})
        else:
            super().__setattr__(name, value)

    @traitlets.observe(*CHOICES)
    def _follow(self, _change) -> None:
        """A choice that was made in the live view; one that is impossible gets a sentence there."""
        if self._choosing:
            return
        try:
            self._show(*_found(**self._chosen()))
        except SimulatorError as error:
            self.shown = {**self.shown, "problem": f"{error} The drawing is still the last possible one."}

    def _chosen(self) -> dict:
        return {name: getattr(self, name) for name in CHOICES}

    def _show(self, facts: TileFacts, resources: TileResources | None) -> None:
        self.facts, self.resources = facts, resources
        self.shown = drawn_facts(facts, self.text)

    # ---- What it shows ----

    @property
    def text(self) -> str:
        needs = "" if self.resources is None else f" {resource_words(self.resources)}"
        return f"Tile explorer: {self.facts.text}{needs}"

    @property
    def good(self) -> bool:
        """Whether a kernel with this tile can start."""
        return self.facts.fits and self.facts.sums_fit and not (self.resources and self.resources.refusal)


def _found(
    block_m: int,
    block_n: int,
    block_k: int,
    gpu: str,
    warp_m: int | None,
    warp_n: int | None,
    stages: int,
) -> tuple[TileFacts, TileResources | None]:
    """The facts of a choice, and with a warp tile its resources. Raises `LabError` if it is impossible."""
    facts = tile_facts(block_m, block_n, block_k, gpu)
    if warp_m is None or warp_n is None:
        return facts, None
    return facts, tile_resources(facts.gpu, facts.block, (warp_m, warp_n), stages)


@dataclass(frozen=True)
class Bar:
    """One bar of the drawing: how much of a limit is taken or reached.

    words: the numbers.   share: 0 to 1, or more if the limit is exceeded.   says: what that means, with ✓ or ✗.
    """

    name: str
    words: str
    share: float
    good: bool
    says: str


def bars(facts: TileFacts) -> list[Bar]:
    """The bars of the drawing: the room that the tile takes, then the speed that each memory allows."""
    of_sums = "registers of an SM" if facts.sums_in == "registers" else "cells of tensor memory"
    full = "✗ too many" if facts.sums > facts.room_for_sums else "✗ none is left for the rest of the kernel"
    sums, room, smem, most = facts.sums, facts.room_for_sums, facts.smem, facts.gpu.smem_per_block
    says = "✓ fits" if facts.sums_fit else full
    made = [Bar(f"sums in {facts.sums_in}", f"{sums:,} of {room:,} {of_sums}", sums / room, facts.sums_fit, says)]
    words, says = f"{smem:,} of {most:,} bytes of a block", "✓ fits" if facts.fits else "✗ does not fit"
    made.append(Bar("one stage in shared memory", words, smem / most, facts.fits, says))
    peak = model.roofline(facts.gpu).tflops
    for name, tflops in facts.attainable.items():
        enough = facts.intensity >= facts.balance[name]
        says = "✓ compute bound" if enough else "✗ memory bound"
        words = f"at most {tflops:,.1f} of {peak:,.0f} TFLOPS"
        made.append(Bar(f"speed if {name} serves every read", words, tflops / peak, enough, says))
    return made


def drawn_facts(facts: TileFacts, text: str) -> dict:
    """What the browser draws: the tile, the bars, and the sentences for those who cannot see them."""
    return {
        "block": list(facts.block),
        "intensity": f"{model.rounded_down(facts.intensity)} FLOP for each byte read",
        "bars": [vars(bar) for bar in bars(facts)],
        "text": text,
        "problem": "",
    }
