"""The puzzles of notebook 04 about counting: banks, wavefronts, groups of lanes, a whole kernel.

What a warp's access takes is compared with the counts of `recorded_accesses`, and for other addresses with the model
`hardware.banks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import Missed, call, expect, expect_all, spelled
from gemm_lab_lessons.ch04.recorded_accesses import (
    RecordedAccess,
    recorded_accesses,
    recorded_kernel,
    recorded_on,
)
from gpu_simulator.argument_checks import shown
from gpu_simulator.hardware import banks as model

LANES = range(32)
LOADS = ("ld.shared.u32", "ld.shared.v2.u32", "ld.shared.v4.u32")
STORES = ("st.shared.u32", "st.shared.v2.u32", "st.shared.v4.u32")
MATRICES = ("ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x4.trans", "stmatrix.x2", "stmatrix.x4")
Cases = Iterable[tuple[tuple[Any, ...], Any, str]]  # arguments, the right value, a sentence for who missed it


def _try_all(answer: Callable[..., Any], cases: Cases) -> int:
    return sum(1 for args, wanted, why in cases if expect(answer, args, wanted, why) is not ...)


def _told(access: RecordedAccess) -> str:
    count = f"{access.wavefronts} wavefront{'s' * (access.wavefronts != 1)}"
    return f"These are the addresses “{access.pattern}”, {access.width} bytes a lane; an H200 took {count} for them."


# ---- One address, two addresses, 32 addresses ----


@register_law(
    "04_bank",
    title="The bank of an address",
    task="Write `bank(address)`: the number of the bank, 0 to 31, in which the byte at this address lies.",
    hint="A bank is 4 bytes wide, so first find the number of the word. Words are dealt out to the 32 banks in turn: "
    "word 0 to bank 0, word 31 to bank 31, word 32 to bank 0 again.",
    cases=[(a,) for a in (0, 4, 64, 124, 128, 132, 3, 127, 131, 4096, 4100, *range(0, 2048, 36), 48 * 1024 - 1)],
    tried="addresses tried",
)
def bank(address: int) -> Right:
    return address // 4 % 32, f"Byte {address} belongs to word {address // 4}."


def _pairs() -> Iterator[tuple[int, int]]:
    """Addresses in the same word, in neighbouring words and in words of one bank, and random ones."""
    random = np.random.default_rng(4)
    yield from ((0, 4), (0, 128), (0, 0), (4, 132), (0, 64), (128, 128), (124, 128), (260, 4), (8, 12_296))
    yield from ((4 * a, 4 * b) for a, b in random.integers(0, 96, (100, 2)).tolist())
    yield from ((4 * word, 4 * word) for word in random.integers(0, 4096, 10).tolist())
    yield from ((0, 2), (129, 131), (1, 130), (3, 4), *map(tuple, random.integers(0, 384, (100, 2)).tolist()))


@register_law(
    "04_conflict",
    title="A conflict of two lanes",
    task="Write `conflict(a, b)`: True if two lanes that read the bytes at the addresses a and b cannot be served in "
    "the same pass, False if they can.",
    hint="There are two conditions, and both must hold: the same bank, but not the same word. Your function bank gives "
    "the first. For the second, an address has to become the number of its word, because a word has four addresses.",
    cases=list(_pairs()),
    tried="pairs of addresses tried",
)
def conflict(a: int, b: int) -> Right:
    one, other = a // 4, b // 4
    if a == b:
        return False, f"Both lanes ask for word {one}, and a word that is handed out goes to all who asked."
    if one == other:
        return False, f"The addresses differ, but both bytes lie in word {one}, which is handed out whole."
    where = f"Address {a} is word {one} in bank {one % 32}, address {b} is word {other} in bank {other % 32}."
    if one % 32 == other % 32:
        return True, where
    return False, f"{where} Two banks can each hand out a word in the same pass."


@register(
    "04_wavefronts",
    title="The wavefronts of a warp",
    task="Write `wavefronts(addresses)`: how many passes over the banks it takes until every lane has the 4-byte "
    "word at its address.",
    hint="Collect the different words that each bank is asked for. In every pass a bank hands out one of them, so the "
    "bank with most of them decides. A Python set drops what is asked for twice.",
)
def wavefronts(answer: Callable[[list[int]], int]) -> Facts:
    """Compares with recorded loads and stores of 4 bytes a lane, then with the model for fewer lanes."""
    first: Cases = [
        (([4 * lane for lane in LANES],), 1, "Each bank is asked for one word, so one pass serves all lanes."),
        (([8 * lane for lane in LANES],), 2, "Lanes 0 and 16 ask for the words 0 and 32, both in bank 0."),
        (([128 * lane for lane in LANES],), 32, "The 32 words all lie in bank 0."),
        (([0 for _ in LANES],), 1, "All lanes ask for the same word, and a bank hands it to any number of lanes."),
        (([256 * (lane % 4) for lane in LANES],), 4, "Bank 0 is asked for four different words, each by eight lanes."),
    ]
    _try_all(answer, first)
    recorded = recorded_accesses(LOADS[0], STORES[0])
    _try_all(answer, (((list(a.addresses),), a.wavefronts, _told(a)) for a in recorded))
    tried = _try_all(answer, _some_lanes())
    loads = sum(a.instruction == LOADS[0] for a in recorded)
    return [
        ("recorded loads that agree", f"{loads} of {loads}"),
        ("recorded stores that agree", f"{len(recorded) - loads} of {len(recorded) - loads}"),
        ("recorded on", recorded_on()),
        ("other accesses tried", str(tried)),
    ]


def _some_lanes() -> Cases:
    """Random accesses of which some lanes have no part: a condition of the kernel has left them out."""
    random = np.random.default_rng(44)
    for lanes in (1, 2, 5, 8, 17, 31, 32):
        for words in (8, 64, 500):
            addresses = (4 * random.integers(0, words, lanes)).tolist()
            wanted = int(model.wavefronts(np.array([addresses]), 4)[0])
            yield (addresses,), wanted, f"Here {lanes} of the 32 lanes take part."


# ---- Strides ----


_RANDOM = np.random.default_rng(12)


@register_law(
    "04_stride",
    title="The conflict of a stride",
    task="Write `stride_wavefronts(stride, banks)`: lane i reads word stride · i, and there are as many lanes as "
    "banks. How many wavefronts? `banks` is a power of two.",
    hint="After how many lanes are you back at bank 0? Ask math.gcd what the stride and the number of banks have in "
    "common. And with stride 0?",
    cases=[
        *((stride, 32) for stride in range(1, 34)),
        *((stride, banks) for banks in (4, 8, 16) for stride in range(1, 20)),
        *((0, 32), (0, 8)),
        *((stride, 8 << number % 4) for number, stride in enumerate(_RANDOM.integers(34, 10**6, 40).tolist())),
        *((96, 32), (1024, 32), (1056, 64), (48, 16)),
    ],
    tried="strides tried",
)
def stride_wavefronts(stride: int, banks: int) -> Right:
    asked = [word % banks for word in {stride * lane for lane in range(banks)}]
    why = f"Lane 1 asks bank {stride % banks}, lane 2 bank {2 * stride % banks}."
    return max(map(asked.count, asked)), why if stride else "All lanes ask for word 0."


# ---- Wide accesses ----


@register(
    "04_groups",
    title="Who is served together",
    task="Write `groups(width)`: a list of groups, each a list of the lanes that are served together, if a lane reads "
    "width bytes (4, 8 or 16).",
    hint="A group has as many lanes as ask for 128 bytes together: 128 // width of them, with neighbouring numbers. "
    "range(start, end, step) gives the first lane of every group.",
)
def groups(answer: Callable[[int], list[list[int]]]) -> Facts:
    """Compares with `LANES_OF_A_PHASE`; a range counts as the list of its lanes."""

    @wraps(answer)
    def as_lists(width: int) -> Any:
        value = returned[width]
        plain = isinstance(value, (list, tuple))
        return [list(lanes) if isinstance(lanes, range) else lanes for lanes in value] if plain else value

    def why(width: int) -> str:
        return f"{128 // width} lanes of {width} bytes ask for 128 bytes, which is what 32 banks give in one pass."

    returned = {width: call(answer, width) for width in (4, 8, 16)}
    each = {width: model.LANES_OF_A_PHASE[width] for width in returned}
    wanted = {width: [list(LANES[i : i + k]) for i in range(0, 32, k)] for width, k in each.items()}
    expect_all(as_lists, [((width,), lanes) for width, lanes in wanted.items()], why)
    return [(f"{width} bytes a lane", f"{len(lanes)} × {len(lanes[0])} lanes") for width, lanes in wanted.items()]


@register(
    "04_wide",
    title="The wavefronts of wide accesses",
    task="Write `wide_wavefronts(addresses, width)`: the wavefronts of a warp whose 32 lanes each access `width` bytes "
    "(4, 8 or 16) from their address on.",
    hint="Take the groups one after the other and add up. Within a group it is the rule that you know. "
    "But a lane of 16 bytes asks for four words: at its address, and 4, 8 and 12 bytes behind it.",
)
def wide_wavefronts(answer: Callable[[list[int], int], int]) -> Facts:
    """Compares with recorded stores, and random accesses; says how many recorded loads agree."""
    first: Cases = [
        (([4 * i for i in LANES], 4), 1, "With 4 bytes a lane there is one group, and each bank is asked once."),
        (([8 * i for i in LANES], 8), 2, "Two groups of 16 lanes, and in each every bank is asked for one word."),
        (([16 * i for i in LANES], 16), 4, "Four groups of 8 lanes, and in each every bank is asked for one word."),
        (([0 for _ in LANES], 16), 4, "In each of the four groups the lanes ask for the same four words."),
        (([128 * i for i in LANES], 16), 32, "In each group, eight lanes ask bank 0 for eight different words."),
        (([16 * (i // 8) for i in LANES], 16), 4, "In each group, all lanes ask for the same four words."),
        (([1024 * (i // 16) + 8 * (i % 16) for i in LANES], 8), 2, "Only lanes of one group can have a conflict."),
    ]
    _try_all(answer, first)
    stores, loads = recorded_accesses(*STORES), recorded_accesses(*LOADS)
    _try_all(answer, (((list(a.addresses), a.width), a.wavefronts, _told(a)) for a in stores))
    tried = _try_all(answer, _random_accesses())
    fewer = [a for a in loads if call(answer, list(a.addresses), a.width) != a.wavefronts]
    names = "; ".join(
        f"{', '.join(a.pattern for a in fewer if a.width == width)} ({width} bytes a lane)"
        for width in dict.fromkeys(a.width for a in fewer)
    )
    return [
        ("recorded stores that agree", f"{len(stores)} of {len(stores)}"),
        ("recorded loads that agree", f"{len(loads) - len(fewer)} of {len(loads)}"),
        *([("loads that took fewer on the GPU, see below", names)] if fewer else []),
        ("recorded on", recorded_on()),
        ("other accesses tried", str(tried)),
    ]


def _random_accesses() -> Cases:
    random = np.random.default_rng(48)
    for width in (4, 8, 16):
        for places in (8, 40, 200):
            for _ in range(4):
                addresses = (width * random.integers(0, places, 32)).tolist()
                yield (addresses, width), int(model.wavefronts(np.array([addresses]), width)[0]), ""


@register(
    "04_ldmatrix",
    title="The wavefronts of ldmatrix",
    task="Write `ldmatrix_wavefronts(rows)`: the wavefronts of an ldmatrix. `rows` has the byte addresses of 8, 16 or "
    "32 rows of 16 bytes, 8 for each matrix.",
    hint="Lane i names row i, and eight rows are one matrix, which is a group. So the matrices never disturb each "
    "other, and each is counted as you counted the groups of a 16-byte access.",
)
def ldmatrix_wavefronts(answer: Callable[[list[int]], int]) -> Facts:
    """Compares with every recorded `ldmatrix` and `stmatrix`."""
    first: Cases = [
        (([16 * i for i in range(8)],), 1, "Eight rows side by side ask each bank for one word."),
        (([16 * i for i in LANES],), 4, "Four matrices without a conflict are four wavefronts."),
        (([128 * i for i in range(8)],), 8, "The eight rows all ask the banks 0 to 3, each for another word."),
        (([0 for _ in range(16)],), 2, "The eight rows of each of the two matrices are the same 16 bytes."),
    ]
    _try_all(answer, first)
    recorded = recorded_accesses(*MATRICES)
    _try_all(answer, (((list(a.addresses),), a.wavefronts, f"{a.instruction}: {_told(a)}") for a in recorded))
    facts = []
    for kind in ("ldmatrix", "stmatrix"):
        count = sum(a.instruction.startswith(kind) for a in recorded)
        facts.append((f"recorded {kind} that agree", f"{count} of {count}"))
    return [*facts, ("recorded on", recorded_on())]


# ---- A whole kernel ----

STORED = 256 * 64 * 2 // 128 + 64 * 128 * 2 // 128  # wavefronts of the stores of one step
READ_A, READ_B = 2 * 256, 4 * 128  # without conflicts: A's tile is read by 2 columns of warps, B's by 4 rows of warps


@register(
    "04_paper",
    title="A whole kernel on paper",
    task="Write `kernel_wavefronts(n)`: all wavefronts of `t4/02_vectorized_copy` at n × n × n, n a multiple of 256.",
    hint="Per step and block: the stores of A and B, A's tile read twice and B's four times. A tile of that many bytes "
    "takes bytes / 128 wavefronts without a conflict; which of the parts has degree 8? Then multiply by the steps of a "
    "block, and by the blocks.",
)
def kernel_wavefronts(answer: Callable[[int], int]) -> Facts:
    """Compares with the sum of the kernel's tiles, which the simulator and the GPU have counted at 256 and 512."""

    def total(n: int, step: int) -> int:
        return (n // 256) * (n // 128) * (n // 64) * step

    right = STORED + 8 * (READ_A + READ_B)
    slips = {
        STORED + READ_A + READ_B: "That is the number without conflicts; two lines have a conflict degree of 8.",
        8 * (READ_A + READ_B): "The stores of the copy are missing.",
        8 * (STORED + READ_A + READ_B): "The stores have a conflict degree of 1.",
        STORED + 8 * (READ_A // 2 + READ_B // 4): "Each tile is read more than once: count the warps that need it.",
        STORED + 8 * (READ_A // 2 * 4 + READ_B // 4 * 2): "4 × 2 warps: 2 side by side read the same rows of A.",
        STORED + 8 * 8 * 384: "A warp does not read whole tiles: it needs 64 rows of A and 64 columns of B.",
    }
    for n in (256, 512, 768, 1024, 2048, 4096):
        value, wanted = call(answer, n), total(n, right)
        if value == wanted and not isinstance(value, bool):
            continue
        said = next((slip for step, slip in slips.items() if value == total(n, step)), "")
        if n > 256 and not said:
            said = f"At 256 your function was right; {n} has more blocks, and each has more steps."
        found = f"{value:,}" if isinstance(value, int) else shown(value)
        raise Missed(f"{spelled(answer, (n,))} returned {found}; expected {wanted:,}. {said}".rstrip())
    counted = recorded_kernel("t4/02_vectorized_copy", 512)
    return [
        ("at 256, as the simulator counted", f"{total(256, right):,}"),
        ("at 512, on paper", f"{total(512, right):,}"),
        ("at 512, counted on the GPU", f"{counted:,}"),
        ("recorded on", recorded_on()),
    ]
