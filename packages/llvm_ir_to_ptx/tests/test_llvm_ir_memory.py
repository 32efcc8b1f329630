"""LLVM IR to PTX: loads and stores of every size, state spaces, variables, atomics, blocks of bytes."""

import re

import ir_text
import numpy as np
import pytest
from ir_text import at

from llvm_ir_to_ptx import translate

SHARED = "@s = internal addrspace(3) global [64 x i32] undef, align 16"


@pytest.mark.parametrize("align", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(
    ("of", "size"), [("<16 x i8>", 1), ("<8 x i16>", 2), ("<8 x half>", 2), ("<4 x i32>", 4), ("<2 x i64>", 8)]
)
def test_a_vector_is_loaded_and_stored_whatever_its_alignment(of, size, align):
    count = 16 // size
    align = max(align, size)
    a = np.random.default_rng(1).integers(0, 1 << 14, 32 * count).astype({1: "u1", 2: "u2", 4: "u4", 8: "u8"}[size])
    d = np.zeros_like(a)
    order = ", ".join(f"i32 {count - 1 - number}" for number in range(count))
    body = at("pa", of, "a") + at("pd", of, "d")
    body += f"  %x = load {of}, ptr %pa, align {align}\n"
    body += f"  %r = shufflevector {of} %x, {of} poison, <{count} x i32> <{order}>\n"
    ir_text.run(body + f"  store {of} %r, ptr %pd, align {align}\n  ret void", a, a, d)
    assert np.array_equal(d.reshape(32, count), a.reshape(32, count)[:, ::-1])
    ptx = translate(ir_text.module(body + f"  store {of} %r, ptr %pd, align {align}\n  ret void"), arch="sm_80")
    assert ptx.count("ld.global") == 16 // (1 if align < 4 and size == 1 else align)


def test_the_bits_of_a_vector_in_other_groups():
    a = np.random.default_rng(1).integers(0, 1 << 32, 128, dtype=np.uint32)
    for of, wide in (("<8 x i16>", "<4 x i32>"), ("<16 x i8>", "<2 x i64>"), ("<4 x float>", "<8 x half>")):
        d = np.zeros_like(a)
        body = at("pa", of, "a") + at("pd", of, "d") + f"  %x = load {of}, ptr %pa, align 16\n"
        body += f"  %w = bitcast {of} %x to {wide}\n  %r = bitcast {wide} %w to {of}\n"
        ir_text.run(body + f"  store {wide} %w, ptr %pd, align 16\n  ret void", a, a, d)
        assert np.array_equal(d, a)
        ir_text.run(body + f"  store {of} %r, ptr %pd, align 16\n  ret void", a, a, d)
        assert np.array_equal(d, a)


def test_an_element_whose_number_is_computed():
    a, b, d = np.arange(128, dtype=np.int32), np.arange(32, dtype=np.int32) % 4, np.zeros(32, np.int32)
    body = at("pa", "<4 x i32>", "a") + at("pb", "i32", "b") + at("pd", "i32", "d")
    body += """  %x = load <4 x i32>, ptr %pa, align 16
  %n = load i32, ptr %pb
  %m = xor i32 %n, 1
  %y = insertelement <4 x i32> %x, i32 1000, i32 %m
  %p = extractelement <4 x i32> %y, i32 %n
  %q = extractelement <4 x i32> %y, i32 %m
  %r = add i32 %p, %q
  store i32 %r, ptr %pd
  ret void"""
    ir_text.run(body, a, b, d)
    assert np.array_equal(d, a.reshape(32, 4)[np.arange(32), b] + 1000)


def test_shared_memory_is_addressed_as_such():
    a, d = np.arange(32, dtype=np.int32) * 3, np.zeros(32, np.int32)
    body = at("pa", "i32", "a") + at("pd", "i32", "d")
    body += """  %x = load i32, ptr %pa
  %ps = getelementptr inbounds [64 x i32], ptr addrspacecast (ptr addrspace(3) @s to ptr), i64 0, i64 %i
  store i32 %x, ptr %ps
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %j = sub i32 31, %t
  %k = sext i32 %j to i64
  %pr = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @s to ptr), i64 %k
  %y = load i32, ptr %pr
  store i32 %y, ptr %pd
  ret void"""
    report = ir_text.run(body, a, a, d, before=SHARED)
    assert np.array_equal(d, a[::-1])
    assert report.totals.wavefronts == 2
    ptx = translate(ir_text.module(body, SHARED), arch="sm_80")
    assert "st.shared.u32" in ptx and "ld.shared.u32" in ptx and "cvta" not in ptx.replace("cvta.to.global", "")


def test_a_pointer_of_two_spaces_is_generic():
    a, d = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    body = at("pa", "i32", "a") + at("pd", "i32", "d")
    body += """  %ps = getelementptr inbounds i32, ptr addrspacecast (ptr addrspace(3) @s to ptr), i64 %i
  store i32 1000, ptr %ps
  %bit = and i32 %t, 1
  %c = icmp eq i32 %bit, 0
  %p = select i1 %c, ptr %pa, ptr %ps
  %x = load i32, ptr %p
  %null = icmp eq ptr %p, null
  %y = select i1 %null, i32 -1, i32 %x
  store i32 %y, ptr %pd
  ret void"""
    ir_text.run(body, a, a, d, before=SHARED)
    assert np.array_equal(d, np.where(a % 2, 1000, a))


def test_a_null_pointer_is_none_of_shared_memory():
    a, d = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    body = at("pd", "i32", "d")
    body += """  %c = icmp slt i32 %t, 16
  %p = select i1 %c, ptr addrspacecast (ptr addrspace(3) @s to ptr), ptr null
  %null = icmp eq ptr %p, null
  %y = zext i1 %null to i32
  store i32 %y, ptr %pd
  ret void"""
    ir_text.run(body, a, a, d, before=SHARED)
    assert np.array_equal(d, a >= 16)


def test_local_variables_and_constants():
    a, d = np.arange(32, dtype=np.int32) % 4, np.zeros(32, np.int32)
    before = """@table = internal addrspace(4) constant [4 x i32] [i32 10, i32 20, i32 -30, i32 40], align 4
@plain = internal constant { i8, i32, [2 x i16] } { i8 1, i32 70000, [2 x i16] [i16 5, i16 -6] }, align 4
%pair = type { i32, [4 x i32] }"""
    body = at("pa", "i32", "a") + at("pd", "i32", "d")
    body += """  %v = alloca %pair, align 4
  %n = load i32, ptr %pa
  %k = sext i32 %n to i64
  %pt = getelementptr inbounds [4 x i32], ptr addrspacecast (ptr addrspace(4) @table to ptr), i64 0, i64 %k
  %x = load i32, ptr %pt
  %slot = getelementptr inbounds %pair, ptr %v, i64 0, i32 1, i64 %k
  store i32 %x, ptr %slot
  %base = getelementptr inbounds i8, ptr %v, i64 4
  %again = getelementptr inbounds i32, ptr %base, i32 %n
  %y = load i32, ptr %again
  %big = load i32, ptr getelementptr inbounds (i8, ptr @plain, i64 4), align 4
  %small = load i16, ptr getelementptr inbounds (i8, ptr @plain, i64 10), align 2
  %wide = sext i16 %small to i32
  %s = add i32 %y, %big
  %r = add i32 %s, %wide
  store i32 %r, ptr %pd
  ret void"""
    ir_text.run(body, a, a, d, before=before)
    assert np.array_equal(d, np.array([10, 20, -30, 40])[a] + 70000 - 6)


def test_a_struct_that_is_passed_by_value_can_be_changed():
    values = np.arange(8, dtype=np.int32) + 5
    d = np.zeros(32, np.int32)
    body = at("pd", "i32", "d")
    body += """  %n = and i32 %t, 7
  %k = zext i32 %n to i64
  %p = getelementptr inbounds i32, ptr %s, i64 %k
  store i32 %t, ptr %p
  %first = load i32, ptr %s
  %own = load i32, ptr %p
  %r = add i32 %first, %own
  store i32 %r, ptr %pd
  ret void"""
    more = ", ptr byval([8 x i32]) align 16 %s"
    ir_text.run(body, d, d, d, tuple(map(int, values)), more=more)
    t = np.arange(32)
    assert np.array_equal(d, np.where(t % 8 == 0, t, 5) + t)
    kept = body.replace("  store i32 %t, ptr %p\n", "")
    ir_text.run(kept, d, d, d, tuple(map(int, values)), more=more.replace("%s", '"nvvm.grid_constant" %s'))
    assert np.array_equal(d, values[0] + values[t % 8])


def test_atomics_return_what_was_there():
    a, b, d = np.zeros(4, np.int32), np.zeros(1, np.float32), np.zeros(32, np.int32)
    a[1] = 1000
    body = at("pd", "i32", "d")
    body += """  %old = atomicrmw add ptr %a, i32 2 seq_cst, align 4
  %p1 = getelementptr i32, ptr %a, i64 1
  %o1 = atomicrmw sub ptr %p1, i32 3 monotonic, align 4
  %p2 = getelementptr i32, ptr %a, i64 2
  %o2 = atomicrmw umax ptr %p2, i32 %t syncscope("block") acq_rel, align 4
  %p3 = getelementptr i32, ptr %a, i64 3
  %o3 = cmpxchg ptr %p3, i32 0, i32 7 seq_cst seq_cst, align 4
  %won = extractvalue { i32, i1 } %o3, 1
  %f = atomicrmw fadd ptr %b, float 5.000000e-01 seq_cst, align 4
  %more = select i1 %won, i32 1, i32 0
  %r = add i32 %old, %more
  store i32 %r, ptr %pd
  ret void"""
    ir_text.run(body, a, b, d)
    assert a.tolist() == [64, 1000 - 96, 31, 7] and b[0] == 16
    assert sorted(d // 2 * 2) == list(range(0, 64, 2)) and (d % 2).sum() == 1


@pytest.mark.parametrize("count", [16, 13, 2000])
def test_blocks_of_bytes(count):
    a, d = np.random.default_rng(1).integers(0, 256, 4096, dtype=np.uint8), np.zeros(4096, np.uint8)
    body = f"""  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %d, ptr align 1 %a, i64 {count}, i1 false)
  %half = getelementptr i8, ptr %d, i64 2048
  call void @llvm.memset.p0.i64(ptr align 16 %half, i8 77, i64 {count}, i1 false)
  ret void"""
    ir_text.run(body, a, a, d, block=1)
    assert np.array_equal(d[:count], a[:count]) and not d[count:2048].any()
    assert (d[2048 : 2048 + count] == 77).all() and not d[2048 + count :].any()


def test_a_block_of_bytes_whose_number_is_computed():
    a, d = np.arange(64, dtype=np.uint8), np.zeros(64, np.uint8)
    body = """  %n = add i64 %i, 37
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %d, ptr align 1 %a, i64 %n, i1 false)
  ret void"""
    ir_text.run(body, a, a, d, block=1)
    assert np.array_equal(d, np.where(a < 37, a, 0))


def test_a_variable_keeps_its_value_and_its_name():
    a = np.zeros(32, np.int32)
    body = at("pd", "i32", "d") + "  %x = load i32, ptr addrspacecast (ptr addrspace(1) @n.x to ptr)\n"
    body += "  store i32 %x, ptr %pd\n  ret void"
    before = (
        "@n.x = addrspace(1) externally_initialized global i32 -5, align 4\n@other = external addrspace(1) global i32"
    )
    ir_text.run(body, a, a, a, before=before)
    assert (a == -5).all()
    assert "other" not in translate(ir_text.module(body, before), arch="sm_80")


FOUR = """  %p1 = getelementptr i8, ptr %pa, i64 4
  %p2 = getelementptr i8, ptr %pa, i64 8
  %p3 = getelementptr i8, ptr %pa, i64 12
  %x0 = load i32, ptr %pa, align 16
  %x2 = load i32, ptr %p2, align 8
  %c = call i32 asm "add.s32 $0, $1, 1;", "=r,r"(i32 %x0)
  %x1 = load i32, ptr %p1, align 4
BETWEEN
  %x3 = load i32, ptr %p3, align 4
  %s = mul i32 %x1, 10
  %u = mul i32 %x2, 100
  %v = mul i32 %x3, 1000
  %w = add i32 %c, %s
  %y = add i32 %u, %v
  %r = add i32 %w, %y
  store i32 %r, ptr %pd
  ret void"""


@pytest.mark.parametrize(
    ("between", "align", "loads"),
    [
        ("", 16, ["v4.u32"]),
        ("", 8, ["v2.u32", "v2.u32"]),
        ("", 4, ["u32", "v2.u32", "u32"]),
        ("  store i32 0, ptr %b", 16, ["v2.u32", "u32", "u32"]),
        ('  call void asm sideeffect "bar.sync 0;", ""()', 16, ["v2.u32", "u32", "u32"]),
        ('  call void asm "// writes", "~{memory}"()', 16, ["v2.u32", "u32", "u32"]),
        ("  fence seq_cst", 16, ["v2.u32", "u32", "u32"]),
        ("  %vol = load volatile i32, ptr %b", 16, ["v2.u32", "u32", "u32"]),
    ],
)
def test_loads_that_lie_side_by_side_become_one(between, align, loads):
    a, d = np.arange(128, dtype=np.int32), np.zeros(32, np.int32)
    body = at("pa", "<4 x i32>", "a") + at("pd", "i32", "d")
    body += FOUR.replace("BETWEEN", between).replace("ptr %pa, align 16", f"ptr %pa, align {align}")
    ir_text.run(body, a, d.copy(), d)
    four = a.reshape(32, 4)
    assert np.array_equal(d, four @ [1, 10, 100, 1000] + 1)
    ptx = translate(ir_text.module(body), arch="sm_80")
    assert re.findall(r"ld\.global\.((?:v\d\.)?u32)", ptx) == loads
