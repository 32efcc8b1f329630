"""Profile cards: what Nsight Compute counted in one launch of a rung, as one row of results/profiles/<gpu>/cards.csv.

A counter that the GPU or the version of ncu does not have is an empty field, never 0. The file executed.csv in the same
folder has the executed instructions by opcode, so that their classes can change without another recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gemm_results.profile import METRICS, read_rows
from gemm_results.stalls import BY_KEY, STALLS, Stall
from gpu_simulator.hardware.banks import conflict_degree
from gpu_timing.machine_code.instruction_classes import by_class

PER_OPCODE = "sass__inst_executed_per_opcode"  # one instance per opcode; its value is their sum

# Our column → ncu's metrics, of which the first that the GPU has is used. Units: bytes, cycles, nanoseconds, percent.
CARD_METRICS: dict[str, tuple[str, ...]] = {
    "duration_ns": ("gpu__time_duration.sum",),
    "cycles": ("sm__cycles_elapsed.max", "gpc__cycles_elapsed.max"),
    "registers": ("launch__registers_per_thread",),
    "smem_static": ("launch__shared_mem_per_block_static",),
    "smem_dynamic": ("launch__shared_mem_per_block_dynamic",),
    "waves": ("launch__waves_per_multiprocessor",),
    "occupancy_theoretical_pct": ("sm__maximum_warps_per_active_cycle_pct",),
    "occupancy_achieved_pct": ("sm__warps_active.avg.pct_of_peak_sustained_active",),
    "active_warps": ("smsp__warps_active.avg.per_cycle_active",),
    "eligible_warps": ("smsp__warps_eligible.avg.per_cycle_active",),
    "issue_slots_pct": (
        "smsp__issue_active.avg.pct_of_peak_sustained_active",
        "smsp__inst_issued.avg.pct_of_peak_sustained_active",
    ),
    "sm_busy_pct": ("sm__instruction_throughput.avg.pct_of_peak_sustained_active",),
    "tensor_pipe_pct": (
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
        "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
        "sm__pipe_tensor_subpipe_hmma_cycles_active.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    ),
    "alu_pipe_pct": ("sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",),
    "fma_pipe_pct": ("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",),
    "lsu_pipe_pct": ("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",),
    **{column: (metric,) for column, metric in METRICS.items()},
    "l1_hit_pct": ("l1tex__t_sector_hit_rate.pct",),
    "l2_hit_pct": ("lts__t_sector_hit_rate.pct",),
    "l2_bytes": ("lts__t_bytes.sum",),
    "dram_read_bytes": ("dram__bytes_read.sum", "dram__bytes_op_read.sum"),
    "dram_write_bytes": ("dram__bytes_write.sum", "dram__bytes_op_write.sum"),
    "dram_pct": ("dram__throughput.avg.pct_of_peak_sustained_elapsed",),
    "warp_latency": ("smsp__average_warp_latency_per_inst_issued.ratio",),
    "sass_instructions": (PER_OPCODE,),
    **{stall.column: (stall.metric,) for stall in STALLS},
}
CONDITIONS = ("gpu", "arch", "driver", "nvrtc", "ncu", "date", "ptx", "source")
KEY = ("kernel", "n", "config")
CARDS, EXECUTED = "cards.csv", "executed.csv"
CARD_N = 4096  # the size at which every rung has a card; some rungs also have cards at other sizes


@dataclass(frozen=True)
class ProfileCard:
    """Counters of one launch of a kernel at n × n × n. `values` has only the columns that were counted.

    Indexing with a column gives its value, or None if it was not counted.
    """

    kernel: str
    n: int
    config: Mapping[str, int]
    conditions: Mapping[str, str]
    values: Mapping[str, float] = field(repr=False)
    opcodes: Mapping[str, int] = field(repr=False, default_factory=dict)

    def __getitem__(self, column: str) -> float | None:
        return self.values.get(column)

    def __contains__(self, column: object) -> bool:
        return column in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    @property
    def stalls(self) -> dict[Stall, float]:
        """Cycles that a warp spends in each state per issued instruction, including the state "selected"."""
        return {stall: self.values[stall.column] for stall in STALLS if stall.column in self.values}

    @property
    def stall_cycles(self) -> float:
        """Cycles from one instruction of a warp to its next: the sum over all states."""
        return sum(self.stalls.values())

    def share(self, stall: Stall) -> float | None:
        """Share of a warp's time in this state, 0 to 1; None if it was not counted."""
        return self.stalls[stall] / self.stall_cycles if stall in self.stalls and self.stall_cycles else None

    @property
    def limiting(self) -> Stall | None:
        """The state in which warps spend most time without issuing; None if no such state was counted."""
        waiting = {stall: cycles for stall, cycles in self.stalls.items() if stall is not BY_KEY["selected"]}
        return max(waiting, key=waiting.__getitem__) if waiting else None

    @property
    def instructions(self) -> float | None:
        """Executed warp instructions: the sum over opcodes, or the hardware counter if no opcodes were counted."""
        return sum(self.opcodes.values()) or self.values.get("instructions")

    @property
    def classes(self) -> dict[str, float]:
        """Executed warp instructions by class."""
        return by_class(self.opcodes)

    @property
    def conflict_degree(self) -> float | None:
        """Wavefronts divided by ideal wavefronts; None without shared-memory accesses."""
        return conflict_degree(self["wavefronts"], self["ideal_wavefronts"])

    @property
    def sectors_per_request(self) -> float | None:
        """32-byte sectors per global load of a warp: if coalesced, 4 for 4 bytes per lane and 16 for 16 bytes.

        None if they were not counted.
        """
        requests = self.values.get("load_requests")
        return self.values["load_sectors"] / requests if requests and "load_sectors" in self.values else None


def read_cards(folder: Path) -> list[ProfileCard]:
    """All cards of a folder; an empty list if it has none. Empty values are left out."""
    folder = Path(folder)
    counts: dict[tuple[str, ...], Counter] = {}
    for line in read_rows(folder / EXECUTED):
        counts.setdefault(tuple(line[name] for name in KEY), Counter())[line["opcode"]] += int(line["executed"])
    found = []
    for row in read_rows(folder / CARDS):
        config = dict(part.split("=") for part in row["config"].split())
        values = {column: float(row[column]) for column in CARD_METRICS if row.get(column)}
        found.append(
            ProfileCard(
                row["kernel"],
                int(row["n"]),
                {name: int(value) for name, value in config.items()},
                {name: row.get(name) or "" for name in CONDITIONS},
                values,
                dict(counts.get(tuple(row[name] for name in KEY), ())),
            )
        )
    return found


def choose(cards: Sequence[ProfileCard], kernel: str, config: Mapping[str, int], n: int | None) -> ProfileCard | None:
    """The card of this kernel and configuration at the size nearest to n (default: CARD_N); None if there is none."""
    mine = [card for card in cards if card.kernel == kernel and dict(card.config) == dict(config)]
    return min(mine, key=lambda card: abs(card.n - (n or CARD_N)), default=None)
