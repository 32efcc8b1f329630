"""Symbolic links in a submission lead out of it: to the gradebook, or to the work of another student."""

import pytest

pytest.importorskip("nbgrader", reason="needs the extra course")

from small_course import CHOICE, KERNEL, NAME  # noqa: E402

ALL, NONE = {KERNEL: 10, CHOICE: 10}, {KERNEL: 0, CHOICE: 0}


def everything_in(folder):
    """The bytes of all files that a step of nbgrader has written for a student."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_symbolic_link_is_not_followed_and_named(classroom, caplog):
    """To the gradebook, to a folder, from a folder whose name is a pattern, and to nothing: the rest is graded."""
    classroom.hand_in("linking", classroom.solved())
    folder = classroom.folder / "submitted" / "linking" / NAME
    secret = classroom.folder / "secret.txt"
    secret.write_text("for the teacher only")
    (folder / "sub[1]").mkdir()
    (folder / "own.txt").write_text("of the student")
    for name, target in (
        ("data.bin", classroom.folder / "gradebook.db"),
        ("sub[1]/notes.txt", secret),
        ("folder", classroom.folder / "source"),
        ("nowhere", "/no/such/file"),
    ):
        (folder / name).symlink_to(target)
    classroom.grade("linking")
    assert classroom.scores("linking") == ALL
    for step in ("autograded", "feedback"):
        written = classroom.folder / step / "linking" / NAME
        assert (written / "own.txt").read_text() == "of the student"
        assert not any((written / name).exists() for name in ("data.bin", "sub[1]/notes.txt", "folder", "nowhere"))
        assert b"for the teacher" not in everything_in(written)
    assert "these were left out: data.bin, folder, nowhere, sub[1]/notes.txt" in classroom.page("linking")
    assert "data.bin" in caplog.text and "linking" in caplog.text


@pytest.mark.parametrize("what", ["notebook", "folder"])
def test_a_notebook_of_somebody_else_is_not_read_through_a_link(what, classroom):
    """The work of another student, by a link to the notebook or to the folder, earns nothing and is not copied."""
    if not (classroom.folder / "submitted" / "working").exists():
        classroom.hand_in("working", classroom.solved())
        (classroom.folder / "submitted" / "working" / NAME / "private.txt").write_text("a diary")
    student, source = f"links_{what}", classroom.folder / "submitted" / "working" / NAME
    target = classroom.folder / "submitted" / student / NAME
    target.parent.mkdir(parents=True)
    if what == "folder":
        target.symlink_to(source)
    else:
        target.mkdir()
        (target / f"{NAME}.ipynb").symlink_to(source / f"{NAME}.ipynb")
    classroom.grade(student)
    assert classroom.scores(student) == NONE
    assert "symbolic link, which is not followed. Nothing of it was graded" in classroom.page(student)
    assert not (classroom.folder / "feedback" / student / NAME / "private.txt").exists()
    assert "RIGHT" not in classroom.page(student)
