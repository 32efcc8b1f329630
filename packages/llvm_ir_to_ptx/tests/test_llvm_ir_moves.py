"""LLVM IR to PTX: registers that become one, so that moves are left out, keep every value as long as it is needed."""

import random
import re

import ir_text
import numpy as np
import pytest
from ir_text import at

from llvm_ir_to_ptx import translate
from llvm_ir_to_ptx.code import Code
from llvm_ir_to_ptx.moves import without_moves

STORE = at("pd", "i32", "d") + "  store i32 %r, ptr %pd\n  ret void"
SUM = """  br label %loop
loop:
  %n = phi i32 [ 0, %entry ], [ %n1, %loop ]
  %s = phi i32 [ 7, %entry ], [ %s1, %loop ]
  %s1 = call i32 asm "add.s32 $0, $0, $2;", "=r,0,r"(i32 %s, i32 %n)
  %n1 = add i32 %n, 1
  %c = icmp ult i32 %n1, 9
  br i1 %c, label %loop, label %out
out:
  %r = add i32 %s1, %t
"""


def test_a_loop_over_values_that_replace_each_other_has_no_moves():
    d = np.zeros(32, np.int32)
    ir_text.run(SUM + STORE, d, d, d)
    assert np.array_equal(d, 7 + 36 + np.arange(32))
    ptx = translate(ir_text.module(SUM + STORE), arch="sm_80")
    body = re.search(r"\$L__BB0_loop:(.*?)bra \$L__BB0_loop;", ptx, re.S)[1]
    assert "mov" not in body and "bra" not in body and "add.s32" in body


def program(seed: int) -> tuple[str, list[int]]:
    """A loop over values that take each other's place, with copies, sums and asm, and what each lane should get."""
    pick = random.Random(seed)
    count, rounds = pick.randint(2, 6), pick.randint(1, 5)
    start = [pick.randint(0, 99) for _ in range(count)]
    steps = []
    for number in range(pick.randint(2, 8)):
        sources = [f"%v{pick.randrange(count)}"] + [f"%w{n}" for n in range(number)]
        steps.append((pick.choice(["add", "xor", "tied", "both"]), pick.choice(sources), pick.choice(sources)))
    names = [f"%v{n}" for n in range(count)] + [f"%w{n}" for n in range(len(steps))]
    following = [pick.choice(names) for _ in range(count)]
    shown = [pick.choice(names) for _ in range(3)]
    lines = ["  br label %loop", "loop:", "  %n = phi i32 [ 0, %entry ], [ %n1, %last ]"]
    lines += [f"  %v{n} = phi i32 [ {start[n]}, %entry ], [ {following[n]}, %last ]" for n in range(count)]
    for number, (op, a, b) in enumerate(steps):
        if op in ("add", "xor"):
            lines.append(f"  %w{number} = {op} i32 {a}, {b}")
        elif op == "tied":
            lines.append(f'  %w{number} = call i32 asm "sub.s32 $0, $0, $2;", "=r,0,r"(i32 {a}, i32 {b})')
        else:
            text = "mov.u32 $0, 5;\\0Aadd.s32 $0, $0, $1;\\0Aadd.s32 $0, $0, $2;"
            lines.append(f'  %w{number} = call i32 asm "{text}", "=&r,r,r"(i32 {a}, i32 {b})')
        if number == len(steps) // 2:
            lines += ["  %odd = trunc i32 %n to i1", "  br i1 %odd, label %last, label %rest"]
            lines += ["rest:", "  br label %last", "last:"]
    lines += [
        "  %n1 = add i32 %n, 1",
        f"  %c = icmp ult i32 %n1, {rounds}",
        "  br i1 %c, label %loop, label %out",
        "out:",
    ]
    lines += [f"  %x = mul i32 {shown[0]}, 3", f"  %y = mul i32 {shown[1]}, 5", "  %z = add i32 %x, %y"]
    lines += [f"  %u = xor i32 %z, {shown[2]}", "  %r = add i32 %u, %t", ""]
    values = {f"%v{n}": start[n] for n in range(count)}
    for turn in range(rounds):
        for number, (op, a, b) in enumerate(steps):
            p, q = values[a], values[b]
            values[f"%w{number}"] = {"add": p + q, "xor": p ^ q, "tied": p - q, "both": 5 + p + q}[op]
        if turn + 1 < rounds:
            values |= dict(zip([f"%v{n}" for n in range(count)], [values[name] for name in following], strict=True))
    result = (values[shown[0]] * 3 + values[shown[1]] * 5) ^ values[shown[2]]
    return "\n".join(lines), [(result + t + (1 << 31)) % (1 << 32) - (1 << 31) for t in range(32)]


@pytest.mark.parametrize("seed", range(0, 60, 5))
def test_no_branch_leads_to_where_it_need_not(seed):
    lines = [line.strip() for line in translate(ir_text.module(program(seed)[0] + STORE), arch="sm_80").split("\n")]
    for line, following in zip(lines, lines[1:], strict=False):
        if branch := re.fullmatch(r"(@\S+ )?bra (\S+);", line):
            assert following != f"{branch[2]}:"
            at = lines.index(f"{branch[2]}:")
            assert not lines[at + 1].startswith("bra ")
            assert branch[1] or following.endswith((":", "}"))


@pytest.mark.parametrize("seed", range(60))
def test_values_of_loops_are_what_they_would_be_with_moves(seed):
    body, expected = program(seed)
    d = np.zeros(32, np.int32)
    ir_text.run(body + STORE, d, d, d)
    assert d.tolist() == expected


def test_a_value_that_is_still_needed_keeps_its_register():
    code = Code()
    for text, *writes in [
        ("ld.global.u32 %r1, [%rd1];", "%r1"),
        ("mov.b32 %r2, %r1;", "%r2"),
        ("add.s32 %r2, %r2, 1;", "%r2"),
        ("st.global.v2.u32 [%rd1], {%r1, %r2};",),
        ("ret;",),
    ]:
        code.put(text, *writes)
    assert [line.text for line in without_moves(code.lines)] == [line.text for line in code.lines]


def test_moves_between_registers_of_other_types_stay():
    code = Code()
    code.put("ld.global.u32 %r1, [%rd1];", "%r1")
    code.put("mov.b32 %f1, %r1;", "%f1")
    code.put("st.global.f32 [%rd1], %f1;")
    assert sum(bool(re.match("mov", line.text)) for line in without_moves(code.lines)) == 1


def test_registers_that_became_one_are_needed_as_long_as_both_were():
    code = Code()
    for text, *writes in [
        ("ld.global.u32 %r1, [%rd1];", "%r1"),
        ("ld.global.u32 %r2, [%rd1+4];", "%r2"),
        ("@%p1 bra other;",),
        ("mov.b32 %r3, %r1;", "%r3"),
        ("bra end;",),
    ]:
        code.put(text, *writes)
    code.label("other")
    code.put("mov.b32 %r3, %r2;", "%r3")
    code.label("end")
    code.put("st.global.u32 [%rd1], %r3;")
    assert sum(line.text.startswith("mov") for line in without_moves(code.lines)) == 1
