"""`results/predicted`: a row for every recorded card, as today's model predicts it. `tools.predictions` renews it."""

import pytest

from gemm_lab.config import data_dir
from gemm_lab.measure.known_speeds import BURSTS
from gemm_results.profile import read_rows
from tools import predictions

# A file a GPU; the speeds in bursts have a test of their own (test_predicted_cards.py).
FILES = sorted(path for path in (data_dir("results") / "predicted").glob("*.csv") if path.name != BURSTS)
RECOMPUTED, TOLERANCE = 5, 0.01  # rows of each file; a larger difference of the cycles means that the file is stale


def key(row):
    return row["kernel"], row["config"], row["n"]


def spaced(path):
    """Some rows of a file, at equal distances."""
    rows = read_rows(path)
    return rows[:: -(-len(rows) // RECOMPUTED)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_recorded_card_has_a_row_and_no_other_kernel_has(path):
    rows = read_rows(path)
    assert [key(row) for row in rows] == [
        key(row) for row in read_rows(data_dir("results") / "profiles" / path.stem / "cards.csv")
    ]
    assert all(bool(row["cycles"]) != bool(row["failed"]) for row in rows)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "gpu, row",
    [(path.stem, row) for path in FILES for row in spaced(path)],
    ids=lambda one: str(one["kernel"]) if isinstance(one, dict) else one,
)
def test_the_stored_prediction_is_that_of_the_model(gpu, row):
    found = predictions.predicted_rung(row, gpu)
    assert found["failed"] == row["failed"]
    if row["cycles"]:
        assert found["cycles"] == pytest.approx(float(row["cycles"]), rel=TOLERANCE), "run: python -m tools.predictions"
