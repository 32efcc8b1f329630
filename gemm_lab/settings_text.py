"""Settings of a kernel as they are typed: `--set BLOCK_K=32`, in a terminal and behind `%%kernel`."""

from __future__ import annotations

from gpu_simulator.errors import ConfigError


def parse_settings(items: list[str]) -> dict[str, int]:
    """["BLOCK_K=32"] → {"BLOCK_K": 32}; a `ConfigError` for anything else."""
    settings = {}
    for item in items:
        name, _, value = item.partition("=")
        try:
            settings[name.strip()] = int(value)
        except ValueError:
            raise ConfigError(f"“{item}” is not a setting; write for example BLOCK_K=32.") from None
    return settings
