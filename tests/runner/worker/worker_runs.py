"""Problems, kernels and payloads for tests of the worker's operations over a CuPy made of Python."""

import numpy as np
from fake_cupy import C_FLOAT, C_INT, POINTER, view

from gemm_lab.measure.bounds import element_limits
from gemm_lab.measure.check import wire_problem
from gemm_lab.problem import Problem

ARGUMENTS = ("a", "b", "c", "d", "m", "n", "k", "alpha", "beta")
TYPES = (POINTER, POINTER, POINTER, POINTER, C_INT, C_INT, C_INT, C_FLOAT, C_FLOAT)
COMPILED = {"key": "k1", "name": "t4/x", "arch": "sm_90", "entry": "gemm", "cubin": b"\x7fELF"}
COMPILED |= {"threads": 128, "dynamic_smem": 0}


def problem(layout_a="row", layout_b="col", dtype="f16", acc="f32"):
    return Problem("D = alpha A B + beta C", dtype, acc, dtype, layout_a, layout_b, ARGUMENTS)


def gemm_of(what, spoil=lambda d: None):
    def gemm(a, b, c, d, m, n, k, alpha, beta):
        left = view(a, m * k, what.dtype_in).reshape(what.shape("a", m, n, k)).astype(np.float32)
        right = view(b, k * n, what.dtype_in).reshape(what.shape("b", m, n, k)).astype(np.float32)
        left, right = left if what.layout_a == "row" else left.T, right if what.layout_b == "row" else right.T
        out = view(d, m * n, what.dtype_out).reshape(m, n)
        out[...] = alpha * (left @ right) + beta * view(c, m * n, what.dtype_out).reshape(m, n).astype(np.float32)
        spoil(out)

    return gemm


def verify_payload(what, m=96, n=64, k=32, kind="integers", **changes):
    alpha, beta = 2.0, -1.0
    return {
        "compiled": COMPILED,
        "grid": (3, 2, 1),
        "cluster": (1, 1, 1),
        "arguments": list(ARGUMENTS),
        "problem": wire_problem(what),
        "m": m,
        "n": n,
        "k": k,
        "kind": kind,
        "limit": 3,
        "alpha": alpha,
        "beta": beta,
        "limits": element_limits(what, k, alpha),
        "block": (32, 32),
        "seed": 1,
        **changes,
    }
