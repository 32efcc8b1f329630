"""What a profile card suggests: a short list of rules, each with the counters that it is based on.

A rule gives a finding only if its counter was recorded and exceeds its threshold. The thresholds are our choice; they
decide what is worth mentioning, not what is true.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gemm_results.recorded_cards import ProfileCard
from gemm_results.stalls import Stall
from gpu_timing.machine_code.instruction_classes import INTEGER, TENSOR

WORTH_A_SENTENCE = 0.15  # share of a warp's time
CONFLICTED = 1.1  # wavefronts divided by ideal wavefronts
NEARLY_FULL_PCT = 80.0
SCATTERED = 1.25  # sectors of a load divided by those that its bytes would fill
WIDEST_BYTES = 16  # per lane
FEW_LOCAL = 0.005  # share of the executed instructions
PIPES = {
    "tensor_pipe_pct": "tensor pipe",
    "alu_pipe_pct": "integer pipe (ALU)",
    "fma_pipe_pct": "FMA pipe",
    "lsu_pipe_pct": "load/store pipe",
}


@dataclass(frozen=True)
class Finding:
    """One or two sentences, and the sources of their numbers, mostly columns of cards.csv."""

    text: str
    rests_on: tuple[str, ...]


def findings(card: ProfileCard, load_bytes: int | None = None) -> list[Finding]:
    """What the card suggests, most important first; empty if nothing stands out or nothing was counted.

    load_bytes: bytes per lane of the global loads of the main loop, if all have the same width.
    """
    if (full := tensor_cores(card)) is not None:
        return [full] + [found for rule in RULES if (found := rule(card))]
    large = [stall for stall in _states(card)[:2] if (card.share(stall) or 0) >= WORTH_A_SENTENCE]
    return [_state(card, stall, load_bytes) for stall in large] + [found for rule in RULES if (found := rule(card))]


def _states(card: ProfileCard) -> list[Stall]:
    waiting = [stall for stall in card.stalls if stall.key not in ("selected", "misc")]
    return sorted(waiting, key=lambda stall: -(card.share(stall) or 0))


def _state(card: ProfileCard, stall: Stall, load_bytes: int | None) -> Finding:
    """The finding on a state in which warps spend much time, with its cause if other counters show it."""
    cycles, share = card.stalls[stall], card.share(stall) or 0.0
    said = (
        f"{stall.label.capitalize() if stall.label.islower() else stall.label}, {share:.0%} of a warp's time "
        f"({cycles:.1f} of {card.stall_cycles:.1f} cycles an instruction): it waits for {stall.waits_for}. "
    )
    why, columns = _cause(card, stall, load_bytes)
    return Finding(said + (why or f"What helps: {stall.helps}."), (stall.column, *columns))


def _cause(card: ProfileCard, stall: Stall, load_bytes: int | None) -> tuple[str, tuple[str, ...]]:
    """(text, columns): the cause of this state according to other counters; ("", ()) if they show none."""
    degree, sectors = card.conflict_degree, card.sectors_per_request
    if stall.key in ("mio_throttle", "short_scoreboard") and degree is not None:
        columns = ("wavefronts", "ideal_wavefronts")
        if degree >= CONFLICTED:
            return (
                f"Bank conflicts feed it: {degree:.1f} wavefronts where 1 would do. What helps: a layout without "
                "conflicts, by padding or a swizzle."
            ), columns
        return f"Not bank conflicts, the conflict degree is {degree:.2f}. What helps: {stall.helps}.", columns
    if stall.key in ("long_scoreboard", "lg_throttle") and load_bytes:
        if sectors is not None and sectors > SCATTERED * load_bytes:
            return (
                f"A global load of {load_bytes} bytes a lane takes {sectors:.1f} sectors where {load_bytes} would "
                "do, because neighbouring lanes read addresses that are far apart. What helps: coalescing."
            ), ("load_sectors", "load_requests")
        if load_bytes < WIDEST_BYTES:
            return (
                f"A global load brings {32 * load_bytes} bytes to a warp where 512 are possible. What helps: loads "
                "of 16 bytes a lane, several in flight before the first use."
            ), ("machine code",)
    pipes = {column: card[column] for column in PIPES if card[column] is not None}
    if stall.key == "math_pipe_throttle" and pipes:
        column = max(pipes, key=pipes.__getitem__)
        busy = f"The busiest pipe is the {PIPES[column]}, in {pipes[column]:.0f} % of cycles"
        if pipes[column] >= NEARLY_FULL_PCT:
            return f"{busy}: nearly its limit.", (column,)
        return (
            f"{busy}, so its instructions come in bursts. What helps: other instructions between them, and warps "
            "that do not reach them together."
        ), (column,)
    if stall.key == "long_scoreboard" and card.opcodes.get("SYNCS") and not any(map(card.opcodes.get, ("LDG", "LD"))):
        return (
            "The kernel's warps load nothing from global memory themselves, so they wait at mbarriers (SYNCS) until "
            "a tile has arrived or is released. What helps: more stages, or fewer threads that poll."
        ), ("executed.csv",)
    return "", ()


def tensor_cores(card: ProfileCard) -> Finding | None:
    """Finds tensor cores that are nearly always busy with wgmma; the warps' waiting then costs no time."""
    busy = card["tensor_pipe_pct"]
    if busy is None or busy < NEARLY_FULL_PCT or not _warpgroups(card):
        return None
    return Finding(
        f"The tensor cores work in {busy:.0f} % of cycles: nearly their limit. Warps wait meanwhile, and "
        "where they do says little about time. What helps: a last wave that is full, a shorter start and "
        "end.",
        ("tensor_pipe_pct",),
    )


def issue(card: ProfileCard) -> Finding | None:
    """Finds schedulers that issue in nearly every cycle."""
    busy = card["issue_slots_pct"]
    if busy is None or busy < NEARLY_FULL_PCT:
        return None
    said = f"The schedulers issue in {busy:.0f} % of cycles. What helps: fewer instructions."
    return Finding(said, ("issue_slots_pct",))


def addresses(card: ProfileCard) -> Finding | None:
    """Finds many integer instructions per tensor instruction: addresses that could be computed once."""
    tensor, integer = card.classes.get(TENSOR), card.classes.get(INTEGER, 0)
    if not tensor or integer < 0.25 * tensor or _warpgroups(card):
        return None
    return Finding(
        f"{integer / tensor:.2f} integer and address instructions for each tensor instruction; they take "
        "issue slots. What helps: addresses computed once before the loop and stepped by an addition or an "
        "XOR.",
        ("executed.csv",),
    )


def _warpgroups(card: ProfileCard) -> bool:
    """Whether the kernel uses wgmma. One such instruction keeps the tensor cores busy for many issue slots."""
    return any(opcode.split(".")[0] in ("HGMMA", "IGMMA", "QGMMA", "BGMMA") for opcode in card.opcodes)


def spills(card: ProfileCard) -> Finding | None:
    """Finds accesses to local memory, which mostly are spilled registers, if they are more than FEW_LOCAL."""
    count = sum(n for opcode, n in card.opcodes.items() if opcode.split(".")[0] in ("LDL", "STL"))
    if count < FEW_LOCAL * sum(card.opcodes.values()) or not count:
        return None
    return Finding(
        f"{count:,} accesses to local memory: registers that were spilled, or an array with an index known "
        "only at run time. What helps: smaller warp tiles, unrolled loops.",
        ("executed.csv",),
    )


def last_wave(card: ProfileCard) -> Finding | None:
    """Finds a last wave that leaves many of the GPU's places for blocks empty."""
    waves = card["waves"]
    rounds = -(-waves // 1) if waves else 0
    if not waves or waves / rounds > 0.8:
        return None
    idle = 1 - waves / rounds
    of_rounds = f"{rounds:.0f} rounds" if rounds > 1 else "one round"
    return Finding(
        f"The grid is {waves:.2f} waves of resident blocks: {idle:.0%} of the places in its {of_rounds} "
        "stay empty. What helps: another tile size, split K, or a persistent kernel.",
        ("waves",),
    )


def memory(card: ProfileCard) -> Finding | None:
    """Finds DRAM that works near its peak."""
    busy = card["dram_pct"]
    if busy is None or busy < NEARLY_FULL_PCT:
        return None
    return Finding(
        f"DRAM works at {busy:.0f} % of its peak. What helps: larger block tiles, a block order that keeps "
        "tiles in L2.",
        ("dram_pct",),
    )


RULES: tuple[Callable[[ProfileCard], Finding | None], ...] = (issue, addresses, spills, last_wave, memory)
