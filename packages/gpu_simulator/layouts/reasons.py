"""Says in words why a warp's access costs what it costs: strides, colliding lanes, sectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gpu_simulator.hardware.banks import BANK_BYTES, BANKS, LANES_OF_A_PHASE, LINE_BYTES, SECTOR_BYTES
from gpu_simulator.layouts.recorded_accesses import GlobalAccess, SharedAccess
from gpu_simulator.machine.counting import NOT_ACTIVE

LISTED = 4  # lanes or words that are listed


def shared_reason(access: SharedAccess, matrices: bool = False) -> str:
    """Why the dearest row of an instruction takes its wavefronts, in one or two sentences.

    matrices: it is ldmatrix or stmatrix, whose lanes give the addresses of rows.
    """
    costs = access.costs()
    lanes = (access.rows != NOT_ACTIVE).sum(1)
    least = np.maximum(-(-lanes * access.width // LINE_BYTES), 1)
    chosen = int(np.argmax((costs - least) * access.counts))
    row, cost, free = access.rows[chosen], int(costs[chosen]), int(least[chosen])
    if access.sources is not None:
        return (
            f"A warp's copies go to places {_stride(row, 'apart')} and take {_counted(cost, 'wavefront')}; "
            f"{free} would do if each wavefront filled whole lines of {LINE_BYTES} bytes."
        )
    phase, lanes_there, bank, words = _worst_phase(row, access.width)
    each = LANES_OF_A_PHASE[access.width]
    who = "Neighbouring rows" if matrices else "Neighbouring lanes"
    begin = ""
    if matrices:
        begin = "ldmatrix and stmatrix take eight rows of 16 bytes at a time, each named by a lane. "
    elif each < 32:
        begin = f"With {access.width} bytes a lane, a warp is served {each} lanes at a time. "
    several = _counted(len(words), "different word", "different words")
    sentence = (
        f"{begin}{who} are {_stride(row[phase], 'apart')}, so {listed(lanes_there, 'lane')} "
        f"need {several} of bank {bank} ({listed(words, 'word')}), and a bank gives one word at a time"
    )
    return f"{sentence}: {_counted(cost, 'wavefront')} for one access of a warp, where {free} would do."


def global_reason(access: GlobalAccess) -> str:
    """Why the dearest row of an instruction touches its sectors, in one sentence; "" if it touches the least."""
    taken, least = access.sectors(), access.least()
    chosen = int(np.argmax((taken - least) * access.counts))
    row, cost, free = access.rows[chosen], int(taken[chosen]), int(least[chosen])
    if cost <= free:
        return ""
    active = row[row != NOT_ACTIVE]
    size = len(np.unique(active)) * access.width
    steps = set(np.diff(active).tolist())
    ends = f"{cost} sectors of {SECTOR_BYTES} bytes, where {free} would do"
    if steps == {access.width} or steps == {-access.width}:
        late = int(active.min()) % SECTOR_BYTES
        return (
            f"The {size} bytes of a warp begin {late} bytes after a multiple of {SECTOR_BYTES}, so they touch {ends}."
        )
    return f"Neighbouring lanes are {_stride(row, 'apart', words=False)}, so the {size} bytes of a warp lie in {ends}."


def _worst_phase(row: np.ndarray, width: int) -> tuple[slice, list[int], int, list[int]]:
    """(lanes of a phase, those that use its most contended bank, this bank, its words there), of one row."""
    each, parts = LANES_OF_A_PHASE[width], max(width // BANK_BYTES, 1)
    best: tuple[slice, list[int], int, list[int]] = (slice(0, each), [], 0, [])
    for start in range(0, len(row), each):
        lanes = [lane for lane in range(start, start + each) if row[lane] != NOT_ACTIVE]
        users: dict[int, dict[int, int]] = {}  # bank -> word -> first lane
        for lane in lanes:
            for word in range(int(row[lane]) // BANK_BYTES, int(row[lane]) // BANK_BYTES + parts):
                users.setdefault(word % BANKS, {}).setdefault(word, lane)
        for bank, words in sorted(users.items()):
            if len(words) > len(best[3]):
                best = slice(start, start + each), list(words.values()), bank, list(words)
    return best


def _stride(row: np.ndarray, after: str, words: bool = True) -> str:
    """The distance between neighbouring lanes, in words: "32 words (128 bytes) apart", or "at no fixed distance"."""
    active = row[row != NOT_ACTIVE]
    steps = np.abs(np.diff(active))
    if not len(steps):
        return "alone"
    if len(set(steps.tolist())) > 1:
        values, counts = np.unique(steps, return_counts=True)
        often = int(values[counts.argmax()])
        if counts.max() * 2 <= len(steps) or not often:
            return "at no fixed distance from one another"
        return f"mostly {_distance(often, words)} {after}"
    return f"{_distance(int(steps[0]), words)} {after}"


def _distance(step: int, words: bool) -> str:
    if words and step % BANK_BYTES == 0:
        return f"{_counted(step // BANK_BYTES, 'word')} ({step:,} bytes)"
    return _counted(step, "byte")


def _counted(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def listed(numbers: Sequence[int] | Iterable[int], one: str) -> str:
    """Numbers in words, such as "lanes 0, 1, 2 … 31"; only a few of many."""
    items = [f"{number:,}" for number in numbers]
    name = one if len(items) == 1 else one + "s"
    if len(items) > LISTED:
        return f"{name} {', '.join(items[: LISTED - 1])} … {items[-1]}"
    return f"{name} {', '.join(items)}"
