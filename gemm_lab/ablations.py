"""The ideas of a rung, each with what the kernel would be without it: the entries `[[ablation]]` of a ladder.toml.

[[ablation]]
rung    = "08_ping_pong"                # the rung that has the idea
idea    = "the consumers take turns"
without = { STORE_N = 16 }              # settings without the idea
replace = [["old text", "new text"]]    # the source without the idea; each old text stands in it once
instead = "ampere/10_steady_addresses"  # or another rung that lacks the idea, with the settings of this one
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpu_simulator.errors import ConfigError

_KEYS = {"rung", "idea", "without", "replace", "instead"}


@dataclass(frozen=True)
class Idea:
    """One sub-change of a rung. rung: its name without the ladder. The other fields: see the head of this file."""

    rung: str
    idea: str
    without: Mapping[str, int]
    replace: tuple[tuple[str, str], ...]
    instead: str = ""

    def source_without(self, source: str) -> str:
        """The source without the idea. Raises `ConfigError` if a text that is replaced does not stand in it once."""
        for old, new in self.replace:
            if source.count(old) != 1:
                raise ConfigError(
                    f"The ablation “{self.idea}” of {self.rung} replaces “{old.strip().splitlines()[0]}…”, which "
                    f"stands {source.count(old)} times in the source; it has to stand there once."
                )
            source = source.replace(old, new)
        return source


def read_ideas(entries: Iterable[Mapping[str, Any]], rungs: Iterable[str], where: str) -> tuple[Idea, ...]:
    """The ideas of a ladder from the tables of its file. where: the file, for messages. Raises `ConfigError`."""
    found, names = [], set(rungs)
    for entry in entries:
        idea = Idea(
            str(entry.get("rung", "")),
            str(entry.get("idea", "")),
            entry.get("without", {}),
            tuple((old, new) for old, new in entry.get("replace", ())),
            entry.get("instead", ""),
        )
        told = bool(idea.instead) != bool(idea.without or idea.replace)
        if set(entry) - _KEYS or idea.rung not in names or not idea.idea or not told:
            raise ConfigError(
                f"{where}: an ablation names its rung (“{idea.rung}”), its idea (“{idea.idea}”) and what the kernel "
                f"would be without it: settings in `without` and pairs of texts in `replace`, or a rung in `instead`."
            )
        found.append(idea)
    return tuple(found)
