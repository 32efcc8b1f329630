"""`python -m tools.opcodes --record FOLDER [--simulator]`: all cases into opcodes.npz, all rules into rules.json."""

from __future__ import annotations

import argparse
import sys
import time

import gpu_runner as device
from gpu_simulator.errors import SimulatorError
from tools.opcodes.cases import all_cases
from tools.opcodes.recording import on_gpu, on_simulator, record
from tools.rules.rule import all_rules
from tools.rules.rule import record as record_rules


def main() -> int:
    """Record the cases on the GPU, or with --simulator run them there. Returns 1 if a case was not recorded."""
    parser = argparse.ArgumentParser(prog="python -m tools.opcodes", description=__doc__)
    parser.add_argument("--record", metavar="FOLDER", required=True, help="where opcodes.npz is written")
    parser.add_argument("--simulator", action="store_true", help="use the simulator, to try the recorder without a GPU")
    parser.add_argument("names", nargs="*", help="only these cases")
    chosen = parser.parse_args()
    if not chosen.simulator and not device.available():
        print(device.why_not(), file=sys.stderr)
        return 1
    begun = time.monotonic()
    try:
        path, failed = record(chosen.record, on_simulator if chosen.simulator else on_gpu, chosen.names or None)
    except SimulatorError as error:
        print(error, file=sys.stderr)
        return 1
    for name, why in failed.items():
        print(f"Not recorded: {name}: {why}", file=sys.stderr)
    count = len(chosen.names or all_cases()) - len(failed)
    print(f"{count} cases in {time.monotonic() - begun:.0f} s: {path}, {path.stat().st_size:,} bytes")
    if not chosen.simulator and not chosen.names:
        print(f"{len(all_rules())} rules: {record_rules(chosen.record)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
