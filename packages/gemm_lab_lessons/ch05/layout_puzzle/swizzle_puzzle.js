// The swizzle puzzle: chunks are exchanged by hand, wired by XORs, rotated or padded, until all lights are green.
import { banksOf, tileBoard } from "./puzzle_board.js";
import { formula, line } from "./puzzle_formula.js";
import { queueBoard } from "./puzzle_queues.js";
import { accesses, accessOf, chunkBits, exchanged, groupsOf, light, makeLayout, MOST_PADDING, plainState, served, xorOf } from "./puzzle_rules.js";
import { wireBoard } from "./puzzle_wires.js";
import { h, listen, readTheme, watch } from "gemm_lab/theme.js";

const STATE = ["hand", "wires", "padding", "shift"], LABEL = 46, BETWEEN = 26;
const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

export function render({ model, el }) {
  const goal = model.get("puzzle"), can = (way) => goal.ways.includes(way), unit = goal.chunk_bytes === 16 ? "chunk" : "word";
  let state = read(), past = [], action = `Drag a ${unit} to another place in its row.`, shown = "column", selected = { row: 1, chunk: 0 }, theme = null;
  let layout = makeLayout(goal, state);

  function read() {
    return { ...plainState(goal), ...Object.fromEntries(STATE.map((name) => [name, model.get(name)]).filter(([, value]) => value !== undefined)) };
  }

  // ---- The page ----
  const lights = goal.lights.map(([key, name]) => h("button", { class: "gl-light", onclick: () => look(key) },
    h("span", { class: "gl-lamp", "aria-hidden": "true" }), h("span", {}, h("b", {}, name), h("span", { class: "gl-muted" }))));
  const bytes = h("span", { class: "gl-bytes" });
  const tile = tileBoard({ goal, select, exchange: (row, from, to) => {
    const [a, b] = [layout.rows[row][from], layout.rows[row][to]];
    selected = { row, chunk: selected.row === row ? selected.chunk : a };
    change(exchanged(goal, state, row, from, to), `Row ${row}: ${unit}s ${a} and ${b} exchanged.`);
  } });
  const queues = queueBoard({ goal }), title = h("div", { class: "gl-title" });
  const wires = can("wires") ? wireBoard({ goal, toggle }) : null, sums = h("div", { class: "gl-sums", "aria-hidden": "true" });
  const stepper = (way, words, unitWords, most, say) => {
    const value = h("output", {});
    const set = (by) => change({ ...state, [way]: Math.max(0, Math.min(most, state[way] + by)) }, say);
    const less = h("button", { "aria-label": `less ${words}`, onclick: () => set(-1) }, "−");
    const more = h("button", { "aria-label": `more ${words}`, onclick: () => set(1) }, "+");
    return { root: h("span", { class: "gl-stepper" }, h("span", {}, words), less, value, more), show: () => {
      value.textContent = `${state[way]} ${state[way] === 1 ? unitWords[0] : unitWords[1]}`;
      less.disabled = state[way] === 0;
      more.disabled = state[way] === most;
    } };
  };
  const steppers = [
    can("padding") && stepper("padding", "padding", ["chunk", "chunks"], MOST_PADDING, () => `Each row is followed by ${plural(state.padding, "unused chunk")}.`),
    can("shift") && stepper("shift", "rotation", ["× row", "× row"], goal.chunks - 1, () => `Row r is rotated by ${plural(state.shift, "place")} times r.`),
  ].filter(Boolean);
  const undo = h("button", { onclick: () => past.length && change(past.pop(), "Undone.", true) }, "Undo");
  const again = h("button", { onclick: () => change(plainState(goal), `Every ${unit} is back at its place.`) }, "Start again");
  const hint = h("details", { class: "gl-hint" }, h("summary", {}, "Hint"), h("p", {}, goal.hint));
  const verdict = h("div", { class: "gl-verdict gl-said" });
  const heard = h("div", { class: "gl-unseen gl-heard", role: "status", "aria-live": "polite" }); // for a screen reader
  const left = h("div", {}, h("div", { class: "gl-title" }, "The tile", h("span", { class: "gl-muted" }, `a line for each row, across the ${goal.banks} banks`)),
    tile.root, h("div", { class: "gl-drain" }, steppers.map((one) => one.root), !wires && [undo, again]));
  const right = h("div", {}, title, queues.board, queues.player);
  const root = h("div", { class: "gemm-lab gl-puzzle" },
    h("div", { class: "gl-task" }, h("b", {}, goal.title), h("span", {}, goal.task), hint),
    h("div", { class: "gl-lights", role: "group", "aria-label": "lights" }, lights, bytes),
    h("div", { class: "gl-panels" }, left, right),
    wires && h("div", { class: "gl-title gl-bitshead" }, "The bits of the address", h("span", { class: "gl-muted" },
      "click a row bit, then a chunk bit: chunk bit ^= row bit"), h("span", { class: "gl-end" }, undo, again)),
    wires && h("div", { class: "gl-gates" }, wires.root, sums),
    verdict, heard);
  el.append(root);

  // ---- State ----
  function change(next, say, back = false) {
    if (!back) past.push(state);
    state = next;
    action = typeof say === "function" ? say() : say;
    for (const name of STATE) model.set(name, state[name]);
    model.save_changes();
    draw();
  }

  function toggle(from, to) {
    const there = state.wires.some((wire) => wire[0] === from && wire[1] === to);
    const next = there ? state.wires.filter((wire) => wire[0] !== from || wire[1] !== to) : [...state.wires, [from, to]];
    next.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    change({ ...state, wires: next }, there ? `Row bit ${from} no longer changes chunk bit ${to}.` : `Chunk bit ${to} ^= row bit ${from}.`);
  }

  function select(row, chunk) {
    const place = layout.places[row][chunk];
    selected = { row, chunk };
    action = `Row ${row}, place ${place}: ${unit} ${chunk}, bank${goal.chunk_bytes > 4 ? "s" : ""} ${banksOf(goal, layout.groupOf(row, chunk))}.`;
    draw();
  }

  function look(key) {
    shown = key;
    action = "";
    draw();
  }

  // ---- Words ----
  const rowsOf = (lanes) => {
    const rows = [...new Set(lanes.map(([row]) => row))];
    return rows.length === 1 ? `row ${rows[0]}` : `rows ${rows[0]}${rows.length === 2 ? " and " : "–"}${rows.at(-1)}`;
  };
  const accessName = (lanes) => {
    if (shown === "copy") return `cp.async writes ${rowsOf(lanes)}`;
    if (shown === "row") return `${rowsOf(lanes)} ${lanes[0][0] === lanes.at(-1)[0] ? "is" : "are"} stored`;
    return goal.chunk_bytes === 16 ? `ldmatrix reads chunk ${lanes[0][1]} of ${rowsOf(lanes)}` : `column ${lanes[0][1]} is read`;
  };

  function reason(lanes, count) {
    if (count === 1) return shown === "copy" ? "Its sectors all move whole and in the same way." : `No two of its ${unit}s lie in the same bank.`;
    if (shown === "copy") return "Its sectors are torn, or do not all move in one way.";
    const met = new Map();
    for (const [row, chunk] of lanes) met.set(layout.groupOf(row, chunk), (met.get(layout.groupOf(row, chunk)) ?? 0) + 1);
    const [group, most] = [...met].reduce((a, b) => (b[1] > a[1] ? b : a));
    return `${most} of its ${unit}s want bank${goal.chunk_bytes > 4 ? "s" : ""} ${banksOf(goal, group)}.`;
  }

  function say(found, lanes, count) {
    const solved = found.every((one) => one.green);
    verdict.className = `gl-verdict gl-said ${solved ? "gl-free" : ""}`;
    if (!solved) {
      const red = goal.lights.filter((_, n) => !found[n].green).map(([, name]) => name);
      const name = accessName(lanes).replace(/^(row|column)/, (word) => word[0].toUpperCase() + word.slice(1));
      verdict.replaceChildren(h("span", {}, `${name} in ${plural(count, "wavefront")}. ${reason(lanes, count)}`),
        h("span", { class: "gl-muted" }, action && `${action} `, `Still red: ${red.join(" and ")}.${found[goal.lights.findIndex(([key]) => key === shown)].green ? " Choose it to see its queues." : ""}`));
      return;
    }
    const { kind } = formula(goal, state), words = { plain: "Padding alone makes this layout.", xor: "This layout is an XOR with bits of the row.",
      addition: "This layout is an addition, which rotates the rows.", both: "This layout is an XOR and a rotation.",
      table: "No XOR with bits of the row, no addition: a table of the places, row by row." };
    const text = kind === "table" ? layout.places.map((row) => row.join("")).join(" ") : line(goal, state);
    verdict.replaceChildren(h("span", {}, h("b", {}, "All lights are green. "), words[kind], state.padding && kind !== "plain" ? " The row is padded, too." : ""),
      h("code", { class: "gl-line" }, text));
  }

  // The way of the selected chunk from its number to its place, in bits.
  function showSums() {
    const bits = (n) => n.toString(2).padStart(chunkBits(goal), "0"), { row, chunk } = selected;
    const byHand = state.hand[row].indexOf(chunk), xor = xorOf(state.wires, row);
    const lines = [[`row ${row}, chunk ${chunk}`, bits(chunk)], byHand !== chunk && ["moved by hand to", bits(byHand)],
      ["XOR by the wires", bits(xor)], state.shift && [`rotated by ${state.shift} × ${row}`, bits((state.shift * row) % goal.chunks)],
      [`place ${layout.places[row][chunk]}`, bits(layout.places[row][chunk])]].filter(Boolean);
    sums.replaceChildren(...lines.flatMap(([words, value], n) => [h("span", { class: n === lines.length - 1 ? "gl-sum" : "" }, words),
      h("code", { class: n === lines.length - 1 ? "gl-sum" : "" }, value)]));
  }

  // ---- Drawing ----
  function draw() {
    layout = makeLayout(goal, state);
    const room = Math.max(root.clientWidth - 34, 280), groups = groupsOf(goal), beside = room >= 560;
    const cell = Math.min(Math.floor((room - LABEL - (beside ? BETWEEN : 0)) / (beside ? 2 * groups : groups)), groups > 4 ? 44 : 80);
    const tall = groups > 4 ? 23 : 38, dark = theme?.dark ?? false;
    const found = goal.lights.map(([key]) => light(goal, layout, key));
    found.forEach((one, n) => {
      const [key, name, what] = goal.lights[n], button = lights[n];
      button.classList.toggle("gl-green", one.green);
      button.setAttribute("aria-pressed", String(key === shown));
      button.setAttribute("aria-label", `${name} is ${one.green ? "green" : "red"}: ${what}, ${one.found} wavefronts, ${one.ideal} possible. Show its queues.`);
      button.title = what;
      button.firstChild.textContent = one.green ? "✓" : "×";
      button.lastChild.lastChild.textContent = `${one.found} wavefronts, ${one.ideal} possible`;
    });
    const plain = goal.rows * goal.chunks * goal.chunk_bytes, more = layout.bytes - plain;
    bytes.replaceChildren(h("b", {}, `${layout.bytes.toLocaleString("en")} bytes`),
      h("span", { class: "gl-muted" }, more ? `${more.toLocaleString("en")} unused` : can("padding") ? "none unused" : "no padding here"));
    const lanes = accesses(goal, shown)[accessOf(goal, shown, selected.row, selected.chunk)], passes = served(goal, layout, shown, lanes);
    tile.show({ layout, cell, tall, dark, selected, padding: state.padding, lanes: new Set(lanes.map((lane) => lane.join(" "))) });
    const says = accessName(lanes);
    title.replaceChildren("Queues", h("span", { class: "gl-muted" }, says));
    queues.show({ layout, lanes, served: passes, cell, tall, dark, says });
    left.style.width = `${LABEL + groups * cell}px`;
    right.style.width = `${groups * cell}px`;
    for (const one of steppers) one.show();
    wires?.show({ state, selected, room });
    if (wires) showSums();
    undo.disabled = !past.length;
    say(found, lanes, passes.count);
    const all = [...verdict.children].map((one) => one.textContent).join(" ");
    heard.textContent = action && !all.includes(action) ? `${action} ${all}` : all;
  }

  const unlisten = listen(model, STATE, () => {
    if (STATE.every((name) => JSON.stringify(model.get(name)) === JSON.stringify(state[name]))) return;
    state = read();
    action = "";
    draw();
  });
  const themed = () => root.isConnected && ((theme = readTheme(root)), draw());
  const stop = watch(root, themed);
  draw();
  requestAnimationFrame(themed);
  return () => (stop(), unlisten(), queues.stop());
}

export default { render };
