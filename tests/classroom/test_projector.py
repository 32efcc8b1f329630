"""Projector mode: a style sheet that a line switches on and off."""

import pytest

from gemm_lab_classroom import projector
from gpu_simulator.errors import ConfigError


@pytest.fixture
def outputs(monkeypatch):
    """What is shown under the name of the mode, as a notebook keeps it: an update changes every output there is."""
    there = []

    def update(data, **options):
        assert options == {"raw": True, "display_id": projector.NAME}
        there[:] = [data] * len(there)

    monkeypatch.setattr("IPython.display.display", lambda data, **_: there.append(data))
    monkeypatch.setattr("IPython.display.update_display", update)
    return there


def test_on_and_off(outputs):
    assert projector.projector("on") is True
    assert "--jp-code-font-size: 19.5px" in outputs[0]["text/html"] and "zoom: 1.5" in outputs[0]["text/html"]
    assert projector.projector(" OFF ") is False
    assert [data["text/html"] for data in outputs] == [""], "the output of the first cell is taken back"
    assert projector.projector("on") and all("zoom" in data["text/html"] for data in outputs)


@pytest.mark.parametrize("words", ["", "yes", "on off"])
def test_other_words_are_refused(outputs, words):
    with pytest.raises(ConfigError, match="%gemm_lab_projector on, or %gemm_lab_projector off"):
        projector.projector(words)
    assert outputs == []


def test_the_extension_has_the_magic():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "gemm_lab_classroom.projector")
    assert projector.NAME in shell.magics_manager.magics["line"]
