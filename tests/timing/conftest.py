"""What tests of predicted times share."""

import dataclasses

import pytest

import gemm_lab as lab


@pytest.fixture
def without_machine_code(monkeypatch):
    """A function that gives the kernel of a name, compiled as where no compiler makes machine code."""

    def made(name):
        kernel = lab.kernel(name)
        empty = dataclasses.replace(kernel.compile("sm_90a"), cubin=b"")
        monkeypatch.setattr(type(kernel), "compile", lambda self, arch=None: empty)
        return kernel

    return made
