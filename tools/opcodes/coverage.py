"""The opcodes of the simulator that have no case, with the reasons."""

from __future__ import annotations

UNTESTED = {
    "bar": "barriers give no value; packages/gpu_simulator/tests/races tests their order and their deadlocks",
    "barrier": "barriers give no value; packages/gpu_simulator/tests/races tests their order and their deadlocks",
    "call": "printf and assert write text",
    "param": "part of calls, which the simulator expands in place",
    "membar": "a fence gives no value",
    "fence": "a fence gives no value",
    "clusterlaunchcontrol": "needs an sm_100",
    "getctarank": "needs a cluster",
    "mapa": "needs a cluster",
    "mbarrier": "its states are opaque; packages/gpu_simulator/tests/copies/test_mbarrier.py tests phases and waits",
    "prefetch": "a hint gives no value",
    "prefetchu": "a hint gives no value",
    "createpolicy": "a hint gives no value; the contents of a policy are undefined",
    "discard": "a hint gives no value; the contents of memory are undefined afterwards",
    "applypriority": "a hint gives no value",
    "griddepcontrol": "needs two kernels of one stream",
    "nanosleep": "a delay gives no value",
    "pmevent": "a signal to a profiler gives no value",
    "setmaxnreg": "moves registers between warps and gives no value",
    "tcgen05": "works on tensor memory and shared memory; packages/gpu_simulator/tests/tcgen05 tests its values",
    **dict.fromkeys(
        ("fns", "vadd", "vsub", "vmin", "vmax", "vmad", "vabsdiff2"),
        "no recording yet; packages/gpu_simulator/tests/execution/test_video.py holds it to the text of PTX",
    ),
    "wgmma": "reads shared memory; packages/gpu_simulator/tests/wgmma and tests/runner/test_wgmma_on_gpu.py test it",
}
