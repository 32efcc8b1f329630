"""Address patterns of cp.async: tiles from different sources, partly active warps, scattered chunks, single moves.

Each pattern is one launch of a kernel from `measure.patterns`. The tiles are those that a GEMM copies; the other
patterns tell apart the rules that would explain the counts of the tiles.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gemm_lab_lessons.shared.patterns import Pattern, placed

LANE = np.arange(32)
LAYOUTS = [
    (data, pad, layout)
    for data in (64, 128, 256)
    for pad, layout in ((0, "plain"), (0, "xor"), (16, "padded"), (32, "padded"))
]


def tiles(width: int, bypass: bool) -> Iterator[Pattern]:
    """Rows of 64 to 288 bytes in shared memory from sources whose rows lie `leading` bytes apart.

    width: bytes per lane.   bypass: for `cp.async.cg`: more sources, and tiles that begin inside a matrix.
    """
    for data, pad, layout in LAYOUTS:
        dense = (data, data + 16, 1024)
        for leading in dict.fromkeys((*dense, 128, 256, 512, 2048, 1040) if bypass else (*dense, 1040)):
            for place, first_row, first_byte in (("first", 0, 0), ("inner", 3, data)):
                if leading < data or place == "inner" and not (bypass and leading in (1024, 1040, data + 16)):
                    continue
                shared, source = tile(width, data, pad, layout, leading, first_row, first_byte)
                yield placed(f"{data + pad}-byte rows, {layout}, from rows of {leading}, {place}", shared, source)


def tile(width: int, data: int, pad: int, layout: str, leading: int, first_row: int = 0, first_byte: int = 0):
    """(shared, source) byte offsets of 32 lanes that copy rows of `data` bytes, `width` bytes each."""
    row, byte = LANE * width // data + first_row, LANE * width % data
    chunk = byte // 16 ^ (row % 8 if data >= 128 else row // 2 % 4) if layout == "xor" else byte // 16
    return row * (data + pad) + chunk * 16 + byte % 16, row * leading + first_byte + byte


def parts(width: int) -> Iterator[Pattern]:
    """Tiles in which some lanes are idle or fill with zeros; `lengths` is 0 in these lanes."""
    for data, pad, layout in LAYOUTS:
        if pad == 32:
            continue
        leading = 1024 if layout != "xor" else data
        shared, source = tile(width, data, pad, layout, leading)
        row, byte = LANE * width // data, LANE * width % data
        for name, keeps in (
            ("first 20 lanes", LANE < 20),
            ("last row missing", row < row[-1]),
            ("last chunk missing", byte < data - 16),
        ):
            if keeps.any() and not keeps.all():
                yield placed(f"{data + pad}-byte rows, {layout}, {name}", shared, source, np.where(keeps, width, 0))


def odd_tiles(width: int) -> Iterator[Pattern]:
    """Tiles from sources whose rows are 32 or 48 bytes longer than those of the tile; `tiles` does not have these."""
    for data, pad, layout in LAYOUTS:
        for more in (32, 48):
            shared, source = tile(width, data, pad, layout, data + more)
            yield placed(f"{data + pad}-byte rows, {layout}, from rows of {data + more}, first", shared, source)


def whole(width: int) -> Iterator[Pattern]:
    """Tiles, for instructions that can fill with zeros, in which no lane does so or all lanes do."""
    for data, pad, layout in LAYOUTS:
        if pad < 32:
            shared, source = tile(width, data, pad, layout, 1024)
            yield placed(f"{data + pad}-byte rows, {layout}, nothing missing", shared, source, np.full(32, width))
            yield placed(f"{data + pad}-byte rows, {layout}, everything missing", shared, source, 0 * LANE)


def scattered(width: int, seed: int, count: int) -> Iterator[Pattern]:
    """`count` random patterns of the eight KINDS in turn, from dense permutations to chunks at random places."""
    random = np.random.default_rng([seed, width])
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        shared, source = kind(random)
        yield placed(f"{kind.__name__.strip('_').replace('_', ' ')} {number}", shared * width, source * width)


def scattered_parts(width: int, seed: int, count: int) -> Iterator[Pattern]:
    """The patterns of `scattered`, with 10, 30 or 50 % of the lanes idle or filling with zeros."""
    random = np.random.default_rng([seed, width, 3])
    for pattern in scattered(width, seed, count):
        keeps = random.random(32) < random.choice([0.5, 0.7, 0.9])
        yield placed(pattern.name, pattern.shared, pattern.source, np.where(keeps, width, 0))


def _near(random):
    """Random chunks of a few lines; some occur twice."""
    return random.integers(0, 32 * 2 ** random.integers(0, 3), 32), random.permutation(32)


def _permuted(random):
    return random.permutation(32), LANE


def _permuted_source(random):
    return LANE, random.permutation(64)[:32]


def _both_permuted(random):
    return random.permutation(64)[:32], random.permutation(64)[:32]


def _permuted_in_eights(random):
    return random.permuted(LANE.reshape(4, 8), axis=1).ravel(), LANE


def _pairs_permuted(random):
    """Pairs of lanes at random places; the two of a pair stay together, some of them swapped."""
    pairs = random.permutation(16).repeat(2) * 2
    return pairs + (LANE % 2 ^ random.integers(0, 2, 16).repeat(2)), LANE


def _odd_rows(random):
    """A tile whose rows lie an odd number of chunks apart, in either memory."""
    each = 2 ** random.integers(1, 4)
    to, of = random.integers(each, 40, 2)
    return LANE // each * to + LANE % each, LANE // each * of + LANE % each


def _anywhere(random):
    return random.integers(0, 512, 32), random.integers(0, 2048, 32)


KINDS = [_near, _permuted, _permuted_source, _both_permuted, _permuted_in_eights, _pairs_permuted, _odd_rows, _anywhere]


def moves(seed: int = 1) -> Iterator[Pattern]:
    """Sets of 16-byte moves within a 128-byte line. A pattern repeats one set in as many lines as its lanes allow.

    The name gives the set: "0>0 1>3" copies chunk 0 of a line to chunk 0 and chunk 1 to chunk 3, in lane order.
    """
    sets = [[(0, 0), (2 * s, 2 * d)] for s in (1, 2, 3) for d in (1, 2, 3)]
    sets += [[(2, 0), (2 * s, 2 * d)] for s in (0, 2, 3) for d in (1, 2, 3)]
    sets += [[(0, 0), (3, 2 * d + 1)] for d in (0, 1, 2, 3)] + [[(0, 0), (1, d)] for d in range(1, 8)]
    sets += [[(0, 0), (3, 2)], [(0, 0), (4, 1)], [(0, 1), (2, 3)], [(0, 1), (1, 0)], [(0, 1), (2, 2)]]
    random = np.random.default_rng(seed)
    for lanes, count in ((3, 12), (4, 12), (8, 24)):
        for number in range(count):
            halves = random.integers(0, 2, (2, lanes)) if lanes < 8 else 0
            if lanes == 8:
                sectors = random.permutation(4)
                chunk = random.permutation(8) if number % 2 else np.arange(8)
                sets.append([(int(c), int(sectors[c // 2] * 2 + c % 2)) for c in chunk])
            else:
                pairs = zip(
                    random.permutation(4)[:lanes] * 2 + halves[0] * (number % 3 == 0),
                    random.permutation(4)[:lanes] * 2 + halves[1] * (number % 3 == 0),
                    strict=True,
                )
                sets.append([(int(s), int(d)) for s, d in pairs])
    for chosen in dict.fromkeys(map(tuple, sets)):
        each, used = len(chosen), 32 // len(chosen) * len(chosen)
        line = np.minimum(LANE // each, used // each - 1) * 8
        source = line + np.array([chosen[n % each][0] for n in LANE])
        shared = line + np.array([chosen[n % each][1] for n in LANE])
        yield placed(
            "moves " + " ".join(f"{s}>{d}" for s, d in chosen), shared * 16, source * 16, np.where(used > LANE, 16, 0)
        )


def crossings(seed: int = 4, count: int = 40) -> Iterator[Pattern]:
    """A few lanes that copy 4 bytes each between a few banks of either memory, each lane in its own 128-byte line.

    The name gives the banks: "0>1 0>2" copies from bank 0 to bank 1 and from bank 0 to bank 2, in lane order.
    """
    random = np.random.default_rng(seed)
    for lanes, banks in ((3, 2), (4, 3), (5, 3), (6, 3), (8, 4)):
        made: dict[str, Pattern] = {}
        while len(made) < count:
            source, shared = random.integers(0, banks, (2, lanes))
            if len(set(source)) == lanes or len(set(shared)) == lanes:
                continue
            name = "crossing " + " ".join(f"{s}>{d}" for s, d in zip(source, shared, strict=True))
            line, used = np.minimum(LANE, lanes - 1), lanes > LANE
            made[name] = placed(name, line * 128 + shared[line] * 4, line * 128 + source[line] * 4, used * 4)
        yield from made.values()
