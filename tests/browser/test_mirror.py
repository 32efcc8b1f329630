"""The JavaScript that draws says what the Python model says: 5,000 random accesses, whole schedules compared."""

import json

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="pytest-playwright is not installed")
from gemm_lab_lessons.ch05.tile_access import ACCESSES, access_problem, steps, tile_access, totals  # noqa: E402
from gemm_lab_lessons.ch05.tile_layout import ELEMENT_BYTES, LAYOUTS, TileLayout  # noqa: E402
from gpu_simulator.hardware.bank_schedule import ideal_wavefronts, schedule  # noqa: E402
from gpu_simulator.hardware.swizzle import LayoutError  # noqa: E402

pytestmark = pytest.mark.browser

RAW, TILES = 4500, 2000
# As text both ways, which is quicker than the driver's own encoding.
SCHEDULES = """async (cases) => {
  const { schedule, idealWavefronts } = await import("./banks.js");
  return JSON.stringify(JSON.parse(cases).map(([kind, addresses, width, active, source, banks]) => {
    const s = schedule(kind, addresses, width, active, source, banks);
    return [s.words, [...s.wavefront], s.phase, idealWavefronts(active.filter(Boolean).length, width, banks)];
  }));
}"""
ON_TILES = """async (states) => {
  const t = await import("./tile.js");
  return JSON.stringify(JSON.parse(states).map((state) => {
    const problem = t.problem(state);
    if (problem) return { problem };
    const tile = t.makeTile(state), last = t.steps(tile, state.access), step = Math.floor(state.where * last);
    const a = t.tileAccess(tile, state.access, step), byte = Math.floor(state.where * state.row_bytes);
    const row = Math.floor(state.where * state.rows), address = tile.address(row, byte), back = tile.place(address);
    return { problem, last, step, says: a.says, addresses: a.addresses, wavefront: [...a.schedule.wavefront],
             phase: a.schedule.phase, ideal: a.ideal, address, back: [back.row, back.byte], size: tile.size,
             totals: state.sum ? Object.values(t.totals(tile, state.access)) : null };
  }));
}"""


def raw_accesses(rng):
    lane = np.arange(32)
    for _ in range(RAW):
        kind = str(rng.choice(["store", "load", "ldmatrix", "cp.async.ca", "cp.async.cg"]))
        width = {"ldmatrix": 16, "cp.async.cg": 16, "cp.async.ca": int(rng.choice([4, 8, 16]))}.get(
            kind, int(rng.choice([1, 2, 4, 8, 16]))
        )
        shapes = [
            rng.integers(0, 4096 // width, 32) * width,
            lane * int(rng.integers(0, 40)) * width,
            np.repeat(rng.integers(0, 512, 16) * width, 2),
            rng.integers(0, 256 // width, 32) * width,
            lane // 4 * int(rng.integers(4, 12)) * 16 + lane % 4 * 16,
        ]
        at, source = shapes[rng.integers(5)], shapes[rng.integers(5)] + int(rng.integers(8)) * 128
        yield kind, at.tolist(), width, (rng.random(32) < rng.choice([1.0, 0.8])).tolist(), source.tolist(), 32


def random_states(rng):
    def pick(*options):
        return options[rng.integers(len(options))]

    for number in range(TILES):
        toy = rng.random() < 0.1
        yield {
            "rows": pick(4, 8, 16, 32, 64, 128, 12, 0, 513),
            "row_bytes": pick(16, 32, 64, 96, 128, 128, 256, 512, 100),
            "element": "f32" if toy else pick(*ELEMENT_BYTES, "f12"),
            "layout": pick(*LAYOUTS, *LAYOUTS, "spiral"),
            "pad_bytes": pick(4, 8, 16, 32, 6),
            "bits": pick(0, 1, 2, 3, 4, 7),
            "base": pick(2, 3, 4, 5),
            "shift": pick(-3, -2, 1, 2, 3, 4),
            "banks": 4 if toy else pick(32, 32, 32, 32, 16),
            "access": pick(*ACCESSES, *ACCESSES, "stroll"),
            "where": float(rng.random()),
            "sum": number % 20 == 0,
        }


def in_python(state):
    values = {k: v for k, v in state.items() if k not in ("access", "where", "sum")}
    try:
        tile = TileLayout(**values)
    except LayoutError as error:
        return {"problem": str(error)}
    if problem := access_problem(tile, state["access"]):
        return {"problem": problem}
    last = steps(tile, state["access"])
    a = tile_access(tile, state["access"], int(state["where"] * last))
    row, byte = int(state["where"] * tile.rows), int(state["where"] * tile.row_bytes)
    address = int(tile.address(row, byte))
    return {
        "problem": "",
        "last": last,
        "step": a.step,
        "says": a.says,
        "addresses": a.addresses.tolist(),
        "wavefront": a.schedule.wavefront.reshape(-1).tolist(),
        "phase": list(a.schedule.phase),
        "ideal": a.ideal,
        "address": address,
        "back": [int(v) for v in tile.place(address)],
        "size": tile.size_bytes,
        "totals": list(totals(tile, state["access"])) if state["sum"] else None,
    }


@pytest.mark.long
def test_raw_accesses(widget_page):
    page, cases = widget_page(), list(raw_accesses(np.random.default_rng(11)))
    answers = json.loads(page.evaluate(SCHEDULES, json.dumps(cases)))
    for case, (words, wavefront, phase, ideal) in zip(cases, answers, strict=True):
        kind, at, width, active, source, banks = case
        expected = schedule(kind, at, width, active, source, banks)
        assert words == expected.wavefront.shape[1]
        assert wavefront == expected.wavefront.reshape(-1).tolist(), case
        assert phase == list(expected.phase) and ideal == ideal_wavefronts(sum(active), width, banks)


def test_accesses_to_tiles_and_the_reasons_of_refusals(widget_page):
    page, states = widget_page(), list(random_states(np.random.default_rng(12)))
    answers = json.loads(page.evaluate(ON_TILES, json.dumps(states)))
    for state, answer in zip(states, answers, strict=True):
        assert answer == in_python(state), state
    refused = {answer["problem"].split()[0] for answer in answers if answer["problem"]}
    assert len(refused) > 8, "many kinds of refusal were met"
    assert sum(not answer["problem"] for answer in answers) > 400
