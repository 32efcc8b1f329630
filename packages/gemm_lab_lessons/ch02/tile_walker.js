// The tile walk: replays a function that multiplies counted matrices, with the tiles that are held and four counters.
import { h, keepKeys, listen, oncePerFrame, prepare, readTheme, watch, whileSeen } from "gemm_lab/theme.js";
import { drawWalk, LEGEND } from "./tile_walk_canvas.js";
import { advance, empty, MULTIPLY, outputAt, says, WRITE } from "./tile_walk_state.js";

const PLAY_MS = 12000, QUICKEST_MS = 30, SLOWEST_MS = 700, MOST_HEIGHT = 300;
const COUNTERS = ["DRAM", "shared memory", "registers", "multiply-adds"];

export function render({ model, el }) {
  let theme, timer = null, state = null, number = -1, stops = [];
  const sheets = []; // the shades of A, B and D, a pixel for each element
  const get = (name) => model.get(name);
  const set = (name, value, keep = true) => (model.set(name, value), keep && model.save_changes());
  const comma = (n) => n.toLocaleString("en"), times = (n) => `${n} time${n === 1 ? "" : "s"}`;
  // Words that change with the step. They are written only where they differ, so that a frame touches few nodes.
  const word = () => document.createTextNode("");
  const write = (node, words) => node.data === words || (node.data = words);

  const pace = h("select", { "aria-label": "pace", onchange: (event) => set("pace", event.target.value) });
  const slider = h("input", { type: "range", min: 0, "aria-label": "moment", oninput: (event) => go(Number(event.target.value)) });
  const place = word(), where = h("span", { class: "gl-where" }, place);
  const play = h("button", { class: "gl-main", onclick: () => (timer ? pause() : start()) }, "Play");
  const button = (words, label, act) => h("button", { "aria-label": label, onclick: act }, words);
  const source = word(), code = h("code", { class: "gl-code" }, source);
  const happens = word(), words = h("div", { class: "gl-happens", "aria-live": "polite" }, happens);
  const error = h("div", { class: "gl-error", hidden: true });
  const title = h("code", { class: "gl-opcode" }), counters = COUNTERS.map(() => [word(), word()]);
  const fields = h("div", { class: "gl-fields" }, COUNTERS.map((name, index) => h("div", { class: `gl-box gl-memory${index}` },
    h("span", { class: "gl-muted" }, name), h("b", {}, counters[index][0]), h("span", { class: "gl-muted" }, counters[index][1]))));
  const canvas = h("canvas", { role: "img", "aria-label": "A, B and D with the tiles that are held" });
  const keys = LEGEND.map(([level, name]) => h("span", { class: "gl-key" }, h("i", { class: `gl-swatch${level}` }), name));
  const reads = word(), legend = h("div", { class: "gl-keys" }, keys, h("span", { class: "gl-end" }, reads));
  const root = h("div", { class: "gemm-lab gl-walk" },
    h("div", { class: "gl-steps" }, title, h("span", { class: "gl-muted gl-end" }, get("size").slice(0, 2).join(" × "), ` with k = ${get("size")[2]}`)),
    error,
    h("div", { class: "gl-steps gl-player" }, play, button("«", "to the start", () => (pause(), go(0))), button("‹", "back", () => go(at() - 1)), slider,
      button("›", "on", () => go(at() + 1)), h("label", { class: "gl-row" }, h("span", { class: "gl-muted" }, "by"), pace), where),
    code, words, fields, canvas, legend);
  keepKeys(root);
  el.append(root);

  // The last stop that is not behind the current step.
  function at() {
    const step = get("step");
    let low = 0, high = stops.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (stops[middle] <= step) low = middle; else high = middle - 1;
    }
    return low;
  }

  function go(stop, keep = true) {
    set("step", stops[Math.max(0, Math.min(stop, stops.length - 1))], keep);
  }

  function start() {
    if (at() === stops.length - 1) go(0);
    const each = Math.max(1, Math.ceil((stops.length * QUICKEST_MS) / PLAY_MS));
    play.textContent = "Pause";
    timer = whileSeen(root, () => {
      if (at() === stops.length - 1) pause();
      else go(at() + each, false); // Python gets the step when the walk pauses
      if (at() === stops.length - 1) pause();
    }, Math.min(SLOWEST_MS, Math.max(QUICKEST_MS, PLAY_MS / stops.length)));
  }

  function pause() {
    if (timer === null) return;
    timer?.();
    timer = null;
    play.textContent = "Play";
    model.save_changes();
  }

  function build() {
    pause();
    const steps = get("steps"), chosen = get("paces").find(([name]) => name === get("pace")) ?? get("paces")[0];
    stops = chosen[1].length ? chosen[1] : steps.map((_, index) => index);
    pace.replaceChildren(...get("paces").map(([name]) => h("option", { value: name }, name)));
    pace.value = chosen[0];
    slider.max = stops.length - 1;
    title.textContent = get("title");
    error.hidden = !get("wrong");
    error.textContent = get("wrong");
    show();
  }

  function show() {
    const steps = get("steps"), target = Math.min(get("step"), steps.length - 1), size = get("size");
    if (!state || target < number) [state, number] = [empty(size), -1];
    while (number < target) advance(state, steps[++number]);
    const [products, all] = [state.counters[3], size[0] * size[1] * size[2]], { now } = state;
    slider.value = at();
    slider.setAttribute("aria-valuetext", `step ${target}`);
    write(place, `step ${comma(target)} of ${comma(steps.length - 1)}`);
    write(source, get("lines")[state.line]);
    write(happens, says(now));
    counters.forEach(([count, more], index) => {
      const counter = state.counters[index];
      write(count, comma(counter));
      write(more, index === 3 ? `of ${comma(all)}` : products ? `${(counter / products).toFixed(2)} a multiply-add` : "");
    });
    LEGEND.forEach(([level], index) => {
      const held = outputAt(state, level) || (level === 3 && now.kind === MULTIPLY), shown = level === "needed" ? now.kind === WRITE : now.kind !== WRITE && held;
      if (keys[index].hidden === !!shown) keys[index].hidden = !shown;
    });
    write(reads, `read from DRAM: A up to ${times(state.most[0])}, B up to ${times(state.most[1])}`);
    draw();
  }

  const draw = oncePerFrame(() => {
    if (!root.isConnected || !root.clientWidth || !state) return;
    theme ??= readTheme(root);
    const [m, n, k] = get("size"), gap = 14, names = 34, width = Math.max(root.clientWidth - 34, 280);
    const cell = Math.max(2, Math.min(22, Math.floor(Math.min((width - gap - names) / (n + k), (MOST_HEIGHT - gap) / (m + k)))));
    const [wide, high] = [(n + k) * cell + gap + names, (m + k) * cell + gap + 2];
    drawWalk(prepare(canvas, wide, high), { state, theme, cell, gap, size: [m, n, k], sheets });
  });

  const heard = { steps: () => ((state = null), build()), pace: build, step: show };
  const unlisten = listen(model, Object.keys(heard), (name) => heard[name]());
  const stop = watch(root, () => ((theme = null), draw()));
  build();
  return () => (stop(), unlisten(), pause());
}

export default { render };
