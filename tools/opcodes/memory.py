"""Cases of loads, stores, atomics and asynchronous copies."""

from __future__ import annotations

from collections.abc import Iterator

from tools.opcodes.case import HOLDERS, VARIABLE, Case, registers, written

SHARED = "static_cast<unsigned>(__cvta_generic_to_shared(&{}))"
FOUR = "__shared__ __align__(16) unsigned s[128]; for (int n = 0; n < 4; ++n) "


def cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from _loads()
    yield from _stores()
    yield from _addresses()
    yield from _atomics()
    yield from _copies()


def _vectors() -> Iterator[tuple[str, int, int]]:
    """(type, bits per element, number of elements) of the accesses of at most 16 bytes."""
    for kind in ("u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32", "f32", "u64", "b64", "f64"):
        for count in (1, 2, 4):
            if int(kind[1:]) * count <= 128:
                yield kind, int(kind[1:]), count


def _access(family: str, space: str, kind: str, count: int) -> str:
    place = "" if space == "generic" else f".{space}"
    return f"{family}{place}{'' if count == 1 else f'.v{count}'}.{kind}"


def _vector(first: int, count: int) -> str:
    return f"%{first}" if count == 1 else registers(first, count)


def _loads() -> Iterator[Case]:
    for space in ("global", "shared", "generic", "local"):
        for kind, bits, count in _vectors():
            if space in ("generic", "local") and (kind[0] in "bf" or count == 2):
                continue
            name, step, word = _access("ld", space, kind, count), bits * count // 8, f"b{max(bits, 32)}"
            _, letter, _, store = HOLDERS[kind if kind[0] == "f" else word]
            address, constraint = f"reinterpret_cast<const char*>(x0) + i * {step}", "l"
            prepare = ""
            if space == "shared":
                prepare = FOUR + "s[4 * lane + n] = x0[4 * i + n]; __syncwarp(); "
                address, constraint = f"{SHARED.format('s')} + lane * {step}", "r"
            if space == "local":
                prepare = (
                    "__align__(16) unsigned s[4]; for (int n = 0; n < 4; ++n) s[n] = x0[4 * i + n]; "
                    'unsigned long long at; asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(at) : "l"(s) : "memory"); '
                )
                address = "at"
            results = ", ".join(f'"={letter}"(r[{n}])' for n in range(count))
            text = f"{name} {_vector(0, count)}, [%{count}];"
            body = (
                f"{prepare}{VARIABLE[letter]} r[{count}]; "
                f'asm volatile("{text}" : {results} : "{constraint}"({address}) : "memory"); '
                f"for (int n = 0; n < {count}; ++n) y0[{count} * i + n] = {store.format('r[n]')};"
            )
            yield written(name, body, ("b32:bytes",), (word,), words=(128,), per_lane=(count,))
    forms = ["global.nc", "global.cg", "global.ca", "global.cs", "volatile.global", "relaxed.gpu.global"]
    forms += ["acquire.gpu.global", "global.L1::no_allocate", "global.L2::128B"]
    for name in (*(f"ld.{form}.u32" for form in forms), "ldu.global.u32"):
        body = f'unsigned r; asm volatile("{name} %0, [%1];" : "=r"(r) : "l"(x0 + i) : "memory"); y0[i] = r;'
        yield written(name, body, ("b32:bytes",), ("b32",))


def _stores() -> Iterator[Case]:
    for space in ("global", "shared", "generic"):
        for kind, bits, count in _vectors():
            if kind[0] in "sf" or (space == "generic" and count == 2):
                continue
            name, step, word = _access("st", space, kind, count), bits * count // 8, f"b{max(bits, 32)}"
            letter = HOLDERS[word][1]
            address, constraint, prepare, finish = f"reinterpret_cast<char*>(y0) + i * {step}", "l", "", ""
            if space == "shared":
                prepare = FOUR + "s[n * 32 + lane] = 7; __syncwarp(); "
                address, constraint = f"{SHARED.format('s')} + lane * {step}", "r"
                finish = " __syncwarp(); for (int n = 0; n < 4; ++n) y0[n * 32 + lane] = s[n * 32 + lane];"
            operands = ", ".join(f'"{letter}"(x0[{count} * i + {n}])' for n in range(count))
            text = f"{name} [%0], {_vector(1, count)};"
            body = f'{prepare}asm volatile("{text}" :: "{constraint}"({address}), {operands} : "memory");{finish}'
            ins = f"{word}:bytes" if word == "b32" else word
            yield written(name, body, (ins,), ("b32",), words=(32 * count,), per_lane=(4,))
    for form in ("global.cs", "global.wt", "volatile.global", "relaxed.gpu.global", "release.gpu.global"):
        body = f'asm volatile("st.{form}.u32 [%0], %1;" :: "l"(y0 + i), "r"(x0[i]) : "memory");'
        yield written(f"st.{form}.u32", body, ("b32",), ("b32",))


def _addresses() -> Iterator[Case]:
    text = "{ .reg .pred p; isspacep.%s p, %%1; selp.u16 %%0, 1, 0, p; }"
    for space in ("global", "shared", "local", "const"):
        asm = text % space
        body = (
            "__shared__ unsigned s[32]; unsigned mine[2]; mine[lane & 1] = x0[i]; s[lane] = x0[i]; "
            "unsigned short r; const void* at = lane % 3 == 0 ? (const void*)(x0 + i) : "
            "lane % 3 == 1 ? (const void*)(s + lane) : (const void*)mine; "
            f'asm volatile("{asm}" : "=h"(r) : "l"(at) : "memory"); y0[i] = r;'
        )
        yield written(f"isspacep.{space}", body, ("b32",), ("pred",))
    body = (
        "__shared__ unsigned s[32]; s[lane] = x0[i]; __syncwarp(); unsigned r; unsigned long long at; "
        f"unsigned long long from = {SHARED.format('s[31 - lane]')}; "
        'asm volatile("cvta.shared.u64 %0, %1;" : "=l"(at) : "l"(from)); '
        'asm volatile("ld.u32 %0, [%1];" : "=r"(r) : "l"(at) : "memory"); y0[i] = r;'
    )
    yield written("cvta.shared.u64", body, ("b32",), ("b32",))
    body = (
        "__shared__ unsigned s[32]; s[lane] = x0[i]; __syncwarp(); unsigned r; unsigned long long at; "
        'asm volatile("cvta.to.shared.u64 %0, %1;" : "=l"(at) : "l"(s + (31 - lane))); '
        'asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"((unsigned)at) : "memory"); y0[i] = r;'
    )
    yield written("cvta.to.shared.u64", body, ("b32",), ("b32",))


def _operations() -> Iterator[tuple[str, str]]:
    """(operation with its qualifiers, type) of the atomic operations."""
    for kind in ("u32", "s32", "u64", "f32", "f64"):
        yield "add", kind
    for kind in ("f16", "f16x2", "bf16", "bf16x2"):
        yield "add.noftz", kind
    for kind in ("u32", "s32", "u64", "s64"):
        yield "min", kind
        yield "max", kind
    for bits in ("32", "64"):
        for which in ("and", "or", "xor", "exch", "cas"):
            yield which, "b" + bits
    yield "cas", "b16"
    yield "inc", "u32"
    yield "dec", "u32"


def _atomics() -> Iterator[Case]:
    for space in ("global", "shared"):
        for which, kind in _operations():
            array, letter, turn, back = HOLDERS[kind]
            place, constraint, prepare, finish = "y1 + i", "l", "y1[i] = x0[i]; ", ""
            if space == "shared":
                prepare, finish = f"__shared__ {array} s[32]; s[lane] = x0[i]; ", " y1[i] = s[lane];"
                place, constraint = SHARED.format("s[lane]"), "r"
            values = 2 if which == "cas" else 1
            ins = (f"{kind}:few",) * 3 if values == 2 else (kind, kind)
            operands = ", ".join(f'"{letter}"({turn.format(f"x{n + 1}[i]")})' for n in range(values))
            name = f"atom.{space}.{which}.{kind}"
            text = f"{name} %0, [%1], {', '.join(f'%{n + 2}' for n in range(values))};"
            body = (
                f"{prepare}{VARIABLE[letter]} r; "
                f'asm volatile("{text}" : "={letter}"(r) : "{constraint}"({place}), {operands} : "memory");'
                f"{finish} y0[i] = {back.format('r')};"
            )
            yield written(name, body, ins, (kind, kind), lanes=64)
            if which in ("exch", "cas"):
                continue
            name = "red" + name[4:]
            body = (
                f'{prepare}asm volatile("{name} [%0], %1;" :: "{constraint}"({place}), {operands} : "memory");'
                f"{finish.replace('y1', 'y0')}"
            ).replace("y1", "y0")
            yield written(name, body, ins, (kind,), lanes=64)
    for which, kind in (("add", "u32"), ("inc", "u32"), ("max", "s32"), ("xor", "b32")):
        name = f"atom.shared.{which}.{kind}"
        body = (
            "__shared__ unsigned s[2]; if (lane < 2) s[lane] = 5; __syncwarp(); unsigned r; "
            f'asm volatile("{name} %0, [%1], %2;" : "=r"(r) '
            f': "r"({SHARED.format("s[lane & 1]")}), "r"(x0[i]) : "memory"); '
            "__syncwarp(); y1[i] = s[lane & 1];"
        )
        body += " y0[i] = r;" if which in ("add", "inc") else " y0[i] = 0;"
        value = "u32:same" if which in ("add", "inc") else kind
        yield written(f"{name} contended", body, (value,), (kind, kind), sort=True)
    for kind, letter, turn in (("f32", "f", "__uint_as_float({})"), ("f16x2", "r", "{}")):
        values = ", ".join(f'"{letter}"({turn.format(f"x1[2 * i + {n}]")})' for n in range(2))
        name = "red.global.add.v2.f32" if kind == "f32" else "red.global.add.noftz.v2.f16x2"
        body = (
            "for (int n = 0; n < 2; ++n) y0[2 * i + n] = x0[2 * i + n]; "
            f'asm volatile("{name} [%0], {{%1, %2}};" :: "l"(y0 + 2 * i), {values} : "memory");'
        )
        yield written(name, body, (kind, kind), (kind,), words=(64, 64), per_lane=(2,))


def _copies() -> Iterator[Case]:
    start = FOUR + "s[4 * lane + n] = 0xA5A5A5A5u; __syncwarp(); "
    finish = (
        ' asm volatile("cp.async.wait_all;" ::: "memory"); __syncwarp(); '
        "for (int n = 0; n < 4; ++n) y0[4 * i + n] = s[4 * lane + n];"
    )
    group = ' asm volatile("cp.async.commit_group;" ::: "memory"); asm volatile("cp.async.wait_group 0;" ::: "memory");'
    for form, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        name = f"cp.async.{form}.shared.global"
        operands = f'"r"({SHARED.format("s[4 * (lane ^ 3)]")}), "l"(x0 + 4 * i)'
        for what, extra, more in (
            ("", "", ""),
            ("source size", ", %2", ', "r"(x1[i] > {size} ? {size} : x1[i])'),
            ("ignore-src", ", p", ', "r"(x1[i] & 1)'),
        ):
            text = f"{name} [%0], [%1], {size}{extra};"
            if what == "ignore-src":
                text = f"{{ .reg .pred p; setp.ne.u32 p, %2, 0; {text} }}"
            body = f'{start}asm volatile("{text}" :: {operands}{more.format(size=size)} : "memory");'
            ins = ("b32:bytes", "u32:size") if what else ("b32:bytes",)
            body += (group if what else "") + finish
            full = f"{name} {size} {what}".strip()
            yield written(full, body, ins, ("b32",), words=(128, 32)[: len(ins)], per_lane=(4,))
