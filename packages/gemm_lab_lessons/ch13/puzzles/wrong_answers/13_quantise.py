"""Wrong answers to 13_quantise. The docstring of each holds words of its refusal."""

import ml_dtypes
import numpy as np


def _scaled(x, scale):
    tiles = x.reshape(x.shape[0], -1, 128)
    with np.errstate(all="ignore"):
        return (tiles / scale[:, :, None]).astype(ml_dtypes.float8_e4m3fn).reshape(x.shape)


def _largest(x):
    return np.abs(x.reshape(x.shape[0], -1, 128)).max(2)


def a_scale_forgotten(x):
    """further away than E4M3 rounds"""
    scale = np.where(_largest(x) > 0, _largest(x) / 448, 1)
    return x.astype(ml_dtypes.float8_e4m3fn), scale.T


def rows_first(x):
    """scale has the shape (48, 3); expected (3, 48)"""
    scale = np.where(_largest(x) > 0, _largest(x) / 448, 1)
    return _scaled(x, scale), scale


def largest_without_its_sign_taken_off(x):
    """so 0.002232 was expected"""
    scale = x.reshape(x.shape[0], -1, 128).max(2) / 448
    return _scaled(x, scale), scale.T


def scaled_to_one(x):
    """so 0.002232 was expected"""
    scale = np.where(_largest(x) > 0, _largest(x), 1)
    return _scaled(x, scale), scale.T


def one_scale_for_a_row(x):
    """scale[0, 0] is"""
    scale = np.broadcast_to(np.abs(x).max(1, keepdims=True) / 448, _largest(x).shape)
    return _scaled(x, scale), scale.T


def divides_by_zero(x):
    """scale[1, 7] is 0; the largest absolute value of these 128 is 0"""
    scale = _largest(x) / 448
    return _scaled(x, scale), scale.T


def multiplies_by_the_scale(x):
    """further away than E4M3 rounds"""
    scale = np.where(_largest(x) > 0, _largest(x) / 448, 1)
    return _scaled(x, 1 / scale), scale.T


def zeros(x):
    """and q times its scale is 0"""
    scale = np.where(_largest(x) > 0, _largest(x) / 448, 1)
    return np.zeros(x.shape, ml_dtypes.float8_e4m3fn), scale.T
