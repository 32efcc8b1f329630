"""What tests of submissions share. `small_course` is imported late, because it needs nbgrader."""

from unittest import mock

import pytest


@pytest.fixture(scope="module")
def graded_by_a_word():
    """In the tests of a module a word in an answer decides its grade, and no process is started."""
    from small_course import by_a_word, nbgrader_steps

    with mock.patch.object(nbgrader_steps, "grade", by_a_word):
        yield


@pytest.fixture(scope="module")
def classroom(graded_by_a_word, tmp_path_factory):
    from small_course import Course

    return Course(tmp_path_factory.mktemp("classroom"))
