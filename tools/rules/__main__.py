"""`python -m tools.rules --record FOLDER`: run every rule on the GPU at hand and write rules.json."""

from __future__ import annotations

import argparse
import sys

from gpu_simulator.errors import SimulatorError
from tools.rules.rule import all_rules, record


def main() -> int:
    """Returns 1 without a GPU, or if a rule does not compile."""
    parser = argparse.ArgumentParser(prog="python -m tools.rules", description=__doc__)
    parser.add_argument("--record", metavar="FOLDER", required=True, help="where rules.json is written")
    chosen = parser.parse_args()
    try:
        path = record(chosen.record)
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(all_rules())} rules: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
