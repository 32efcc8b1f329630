"""`python -m tools.figures [FOLDER]` writes all pictures into images/, or into FOLDER."""

import sys

from gemm_lab import config
from tools.figures import save_all

if __name__ == "__main__":
    for path in save_all(sys.argv[1] if len(sys.argv) > 1 else config.data_dir("images")):
        print(f"{path.stat().st_size / 1000:6.1f} kB  {path.name}")
