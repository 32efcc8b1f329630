"""The mbarrier stepper's Python side: stories and steps that exist, and words for a terminal."""

import pytest

from gemm_lab.notebook import widgets
from gemm_lab_lessons.ch08.mbarrier_phases import STORIES
from gemm_results.errors import LabError


def test_it_opens_where_it_is_told_and_starts_a_new_story_at_its_first_step():
    w = widgets.mbarrier(step=4)
    assert w.moment.barrier.phase == 1 and w.moment.released == ("consumer",)
    w.story = "parity never flipped"
    assert w.step == 0 and w.moment.code == "mbarrier_init(barrier, 1)"
    w.step = 6
    assert not w.moment.good and w.moment.waiting == ()


def test_the_browser_gets_every_moment_of_every_story():
    w = widgets.mbarrier()
    assert list(w.moments) == w.stories == list(STORIES)
    for name in w.stories:
        w.story = name
        assert [m["phase"] for m in w.moments[name]] == [m.barrier.phase for m in w.played]


@pytest.mark.parametrize("arguments", [("no such story",), (None, 99), (None, -1)])
def test_what_does_not_exist_is_refused(arguments):
    with pytest.raises(LabError, match="There is no story “no such story”; there are full|has steps 0 to 10"):
        widgets.mbarrier(*arguments)


def test_a_bad_attribute_changes_nothing():
    w = widgets.mbarrier(step=2)
    with pytest.raises(LabError):
        w.step = 40
    with pytest.raises(LabError):
        w.story = "none"
    assert (w.story, w.step) == (w.stories[0], 2)


def test_words_for_people_without_a_browser():
    w = widgets.mbarrier("wrong parity: 1 where 0 is meant", 1)
    assert "step 1 of" in str(w) and "mbarrier_wait_parity(barrier, 1): phase 0, 1 of 1 arrivals" in str(w)
