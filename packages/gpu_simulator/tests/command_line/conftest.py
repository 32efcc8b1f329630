"""The command line as the tests of this folder call it."""

import pytest

from gpu_simulator.cli.command_line import main


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """run(words): the exit code, and what was printed on both streams; files lie in the working folder."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str]:
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call
