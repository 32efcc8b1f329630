// The bits of a chunk's address as boxes, and the wires of XOR gates from row bits to chunk bits.
import { chunkBits, range, rowBits } from "./puzzle_rules.js";
import { h, svg } from "gemm_lab/theme.js";

const GAP = 5, TALL = 28, LEGEND = 18, GATE = 9, LANE = 12, APART = 15;
const WIDE = { box: 54, space: 20, byte: 24 }, NARROW = { box: 44, space: 10, byte: 18 };

// toggle(row bit, chunk bit): adds the wire, or removes it.
export function wireBoard({ goal, toggle }) {
  let chosen = null, view = null; // chosen: {kind, bit}, the end of a wire that waits for its other end
  const rows = rowBits(goal), across = chunkBits(goal), within = Math.log2(goal.chunk_bytes);
  let size = WIDE;
  const rowX = (bit) => (rows - 1 - bit) * (size.box + GAP);
  const chunkX = (bit) => rows * (size.box + GAP) + size.space + (across - 1 - bit) * (size.box + GAP);
  const byteX = (bit) => (rows + across) * (size.box + GAP) + 2 * size.space + (within - 1 - bit) * (size.byte + 3);
  const bottom = LEGEND + TALL, height = bottom + 2 * GATE + rows * LANE - 2;
  const button = (kind, bit) => h("button", { class: "gl-bit", onclick: () => click(kind, bit) });
  const buttons = { row: range(rows).map((bit) => button("row", bit)), chunk: range(across).map((bit) => button("chunk", bit)) };
  const bytes = range(within).map(() => h("div", { class: "gl-bit gl-byte", "aria-hidden": "true" }, "0"));
  const legends = range(3).map(() => h("div", { class: "gl-legend" }));
  const drawing = svg("svg", { height, "aria-hidden": "true" });
  const root = h("div", { class: "gl-wires", role: "group", "aria-label": "bits of the address",
    onkeydown: (event) => event.key === "Escape" && ((chosen = null), draw()) }, drawing, legends, [...buttons.row].reverse(), [...buttons.chunk].reverse(), bytes);

  // Places everything; the boxes are narrower where there is less room.
  function arrange() {
    size = view.room < 480 ? NARROW : WIDE;
    const width = byteX(0) + size.byte, put = (element, x, wide) => {
      element.style.left = `${x}px`;
      element.style.width = `${wide}px`;
    };
    root.style.width = `${width}px`;
    root.style.height = `${height}px`;
    drawing.setAttribute("width", width);
    for (const [kind, x] of [["row", rowX], ["chunk", chunkX]]) buttons[kind].forEach((one, bit) => put(one, x(bit), size.box));
    bytes.forEach((one, bit) => put(one, byteX(bit), size.byte));
    put(legends[0], rowX(rows - 1), rows * (size.box + GAP) + size.space - 4);
    put(legends[1], chunkX(across - 1), across * (size.box + GAP) + size.space - 4);
    put(legends[2], byteX(within - 1), within * (size.byte + 3));
  }

  function click(kind, bit) {
    if (!chosen || chosen.kind === kind) chosen = chosen?.bit === bit ? null : { kind, bit };
    else {
      const ends = { [kind]: bit, [chosen.kind]: chosen.bit };
      chosen = null;
      toggle(ends.row, ends.chunk);
    }
    draw();
  }

  function show(given) {
    view = given;
    arrange();
    draw();
  }

  function draw() {
    const { state, selected } = view;
    const top = within + across + rows - 1, span = (high, low) => (high === low ? `bit ${high}` : `bits ${high}–${low}`);
    legends[0].textContent = state.padding ? "row (no fixed bits now)" : `row: ${span(top, within + across)}`;
    legends[1].textContent = `chunk: ${span(within + across - 1, within)}`;
    legends[2].textContent = `byte: ${span(within - 1, 0)}`;
    for (const [kind, number, first] of [["row", selected.row, within + across], ["chunk", selected.chunk, within]])
      buttons[kind].forEach((button, bit) => {
        const value = (number >> bit) & 1, ends = state.wires.filter((wire) => wire[kind === "row" ? 0 : 1] === bit);
        const others = ends.map((wire) => `${kind === "row" ? "chunk" : "row"} bit ${wire[kind === "row" ? 1 : 0]}`);
        button.replaceChildren(h("span", {}, `${kind[0]}${bit}`), h("b", {}, String(value)));
        button.classList.toggle("gl-chosen", chosen?.kind === kind && chosen.bit === bit);
        button.classList.toggle("gl-one", value === 1);
        button.setAttribute("aria-pressed", String(chosen?.kind === kind && chosen.bit === bit));
        button.setAttribute("aria-label", `${kind} bit ${bit}${state.padding ? "" : `, address bit ${first + bit}`}, is ${value}` +
          (others.length ? `, wired with ${others.join(" and ")}` : ""));
      });
    drawing.replaceChildren(...state.wires.flatMap(wire));
  }

  // From the row bit down to its lane, along it, and up into the gate below the chunk bit.
  function wire([from, to]) {
    const x = rowX(from) + size.box / 2, y = bottom + 2 * GATE + 2 + from * LANE;
    const end = chunkX(to) + size.box / 2 + ((rows - 1) / 2 - from) * APART, gate = bottom + GATE;
    const on = (view.selected.row >> from) & 1 ? "gl-on" : "";
    return [svg("path", { class: `gl-wire ${on}`, d: `M${x} ${bottom}V${y}H${end}V${gate + 6}` }),
      svg("circle", { class: `gl-joint ${on}`, cx: end, cy: y, r: 2.5 }),
      svg("path", { class: `gl-wire ${on}`, d: `M${end} ${bottom}V${gate}` }),
      svg("circle", { class: `gl-gate ${on}`, cx: end, cy: gate, r: 6 }),
      svg("path", { class: `gl-cross ${on}`, d: `M${end - 6} ${gate}h12M${end} ${gate - 6}v12` })];
  }

  return { root, show };
}
