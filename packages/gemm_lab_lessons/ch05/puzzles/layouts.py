"""The puzzles of notebook 05: padding, swizzles of chunks, and the same as bits of an address."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import Missed, call, spelled
from gemm_lab_lessons.shared.recorded import AGREE, WIDE, agreement, modelled, recorded
from gpu_simulator.argument_checks import as_whole, shown
from gpu_simulator.hardware.swizzle import TMA_SWIZZLES, Swizzle

ROWS = 64  # of the tiles that are tried
Answer = Callable[..., Any]

# ---- Padding ----


@register_law(
    "05_place",
    title="The place of a padded element",
    task="Write place(row, column, columns, pad): the number of the word in shared memory where this element lies. "
    "columns: the words of a row; pad: the unused words behind each row.",
    hint="How many words does a whole row take, with the unused ones behind it? Three such rows lie before row 3.",
    cases=[
        (row, column, columns, pad)
        for columns, pad in ((4, 0), (4, 1), (4, 2), (32, 1), (33, 3), (5, 7))
        for row in range(7)
        for column in range(columns)
    ],
    tried="elements tried",
)
def place(row: int, column: int, columns: int, pad: int) -> Right:
    why = f"Whole rows before it: {row}; unused words behind each of them: {pad}."
    return row * (columns + pad) + column, why


def _beginnings(distance: int, places: int) -> list[int]:
    """The places at which the first rows begin, as many rows as there are places."""
    return [row * distance % places for row in range(places)]


_DISTANCES = [(distance, places) for places in (4, 8, 6, 12, 16, 32) for distance in range(1, 2 * places + 6)]


@register_law(
    "05_is_free",
    title="Which distances free a column",
    task="Write is_free(distance, places): True if the first rows of a tile, as many as there are places, all begin "
    "at different places, otherwise False. Row r begins at place r · distance mod places.",
    hint="Collect the places of rows 0, 1, 2 … in a set, or write them down for distance 6 and four places: 0, 2, 0, "
    "2. The pattern came back too early. What do 6 and 4 have in common?",
    cases=_DISTANCES,
    tried="distances tried",
    facts=[("free among them", str(sum(len({*_beginnings(*case)}) == case[1] for case in _DISTANCES)))],
)
def is_free(distance: int, places: int) -> Right:
    begin = _beginnings(distance, places)
    first = ", ".join(map(str, begin[:8]))
    return len({*begin}) == places, f"Rows 0, 1, 2 … begin at the places {first}{' …' if places > 8 else ''}."


@register(
    "05_pad",
    title="The least padding of a row",
    task="Write padding(row_bytes): the least number of unused bytes behind each row with which ldmatrix reads a "
    "column of chunks in the ideal number of wavefronts. row_bytes and the padding are multiples of 16.",
    hint="Count in chunks of 16 bytes: eight of them lie side by side in the banks. is_free tells you which distances "
    "are free. Try 80 bytes by hand: do these rows need any padding?",
)
def pad(answer: Answer) -> Facts:
    """Try rows of 16 to 1,040 bytes with the model of the banks, and compare with the recorded reads of columns."""
    lane = np.arange(32)
    for row_bytes in range(16, 1041, 16):
        free = [more for more in range(0, 128, 16) if modelled("ldmatrix.x4", lane * (row_bytes + more)) == 4]
        more = as_whole(value := call(answer, row_bytes))
        said = f"{spelled(answer, (row_bytes,))} returned {shown(value)}"
        if more is None or more < 0 or more % 16:
            raise Missed(f"{said}; padding is a whole number of bytes, a multiple of 16, because ldmatrix needs it.")
        waves = modelled("ldmatrix.x4", lane * (row_bytes + more))
        if waves != 4:
            raise Missed(
                f"{said}. Rows then begin {row_bytes + more} bytes apart, and ldmatrix.x4 takes {waves} wavefronts."
            )
        if more > free[0]:
            raise Missed(f"{said}. That is free of conflicts, but {free[0]} bytes are enough for this row.")
    agree = of = 0
    for (instruction, pattern), count in recorded().items():
        length, *rest = pattern.split("-byte rows, ")
        if instruction in WIDE and rest and rest[0].startswith(("plain, column", "padded, column")):
            of += 1
            agree += (call(answer, int(length)) == 0) == (count == 4)
    return [("row lengths tried", "65"), (AGREE, f"{agree} of {of}")]


# Tiles as (rows, bytes of a row, bytes of its padding). They are tried in the shared memory of several GPUs, and where
# a stage lacks no more than the padding of its last row. That counts, as in ampere/03_padded, whose tiles are BLOCK_M
# rows of BLOCK_K / 8 + 1 chunks.
_TILES = ((256, 128, 0), (256, 128, 16), (384, 64, 16), (512, 64, 0), (300, 192, 16))


@register_law(
    "05_stages",
    title="How many stages fit",
    task="Write stages(room, rows, row_bytes, pad_bytes): how many whole stages fit. room: the bytes of shared "
    "memory; rows: the rows of a stage; row_bytes, pad_bytes: the used and the unused bytes of each row, also of "
    "the last.",
    hint="Every row of the stage has its own padding, the last one too. A stage of which a part is missing is of no "
    "use.",
    cases=[
        *((1024 * room, *tile) for room in (64, 99, 163, 227) for tile in _TILES),
        *((2 * rows * (used + pad) - pad, rows, used, pad) for rows, used, pad in _TILES if pad),
    ],
    tried="cases tried",
)
def stages(room: int, rows: int, row_bytes: int, pad_bytes: int) -> Right:
    why = f"{rows} rows, and each of them takes {row_bytes} bytes and {pad_bytes} unused ones, also the last."
    return room // (rows * (row_bytes + pad_bytes)), why


# ---- Another order within each row ----


def places_of(answer: Answer, rows: int, chunks: int, *more: Any, what: str = "chunk") -> np.ndarray:
    """The places that the learner's function gives: (rows, chunks). Raises `Missed` if a row does not keep its chunks.

    more: further arguments of the function. what: the name of what is moved.
    """
    found = np.zeros((rows, chunks), int)
    for row in range(rows):
        taken: dict[int, int] = {}
        for chunk in range(chunks):
            value = call(answer, row, chunk, *more)
            said = f"{spelled(answer, (row, chunk, *more))} returned {shown(value)}"
            where = as_whole(value)
            if where is None:
                raise Missed(f"{said}; a place is a whole number.")
            if not 0 <= where < chunks:
                raise Missed(f"{said}, but a row of {chunks} {what}s has only the places 0 to {chunks - 1}.")
            if where in taken:
                raise Missed(
                    f"{said}, but {what} {taken[where]} of row {row} lies there: one would overwrite the other."
                )
            taken[where] = chunk
            found[row, chunk] = where
    return found


def rule_of(place: np.ndarray) -> str:
    """What kind of rule gives these places."""
    chunk = np.arange(place.shape[1])
    if (place == chunk).all():
        return "nothing moves"
    if (place == place[:, :1] ^ chunk).all():
        return "an XOR"
    if (place == (place[:, :1] + chunk) % len(chunk)).all():
        return "an addition"
    return "neither an XOR nor an addition"


def free_columns(answer: Answer, place: np.ndarray, *more: Any) -> None:
    """Raises `Missed` unless every column of chunks is read without a conflict, eight rows at a time."""
    rows, chunks = place.shape
    for first in range(0, rows, 8):
        for chunk in range(chunks):
            taken: dict[int, int] = {}
            for row in range(first, first + 8):
                at = (row * chunks + int(place[row, chunk])) % 8
                if at in taken:
                    both = ", ".join(str(part) for part in (chunk, *more))
                    raise Missed(
                        f"ldmatrix reads chunk {chunk} of rows {first} to {first + 7} together, and in rows "
                        f"{taken[at]} and {row} it lies in the same four banks: {_name(answer)}({taken[at]}, {both}) "
                        f"is {place[taken[at], chunk]}, {_name(answer)}({row}, {both}) is {place[row, chunk]}."
                    )
                taken[at] = row


def _name(answer: Answer) -> str:
    return getattr(answer, "__name__", "swizzle")


def judged_rows(answer: Answer, chunks: int) -> Facts:
    """The facts on a swizzle of rows with this many chunks, which is free of conflicts; otherwise raises `Missed`."""
    place = places_of(answer, ROWS, chunks)
    free_columns(answer, place)
    agree, of = agreement(place, "xor")
    return [
        ("ldmatrix.x4", "4 wavefronts, the ideal"),
        (AGREE, f"{agree} of {of}"),
        ("your rule", rule_of(place)),
    ]


@register(
    "05_toy",
    title="Rearrange the toy",
    task="Write swizzle(row, column): the bank, 0 to 3, into which this word of the row moves, so that each row still "
    "fills the four banks and each column meets all four.",
    hint="Leave row 0 as it is. Each of the other rows needs an order in which no column stands where it stood in the "
    "rows above. A table of your own, such as [[0, 1, 2, 3], …][row][column], counts as an answer.",
)
def toy(answer: Answer) -> Facts:
    """Accept every order of the words in which each row and each column meets all four banks."""
    place = places_of(answer, 4, 4, what="column")
    for column in range(4):
        for row in range(4):
            for above in range(row):
                if place[above, column] == place[row, column]:
                    raise Missed(
                        f"Column {column} lies in bank {place[row, column]} both in row {above} and in row {row}, so "
                        "reading the column takes more than one wavefront."
                    )
    return [("a row", "1 wavefront"), ("a column", "1 wavefront"), ("your rule", rule_of(place))]


_DRAWN = random.Random(5)


@register_law(
    "05_unswizzle",
    title="The word at a place",
    task="Write unswizzle(row, place): the column whose word lies at this place of this row, if column c of a row was "
    "stored at place c ^ row. Longer rows than those of the toy are tried, too.",
    hint="You look for the c with c ^ row = place. Which number turns place back into c? Try row 2 and place 1 with "
    "pencil and paper, bit by bit.",
    cases=[
        *((row, column ^ row) for row in range(4) for column in range(4)),
        *((_DRAWN.randrange(256), _DRAWN.randrange(256)) for _ in range(100)),
    ],
    tried="words found again",
)
def unswizzle(row: int, place: int) -> Right:
    column = place ^ row
    return column, f"Column {column} of row {row} was stored at {column} ^ {row}."


@register(
    "05_rows_128",
    title="A swizzle for rows of 128 bytes",
    task="Write swizzle(row, chunk): the place, 0 to 7, of a chunk in its row of 128 bytes, so that chunk c of any "
    "eight rows that ldmatrix reads together lies in eight different places. A tile has many rows: rows 0 to 63 are "
    "tried.",
    hint="It is the rule of the toy with eight places instead of four. Rows 8 to 15 are read together, too, and a "
    "place is never larger than 7: which part of the row number may the rule use?",
)
def rows_128(answer: Answer) -> Facts:
    """Accept every order of the chunks that is free of conflicts, in rows of 128 bytes."""
    return judged_rows(answer, 8)


@register(
    "05_rows_64",
    title="A swizzle for rows of 64 bytes",
    task="Write swizzle(row, chunk): the place, 0 to 3, of a chunk in its row of 64 bytes, so that ldmatrix reads a "
    "column without a conflict. Rows 0 to 63 are tried.",
    hint="Rows 0 and 1 share one line and never meet, so they may use the same order. Rows 0 and 2 meet. Which number "
    "is the same for rows 0 and 1, and another one for rows 2 and 3?",
)
def rows_64(answer: Answer) -> Facts:
    """Accept every order of the chunks that is free of conflicts, in rows of 64 bytes."""
    return judged_rows(answer, 4)


@register(
    "05_any_row",
    title="One rule for every row",
    task="Write swizzle(row, chunk, chunks): the place, 0 to chunks - 1, of a chunk in a row of 2, 4, 8, 16 or 32 "
    "chunks, so that ldmatrix reads a column without a conflict.",
    hint="How many rows share the eight places of a line: 4, 2, 1, 1, 1? Divide the row number by that, and keep of "
    "the result only what the row has places for, and never more than eight different numbers.",
)
def any_row(answer: Answer) -> Facts:
    """Accept every order of the chunks that is free of conflicts, in rows of 32 to 512 bytes."""
    agree = of = 0
    rules = set()
    for chunks in (2, 4, 8, 16, 32):
        place = places_of(answer, ROWS, chunks, chunks)
        free_columns(answer, place, chunks)
        more = agreement(place, "xor")
        agree, of = agree + more[0], of + more[1]
        rules.add(rule_of(place))
    return [
        ("rows of 32, 64, 128, 256 and 512 bytes", "free of conflicts"),
        (AGREE, f"{agree} of {of}"),
        ("your rule", rules.pop() if len(rules) == 1 else "not the same kind for every row"),
    ]


# ---- Bits of an address ----


_ADDRESSES = random.Random(512)


@register_law(
    "05_address",
    title="The XOR on an address",
    task="Write swizzled(address): the byte address to which a byte of a tile with rows of 128 bytes moves. Address "
    "bits 7, 8 and 9 (the row) are XORed into bits 4, 5 and 6 (the chunk), and no other bit changes.",
    hint="address >> 3 moves bits 7 to 9 down to 4 to 6, but other bits come along. Which number has ones at bits 4, "
    "5 and 6 alone? With & it keeps only these.",
    cases=[
        *((at,) for at in (0, 16, 128, 144, 130, 896, 1024, 1151)),
        *((_ADDRESSES.randrange(227 * 1024),) for _ in range(512)),
    ],
    tried="addresses tried",
)
def address(at: int) -> Right:
    row, chunk = at // 128, at % 128 // 16
    why = f"Byte {at} lies in chunk {chunk} of row {row}, and {chunk} ^ {row % 8} is {chunk ^ row % 8}."
    return int(Swizzle(3, 4, 3)(at)), why


_SWIZZLES = ((3, 4, 3), (2, 4, 3), (1, 4, 3), (3, 4, 4), (2, 4, 2), (3, 4, 5), (2, 3, 4), (0, 4, 3), (4, 2, 6))
_MORE = random.Random(3)


@register_law(
    "05_three_numbers",
    title="Swizzle(bits, base, shift)",
    task="Write swizzle_bits(address, bits, base, shift): the address after the XOR. bits: how many address bits "
    "change; base: the lowest of them; shift: how far above them the bits lie that are XORed into them.",
    hint="The function of before with 4, 3 and its mask made from the three numbers. A number of so many ones is "
    "(1 << bits) - 1; its lowest one has to stand at bit number base.",
    cases=[
        (at, *numbers)
        for numbers in _SWIZZLES
        for at in (0, 112, 128, 640, *(_MORE.randrange(1 << 16) for _ in range(40)))
    ],
    tried="cases tried",
)
def three_numbers(at: int, bits: int, base: int, shift: int) -> Right:
    from_, to = f"{base + shift} to {base + shift + bits - 1}", f"{base} to {base + bits - 1}"
    why = f"In bits, the address is {at:b}. Bits {from_} are XORed into bits {to}; the lowest bit is bit 0."
    return int(Swizzle(bits, base, shift)(at)), why if bits else "With no bits at all, nothing moves."


@register_law(
    "05_walk",
    title="Walk through a swizzled tile",
    task="Write walk(first, along, down): the swizzled address of a chunk in a tile with rows of 128 bytes. first: "
    "the swizzled address of chunk 0 of some row; along: the number of the wanted chunk, 0 to 7; down: how many "
    "groups of eight rows lie between the two rows.",
    hint="(0 ^ row) ^ along is along ^ row, so no row number is needed for the step along the row. Eight rows further "
    "down the row has the same last three bits: the order of its chunks is the same, so how far away is it?",
    cases=[
        (int(Swizzle(3)(128 * row)), along, down)
        for row in (0, 1, 5, 6, 7, 11, 42, 63)
        for along in range(8)
        for down in (0, 1, 2, 3, 7)
    ],
    tried="steps tried",
)
def walk(first: int, along: int, down: int) -> Right:
    row = first // 128
    at = f"{first} is chunk 0 of row {row}, at place {first % 128 // 16}."
    right = int(Swizzle(3)(128 * (row + 8 * down) + 16 * along))
    return right, f"{at} Chunk {along} of row {row + 8 * down} is wanted."


@register_law(
    "05_start",
    title="Where a tile may begin",
    task="Write fits(start, row_bytes): True if a tile that begins at byte start, a multiple of 128, has its chunks "
    "in the same order under TMA's mode for rows of 32, 64 or 128 bytes as a tile that begins at byte 0, otherwise "
    "False.",
    hint="All three modes take their row bits from address bit 7 on: one, two or three of them. If one of these bits "
    "is set in start, every row is mistaken for another one. After how many rows does the pattern begin again?",
    cases=[(begin, row_bytes) for row_bytes in TMA_SWIZZLES for begin in (*range(0, 4097, 128), 8192, 10240, 20608)],
    tried="beginnings tried",
)
def start(begin: int, row_bytes: int) -> Right:
    model, tile = TMA_SWIZZLES[row_bytes], np.arange(0, 16 * row_bytes, 16)
    if bool(np.array_equal(model(begin + tile), begin + model(tile))):
        return True, "All its chunks lie in the same order as those of a tile that begins at byte 0."
    behind = int(model(begin)) - begin
    return False, f"In the mode for {row_bytes} bytes, its first chunk then lies {behind} bytes behind the beginning."
