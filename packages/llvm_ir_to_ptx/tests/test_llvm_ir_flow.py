"""LLVM IR to PTX: branches, phi instructions, calls, inline asm, source lines, values that are used again."""

import re

import ir_text
import numpy as np
import pytest
from ir_text import at

from gpu_simulator.ptx.parser import parse
from llvm_ir_to_ptx import UnsupportedIR, translate

LOOP = """  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  %x = phi i32 [ 1, %entry ], [ %y, %loop ]
  %y = phi i32 [ 0, %entry ], [ %z, %loop ]
  %z = phi i32 [ %t, %entry ], [ %x, %loop ]
  %n1 = add i32 %n, 1
  %c = icmp ult i32 %n, %t
  br i1 %c, label %loop, label %out
out:
  %s = mul i32 %x, 100
  %u = mul i32 %y, 10000
  %v = add i32 %s, %u
  %r = add i32 %v, %z
"""
STORE = at("pd", "i32", "d") + "  store i32 %r, ptr %pd\n  ret void"


def result(body: str, block: int = 32, **options) -> np.ndarray:
    d = np.zeros(block, np.int32)
    ir_text.run(body, d, d, d, block=block, **options)
    return d


def test_phi_instructions_take_their_values_at_the_same_time():
    def expected(t):
        x, y, z = 1, 0, t
        for _ in range(t):
            x, y, z = y, z, x
        return x * 100 + y * 10000 + z

    assert result(LOOP + STORE).tolist() == [expected(t) for t in range(32)]


def test_both_ways_to_a_block_can_carry_values():
    body = """  %c = icmp ult i32 %t, 10
  br i1 %c, label %join, label %other
other:
  %e = icmp ult i32 %t, 20
  br i1 %e, label %join, label %join
join:
  %r = phi i32 [ 5, %entry ], [ %t, %other ], [ %t, %other ]
"""
    assert result(body + STORE).tolist() == [5] * 10 + list(range(10, 32))


def test_a_switch():
    body = """  switch i32 %t, label %others [
    i32 0, label %join
    i32 3, label %three
    i32 7, label %join
    i32 9, label %three
  ]
three:
  br label %join
others:
  br label %join
join:
  %r = phi i32 [ 100, %entry ], [ 100, %entry ], [ 300, %three ], [ %t, %others ]
"""
    expected = {0: 100, 7: 100, 3: 300, 9: 300}
    assert result(body + STORE).tolist() == [expected.get(t, t) for t in range(32)]


FUNCTIONS = """%four = type { float, float, float, float }
declare i32 @vprintf(ptr, ptr)
@.str = private unnamed_addr constant [7 x i8] c"<%d>\\0A\\00\\00", align 1
define internal i8 @narrow(i8 signext %x, i1 zeroext %up) {
  %y = add i8 %x, 100
  %r = select i1 %up, i8 %y, i8 %x
  ret i8 %r
}
define internal { i32, float } @two(ptr byval(%four) align 16 %q, <2 x i32> %v, ptr %p) {
  %w = getelementptr i8, ptr %q, i64 12
  %f = load float, ptr %w
  %a = extractelement <2 x i32> %v, i32 1
  store i32 %a, ptr %p
  store float 0.0, ptr %w
  %s = insertvalue { i32, float } poison, i32 %a, 0
  %r = insertvalue { i32, float } %s, float %f, 1
  ret { i32, float } %r
}
define internal i32 @fib(i32 %n) {
  %c = icmp ult i32 %n, 2
  br i1 %c, label %done, label %more
more:
  %a = sub i32 %n, 1
  %x = call i32 @fib(i32 %a)
  %b = sub i32 %n, 2
  %y = call i32 @fib(i32 %b)
  %s = add i32 %x, %y
  ret i32 %s
done:
  ret i32 %n
}
"""


def test_functions_that_were_not_inlined():
    body = """  %q = alloca %four, align 16
  %p = alloca i32, align 4
  %last = getelementptr i8, ptr %q, i64 12
  store float 2.5, ptr %last
  %t8 = trunc i32 %t to i8
  %odd = trunc i32 %t to i1
  %n = call i8 @narrow(i8 signext %t8, i1 zeroext %odd)
  %v0 = insertelement <2 x i32> poison, i32 %t, i32 0
  %v = insertelement <2 x i32> %v0, i32 7, i32 1
  %two = call { i32, float } @two(ptr byval(%four) align 16 %q, <2 x i32> %v, ptr %p)
  %f = extractvalue { i32, float } %two, 1
  %still = load float, ptr %last
  %g = fadd float %f, %still
  %h = fptosi float %g to i32
  %k = load i32, ptr %p
  %w = sext i8 %n to i32
  %m = mul i32 %w, 100
  %s = add i32 %m, %h
  %r = add i32 %s, %k
"""
    t = np.arange(32)
    wrapped = (t + 100 * (t % 2)).astype(np.int8)
    assert np.array_equal(result(body + STORE, before=FUNCTIONS), wrapped.astype(int) * 100 + 5 + 7)


def test_a_recursive_function():
    body = "  %n = and i32 %t, 7\n  %r = call i32 @fib(i32 %n)\n" + STORE
    assert result(body, before=FUNCTIONS).tolist() == [[0, 1, 1, 2, 3, 5, 8, 13][t % 8] for t in range(32)]


def test_functions_that_are_called_by_their_addresses():
    functions = (
        """@table = addrspace(1) global [2 x ptr] [ptr @fib, ptr @double], align 8
define i32 @double(i32 %n) {
  %r = shl i32 %n, 1
  ret i32 %r
}
"""
        + FUNCTIONS
    )
    body = (
        """  %odd = and i32 %t, 1
  %w = zext i32 %odd to i64
  %at = getelementptr [2 x ptr], ptr addrspace(1) @table, i64 0, i64 %w
  %f = load ptr, ptr addrspace(1) %at
  %n = and i32 %t, 7
  %first = call i32 %f(i32 %n)
  %c = icmp ult i32 %t, 8
  %g = select i1 %c, ptr @double, ptr @fib
  %r = call i32 %g(i32 %first)
"""
        + STORE
    )
    fib = [0, 1, 1, 2, 3, 5, 8, 13]
    first = [2 * (t % 8) if t % 2 else fib[t % 8] for t in range(32)]
    while len(fib) < 20:
        fib.append(fib[-1] + fib[-2])
    assert result(body, before=functions).tolist() == [2 * n if t < 8 else fib[n] for t, n in enumerate(first)]


def test_printf():
    body = """  %buffer = alloca i32, align 4
  store i32 %t, ptr %buffer
  %n = call i32 @vprintf(ptr nonnull @.str, ptr nonnull %buffer)
  ret void"""
    d = np.zeros(1, np.int32)
    assert ir_text.run(body, d, d, d, before=FUNCTIONS, block=3).output == "<0>\n<1>\n<2>\n"


def test_asm_passes_through_with_its_operands():
    body = """  %x = call i32 asm sideeffect "{\\0A.reg .pred p;\\0Asetp.lt.s32 p, $1, $2;\\0Aselp.b32 $0, 1, 0, p;\\0A}", "=r,r,n,~{memory}"(i32 %t, i32 9)
  %two = call { i32, i32 } asm "add.s32 $0, $0, $3; mov.b32 $1, $4; // $$ ${:uid}", "=r,=&r,0,r,f"(i32 %x, i32 40, float 1.0)
  %a = extractvalue { i32, i32 } %two, 0
  %b = extractvalue { i32, i32 } %two, 1
  %h = call i16 asm "mov.b16 $0, $1;", "=h,h"(i16 -2)
  %w = sext i16 %h to i32
  %c = lshr i32 %b, 20
  %s = add i32 %a, %c
  %u = add i32 %s, %w
  %r = add i32 %u, %x
"""
    expected = [2 * (t < 9) + 40 + (0x3F800000 >> 20) - 2 for t in range(32)]
    assert result(body + STORE).tolist() == expected


def test_a_tied_operand_of_asm_leaves_its_value_as_it_was():
    body = """  %m = mul i32 %t, 3
  %x = call i32 asm "add.s32 $0, $0, 1;", "=r,0"(i32 %m)
  %y = call i32 asm "add.s32 $0, $0, 2;", "=r,0"(i32 %m)
  %z = mul i32 %x, 1000
  %s = add i32 %y, %z
  %r = sub i32 %s, %m
"""
    assert result(body + STORE).tolist() == [(3 * t + 1) * 1000 + 2 for t in range(32)]


def test_lanes_speak_with_each_other():
    body = """  %x = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %t, i32 1, i32 31)
  %c = icmp ult i32 %t, 5
  %v = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)
  %r = add i32 %x, %v
"""
    assert result(body + STORE).tolist() == [(t ^ 1) + 31 for t in range(32)]


DEBUG = """
!1 = !DIFile(filename: "kernel.cu", directory: "")
!2 = distinct !DISubprogram(name: "kernel", scope: !1, file: !1, line: 3, unit: !9)
!3 = !DIFile(filename: "helper.cuh", directory: "")
!4 = distinct !DISubprogram(name: "helper", linkageName: "_Z6helperv", scope: !3, file: !3, line: 1, unit: !9)
!5 = !DILocation(line: 40, column: 7, scope: !2)
!6 = !DILocation(line: 2, column: 3, scope: !4, inlinedAt: !5)
!7 = distinct !DILexicalBlock(scope: !2, file: !1, line: 11)
!8 = !DILocation(line: 12, column: 5, scope: !7)
"""


def test_instructions_lie_at_their_source_lines():
    body = at("pd", "i32", "d") + "  %x = mul i32 %t, 3, !dbg !8\n  store i32 %x, ptr %pd, !dbg !6\n  ret void, !dbg !5"
    ptx = translate(ir_text.module(body) + DEBUG, arch="sm_80")
    body = [one for one in parse(ptx).functions["kernel"].body if not isinstance(one, str)]
    places = {one.opcode: one.location for one in body}
    assert places["mul.lo.s32"].frames == (("kernel.cu", 12),)
    assert places["st.global.u32"].frames == (("helper.cuh", 2), ("kernel.cu", 40))
    assert places["ret"].frames == (("kernel.cu", 40),)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%r = frem float 1.0, 2.0, !dbg !6", "The instruction frem (the remainder of a division, fmod)"),
        ("%x = zext i32 %t to i128, !dbg !6", "An integer of 128 bits"),
        ("%x = call i32 @unknown(i32 1), !dbg !6", "A call of unknown"),
        (
            "%x = call i32 %d(ptr byval({ i32 }) align 4 %a), !dbg !6",
            "A call, by its address, of a function that takes a structure",
        ),
        ("%x = call float @llvm.pow.f32(float 1.0, float 2.0), !dbg !6", "The function llvm.pow on float"),
        ('call void asm sideeffect "nop;", "q"(i32 1), !dbg !6', "The constraint “q” of an asm statement"),
        ("%x = va_arg ptr %d, i32, !dbg !6", "The instruction “va_arg ptr %d, i32”"),
        ("%x = alloca i8, i64 %i, !dbg !6", "The text “alloca i8, i64 %i” at “i64”"),
        ("%x = load i24, ptr %d, !dbg !6", "An integer of 24 bits in memory"),
    ],
)
def test_what_has_no_translation_is_named_with_its_line(line, told):
    with pytest.raises(UnsupportedIR, match=re.escape(told)) as caught:
        translate(ir_text.module(f"  {line}\n  ret void") + DEBUG, arch="sm_80")
    assert str(caught.value) == f"{told} cannot be translated into PTX here (kernel.cu, line 40)."


def test_a_kernel_that_is_not_there():
    with pytest.raises(UnsupportedIR, match="A module without the kernel gemm"):
        translate(ir_text.module("  ret void"), arch="sm_80", entry="gemm")


def test_only_the_entry_is_translated():
    text = ir_text.module("  ret void") + "define ptx_kernel void @other() {\n  ret void\n}\n"
    assert "other" not in translate(text, arch="sm_80", entry="kernel")
    assert "other" in translate(text, arch="sm_80")


def test_attributes_of_a_kernel_are_directives():
    text = ir_text.module("  ret void").replace("%d) {", "%d) #0 {")
    text += 'attributes #0 = { "nvvm.maxntid"="128,2" "nvvm.minctasm"="2" "nvvm.cluster_dim"="2,1,1" }\n'
    kernel = parse(translate(text, arch="sm_90a")).functions["kernel"]
    assert kernel.max_threads == 256 and kernel.cluster == (2, 1, 1) and kernel.explicit_cluster


def test_a_value_is_computed_once_where_it_is_known():
    body = """  %k = add i32 %t, 5
  %c = icmp ult i32 %t, 9
  br i1 %c, label %yes, label %no
yes:
  %k1 = add i32 %t, 5
  %l1 = mul i32 %t, 7
  br label %join
no:
  %l2 = mul i32 %t, 7
  br label %join
join:
  %l = phi i32 [ %l1, %yes ], [ %l2, %no ]
  %m = phi i32 [ %k1, %yes ], [ %k, %no ]
  %k2 = add i32 %t, 5
  %l3 = mul i32 %t, 7
  %s = add i32 %l, %m
  %u = sub i32 %k2, %l3
  %r = xor i32 %s, %u
  %unused = udiv i32 %r, 3
"""
    ptx = translate(ir_text.module(body + STORE), arch="sm_80")
    assert len(re.findall(r"add\.s32 %r\d+, %r\d+, 5;", ptx)) == 1
    assert len(re.findall(r"mul\.lo\.s32 %r\d+, %r\d+, 7;", ptx)) == 3
    assert "div" not in ptx
    t = np.arange(32)
    assert np.array_equal(result(body + STORE), (8 * t + 5) ^ (t + 5 - 7 * t))


def test_a_text_that_is_damaged_is_translated_or_refused():
    text = ir_text.module(LOOP + STORE, FUNCTIONS) + DEBUG
    tokens = re.split(r"(\s+|[,()])", text)
    damaged = ["".join(tokens[:cut]) for cut in range(0, len(tokens), 5)]
    damaged += ["".join(tokens[:at] + tokens[at + 1 :]) for at in range(0, len(tokens), 2) if tokens[at].strip()]
    refused = 0
    for one in damaged:
        try:
            translate(one, arch="sm_80")
        except UnsupportedIR as error:
            refused += 1
            assert str(error).count("cannot be translated into PTX here") == 1
    assert refused > len(damaged) / 2
