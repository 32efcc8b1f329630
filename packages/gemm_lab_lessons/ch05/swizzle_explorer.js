// The swizzle explorer: a tile, a layout, one access of a warp, and the banks that it uses.
import { addressBits } from "./address_bits.js";
import { ACCESSES, ELEMENT_BYTES, makeTile, problem, steps, tileAccess, totals } from "./tile.js";
import { drawTile, geometry, HEADER, placeAt, tilePointer } from "./tile_canvas.js";
import { h, keepKeys, listen, oncePerFrame, readTheme, svg, watch } from "gemm_lab/theme.js";
import { drawWavefronts } from "../ch04/wavefront_canvas.js";

const STATE = ["rows", "row_bytes", "element", "layout", "pad_bytes", "bits", "base", "shift", "banks", "access", "step",
  "predict", "answer", "selected"];
const LAYOUT_NAMES = { plain: "plain", padded: "padded", xor: "XOR that fits the row", swizzle: "Swizzle(B, M, S)",
  tma32: "TMA 32-byte", tma64: "TMA 64-byte", tma128: "TMA 128-byte" };
const GLIDE_MS = 450;
const WHAT = {
  "row store": "st.shared: each lane one element, side by side along a row",
  "column load": "ld.shared: each lane one element, all of one column",
  "ldmatrix.x1": "ldmatrix.x1: lanes 0–7 name 8 rows of 16 bytes, one 8 × 8 matrix",
  "ldmatrix.x4": "ldmatrix.x4: each lane names a chunk of a 16 × 16 fragment",
  "float4 store": "st.shared.v4: each lane 16 bytes, as a tile is copied in",
  "cp.async": "cp.async.cg: each lane copies 16 bytes, from rows 4,096 bytes apart",
  "fragment store": "st.shared: each lane writes two sums of an mma, as an epilogue does",
};

// In Python, `layout` is the CSS layout of every widget, so the trait for the tile's layout has another name.
const key = (name) => (name === "layout" ? "scheme" : name);

export function render({ model, el }) {
  const read = () => Object.fromEntries(STATE.map((name) => [name, model.get(key(name))]));
  let state = read();
  let tile, access, whole, theme, hover = null, moved = true, spots = [], drawn = [], glide = null;
  let view = null; // width, geometry and scroll position of the last painting, so that hovering needs no new layout
  let address = { key: [] }; // the drawing of the address bits

  // ---- The page ----
  const number = (name, attributes) => h("input", { type: "number", "aria-label": name, ...attributes, onchange: (event) =>
    change({ [name]: event.target.value === "" ? NaN : Number(event.target.value) }) });
  const choice = (name, options) => h("select", { "aria-label": name, onchange: (event) => change({ [name]: event.target.value }) },
    Object.entries(options).map(([value, words]) => h("option", { value }, words)));
  const field = (words, ...inputs) => h("label", { class: "gl-field" }, h("span", {}, words), h("span", { class: "gl-row" }, inputs));
  const same = (names) => Object.fromEntries(names.map((name) => [name, name]));
  const inputs = {
    rows: number("rows", { min: 1, max: 512, step: 8 }), row_bytes: number("row_bytes", { min: 16, max: 1024, step: 16 }),
    element: choice("element", same(Object.keys(ELEMENT_BYTES))), layout: choice("layout", LAYOUT_NAMES),
    pad_bytes: number("pad_bytes", { min: 0, max: 256, step: 4 }),
    bits: number("bits", { min: 0, max: 6, class: "gl-short" }), base: number("base", { min: 0, max: 8, class: "gl-short" }),
    shift: number("shift", { min: -12, max: 12, class: "gl-short" }), access: choice("access", same(Object.keys(ACCESSES))),
  };
  const padding = field("bytes of padding", inputs.pad_bytes);
  const swizzle = field("bits, base, shift", inputs.bits, inputs.base, inputs.shift);
  const slider = h("input", { type: "range", min: 0, "aria-label": "step", oninput: (event) => change({ step: Number(event.target.value) }) });
  const move = (by) => change({ step: (state.step + by + Number(slider.max) + 1) % (Number(slider.max) + 1) });
  const where = h("span", { class: "gl-where" });
  const predict = h("input", { type: "checkbox", onchange: (event) => change({ predict: event.target.checked, answer: null }) });
  const error = h("div", { class: "gl-error", role: "alert", hidden: true });
  const verdict = h("div", { class: "gl-verdict", "aria-live": "polite" });
  const tileCanvas = h("canvas", { tabindex: 0, role: "img" });
  const pointer = tilePointer();
  const filler = h("div"), scroll = h("div", { class: "gl-scroll" }, h("div", { class: "gl-view" }, tileCanvas, pointer.root), filler);
  const waveTitle = h("div", { class: "gl-title" }, "Wavefronts", h("span", { class: "gl-muted" }));
  const waveCanvas = h("canvas", { role: "img", "aria-label": "the lanes of each wavefront" }), waveFrames = svg("path", { class: "gl-frame" });
  const waves = h("div", { class: "gl-scroll gl-low", tabindex: 0, role: "region", "aria-label": "wavefronts" },
    h("div", { class: "gl-under" }, waveCanvas, svg("svg", { class: "gl-over", "aria-hidden": "true" }, waveFrames)));
  const bitsOf = h("span", { class: "gl-muted" }), bitsTitle = h("div", { class: "gl-title" }, "Address", bitsOf), bits = h("div", { class: "gl-bits" });
  const waveSide = h("div", {}, waveTitle, waves), bitsSide = h("div", {}, bitsTitle, bits);
  const memoryTitle = h("span", { class: "gl-muted" });
  const root = h("div", { class: "gemm-lab gl-swizzle" },
    h("div", { class: "gl-controls" }, field("rows", inputs.rows), field("bytes a row", inputs.row_bytes),
      field("element", inputs.element), field("layout", inputs.layout), padding, swizzle, field("access of one warp", inputs.access)),
    h("div", { class: "gl-steps" }, h("button", { "aria-label": "step back", onclick: () => move(-1) }, "‹"), slider,
      h("button", { "aria-label": "step on", onclick: () => move(1) }, "›"), where,
      h("label", { class: "gl-end" }, predict, "predict first")),
    error, verdict,
    h("div", { class: "gl-heads" },
      h("div", {}, h("div", { class: "gl-title" }, "The tile as you index it", h("span", { class: "gl-muted" }, "row, chunk; number: bank"))),
      h("div", {}, h("div", { class: "gl-title" }, "The same in shared memory", memoryTitle))),
    scroll, h("div", { class: "gl-lower" }, waveSide, bitsSide));
  keepKeys(root);
  el.append(root);

  // ---- State: for an impossible choice the reason is shown, and the last valid picture stays ----
  function change(values) {
    const wanted = { ...state, ...values };
    const why = problem(wanted);
    error.hidden = !why;
    if (why) {
      error.textContent = `${why} The picture is still the last valid one.`;
      toggle(wanted);
      return;
    }
    const last = steps(makeTile(wanted), wanted.access);
    if (wanted.step >= last) wanted.step = 0;
    if (Object.keys(values).some((name) => !["predict", "answer", "selected"].includes(name))) wanted.answer = null;
    const place = wanted.selected ?? [0, 0];
    if (place[0] >= wanted.rows || place[1] >= wanted.row_bytes) wanted.selected = [0, 0];
    state = wanted;
    for (const name of STATE) model.set(key(name), state[name]);
    model.save_changes();
    build();
  }

  function toggle(shown) {
    padding.hidden = shown.layout !== "padded";
    swizzle.hidden = shown.layout !== "swizzle";
  }

  function build() {
    const before = access;
    tile = makeTile(state);
    access = tileAccess(tile, state.access, state.step);
    startGlide(before);
    whole = totals(tile, state.access);
    for (const [name, input] of Object.entries(inputs)) input.value = state[name];
    toggle(state);
    slider.max = steps(tile, state.access) - 1;
    slider.value = state.step;
    predict.checked = state.predict;
    where.textContent = access.says;
    memoryTitle.textContent = tile.chunkBytes === 16 ? "line, bank; row·chunk" : "line, bank; row·column";
    tileCanvas.setAttribute("aria-label", `${WHAT[state.access]}: ${access.says}`);
    say();
    moved = true;
    draw();
  }

  // If another layout gives the same lanes other addresses, animate the move, unless the reader prefers no motion.
  function startGlide(before) {
    const same = before && ["rows", "bytes"].every((name) => before[name].join() === access[name].join());
    glide = null;
    if (!same || before.addresses.join() === access.addresses.join()) return;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const begun = performance.now(), mine = (glide = { from: before.addresses, progress: 0 });
    const frame = (now) => {
      if (glide !== mine) return;
      const part = Math.min(Math.max((now - begun) / GLIDE_MS, 0), 1);
      glide.progress = part * part * (3 - 2 * part);
      if (part === 1) glide = null;
      else requestAnimationFrame(frame);
      repaint();
    };
    requestAnimationFrame(frame);
  }

  function say() {
    const count = access.schedule.phase.length, revealed = isRevealed();
    verdict.className = `gl-verdict ${revealed ? (count > access.ideal ? "gl-conflict" : "gl-free") : ""}`;
    if (!revealed) {
      const guess = h("input", { type: "number", min: 1, max: 128, "aria-label": "your prediction" });
      const give = () => guess.value !== "" && change({ answer: Number(guess.value) });
      guess.addEventListener("keydown", (event) => event.key === "Enter" && give());
      verdict.replaceChildren(h("span", {}, h("b", {}, "Predict. "), "How many wavefronts will this access take?"), guess,
        h("button", { class: "gl-main", onclick: give }, "Show"), h("span", { class: "gl-why gl-muted" }, WHAT[state.access]));
      return;
    }
    const free = count <= access.ideal, degree = count / access.ideal;
    const said = state.predict ? h("span", {}, `You said ${state.answer}${state.answer === count ? ": right." : "."}`) : null;
    verdict.replaceChildren(...[
      h("span", { class: "gl-count" }, String(count), h("small", {}, count === 1 ? "wavefront" : "wavefronts")),
      h("span", { class: "gl-pill" }, free ? "free of conflicts" : `${+degree.toFixed(2)} × the ideal`),
      h("span", { class: "gl-muted" }, `ideal ${access.ideal}`), said,
      h("span", { class: "gl-muted gl-end" }, `whole tile: ${whole.wavefronts.toLocaleString("en")} of ${whole.ideal.toLocaleString("en")} ideal`),
      h("span", { class: "gl-why gl-muted" }, `${WHAT[state.access]}. ${reason()}`)].filter(Boolean));
  }

  const isRevealed = () => !state.predict || state.answer !== null;

  // A sentence that explains the count: how many different words of one bank are needed by one group of lanes.
  function reason() {
    const { phase } = access.schedule;
    if (access.kind === "cp.async.cg") return "Lanes that move sectors alike share a wavefront.";
    const most = Math.max(...phase.map((number) => phase.filter((other) => other === number).length));
    if (most === 1) return "No bank is asked for two words at once.";
    return `One bank is asked for ${most} words by one group.`;
  }

  // ---- Drawing ----
  function keepInSight(g) {
    const rows = access.rows.filter((row) => row >= 0), seen = g.view - HEADER;
    const low = (Math.min(...rows) - 1) * g.rowHeight, high = (Math.max(...rows) + 2) * g.rowHeight;
    if (low < scroll.scrollTop || high > scroll.scrollTop + seen) scroll.scrollTop = Math.max(0, Math.min(low, high - seen));
    moved = false;
  }

  const inner = () => Math.max(scroll.clientWidth, 300);
  const focus = () => hover ?? (state.selected ? { row: state.selected[0], byte: state.selected[1] } : { row: 0, byte: 0 });

  const draw = oncePerFrame(() => {
    if (!paint()) return;
    waveTitle.lastChild.textContent = access.kind === "cp.async.cg" ? "pair: lines of source and shared memory"
      : access.schedule.phase.length > access.ideal ? "one row a pass; red ones waited" : "one row a pass over the banks";
  });
  const repaint = oncePerFrame(paint);
  const point = oncePerFrame(() => view && showFocus());

  // Paints the visible part of the panels, the wavefronts, and the marks at the pointer.
  function paint() {
    if (!root.isConnected || !root.clientWidth) return false;
    theme ??= readTheme(root);
    const width = inner(), g = geometry(tile, width);
    scroll.style.height = tileCanvas.style.height = `${g.view}px`;
    filler.style.height = `${Math.max(0, g.content + HEADER - g.view)}px`;
    if (moved) keepInSight(g);
    waveSide.hidden = !isRevealed();
    view = { width, g, scroll: scroll.scrollTop, waves: waves.clientWidth, bits: bits.clientWidth };
    drawTile(tileCanvas, { tile, access, theme, width, scroll: view.scroll, revealed: isRevealed(), glide });
    drawWaves();
    showFocus();
    return true;
  }

  function drawWaves() {
    const key = [access, theme, view.waves];
    if (!isRevealed() || key.every((value, i) => value === drawn[i])) return;
    drawn = key;
    spots = drawWavefronts(waveCanvas, { access, banks: tile.banks, theme, width: view.waves });
  }

  // Updates everything that depends on the pointer's position: the frames over both canvases, and the address.
  function showFocus() {
    const lit = focusLanes(), lanes = new Set(lit);
    pointer.show(view.g, { tile, scroll: view.scroll, focus: focus() });
    waveFrames.setAttribute("d", spots.filter((spot) => spot.lanes.some((lane) => lanes.has(lane)))
      .map(({ x, y, wide, tall }) => `M${x} ${y}h${wide}v${tall}h${-wide}z`).join(""));
    showBits(lit);
  }

  // The lanes that access the place under the pointer.
  function focusLanes() {
    const { row, byte } = focus();
    return access.rows.map((_, lane) => lane).filter((lane) => access.rows[lane] === row &&
      access.bytes[lane] <= byte && byte < access.bytes[lane] + access.width);
  }

  function servedIn([lane]) {
    const { wavefront, words, phase } = access.schedule;
    if (lane === undefined) return "";
    const word = words > 1 ? Math.floor((focus().byte - access.bytes[lane]) / 4) : 0;
    return `; T${lane}${isRevealed() ? `, wavefront ${wavefront[lane * words + word] + 1} of ${phase.length}` : ""}`;
  }

  function showBits(lit) {
    const { row, byte } = focus(), column = Math.floor(byte / tile.elementBytes), width = view.bits;
    const place = { row, byte: column * tile.elementBytes }, key = [tile, theme, width];
    bitsOf.textContent = `of row ${row}, column ${column}${servedIn(lit)}`;
    if (key.some((value, i) => value !== address.key[i])) {
      address = { key, ...addressBits({ tile, theme, room: width }) };
      bits.replaceChildren(address.root);
    }
    address.show(place);
  }

  // ---- Pointer and keys ----
  const under = (event) => view && placeAt(tile, view.g, event.offsetX, event.offsetY, view.scroll);
  tileCanvas.addEventListener("pointermove", (event) => {
    const place = under(event);
    if (place?.row === hover?.row && place?.byte === hover?.byte) return;
    hover = place;
    point();
  });
  waveCanvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
    const spot = spots.find(({ x, y, wide, tall }) => offsetX >= x && offsetX < x + wide && offsetY >= y && offsetY <= y + tall);
    const lane = spot?.lanes[0], place = spot ? { row: access.rows[lane], byte: access.bytes[lane] } : null;
    if (place?.row === hover?.row && place?.byte === hover?.byte) return;
    hover = place;
    point();
  });
  waveCanvas.addEventListener("pointerleave", () => ((hover = null), point()));
  tileCanvas.addEventListener("pointerleave", () => ((hover = null), point()));
  tileCanvas.addEventListener("click", (event) => {
    const place = under(event);
    if (place) change({ selected: [place.row, place.byte] });
  });
  tileCanvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const [row, byte] = state.selected ?? [0, 0], to = byte + by[1] * tile.chunkBytes;
    if (row + by[0] < 0 || row + by[0] >= tile.rows || to < 0 || to >= tile.rowBytes) return;
    change({ selected: [row + by[0], to] });
  });
  scroll.addEventListener("scroll", repaint);
  const unlisten = listen(model, STATE.map(key), (name) => {
    const fresh = read(), mine = state[STATE.find((one) => key(one) === name)];
    if (JSON.stringify(mine) === JSON.stringify(model.get(name))) return; // this view itself has made the change
    if (problem(fresh)) return; // an incomplete change: Python sets one name after the other
    state = fresh;
    if (state.step >= steps(makeTile(state), state.access)) state.step = 0;
    error.hidden = true;
    build();
  });
  const stop = watch(root, () => ((theme = null), draw()));
  build();
  return () => (stop(), unlisten());
}

export default { render };
