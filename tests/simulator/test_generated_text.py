"""PTX becomes Python text, and that text is executed: nothing of a hostile PTX may get into it as code."""

import ast
import builtins
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import gpu_simulator
from gemm_lab import catalog, kernel
from gpu_simulator import allow_list as generated
from gpu_simulator.codegen import emitter as codegen
from gpu_simulator.codegen.program import Program
from gpu_simulator.compiler import compile
from gpu_simulator.errors import SimulatorError
from gpu_simulator.ptx.parser import parse

HEAD = "def block(resident, lanes):\n    R = resident.R\n"
NAMESPACE = codegen.base_namespace() | {"k0": np.uint32(7)}


# ---- The door ----


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "__import__('os')",
        "r1 = __import__",
        "r1 = __builtins__",
        "r1 = resident.__class__",
        "r1 = np.__dict__",
        "r1 = np.load",
        "r1 = np.lib",
        "r1 = np.ctypeslib",
        "r1 = lanes.resident",
        "r1 = resident.launch",
        "r1 = resident._account",
        "r1 = eval",
        "r1 = exec('1')",
        "r1 = open('x')",
        "r1 = getattr(resident, 'R')",
        "r1 = globals()",
        "r1 = unknown",
        "r1 = k1",
        "r1 = r12345678",
        "lambda: 1",
        "r1 = [t1 for t1 in r2]",
        "for t1 in r2: pass",
        "while True: pass",
        "class x: pass",
        "def x(): pass",
        "try: pass",
        "raise r1",
        "global R",
        "del r1",
        "assert r1",
        "with r1: pass",
        "yield r1",
        "await r1",
        "async def x(): pass",
        "resident.R = r1",
        "np.abs = r1",
        "resident.R, r1 = r2",
        "r1 = (t1 := r2)",
        "r1 += r2",
        "load(resident = r1)",
        "r1 = load(resident, lanes, dtype=u4)",
        "r1: u4 = k0",
        "r1 = {}",
        "r1 = {r2}",
        "r1 = r2 @ r3",
        "@x",
        "r1 = 'a.b'",
        "r1 = 'x; y'",
        "r1 = '" + "a" * 40 + "'",
        'r1 = "text"',
        "r1 = 'a\\n'",
        "r1 = f'x'",
        "r1 = b'x'",
        "r1 = r'x'",
        "r1 = '''x'''",
        "r1 = 0x10",
        "r1 = 1e400",
        "r1 = 1j",
        "r1 = 1_000",
        "r1 = " + "9" * 21,
        "r1 = r2; r3 = r4",
        "r1 = r2 # comment",
        "r1 = r2 \\",
        "r1 = é",
        "r1 = r１",
        "r1 = r2\t",
        "r1 = r2\r",
        "r1 = r2\x00",
        "r1 = r2\x0c",
        "r1 = $x",
        "r1 = `r2`",
        "r1 = r2 ? r3",
        "    import os",
        "r1 = (",
        "r1 = )",
        "r1 r2",
        "return return",
        "r1 = " + "(" * 300 + "r2" + ")" * 300,
    ],
)
def test_hostile_lines_do_not_pass(line):
    for text in (f"{HEAD}    {line}\n", f"{HEAD}    r1 = k0\n    {line}\n    return 0\n"):
        with pytest.raises(generated.Refused, match="would contain"):
            generated.function_of(text, "<test>", dict(NAMESPACE))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import os\n",
        "def block(resident, lanes): import os\n",
        "def other(resident, lanes):\n    pass\n",
        f"import os\n{HEAD}",
        f"{HEAD}import os\n",
        f"{HEAD}r1 = k0\n",
        "def block(resident, lanes, x=1):\n    pass\n",
    ],
)
def test_texts_of_another_shape_do_not_pass(text):
    with pytest.raises(generated.Refused):
        generated.function_of(text, "<test>", dict(NAMESPACE))


def test_what_the_emitters_write_passes():
    text = (
        HEAD
        + "    m = lanes.mask\n    r1 = R[1]\n    t1, t2 = carried(r1, k0, 0, u4)\n    R[2] = t2\n    return resident.exit(lanes)\n"
    )
    assert generated.function_of(text, "<test>", dict(NAMESPACE)).__name__ == "block"


def test_a_refusal_counts_the_line():
    with pytest.raises(generated.Refused) as said:
        generated.check(f"{HEAD}    r1 = R[1]\n    r2 = open\n    r3 = r1\n", NAMESPACE)
    assert said.value.line == 3


def test_generated_functions_see_none_of_pythons_own():
    assert codegen.base_namespace()["__builtins__"] == {}
    assert not set(dir(builtins)) & set(codegen.base_namespace()) - {"locals"}


def test_there_is_one_door():
    """Nothing else in the package compiles or executes text."""
    root, found = Path(gpu_simulator.__file__).parent, []
    for path in sorted(set(root.rglob("*.py")) - set((root / "tests").rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("exec", "eval", "compile", "__import__"):
                found.append((path.name, node.func.id))
    assert sorted(found) == [("allow_list.py", "compile"), ("allow_list.py", "exec")]


# ---- What the emitters write ----


@lru_cache
def texts(every=1):
    """Every generated text of the catalogue: all blocks of all kernels, in every variant. Also what each one used.

    every: 10 takes every tenth kernel of the catalogue alone.
    """
    tokens, names = set(), set()
    for name in list(catalog.kernels())[::every]:
        built = kernel(name).compile_as_taught()
        program = Program(parse(built.ptx), built.entry)
        for block in program.blocks:
            for full, hazards in ((True, False), (False, True)):
                source, _ = codegen.block_source(program, block, full, frozenset(), hazards, True)
                generated.check(source, program.namespace)
                tokens.update(generated._TOKEN.findall(source))
        names.update(program.namespace)
    return tokens, names


@pytest.mark.parametrize(("every", "at_least"), [(10, 1000), pytest.param(1, 5000, marks=pytest.mark.long)])
def test_every_text_of_the_catalogue_passes_and_uses_names_of_the_list(every, at_least):
    tokens, names = texts(every)
    assert len(tokens) > at_least
    for token in tokens:
        if token.isidentifier() and token not in generated.KNOWN and not generated._OWN.fullmatch(token):
            assert token in names or token in ("def", "block"), token


# Forms that no kernel of the catalogue has; each writes a name of the list that the others do not.
RARE = """
sqrt.rn.f64 %fd1, %fd2; sin.approx.f32 %f1, %f2; cos.approx.f32 %f1, %f2; lg2.approx.f32 %f1, %f2;
ex2.approx.f16 %rs1, %rs2; tanh.approx.f16 %rs1, %rs2; rsqrt.approx.f32 %f1, %f2; abs.f32 %f1, %f2; copysign.f32 %f1, %f2, %f3;
cvt.rni.f32.f32 %f1, %f2; cvt.rzi.f32.f32 %f1, %f2; cvt.rmi.f32.f32 %f1, %f2; cvt.rpi.f32.f32 %f1, %f2;
testp.finite.f32 %p1, %f1; testp.infinite.f32 %p1, %f1; testp.normal.f32 %p1, %f1; setp.nan.f32 %p1, %f1, %f2;
set.eq.u32.f16x2 %r1, %r2, %r3; add.sat.s32 %r1, %r2, %r3; bmsk.wrap.b32 %r1, %r2, %r3; szext.clamp.u32 %r1, %r2, %r3;
vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r1; min.u32 %r1, %r2, %r3; max.u32 %r1, %r2, %r3; not.pred %p1, %p2;
cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;
setp.lt.s32 %p1, %r1, %r2; fence.proxy.async; membar.gl; lop3.b32 %r1, %r2, %r3, %r1, 0x17;
bar.red.popc.u32 %r1, 0, %p1; bar.arrive 1, 64; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
dp2a.lo.s32.s32 %r1, %r2, %r3, %r1; rem.u32 %r1, %r2, %r3;
"""
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, FIRST}, %rd1, %rd2, %p1, 1, 1, 0, 0;"
RENAMED = f"{WGMMA} wgmma.wait_group.sync.aligned 0; mov.f32 %f5, %f4; {WGMMA}".replace("FIRST", "%f4", 1)
SMALL = """.version 8.6
.target sm_100
.address_size 64
.visible .entry kernel(.param .u64 p) {
.reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;
BODY
ret;
}
"""


def small(body):
    return SMALL.replace("BODY", body)


def words_of(text, entry="kernel", probes=False):
    program, found = Program(parse(text), entry), set()
    for block in program.blocks:
        for full, hazards in ((True, False), (False, True)):
            sites = frozenset(item.site for item in block.code) if probes else frozenset()
            source, _ = codegen.block_source(program, block, full, sites, hazards, True)
            generated.check(source, program.namespace)
            found.update(generated._TOKEN.findall(source))
    return found


RECURSIVE = """
__device__ __noinline__ int walk(int n) { return n < 2 ? n : walk(n - 1) + walk(n - 2); }
extern "C" __global__ void kernel(int* p) {
  p[threadIdx.x] = walk(threadIdx.x % 5);
}"""


@pytest.mark.long
def test_the_list_is_as_long_as_needed():
    """Each attribute, word and symbol on it stands in some text."""
    used = set(texts()[0]) | words_of(small(RARE)) | words_of(small("add.u32 %r1, %r2, %r3;"), probes=True)
    used |= words_of(small(RENAMED.replace("FIRST", "%f5")))
    for name in generated.REGISTERS:
        special = next(n for n in codegen.SPECIALS if n.replace(".", "_") == name)
        kind, to = ("u64", "%rd1") if name in ("clock64", "globaltimer", "gridid") else ("u32", "%r1")
        used |= words_of(small(f"mov.{kind} {to}, %{special};"))
    used |= words_of(small(".shared .align 4 .b8 own[16]; mov.u32 %r1, own;"))
    used |= words_of(compile(RECURSIVE, arch="sm_80", name="kernel.cu", entry="kernel").ptx)
    used |= words_of(small("trap;")) | words_of(small("@%p1 bra L; brx.idx %r1, T; T: .branchtargets L, L;\nL:"))
    unused = {token for token in generated.KNOWN if token not in used}
    assert not unused


# ---- PTX that would like to be Python ----

CODE = ["__import__", "import os", "os.system", "a;b", "a\nb", "0];import os;R[0", "r1;import os", "resident.launch", "'+x+'",
        '"+x+"', "lambda", "__builtins__", "%__class__", "resident.__class__", "{resident}", "{0.__class__}", "\\", "\x00", "é", "ｒ1"]  # fmt: skip
PLACES = {
    "a register": ".reg .b32 CODE; mov.u32 CODE, 1;",
    "a prefix of registers": ".reg .b32 CODE<4>; mov.u32 CODE1, 1;",
    "an operand": "mov.u32 %r1, CODE;",
    "an immediate": "add.u32 %r1, %r2, 1CODE;",
    "an offset": "ld.global.u32 %r1, [%rd1+CODE];",
    "a base": "ld.global.u32 %r1, [CODE];",
    "an item of a vector": "ld.global.v2.u32 {%r1, CODE}, [%rd1];",
    "a guard": "@CODE mov.u32 %r1, 1;",
    "an opcode": "CODE.u32 %r1, %r2, %r3;",
    "a modifier": "add.CODE.u32 %r1, %r2, %r3;",
    "a type": "add.CODE %r1, %r2, %r3;",
    "a comparison": "setp.CODE.u32 %p1, %r1, %r2;",
    "a rounding": "cvt.CODE.f32.f64 %f1, %fd1;",
    "a state space": "ld.CODE.u32 %r1, [%rd1];",
    "a shape": "mma.sync.aligned.CODE.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2}, {%r3}, {%f1,%f2,%f3,%f4};",
    "an atomic operation": "atom.global.CODE.u32 %r1, [%rd1], %r2;",
    "a shuffle": "shfl.sync.CODE.b32 %r1|%p1, %r2, 1, 31, -1;",
    "a special register": "mov.u32 %r1, %CODE;",
    "an axis": "mov.u32 %r1, %tid.CODE;",
    "a label": "CODE: bra CODE;",
    "a target": "bra CODE;",
    "a list of targets": "brx.idx %r1, T; T: .branchtargets CODE;",
    "a variable": ".shared .b32 CODE; mov.u32 %r1, CODE;",
    "a size": ".shared .b32 v[CODE]; mov.u32 %r1, v;",
    "a truth table": "lop3.b32 %r1, %r2, %r3, %r1, CODE;",
    "a barrier": "bar.sync CODE;",
    "a count of bytes": "cp.async.ca.shared.global [%r1], [%rd1], CODE;",
    "a function": "call CODE, (%r1);",
    "a position": '.loc CODE 1 1\nmov.u32 %r1, 1;',
    "a file": '.file 1 "CODE"\n.loc 1 1 1\nmov.u32 %r1, 1; trap;',
    "a pragma": '.pragma "CODE"; mov.u32 %r1, 1;',
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_code_in_a_token_is_refused_or_harmless(place, monkeypatch):
    """The text either does not get that far, or what is executed holds nothing of it."""
    seen = []
    through = generated.function_of
    monkeypatch.setattr(generated, "function_of", lambda text, *more: seen.append(text) or through(text, *more))
    for code in CODE:
        text = small(PLACES[place].replace("CODE", code))
        try:
            gpu_simulator.launch(text, "kernel", 1, 32, [np.zeros(64, np.int32)], max_instructions=1000)
        except SimulatorError as error:
            assert len(str(error)) < 1000
        for written in seen:
            assert not re.search(r"import|system|lambda|__|launch|[\\\"{}\x00é;]", written)
            generated.check(written, NAMESPACE | {f"k{n}": 0 for n in range(99)})
