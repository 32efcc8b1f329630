"""The sizes of the site that README.md names, as the last `make site RECORD=1` found them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gemm_results.errors import LabError

FILE = Path(__file__).with_name("sizes.json")
MEGABYTE = 1_000_000


def write(counts: Any, sizes: Mapping[str, float]) -> None:
    """Keep what a build has found. sizes: in MB, by the part of the site. Raises `LabError` for a site without all."""
    if set(sizes) != {"book", "live", "lite"}:
        raise LabError("Only the sizes of a whole site are recorded: make site WASM_WHEELS=FOLDER RECORD=1.")
    found = {"pages": counts.pages, "book MB": round(sizes["book"]), "whole MB": round(sum(sizes.values()))}
    found |= {f"{name} MB": round(size / MEGABYTE) for name, size in counts.loads.items()}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def number(what: str) -> str:
    """A figure of the site as text. Raises `LabError` for one that is not recorded."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    if what not in known:
        raise LabError(f"Of the site there are {', '.join(known)}, not “{what}”.")
    return str(known[what])
