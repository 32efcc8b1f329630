"""The animated picture of the live page: it shows what the page answers, and is refused where that is something else."""

import io

import pytest
from PIL import Image

from gemm_results.errors import LabError
from tools.live import demo


class FakePage:
    """A page that answers each Run with the next of `answers`, and changes its colour with every picture."""

    def __init__(self, *answers):
        self.answers, self.written, self.shots = list(answers), [], 0

    def evaluate(self, code, argument=None):
        if ".insert(" in code:
            self.written.append(argument[0])
        if code == "window.lastAnswer":
            return self.answers.pop(0)

    def screenshot(self):
        self.shots += 1
        file = io.BytesIO()
        Image.new("RGB", (demo.WIDTH, demo.HEIGHT), (20 * self.shots, 0, 99)).save(file, "PNG")
        return file.getvalue()

    def click(self, selector):
        assert selector == "#run"

    def wait_for_selector(self, selector):
        pass

    wait_for_function = wait_for_timeout = wait_for_selector


def answer(wavefronts, passed=True):
    return {"passed": passed, "lines": [{"wavefronts": wavefronts // 2}] * 2}


def test_the_film_becomes_a_picture_that_moves_and_begins_again(tmp_path):
    page = FakePage(answer(2816), answer(17152))
    film = demo.play(page)
    film.save(tmp_path / "a.gif")
    image = Image.open(tmp_path / "a.gif")
    assert page.written == [demo.WITHOUT] * len(demo.CHANGED)
    assert image.n_frames == page.shots == len(film.times) and image.info["loop"] == 0
    image.seek(image.n_frames - 1)
    assert image.info["duration"] == film.times[-1] >= 3000, "long enough to read"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (answer(2816), answer(2816)),
        (answer(2816), answer(17152, passed=False)),
        (answer(2816, passed=False), answer(17152)),
    ],
)
def test_a_film_that_would_tell_something_else_is_refused(before, after):
    with pytest.raises(LabError, match="The picture would be wrong"):
        demo.play(FakePage(before, after))


def test_the_lines_that_change_are_those_with_the_xor():
    from gemm_lab import catalog

    lines = catalog.kernel(demo.KERNEL).source.split("\n")
    assert [number for number, line in enumerate(lines, 1) if demo.XOR in line] == list(demo.CHANGED)
    assert all("ldmatrix_x4" in lines[number - 1] for number in (demo.READ - 1, demo.READ + 4))


def test_without_a_page_there_is_a_sentence(tmp_path, capsys):
    pytest.importorskip("playwright.sync_api")
    assert demo.main([str(tmp_path), str(tmp_path / "a.gif")]) == 1
    assert "the folder that `python -m tools.live` writes" in capsys.readouterr().err
