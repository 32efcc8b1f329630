"""The exercises of notebooks 04 and 05: plausible wrong answers, and the sentence that each is refused with."""

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.errors import ConfigError
from gemm_lab.notebook.exercises import WrongAnswer

B_ROWS = "__device__ int chunk_b(int row, int chunk) { return row * (BLOCK_N / 8) + (chunk ^ row % 8); }"


def answer(name, text=None, **replaced):
    """The learner's kernel: its file's region, or `text`, with words replaced."""
    wanted = lab.exercise(name).criteria
    kernel = lab.kernel(wanted["kernel"])
    text = kernel.regions[wanted["region"]] if text is None else text
    for old, new in replaced.get("words", {}).items():
        assert old in text
        text = text.replace(old, new)
    return kernel.edit(alias="mine", **{wanted["region"]: text})


def refused(name, says, made):
    with pytest.raises(WrongAnswer, match=says):
        lab.exercise(name).check(made)


def shipped(name):
    return (data_dir("notebooks") / "solutions" / f"{name}.cu").read_text()


# ---- 04: the halves of a warp ----


def test_lanes_down_a_column_store_well_and_read_badly():
    down = {"row = block_m + i / BLOCK_K, k = k_tile + i % BLOCK_K": "row = block_m + i % BLOCK_M, k = k_tile + i / BLOCK_M",
            "smem_a[i % BLOCK_K][i / BLOCK_K]": "smem_a[i / BLOCK_M][i % BLOCK_M]"}
    refused("04_half_warps", r"needs \d+\.\d+ sectors a request; 4 is possible", answer("04_half_warps", words=down))


def test_eight_rows_apart_still_collide():
    refused("04_half_warps", r"1\.03 wavefronts for each ideal one; 1 is possible",
            answer("04_half_warps", shipped("04_half_warps"),
                   words={"lane / 16 * 16 + turn % 2 * 8": "turn % 2 * 16 + lane / 16 * 8"}))


def test_a_row_that_nobody_loads_is_noticed():
    refused("04_half_warps", "At 128 × 128 × 32", answer("04_half_warps", shipped("04_half_warps"),
                                                         words={"turn % 2 * 8 + warp": "warp"}))


# ---- 05: one rule for every row ----


@pytest.mark.parametrize(("rule", "says"), [
    ("row % 8", "With BLOCK_K = 16: At 256 × 128 × 128: .* accessed 16 bytes at shared address"),  # leaves its row
    ("row % (BLOCK_K / 8)", r"With BLOCK_K = 32: It needs 1\.36 wavefronts"),                      # rows that never met
    ("(BLOCK_K == 64 ? row % 8 : 0)", r"With BLOCK_K = 32: It needs 2\.09 wavefronts"),
])
def test_a_mask_of_the_wrong_bits(rule, says):
    text = "__device__ int chunk_a(int row, int chunk) { return row * (BLOCK_K / 8) + (chunk ^ %s); }\n%s"
    refused("05_every_row", says, answer("05_every_row", text % (rule, B_ROWS)))


def test_an_addition_is_as_free_of_conflicts_as_the_xor():
    """What the notebook says of it: ldmatrix cannot tell them apart."""
    text = shipped("05_every_row").replace("chunk ^ row * CHUNKS / 8", "(chunk + row * CHUNKS / 8)")
    assert "solved" in repr(lab.exercise("05_every_row").check(answer("05_every_row", text)))


def test_each_tile_has_its_facts():
    facts = dict(lab.exercise("05_every_row").check(answer("05_every_row", shipped("05_every_row"))).facts)
    assert facts["shared memory, BLOCK_K = 16"] == "12,288 B" and facts["shared memory, BLOCK_K = 64"] == "49,152 B"


# ---- 05: both sides ----


@pytest.mark.parametrize("words", [
    {"(lane_a ^ k / 8 * 16) + mi * MMA_M * BLOCK_K * 2":  # swizzled by the store only
     "shared_address(&smem_a[(warp_m + mi * MMA_M + lane) * (BLOCK_K / 8) + k / 8])"},
    {"lane_a ^ k / 8 * 16": "lane_a ^ k * 16"},           # the bits of another row
    {"lane_b ^ ni % 8 * 16": "lane_b ^ ni % 4 * 16"},
])
def test_reading_elsewhere_than_stored_is_wrong(words):
    refused("05_both_sides", "At 256 × 256 × 64", answer("05_both_sides", words=words))


def test_a_plain_read_with_the_swizzle_written_out_is_accepted():
    words = {"(lane_a ^ k / 8 * 16) + mi * MMA_M * BLOCK_K * 2":
             "shared_address(&smem_a[chunk_a(warp_m + mi * MMA_M + lane, k / 8)])"}
    assert "solved" in repr(lab.exercise("05_both_sides").check(answer("05_both_sides", words=words)))


# ---- Choices ----


@pytest.mark.parametrize(("name", "choice", "says"), [
    ("05_padding", {"pad_bytes": 8}, "row 1 begins at byte 200: it is misaligned. Pad by a multiple of 16"),
    ("05_padding", {"pad_bytes": 32}, "384 wavefronts for the tile; 192 is possible"),
    ("05_padding", {"pad_bytes": 48}, "30,720 bytes; 26,624 is possible"),
    ("05_padding", {"pad_bytes": 6}, "in steps of 4"),
    ("05_bits", {"bits": 3, "base": 4, "shift": 3}, "elements would leave their row"),
    ("05_bits", {"bits": 2, "base": 3, "shift": 3}, "would be torn apart"),
    ("05_bits", {"bits": 2, "base": 4, "shift": 2}, "64 wavefronts for the tile; 32 is possible"),
    ("05_bits", {"bits": 1, "base": 4, "shift": 3}, "is possible"),
    ("05_bits", {"bits": 3, "base": 4, "shift": 2}, "XOR bits with themselves"),
])
def test_a_tile_that_misses_is_refused_with_its_reason(name, choice, says):
    with pytest.raises(WrongAnswer, match=says):
        lab.exercise(name).check(**choice)


def test_a_tile_wants_all_its_numbers():
    with pytest.raises(ConfigError, match=r"check\(bits=…, base=…, shift=…\)"):
        lab.exercise("05_bits").check(bits=2)
