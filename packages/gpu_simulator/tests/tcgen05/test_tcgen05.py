"""Tensor memory on the simulator: what is in flight, what is misused, and what says so."""

import re

import compiling
import numpy as np
import pytest
from tensor_frame import AFTER, END, FRAME, LOAD, MULTIPLY, START, WAIT, WHOLE, launch

import gpu_simulator


@pytest.mark.parametrize("timing", ["early", "late"])
def test_a_product_comes_out_in_every_lane(timing):
    out, report = launch(WHOLE, timing=timing)
    assert (out[:1024] == 16).all() and report.hazards == []


# ---- Hazards ----

LOAD_1 = LOAD.replace("    tcgen05_wait_ld();\n", "")
STORE = 'asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" :: "r"(mine + 8), "r"(lane) : "memory");\n'
HAZARDS = {
    "nobody waits for the commit": (
        WHOLE.replace(WAIT, ""), "missing wait", r"warp 0 loads tensor memory that tcgen05.mma at kernel.cu:\d+ .* may "
        r"still be using: no thread has waited for the end of phase 0 \(parity 0\) of the mbarrier at shared address \d+, "
        r"which the tcgen05.commit at kernel.cu:\d+"),
    "the other parity": (
        WHOLE.replace(WAIT, "  mbarrier_wait_parity(barrier, 1);\n"), "missing wait", "no thread has waited for the end of"),
    "no commit": (
        WHOLE.replace("tcgen05_commit<1>(barrier);", "").replace(WAIT, ""), "missing wait", "no tcgen05.commit follows it"),
    "one warp waits and tells nobody": (
        WHOLE.replace(WAIT, "  if (warp == 1) mbarrier_wait_parity(barrier, 0);\n"), None, None),
    "no fence after the wait": (
        WHOLE.replace(AFTER, ""), "missing fence", "warp 0 has to execute tcgen05.fence::after_thread_sync between its wait"),
    "the fence before the wait": (
        WHOLE.replace(WAIT + AFTER, AFTER + WAIT), "missing fence", "tcgen05.fence::after_thread_sync"),
    "given back before wait::ld": (
        WHOLE.replace(LOAD, LOAD_1), "missing wait", "gives back tensor memory that tcgen05.ld .* may still be reading: its warp "
        "has not executed tcgen05.wait::ld"),
    "overwritten before wait::ld": (
        WHOLE.replace(END, "  float r[8]; tcgen05_ld_32x32b_x8(r, mine);\n  __syncthreads();\n" + AFTER
                      + "  if (threadIdx.x == 0) multiply(base, false);\n  tcgen05_wait_ld();\n  out[0] = r[0];\n" + END),
        "missing wait", r"multiplies with tensor memory that tcgen05.ld .* may still be reading: its warp has not executed "
        "tcgen05.wait::ld"),
    "overwritten while others load": (
        WHOLE.replace(END, "  if (threadIdx.x == 0) multiply(base, false);\n" + END), "race",
        "multiplies with tensor memory that tcgen05.ld .* used: no barrier stands between the two"),
    "given back before others have loaded": (
        WHOLE.replace("  __syncthreads();\n  if (warp == 0) tcgen05_dealloc", "  if (warp == 0) tcgen05_dealloc"), "race",
        "gives back tensor memory that tcgen05.ld"),
    "loaded where nothing was written": (
        WHOLE.replace(MULTIPLY + WAIT, ""), "uninitialised read",
        "loads columns of tensor memory that nothing has written"),
    "accumulated on nothing": (
        WHOLE.replace("multiply(base, false)", "multiply(base, true)"), "uninitialised read",
        "accumulates on columns of tensor memory that nothing has written; the first product"),
    "operands without the proxy fence": (
        WHOLE.replace('  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n', ""), "missing fence",
        "lets the tensor cores read .*shared address .* need fence.proxy.async after their stores"),
    "operands without a barrier": (
        WHOLE.replace("  __syncthreads();\n  const uint32_t base", "  const uint32_t base", 1), None, None),
    "a tile overwritten in flight": (
        WHOLE.replace(WAIT, "  tiles[threadIdx.x] = make_uint4(0, 0, 0, 0);\n" + WAIT), "missing wait",
        r"writes tiles\[\d+\] \(shared address \d+\) while tcgen05.mma at .* may still be reading it: no thread has waited for the end of"),
    "a tile overwritten by one that was not told": (
        WHOLE.replace(WAIT + AFTER, "  if (threadIdx.x == 64) mbarrier_wait_parity(barrier, 0);\n  if (warp == 3) tiles[lane]"
                      " = make_uint4(0, 0, 0, 0);\n  __syncthreads();\n" + AFTER), "missing wait|race", "reading|has read"),
    "another shape on top": (
        WHOLE.replace("tcgen05_commit<1>(barrier);", "tcgen05_mma_f16<1>(base + 16, tcgen05_descriptor_k_major_128b(tile), "
                      "tcgen05_descriptor_k_major_128b(tile + 16384), tcgen05_instruction_descriptor_bf16(128, 32), false); "
                      "tcgen05_commit<1>(barrier);"), "missing wait", "only products of one warp, accumulator, shape and kind"),
    "issued by a whole warp": (
        WHOLE.replace("threadIdx.x == 64", "warp == 2").replace("mbarrier_init(barrier, 1)", "mbarrier_init(barrier, 32)"),
        "repeated issue", "32 threads of the warp .* let one thread do it"),
    "loaded before wait::st": (
        START + "  " + STORE + LOAD + END,
        "missing wait", "loads tensor memory that tcgen05.st .* may still be writing: its warp has not executed "
        "tcgen05.wait::st"),
}  # fmt: skip


@pytest.mark.sampled(every=13)
@pytest.mark.parametrize("name", HAZARDS)
@pytest.mark.parametrize("timing", ["early", "late"])
def test_what_is_missing_is_said(name, timing):
    body, kind, words = HAZARDS[name]
    try:
        _, report = launch(body, timing=timing)
    except gpu_simulator.Deadlock:  # of a wait for a phase that is over, where the product is done at once
        assert (name, timing) == ("the other parity", "early")
        return
    if kind is None:
        assert report.hazards
        return
    found = [h for h in report.hazards if re.fullmatch(kind, h.kind) and re.search(words, h.message)]
    assert found, [str(h) for h in report.hazards]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("timing", ["early", "late"])
@pytest.mark.parametrize(("commits", "inval", "user"), [
    ((0,), 0, False), ((8, 0), 8, False), ((0, None, 8), 8, True),
])  # fmt: skip
def test_a_commit_comes_before_the_inval_of_its_mbarrier(commits, inval, user, timing):
    """A commit that nobody has waited for is over if a later one of its thread is."""
    commit = "".join("multiply(base, 1); " if at is None else f"tcgen05_commit<1>(barrier + {at}); " for at in commits)
    last = 'if (threadIdx.x == 7) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(barrier + INVAL));\n'
    body = WHOLE.replace("tcgen05_commit<1>(barrier);", commit) + last.replace("INVAL", str(inval))
    _, report = launch(body, timing=timing)
    assert any("which the commit at kernel.cu:" in str(hazard) for hazard in report.hazards) == user
    assert user or not report.hazards


# A second product onto the first, by thread OTHER, which has been told that the first was issued.
RELAYED = WHOLE.replace(
    MULTIPLY,
    """  if (threadIdx.x == 64) { multiply(base, false); /* commit */ tcgen05_fence_before_thread_sync(); }
  /* wait */
  __syncthreads();
  tcgen05_fence_after_thread_sync();
  if (threadIdx.x == OTHER) { multiply(base, true); tcgen05_commit<1>(barrier); }
""",
)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize(("other", "same_warp"), [(64, True), (70, True), (96, False), (0, False)])
def test_products_of_different_warps_are_never_in_order_without_a_wait(other, same_warp):
    """PTX ISA 9.4, "Pipelined tcgen05 Instructions": those of different warps are always non-pipelined."""
    body = RELAYED.replace("OTHER", str(other))
    _, report = launch(body)
    assert [h.kind for h in report.hazards] == ([] if same_warp else ["missing wait"])
    assert all("only products of one warp, accumulator" in h.message for h in report.hazards)
    body = body.replace("/* commit */", "tcgen05_commit<1>(barrier + 8);").replace(
        "/* wait */", "mbarrier_wait_parity(barrier + 8, 0);"
    )
    out, report = launch(body, timing="late")
    assert (out[:1024] == 32).all() and report.hazards == []


def test_nothing_clears_columns():
    out, _ = launch(HAZARDS["accumulated on nothing"][0], observers=())
    assert (out[:1024] != 16).all()


def test_late_timing_shows_what_was_not_waited_for():
    for name in ("nobody waits for the commit", "no commit", "loaded before wait::st"):
        out, _ = launch(HAZARDS[name][0], timing="late", observers=())
        assert not (out[:1024] == 16).all(), name


# ---- Misuse ----

FAULTS = {
    "48 columns": (WHOLE.replace("<1>(slot, 64)", "<1>(slot, 48)"), "allocates 48 columns of tensor memory; 32, 64, 128"),
    "leak": (WHOLE.replace(END, ""), "allocates 64 columns of tensor memory that nobody gives back"),
    "given back twice": (WHOLE + "  if (warp == 0) tcgen05_dealloc<1>(base, 64);\n", "which was given back already"),
    "half given back": (WHOLE.replace("dealloc<1>(base, 64)", "dealloc<1>(base, 32)"), "gives back 32 columns .* 64 were"),
    "given back elsewhere": (WHOLE.replace("dealloc<1>(base, 64)", "dealloc<1>(base + 32, 64)"), "no allocation begins"),
    "used after": (WHOLE + "  float r[8]; tcgen05_ld_32x32b_x8(r, mine);\n  tcgen05_wait_ld(); out[0] = r[0];\n",
                   "column 0, which was given back at kernel.cu"),
    "used outside": (WHOLE.replace("mine + 8", "mine + 60"), "columns 60 to 67 .* column 64, which is not allocated"),
    "after relinquish": (WHOLE.replace("tcgen05_alloc<1>(slot, 64);", "{ tcgen05_relinquish_alloc_permit<1>(); "
                                       "tcgen05_alloc<1>(slot, 64); }"), "gave up the right to at kernel.cu"),
    "more columns later": (WHOLE.replace("tcgen05_alloc<1>(slot, 64);", "{ tcgen05_alloc<1>(slot + 4, 32); "
                                         "tcgen05_alloc<1>(slot, 64); }"), "must not increase"),
    "a pair of one": ("if (warp == 0) { tcgen05_alloc<2>(slot, 64); tcgen05_dealloc<2>(slots[0], 64); }",
                      "needs a pair of blocks, but its cluster has 1"),
    "wrong quarter": (WHOLE.replace("mine + 8", "base + 8"), r"names lane 0 of .*warp 1 reaches lanes 32 to 63"),
    "threads that differ": (WHOLE.replace("mine + 8", "mine + lane"), "does not give the same addresses"),
    "no mbarrier": (WHOLE.replace("mbarrier_init(barrier, 1);", ""), "was not initialised"),
}  # fmt: skip


def test_a_warp_has_to_be_whole():
    with pytest.raises(gpu_simulator.TensorMemoryFault, match="thread .96, 0, 0. is in a warp that is not complete"):
        launch(WHOLE, threads=120)


@pytest.mark.parametrize("name", FAULTS)
def test_misuse_is_a_fault_with_its_place(name):
    body, words = FAULTS[name]
    with pytest.raises(gpu_simulator.SimulatedFault, match=words) as caught:
        launch(body)
    assert "kernel.cu:" in str(caught.value)


def test_who_waits_for_columns_is_told():
    body = WHOLE.replace(
        "tcgen05_alloc<1>(slot, 64);", "tcgen05_alloc<1>(slot, 512);\n  if (warp == 1) tcgen05_alloc<1>(slot + 4, 512);"
    )
    with pytest.raises(
        gpu_simulator.Deadlock,
        match=r"threads 32-63 wait in tcgen05.alloc for 512 columns of tensor memory while "
        r"its block holds columns 0 to 511|threads 0-31 wait in tcgen05.alloc",
    ):
        launch(body)


def test_an_allocation_waits_until_columns_are_given_back():
    body = """
      if (warp == 0) tcgen05_alloc<1>(slot, 512);
      __syncthreads();
      if (warp == 1) { tcgen05_alloc<1>(slot + 4, 256); out[1] = 7; tcgen05_dealloc<1>(slots[1], 256); }
      if (warp == 0) { for (int i = 0; i < 20; i++) __nanosleep(10); tcgen05_dealloc<1>(slots[0], 512); }
    """
    out, report = launch(body)
    assert out[1] == 7 and report.hazards == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "tcgen05.cp.cta_group::1.128x256b.b8x16.b4x16_p64 [%0], %1;",
            "copies that decompress elements of 4 or 6 bits",
        ),
        ("tcgen05.cp.cta_group::1.32x128b [%0], %1;", ".32x128b takes .warpx4"),
        ("tcgen05.cp.cta_group::1.64x128b.warpx4 [%0], %1;", ".64x128b takes .warpx2::02_13 or .warpx2::01_23"),
        ("tcgen05.cp.cta_group::1.128x128b.warpx4 [%0], %1;", ".128x128b takes no multicast"),
        ("tcgen05.cp.cta_group::1.16x256b [%0], %1;", "16x256b"),
        ("tcgen05.cp.128x256b [%0], %1;", "names no .cta_group"),
        ("tcgen05.shift.cta_group::1 [%0];", "it has no .down"),
        ("tcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %1, [%0], %0, p;", "sparse"),
    ],
)
def test_what_is_not_known_says_so(statement, words):
    ptx = compiling.compile(FRAME.replace("BODY", WHOLE), arch="sm_100a", name="kernel.cu", entry="kernel").ptx
    place = re.search(r"tcgen05\.mma\.[^;]*\[(%\w+)\], (%\w+)[^;]*;", ptx)
    text = statement.replace("%0", place[1]).replace("%1", place[2])
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match=words):
        gpu_simulator.launch(ptx.replace(place[0], text), "kernel", 1, 128, [np.zeros(4096, np.uint32), 0, 0, 1])


@pytest.mark.parametrize(("uses", "remarks"), [
    ("tcgen05_wait_ld(); float x = r[3];", []),
    ("float x = r[3]; tcgen05_wait_ld();", []),  # the register is only copied
    ("out[256 + threadIdx.x] = r[3]; tcgen05_wait_ld(); float x = r[3];", ["suspicious"]),
    ("if (warp > 1) tcgen05_wait_ld(); float x = r[3];", ["suspicious"]),  # not on every path, whoever takes it
    ("float x = r[3] * r[3]; tcgen05_wait_ld();", ["suspicious"]),
])  # fmt: skip
def test_a_register_that_is_used_before_the_wait_is_a_remark(uses, remarks):
    """PTX ISA, tcgen05, "Register dependencies, same thread": the use waits, so the result is right in any timing."""
    body = f"  float r[8]; tcgen05_ld_32x32b_x8(r, mine);\n {uses}\n  out[threadIdx.x] = x;\n"
    out, report = launch(WHOLE.replace(LOAD, body), timing="late")
    assert set(out[:128].tolist()) in ({16}, {256})
    found = [hazard for hazard in report.hazards if hazard.kind == "early use"]
    assert [hazard.severity for hazard in found] == remarks
    assert all("execute tcgen05.wait::ld before the first use" in str(hazard) for hazard in found)


def test_tensor_memory_can_be_looked_into():
    _, report = launch(WHOLE, observers=())
    site = next(site for site in report.sites if site.opcode.startswith("tcgen05.ld"))
    cells = report.inspect(site, warp=2).tensor_memory
    assert cells.shape == (128, 512)
    assert (cells[:, :64].view(np.float32) == 16).all() and not cells[:, 64:].any()


def collected(usage: str, at: str = "tile", more: int = 1) -> str:
    """A product whose A is at a shared address. usage: of its collector buffer, such as "a::fill", or "none"."""
    hint = "" if usage == "none" else f".collector::{usage}"
    return (
        f'asm volatile("{{ .reg .pred p; setp.ne.b32 p, {more}, 0; tcgen05.mma.cta_group::1.kind::f16{hint} [%0], %1, %2, '
        f'%3, p; }}" :: "r"(base), "l"(tcgen05_descriptor_k_major_128b({at})), '
        '"l"(tcgen05_descriptor_k_major_128b(tile + 16384)), "r"(WORD) : "memory");\n'
    )


COLLECTED = {  # products, each with its usage of a buffer and one of two A, and what is said about one of them
    "filled and used": ("a::fill A; a::use A; a::lastuse A;", None),
    "filled twice": ("a::fill A; a::fill C; a::lastuse C; a::discard A; none A;", None),
    "never filled": ("a::use A;", "that buffer holds no A"),
    "another A": ("a::fill A; a::lastuse C;", "that buffer holds another A, with which kernel.cu:"),
    "used after the last use": ("a::fill A; a::lastuse A; a::use A;", "that buffer holds no A"),
    "given up by a product without a hint": ("a::fill A; none C; a::use A;", "that buffer holds no A"),
    "given up by discard": ("a::fill A; a::discard A; a::use A;", "that buffer holds no A"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLLECTED)
def test_a_collector_buffer_holds_what_filled_it(name):
    products, words = COLLECTED[name]
    code = "".join(
        collected(usage, "tile" if which == "A" else "tile + 32")
        for usage, which in (product.split() for product in products.split(";")[:-1])
    )
    _, report = launch(WHOLE.replace("multiply(base, false);", "multiply(base, false);\n" + code))
    assert [hazard.kind for hazard in report.hazards] == ["missing fill"] * bool(words)
    assert not words or words in str(report.hazards[0])


def test_a_collector_buffer_does_not_follow_the_memory():
    """A second A comes to the place of the first."""
    use = MULTIPLY.replace("multiply(base, false);", collected("a::lastuse")).replace("(barrier)", "(barrier + 8)")
    change = 'if (warp == 0) { tiles[lane] = make_uint4(0, 0, 0, 0); asm volatile("fence.proxy.async;" ::: "memory"); }\n  __syncthreads();\n'
    wait = WAIT.replace("barrier, 0", "barrier + 8, 0")
    first = (
        START
        + MULTIPLY.replace("multiply(base, false);", collected("a::fill", more=0))
        + WAIT
        + AFTER
        + "  __syncthreads();\n"
    )
    _, report = launch(first + use + wait + AFTER + LOAD + END)
    assert report.hazards == []
    _, report = launch(first + change + use + wait + AFTER + LOAD + END)
    assert ["A was written again after" in str(hazard) for hazard in report.hazards] == [True]


# ---- Where the first allocation begins ----


BASED = WHOLE.replace(END, "  if (threadIdx.x == 0) out[1024] = base;\n" + END)
AT_ZERO = BASED.replace("mine = base + (warp * 32 << 16)", "mine = warp * 32 << 16")


@pytest.mark.parametrize("base", [0, 32, 96, 448, 480])
def test_an_allocation_may_begin_at_any_32_columns(base):
    out, report = launch(BASED, placement=gpu_simulator.Placement(tensor_memory_base=base))
    assert (out[:1024] == 16).all() and report.hazards == []
    assert out[1024] == (base if base + 64 <= 512 else 0)


def test_a_kernel_that_assumes_column_0_is_found():
    assert (launch(AT_ZERO)[0][:1024] == 16).all()
    with pytest.raises(gpu_simulator.errors.SimulatorError, match="uses columns 8 to 15 .* holds columns 96 to 159"):
        launch(AT_ZERO, placement=gpu_simulator.Placement(tensor_memory_base=96))


def test_shared_memory_may_begin_elsewhere():
    assert (launch(WHOLE, placement=gpu_simulator.Placement(shared_memory_base=1024))[0][:1024] == 16).all()
    with pytest.raises(gpu_simulator.errors.SimulatorError, match="multiple of 1,024 from 0 to 15,360, not 16"):
        launch(WHOLE, placement=gpu_simulator.Placement(shared_memory_base=16))


@pytest.mark.parametrize("base", [-32, 1, 512, 33])
def test_a_base_is_a_multiple_of_32_columns(base):
    with pytest.raises(gpu_simulator.errors.SimulatorError, match="multiple of 32 from 0 to 480"):
        launch(WHOLE, placement=gpu_simulator.Placement(tensor_memory_base=base))
