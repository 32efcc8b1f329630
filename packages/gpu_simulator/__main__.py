"""`python -m gpu_simulator FILE.cu`: the command line."""

import sys

from gpu_simulator.cli.command_line import main

if __name__ == "__main__":
    sys.exit(main())
