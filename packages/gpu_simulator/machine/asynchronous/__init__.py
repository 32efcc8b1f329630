"""Asynchronous units: cp.async, bulk copies, wgmma, tcgen05 and its tensor memory."""
