"""What a live widget does while it plays: the times of its frames, and how many nodes and canvas calls each takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# The times between frames while the widget plays, in milliseconds.
_TIMES = """async (seconds) => {
  const times = [], root = document.querySelector(".gemm-lab");
  let last = null, running = true;
  const tick = (now) => (last !== null && times.push(now - last), (last = now), running && requestAnimationFrame(tick));
  requestAnimationFrame(tick);
  [...root.querySelectorAll(".gl-main")].find((one) => one.textContent === "Play").click();
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  running = false;
  [...root.querySelectorAll(".gl-main")].find((one) => one.textContent === "Pause")?.click();
  return times;
}"""
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


@dataclass(frozen=True)
class Frames:
    """The times between frames, in milliseconds, in their order."""

    times: list[float]

    def at(self, share: float) -> float:
        """The time that this share of the frames does not exceed: 0.5 for the median."""
        return sorted(self.times)[min(int(share * len(self.times)), len(self.times) - 1)]

    def __str__(self) -> str:
        median, late = self.at(0.5), self.at(0.95)
        return (
            f"{1000 / median:5.0f} frames a second (median {median:.1f} ms), "
            f"{1000 / late:5.0f} at the 95th percentile ({late:.1f} ms), {len(self.times)} frames"
        )


def frames(page: Any, seconds: float = 5.0) -> Frames:
    """Let the widget on the page play for some seconds."""
    return Frames(page.evaluate(_TIMES, seconds))


def work(page: Any, steps: list[int]) -> list[tuple[int, int]]:
    """(nodes that change, calls that draw on a canvas) of each step that the widget is set to, one after the other."""
    return [(nodes, calls) for nodes, calls in page.evaluate(_WORK, steps)]
