"""Fuses the `mma` instructions of a warp tile into one matrix product.

Independent `mma` of the same kind are collected in a group, which is moved down the block until an instruction uses its
registers. Then the accumulators are kept as one float matrix (`_Held`) until an instruction uses them that is not part
of a group that accumulates onto the same matrix.
"""

from __future__ import annotations

from gpu_simulator.ptx.basic_blocks import reads_and_writes
from gpu_simulator.ptx.ir import Instruction, Register, items_of
from gpu_simulator.ptx.mma_forms import fusible
from gpu_simulator.ptx.types import register_code


def fused_code(code: list[Instruction], live_out: int):
    """The steps of a block, in an order that gives the same results: `Instruction`, `MatmulStep` or `WriteMatrix`.

    live_out: bit mask of the registers that are used after the block.
    """
    if not any(i.family == "mma" for i in code):
        return code
    return _Fuser(code, live_out).steps


def _numbers(vector, count: int) -> tuple[int, ...] | None:
    """The numbers of a vector's registers; None unless it consists of `count` registers of 4 bytes."""
    items = items_of(vector)
    if len(items) != count or not all(type(r) is Register and register_code(r.type) in ("u4", "f4") for r in items):
        return None
    return tuple(r.index for r in items)


def _counts(form) -> tuple[int, int, int, int]:
    """How many registers of a lane D, A, B and C have in one mma."""
    sums = form.m * form.n // (64 if form.accumulator == "f16" else 32)
    return sums, form.m * form.k * form.bits // 1024, form.k * form.n * form.bits // 1024, sums


class MatmulStep:
    """mma instructions that form the full grid of `a` × `b` tiles.

    c: the accumulators' registers, in the order of the grid.   held_in: matrix that holds them already, or None.
    held_out: matrix that gets the results.
    """

    def __init__(self, members, a, b, c, d, held_in: str | None, held_out: str):
        self.members, self.a, self.b, self.c, self.d = members, a, b, c, d
        self.held_in, self.held_out = held_in, held_out

    def emit(self, emitter) -> None:
        kind = fusible(self.members[0].opcode)
        emitter.begin(self.members[0])
        flat = lambda tuples: "(" + ", ".join(f"r{n}" for t in tuples for n in t) + ",)"  # noqa: E731
        code = repr(tuple(kind))
        a = f"fragment_a(lanes, {flat(self.a)}, {len(self.a)}, {code})"
        b = f"fragment_b(lanes, {flat(self.b)}, {len(self.b)}, {code})"
        c = self.held_in or f"accumulators(lanes, {flat(self.c)}, {len(self.a)}, {len(self.b)}, {code})"
        emitter.line(f"{self.held_out} = multiply({a}, {b}, {c}, {code}, resident.sum_rule)")


class WriteMatrix:
    """Writes a held matrix back to the registers `d`, in the order of the grid."""

    def __init__(self, held: str, d, rows: int, columns: int, opcode: str):
        self.held, self.d, self.rows, self.columns, self.opcode = held, d, rows, columns, opcode

    def emit(self, emitter) -> None:
        names = ", ".join(f"r{n}" for t in self.d for n in t)
        code = register_code(emitter.registers[self.d[0][0]].type)  # NVRTC also keeps floats in .b32 registers
        emitter.line(
            f"({names},) = results(lanes, {self.held}, {self.rows}, {self.columns}, {tuple(fusible(self.opcode))!r}, "
            f"{code})"
        )


class _Held:
    def __init__(self, name, d, rows, columns, opcode):
        self.name, self.d, self.rows, self.columns, self.opcode = name, d, rows, columns, opcode
        self.position = {t: divmod(i, columns) for i, t in enumerate(d)}
        self.registers = {n for t in d for n in t}


class _Fuser:
    def __init__(self, code, live_out: int):
        self.steps: list = []
        self.group: list[tuple[Instruction, tuple, tuple, tuple, tuple]] = []
        self.group_reads: set[int] = set()
        self.group_writes: set[int] = set()
        self.held: list[_Held] = []
        self.count = 0
        for instruction in code:
            self.take(instruction)
        self.close()
        for held in list(self.held):
            if any(live_out >> n & 1 for n in held.registers):
                self.spill(held)

    def take(self, instruction: Instruction) -> None:
        form = fusible(instruction.opcode) if instruction.family == "mma" else None
        if form is not None and instruction.guard is None and len(instruction.operands) == 4:
            d, a, b, c = map(_numbers, instruction.operands, _counts(form))
            if None not in (a, b, c, d):
                self.add(instruction, d, a, b, c)
                return
        reads, writes = reads_and_writes(instruction)
        touched = set(writes)
        if self.group and (touched & (self.group_reads | self.group_writes) or self.group_writes & set(reads)):
            self.close()
        touched.update(reads)
        for held in list(self.held):
            if held.registers & touched:
                # The group may read its accumulators from this matrix, so it has to come before the spill.
                if self.group and self.group_reads & held.registers:
                    self.close()
                if held in self.held:
                    self.spill(held)
                else:
                    for other in [h for h in self.held if h.registers & touched]:
                        self.spill(other)
        self.steps.append(instruction)

    def add(self, instruction, d, a, b, c) -> None:
        if self.group and (
            instruction.opcode != self.group[0][0].opcode
            or self.group_writes & {*a, *b, *c}
            or (set(d) - set(c)) & self.group_reads
            or set(d) & self.group_writes
            or (set(d) & set(c) and set(d) & self.group_reads)
        ):
            self.close()
        for held in list(self.held):
            if held.registers & {*a, *b}:
                if self.group and self.group_reads & held.registers:
                    self.close()
                if held in self.held:
                    self.spill(held)
        self.group.append((instruction, d, a, b, c))
        self.group_reads.update(a, b, c)
        self.group_writes.update(d)

    def spill(self, held: _Held) -> None:
        self.held.remove(held)
        self.steps.append(WriteMatrix(held.name, held.d, held.rows, held.columns, held.opcode))

    def close(self) -> None:
        group, self.group = self.group, []
        self.group_reads, self.group_writes = set(), set()
        while group:
            taken = self.grid(group)
            names = {id(m[0]) for m in taken}
            group = [m for m in group if id(m[0]) not in names]
            self.emit(taken)

    @staticmethod
    def grid(group):
        """The members of one full grid: all rows (tiles of A) with the same columns (tiles of B) as the first row."""
        rows: dict[tuple, dict[tuple, tuple]] = {}
        for member in group:
            rows.setdefault(member[2], {}).setdefault(member[3], member)
        columns = set(next(iter(rows.values())))
        return [m for row in rows.values() if set(row) == columns for m in row.values()]

    def emit(self, members) -> None:
        held = next((h for h in self.held if members[0][4] in h.position), None)
        order = self.matching(held, members) if held is not None else None
        wanted = {n for m in members for n in (*m[4], *m[1])}
        for other in list(self.held):
            if other.registers & wanted and not (other is held and order is not None):
                self.spill(other)
        if order is None:
            a, b = list(dict.fromkeys(m[2] for m in members)), list(dict.fromkeys(m[3] for m in members))
        else:
            a, b = order
        by_pair = {(m[2], m[3]): m for m in members}
        ordered = [by_pair[x, y] for x in a for y in b]
        opcode = members[0][0].opcode
        source = None
        if order is not None:
            self.held.remove(held)
            source = held.name
            ends = {n for m in members for n in m[1]}
            if not held.registers <= ends:  # old values that the group does not overwrite may be read later
                self.steps.append(WriteMatrix(held.name, held.d, held.rows, held.columns, held.opcode))
        self.count += 1
        name = f"acc{self.count}"
        self.steps.append(MatmulStep([m[0] for m in ordered], a, b, [m[4] for m in ordered], None, source, name))
        self.held.append(_Held(name, [m[1] for m in ordered], len(a), len(b), opcode))

    @staticmethod
    def matching(held: _Held, members):
        """Orders of the a and b tiles such that the accumulators are in the order of `held`; None if there are none."""
        if held.opcode != members[0][0].opcode or len(members) != len(held.d):
            return None
        a: dict[int, tuple] = {}
        b: dict[int, tuple] = {}
        for _, _, x, y, c in members:
            position = held.position.get(c)
            if position is None or a.setdefault(position[0], x) != x or b.setdefault(position[1], y) != y:
                return None
        if (
            len(a) != held.rows
            or len(b) != held.columns
            or len(set(a.values())) != len(a)
            or len(set(b.values())) != len(b)
        ):
            return None
        return [a[i] for i in range(held.rows)], [b[j] for j in range(held.columns)]
