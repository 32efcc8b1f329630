"""Counts of memory instructions follow the laws of banks and sectors."""

from math import gcd

import numpy as np
import pytest
from ptx_text import at, run, words

SCALED = "mul.lo.u32 %r0, %t, {stride};\n"


def site_of(report, opcode: str):
    (found,) = [site for site in report.sites if site.opcode.startswith(opcode)]
    return found


@pytest.mark.parametrize("stride", [0, 1, 2, 3, 4, 8, 16, 17, 31, 32])
def test_a_stride_of_words_meets_its_common_divisor_with_the_banks(stride):
    body = f"{SCALED.format(stride=stride)}mov.u32 %r20, smem; shl.b32 %r1, %r0, 2; add.u32 %r1, %r1, %r20; ld.shared.u32 %r2, [%r1];"
    site = site_of(run(body, None, None, None), "ld.shared")
    # Lanes of one word share a wavefront; the others of a bank wait.
    assert (site.executions, site.wavefronts, site.ideal_wavefronts) == (1, gcd(stride, 32) if stride else 1, 1)


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 8, 9, 64])
def test_a_stride_of_words_touches_so_many_sectors(stride):
    a = words(32 * 64)
    body = SCALED.format(stride=stride) + at("%a", "%r0", 4, "%q10") + "ld.global.u32 %r2, [%q10];"
    site = site_of(run(body, a, None, None), "ld.global")
    assert site.sectors == len(np.unique(np.arange(32) * stride * 4 // 32)) and site.requests == 1


def test_executions_count_warps_not_threads():
    report = run("add.u32 %r1, %t, 1;", None, None, None, 3, 96)
    assert site_of(report, "add.u32").executions == 9
    assert report.instructions == sum(site.executions for site in report.sites)


def test_totals_are_sums_of_sites():
    a, d = words(128), words(128)
    body = (
        at("%a", "%t", 4, "%q10") + at("%d", "%t", 4, "%q12") + "ld.global.u32 %r1, [%q10]; st.global.u32 [%q12], %r1;"
    )
    report = run(body, a, None, d, 1, 128)
    assert report.totals.sectors == sum(site.sectors for site in report.sites) == 2 * 128 * 4 // 32
