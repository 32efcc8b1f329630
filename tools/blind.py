"""Blind trials of the predicted times: variants that nobody has measured are drawn, predicted, then recorded.

    python -m tools.blind draw --seed 1 --count 72     # results/blind/1/variants.csv
    python -m tools.blind predict 1                    # predicted.csv, base.csv: to be committed before the next step
    python -m tools.blind record 1                     # recorded.csv, on a GPU with Nsight Compute
    python -m tools.blind score 1                      # the table of errors, and how often the order is right
    python -m tools.blind predict published            # the ladders that others have printed, on GPUs that are not here
    python -m tools.blind score published
    python -m tools.blind rungs                        # the recorded rungs, for results/predicted/<gpu>.csv
    python -m tools.blind bursts                       # their speeds at all sizes, for results/predicted/bursts.csv

Predictions are written once. `predict published --into FILE` and `score published --predicted FILE` show what a later
state of the model says, which has seen the figures.

A variant is a rung with other settings, without one of its ideas (the `[[ablation]]` entries of its ladder), or with an
edit that a learner makes, at one of several sizes. Those that do not compile or cannot be launched are drawn again; no
variant has a recorded card.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab.lab.actions.ablating import without
from gemm_lab.lab.actions.predicting import attempted, prediction
from gemm_lab.lab.here import Here, here
from gemm_lab.lab.kernel import Kernel
from gemm_lab.measure.known_speeds import BURSTS
from gemm_lab.source_text import parse_settings
from gemm_results import published_trials, results
from gemm_results.blind_trials import KEY, direction, errors, ranking, recorded_rungs, trials
from gemm_results.errors import LabError
from gemm_results.profile import read_rows
from gemm_results.recorded_cards import CARD_METRICS, ProfileCard
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.occupancy import occupancy
from gpu_timing.cycles.constants_file import known
from tools.recording.cards import config_text, record_cards, write_rows

FAMILIES = ("simt", "first_kernels", "t4", "ampere", "wmma", "rtx5090", "hopper")
ARCH, GPU = "sm_90a", "h200"
TESTED = (GPU, "h100")  # a campaign is predicted for both, and recorded on either
PUBLISHED = "published"
TRIES = 30  # candidates of a ladder before it is taken to have no new variant
SIZES = (2048, 3072, 4096, 6144)
CHOICES = {
    "BLOCK_M": (64, 128, 192, 256),
    "BLOCK_N": (64, 96, 128, 192, 256),
    "BLOCK_K": (8, 16, 32, 64, 128),
    "NUM_WARPS_M": (1, 2, 4),
    "NUM_WARPS_N": (1, 2, 4),
    "NUM_STAGES": (2, 3, 4, 5, 6),
    "GROUP_M": (1, 4, 8, 16),
    "WARP_M": (32, 64),
    "WARP_N": (32, 64),
    "THREAD_M": (4, 8),
    "THREAD_N": (4, 8),
    "STORE_N": (32, 64),
}
# What a learner tries: a pattern of the source, and what replaces its first occurrence.
EDITS = {
    "a doubled barrier": (r"__syncthreads\(\);", "__syncthreads(); __syncthreads();"),
    "no unrolling": (r"#pragma unroll\n", "#pragma unroll 1\n"),
    "a wait for all copies": (r"cp_async_wait<[^>]+>\(\)", "cp_async_wait<0>()"),
    "a swizzle less": (r"\^ \(?(?:row|lane)\b[^;,)]*\)?", ""),
}


@dataclass(frozen=True)
class Variant:
    """One trial. idea: of the rung, left out; edit: a key of `EDITS`; both may be empty."""

    kernel: str
    config: str
    n: int
    idea: str = ""
    edit: str = ""

    def made(self) -> Kernel:
        """The kernel of the trial. Raises `LabError` if it cannot be made."""
        kernel = lab.kernel(self.kernel, **parse_settings(self.config.split()))
        if self.idea:
            ideas = [one for one in catalog.ladder(kernel.spec.ladder).ideas if one.idea == self.idea]
            kernel = without(kernel, ideas[0])
        if self.edit:
            pattern, text = EDITS[self.edit]
            if not re.search(pattern, kernel.source):
                raise LabError(f"{self.kernel} has nothing to edit for {self.edit}.")
            kernel = kernel.rewrite(re.sub(pattern, text, kernel.source, count=1))
        return kernel


def draw(seed: int, count: int) -> list[Variant]:
    """`count` variants, as many of each family as possible, none of a smaller seed; the same seed gives the same."""
    chance = random.Random(seed)
    recorded = {(row["kernel"], row["config"], int(row["n"])) for row in cards()}
    earlier = [one for other in range(1, seed) for one in read_variants(other)]
    found: list[Variant] = []
    families = list(FAMILIES)
    while len(found) < count and families:
        family = families.pop(0)
        for _ in range(TRIES):
            one = _candidate(chance, family)
            new = one not in found and one not in earlier and (one.kernel, one.config, one.n) not in recorded
            if new and launchable(one):
                found.append(one)
                families.append(family)  # a ladder that has nothing new to offer is left out from then on
                break
    return found


def _candidate(chance: random.Random, family: str) -> Variant:
    ladder = catalog.ladder(family)
    name = chance.choice([spec.name for spec in ladder.kernels])
    kernel = lab.kernel(name)
    config = dict(kernel.config)
    n = chance.choice(SIZES)
    kind = chance.choice(("settings", "settings", "idea", "edit"))
    ideas = [idea for idea in ladder.ideas if name.endswith("/" + idea.rung)]
    if kind == "idea" and ideas:
        return Variant(name, config_text(config), n, idea=chance.choice(ideas).idea)
    if kind == "edit":
        return Variant(name, config_text(config), n, edit=chance.choice(sorted(EDITS)))
    changed = [setting for setting in config if setting in CHOICES]
    for setting in chance.sample(changed, min(len(changed), chance.choice((1, 2, 3)))):
        config[setting] = chance.choice(CHOICES[setting])
    return Variant(name, config_text(config), n)


def launchable(one: Variant) -> bool:
    """Whether a variant compiles for the GPU of the trials, fits onto an SM and takes the size."""
    try:
        kernel = one.made()
        kernel.spec.require_size(kernel.config, one.n, one.n, one.n)
        compiled = kernel.compile(ARCH)
        return occupancy(GPU, compiled.threads, compiled.registers, compiled.smem).blocks > 0
    except (SimulatorError, ValueError):
        return False


def cards(gpu: str = GPU) -> list[dict[str, str]]:
    """The recorded cards of a GPU, by default of that of the trials."""
    return read_rows(data_dir("results") / "profiles" / gpu / "cards.csv")


def folder_of(campaign: int | str) -> Path:
    """Where the trials of a seed lie, or the published ladders."""
    return data_dir("results") / "blind" / str(campaign)


def read_variants(seed: int) -> list[Variant]:
    """The variants that were drawn with a seed."""
    return [
        Variant(row["kernel"], row["config"], int(row["n"]), row["idea"], row["edit"])
        for row in read_rows(folder_of(seed) / "variants.csv")
    ]


def rungs_of(variants: Sequence[Variant]) -> list[Variant]:
    """The recorded rungs of the same kernels at the same sizes, with the settings of their cards."""
    wanted = {(one.kernel, one.n) for one in variants}
    recorded = [Variant(row["kernel"], row["config"], int(row["n"])) for row in cards()]
    return [one for one in recorded if (one.kernel, one.n) in wanted]


def predict(variants: Sequence[Variant], gpu: str = GPU) -> list[dict[str, object]]:
    """A row for each variant, with its predicted cycles and stall reasons, or why there is no prediction."""
    with ProcessPoolExecutor(2) as pool:
        found = pool.map(predicted, variants, [gpu] * len(variants))
        return [vars(one) | {"gpu": gpu} | row for one, row in zip(variants, found, strict=True)]


def predict_rungs() -> None:
    """Predict every recorded card of each GPU with constants, and write results/predicted/<gpu>.csv."""
    for gpu in known():
        if rungs := [Variant(row["kernel"], row["config"], int(row["n"])) for row in cards(gpu)]:
            rows = [
                {name: row[name] for name in row if name not in ("idea", "edit", "gpu")} for row in predict(rungs, gpu)
            ]
            write_rows(data_dir("results") / "predicted" / f"{gpu}.csv", rows)


def bursts() -> list[tuple[str, str, str, int]]:
    """(GPU, kernel, configuration, n) of every rung that was recorded in a burst, where its products are large."""
    return [
        (gpu, row.kernel, row.config, row.n)
        for gpu in TESTED
        for row in results.recorded(gpu)
        if row.regime == "burst" and row.kernel.split("/")[0] in FAMILIES and row.m == row.n == row.k >= min(SIZES)
    ]


def predicted_burst(row: tuple[str, str, str, int]) -> dict[str, object]:
    """The row of bursts.csv; `tflops` is empty where a card has none: the model fails, or does not see what decides."""
    gpu, name, config, n = row
    found = attempted(lab.kernel(name, **parse_settings(config.split())), gpu, n)
    speed = "" if isinstance(found, str) or found.gap else f"{2e-12 * n**3 / found.prediction.seconds:.4g}"
    return {"gpu": gpu, "kernel": name, "config": config, "n": n, "tflops": speed}


def predict_bursts() -> None:
    """Predict every recorded burst, and write results/predicted/bursts.csv."""
    with ProcessPoolExecutor(2) as pool:
        write_rows(data_dir("results") / "predicted" / BURSTS, list(pool.map(predicted_burst, bursts())))


def predicted(one: Variant, gpu: str = GPU) -> dict[str, object]:
    """The predicted cycles, main stall reason and busiest unit of a variant, or why there is no prediction."""
    try:
        found = prediction(one.made(), gpu, one.n, one.n, one.n)
    except SimulatorError as error:
        return {"cycles": "", "top_stall": "", "unit": "", "failed": str(error)}
    return {"cycles": round(found.cycles), "top_stall": found.top_reason, "unit": found.binding[0], "failed": ""}


def predict_published() -> list[dict[str, object]]:
    """A row for each step in `published/steps.csv`, with its predicted cycles and TFLOPS."""
    steps = read_rows(folder_of(PUBLISHED) / "steps.csv")
    kernels = {(row["kernel"], row["gpu"], row["n"]) for row in steps}
    with ProcessPoolExecutor(2) as pool:
        found = dict(zip(sorted(kernels), pool.map(_predicted_step, sorted(kernels)), strict=True))
    return [row | found[row["kernel"], row["gpu"], row["n"]] for row in steps]


def _predicted_step(step: tuple[str, str, str]) -> dict[str, object]:
    name, gpu, size = step
    spec, n = lab.kernel(name).spec, int(size)
    config = spec.configure(gpu)
    found = prediction(lab.kernel(name, **config), gpu, n, n, n)
    speed = 2 * n**3 / found.seconds / 1e12
    return {
        "config": config_text(config),
        "cycles": round(found.cycles),
        "clock_mhz": round(found.clock_mhz),
        "tflops": round(speed, 1),
    }


COLUMNS = ("cycles", "duration_ns", *(name for name in CARD_METRICS if name.startswith("stall_")))


def record(seed: int, into: Path) -> int:
    """Record the variants on the GPU here and append a row for each to `into`; returns how many are missing.

    Rows that are there already are kept. A variant that fails is tried alone, and written with the reason.
    """
    where = here()
    done = read_rows(into) if into.is_file() else []
    seen = {tuple(row[name] for name in KEY) for row in done}
    todo = [one for one in read_variants(seed) if tuple(str(vars(one)[name]) for name in KEY) not in seen]
    groups: dict[tuple[str, int], list[Variant]] = {}
    for one in todo:
        groups.setdefault((one.kernel.split("/")[0], one.n), []).append(one)
    for (_, n), group in sorted(groups.items(), key=lambda item: item[0][1]):
        try:
            cards = _cards(group, where, n)
        except SimulatorError:
            cards = [_alone(one, where, n) for one in group]
        for one, card in zip(group, cards, strict=True):
            found = (
                {"failed": card} if isinstance(card, str) else {name: card[name] for name in COLUMNS} | {"failed": ""}
            )
            done.append(vars(one) | {"gpu": where.present.name} | found)
        write_rows(into, done)
        print(f"{len(done)} rows", flush=True)
    return sum(1 for row in done if row["failed"])


def _cards(group: list[Variant], where: Here, n: int) -> list[ProfileCard]:
    with tempfile.TemporaryDirectory() as scratch:
        return record_cards([one.made() for one in group], where, Path(scratch), n, timeout_s=240)


def _alone(one: Variant, where: Here, n: int) -> ProfileCard | str:
    try:
        return _cards([one], where, n)[0]
    except SimulatorError as error:
        return str(error)[:200]


def score(seed: int) -> str:
    """A table of the campaign's errors, the smallest first, a line for each ladder, and the shares in right order."""
    mine = sorted((one for one in trials() if one.campaign == str(seed)), key=lambda one: abs(one.error))
    rungs = recorded_rungs(folder_of(seed) / "base.csv", cards())
    rows = [
        f"{one.error:+8.1%} {one.recorded / 1e6:9.3f} {one.kernel:30} {one.n:5} {one.change or one.config}"
        + ("" if one.stall[0] == one.stall[1] else f"   {one.stall[0]}, not {one.stall[1]}")
        for one in mine
    ]
    for family in FAMILIES:
        if found := errors(one for one in mine if one.family == family):
            rows.append(f"{family:14} {found}")
    if found := errors(mine):
        rows.append(f"{'all':14} {found}; top stall right in {found.same_stall:.0%}")
        rows.append(f"{'direction':14} {direction(mine, rungs)}")
        rows.append(f"{'ranking':14} {ranking(mine)}")
    return "\n".join(rows)


def score_published(predicted: Path | None = None) -> str:
    """A table of the published steps: speeds, their errors, the errors of the ratios to the step before.

    predicted: a file of later predictions, in place of the frozen ones.
    """
    found = published_trials.steps(predicted=predicted)
    pairs = published_trials.ratios(found)
    before = {one.after: one for one in pairs}
    rows = [f"{'':30} {'':>8} {'n':>5} {'predicted':>10} {'published':>10} {'error':>8} {'error of the ratio':>20}"]
    for one in found:
        ratio = before.get(one)
        rows.append(
            f"{one.source + ' ' + one.step:42.42} {one.gpu:8} {one.n:5} {one.predicted:10.1f} {one.published:10.1f} "
            f"{one.error:+8.1%} {f'{ratio.error:+.1%}' if ratio else '':>10}"
        )
    for key in (*dict.fromkeys(one.gpu for one in found), None):
        mine = [one for one in found if key in (one.gpu, None)]
        mine_pairs = [one for one in pairs if key in (one.gpu, None)]
        right, clear = published_trials.right_direction(mine_pairs)
        rows.append(
            f"{key or 'all':8} ratios: {published_trials.summary(mine_pairs)}, direction right in {right} of {clear}; "
            f"TFLOPS: {published_trials.summary(mine)}"
        )
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.blind", description="Blind trials of the predicted times.")
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="draw variants that were never measured")
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--count", type=int, default=72)
    for name, text in (
        ("predict", "predict them"),
        ("record", "record them here with Nsight Compute"),
        ("score", "compare"),
    ):
        commands.add_parser(name, help=text).add_argument("campaign", help="a seed, or: published")
    for name in ("predict", "record"):
        commands.choices[name].add_argument("--into", type=Path, default=None, help="the CSV file of the rows")
    commands.choices["score"].add_argument(
        "--predicted", type=Path, default=None, help="later predictions of published"
    )
    commands.add_parser("rungs", help="predict all recorded rungs, for results/predicted/<gpu>.csv")
    commands.add_parser("bursts", help="predict all recorded bursts, for results/predicted/bursts.csv")
    options = parser.parse_args(arguments)
    if options.command in ("rungs", "bursts"):
        (predict_rungs if options.command == "rungs" else predict_bursts)()
        return 0
    if options.command == "draw":
        found = draw(options.seed, options.count)
        write_rows(folder_of(options.seed) / "variants.csv", [vars(one) for one in found])
        print(f"{len(found)} variants in {folder_of(options.seed)}")
        return 0
    if options.campaign != PUBLISHED and not options.campaign.isdigit():
        parser.error(f"There is no campaign {options.campaign!r}; it is a seed such as 1, or {PUBLISHED}.")
    if options.command == "record" and options.campaign == PUBLISHED:
        parser.error("The published ladders run on GPUs that are not here; record the variants of a seed instead.")
    if options.command == "score":
        print(score_published(options.predicted) if options.campaign == PUBLISHED else score(int(options.campaign)))
        return 0
    if options.command == "record":
        return record(int(options.campaign), options.into or folder_of(options.campaign) / "recorded.csv")
    into = options.into or folder_of(options.campaign) / "predicted.csv"
    if into.exists():
        parser.error(f"The predictions in {into.name} of this campaign are frozen; name another file with --into.")
    if options.campaign == PUBLISHED:
        write_rows(into, predict_published())
        return 0
    variants = read_variants(int(options.campaign))
    write_rows(into, [row for gpu in TESTED for row in predict(variants, gpu)])
    if options.into is None:
        write_rows(into.with_name("base.csv"), predict(rungs_of(variants)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
