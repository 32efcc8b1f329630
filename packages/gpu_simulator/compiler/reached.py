"""What device code reaches of the types, constants and aliases of a file: the others serve host code and are left out.

Some of those need headers that were left out, as an alias of a library's handle does, or a class with such a member. A
name is reached if the text of device code, or of what it reaches, has a word that is the same, macros included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gpu_simulator.compiler.declarations import Conditional, Item, emptied

_PASTED = re.compile(r"\w\s*##\s*\w")


def reached(
    text: str,
    items: Sequence[Item],
    code: str,
    groups: Sequence[Conditional],
    macros: Mapping[str, str],
    used: str,
    alone: bool = False,
) -> str:
    """The text with empty lines in place of what neither device code nor `used` reaches.

    items, code, groups: its declarations, its code without comments, and its conditionals.   macros: what each macro
    stands for. A static_assert stays unless it names something that is left out.   alone: device code has to be
    reached, too.
    """
    primary = {name for item in items if item.keep and not item.special for name in item.names}
    by_name: dict[str, list[Item]] = {}
    wanted: list[Item] = []
    for item in items:
        # A template that only a specialisation names is one of a library, which may use it without being asked here.
        if item.keep and (alone or not item.root) and item.names and not (item.special and not item.names & primary):
            for name in item.names:
                by_name.setdefault(name, []).append(item)
        elif item.keep and not item.head.startswith("static_assert"):
            wanted.append(item)
    stay, seen, words = set(wanted), set[str](), _words(used)
    while wanted or words:
        if wanted:
            words |= _words(code[wanted[-1].begin : wanted.pop().end]) - seen
            continue
        seen.add(word := words.pop())
        words |= _words(macros.get(word, "")) - seen
        if _PASTED.search(macros.get(word, "")):  # a name that is put together may be any
            words |= by_name.keys() - seen
        found = {item for item in by_name.get(word, ()) if item not in stay}
        stay |= found
        wanted += found
    gone = {name for item in items if item not in stay for name in item.names} - seen
    stay |= {item for item in items if item.head.startswith("static_assert") and not gone & _words(item.head)}
    parts, at = [], 0
    for item in items:
        if not item.keep or item not in stay:
            parts += [text[at : item.begin], emptied(text, item.begin, item.end, groups)]
            at = item.end
    return "".join([*parts, text[at:]])


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))
