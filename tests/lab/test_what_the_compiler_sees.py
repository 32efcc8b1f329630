"""The second wall: whatever a text gets past its rules, the compiler's process has nothing to show but headers."""

import os
import stat
from pathlib import Path

import pytest

import gemm_lab as lab
from gemm_lab.config import cache_dir, data_dir
from gpu_simulator import compiler
from gpu_simulator.compiler import compiled_cache, sandbox
from gpu_simulator.compiler.compiler_process import CompilerProcess

HEADERS = [str(data_dir("kernels") / "include")]
confined = pytest.mark.skipif(not sandbox.available()[0], reason=sandbox.available()[1])


@pytest.fixture(scope="module")
def closed():
    made = CompilerProcess(readable=())
    yield made
    made.end()


def asked(process, text):
    return process.ask(text, {}, "sm_80", "kernel", HEADERS, [])


# ---- Files ----


@confined
@pytest.mark.parametrize(
    "path",
    [
        "/etc/hostname",
        "/etc/passwd",
        "{notebooks}/../packages/gemm_lab_lessons/ch06/solutions/06_swizzle.cu",
        "{kernels}/t4/03_swizzled.cu",
        "../t4/03_swizzled.cu",
        "../../packages/gemm_lab_lessons/ch06/solutions/06_swizzle.cu",
        "{here}",
        "/proc/self/environ",
    ],
)
def test_no_other_file_can_be_included(closed, path):
    path = path.format(notebooks=data_dir("notebooks"), kernels=data_dir("kernels"), here=__file__)
    log, ptx, _ = asked(closed, f'int zz =\n#include "{path}"\n;')
    assert ptx is None and "cannot open source file" in log
    if os.path.isabs(path) and not path.startswith("/proc"):
        assert not [line for line in Path(path).read_text().split("\n") if len(line) > 8 and line.strip() in log]


@confined
@pytest.mark.parametrize("path", ["/etc/shadow", "/etc/hostname", "/etc/there_is_no_such_file", "../t4/03_swizzled.cu"])
def test_it_does_not_tell_whether_a_file_exists(closed, path):
    log, *_ = asked(closed, f'#if __has_include("{path}")\n#error it is there\n#else\n#error it is not\n#endif\n')
    assert "#error directive: it is not" in log


@pytest.mark.long
@confined
def test_the_headers_of_cuda_and_of_the_lab_are_all_there(closed):
    headers = [
        path.relative_to(data_dir("kernels") / "include").as_posix()
        for path in (data_dir("kernels") / "include").rglob("*.cuh")
    ]
    text = "".join(f'#include "{name}"\n' for name in headers if name.startswith("ptx/"))
    for source in (
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cooperative_groups.h>\n#include <mma.h>\n" + text,
        "#include <cuda/barrier>\n",
    ):
        log, ptx, _ = asked(closed, source)
        assert ptx is not None, log


@confined
def test_the_working_folder_is_open_to_those_who_work_in_it(tmp_path, monkeypatch):
    (tmp_path / "mine.cuh").write_text("constexpr int MINE = 3;\n")
    monkeypatch.chdir(tmp_path)
    made = CompilerProcess()
    text = '#include "mine.cuh"\nextern "C" __global__ void gemm(int* d) { *d = MINE; }'
    assert made.ask(text, {}, "sm_80", "kernel", HEADERS, [])[1] is not None
    made.end()
    closed = CompilerProcess(readable=())
    assert closed.ask(text, {}, "sm_80", "kernel", HEADERS, [])[1] is None
    closed.end()


@confined
def test_a_confined_process_writes_nothing_and_connects_to_nobody(tmp_path):
    import subprocess
    import sys

    program = f"""
import pathlib, socket
from gpu_simulator.compiler import sandbox
assert sandbox.confine([pathlib.Path({str(tmp_path)!r})])
for what, act in {{
    "write": lambda: open({str(tmp_path / "x")!r}, "w"), "read": lambda: open("/etc/passwd"), "list": lambda: __import__("os").listdir("/etc"),
    "make": lambda: __import__("os").mkdir({str(tmp_path / "d")!r}), "connect": lambda: socket.create_connection(("127.0.0.1", 9), 1),
    "serve": lambda: socket.create_server(("127.0.0.1", 0)), "run": lambda: __import__("os").execv("/bin/true", ["true"]),
    "signal": lambda: __import__("os").kill(__import__("os").getppid(), 0),
}}.items():
    try:
        act()
    except PermissionError:
        continue
    print(what)
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=data_dir("kernels").parent
    )
    said = done.stdout.split()
    assert said[-1:] == ["done"], done.stderr
    # What later versions of Landlock add may be missing.
    assert set(said) <= {"done", "signal", "connect", "serve"}, said
    assert sandbox.available()[1].endswith(tuple("12345")) or said == ["done"], said


# ---- The cache ----


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two kernels in a cache of their own: (first, second, folder)."""
    monkeypatch.setenv("GEMM_LAB_CACHE", str(tmp_path))
    first, second = lab.kernel("simt/01"), lab.kernel("simt/02")
    return first, second, (first.compile("sm_75"), second.compile("sm_75")), tmp_path / "compiled"


def test_an_entry_under_the_name_of_another_is_none(two):
    first, second, (one, other), folder = two
    a, b = folder / f"{one.key}.kernel", folder / f"{other.key}.kernel"
    kept = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(kept)
    assert first.compile("sm_75").ptx == one.ptx and second.compile("sm_75").ptx == other.ptx


def test_a_pickle_is_never_loaded(two, tmp_path):
    import pickle

    first, _, (one, _), folder = two
    mark = tmp_path / "mark"

    class Bad:
        def __reduce__(self):
            return open, (str(mark), "w")

    for name in (f"{one.key}.kernel", f"{one.key}.pickle"):
        (folder / name).write_bytes(pickle.dumps(Bad()))
    assert first.compile("sm_75") == one and not mark.exists()
    for module in (compiled_cache, compiler.compiler_process):
        assert "pickle" not in Path(module.__file__).read_text()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users as on POSIX")
def test_the_folder_and_its_files_are_the_users_alone(two):
    first, _, (one, _), folder = two
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    path = folder / f"{one.key}.kernel"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    folder.chmod(0o777)
    first.compile("sm_75")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    path.chmod(0o666)  # others may have written it
    assert compiled_cache.read(cache_dir() / "compiled", one.key, compiler.Compiled) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_another_user_has_written_is_not_read(two):
    _, _, (one, _), folder = two
    assert compiled_cache.read(cache_dir() / "compiled", one.key, compiler.Compiled) == one
    os.chown(folder / f"{one.key}.kernel", 12345, 12345)
    assert compiled_cache.read(cache_dir() / "compiled", one.key, compiler.Compiled) is None
    os.chown(folder, 12345, 12345)
    compiled_cache.write(cache_dir() / "compiled", one.key, one)
    assert compiled_cache.read(cache_dir() / "compiled", one.key, compiler.Compiled) is None


def test_a_link_is_not_followed(two, tmp_path):
    _, _, (one, _), folder = two
    path, elsewhere = folder / f"{one.key}.kernel", tmp_path / "elsewhere"
    elsewhere.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(elsewhere)
    assert compiled_cache.read(cache_dir() / "compiled", one.key, compiler.Compiled) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: b"",
        lambda data: data[:30],
        lambda data: b"\0" * len(data),
        lambda data: data.replace(b'"registers": ', b'"registers": 9'),
        lambda data: data.replace(b"sm_75", b"sm_80"),
    ],
)
def test_a_damaged_entry_costs_a_compilation(two, damage):
    first, _, (one, _), folder = two
    path = folder / f"{one.key}.kernel"
    path.write_bytes(damage(path.read_bytes()))
    assert compiled_cache.read(cache_dir() / "compiled", one.key, compiler.Compiled) is None
    assert (
        first.compile("sm_75") == one
        and compiled_cache.read(cache_dir() / "compiled", one.key, compiler.Compiled) == one
    )


def test_an_entry_with_values_of_other_types_is_none(two):
    import hashlib
    import json

    _, _, (one, _), folder = two
    path = folder / f"{one.key}.kernel"
    head, digest, text, cubin = path.read_bytes().split(b"\n", 3)
    for name, value in (
        ("ptx", 3),
        ("registers", "9"),
        ("registers", True),
        ("files", []),
        ("warnings", [{"file": 1}]),
        ("warnings", 7),
        ("more", 1),
        ("config", None),
    ):
        body = json.dumps({**json.loads(text), name: value}).encode() + b"\n" + cubin
        path.write_bytes(head + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        assert compiled_cache.read(cache_dir() / "compiled", one.key, compiler.Compiled) is None, name
