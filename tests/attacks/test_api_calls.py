"""Calls of the public functions with whatever a learner, or a program, may hand them: an answer or an error of the lab."""

import inspect
import os
import sys
from functools import lru_cache

import numpy as np
import pytest
from attack_scale import count
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gemm_lab as lab
from gpu_simulator.errors import LabError

pytestmark = pytest.mark.filterwarnings("ignore")
SMALL = (None, 1, 8, 16, 32)
CALLS_OF_ONE = {"full": 65, "sample": 5}


class Rude:
    """An object that answers no question."""

    def refuse(self, *_):
        raise RuntimeError("no")

    __repr__ = __str__ = __eq__ = __hash__ = __bool__ = __len__ = __iter__ = __index__ = __int__ = __float__ = refuse
    __lt__ = __add__ = __array__ = __getitem__ = __contains__ = refuse


class Named(str):
    """A text that cannot be shown."""

    def __repr__(self):
        raise ValueError("no")


TEXTS = (
    "", " ", "x", "t4", "t4/01", "simt/02_coalesced", "simt", "../../etc/passwd", "/", "a\x00b", "a\nb", "\x1b[31m", "é" * 50,
    "%s%s", "{0}", "T4", "H100", "sm_80", "sm_999", "simulator", "gpu", "4096", "__class__", "a" * 10_000, "<b>", "'; --",
    Named("t4"),
)  # fmt: skip
ARRAYS = (
    np.zeros((0, 0)), np.zeros((2, 2)), np.ones((16, 16), np.float16), np.ones((32, 32), np.float32), np.zeros(5),
    np.zeros((2, 2, 2)), np.zeros((4, 4), object), np.array(["a"]), np.zeros((4, 4), complex), np.full((8, 8), np.nan),
    np.zeros((3, 3), bool), np.array(3), np.zeros((4, 4), "M8[s]"), np.zeros((4, 4), [("a", "f4")]),
    np.ones((8, 4))[::2, ::-1], np.zeros((32, 32), np.int64), np.ma.masked_all((2, 2)),
)  # fmt: skip
SCALARS = (
    None, True, False, 0, -1, 3, 7, 2**31, 2**63, 10**30, -(10**30), 0.0, 1.5, -2.5, 1e308, float("nan"), float("inf"), 1j,
    np.int8(3), np.uint64(2**63), np.float16(2), np.bool_(True), np.datetime64("2020-01-01"), b"", b"abc", bytearray(3),
    range(3), slice(1), ..., NotImplemented, int, print, os, sys, Rude, Rude(), object(), Exception("x"), lambda: 1,
)  # fmt: skip


def one_of(values):
    """One of them, without asking any of them for its hash."""
    return st.integers(0, len(values) - 1).map(values.__getitem__)


_leaf = st.one_of(one_of(SCALARS), one_of(TEXTS), one_of(ARRAYS), one_of(SMALL))
ODD = st.one_of(
    _leaf, st.lists(_leaf, max_size=4), st.lists(_leaf, max_size=4).map(tuple),
    st.dictionaries(st.sampled_from(TEXTS), _leaf, max_size=3), st.lists(st.lists(_leaf, max_size=2), max_size=2),
)  # fmt: skip
NAMES = ("n", "m", "k", "rows", "row_bytes", "name", "sizes", "backend", "seed", "line", "arch", "on", "other", "block", "warp",
         "where", "text", "file", "alias", "first_line", "BLOCK_M", "BLOCK_K", "layout", "body", "regime", "alpha", "beta",
         "threads", "registers", "smem", "hazards", "\x00", "self", "function", "signature")  # fmt: skip


@lru_cache(maxsize=1)
def ready():
    """A kernel, one of its runs, a ladder: what the methods are called on."""
    kernel = lab.kernel("first_kernels/02_ldmatrix")
    return {"kernel": kernel, "run": kernel.run(32, backend="simulator"), "ladder": lab.ladder("simt"), "naive":
            lab.kernel("simt/02_coalesced")}  # fmt: skip


def target(owner, name):
    if owner == "lab":
        return getattr(lab, name)
    return getattr(ready()[owner], name) if name else ready()[owner]


TARGETS = (
    *(("lab", name) for name in ("kernel", "ladder", "exercise", "figure", "gpu", "here", "predict", "occupancy", "roofline",
                                 "puzzle", "swizzle", "swizzle_puzzle", "tiled_matmul", "zoom")),
    *(("kernel", name) for name in ("", "edit", "rewrite", "diff", "compile", "sass", "occupancy", "instruction_mix", "profile",
                                    "timeline", "gemm", "grid")),
    *(("naive", name) for name in ("gemm", "run")),
    *(("run", name) for name in ("hot_lines", "inspect", "trace", "timeline", "as_dict")),
    *(("ladder", name) for name in ("bench", "recorded")),
)  # fmt: skip


def too_long(owner, name, values):
    """Whether a call is a legitimate order of much work."""
    if (owner, name) in {("naive", "run"), ("kernel", "timeline"), ("ladder", "bench"), ("ladder", "recorded")}:
        return not values or any(isinstance(v, (int, float, np.integer)) and v > 64 for v in _leaves(values))
    return False


def _leaves(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        elif isinstance(value, dict):
            yield from _leaves(value.values())
        else:
            yield value


def fitted(function, values, named, keep):
    """Arguments for a call: as many as it takes, most of them under names that it knows. keep: bits of what is given."""
    parameters = list(inspect.signature(function).parameters.values())
    if keep & 7 == 7:  # as they come
        return values[: keep >> 3 & 3], named
    by_place = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = sum(p.default is p.empty for p in by_place)
    given = values[: needed + (keep >> 3) % (len(by_place) - needed + 1)]
    later = [p.name for p in parameters if p not in by_place and p.kind == p.KEYWORD_ONLY]
    later += list(named) if any(p.kind == p.VAR_KEYWORD for p in parameters) else []
    return given, {
        name: value for n, (name, value) in enumerate(zip(later, values[::-1], strict=False)) if keep >> n & 1
    }


@pytest.mark.parametrize(("owner", "name"), TARGETS)
@settings(max_examples=count(**CALLS_OF_ONE), derandomize=True, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(values=st.lists(ODD, min_size=6, max_size=6), keep=st.integers(0, 255),
       named=st.dictionaries(st.sampled_from(NAMES), ODD, max_size=2))  # fmt: skip
def test_a_call_returns_or_raises_an_error_of_the_lab(owner, name, values, keep, named):
    function = target(owner, name)
    values, named = fitted(function, values, named, keep)
    if too_long(owner, name, [*values, *named.values()]):
        return
    try:
        function(*values, **named)
    except LabError as error:
        assert str(error)
    except TypeError as error:
        assert signature_is_wrong(error), error


def signature_is_wrong(error) -> bool:
    """Python's own word on a call that does not fit: raised by the call itself or by `@checked`, not deeper."""
    trace, deepest = error.__traceback__, None
    while trace is not None:
        deepest, trace = trace.tb_frame.f_code, trace.tb_next
    return deepest.co_filename.endswith(("inspect.py", "test_api_calls.py", "arguments.py"))
