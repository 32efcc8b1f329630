"""`python -m gemm_lab`: the command line, as `gemm-lab`."""

import sys

from gemm_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
