// The tile walk: replays a function that multiplies counted matrices, with the tiles that are held and four counters.
import { h, listen, oncePerFrame, prepare, readTheme, watch } from "./theme.js";
import { drawWalk, LEGEND } from "./tile_walk_canvas.js";
import { advance, empty, MULTIPLY, outputAt, says, WRITE } from "./tile_walk_state.js";

const PLAY_MS = 12000, QUICKEST_MS = 30, SLOWEST_MS = 700, MOST_HEIGHT = 330;
const COUNTERS = ["DRAM", "shared memory", "registers", "multiply-adds"];

export function render({ model, el }) {
  let theme, timer = null, state = null, number = -1, stops = [];
  const get = (name) => model.get(name);
  const set = (name, value) => (model.set(name, value), model.save_changes());
  const comma = (n) => n.toLocaleString("en");

  const pace = h("select", { "aria-label": "pace", onchange: (event) => set("pace", event.target.value) });
  const slider = h("input", { type: "range", min: 0, "aria-label": "moment", oninput: (event) => go(Number(event.target.value)) });
  const where = h("span", { class: "gl-where" });
  const play = h("button", { class: "gl-main", onclick: () => (timer ? pause() : start()) }, "Play");
  const button = (words, label, act) => h("button", { "aria-label": label, onclick: act }, words);
  const code = h("code", { class: "gl-code" }), words = h("div", { class: "gl-happens", "aria-live": "polite" });
  const error = h("div", { class: "gl-error", hidden: true });
  const title = h("code", { class: "gl-opcode" }), fields = h("div", { class: "gl-fields" });
  const canvas = h("canvas", { role: "img", "aria-label": "A, B and D with the tiles that are held" });
  const legend = h("div", { class: "gl-keys" });
  const root = h("div", { class: "gemm-lab gl-walk" },
    h("div", { class: "gl-steps" }, title, h("span", { class: "gl-muted gl-end" }, get("size").slice(0, 2).join(" × "), ` with k = ${get("size")[2]}`)),
    error, code, words, fields, canvas, legend,
    h("div", { class: "gl-steps gl-player" }, play, button("«", "to the start", () => (pause(), go(0))), button("‹", "back", () => go(at() - 1)), slider,
      button("›", "on", () => go(at() + 1)), h("label", { class: "gl-row" }, h("span", { class: "gl-muted" }, "by"), pace), where));
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

  function go(stop) {
    set("step", stops[Math.max(0, Math.min(stop, stops.length - 1))]);
  }

  function start() {
    if (at() === stops.length - 1) go(0);
    const each = Math.max(1, Math.ceil((stops.length * QUICKEST_MS) / PLAY_MS));
    play.textContent = "Pause";
    timer = setInterval(() => {
      if (!root.isConnected || at() === stops.length - 1) pause();
      else go(at() + each);
    }, Math.min(SLOWEST_MS, Math.max(QUICKEST_MS, PLAY_MS / stops.length)));
  }

  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
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
    const [products, all] = [state.counters[3], size[0] * size[1] * size[2]];
    slider.value = at();
    slider.setAttribute("aria-valuetext", `step ${target}`);
    where.textContent = `step ${comma(target)} of ${comma(steps.length - 1)}`;
    code.textContent = get("lines")[state.line];
    words.textContent = says(state.now);
    fields.replaceChildren(...COUNTERS.map((name, index) => {
      const counter = state.counters[index];
      const more = index === 3 ? `of ${comma(all)}` : products ? `${(counter / products).toFixed(2)} a multiply-add` : "";
      return h("div", { class: `gl-box gl-memory${index}` }, h("span", { class: "gl-muted" }, name), h("b", {}, comma(counter)), h("span", { class: "gl-muted" }, more));
    }));
    const shown = LEGEND.filter(([level]) => level === "needed" ? state.now.kind === WRITE : state.now.kind !== WRITE && (outputAt(state, level) || (level === 3 && state.now.kind === MULTIPLY)));
    const most = (values) => values.reduce((high, value) => Math.max(high, value), 0);
    legend.replaceChildren(...shown.map(([level, name]) => h("span", { class: "gl-key" }, h("i", { class: `gl-swatch${level}` }), name)),
      h("span", { class: "gl-end" }, `read from DRAM: A up to ${most(state.reads[0])} times, B up to ${most(state.reads[1])} times`));
    draw();
  }

  const draw = oncePerFrame(() => {
    if (!root.isConnected || !root.clientWidth || !state) return;
    theme ??= readTheme(root);
    const [m, n, k] = get("size"), gap = 14, names = 34, width = Math.max(root.clientWidth - 34, 280);
    const cell = Math.max(2, Math.min(22, Math.floor(Math.min((width - gap - names) / (n + k), (MOST_HEIGHT - gap) / (m + k)))));
    const [wide, high] = [(n + k) * cell + gap + names, (m + k) * cell + gap + 2];
    drawWalk(prepare(canvas, wide, high), { state, theme, cell, gap, size: [m, n, k] });
  });

  const heard = { steps: () => ((state = null), build()), pace: build, step: show };
  const unlisten = listen(model, Object.keys(heard), (name) => heard[name]());
  const stop = watch(root, () => ((theme = null), draw()));
  build();
  return () => (stop(), unlisten(), pause());
}

export default { render };
