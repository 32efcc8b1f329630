// One GEMM, one zoom: six levels from DRAM to the bits of an address on one canvas, over the steps of a kernel.
import { h, keepKeys, listen, readTheme, watch, whileSeen } from "gemm_lab/theme.js";
import { drawBlock, drawDram } from "./zoom_matrices.js";
import { pen } from "./zoom_pen.js";
import { decode, LEVELS, TITLES } from "./zoom_state.js";
import { drawFragment, drawWarp } from "./zoom_tiles.js";
import { drawBank, drawBits } from "./zoom_words.js";

const DRAW = [drawDram, drawBlock, drawWarp, drawFragment, drawBank, drawBits];
const PLAY_MS = 170, ZOOM_MS = 650, HIGH = 556, SIDE_BY_SIDE = 900, CODE_TOP = 4;
const ease = (t) => t * t * (3 - 2 * t), ramp = (t, from, to) => ease(Math.min(Math.max((t - from) / (to - from), 0), 1));

export function render({ model, el }) {
  const get = (name) => model.get(name), put = (name, value) => (model.set(name, value), model.save_changes());
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let state, theme, timer = null, waiting = false, W = 0, H = 0, ratio = 1, hits = [], anchor = null, shownScene = null, litRow = null, lineHigh = 0, codeHigh = 0, sentence = "";
  const snapshots = new Map();
  let z = Math.max(LEVELS.indexOf(get("level")), 0), from = z, to = z, began = 0, wheel = 0;

  // ---- Elements ----

  const canvas = h("canvas", { tabindex: 0, role: "img", class: "gl-zoom-canvas" });
  const tabs = LEVELS.map((level, number) => h("button", { "aria-label": `level ${TITLES[level]}`, onclick: () => go(number) }, TITLES[level]));
  const zoomIn = h("button", { "aria-label": "zoom in", title: "in (+)", onclick: () => go(level() + 1) }, "+");
  const zoomOut = h("button", { "aria-label": "zoom out", title: "out (− or Escape)", onclick: () => go(level() - 1) }, "−");
  const number = (name, label, least) => h("input", { type: "number", class: "gl-short", "aria-label": label, min: least,
    onchange: (event) => choose(name, event.target) });
  const block = number("block", "block", 0), lane = number("lane", "lane", 0);
  const warp = h("select", { "aria-label": "warp", onchange: (event) => (pause(), put("warp", Number(event.target.value))) });
  const slider = h("input", { type: "range", min: 0, "aria-label": "step", oninput: (event) => (pause(), seek(Number(event.target.value))) });
  const play = h("button", { class: "gl-main", onclick: () => (timer ? pause() : start()) }, "Play");
  const said = document.createTextNode(""), says = h("div", { class: "gl-says", tabindex: 0, "aria-live": "polite" }, said), code = h("div", { class: "gl-source", tabindex: 0, role: "region", "aria-label": "source of the kernel" });
  const title = h("span", { class: "gl-muted gl-end gl-zoom-title" });
  const field = (words, input) => h("label", { class: "gl-row" }, h("span", { class: "gl-muted" }, words), input);
  const button = (words, label, act) => h("button", { "aria-label": label, onclick: act }, words);
  const root = h("div", { class: "gemm-lab gl-zoom" },
    h("div", { class: "gl-zoom-bar" }, h("span", { class: "gl-levels", role: "group", "aria-label": "levels" }, tabs), zoomOut, zoomIn,
      field("block", block), field("warp", warp), field("lane", lane)),
    h("div", { class: "gl-zoom-body" }, canvas, code), says,
    h("div", { class: "gl-zoom-time" }, play, button("‹", "step back", () => (pause(), seek(get("step") - 1))), slider,
      button("›", "step on", () => (pause(), seek(get("step") + 1))), title));
  keepKeys(root);
  el.append(root);

  const level = () => to, last = () => state.count - 1;

  // ---- Choices ----

  function go(wanted) {
    wanted = Math.min(Math.max(wanted, 0), LEVELS.length - 1);
    if (wanted === to) return;
    from = z;
    to = wanted;
    began = performance.now();
    if (still.matches) z = from = to;
    model.set("level", LEVELS[wanted]);
    model.save_changes();
    marks();
    draw();
  }

  function choose(name, input) {
    pause();
    const value = Number(input.value), most = { block: get("blocks") - 1, lane: 31 }[name];
    if (!Number.isInteger(value) || value < 0 || value > most || input.value === "") input.value = get(name);
    else put(name, value);
  }

  function seek(step, keep = true) {
    step = Math.min(Math.max(step, 0), last());
    if (step === get("step")) return;
    model.set("step", step);
    if (keep) model.save_changes();
  }

  function start() {
    if (get("step") >= last()) seek(0);
    play.textContent = "Pause";
    says.setAttribute("aria-live", "off"); // a reader would fall behind
    timer = whileSeen(root, () => {
      if (get("step") >= last()) pause();
      else seek(get("step") + 1, false);
      if (get("step") >= last()) pause();
    }, still.matches ? 3 * PLAY_MS : PLAY_MS);
  }

  function pause() {
    if (timer === null) return;
    timer?.();
    timer = null;
    play.textContent = "Play";
    says.setAttribute("aria-live", "polite");
    model.save_changes();
  }

  function chooseLane(value) {
    put("lane", (value + 32) % 32);
  }

  // ---- Keys and the mouse ----

  const KEYS = { ArrowRight: () => (pause(), seek(get("step") + 1)), ArrowLeft: () => (pause(), seek(get("step") - 1)), Home: () => (pause(), seek(0)),
    End: () => (pause(), seek(last())), "+": () => go(level() + 1), "=": () => go(level() + 1), "-": () => go(level() - 1), Escape: () => go(level() - 1),
    Enter: () => go(level() + 1), " ": () => (timer ? pause() : start()), ArrowUp: () => chooseLane(get("lane") - 1), ArrowDown: () => chooseLane(get("lane") + 1) };

  root.addEventListener("keydown", (event) => {
    const arrows = event.target === slider && ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key);
    const typing = !arrows && ["INPUT", "SELECT"].includes(event.target.tagName), button = event.target.tagName === "BUTTON" && [" ", "Enter"].includes(event.key);
    const scrolls = event.target === code && ["ArrowUp", "ArrowDown", "Home", "End"].includes(event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key] || button || scrolls) return;
    if (typing && !(event.target === slider && ["+", "=", "-", "Escape", " "].includes(event.key)) && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation(); // Jupyter has keys of its own
    KEYS[event.key]();
  });

  canvas.addEventListener("wheel", (event) => {
    if (!root.contains(document.activeElement) && !event.ctrlKey) return; // the page scrolls until the picture is clicked
    const end = event.deltaY > 0 ? 0 : LEVELS.length - 1;
    if (to === end) return;
    event.preventDefault();
    if (z !== to) return;
    wheel += event.deltaY;
    if (Math.abs(wheel) < 60) return;
    go(level() + (wheel < 0 ? 1 : -1));
    wheel = 0;
  }, { passive: false });

  const under = (event, box) => {
    const { left, top } = canvas.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
    return box && x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
  };
  const part = (event) => hits.find((box) => under(event, box));
  canvas.addEventListener("click", (event) => {
    canvas.focus({ preventScroll: true });
    if (z !== to) return;
    const found = part(event);
    if (found && "lane" in found && found.lane !== get("lane")) return chooseLane(found.lane);
    if (found && "warp" in found && get("warp") >= 0 && found.warp !== get("warp")) return put("warp", found.warp);
    if (found || under(event, anchor)) go(level() + 1);
  });
  canvas.addEventListener("pointermove", (event) => {
    canvas.style.cursor = part(event) || under(event, anchor) ? "pointer" : "default";
  });

  // ---- Drawing ----

  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(frame);
  }

  function frame(now) {
    waiting = false;
    if (!root.isConnected || !root.clientWidth || !state) return;
    if (!theme) measure();
    if (z !== to) {
      const length = ZOOM_MS * Math.sqrt(Math.abs(to - from)), t = Math.min(Math.max(now - began, 0) / length, 1);
      z = t >= 1 ? to : from + (to - from) * ease(t);
    }
    paint();
    if (z !== to) draw();
  }

  function measure() {
    theme = readTheme(root);
    const beside = root.clientWidth >= SIDE_BY_SIDE, inner = root.clientWidth - 24;
    root.classList.toggle("gl-wide", beside);
    const others = [root.children[0], says, root.children[3]].reduce((sum, part) => sum + part.offsetHeight, 0) + 54;
    H = Math.max(beside ? HIGH - others : HIGH - others - 70, 250);
    W = beside ? Math.round(inner * 0.64) : inner;
    ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(W * ratio);
    canvas.height = Math.round(H * ratio);
    canvas.style.width = `${W}px`;
    canvas.style.height = `${H}px`;
    code.style.height = beside ? `${H}px` : "62px";
    code.style.width = beside ? `${inner - W - 10}px` : "auto";
    [lineHigh, codeHigh] = [heightOfLines(), code.clientHeight];
    follow();
  }

  function paint() {
    const c = canvas.getContext("2d"), low = Math.min(Math.floor(z), LEVELS.length - 1), t = z - low;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.globalAlpha = 1;
    c.fillStyle = theme.paper;
    c.fillRect(0, 0, W, H);
    if (t === 0) {
      const made = drawLevel(c, low);
      [hits, anchor] = [made.hits, made.anchor];
      if (anchor && low < LEVELS.length - 1 && !(LEVELS[low] === "bank" && state.scene.why.bank)) pen(c, theme).box(anchor.x - 3, anchor.y - 3, anchor.w + 6, anchor.h + 6, { stroke: theme.accent, line: 1.6, dash: [5, 4], radius: 3 });
      return;
    }
    [hits, anchor] = [[], null];
    // The next level lies in the anchor of this one. The camera moves so that the anchor grows to the whole picture.
    const outer = snapshot(low), inner = snapshot(low + 1), found = outer.anchor ?? { x: W / 4, y: H / 4, w: W / 2, h: H / 2 };
    const scale = Math.min(Math.max(found.w / W, 0.002), Math.max(found.h / H, 0.002), 0.98);
    const x = found.x + (found.w - W * scale) / 2, y = found.y + (found.h - H * scale) / 2;
    const grown = (1 / scale) ** t, fx = x / (1 - scale), fy = y / (1 - scale);
    c.imageSmoothingEnabled = true;
    c.translate(fx, fy);
    c.scale(grown, grown);
    c.translate(-fx, -fy);
    c.globalAlpha = 1 - ramp(t, 0.45, 0.95);
    c.drawImage(outer.picture, 0, 0, W, H);
    c.globalAlpha = ramp(t, 0.12, 0.6);
    c.drawImage(inner.picture, x, y, W * scale, H * scale);
  }

  // A level as a picture, which the camera moves. Steps that pass meanwhile are drawn when the camera has arrived.
  function snapshot(number) {
    const key = [began, get("lane"), W, H, ratio].join(), kept = snapshots.get(number);
    if (kept?.key === key && kept.theme === theme && kept.state === state) return kept;
    const picture = kept?.picture ?? new OffscreenCanvas(1, 1);
    picture.width = Math.round(W * ratio);
    picture.height = Math.round(H * ratio);
    const c = picture.getContext("2d");
    c.scale(ratio, ratio);
    c.fillStyle = theme.paper;
    c.fillRect(0, 0, W, H);
    const made = { key, theme, state, picture, anchor: drawLevel(c, number).anchor };
    snapshots.set(number, made);
    return made;
  }

  const facts = () => ({ state, step: get("step"), W, H, lane: get("lane"), warps: get("warps"), warp: get("warp") });

  function drawLevel(c, number) {
    const p = pen(c, theme), made = DRAW[number](p, facts()), why = state.scene.why[LEVELS[number]];
    if (why) {
      const wide = Math.min(W - 60, 520), x = (W - wide) / 2, y = H / 2 - 40;
      p.box(x - 16, y - 12, wide + 32, 76, { fill: theme.soft, stroke: theme.rule, radius: 8 });
      p.block(why, x, y, wide, { size: 13, colour: theme.ink, gap: 18 });
    }
    return made;
  }

  // ---- Words ----

  const heightOfLines = () => code.querySelector(":scope > div:not(.gl-now)")?.getBoundingClientRect().height ?? 0;

  // All lines of the source but that of the step, which wraps, have the same height: its place needs no layout.
  function follow() {
    const { line } = state.step(get("step")), row = code.children[line];
    if (row !== litRow) {
      litRow?.classList.remove("gl-now");
      row?.classList.add("gl-now");
      litRow = row;
    }
    if (row) code.scrollTop = Math.max(CODE_TOP + (line + 0.5) * lineHigh - codeHigh / 2, 0);
  }

  function words() {
    const step = get("step"), own = state.step(step), { total, lines } = state.scene, n = (value) => value.toLocaleString("en");
    const cut = total > state.count ? ` (the first ${n(state.count)} of ${n(total)} are shown)` : "";
    const place = own.line >= 0 ? `, line ${lines[own.line][0]}${lines[own.line][2] ? " of your cell" : ""}` : "";
    sentence = `Step ${n(step + 1)} of ${n(state.count)}${cut}${place}: ${own.says}.`;
    if (said.data !== sentence) said.data = sentence;
    slider.setAttribute("aria-valuetext", sentence);
    describe();
  }

  const describe = () => canvas.setAttribute("aria-label", `${TITLES[LEVELS[to]]}. ${state.scene.why[LEVELS[to]] ?? sentence}`);

  function marks() {
    tabs.forEach((tab, at) => (tab.setAttribute("aria-pressed", at === to), tab.classList.toggle("gl-on", at === to)));
    zoomIn.disabled = to === LEVELS.length - 1;
    zoomOut.disabled = to === 0;
    if (state) describe();
  }

  function moved() {
    if (!state) return;
    slider.value = get("step");
    words();
    follow();
    draw();
  }

  function build() {
    if (!get("scene")?.events) return;
    if (get("scene") !== shownScene) {
      shownScene = get("scene");
      state = decode(shownScene);
      const list = shownScene.lines.map(([at, text, own]) => h("div", own ? { class: "gl-own" } : {}, h("span", { class: "gl-muted" }, own ? `▶${at}` : `${at}`), text || " "));
      code.replaceChildren(...list);
      lineHigh = heightOfLines();
    }
    slider.max = last();
    choices();
    marks();
    moved();
  }

  function choices() {
    title.textContent = get("title");
    title.title = get("title");
    const all = [[-1, "all"], ...Array.from({ length: get("warps") }, (_, at) => [at, `${at}`])];
    warp.replaceChildren(...all.map(([value, said]) => h("option", { value }, said)));
    warp.value = get("warp");
    block.value = get("block");
    block.max = get("blocks") - 1;
    lane.value = get("lane");
  }

  const heard = { scene: build, step: moved, title: choices, warp: choices, block: choices, lane: () => (choices(), draw()),
    level: () => go(Math.max(LEVELS.indexOf(get("level")), 0)) };
  const unlisten = listen(model, Object.keys(heard), (name) => heard[name]());
  const stop = watch(root, () => ((theme = null), draw()));
  build();
  return () => (stop(), unlisten(), pause());
}

export default { render };
