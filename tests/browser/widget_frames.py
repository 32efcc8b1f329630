"""What a live widget does while it plays: how many nodes and canvas calls each of its steps takes."""

from __future__ import annotations

from typing import Any

# [nodes, calls] of each of these steps: distinct nodes that changed, and calls that draw on a canvas.
_WORK = """async (steps) => {
  let calls = 0;
  const undo = [];
  for (const kind of [CanvasRenderingContext2D, OffscreenCanvasRenderingContext2D])
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(kind.prototype)))
      if (typeof value === "function") {
        kind.prototype[name] = function (...all) { calls++; return value.apply(this, all); };
        undo.push(() => (kind.prototype[name] = value));
      }
  const root = document.querySelector(".gemm-lab"), changed = new Set();
  const note = (records) => records.forEach((record) => {
    changed.add(record.target);
    for (const node of record.addedNodes)
      [node, ...(node.querySelectorAll?.("*") ?? [])].forEach((one) => changed.add(one));
  });
  const watcher = new MutationObserver(note);
  watcher.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))), found = [];
  await frame();
  for (const step of steps) {
    watcher.takeRecords();
    changed.clear();
    calls = 0;
    window.widget.model.set("step", step);
    await frame();
    note(watcher.takeRecords());
    found.push([changed.size, calls]);
  }
  watcher.disconnect();
  undo.forEach((restore) => restore());
  return found;
}"""


def work(page: Any, steps: list[int]) -> list[tuple[int, int]]:
    """(nodes that change, calls that draw on a canvas) of each step that the widget is set to, one after the other."""
    return [(nodes, calls) for nodes, calls in page.evaluate(_WORK, steps)]
