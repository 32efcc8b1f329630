"""What a launch that still runs is doing, in words: for whoever waits, and for whoever stops it."""

from __future__ import annotations

from typing import Any


def progress(launch: Any) -> str:
    """What the launch is doing, in words: how much it has executed, and the line at which most threads are.

    launch: a `launching.Launch`.
    """
    done = f"{launch.effort.instructions:,} warp instructions, {launch.started:,} of {launch.blocks:,} blocks begun"
    resident = launch.running
    try:
        index, threads, living = resident.crowd() if resident is not None else (None, 0, 0)
    except AttributeError:  # the group has just ended, and its arrays are gone
        index, threads, living = None, 0, 0
    if not living:
        return done
    where = f"at {_place(launch, index)}" if index is not None else "waiting at a barrier"
    return f"{threads:,} of {living:,} threads {where}; {done}"


def _place(launch: Any, index: int) -> str:
    """The first source line of a basic block in words; without one, its PTX line."""
    block = launch.program.blocks[index]
    found = next((item.location.frames for item in block.instructions if item.location), None)
    if not found:
        return f"PTX line {block.line}"
    (file, line), (caller, call) = found[0], found[-1]
    return f"{file}:{line}" + (f", called from {caller}:{call}" if found[1:] else "")
