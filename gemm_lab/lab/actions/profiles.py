"""The profile of a Kernel: a recorded card, or what is predicted and what the machine code shows without one."""

from __future__ import annotations

from collections.abc import Sequence

from gemm_lab.config import data_dir
from gemm_lab.lab.actions.mix import instruction_mix
from gemm_lab.lab.actions.predicting import attempted, reference
from gemm_lab.lab.here import RECORDED_ON, here
from gemm_lab.lab.launchable import Launchable
from gemm_results.cards.predicted_card import Predicted
from gemm_results.cards.profile_card import Profile
from gemm_results.errors import LabError
from gemm_results.profile import source_hash
from gemm_results.recorded_cards import CARD_N, ProfileCard, choose, read_cards
from gpu_simulator.errors import NotHere
from gpu_simulator.hardware import data_sheets as hardware
from gpu_timing.cycles.constants_file import known


def profile(
    kernel: Launchable,
    other: Launchable | None,
    n: int | None = None,
    on: str | None = None,
) -> Profile:
    """The profile of a kernel and of `other`: their recorded cards at the size nearest to n (default: 4096).

    Without a recorded card of the kernel, both are predicted at n. on: the GPU whose cards are used.
    """
    arch = here().arch if _tuned_for_this_gpu(kernel) else kernel.taught_gpu().arch
    predicted: list[Predicted | None] = [None, None]
    recorded = _recorded_on(on, kernel) if on else _recorded()
    card = _card(recorded, kernel, n)
    note = _stale(kernel, card) if card else f"There is no recorded card of {kernel.label}."
    card_before = other and _card(recorded, other, card.n if card else n) or None
    if card is None:
        arch, predicted, missing = _predicted(kernel, other, n, on, arch)
        shown = missing or "All numbers of this card are predicted from the machine code."
        note += f" {shown} Below is what the machine code shows without one." if missing else f" {shown}"
    elif card_before and (card_before.n != card.n or card_before.conditions["gpu"] != card.conditions["gpu"]):
        card_before = None
    try:
        mixes = [one and instruction_mix(one, arch if one.spec.written_for(arch) else None) for one in (kernel, other)]
    except NotHere:  # the recorded card says most of it without machine code
        if card is None:
            raise
        mixes = [None, None]
    foreign = card and kernel.taught_gpu().key not in card.conditions["gpu"].lower().split()
    return Profile(
        kernel.label,
        other.label if other else None,
        card,
        card_before,
        *mixes,
        note,
        kernel.taught_gpu().name if foreign else "",
        mixes[0].executed(card.n, works(kernel, card.n)) if card and mixes[0] else None,
        *predicted,
    )


def _predicted(
    kernel: Launchable, other: Launchable | None, n: int | None, on: str | None, arch: str
) -> tuple[str, list[Predicted | None], str]:
    """(architecture, the predictions of both, "") for the GPU `on` or a reference; or (arch, nothing, why not)."""
    present = here().gpu
    key = on or (present.key if present and present.key in known() else reference(kernel))
    found = attempted(kernel, key, n or CARD_N)
    if isinstance(found, str) or found.gap:
        missing = found if isinstance(found, str) else f"It is not modelled, because {found.gap}."
        return arch, [None, None], missing
    before = attempted(other, key, n or CARD_N) if other else None
    return hardware.gpu(key).arch, [found, before if isinstance(before, Predicted) else None], ""


def works(kernel: Launchable, n: int) -> int:
    """How many tiles of D are computed at n × n × n: one for each block or, if blocks are persistent, their total."""
    x, y, z = kernel.grid(n, n, n)
    if not kernel.block or not any("SMS" in extent for extent in kernel.spec.grid):
        return x * y * z
    block_m, block_n = kernel.block
    return -(-n // block_m) * -(-n // block_n)


def _tuned_for_this_gpu(kernel: Launchable) -> bool:
    """Whether the configuration is that for the GPU here, and differs from the default one."""
    return bool(
        kernel.runs_here()
        and here().gpu
        and kernel.config == kernel.spec.configure(here().gpu.key) != kernel.spec.configure()
    )


def _recorded() -> list[ProfileCard]:
    """The cards of the GPU here, and those of `RECORDED_ON` for kernels and configurations that have none here."""
    found: list[ProfileCard] = []
    for key in dict.fromkeys([here().gpu.key, RECORDED_ON] if here().gpu else [RECORDED_ON]):
        known = [(card.kernel, card.config) for card in found]
        cards = read_cards(data_dir("results") / "profiles" / key)
        found += [card for card in cards if (card.kernel, card.config) not in known]
    return found


def _recorded_on(name: str, kernel: Launchable) -> list[ProfileCard]:
    """All cards of the GPU `name`. Raises `LabError` if none is of this kernel, and none can be predicted for it."""
    folder = data_dir("results") / "profiles"
    cards = read_cards(folder / hardware.gpu(name).key)
    if _card(cards, kernel, None) or hardware.gpu(name).key in known():
        return cards
    there = [part.name for part in sorted(folder.iterdir()) if _card(read_cards(part), kernel, None)]
    raise LabError(
        f"No card of {kernel.label} was recorded on {hardware.gpu(name).name}; "
        f"there are cards of it from: {', '.join(there) or 'none'}."
    )


def _card(cards: Sequence[ProfileCard], kernel: Launchable, n: int | None) -> ProfileCard | None:
    return None if kernel.edited else choose(cards, kernel.name, kernel.config, n)


def _stale(kernel: Launchable, card: ProfileCard) -> str:
    if source_hash(kernel.compile(card.conditions["arch"])) == card.conditions["source"]:
        return ""
    return f"The card was recorded with an earlier version of {kernel.name}: profile it again before you rely on it."
