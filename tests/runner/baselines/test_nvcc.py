"""Shared libraries built by nvcc: found, named by what they are made of, built at once; a fake nvcc stands in."""

import dataclasses
import os
import stat

import pytest

from gpu_runner.baselines import nvcc
from gpu_simulator.errors import MissingDependency

FAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.0, V{version}"; exit 0; fi
echo "$@" >> {log}
for last; do :; done
case "$*" in
  *BROKEN*) echo "{log}/src/gemm.cu(7): error: identifier \\"oops\\" is undefined" >&2; echo "1 error" >&2; exit 2;;
  *NOTHING*) exit 0;;
  *SLOW*) sleep 0.5;;
  *TOGETHER*) n=0; while [ $(grep -c TOGETHER {log}) -lt 4 ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done
              [ $n -lt 600 ] || exit 3;;
esac
echo library > "$last"
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A folder with an nvcc of its own on PATH, and an empty cache. `.make(version)` replaces the compiler."""
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path / "cache"))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(nvcc, "USUAL_FOLDERS", ())
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.defpath}")

    def make(version="13.0.88", folder=tmp_path / "bin"):
        nvcc.version.cache_clear()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "nvcc"
        path.write_text(FAKE.format(version=version, log=tmp_path / "log"))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    (tmp_path / "gemm.cu").write_text("// a kernel\n")
    make()
    yield make
    nvcc.version.cache_clear()


def build(tmp_path, **defines):
    return nvcc.Build(tmp_path / "gemm.cu", defines, (tmp_path,), "sm_90a", "CUTLASS 4.2")


def asked(tmp_path):
    """The commands that the fake nvcc was given."""
    log = tmp_path / "log"
    return log.read_text().splitlines() if log.is_file() else []


def test_it_is_found_on_the_path_then_in_the_toolkits_folders(fake, tmp_path, monkeypatch):
    assert nvcc.find() == tmp_path / "bin" / "nvcc" and nvcc.version(nvcc.find()) == "13.0.88"
    elsewhere = fake(folder=tmp_path / "toolkit" / "bin")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependency, match="CUDA toolkit"):
        nvcc.find()
    monkeypatch.setattr(nvcc, "USUAL_FOLDERS", (str(elsewhere.parent),))
    assert nvcc.find() == elsewhere
    monkeypatch.setattr(nvcc, "USUAL_FOLDERS", ())
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    assert nvcc.find() == elsewhere


def test_a_program_that_is_not_nvcc_is_refused(fake):
    path = fake(version="unknown")
    with pytest.raises(MissingDependency, match="version"):
        nvcc.version(path)


def test_a_library_is_built_once_with_its_macros_and_architecture(fake, tmp_path):
    made = nvcc.shared_library(build(tmp_path, BLOCK_M=128, ELEMENT="cutlass::half_t"), nvcc.find())
    assert made.read_text() == "library\n" and made.is_relative_to(tmp_path / "cache")
    (command,) = asked(tmp_path)
    for part in ("-arch=sm_90a", "-DBLOCK_M=128", "-DELEMENT=cutlass::half_t", f"-I{tmp_path}", "-cudart=static"):
        assert part in command.split()
    assert nvcc.shared_library(build(tmp_path, BLOCK_M=128, ELEMENT="cutlass::half_t"), nvcc.find()) == made
    assert len(asked(tmp_path)) == 1
    assert [path.name for path in made.parent.iterdir()] == [made.name], "nothing half-made is left"


def test_whatever_changes_the_machine_code_changes_the_name(fake, tmp_path):
    base = build(tmp_path, BLOCK_M=128)
    names = [base.target(nvcc.find())]
    for change in ({"defines": {"BLOCK_M": 256}}, {"arch": "sm_75"}, {"headers": "CUTLASS 4.3"}):
        names.append(dataclasses.replace(base, **change).target(nvcc.find()))
    names.append(base.target(fake(version="13.1.12")))
    (tmp_path / "gemm.cu").write_text("// another kernel\n")
    names.append(base.target(fake()))
    assert len(set(names)) == len(names) == 6
    (tmp_path / "gemm.cu").write_text("// a kernel\n")
    same = dataclasses.replace(base, includes=(tmp_path / "moved",))
    assert same.target(nvcc.find()) == names[0], "where the same headers lie does not matter"


@pytest.mark.parametrize(
    "macro, words", [("BROKEN", r'gemm.cu\(7\): error: identifier "oops"'), ("NOTHING", "no reason")]
)
def test_a_refused_source_is_a_sentence_and_leaves_nothing(fake, tmp_path, macro, words):
    with pytest.raises(nvcc.BuildError, match=words) as caught:
        nvcc.shared_library(build(tmp_path, **{macro: 1}), nvcc.find())
    assert str(tmp_path) not in str(caught.value)
    assert list((tmp_path / "cache" / "libraries").iterdir()) == []


def test_a_compiler_that_hangs_is_given_up(fake, tmp_path, monkeypatch):
    monkeypatch.setattr(nvcc, "BUILD_LIMIT_S", 0.1)
    with pytest.raises(nvcc.BuildError, match="not finished after 0.1 s"):
        nvcc.shared_library(build(tmp_path, SLOW=1), nvcc.find())


def test_one_failure_among_several_is_named_and_the_others_go_on(fake, tmp_path):
    reports = []
    builds = {"small": build(tmp_path, SIZE=1), "bad": build(tmp_path, BROKEN=1), "large": build(tmp_path, SIZE=2)}
    made = nvcc.shared_libraries(builds, nvcc.find(), lambda *facts: reports.append(facts))
    assert list(made) == ["small", "bad", "large"]
    assert made["small"].is_file() and made["large"].is_file() and "oops" in made["bad"]
    assert reports[0] == ("", 0, 3) and {name for name, *_ in reports[1:]} == set(builds)
    assert [done for _, done, _ in reports] == [0, 1, 2, 3]
    again = []
    assert nvcc.shared_libraries({"small": builds["small"]}, nvcc.find(), lambda *facts: again.append(facts)) == {
        "small": made["small"]
    }
    assert again == [], "what is built already is not reported"


def test_builds_run_side_by_side(fake, tmp_path, monkeypatch):
    """Each of the four ends only after all of them have begun."""
    monkeypatch.setattr(nvcc.os, "cpu_count", lambda: 4)
    made = nvcc.shared_libraries({str(i): build(tmp_path, TOGETHER=i) for i in range(4)}, nvcc.find())
    assert all(library.is_file() for library in made.values())
