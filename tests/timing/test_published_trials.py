"""Predictions of published ladders: which figures they are compared with, and what the errors are."""

import csv
from types import SimpleNamespace

import pytest

import gemm_lab as lab
from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_results import published_trials
from gemm_results.errors import LabError
from gemm_results.published_trials import ratios, steps, summary
from gpu_simulator.hardware.data_sheets import with_article

HEADER = "source,gpu,n,step,kernel,config,cycles,clock_mhz,tflops\n"
FOLDER = data_dir("results") / "blind" / "published"


def written(folder, predicted, figures="source,gpu,n,step,tflops,address,note\n"):
    folder.mkdir(exist_ok=True)
    (folder / "predicted.csv").write_text(HEADER + predicted)
    (folder / "published.csv").write_text(figures)
    return folder


def rows_of(name):
    with (FOLDER / name).open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


# ---- Made-up files ----


def test_errors_are_those_of_speeds_and_of_neighbouring_steps(tmp_path):
    folder = written(
        tmp_path / "made",
        "text,t4,512,one,t4/x,,1,1,10\ntext,t4,512,two,t4/y,,1,1,30\ntext,t4,1024,two,t4/y,,1,1,40\n",
        "source,gpu,n,step,tflops,address,note\ntext,t4,512,one,20,,\ntext,t4,512,two,40,,\ntext,t4,1024,two,40,,\n",
    )
    found = steps(folder)
    assert [one.error for one in found] == pytest.approx([-0.5, -0.25, 0.0])
    pairs = ratios(found)  # another size begins another ladder
    assert [(one.before.step, one.after.step) for one in pairs] == [("one", "two")]
    assert pairs[0].predicted == 3 and pairs[0].published == 2 and pairs[0].error == pytest.approx(0.5)
    assert summary(found).median == 0.25 and summary(found).worst == pytest.approx(0.5)
    assert str(summary(found)) == "median error 25%, worst 50% of 3"
    assert summary([]) is None


def test_shares_of_cublas_become_speeds(tmp_path, monkeypatch):
    def row(kernel, n, speed, share):
        return SimpleNamespace(source="text", gpu="t4", kernel=kernel, n=n, speed=speed, percent_of_cublas=share)

    rows = (row("half", 512, None, 50.0), row("cublas", None, 40.0, None), row("half", None, None, None))
    monkeypatch.setattr(published_trials, "published", lambda: rows)
    (one,) = steps(written(tmp_path / "shares", "text,t4,512,half,t4/x,,1,1,25\n"))
    assert one.published == 20 and one.error == 0.25


def test_a_step_without_a_published_figure_is_left_out(tmp_path):
    assert steps(written(tmp_path / "none", "text,t4,512,unknown,t4/x,,1,1,25\n")) == ()


def test_a_figure_that_is_no_number_is_an_error(tmp_path):
    figures = "source,gpu,n,step,tflops,address,note\ntext,t4,512,one,fast,,\n"
    with pytest.raises(LabError, match="line 2: tflops is 'fast'"):
        steps(written(tmp_path / "wrong", "text,t4,512,one,t4/x,,1,1,25\n", figures))


# ---- The committed files ----


def test_every_step_has_a_prediction_of_an_existing_kernel():
    wanted = [(row["source"], row["gpu"], row["n"], row["step"], row["kernel"]) for row in rows_of("steps.csv")]
    assert wanted == [
        (row["source"], row["gpu"], row["n"], row["step"], row["kernel"]) for row in rows_of("predicted.csv")
    ]
    for _, _, _, _, name in wanted:
        assert catalog.kernel(name).name == name


def test_four_gpus_are_compared():
    found = steps()
    assert {one.gpu for one in found} == {"t4", "a100", "rtx5090", "b200"}
    assert len(found) >= len(rows_of("predicted.csv")) - 2 and len(ratios(found)) > 30


def test_figures_of_others_name_their_address():
    for row in rows_of("published.csv"):
        assert row["address"].startswith("https://") and float(row["tflops"]) > 0


# ---- The card ----


@pytest.mark.parametrize(
    ("name", "text"),
    [("H200 SXM", "an H200 SXM"), ("A100-SXM4-40GB", "an A100-SXM4-40GB"), ("B200", "a B200"), ("T4", "a T4"),
     ("Tesla T4", "a Tesla T4"), ("GeForce RTX 5090", "a GeForce RTX 5090"), ("RTX 5090", "an RTX 5090")],
)  # fmt: skip
def test_gpus_have_their_article(name, text):
    assert with_article(name) == text


def test_the_card_of_a_gpu_that_was_never_here_says_what_is_known():
    found = lab.kernel("t4/03_swizzled").predict(on="t4", n=2048)
    for text in (found.trust, found._repr_html_()):
        assert "recorded on a Tesla T4" in text and "published ratios of steps: median error" in text
    assert "predicted for a Tesla T4" in found.headline and "not measured" in found.headline
    assert found.ratio > 1 and "times as fast as t4/02_vectorized_copy" in found.headline


def test_a_gpu_without_published_ladders_says_that_nothing_is_known():
    found = lab.kernel("first_kernels/02_ldmatrix").predict(on="h100", n=1024)
    assert "recorded on an H100" in found.trust and "published" not in found.trust and "TFLOPS" not in found.headline
    assert found.ratio > 1 and "as fast as first_kernels/01_plain_loads" in found.headline


def test_a_ladder_of_no_blind_trial_says_so():
    found = lab.kernel("b200/03_warp_specialised").predict(on="b200", n=4096)
    assert "No kernel of this ladder was recorded on a B200" in found.trust and "TFLOPS" not in found.headline
