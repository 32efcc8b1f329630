"""Sizes that a PTX text declares are looked at before anything of that size is taken from memory."""

import subprocess
import sys

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.errors import SimulatorError

MB = 1 << 20
MODULE = """.version 8.0
.target {target}
.address_size 64
GLOBAL
.visible .entry kernel(.param .u64 p HEAD) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  LOCAL
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 7;
  BODY
  st.global.u32 [%rd1], %r1;
  ret;
}
"""


def module(outside="", inside="", body="", head="", target="sm_80"):
    text = MODULE.replace("{target}", target).replace("GLOBAL", outside).replace("LOCAL", inside)
    return text.replace("BODY", body).replace("HEAD", head)


def use(name, space="local"):
    return f"mov.u64 %rd2, {name}; st.{space}.u32 [%rd2], %r1;"


TWO_FUNCTIONS = "\n".join(f".func f{n}() {{ {f'call f{n - 1}; call f{n - 1};' if n else ''} ret; }}" for n in range(40))
WITH_REGISTERS = "\n".join(
    f".func g{n}() {{ .reg .b32 %q<40000>; {f'call g{n - 1};' if n else ''} ret; }}" for n in range(6)
)
CASES = {
    "3 GB of global memory": module(".global .align 1 .b8 big[3221225472];"),
    "3 GB in many variables": module("\n".join(f".global .align 4 .b8 v{n}[1048576];" for n in range(3000))),
    "an array of arrays": module(".global .align 4 .b32 m[4096][4096][4096];"),
    "a size beyond 64 bits": module(".global .b64 m[9999999999][9999999999][9999999999];"),
    "a size that would wrap to 0": module(".global .b64 m[4294967296][4294967296];"),
    "constant memory": module(".const .align 4 .b8 c[3221225472];"),
    "a little data and a long tail": module(".global .align 4 .b8 c[3221225472] = {1, 2, 3};"),
    "data that are an address": module(".global .align 8 .u64 c[999999999] = {c};"),
    "shared memory": module("", ".shared .align 4 .b8 s[3221225472];", use("s", "shared")),
    "shared memory of an unknown target": module("", ".shared .align 4 .b8 s[3221225472];", use("s", "shared"), target="sm_999"),
    "local memory": module("", ".local .align 4 .b8 l[33554432];", use("l")),
    "local memory beyond 64 bits": module("", ".local .align 4 .b8 l[99999999999][99999999999];", use("l")),
    "a parameter": module(head=", .param .align 4 .b8 q[3221225472]"),
    "a parameter of a call": module(
        ".func f(.param .b8 a[3221225472]) { ret; }", "", "{ .param .b8 b[3221225472]; mov.u64 %rd2, b; call f, (b); }"
    ),
    "registers of one name": module("", ".reg .b32 %x<100001>;"),
    "registers of many names": module("", "".join(f".reg .b64 %x{n}_<90000>;" for n in range(100))),
    "registers of functions": module(WITH_REGISTERS, "", "call g5;"),
    "copies of functions in functions": module(TWO_FUNCTIONS, "", "call f39;"),
    "an alignment": module(".global .align 1073741824 .b8 a[4];"),
    "an alignment of 0": module(".global .align 0 .b8 a[4];"),
    "an alignment that is no power of two": module(".global .align 3 .b8 a[4];"),
    "a negative size": module(".global .b8 a[-4];"),
    "a number of 5,000 digits": module(f".global .b8 a[{'9' * 5000}];"),
    "more data than declared": module(".global .b8 a[2] = {1, 2, 3};"),
    "blocks times registers": module("", ".reg .b32 %x<99000>;", "".join(f"L{n}: mov.u32 %r1, 1;" for n in range(20_000))),
}  # fmt: skip


def attempt(name):
    """What the simulator says to one of the cases."""
    with pytest.raises(SimulatorError) as said:
        extra = [1] if name == "a parameter" else []
        gpu_simulator.launch(CASES[name], "kernel", 1, 32, [np.zeros(64, np.int32), *extra], max_bytes=100 * MB)
    return str(said.value)


@pytest.mark.parametrize("name", CASES)
def test_a_declared_size_is_refused_with_a_sentence(name):
    text = attempt(name)
    assert 20 < len(text) < 600 and text.endswith(".")


def test_the_sentence_says_what_would_work():
    text = attempt("3 GB of global memory")
    assert "6.0 GB for the variables of the module" in text and "the 100.0 MB that it may take here" in text
    assert "__device__ and __constant__ arrays of the source smaller" in text


GROWTH = """
import resource, sys
sys.path[:0] = sys.argv[1:]
from test_declared_sizes import CASES, MB, attempt
import gpu_simulator
import numpy as np
gpu_simulator.launch(CASES["an alignment"].replace("1073741824", "4"), "kernel", 1, 32, [np.zeros(64, np.int32)])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
worst = before
for name in CASES:
    attempt(name)
    now = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{now - worst:>10} kB  {name}")
    worst = now
print(worst - before)
"""


@pytest.mark.long
def test_none_of_them_takes_the_memory_that_it_declares(request):
    """All of them, one after the other, in a process of their own: its largest resident size grows by little."""
    done = subprocess.run([sys.executable, "-c", GROWTH, str(request.path.parent), *filter(None, sys.path)],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) < 250 * 1024, done.stdout


def test_variables_within_the_limit_hold_their_data():
    text = module(
        ".global .align 4 .b8 big[1048576] = {7, 0, 0, 0, 9}; .global .align 8 .u64 at = big + 4;",
        "",
        "mov.u64 %rd2, at; ld.global.u64 %rd3, [%rd2]; ld.global.u32 %r1, [%rd3]; ld.global.u32 %r2, [big]; "
        "add.u32 %r1, %r1, %r2; ld.global.u32 %r2, [big+1048572]; add.u32 %r1, %r1, %r2;",
    )
    out = np.zeros(1, np.int32)
    gpu_simulator.launch(text, "kernel", 1, 1, [out], max_bytes=20 * MB)
    assert out[0] == 16
