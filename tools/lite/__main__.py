"""`python -m tools.lite build/site/lite --wheels FOLDER` writes JupyterLite with the lab into a folder.

The live page goes into the folder `live` beside it, because both use the same compiler.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.lite.build import build
from tools.live import __main__ as live


def both(into: Path, wheels: Path | None, cache: Path) -> dict[str, int]:
    """Build the live page and JupyterLite; the bytes of what JupyterLite loads, by name."""
    beside = into.resolve().with_name("live")
    live.build(beside, wheels, cache)
    return build(into, beside, wheels, cache)


def main(arguments: list[str] | None = None) -> int:
    """Build both; exit code 1 and a sentence if something is missing."""
    return live.main(arguments, "tools.lite", "JupyterLite", both)


if __name__ == "__main__":
    sys.exit(main())
