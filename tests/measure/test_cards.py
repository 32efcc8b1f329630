"""Cards as files and as findings: empty stays empty, recordings of other kernels stay, rules rest on their counters."""

from collections import Counter

import pytest

from gemm_results.errors import LabError
from gemm_results.findings import findings
from gemm_results.recorded_cards import CARD_METRICS, ProfileCard, choose, read_cards
from gemm_results.stalls import BY_KEY, STALLS
from gpu_timing.machine_code.instruction_classes import (
    CLASSES,
    FLOAT,
    INTEGER,
    OTHER,
    TENSOR,
    by_class,
    instruction_class,
)
from tools.recording.cards import from_launch, write_cards
from tools.recording.ncu import Launch

CONDITIONS = {
    "gpu": "NVIDIA H200",
    "arch": "sm_90a",
    "driver": "580",
    "nvrtc": "13.0",
    "ncu": "2025.3",
    "date": "2026-01-01",
    "ptx": "a",
    "source": "b",
}


def card(stalls, opcodes=(), kernel="t4/03_swizzled", n=4096, **values):
    values |= {BY_KEY[key].column: cycles for key, cycles in stalls.items()}
    return ProfileCard(kernel, n, {"BLOCK_M": 256}, CONDITIONS, values, dict(opcodes))


# ---- From ncu to a file and back ----


def test_what_was_not_counted_stays_empty(tmp_path):
    metrics = {BY_KEY["barrier"].metric: "2.5", "gpu__time_duration.sum": "1,000", "lts__t_sector_hit_rate.pct": "n/a"}
    made = from_launch(Launch(metrics, Counter(HMMA=4)), "t4/03_swizzled", 4096, {"BLOCK_M": 256}, **CONDITIONS)
    assert made["stall_barrier"] == 2.5 and made["l2_hit_pct"] is None and made["dram_pct"] is None
    write_cards(tmp_path, [made])
    (row,) = (tmp_path / "cards.csv").read_text().splitlines()[1:]
    assert row.count(",,") > 20 and ",0," not in row
    assert read_cards(tmp_path) == [made]


def test_the_second_name_of_a_metric_is_used_where_the_first_is_missing():
    first, second, *_ = CARD_METRICS["tensor_pipe_pct"]
    for names, value in (((first, second), 7.0), ((second,), 8.0)):
        launch = Launch(dict(zip(names, ("7", "8") if len(names) == 2 else ("8",), strict=True)), Counter())
        assert from_launch(launch, "k", 1, {}).values == {"tensor_pipe_pct": value}


def test_a_recording_replaces_its_own_rows_and_keeps_the_others(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    write_cards(old, [card({"wait": 1}, {"HMMA": 1}), card({"wait": 2}, {"LDG": 2}, kernel="simt/01_naive")])
    write_cards(new, [card({"wait": 3}, {"HMMA": 5})], onto=old)
    assert [(c.kernel, c["stall_wait"], c.opcodes) for c in read_cards(new)] == [
        ("simt/01_naive", 2, {"LDG": 2}),
        ("t4/03_swizzled", 3, {"HMMA": 5}),
    ]


def test_a_number_that_is_none_is_named_with_its_line_and_a_lost_file_of_opcodes_loses_no_card(tmp_path):
    write_cards(tmp_path, [card({"wait": 1.5, "barrier": 2})])
    text = (tmp_path / "cards.csv").read_text()
    for wrong in ("many", "nan", "-1"):
        (tmp_path / "cards.csv").write_text(text.replace("1.5", wrong))
        with pytest.raises(LabError, match=f"cards.csv, line 2: stall_wait is '{wrong}'"):
            read_cards(tmp_path)
    (tmp_path / "cards.csv").write_text(text)
    (tmp_path / "executed.csv").unlink()
    (read,) = read_cards(tmp_path)
    assert read["stall_wait"] == 1.5 and read["stall_barrier"] == 2 and read.classes == {}
    assert read_cards(tmp_path / "nowhere") == []


def test_the_card_of_the_nearest_size_and_the_same_configuration():
    cards = [card({}, n=512), card({}, n=4096), card({}, n=8192), card({}, kernel="t4/02_vectorized_copy")]
    assert choose(cards, "t4/03_swizzled", {"BLOCK_M": 256}, 600).n == 512
    assert choose(cards, "t4/03_swizzled", {"BLOCK_M": 256}, None).n == 4096
    assert choose(cards, "t4/03_swizzled", {"BLOCK_M": 128}, None) is None


# ---- What a card says ----


def test_shares_of_a_warps_time():
    made = card({"long_scoreboard": 6, "selected": 1, "wait": 1})
    assert made.stall_cycles == 8 and made.share(BY_KEY["long_scoreboard"]) == 0.75
    assert made.limiting is BY_KEY["long_scoreboard"] and made.share(BY_KEY["gmma"]) is None
    assert card({"selected": 1}).limiting is None and card({}).instructions is None


def sentences(made, load_bytes=None):
    return " | ".join(found.text for found in findings(made, load_bytes))


def test_an_empty_card_suggests_nothing():
    assert findings(card({})) == []
    assert findings(card({"selected": 1.0})) == []


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (card({"mio_throttle": 9, "selected": 1}, wavefronts=8, ideal_wavefronts=1), "8.0 wavefronts where 1 would do"),
        (card({"mio_throttle": 9, "selected": 1}, wavefronts=1, ideal_wavefronts=1), "Not bank conflicts"),
        (card({"mio_throttle": 9, "selected": 1}), "fewer shared-memory instructions"),
        (card({"long_scoreboard": 9}), "more loads in flight"),
        (
            card({"math_pipe_throttle": 9}, tensor_pipe_pct=93, alu_pipe_pct=5),
            "tensor pipe, in 93 % of cycles: nearly its limit",
        ),
        (
            card({"math_pipe_throttle": 9}, tensor_pipe_pct=5, alu_pipe_pct=50),
            "integer pipe (ALU), in 50 % of cycles, so",
        ),
        (card({"math_pipe_throttle": 9}), "fewer instructions for the pipe"),
        (card({"barrier": 9}), "fewer barriers"),
        (card({"wait": 1}, issue_slots_pct=91), "issue in 91 % of cycles"),
        (card({}, {"HMMA": 100, "IADD3": 40}), "0.40 integer and address instructions"),
        (card({}, {"HMMA": 100, "STL": 3}), "3 accesses to local memory"),
        (card({}, waves=1.1), "45% of the places"),
        (card({}, dram_pct=95), "DRAM works at 95 %"),
    ],
)
def test_a_rule_speaks_from_its_counter(made, says):
    assert says in sentences(made)
    known = {*CARD_METRICS, "executed.csv", "machine code"}
    assert all(found.rests_on and set(found.rests_on) <= known for found in findings(made))


def test_global_loads_are_judged_by_their_width():
    loads = {"load_requests": 10, "load_sectors": 165}
    assert "16.5 sectors where 4 would do" in sentences(card({"lg_throttle": 9}, **loads), 4)
    assert "128 bytes to a warp" in sentences(card({"lg_throttle": 9}, load_requests=10, load_sectors=40), 4)
    assert "128 bytes to a warp" in sentences(card({"lg_throttle": 9}), 4)
    for width in (16, None):
        assert "loads in flight" in sentences(card({"long_scoreboard": 9}, **loads), width)


@pytest.mark.parametrize(
    "made",
    [
        card({"long_scoreboard": 1, "selected": 9}),
        card({}, {"HMMA": 100, "IADD3": 10}),
        card({}, waves=3.9),
        card({}, dram_pct=20),
        card({}, issue_slots_pct=40),
        card({}, {"LDL": 0}),
        card({}, {"HMMA": 1000, "STL": 3}),
    ],
)
def test_a_rule_is_silent_below_its_threshold(made):
    assert findings(made) == []


def test_products_of_warpgroups_are_not_weighed_against_addresses_one_by_one():
    assert "integer and address" in sentences(card({}, {"HMMA": 100, "IADD3": 300}))
    assert findings(card({}, {"HGMMA": 100, "IADD3": 1200})) == []


def test_busy_tensor_cores_are_the_finding_and_no_state_is_blamed():
    (only,) = findings(card({"barrier": 9, "selected": 1}, {"HGMMA": 1}, tensor_pipe_pct=96.0))
    assert "96 % of cycles" in only.text and only.rests_on == ("tensor_pipe_pct",)
    assert "__syncthreads" in sentences(card({"barrier": 9, "selected": 1}, {"HGMMA": 1}, tensor_pipe_pct=60.0))


def test_a_long_scoreboard_without_global_loads_is_an_mbarriers():
    waiting = {"long_scoreboard": 9, "selected": 1}
    assert "mbarriers" in sentences(card(waiting, {"SYNCS": 5, "UTMALDG": 2, "HMMA": 9}))
    assert "mbarriers" not in sentences(card(waiting, {"SYNCS": 5, "LDG": 2, "HMMA": 9}))


def test_every_state_has_words():
    assert len({stall.key for stall in STALLS}) == len({stall.label for stall in STALLS}) == len(STALLS)
    assert all(stall.waits_for and stall.helps for stall in STALLS)


# ---- Classes of instructions ----


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("HMMA.1688.F16", TENSOR),
        ("HGMMA.64x256x16.F32.BF16", TENSOR),
        ("LDSM.16.M88.4", "ldmatrix"),
        ("STS.128", "shared memory"),
        ("LDG.E.128.CONSTANT", "global memory"),
        ("LDGSTS.E.BYPASS.128", "async copy"),
        ("UTMALDG.2D", "async copy"),
        ("UTMASTG.2D", "async copy"),
        ("SYNCS.PHASECHK", "control"),
        ("MOVM.16.MT88", INTEGER),
        ("WARPGROUP.DEPBAR", "control"),
        ("LD.E.64", "global memory"),
        ("IMAD.MOV.U32", INTEGER),
        ("UIADD3", INTEGER),
        ("R2UR", INTEGER),
        ("HFMA2.MMA", FLOAT),
        ("BAR.SYNC.DEFER_BLOCKING", "control"),
        ("UBRA", "control"),
        ("WHATISTHIS", OTHER),
        ("", OTHER),
        ("ULDG", OTHER),
    ],
)
def test_classes(opcode, name):
    assert instruction_class(opcode) == name


def test_nothing_is_dropped():
    counts = {"HMMA": 3, "NEWOPCODE": 5, "IADD3": 2}
    assert by_class(counts) == {TENSOR: 3, INTEGER: 2, OTHER: 5}
    assert list(by_class(counts)) == [name for name in CLASSES if name in by_class(counts)]
