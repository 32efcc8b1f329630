"""python -m tools.recording COMMAND: what this machine's GPU does, into results/.

speeds       check and time ladders beside their baselines, for results/measured/<gpu>.csv (`make record`)
counters     hardware counters and profile cards from Nsight Compute, for results/profiles/<gpu>
ablations    each idea of a rung left out in turn, for results/ablations/<gpu>.csv
tiles        which tile and which order of blocks is fastest at each size, for results/tuned/<gpu>.csv
timelines    the clock of the GPU wherever a kernel waits, for results/timelines/<gpu>
decode       products with few rows of A beside cuBLAS, for results/decode/<gpu>.csv
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab.lab import here, ladder
from gemm_lab.lab.ladder import measured_ladders
from gemm_lab.source_text import parse_settings
from gemm_results.errors import LabError
from gemm_results.recorded_cards import CARD_N
from gemm_results.results import path_for
from gpu_simulator.cli.terminal import exit_code
from tools.recording.ablations import record_ablations
from tools.recording.counters import PARTS, record_profiles
from tools.recording.decode import record_decode
from tools.recording.speeds import record
from tools.recording.tiles import record_tiles
from tools.recording.timelines import record_timelines


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit code: 0 only if everything was recorded."""

    def command() -> int:
        options = _parser().parse_args(arguments)
        return options.command(options)

    return exit_code("tools.recording", command)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.recording", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(command=run)
        return command

    def words(text: str) -> list[str]:
        return text.split(",")

    speeds = add("speeds", record_speeds, "check and measure ladders; the rows go to results/measured/<gpu>.csv")
    speeds.add_argument("ladders", nargs="*", help="default: all that this GPU runs")
    speeds.add_argument("--sizes", type=_sizes, default=None, metavar="2048,4096")
    speeds.add_argument("--baselines", type=words, default=None, metavar="cublas,inductor")
    speeds.add_argument("--regimes", type=words, default=["sustained", "burst"])
    speeds.add_argument("--rounds", type=int, default=None, help="default: 30, in bursts 10")
    speeds.add_argument("--only", type=words, default=[], metavar="08_ping_pong", help="rungs; default: all")
    speeds.add_argument("--into", type=Path, default=None, help="folder for the CSV file")

    counters = add("counters", record_counters, "record hardware counters with ncu")
    counters.add_argument("names", nargs="*", help="ladders or kernels; default: all ladders")
    counters.add_argument("--what", type=words, default=list(PARTS), metavar=",".join(PARTS), help="default: all three")
    counters.add_argument("-n", type=int, default=CARD_N, help=f"size of the cards; default: {CARD_N}")
    counters.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="GROUP_M=1", help="a setting, for cards"
    )
    counters.add_argument("--into", type=Path, default=None, help="default: results/profiles/<gpu>")
    counters.add_argument("--raw", type=Path, default=None, help="folder in which ncu's files for the cards are kept")

    ablations = add("ablations", ablations_of, "time each rung without each of its ideas, for results/ablations")
    ablations.add_argument("ladders", nargs="*", help="default: all that this GPU runs")
    ablations.add_argument("--sizes", type=_sizes, default=[4096, 8192], metavar="4096,8192")
    ablations.add_argument("--regimes", type=words, default=["sustained", "burst"])
    ablations.add_argument("--rounds", type=int, default=None)
    ablations.add_argument("--into", type=Path, default=None, help="folder for the CSV file")

    tiles = add("tiles", tiles_of, "sweep tiles and orders of blocks of a ladder's last source, for results/tuned")
    tiles.add_argument("ladder")
    tiles.add_argument("--sizes", type=_sizes, default=[2048, 4096, 8192, 16384], metavar="2048,4096")
    tiles.add_argument("--rounds", type=int, default=None)
    tiles.add_argument("--into", type=Path, default=None, help="folder for the CSV file")

    timelines = add("timelines", lambda options: record_timelines(options.kernels, options.into), "record timelines")
    timelines.add_argument("kernels", nargs="+")
    timelines.add_argument("--into", type=Path, default=data_dir("results") / "timelines", help="folder of the GPUs")

    decode = add("decode", decode_of, "time products with few rows of A, for results/decode")
    decode.add_argument("--into", type=Path, default=None, help="folder for the CSV files")

    return parser


def _sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def record_speeds(options) -> int:
    """Measure ladders for results/measured; exit code 1 if a kernel's result is wrong."""
    done = record(
        here(),
        options.ladders,
        sizes=options.sizes,
        regimes=options.regimes,
        rounds=options.rounds,
        baselines=options.baselines,
        only=options.only,
        into=options.into,
        say=lambda text: print(text, file=sys.stderr),
    )
    print(done)
    return 0 if done.passed else 1


def ablations_of(options) -> int:
    """Time the ablations for results/ablations."""
    print(record_ablations(here(), options.ladders, options.sizes, options.regimes, options.rounds, options.into))
    return 0


def tiles_of(options) -> int:
    """Sweep the tiles of a ladder for results/tuned."""
    print(record_tiles(here(), ladder(options.ladder), options.sizes, options.rounds, options.into))
    return 0


def decode_of(options) -> int:
    """Time products with few rows for results/decode."""
    print(record_decode(here(), options.into))
    return 0


def record_counters(options) -> int:
    """Record counters of Nsight Compute for results/profiles; print the paths of the files."""
    unknown = [part for part in options.what if part not in PARTS]
    if unknown:
        raise LabError(f"--what has no part {', '.join(unknown)}; its parts are {','.join(PARTS)}.")
    where = here()
    if not where.usable:
        raise LabError(f"Nothing can be profiled here: {where.reason}")
    names = [
        kernel.name
        for name in options.names or measured_ladders()
        for kernel in (catalog.ladder(name).kernels if name in catalog.ladders() else [catalog.kernel(name)])
    ]
    recorded = data_dir("results") / "profiles" / path_for(where.present).stem
    into, settings = options.into or recorded, parse_settings(options.settings)
    for path in record_profiles(into, names, where, options.what, options.n, recorded, options.raw, settings):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
