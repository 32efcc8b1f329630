"""`gemm-lab`: the commands of the lab for a terminal.

The exit code is 0 if everything succeeded, 1 if something that was run is wrong, and 2 if it could not be run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from pathlib import Path

from gemm_lab import __version__
from gemm_lab.config import BACKENDS
from gemm_lab.lab import export
from gemm_results.errors import LabError
from gpu_simulator.cli.command_line import add_options, kernels_of
from gpu_simulator.cli.command_line import run as simulate_file
from gpu_simulator.cli.terminal import exit_code
from gpu_simulator.errors import SimulatorError


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return the exit code. An error of the lab gives one sentence on stderr and exit code 2."""

    def command() -> int:
        options = _parser(sys.argv[1:] if arguments is None else arguments).parse_args(arguments)
        return options.command(options)

    return exit_code("gemm-lab", command)


def _parser(words: list[str]) -> argparse.ArgumentParser:
    """The commands. words: of the command line, whose file's kernels are shown with the help of `simulate`."""
    parser = argparse.ArgumentParser(prog="gemm-lab", description="Kernels, measurements and notebooks of gemm_lab.")
    parser.add_argument("--version", action="version", version=f"gemm-lab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, run, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(command=run)
        return command

    add("doctor", doctor, "say what works on this machine, what does not, and what to type").add_argument(
        "--json", action="store_true"
    )
    add("list", list_kernels, "list the kernels").add_argument("--json", action="store_true")

    def sized(command: argparse.ArgumentParser, n: int) -> None:
        command.add_argument("-n", type=int, default=n, help="default: %(default)s")
        command.add_argument("-m", type=int, help="default: n")
        command.add_argument("-k", type=int, help="default: n")

    def configured(command: argparse.ArgumentParser) -> None:
        command.add_argument("--set", dest="settings", action="append", default=[], metavar="BLOCK_K=32")

    run = add("run", run_kernels, "compile, launch, check and time kernels")
    run.add_argument("name", help="a kernel, a ladder, or all")
    sized(run, 512)
    run.add_argument("--backend", choices=BACKENDS, default=None)
    configured(run)
    run.add_argument("--verify", action="store_true", help="check only, do not time")
    run.add_argument("--yes", action="store_true", help="also run kernels that take minutes on the simulator")
    run.add_argument(
        "--exact",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="simulated tensor cores sum as those of the GPU do, to the bit; default: for FP8 only",
    )
    run.add_argument("--json", action="store_true")

    predict = add("predict", predict_kernel, "predict the speed of a kernel on a GPU that is not here")
    predict.add_argument("name", help="a kernel")
    predict.add_argument("--on", default="h200", metavar="GPU", help="default: %(default)s")
    sized(predict, 4096)
    configured(predict)

    calibrate = add("calibrate", calibrate_model, "measure constants of the predicted times on the GPU here")
    calibrate.add_argument("--into", type=Path, metavar="FILE", help="write the GPU's constants, with those measured")

    simulate = add(
        "simulate", simulate_kernel, "run any .cu or .ptx file on the simulator and show what each line cost"
    )
    add_options(simulate)
    simulate.formatter_class = argparse.RawDescriptionHelpFormatter
    simulate.epilog = kernels_of(words) if {"-h", "--help"} & set(words) else None
    simulate.set_defaults(counts=True)

    baselines = (
        "libraries to compare the rungs with: cublas, cublaslt_best, of 8 bits cublaslt_fp8_fast, cublaslt_fp8 and "
        "cublaslt_fp8_blocks, inductor (needs torch), cutlass_sm75, cutlass_sm80 (need nvcc and the extra cutlass); "
        "default: those that the ladder names"
    )
    bench = add("bench", bench_ladder, "time a ladder and its baselines in turn")
    bench.add_argument("ladder")
    bench.add_argument("--sizes", type=_sizes, default=None, metavar="2048,4096")
    bench.add_argument(
        "--baselines", type=lambda text: text.split(","), default=None, metavar="cublas,inductor", help=baselines
    )
    bench.add_argument("--regime", choices=("sustained", "burst"), default="sustained")
    bench.add_argument("--rounds", type=int, default=None, help="default: 30, in bursts 10")
    bench.add_argument("--json", action="store_true")

    opened = add("lab", open_lab, "open the notebooks in JupyterLab; they are copied into a folder of yours first")
    opened.add_argument(
        "into", type=Path, nargs="?", default=Path("gemm_lab_notebooks"), metavar="FOLDER", help="default: %(default)s"
    )
    opened.add_argument("--port", type=_port, default=8888, help="the next free one if it is taken; default: 8888")
    opened.add_argument("--no-browser", action="store_true", help="print the address only")

    copied = add(
        "notebooks", copy_notebooks, "copy the notebooks, and the pictures and documents they use, into a folder"
    )
    copied.add_argument("into", type=Path, metavar="FOLDER")

    export = add("export", export_kernel, "write one standalone .cu file that nvcc builds")
    export.add_argument("name")
    export.add_argument("-o", "--output", type=Path, default=None, help="default: standard output")
    export.add_argument(
        "--arch",
        metavar="sm_120a",
        help="for which GPU; default: the one here if the kernel runs on it, or its ladder's",
    )
    configured(export)

    serve = add("serve", serve_gpus, "share this machine's GPUs with other machines: one queue, one worker per GPU")
    addresses = "%(default)s, for this machine alone; 0.0.0.0: all of its addresses, which needs a roster"
    serve.add_argument("--host", default="127.0.0.1", help=f"address on which to listen; default: {addresses}")
    serve.add_argument("--port", type=_port, default=8786)
    serve.add_argument("--roster", type=Path, metavar="students.csv", help="one name per line; each gets a token")
    serve.add_argument(
        "--certificate", type=Path, metavar="FILE", help="this server's, in PEM; the address then begins with https://"
    )
    serve.add_argument("--key", type=Path, metavar="FILE", help="the certificate's private key")
    serve.add_argument("--backend", choices=BACKENDS, default="auto")
    serve.add_argument("--workers", type=int, default=None, help="default: one per GPU, or one if there is no GPU")
    return parser


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of sizes such as 2048,4096") from None


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, 0 to 65535")
    return int(text)


# ---- Commands ---------------------------------------------------------------


def doctor(options) -> int:
    """Print what works on this machine and what does not; exit code 1 if something necessary is missing."""
    from gemm_lab.lab.doctor import examine

    findings = examine()
    if options.json:
        print(json.dumps([f.__dict__ for f in findings], indent=2))
    else:
        for finding in findings:
            print(f"{'ok  ' if finding.ok else 'MISS' if finding.needed else 'none'}  {finding.what}: {finding.detail}")
            if finding.remedy:
                print(f"        {finding.remedy}")
    return 0 if all(f.ok or not f.needed for f in findings) else 1


def list_kernels(options) -> int:
    """Print all kernels, and whether each runs on this machine's GPU; as JSON with their ladders and targets."""
    from gemm_lab import catalog
    from gemm_lab.lab import here

    arch = here().arch
    rows = []
    for k in catalog.kernels().values():
        own = {name: getattr(k, name) for name in ("name", "ladder", "targets", "summary")}
        rows.append(own | {"runs_here": arch is not None and k.written_for(arch)})
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for row in rows:
            print(f"{row['name']:32} {'runs here' if row['runs_here'] else '         '}  {row['summary']}")
    return 0


def run_kernels(options) -> int:
    """Compile, launch, check and time kernels; exit code 1 if one fails."""
    from gemm_lab import catalog
    from gemm_lab.lab import kernel
    from gemm_lab.lab.run import FIELDS
    from gemm_lab.source_text import parse_settings

    settings = parse_settings(options.settings)
    if options.name == "all":
        names = list(catalog.kernels())
    elif options.name in catalog.ladders():
        names = [k.name for k in catalog.ladder(options.name).kernels]
    else:
        names = [catalog.kernel(options.name).name]
    m, n, k = (options.m or options.n), options.n, (options.k or options.n)
    results = []
    for name in _progress(names, "run", options.json):
        try:
            run = kernel(name, **settings).run(
                n, m, k, backend=options.backend, timed=not options.verify, sure=options.yes, exact=options.exact
            )
            results.append(run.as_dict())
            if not options.json:
                print(run)
        except SimulatorError as error:
            failed = {"kernel": name, "m": m, "n": n, "k": k, "passed": False, "error": str(error)}
            results.append(dict.fromkeys(FIELDS) | failed)
            if not options.json:
                print(f"FAIL  {name}  {error}")
    if options.json:
        print(json.dumps(results, indent=2))
    return 0 if results and all(r["passed"] for r in results) else 1


def predict_kernel(options) -> int:
    """Print the predicted cycles, speed and stall reasons of a kernel, and how far such predictions were off."""
    from gemm_lab.lab import kernel
    from gemm_lab.source_text import parse_settings

    print(kernel(options.name, **parse_settings(options.settings)).predict(options.on, options.n, options.m, options.k))
    return 0


def calibrate_model(options) -> int:
    """Print the constants of the time model that were measured on the GPU here, and write them into a file."""
    from gpu_timing import calibration

    gpu, found = calibration.calibrate(lambda names: _progress(names, "calibrate", False))
    print(calibration.report(gpu, found))
    if options.into is not None:
        _write(options.into, calibration.file_of(gpu, found))
    return 0


def simulate_kernel(options) -> int:
    """Run a CUDA or PTX file on the simulator; print its output, the costs of its lines and its hazards."""
    from gemm_lab.config import cache_dir, data_dir
    from gemm_lab.lab.on_simulator import still_at_work

    most = options.max_seconds
    with still_at_work(f"{options.file}" + (f", for {most:g} seconds at most" if most is not None else "")):
        return simulate_file(options, [data_dir("kernels") / "include"], cache_dir() / "compiled")


def bench_ladder(options) -> int:
    """Time a ladder and its baselines; print a table or JSON."""
    from gemm_lab.lab import ladder
    from gemm_lab.lab.ladder import SIZES

    bench = ladder(options.ladder).bench(
        options.sizes or SIZES,
        regime=options.regime,
        rounds=options.rounds,
        baselines=options.baselines,
        progress=not options.json,
    )
    print(json.dumps(bench.as_dicts(), indent=2) if options.json else bench)
    return 0


def copy_notebooks(options) -> int:
    """Copy the notebooks, their pictures and the files they link to into the learner's folder."""
    from gemm_lab.notebook_files import copy_series

    copies = copy_series(options.into)
    print(f"{len(copies)} notebooks; open them with: jupyter lab {copies[0]}")
    return 0


def open_lab(options) -> int:
    """Open JupyterLab on the notebooks in the learner's folder. What is missing there is copied, the rest is kept."""
    from gemm_lab import trust
    from gemm_lab.notebook_files import copy_series
    from gpu_runner.settings import install_command

    if importlib.util.find_spec("jupyterlab") is None:
        raise LabError(f"JupyterLab is not installed here; this adds it: {install_command('lab')}")
    copies = copy_series(options.into, keep=True)
    folder = options.into.resolve()
    trust.main([str(folder / "notebooks")])

    from jupyterlab.labapp import LabApp  # last: it takes a second to load

    # The terminals and cells of this JupyterLab find the commands of the environment that it runs in.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    words = [f"--ServerApp.root_dir={folder}", f"--LabApp.default_url=/lab/tree/notebooks/{copies[0].name}"]
    words += [f"--port={options.port}", *["--no-browser"] * options.no_browser]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")  # Jupyter refuses to start as root, which is who one is in most containers
    LabApp.launch_instance(words)
    return 0


def export_kernel(options) -> int:
    """Write a kernel as one standalone .cu file, to a file or to standard output."""
    from gemm_lab.lab import here, kernel
    from gemm_lab.source_text import parse_settings

    made = kernel(options.name, **parse_settings(options.settings))
    arch = options.arch or (here().arch if made.runs_here() else None)
    text = export.standalone(made.spec, made.config, made.source, arch)
    if options.output is None:
        print(text)
    else:
        _write(options.output, text)
    return 0


def serve_gpus(options) -> int:
    """Serve this machine's GPUs through a queue until the command is stopped."""
    import asyncio

    try:
        from gemm_lab_classroom.gateway.serve import Place, environments, serve
    except ModuleNotFoundError as error:
        if error.name != "gemm_lab_classroom":
            raise
        raise LabError("The server of a class is a package of its own: `pip install gemm_lab_classroom`.") from None

    place = Place(options.host, options.port, options.roster, options.certificate, options.key)
    asyncio.run(serve(place, environments(options.backend, options.workers), _say))
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror}.") from None
    print(path)


def _say(text: str) -> None:
    print(text, flush=True)


def _progress(items, title: str, quiet: bool):
    if quiet or len(items) < 2 or not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    return tqdm(items, desc=title, leave=False)


if __name__ == "__main__":
    sys.exit(main())
