"""Where CUDA's headers are found: the packages of CUDA 13 and 12 lie differently, and a machine may have no toolkit."""

import site
import sys

import pytest

from gpu_simulator.compiler import nvrtc_library
from gpu_simulator.errors import MissingDependency

FP16, MMA, LIBCUXX = "cuda_fp16.h", "crt/mma.h", "cuda/std/type_traits"
CUDA_12 = {"cuda_runtime/include": FP16, "cuda_nvcc/include": MMA, "cuda_cccl/include": LIBCUXX}


@pytest.fixture
def found(tmp_path, monkeypatch):
    """found(major, packages, toolkit): the folders, relative to tmp_path, where these and only these headers exist."""

    def run(major, packages, toolkit=()):
        here = tmp_path / "site-packages" / "nvidia"
        headers = [here / folder / name for folder, name in packages]
        headers += [tmp_path / "toolkit" / "include" / name for name in toolkit]
        for header in headers:
            header.parent.mkdir(parents=True, exist_ok=True)
            header.touch()
        monkeypatch.setattr(sys, "path", [str(here.parent)])
        monkeypatch.setattr(site, "getsitepackages", lambda: [str(here.parent)])
        monkeypatch.setattr(nvrtc_library, "version", lambda: (major, 0))
        monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
        return [
            path.removeprefix(f"{tmp_path}/").removeprefix("site-packages/nvidia/")
            for path in nvrtc_library.toolkit_includes.__wrapped__()
        ]

    return run


def test_packages_of_cuda_13_share_a_folder(found):
    packages = [("cu13/include", FP16), ("cu13/include", MMA), ("cu13/include/cccl", LIBCUXX)]
    assert found(13, packages, toolkit=(FP16, MMA, LIBCUXX)) == ["cu13/include", "cu13/include/cccl"]


def test_packages_of_cuda_12_have_a_folder_each_and_need_no_toolkit(found):
    assert found(12, CUDA_12.items()) == list(CUDA_12)


def test_a_toolkit_of_another_version_is_not_mixed_in(found):
    assert found(12, CUDA_12.items(), toolkit=(FP16, MMA, LIBCUXX)) == list(CUDA_12)


def test_an_installed_toolkit_gives_what_no_package_does(found):
    assert found(12, [("cuda_runtime/include", FP16)], toolkit=(FP16, MMA)) == [
        "cuda_runtime/include",
        "toolkit/include",
    ]
    assert found(13, [], toolkit=(FP16, MMA, "cccl/" + LIBCUXX)) == [
        "cuda_runtime/include",
        "toolkit/include",
        "toolkit/include/cccl",
    ]


@pytest.mark.parametrize("major, extra", [(12, "cudart,nvcc,cccl]==12."), (13, "cudart,crt,cccl]==13.")])
def test_without_headers_a_sentence_names_the_packages(found, major, extra):
    with pytest.raises(MissingDependency, match="pip install") as caught:
        found(major, [("cuda_nvcc/include", MMA)])
    assert extra in str(caught.value)
