"""`python -m tools.figures [FOLDER]` writes all pictures into images/, or into FOLDER."""

import argparse
from pathlib import Path

from gemm_lab import config
from tools.figures import save_all

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.figures", description="Draw every figure as a PNG file.")
    parser.add_argument("folder", nargs="?", type=Path, default=config.data_dir("images"), help="default: images/")
    for path in save_all(parser.parse_args().folder):
        print(f"{path.stat().st_size / 1000:6.1f} kB  {path.name}")
