"""The order in which the blocks of a function are translated, and which block every way to another leads through."""

from __future__ import annotations

from llvm_ir_to_ptx.reading.module import Block, Function


def in_order(function: Function) -> list[Block]:
    """The blocks that can be reached, each behind those that every way to it leads through.

    It is the reverse of the order in which a depth-first search leaves them, which tries the last target first.
    """
    blocks = {block.label: block for block in function.blocks}
    left: list[Block] = []
    first = function.blocks[0]
    seen, stack = {first.label}, [(first, iter(first.instructions[-1].targets[::-1]))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((blocks[target], iter(blocks[target].instructions[-1].targets[::-1])))
                break
        else:
            left.append(block)
            stack.pop()
    return left[::-1]


def dominators(order: list[Block]) -> dict[str, str]:
    """Of each block but the first the nearest other block that every way to it leads through, by their labels.

    order: the blocks as `in_order` gives them. After Cooper, Harvey and Kennedy, “A Simple, Fast Dominance Algorithm”.
    """
    number = {block.label: index for index, block in enumerate(order)}
    before: dict[str, list[str]] = {block.label: [] for block in order}
    for block in order:
        for target in block.instructions[-1].targets:
            before[target].append(block.label)
    first = order[0].label
    nearest = {first: first}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [label for label in before[block.label] if label in nearest]
            found = known[0]
            for other in known[1:]:
                while found != other:
                    if number[found] > number[other]:
                        found = nearest[found]
                    else:
                        other = nearest[other]
            if nearest.get(block.label) != found:
                nearest[block.label], changed = found, True
    del nearest[first]
    return nearest
