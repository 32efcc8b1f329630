"""What a source calls a kernel's parameters and shared arrays, so that a message says `x[1024]` and not its address."""

from __future__ import annotations

import re
from functools import cached_property

from gpu_simulator.ptx.parameter_types import Parameter, parameters
from gpu_simulator.ptx.shared_declarations import TYPE_BYTES, Declaration, declarations
from gpu_simulator.ptx.struct_types import members, size_of

NUMBERS = {"float", "double", "int", "half", "__half", "__nv_bfloat16"}
_ARGUMENT = re.compile(r"\bargument (\d+)(?:\.(\d+))?$")


class SourceNames:
    """The names in the source of one kernel, which is read when the first of them is asked for.

    entry: the kernel's name in the PTX.   source: "" where it is not known; then no name is known.
    """

    def __init__(self, entry: str = "", source: str = ""):
        self.entry, self.source = entry, source

    @cached_property
    def _parameters(self) -> list[Parameter]:
        return parameters(self.entry, self.source) if self.source else []

    @cached_property
    def _shared(self) -> dict[str, Declaration]:
        return {one.name: one for one in declarations(self.source)}

    def _parameter(self, name: str) -> Parameter | None:
        """The parameter that messages call "argument 2", or the member of a struct that they call "argument 2.0"."""
        found = _ARGUMENT.search(name)
        if not found or int(found[1]) >= len(self._parameters):
            return None
        one = self._parameters[int(found[1])]
        if found[2] is None or not one.name:
            return one if one.name else None
        inside = members(one.type, self.source) or []
        if int(found[2]) >= len(inside) or any(each.count for each in inside):
            return None
        member = inside[int(found[2])]
        return Parameter(member.type, f"{one.name}.{member.name}")

    def array(self, name: str) -> str:
        """The name of an array in messages. name: the one that it has without a source, such as "argument 2"."""
        found = self._parameter(name)
        return _ARGUMENT.sub(found.name, name) if found else name

    def count(self, name: str, size: int) -> str:
        """`size` bytes of an array in words."""
        each = self._element_bytes(name)
        return f"{size:,} bytes" if not each or size % each else f"{size // each:,} elements, {size:,} bytes"

    def element(self, name: str, at: int) -> str:
        """The element of an array at a byte, such as `x[30]`; "" where its type is not known or `at` is within one."""
        each = self._element_bytes(name)
        return f"{self.array(name)}[{at // each}]" if each and at % each == 0 else ""

    def _element_bytes(self, name: str) -> int | None:
        found = self._parameter(name) if _ARGUMENT.match(name) else None
        if not found or not found.type.endswith("*"):
            return None
        kind = found.type.removesuffix("*")
        return size_of(kind, self.source) or TYPE_BYTES.get(kind)

    def shared_element(self, name: str, at: int) -> str:
        """The element of a shared array at a byte, such as `tile[1][3]`; "" as for `element`.

        Neither has dynamic memory of words or bytes an element, because it often holds several arrays.
        """
        found = self._shared.get(name)
        if found is None or not found.element_bytes or at % found.element_bytes or None in found.values[1:]:
            return ""
        if found.extents[:1] == ("",) and found.type not in NUMBERS:
            return ""
        index, places = at // found.element_bytes, []
        for extent in reversed(found.values[1:]):
            index, place = divmod(index, int(extent or 1))
            places.append(place)
        return name + "".join(f"[{place}]" for place in [index, *reversed(places)]) if found.values else ""
