"""A widget that shows a block tile on the roofline of a GPU, with controls for the tile and the GPU.

TileExplorer(block_m=256, block_n=128, gpu="t4")
TileExplorer(256, 128, 64, "t4", warp=(64, 64), stages=1)      also registers, occupancy and the limiting resource
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gemm_lab import plots
from gemm_lab.model import roofline as model
from gemm_lab.model.tile_resources import TileResources, shared_gbps, tile_resources
from gemm_lab.notebook.widgets.choices import DPI, Choices, gpu_menu, slider
from gemm_lab.plots.palette import compact
from gemm_lab.plots.style import png
from gpu_simulator.argument_checks import checked
from gpu_simulator.hardware.data_sheets import Gpu, gpu

ELEMENT_BYTES = 2  # FP16
TILES, DEPTHS = (32, 64, 128, 256, 512), (8, 16, 32, 64, 128)
MEMORIES = ("DRAM", "L2")  # the memories from which a block tile is read
WARP_TILES, STAGES = (16, 32, 64, 128), (1, 2, 3, 4, 5, 6)


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
    def text(self) -> str:
        shape = " × ".join(map(str, self.block))
        parts = [f"{shape} does {self.intensity:.1f} FLOP for each byte it reads."]
        for name, tflops in self.attainable.items():
            side = "memory bound" if self.intensity < self.balance[name] else "compute bound"
            parts.append(f"From {name}, balance {self.balance[name]:.1f}: at most {tflops:.1f} TFLOPS, {side}.")
        room = f"the {self.gpu.name} gives a block {self.gpu.smem_per_block:,}"
        parts.append(
            f"One stage takes {self.smem:,} bytes; {room}: it {'fits' if self.fits else 'does not fit'} "
            "in shared memory."
        )
        return " ".join(parts)


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


def tile_picture(facts: TileFacts) -> bytes:
    """The GPU's roofline with this tile, as the bytes of a PNG file."""
    words: dict[float, list[str]] = {}
    for name, tflops in facts.attainable.items():
        words.setdefault(tflops, []).append(name)
    points = [(f"from {' or '.join(names)}", facts.intensity, tflops) for tflops, names in words.items()]
    machine = model.roofline(facts.gpu)
    return compact(png(plots.roofline(machine, points, ceilings={"FP16 tensor": machine.tflops}), DPI))


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
    parts.append(f"At most {room.blocks} block{'s' * (room.blocks != 1)} on an SM (limit: {room.binding}).")
    if "shared memory" in found.bounds:
        parts.append(
            f"A warp tile does {found.warp_intensity:.1f} FLOP for each byte of shared memory: at most "
            f"{found.bounds['shared memory']:.0f} TFLOPS."
        )
    need = found.hit_rate_needed
    when = f", if L2 serves {need:.0%} of the reads" if need else ""
    return " ".join([*parts, f"What binds: {found.binding}, at {found.attainable:.0f} TFLOPS{when}."])


class TileExplorer(Choices):
    """A widget with a few controls, some sentences and a roofline. `facts` describes the current choice.

    With `warp` = (WARP_M, WARP_N), there are also controls for the warp tile and the stages, and `resources` (a
    `TileResources`) says what they need.
    """

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
        self.resources: TileResources | None = None
        warp_m, warp_n = warp or (None, None)
        self.choose(block_m, block_n, block_k, gpu, warp_m, warp_n, stages)

    def choose(
        self,
        block_m: int,
        block_n: int,
        block_k: int,
        gpu: str,
        warp_m: int | None = None,
        warp_n: int | None = None,
        stages: int = 1,
    ) -> TileFacts:
        """Show another tile or GPU. Raises `LabError` if this combination of tiles is impossible."""
        facts = tile_facts(block_m, block_n, block_k, gpu)
        if warp_m is not None:
            self.resources = tile_resources(facts.gpu, facts.block, (warp_m, warp_n), stages)
        self.facts = facts
        return facts

    @property
    def alt(self) -> str:
        return f"this tile on the roofline of the {self.facts.gpu.name}"

    @property
    def good(self) -> bool:
        return self.facts.fits if self.resources is None else not self.resources.refusal

    @property
    def text(self) -> str:
        if self.resources is None:
            return self.facts.text
        return f"{self.facts.text} {resource_words(self.resources)}"

    def controls(self) -> list[list]:
        block_m, block_n, block_k = self.facts.block
        rows = [
            [("block_m", slider(TILES, block_m, "BLOCK_M")), ("block_n", slider(TILES, block_n, "BLOCK_N"))],
            [("block_k", slider(DEPTHS, block_k, "BLOCK_K")), ("gpu", gpu_menu(self.facts.gpu.key))],
        ]
        if self.resources is not None:
            warp_m, warp_n = self.resources.warp
            rows.append(
                [
                    ("warp_m", slider(WARP_TILES, warp_m, "WARP_M")),
                    ("warp_n", slider(WARP_TILES, warp_n, "WARP_N")),
                    ("stages", slider(STAGES, self.resources.stages, "NUM_STAGES")),
                ]
            )
        return rows

    def png(self) -> bytes:
        if self.resources is None:
            return tile_picture(self.facts)
        return compact(png(self.card(), DPI))

    def card(self):
        """A roofline with the block tile for DRAM and for L2, and the warp tile for shared memory."""
        machine = model.roofline(self.facts.gpu)
        levels = {level.name: level.gbps for level in machine.levels}
        points = [(f"block, {name}", self.facts.intensity, tflops) for name, tflops in self.facts.attainable.items()]
        if self.resources and "shared memory" in self.resources.bounds:
            levels["shared memory"] = shared_gbps(self.facts.gpu)
            points.append(("warp", self.resources.warp_intensity, self.resources.bounds["shared memory"]))
        return plots.roofline(levels, points, ceilings={"FP16 tensor": machine.tflops})
