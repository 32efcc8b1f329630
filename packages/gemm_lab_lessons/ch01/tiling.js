// The tile explorer: a block tile in a corner of D with its strips of A and B, and bars for what it takes and reaches.
// Python knows the laws and sends what is drawn (`shown`); this file only draws, so a change costs one message.
import { h, keepKeys, listen, readTheme, svg, watch } from "gemm_lab/theme.js";

const CORNER = 640, SIDE = 190, DEEP = 76, GAP = 12, LEFT = 4, TOP = 24;
const WORDS = { block_m: "BLOCK_M", block_n: "BLOCK_N", block_k: "BLOCK_K", warp_m: "WARP_M", warp_n: "WARP_N", stages: "stages" };

export function render({ model, el }) {
  const get = (name) => model.get(name), names = Object.keys(WORDS).filter((name) => get("options")[name]);
  const set = (name, value) => (model.set(name, value), model.save_changes(), label());
  const sliders = Object.fromEntries(names.map((name) => [name, h("input", { type: "range", min: 0, step: 1, "aria-label": WORDS[name],
    max: get("options")[name].length - 1, oninput: (event) => set(name, get("options")[name][Number(event.target.value)]) })]));
  const values = Object.fromEntries(names.map((name) => [name, h("b", { class: "gl-value" })]));
  const gpu = h("select", { "aria-label": "GPU", onchange: (event) => set("gpu", event.target.value) },
    ...get("options").gpu.map(([key, name]) => h("option", { value: key }, name)));
  const problem = h("div", { class: "gl-error", role: "alert", hidden: true });
  const drawing = h("div", { class: "gl-tile" }), bars = h("div", { class: "gl-bars", "aria-live": "polite" });
  const root = h("div", { class: "gemm-lab" },
    h("div", { class: "gl-controls" },
      ...names.map((name) => h("label", { class: "gl-field gl-slider" }, h("span", {}, `${WORDS[name]} `, values[name]), sliders[name])),
      h("label", { class: "gl-field" }, h("span", {}, "GPU"), gpu)),
    problem, h("div", { class: "gl-beside" }, drawing, bars));
  keepKeys(root);
  el.append(root);

  // The controls follow the model at once, before Python has answered.
  function label() {
    for (const name of names) {
      values[name].textContent = get(name);
      sliders[name].value = get("options")[name].indexOf(get(name));
    }
    gpu.value = get("gpu");
  }

  function draw() {
    const { block, bars: rows, intensity, text, problem: says } = get("shown"), [m, n, k] = block;
    problem.hidden = !says;
    problem.textContent = says;
    const s = SIDE / CORNER, x = LEFT + DEEP + GAP, y = TOP + DEEP + GAP, deep = Math.min(k * s, DEEP);
    const atM = 2 * m <= CORNER ? m * s : 0, atN = 2 * n <= CORNER ? n * s : 0;
    const box = (kind, ...[left, top, width, height]) => svg("rect", { class: `gl-${kind}`, x: left, y: top, width, height });
    const word = (kind, left, top, words, anchor = "start") =>
      svg("text", { class: `gl-of-${kind}`, x: left, y: top, "text-anchor": anchor }, words);
    const width = x + SIDE + 2, height = y + SIDE + 20;
    drawing.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": text },
      box("matrix gl-a", LEFT, y, DEEP, SIDE), box("matrix gl-b", x, TOP, SIDE, DEEP), box("matrix gl-d", x, y, SIDE, SIDE),
      box("strip gl-a", LEFT, y + atM, DEEP, m * s), box("strip gl-b", x + atN, TOP, n * s, DEEP),
      box("now gl-a", LEFT, y + atM, deep, m * s), box("now gl-b", x + atN, TOP, n * s, deep),
      box("now gl-d", x + atN, y + atM, n * s, m * s),
      word("b", x, TOP - 8, `B: ${k} × ${n} at a time`),
      word("a", LEFT, height - 5, `A: ${m} × ${k}`), word("d", x + SIDE, height - 5, `tile of D: ${m} × ${n}`, "end")));
    bars.replaceChildren(h("div", { class: "gl-title" }, intensity), ...rows.map((bar) => h("div", { class: `gl-bar ${bar.good ? "" : "gl-over-limit"}` },
      h("div", { class: "gl-bar-head" }, h("b", {}, bar.name), h("span", { class: "gl-bar-verdict" }, bar.says)),
      h("div", { class: "gl-track" }, h("div", { class: "gl-fill", style: `width:${(100 * Math.min(bar.share, 1)).toFixed(1)}%` })),
      h("div", { class: "gl-muted" }, bar.words))));
  }

  const unlisten = listen(model, ["shown", ...names, "gpu"], (name) => (name === "shown" ? draw() : label()));
  const stop = watch(root, () => readTheme(root));
  label();
  draw();
  requestAnimationFrame(() => root.isConnected && readTheme(root));
  return () => (stop(), unlisten());
}

export default { render };
