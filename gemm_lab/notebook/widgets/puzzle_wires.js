// The bits of a chunk's address as boxes, and the wires of XOR gates from row bits to chunk bits.
import { chunkBits, range, rowBits } from "./puzzle_rules.js";
import { h, svg } from "./theme.js";

const BOX = 54, GAP = 5, SPACE = 20, BYTE = 24, TALL = 28, LEGEND = 18, GATE = 9, LANE = 12, APART = 15;

// toggle(row bit, chunk bit): adds the wire, or removes it.
export function wireBoard({ goal, toggle }) {
  let chosen = null, view = null; // chosen: {kind, bit}, the end of a wire that waits for its other end
  const rows = rowBits(goal), across = chunkBits(goal), within = Math.log2(goal.chunk_bytes);
  const rowX = (bit) => (rows - 1 - bit) * (BOX + GAP);
  const chunkX = (bit) => rows * (BOX + GAP) + SPACE + (across - 1 - bit) * (BOX + GAP);
  const byteX = (bit) => rows * (BOX + GAP) + across * (BOX + GAP) + 2 * SPACE + (within - 1 - bit) * (BYTE + 3);
  const width = byteX(0) + BYTE, bottom = LEGEND + TALL, height = bottom + 2 * GATE + rows * LANE - 2;
  const button = (kind, bit, x) => h("button", { class: "gl-bit", style: `left:${x}px;top:${LEGEND}px;width:${BOX}px;height:${TALL}px`,
    onclick: () => click(kind, bit) });
  const buttons = { row: range(rows).map((bit) => button("row", bit, rowX(bit))), chunk: range(across).map((bit) => button("chunk", bit, chunkX(bit))) };
  const bytes = range(within).map((bit) => h("div", { class: "gl-bit gl-byte", "aria-hidden": "true",
    style: `left:${byteX(bit)}px;top:${LEGEND}px;width:${BYTE}px;height:${TALL}px` }, "0"));
  const legend = (x, wide) => h("div", { class: "gl-legend", style: `left:${x}px;width:${wide}px` });
  const legends = [legend(rowX(rows - 1), rows * (BOX + GAP) + SPACE - 4), legend(chunkX(across - 1), across * (BOX + GAP) + SPACE - 4),
    legend(byteX(within - 1), within * (BYTE + 3))];
  const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const root = h("div", { class: "gl-wires", role: "group", "aria-label": "bits of the address", style: `width:${width}px;height:${height}px`,
    onkeydown: (event) => event.key === "Escape" && ((chosen = null), draw()) }, drawing, legends, [...buttons.row].reverse(), [...buttons.chunk].reverse(), bytes);

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
    const x = rowX(from) + BOX / 2, y = bottom + 2 * GATE + 2 + from * LANE;
    const end = chunkX(to) + BOX / 2 + ((rows - 1) / 2 - from) * APART, gate = bottom + GATE;
    const on = (view.selected.row >> from) & 1 ? "gl-on" : "";
    return [svg("path", { class: `gl-wire ${on}`, d: `M${x} ${bottom}V${y}H${end}V${gate + 6}` }),
      svg("circle", { class: `gl-joint ${on}`, cx: end, cy: y, r: 2.5 }),
      svg("path", { class: `gl-wire ${on}`, d: `M${end} ${bottom}V${gate}` }),
      svg("circle", { class: `gl-gate ${on}`, cx: end, cy: gate, r: 6 }),
      svg("path", { class: `gl-cross ${on}`, d: `M${end - 6} ${gate}h12M${end} ${gate - 6}v12` })];
  }

  return { root, show };
}
