"""Short tables of recorded and published figures: what stands in them is what the records say."""

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_results.cards.short_tables import CONFLICTS, conflict_counts, published_percents, shares, speeds, states
from gemm_results.profile import read_rows, source_hash
from gemm_results.published import published


def test_the_table_of_speeds_has_what_the_bench_says():
    bench = lab.ladder("t4").recorded([4096, 8192])
    table = speeds(bench, ["t4/07", "t4/08"], (4096, 8192), "cutlass_sm75")._table()
    row = table.rows[1]
    assert row[0] == "t4/08" and row[2] == f"{bench.tflops('t4/08', 8192):.1f}"
    assert row[4] == f"{bench.ratio('t4/08', 'cutlass_sm75', 8192):.3f}" and "H200" in table.caption


def test_the_table_of_shares_has_every_rival_at_every_size():
    bench = lab.ladder("t4").recorded([4096, 8192])
    table = shares(bench, ["t4/04"], ("cutlass_sm75", "cublas"), (4096, 8192))._table()
    told = [bench.ratio("t4/04", base, n) for base in ("cutlass_sm75", "cublas") for n in (4096, 8192)]
    assert table.rows == [["t4/04", *(f"{ratio:.1%}" for ratio in told)]] and len(set(table.rows[0])) == 5
    assert table.header[3] == "÷ cublas at 4096" and "TFLOPS" not in table.caption and "H200" in table.caption


SOURCE = ("ampere_rtx5090", "rtx5090", 8192)


def test_the_table_of_published_percentages_leaves_out_what_is_not_published():
    told = {row.kernel: row for row in published() if (row.source, row.gpu, row.n) == SOURCE}
    rows = {row[0]: row[1:] for row in published_percents(*SOURCE[:2])._table().rows}
    assert rows["v8"][2] == f"{told['v8'].percent_of_peak:.2f}" and "–" in rows["v1"]


def test_states_are_those_of_the_cards_the_longest_first():
    k7, k8 = lab.kernel("t4/07"), lab.kernel("t4/08")
    table = states(k7, k8)._table()
    last = [float(row[2]) for row in table.rows[:-1]]
    assert last == sorted(last, reverse=True) and table.header[1:] == [k7.name, k8.name]
    barrier = next(row for row in table.rows if row[0] == "barrier")
    assert [float(cell) for cell in barrier[1:]] == [
        next(cycles for state, cycles in k.profile().card.stalls.items() if state.label == "barrier") for k in (k7, k8)
    ]


# ---- Two counts of conflicts ----


def rows(n=512):
    names = ("t4/02_vectorized_copy", "t4/03_swizzled", "t4/08_pipelined_fragments", "simt/03_shared_memory_tiles")
    found = conflict_counts(*names, "ampere/03_padded", "ampere/04_swizzled", n=n)._table().rows
    return {row[0]: [int(cell.replace(",", "")) for cell in row[1:]] for row in found}


@pytest.mark.parametrize("n", [512, 1024, 2048])
def test_where_the_layout_has_conflicts_both_counts_see_them(n):
    _, excess, all_of_them, loads, *_ = rows(n)["t4/02_vectorized_copy"]
    assert excess == loads and 1 < all_of_them / excess < 1.01


@pytest.mark.parametrize("n", [512, 1024, 2048])
def test_without_an_excess_the_pipe_counts_conflicts_all_the_same_and_they_are_not_the_same_twice(n):
    for name in ("t4/03_swizzled", "t4/08_pipelined_fragments", "simt/03_shared_memory_tiles"):
        _, excess, conflicts, loads, stores, _ = rows(n)[name]
        assert excess == 0 < conflicts and conflicts != loads + stores, name
    assert rows(n)["t4/03_swizzled"][3] == 0, "its loads have none"
    assert rows(n)["t4/03_swizzled"][2] > 7 * rows(n)["t4/08_pipelined_fragments"][2]


@pytest.mark.parametrize("n", [512, 1024, 2048])
def test_the_pipe_sees_no_copies_of_cp_async(n):
    padded, swizzled = rows(n)["ampere/03_padded"], rows(n)["ampere/04_swizzled"]
    ldmatrix, copies = n**3 // 2048, n**3 // 4096  # wavefronts by arithmetic: 128 × 128 × 64 tiles, 64 × 64 a warp
    for wavefronts, excess, conflicts, *_, piped in (padded, swizzled):
        assert wavefronts - excess == ldmatrix + copies and conflicts == 0
        assert ldmatrix <= piped < 1.05 * ldmatrix
    assert padded[1] > copies and swizzled[1] == 0


def test_recorded_were_the_sources_of_today_and_the_simulator_counts_what_the_source_page_counts():
    for row in read_rows(data_dir("results") / CONFLICTS):
        made = lab.kernel(row["kernel"])
        made = made(**made.spec.configure())
        assert source_hash(made.compile(row["arch"])) == row["source"], row["kernel"]
        if row["n"] == "512" and row["kernel"].startswith("t4"):
            totals = made.run(512, backend="simulator", timed=False).report.totals
            assert (totals.wavefronts, totals.ideal_wavefronts) == (
                int(row["wavefronts"]),
                int(row["ideal_wavefronts"]),
            )


def test_a_kernel_that_is_not_recorded_has_no_count():
    with pytest.raises(KeyError):
        conflict_counts("t4/04_register_prefetch")
