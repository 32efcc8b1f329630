"""Measures constants of the time model on the GPU here, with the microbenchmarks of `calibration.cu`.

An `Experiment` is one launch: a block on each SM makes turns of the same work, and the difference of a long and a
short pass gives the cycles of a turn. A `Rule` computes a constant from the cycles of a turn of one or two experiments.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gpu_runner as device
from gpu_simulator.compiler import Compiled, compile
from gpu_simulator.errors import WITHOUT_MACHINE_CODE, NotHere, SimulatorError
from gpu_simulator.hardware.data_sheets import GPUS
from gpu_timing.cycles.constant_memory import generation_of
from gpu_timing.cycles.constants_file import BASED_ON, FOLDER, constants

SOURCE = Path(__file__).with_suffix(".cu")
# What a turn does, numbered as in calibration.cu, and the opcode of the machine instruction of which it has so many.
OPCODES = {
    "HMMA_16816": "HMMA", "HMMA_1688": "HMMA", "FFMA": "FFMA", "IMAD": "IMAD", "LOP3": "LOP3", "MUFU": "MUFU",
    "MOVM": "MOVM", "SHFL": "SHFL", "LDS": "LDS", "STS": "STS", "BAR": "BAR", "CHASE": "LDG", "LOAD": "LDG",
    "COPY": "LDGSTS", "STORE": "STG", "STREAM": "LDG",
}  # fmt: skip
KINDS = tuple(OPCODES)
MEMORY = KINDS[KINDS.index("CHASE") :]
ITEMS = 128  # instructions of a turn
CHUNK, CHASE_STEP = 16, 4224  # bytes, as in calibration.cu
ADDITION = 4  # cycles that a chase takes for each of its addresses
Cycles = Mapping[str, float]  # of a turn of each experiment


@dataclass(frozen=True)
class Experiment:
    """One launch. kind: one of `KINDS`.   warps: of a block.   ways: independent chains.   loads: requests of a thread.

    turns: of a short pass; a long one has twice as many.   passes: short and long ones in turn.   share: neighbouring
    SMs that ask for the same bytes.   spread: bytes between the shared words of two lanes.   around: turns after which
    the same bytes are asked for again; 0 if never, so that they come from DRAM.   least: architecture that has the
    instruction, 80 for sm_80.
    """

    kind: str
    warps: int
    ways: int = 1
    loads: int = 1
    turns: int = 8
    passes: int = 10
    share: int = 1
    spread: int = 0
    around: int = 8
    least: int = 75

    @property
    def config(self) -> dict[str, int]:
        """The macros of calibration.cu."""
        kind = KINDS.index(self.kind)
        return {"KIND": kind, "WARPS": self.warps, "WAYS": self.ways, "ITEMS": ITEMS, "LOADS": self.loads}

    @property
    def turn_bytes(self) -> int:
        """Bytes that a block asks for in a turn, or in the case of a chase steps over."""
        return self.loads * (CHASE_STEP if self.kind == "CHASE" else 32 * self.warps * CHUNK)

    def compile(self, arch: str) -> Compiled:
        """The kernel. Raises `NotHere` where no compiler makes machine code."""
        source, name = SOURCE.read_text(encoding="utf-8"), f"calibration_{self.kind.lower()}"
        made = compile(source, config=self.config, arch=arch, name=name, entry="gemm")
        if not made.cubin:
            raise NotHere(f"Nothing can be measured: {WITHOUT_MACHINE_CODE}")
        return made

    def arguments(self, sms: int, l2_bytes: int, turns: int = 0, passes: int = 0) -> list[Any]:
        """What the kernel is launched with, one block on each of `sms` SMs; arrays are zero.

        An experiment that reads DRAM gets a larger array than it reads, because what was written to it last is in L2.
        turns, passes: in place of its own.
        """
        turns, passes = turns or self.turns, passes or self.passes
        most = turns * passes * 3 // 2
        apart, step = self.turn_bytes, -(-sms // self.share) * self.turn_bytes
        region = step * (self.around or most)
        if self.kind == "CHASE" and not self.around:  # each SM goes on within its own pages: no wait for a new one
            apart, step = apart * most, apart
        reads = self.kind in MEMORY and self.kind != "STORE"
        source = np.zeros(region + self.turn_bytes + (0 if self.around else 2 * l2_bytes) if reads else 16, np.uint8)
        stored = region + self.turn_bytes if self.kind == "STORE" else 0
        target = np.zeros(max(stored, 4 * 32 * self.warps * sms), np.uint8)
        cycles = np.zeros((sms, passes), np.uint32)
        return [source, target, cycles, region, step, self.share, apart, self.spread, turns, passes]


EXPERIMENTS = {
    "hmma_16816": Experiment("HMMA_16816", 8, ways=8, least=80),
    "hmma_1688": Experiment("HMMA_1688", 8, ways=8),
    "hmma_16816_chain": Experiment("HMMA_16816", 1, least=80),
    "hmma_1688_chain": Experiment("HMMA_1688", 1),
    "ffma": Experiment("FFMA", 8, ways=8),
    "imad": Experiment("IMAD", 8, ways=8),
    "lop3": Experiment("LOP3", 8, ways=8),
    "mufu": Experiment("MUFU", 8, ways=8),
    "mufu_chain": Experiment("MUFU", 1),
    "shfl_chain": Experiment("SHFL", 1),
    "movm_chain": Experiment("MOVM", 1),
    "lds_chain": Experiment("LDS", 1, spread=4),
    "lds_chain_8": Experiment("LDS", 1, spread=32),
    "sts_8": Experiment("STS", 8, spread=32),
    "bar_4": Experiment("BAR", 4),
    "bar_16": Experiment("BAR", 16),
    "l2_chase": Experiment("CHASE", 1, loads=16, around=1),
    "dram_chase": Experiment("CHASE", 1, loads=16, turns=2, passes=4, around=0),
    "load_4": Experiment("LOAD", 8, loads=1, share=12),
    "load_16": Experiment("LOAD", 8, loads=4, share=12),
    "copy_16": Experiment("COPY", 8, loads=4, share=12, least=80),
    "copy_32": Experiment("COPY", 8, loads=8, share=12, least=80),
    "own_16": Experiment("COPY", 8, loads=4, around=2, least=80),
    "own_32": Experiment("COPY", 8, loads=8, around=2, least=80),
    "store": Experiment("STORE", 32, loads=4, around=1),
    "stream": Experiment("STREAM", 32, loads=4, turns=4, passes=4, around=0),
}


@dataclass(frozen=True)
class Rule:
    """How a constant follows from experiments. compute: takes their cycles of a turn.   what: of the source."""

    experiments: tuple[str, ...]
    compute: Callable[..., float]
    what: str


def _each(*divisors: int) -> Callable[[float], float]:
    """Cycles of a turn over its ITEMS instructions and these numbers."""
    return lambda turn: turn / (ITEMS * math.prod(divisors))


def _slope(amount: float) -> Callable[[float, float], float]:
    """Cycles that a unit costs, if the second turn has `amount` units more than the first."""
    return lambda first, second: (second - first) / amount


def _rate(first: str, second: str) -> Callable[[float, float], float]:
    """Bytes a cycle, from a smaller and a larger burst: the wait for the first byte is in both."""
    more = EXPERIMENTS[second].turn_bytes - EXPERIMENTS[first].turn_bytes
    return lambda small, large: more / (large - small) if large != small else math.inf


def _streamed(name: str) -> Callable[[float], float]:
    return lambda turn: EXPERIMENTS[name].turn_bytes / turn if turn else math.inf


def _barrier(four: float, sixteen: float) -> float:
    """Cycles of a barrier beyond those of its warps."""
    return four / ITEMS - 4 * _slope(12 * ITEMS)(four, sixteen)


def _chased(turn: float) -> float:
    """Cycles of a load beyond the addition that makes its address wait for the load before."""
    return turn / EXPERIMENTS["l2_chase"].loads - ADDITION


PARTS = 2  # warps of a sub-partition in the experiments with 8 warps
# The first rule of a constant whose experiments the GPU has counts.
RULES: tuple[tuple[str, Rule], ...] = (
    ("hmma_16816_cycles", Rule(("hmma_16816",), _each(PARTS), "register-only loop, 8 independent products, 8 warps")),
    ("hmma_1688_cycles", Rule(("hmma_1688",), _each(PARTS), "register-only loop, 8 independent products, 8 warps")),
    ("hmma_latency", Rule(("hmma_16816_chain",), _each(), "dependent chain of HMMA.16816")),
    ("hmma_latency", Rule(("hmma_1688_chain",), _each(), "dependent chain of HMMA.1688")),
    ("ffma_cycles", Rule(("ffma",), _each(PARTS), "register-only loop, 8 independent, 8 warps")),
    ("imad_cycles", Rule(("imad",), _each(PARTS), "register-only loop, 8 independent, 8 warps")),
    ("alu_cycles", Rule(("lop3",), _each(PARTS), "LOP3, 8 independent, 8 warps")),
    ("xu_cycles", Rule(("mufu",), _each(PARTS), "MUFU.EX2, 8 independent, 8 warps")),
    ("xu_latency", Rule(("mufu_chain",), _each(), "a chain of MUFU.EX2")),
    ("shuffle_latency", Rule(("shfl_chain",), _each(), "a chain of SHFL.BFLY")),
    ("movm_latency", Rule(("movm_chain",), _each(), "a chain of movmatrix")),
    ("shared_latency", Rule(("lds_chain",), _each(), "a chain of LDS")),
    ("shared_wavefront_latency",
     Rule(("lds_chain", "lds_chain_8"), _slope(7 * ITEMS), "slope of a chain of LDS with conflicts of 8 lanes")),
    ("wavefront_cycles", Rule(("sts_8",), _each(8, 8), "STS of 8 warps with conflicts of 8 lanes")),
    ("barrier_warp_cycles", Rule(("bar_4", "bar_16"), _slope(12 * ITEMS), "slope of BAR.SYNC with 4 and 16 warps")),
    ("barrier_latency", Rule(("bar_4", "bar_16"), _barrier, "BAR.SYNC with 4 and 16 warps")),
    ("l2_latency", Rule(("l2_chase",), _chased, "a chain of loads")),
    ("dram_latency", Rule(("dram_chase",), _chased, "a chain of loads of new lines")),
    ("copy_bytes_per_cycle",
     Rule(("copy_16", "copy_32"), _rate("copy_16", "copy_32"), "bursts of 16 and 32 KB by cp.async, 12 SMs share")),
    ("load_bytes_per_cycle",
     Rule(("load_4", "load_16"), _rate("load_4", "load_16"), "bursts of 4 and 16 KB by LDG.128, 12 SMs share")),
    ("local_bytes_per_cycle",
     Rule(("own_16", "own_32"), _rate("own_16", "own_32"), "bursts by cp.async of lines that no other SM reads")),
    ("store_bytes_per_cycle", Rule(("store",), _streamed("store"), "a stream of STG.128 from all SMs")),
    ("dram_bytes_per_cycle", Rule(("stream",), _streamed("stream"), "LDG.128 of new lines on all SMs")),
)  # fmt: skip


def experiments(arch: str) -> dict[str, Experiment]:
    """Those whose instructions an architecture ("sm_90a") has."""
    return {name: one for name, one in EXPERIMENTS.items() if one.least <= generation_of(arch)}


def turn_cycles(experiment: Experiment, arch: str, sms: int, l2_bytes: int) -> float:
    """Launch an experiment on the GPU. Returns the cycles of a turn. Raises what `gpu_runner.launch` raises."""
    arguments = experiment.arguments(sms, l2_bytes)
    (cycles,) = device.launch(experiment.compile(arch), grid=(sms, 1, 1), args=arguments, outputs=[2])
    return of_a_turn(cycles, experiment.turns)


def of_a_turn(cycles: np.ndarray, turns: int) -> float:
    """The median of what a turn took: over the SMs (rows) and the pairs of a short and a long pass (columns).

    The first pair is left out, because it fills the caches. Raises `SimulatorError` for fewer than two pairs.
    """
    if cycles.ndim != 2 or cycles.shape[1] % 2 or cycles.shape[1] < 4:
        raise SimulatorError(
            f"Cycles have to be two or more pairs of passes for each SM, not an array of {cycles.shape}."
        )
    short, long = cycles[:, 2::2].astype(np.int64), cycles[:, 3::2].astype(np.int64)
    return float(np.median(long - short)) / turns


def constants_of(turns: Cycles) -> dict[str, tuple[float, str]]:
    """Value and source of each constant that follows from these experiments.

    Raises `SimulatorError` if one is no positive number.
    """
    found: dict[str, tuple[float, str]] = {}
    for name, rule in RULES:
        if name not in found and all(one in turns for one in rule.experiments):
            value = rule.compute(*(turns[one] for one in rule.experiments))
            if not (math.isfinite(value) and value > 0):
                raise SimulatorError(
                    f"The measured cycles give {name} = {value:g}, which no GPU has; measure again while no other "
                    "program uses the GPU."
                )
            found[name] = float(f"{value:.4g}"), f"measured: {rule.what}"
    return found


def file_of(gpu: str, found: Mapping[str, tuple[float, str]]) -> str:
    """The constants file of GPU `gpu` ("h200") with these constants in the place of its own."""
    rows, units = _rows(gpu), _units(gpu)
    if unknown := set(found) - set(units):
        raise SimulatorError(f"No file of constants has {', '.join(sorted(unknown))}.")
    fresh = {
        name: {"name": name, "value": f"{value:g}", "unit": units[name], "source": source}
        for name, (value, source) in found.items()
    }
    old = [fresh.pop(row["name"], row) for row in rows]
    text = io.StringIO()
    lines = csv.DictWriter(text, ("name", "value", "unit", "source"), lineterminator="\n")
    lines.writeheader()
    lines.writerows([*old, *fresh.values()])
    return text.getvalue()


def _rows(gpu: str) -> list[dict[str, str]]:
    with (FOLDER / f"{gpu}.csv").open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def _units(gpu: str) -> dict[str, str]:
    rows = _rows(gpu)
    base = _units(rows[0]["value"]) if rows[0]["name"] == BASED_ON else {}
    return base | {row["name"]: row["unit"] for row in rows}


def calibrate(
    progress: Callable[[list[str]], Iterable[str]] = iter,
) -> tuple[str, dict[str, tuple[float, str]]]:
    """Measure on the GPU here. Returns its key ("h200"), and value and source of each constant.

    progress: iterates over the names of the experiments, and may show how far they are. Raises `NotHere` without a
    GPU, and `SimulatorError` for a GPU without a data sheet.
    """
    if why := device.why_not():
        raise NotHere(f"Calibrating needs a GPU: {why}")
    present = device.present()
    assert present is not None
    if present.gpu is None:
        raise SimulatorError(
            f"There is no data sheet of the {present.name}; calibrating needs one of {', '.join(GPUS)}."
        )
    l2_bytes, chosen = int(present.gpu.l2_mb * 2**20), experiments(present.arch)
    turns = {name: turn_cycles(chosen[name], present.arch, present.sms, l2_bytes) for name in progress([*chosen])}
    return present.gpu.key, constants_of(turns)


def report(gpu: str, found: Mapping[str, tuple[float, str]]) -> str:
    """A line for each constant: its value, what the time model uses now, the unit, and how it was measured."""
    before, units = constants(gpu), _units(gpu)
    lines = [f"{'constant':26} {'measured':>9} {'in use':>9}"]
    for name, (value, source) in found.items():
        what = source.removeprefix("measured: ")
        lines.append(f"{name:26} {value:9.4g} {before[name]:9.4g}  {units[name]}: {what}")
    return "\n".join(lines)
