"""The constants of a GPU: latencies in cycles, rates in bytes or operations per cycle, each with its source.

`constants/<gpu>.csv` has the columns name, value, unit, source. A source begins with "measured" (a benchmark or a
recorded run), "published", "derived" (from a data sheet), "fitted" (chosen so that recorded kernels come out right), or
"assumed". A file whose first row is `based_on,h200` holds what differs from that GPU; the rest counts as assumed.
`gemm-lab calibrate` of the package gemm_lab measures some of them on the GPU that is here.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from gpu_simulator.errors import SimulatorError

FOLDER = Path(__file__).parent / "constants"
BASED_ON = "based_on"


@dataclass(frozen=True)
class Constants:
    """The constants of one GPU. `of[name]` gives a value; an unknown name raises `SimulatorError`."""

    gpu: str
    values: dict[str, float] = field(hash=False)
    sources: dict[str, str] = field(hash=False, repr=False)

    def __getitem__(self, name: str) -> float:
        try:
            return self.values[name]
        except KeyError:
            raise SimulatorError(f"constants/{self.gpu}.csv has no {name}.") from None


def known() -> list[str]:
    """The keys of the GPUs that have constants."""
    return sorted(path.stem for path in FOLDER.glob("*.csv"))


@lru_cache
def constants(gpu: str) -> Constants:
    """The constants of a GPU, given its key ("h200"). Raises `SimulatorError` that lists the known ones."""
    path = FOLDER / f"{gpu}.csv"
    if not path.is_file():
        raise SimulatorError(f"There are no constants of {gpu!r}; predictions exist for {', '.join(known())}.")
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    values: dict[str, float] = {}
    sources: dict[str, str] = {}
    if rows[0]["name"] == BASED_ON:
        base = rows.pop(0)["value"]
        values |= constants(base).values
        sources |= dict.fromkeys(values, f"assumed: as on the {base.upper()}")
    values |= {row["name"]: float(row["value"]) for row in rows}
    sources |= {row["name"]: row["source"] for row in rows}
    return Constants(gpu, values, sources)
