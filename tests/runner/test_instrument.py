"""Checks inserted into PTX: every access has one, it names the learner's line, and the result assembles."""

import subprocess

import ptx_samples as samples
import pytest

from gpu_runner.postmortem.instrument import instrument, with_version
from gpu_runner.postmortem.ptx_text import statements

HEADER = ".version 8.5\n.target sm_80\n.address_size 64\n.visible .entry gemm()\n.maxntid 128\n{\n"


@pytest.mark.parametrize("name, arch", samples.CASES)
def test_the_result_assembles(name, arch, tmp_path):
    tool = samples.ptxas()
    if tool is None:
        pytest.skip("ptxas is not installed")
    path = tmp_path / "kernel.ptx"
    text = instrument(samples.ptx_of(name, arch)).ptx
    path.write_text(with_version(text, (9, 0) if arch == "sm_120a" else (8, 5)))
    done = subprocess.run(
        [tool, f"-arch={arch}", "-o", str(tmp_path / "kernel.cubin"), str(path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name, arch", samples.CASES)
def test_only_text_is_added(name, arch):
    before = samples.ptx_of(name, arch)
    rest = iter(instrument(before).ptx)
    assert all(char in rest for char in before)  # a subsequence: nothing was taken out or moved


def test_each_global_access_has_a_check_on_its_line():
    found = instrument(samples.ptx_of("loop", "sm_90a"))
    loads = [site for site in found.sites if site.what == "read"]
    stores = [site for site in found.sites if site.what == "write"]
    assert loads and {site.frames[-1] for site in loads} == {(loads[0].frames[-1][0], samples.line_of("loop", "a[i]"))}
    assert [site.frames[-1][1] for site in stores] == [samples.line_of("loop", "d[threadIdx.x]")]
    assert all(site.frames[-1][0].endswith("learner.cu") and site.size == 4 for site in loads + stores)
    assert any(site.what == "jump" for site in found.sites)


def test_a_wrapper_is_named_with_the_line_that_calls_it():
    found = instrument(samples.ptx_of("inline", "sm_90a"))
    copy = [site for site in found.sites if "cp.async" in site.instruction]
    assert [site.what for site in copy] == ["write", "read"] and copy[0].size == 16
    assert [line for _, line in copy[1].frames] == [
        samples.line_of("inline", "cp.async.cg"),
        samples.line_of("inline", "copy_16b(to"),
    ]
    assert any("ldmatrix" in site.instruction and site.size == 16 for site in found.sites)
    assert sum(site.what == "barrier" for site in found.sites) == 1


def test_a_guarded_access_is_checked_under_the_same_guard():
    text = instrument(samples.ptx_of("inline", "sm_90a")).ptx
    check = text[: text.index("@p ld.global.f32")].rstrip().splitlines()[-2]
    assert check.startswith("@p call gemmlab_global")


def test_a_spin_loop_in_inline_assembly_has_a_time_limit_and_its_own_caller():
    found = instrument(samples.ptx_of("wait", "sm_90a"))
    jumps = [site for site in found.sites if site.what == "jump"]
    assert [site.instruction for site in jumps] == ["bra LAB_WAIT;"] * 2
    assert [site.frames[-1][1] for site in jumps] == [
        samples.line_of("wait", "wait(barrier, 0)"),
        samples.line_of("wait", "wait(barrier + 8"),
    ]
    assert "counters" in found.variables


@pytest.mark.parametrize(
    "body, expected",
    [
        ("ld.global.v4.f32 {a, b, c, e}, [p+16];", [("read", 16)]),
        ("ld.global.nc.L1::no_allocate.v2.u64 {x, y}, [p];", [("read", 16)]),
        ("st.global.v8.b32 [p], {a, b, c, e, a, b, c, e};", [("write", 32)]),
        ("red.global.add.f16x2 [p], a;", [("atomic", 4)]),
        ("atom.global.cas.b64 x, [p], x, y;", [("atomic", 8)]),
        ("ld.param.u64 p, [gemm_param_0];", []),
        ("st.local.u32 [p], a;", []),
        ("ld.shared::cluster.u32 a, [s];", []),
        ("cp.async.ca.shared.global [s], [p], 4;", [("write", 4), ("read", 4)]),
        ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [p], 2048, [s];", [("read", 16)]),
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {a, b, c, e, a, b, c, e}, [s], 64;", [("read", 32)]),
        ("bar.sync 0;", [("barrier", 0)]),
        ("bar.warp.sync 0xffffffff;", []),
        ("mov.b64 p, {a, b};", []),
    ],
)
def test_what_an_instruction_touches(body, expected):
    registers = ".reg .b32 a, b, c, e, s;\n.reg .b64 p, x, y;\n"
    found = instrument(HEADER + registers + body + "\nret;\n}\n")
    assert [(site.what, site.size) for site in found.sites] == expected


def test_only_jumps_back_are_timed_and_labels_belong_to_their_scope():
    found = instrument(
        HEADER
        + """
LOOP:
{ .reg .pred p;  LOOP_INNER: @p bra LOOP_INNER; @!p bra AFTER; AFTER: }
{ LOOP_INNER: bra NEXT; NEXT: }
bra LOOP;
ret;
}
"""
    )
    assert [site.instruction for site in found.sites] == ["@p bra LOOP_INNER;", "bra LOOP;"]


def test_comments_and_strings_hide_nothing_and_add_nothing():
    text = (
        HEADER
        + """.reg .b64 %rd<4>; // st.global.u32 [%rd1], 5;
/* { */ st.global.u32 [%rd1+-8], 5;
}
.file 1 "a;b{.cu"
"""
    )
    assert [s.opcode for s in statements(text)] == ["st.global.u32"]
    assert "add.s64 gemmlab_t, gemmlab_t, -8;" in instrument(text).ptx


def test_the_version_is_lowered_but_never_raised():
    assert with_version(".version 9.5\n", (9, 0)) == ".version 9.0\n"
    assert with_version(".version 8.7\n", (9, 0)) == ".version 8.7\n"
