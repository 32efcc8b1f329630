"""Settings of a kernel as a user types them: `--set BLOCK_K=32`, in a terminal or after `%%kernel`."""

from __future__ import annotations

from gpu_simulator.errors import ConfigError


def parse_settings(items: list[str]) -> dict[str, int]:
    """["BLOCK_K=32"] → {"BLOCK_K": 32}. Raises `ConfigError` for text of another form."""
    settings = {}
    for item in items:
        name, _, value = item.partition("=")
        try:
            settings[name.strip()] = int(value)
        except ValueError:
            raise ConfigError(f"“{item}” is not a setting; write for example BLOCK_K=32.") from None
    return settings
