// The tile of the swizzle puzzle, a line for each row, across the banks. Chunks are dragged by a pointer or moved by keys.
import { groupsOf, range } from "./puzzle_rules.js";
import { bankColour, h } from "gemm_lab/theme.js";

const LABEL = 46, HEAD = 19;

export const banksOf = (goal, group) => {
  const each = goal.banks / groupsOf(goal);
  return each > 1 ? `${group * each}–${group * each + each - 1}` : String(group);
};

export const at = (element, x, y, width, tall) => {
  element.style.transform = `translate(${x}px, ${y}px)`;
  element.style.width = `${width}px`;
  element.style.height = `${tall}px`;
};

// Colours a chunk by its column.
export const paint = (element, goal, chunk, dark) => (element.style.background = bankColour(chunk, goal.chunks, dark, true));

export const heads = (goal) => range(groupsOf(goal)).map((group) => h("div", { class: "gl-bank" }, banksOf(goal, group)));

// exchange(row, from, to): two places of a row. select(row, chunk).
export function tileBoard({ goal, exchange, select }) {
  let view = null, drag = null; // view: what `show` was given
  const names = range(goal.rows).map((row) => h("div", { class: "gl-rowname" }, `row ${row}`));
  const slots = range(goal.rows).map(() => range(goal.chunks).map(() => h("div", { class: "gl-slot" })));
  const starts = range(goal.rows).map(() => h("div", { class: "gl-rowstart" }));
  const chunks = range(goal.rows).map((row) => range(goal.chunks).map((chunk) =>
    h("div", { class: "gl-chunk", "data-row": row, "data-chunk": chunk }, String(chunk))));
  const banks = heads(goal), words = h("div", { class: "gl-unseen", id: `gl-tile-${Math.random().toString(36).slice(2)}` });
  const root = h("div", { class: "gl-tile", tabindex: 0, role: "application", "aria-describedby": words.id,
    "aria-label": "The tile. Arrow keys select a chunk; Shift with left or right moves it within its row.", onkeydown: key,
    onpointerdown: down, onpointermove: move, onpointerup: up, onpointercancel: () => ((drag = null), place()) },
    banks, names, slots.flat(), starts, chunks.flat(), words);

  const left = (row, chunk) => LABEL + view.layout.groupOf(row, chunk) * view.cell;
  const top = (row) => HEAD + row * view.tall;

  function show(given) {
    view = given;
    place();
  }

  function place() {
    const { layout, cell, tall, dark, selected, lanes, padding } = view;
    root.style.width = `${LABEL + layout.groups * cell}px`;
    root.style.height = `${HEAD + goal.rows * tall}px`;
    banks.forEach((bank, group) => at(bank, LABEL + group * cell, 0, cell, HEAD));
    for (const row of range(goal.rows)) {
      at(names[row], 0, top(row), LABEL, tall);
      at(starts[row], LABEL + layout.groupAt(row, 0) * cell - 2, top(row) + 2, 5, tall - 4);
      starts[row].hidden = !padding;
      for (const number of range(goal.chunks)) {
        at(slots[row][number], LABEL + layout.groupAt(row, number) * cell + 2, top(row) + 2, cell - 4, tall - 4);
        const chunk = chunks[row][number], mine = drag?.row === row && drag.chunk === number;
        paint(chunk, goal, number, dark);
        chunk.classList.toggle("gl-selected", selected.row === row && selected.chunk === number);
        chunk.classList.toggle("gl-asked", lanes.has(`${row} ${number}`));
        chunk.classList.toggle("gl-dragged", mine);
        at(chunk, left(row, number) + 2 + (mine ? drag.x - drag.from : 0), top(row) + 2, cell - 4, tall - 4);
      }
    }
    const aim = drag && target();
    slots.forEach((line, row) => line.forEach((slot, number) => slot.classList.toggle("gl-aim", drag?.row === row && aim === number)));
    words.textContent = layout.rows.map((row, number) => `Row ${number}: ${goal.chunk_bytes === 16 ? "chunks" : "words"} ${row.join(", ")}.`).join(" ");
  }

  // ---- Pointer ----
  function down(event) {
    const hit = event.target.closest?.(".gl-chunk");
    if (!hit || event.button) return;
    const row = Number(hit.dataset.row), chunk = Number(hit.dataset.chunk);
    select(row, chunk);
    drag = { row, chunk, from: event.clientX, x: event.clientX };
    root.setPointerCapture?.(event.pointerId);
    root.focus({ preventScroll: true });
    event.preventDefault();
    place();
  }

  function move(event) {
    if (!drag) return;
    drag.x = event.clientX;
    place();
  }

  // The place of the row whose middle is nearest to that of the dragged chunk.
  function target() {
    const middle = left(drag.row, drag.chunk) + drag.x - drag.from;
    const far = (number) => Math.abs(LABEL + view.layout.groupAt(drag.row, number) * view.cell - middle);
    return range(goal.chunks).reduce((best, number) => (far(number) < far(best) ? number : best), 0);
  }

  function up() {
    if (!drag) return;
    const { row, chunk } = drag, from = view.layout.places[row][chunk], to = target();
    drag = null;
    if (from !== to) exchange(row, from, to);
    else place();
  }

  // ---- Keys ----
  function key(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const { layout, selected } = view, group = layout.groupOf(selected.row, selected.chunk), row = selected.row + step[0];
    if (row < 0 || row >= goal.rows) return;
    const order = range(goal.chunks).sort((a, b) => layout.groupAt(row, a) - layout.groupAt(row, b));
    const here = layout.places[selected.row][selected.chunk];
    if (step[0]) {
      if (event.shiftKey) return;
      const far = (number) => Math.abs(layout.groupAt(row, number) - group);
      const nearest = order.reduce((best, number) => (far(number) < far(best) ? number : best));
      select(row, layout.rows[row][nearest]);
      return;
    }
    const next = order[order.indexOf(here) + step[1]];
    if (next === undefined) return;
    if (event.shiftKey) exchange(row, here, next);
    else select(row, layout.rows[row][next]);
  }

  return { root, show };
}
