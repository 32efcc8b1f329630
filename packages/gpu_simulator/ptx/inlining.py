"""Turns a kernel into one flat list of instructions by inlining the device functions that it calls.

Every copy of a function has its own registers, labels and local variables. Parameters that are passed in `.param`
variables become registers if all accesses agree on offset and width, and local memory otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from gpu_simulator.faults import LaunchError, MalformedPtx, UnsupportedInstruction
from gpu_simulator.ptx.declarations import BYTES, MOST_REGISTERS
from gpu_simulator.ptx.ir import (
    Function,
    Group,
    Instruction,
    Location,
    Memory,
    Module,
    Negated,
    Pair,
    Part,
    Register,
    Symbol,
    Variable,
    Vector,
)
from gpu_simulator.ptx.recursion import Frame, recursive_functions
from gpu_simulator.ptx.types import register_code

BUILT_IN = {"vprintf": 1, "__assertfail": 0, "malloc": 1, "free": 0}  # built-in functions -> number of results
# Limits of a kernel after inlining, far above what a compiler writes.
MOST_STATEMENTS, MOST_COPIES = 300_000, 10_000
DEEPEST = 60  # nested calls


@dataclass
class Flat:
    """The inlined kernel: its body (instructions, label strings, targets of `brx`), its registers and its variables."""

    name: str
    parameters: list[Variable]
    body: list = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    variables: dict[int, Variable] = field(default_factory=dict)  # id -> shared, local and param variables in use
    max_threads: int | None = None
    frames: list[Frame] = field(default_factory=list)  # of recursive functions


def flatten(module: Module, entry: str) -> Flat:
    """The kernel `entry` with every call of a device function inlined.

    Raises `LaunchError` for an unknown name, `MalformedPtx` and `UnsupportedInstruction` for calls that are not
    possible.
    """
    function = module.functions.get(entry)
    if function is None or not function.is_entry:
        known = ", ".join(f.name for f in module.functions.values() if f.is_entry) or "no kernel at all"
        raise LaunchError(f"There is no kernel called {entry} in this PTX; it has {known}.")
    flat = Flat(entry, function.parameters, max_threads=function.max_threads)
    _Inliner(module, flat).expand(function, {}, "", (), None)
    _promote_parameters(flat)
    return flat


class _Inliner:
    def __init__(self, module: Module, flat: Flat):
        self.module, self.flat, self.copies = module, flat, 0
        self.recursive = recursive_functions(module.functions)
        self.open: dict[str, int] = {}  # recursive functions being expanded -> number of their frame
        self.copied: list[Variable] = []

    def expand(self, function: Function, renamed: dict, suffix: str, active: tuple, call_site: Location | None):
        """Append the body of `function`. `renamed` maps the ids of its variables to the variables of this copy."""
        flat, base = self.flat, len(self.flat.registers)
        if len(active) > DEEPEST:
            raise UnsupportedInstruction(f"{function.name}: calls are more than {DEEPEST} deep in each other.")
        sizes = base + len(function.registers), len(flat.body) + len(function.body), self.copies
        if any(size > most for size, most in zip(sizes, (MOST_REGISTERS, MOST_STATEMENTS, MOST_COPIES), strict=True)):
            raise UnsupportedInstruction(
                f"{flat.name}: with a copy of each function at each of its calls, the kernel has more than "
                f"{MOST_STATEMENTS:,} instructions, {MOST_COPIES:,} copies or {MOST_REGISTERS:,} registers."
            )
        if base == 0:
            flat.registers.extend(function.registers)
        else:
            flat.registers.extend(Register(base + r.index, r.type, r.name) for r in function.registers)
        for variable in function.variables:
            if suffix and variable.space in ("local", "param"):
                self.copied.append(replace(variable))
                renamed[id(variable)] = self.copied[-1]
        end = f"$return{suffix}"
        for item in function.body:
            if isinstance(item, str):
                flat.body.append(item + suffix)
            elif isinstance(item, tuple):
                flat.body.append(("targets", item[1] + suffix, [label + suffix for label in item[2]]))
            elif item.family == "call":
                self.call(item, base, renamed, suffix, (*active, function.name), call_site)
            elif suffix and item.family == "ret":
                copy = self.copy(item, base, renamed, suffix, call_site)
                if function.name in self.open:
                    number = self.open[function.name]
                    flat.body.append(replace(copy, opcode="leave", parts=("leave",), operands=(number,), target=end))
                else:
                    flat.body.append(replace(copy, opcode="bra", parts=("bra",), target=end))
            elif base or suffix:
                flat.body.append(self.copy(item, base, renamed, suffix, call_site))
            else:
                self.note_variables(item.operands)
                flat.body.append(item)
        if suffix:
            flat.body.append(end)

    def note_variables(self, operands) -> None:
        for operand in operands:
            kind = type(operand)
            if kind is Memory:
                operand = operand.base
                kind = type(operand)
            if kind is Symbol and operand.variable is not None:
                self.flat.variables.setdefault(id(operand.variable), operand.variable)

    def copy(self, item: Instruction, base: int, renamed: dict, suffix: str, call_site) -> Instruction:
        def moved(operand):
            kind = type(operand)
            if kind is Register:
                return Register(base + operand.index, operand.type, operand.name)
            if kind is Memory:
                return Memory(moved(operand.base), operand.offset, tuple(map(moved, operand.coordinates)))
            if kind is Symbol:
                return operand._replace(variable=renamed.get(id(operand.variable), operand.variable))
            if kind in (Vector, Group):
                return kind(tuple(map(moved, operand.items)))
            if kind is Pair:
                return Pair(moved(operand.first), moved(operand.second))
            if kind in (Negated, Part):
                return operand._replace(register=moved(operand.register))
            return operand

        operands = tuple(map(moved, item.operands))
        self.note_variables(operands)
        location = item.location
        if call_site is not None and location is not None:
            location = Location(location.file, location.line, location.inlined_at + call_site.frames)
        return replace(
            item,
            operands=operands,
            guard=moved(item.guard),
            location=location,
            target=item.target + suffix if item.target else None,
        )

    def call(self, item: Instruction, base: int, renamed: dict, suffix: str, active: tuple, call_site) -> None:
        copy = self.copy(item, base, renamed, suffix, call_site)
        where = f"PTX line {item.line}: "
        operands = list(copy.operands)
        if len(operands) < 1 + isinstance(operands[0], Group):
            raise MalformedPtx(f"{where}{item.opcode} names no function.")
        results = operands.pop(0) if isinstance(operands[0], Group) else Group(())
        callee = operands.pop(0)
        arguments = operands.pop(0) if operands and isinstance(operands[0], Group) else Group(())
        if not all(isinstance(s, Symbol) and s.variable is not None for s in (*arguments.items, *results.items)):
            raise UnsupportedInstruction(
                f"{where}{item.opcode}: an argument that is not a .param variable cannot be simulated."
            ).at(copy)
        if type(callee) is Register and register_code(callee.type) == "u8":
            self.call_through_pointer(copy, results, callee, arguments, active, call_site)
            return
        if not isinstance(callee, Symbol):
            raise MalformedPtx(f"{where}{item.opcode} names no function.")
        function = self.module.functions.get(callee.name)
        if callee.name in BUILT_IN and (function is None or function.declared_only):
            if len(results.items) < BUILT_IN[callee.name]:
                raise MalformedPtx(f"{where}{item.opcode} {callee.name} takes no result.")
            for symbol in (*arguments.items, *results.items):
                self.flat.variables.setdefault(id(symbol.variable), symbol.variable)
            self.flat.body.append(replace(copy, operands=(results, callee, arguments)))
            return
        if function is None or function.declared_only:
            raise UnsupportedInstruction(
                f"{where}{item.opcode} {callee.name}: the function has no body in this PTX."
            ).at(copy)
        if callee.name in active:
            self.enter(copy, callee.name, results, arguments, where)
            return
        given, taken = len(arguments.items), len(results.items)
        if (given, taken) != (len(function.parameters), len(function.results)):
            raise MalformedPtx(
                f"{where}{item.opcode} {callee.name}: {given} arguments and {taken} results, but the function has "
                f"{len(function.parameters)} and {len(function.results)}."
            )
        self.copies += 1
        inner = f"#{self.copies}"
        mapping = dict(renamed)
        for formal, actual in zip(
            (*function.results, *function.parameters), (*results.items, *arguments.items), strict=True
        ):
            if actual.variable.size < formal.size:
                raise MalformedPtx(
                    f"{where}{item.opcode} {callee.name}: {actual.name[:60]} has {actual.variable.size:,} bytes, but "
                    f"{formal.size:,} are passed."
                )
            mapping[id(formal)] = actual.variable
            self.flat.variables.setdefault(id(actual.variable), actual.variable)
        skip = f"$skip{inner}"
        if copy.guard is not None:
            inverse = copy.guard.register if isinstance(copy.guard, Negated) else Negated(copy.guard)
            self.flat.body.append(replace(copy, opcode="bra", parts=("bra",), operands=(), guard=inverse, target=skip))
        if callee.name in self.recursive:
            self.expand_recursive(function, mapping, inner, active, copy, results, arguments, where)
        else:
            self.expand(function, mapping, inner, active, copy.location)
        self.flat.body.append(skip)

    def expand_recursive(self, function, mapping, inner, active, copy, results, arguments, where) -> None:
        """Append a copy of a recursive function, whose calls of itself enter the same copy again."""
        flat, first_variable = self.flat, len(self.copied)
        formals = [tuple(symbol.variable for symbol in group.items) for group in (results, arguments)]
        frame = Frame(*formals, f"$enter{inner}", f"$return{inner}", len(flat.registers))
        number, outer = len(flat.frames), self.open.get(function.name)
        flat.frames.append(frame)
        self.open[function.name] = number
        flat.body.append(frame.enter)
        self.expand(function, mapping, inner, active, copy.location)
        del self.open[function.name]
        if outer is not None:
            self.open[function.name] = outer
        frame.last = len(flat.registers)
        frame.variables = [*formals[1], *self.copied[first_variable:]]
        if any(variable.space == "local" for variable in frame.variables):
            raise UnsupportedInstruction(
                f"{where}{copy.opcode} {function.name}: a recursive function with an array of its own cannot be "
                "simulated; write the recursion as a loop, or keep the array in the kernel."
            ).at(copy)

    def enter(self, copy: Instruction, name: str, results: Group, arguments: Group, where: str) -> None:
        """Append a call of a recursive function from inside its own copy.

        Its operands are (number of the frame, variables of the arguments, variables of the results).
        """
        for symbol in (*arguments.items, *results.items):
            self.flat.variables.setdefault(id(symbol.variable), symbol.variable)
        number = self.open[name]
        sizes = [[s.variable.size for s in group.items] for group in (arguments, results)]
        frame = self.flat.frames[number]
        if sizes != [[v.size for v in group] for group in (frame.parameters, frame.results)]:
            raise MalformedPtx(f"{where}{copy.opcode} {name}: its arguments are not those of the function.")
        operands = (number, tuple(s.variable for s in arguments.items), tuple(s.variable for s in results.items))
        target = self.flat.frames[number].enter
        self.flat.body.append(replace(copy, opcode="enter", parts=("enter",), operands=operands, target=target))

    def address_taken(self, name: str) -> bool:
        """Whether a mov or an initialiser takes the address of the function."""
        word = re.escape(name)
        return (
            re.search(rf"mov\.[bu]64\s+[%\w$]+,\s*{word}\s*;|=[^;]*[\s{{,(]{word}[\s,;)}}+]", self.module.text)
            is not None
        )

    def call_through_pointer(self, copy, results, callee, arguments, active, call_site) -> None:
        """Append, for each function that the pointer could name, a comparison and an inlined call."""
        shape = [v.size for v in (s.variable for s in (*results.items, *arguments.items))]
        candidates = [
            f
            for f in self.module.functions.values()
            if not f.is_entry
            and not f.declared_only
            and f.name not in active
            and [v.size for v in (*f.results, *f.parameters)] == shape
            and self.address_taken(f.name)
        ]
        self.copies += 1
        done = f"$called#{self.copies}"
        for function in candidates:
            self.copies += 1
            hit, miss = Register(len(self.flat.registers), "pred", f"is {function.name}"), f"$other#{self.copies}"
            self.flat.registers.append(hit)
            test = replace(
                copy,
                opcode="setp.eq.u64",
                parts=("setp", "eq", "u64"),
                guard=None,
                operands=(hit, callee, Symbol(function.name, 0, None)),
            )
            jump = replace(copy, opcode="bra", parts=("bra",), operands=(), guard=Negated(hit), target=miss)
            self.flat.body += [test, jump]
            named = [
                o for o in (results, Symbol(function.name, 0, None), arguments) if o is not results or results.items
            ]
            # The operands are already those of this copy, so nothing is renamed again.
            self.call(replace(copy, operands=tuple(named)), 0, {}, "", active, call_site)
            self.flat.body += [replace(copy, opcode="bra", parts=("bra",), operands=(), guard=None, target=done), miss]
        self.flat.body += [replace(copy, opcode="trap", parts=("trap",), operands=(), guard=None), done]


def _promote_parameters(flat: Flat) -> None:
    """Turn the `.param` variables of calls into registers where all accesses agree.

    Their accesses become the instructions `param.put` and `param.get`.
    """
    entry_parameters = {id(p) for p in flat.parameters}
    slots: dict[int, dict[int, int]] = {}
    mixed: set[int] = {id(v) for frame in flat.frames for v in (*frame.results, *frame.variables)}

    def accesses(item):
        memory = next((o for o in item.operands if type(o) is Memory), None)
        if memory is None or type(memory.base) is not Symbol or item.family not in ("ld", "st"):
            return None, 0, 0, ()
        variable = memory.base.variable
        if variable is None or variable.space != "param" or id(variable) in entry_parameters:
            return None, 0, 0, ()
        value = item.operands[0] if item.family == "ld" else item.operands[1]
        values = value.items if type(value) is Vector else (value,)
        if item.parts[-1] not in BYTES or value is memory:
            raise MalformedPtx(f"PTX line {item.line}: {item.opcode} names no type, or no value.")
        return variable, memory.offset + memory.base.offset, BYTES[item.parts[-1]], values

    for item in flat.body:
        if not isinstance(item, Instruction):
            continue
        variable, offset, width, values = accesses(item)
        if variable is not None:
            known = slots.setdefault(id(variable), {})
            for i in range(len(values)):
                at = offset + i * width
                if known.setdefault(at, width) != width or item.guard is not None:
                    mixed.add(id(variable))
        else:
            for operand in _symbols(item):
                if operand.variable is not None and operand.variable.space == "param":
                    mixed.add(id(operand.variable))
    for key, known in slots.items():
        edges = sorted(known.items())
        if any(a + w > b for (a, w), (b, _) in zip(edges, edges[1:], strict=False)):
            mixed.add(key)
    registers: dict[tuple[int, int], Register] = {}
    body = []
    for item in flat.body:
        variable, offset, width, values = accesses(item) if isinstance(item, Instruction) else (None, 0, 0, ())
        if variable is None or id(variable) in mixed:
            body.append(item)
            continue
        for i, value in enumerate(values):
            key = (id(variable), offset + i * width)
            if key not in registers:
                registers[key] = Register(len(flat.registers), f"b{8 * width}", f"{variable.name}+{key[1]}")
                flat.registers.append(registers[key])
            put = item.family == "st"
            operands = (registers[key], value) if put else (value, registers[key])
            parts = ("param", "put" if put else "get", item.parts[-1])
            body.append(replace(item, opcode=".".join(parts), parts=parts, operands=operands))
    flat.body = body
    for key in [k for k, v in flat.variables.items() if v.space == "param" and k not in mixed]:
        del flat.variables[key]


def _symbols(item: Instruction):
    stack = list(item.operands)
    while stack:
        operand = stack.pop()
        if type(operand) is Symbol:
            yield operand
        elif type(operand) is Memory:
            stack.append(operand.base)
        elif type(operand) in (Vector, Group):
            stack.extend(operand.items)
