// The fragment map: the lanes and registers of A, B and C of one mma, and the rows that each lane names to ldmatrix.
import { ACCUMULATORS, fragmentLoad, makeMma, SHAPES } from "./mma.js";
import { bankColour, h, listen, readTheme, svg, watch } from "./theme.js";

const STATE = ["shape", "dtype", "accumulator", "stored", "lane"];
const HIGH = 20, GUTTER = 30, BLOCK_GAP = 6, TAG = 26;

export function render({ model, el }) {
  let state = Object.fromEntries(STATE.map((name) => [name, model.get(name)]));
  let mma, theme, hover = null, cells = [];

  const choice = (name) => h("select", { "aria-label": name, onchange: (event) => change({ [name]: event.target.value }) });
  const options = (select, values, value) => {
    select.replaceChildren(...values.map((one) => h("option", { value: one }, one)));
    select.value = value;
    select.disabled = values.length < 2;
  };
  const field = (words, ...inputs) => h("label", { class: "gl-field" }, h("span", {}, words), h("span", { class: "gl-row" }, inputs));
  const selects = Object.fromEntries(["dtype", "shape", "accumulator", "stored"].map((name) => [name, choice(name)]));
  const slider = h("input", { type: "range", min: 0, max: 31, "aria-label": "lane", oninput: (event) => change({ lane: Number(event.target.value) }) });
  const opcode = h("code", { class: "gl-opcode gl-end" });
  const picture = h("div", { class: "gl-map" }), facts = h("div", { class: "gl-facts", "aria-live": "polite" });
  const root = h("div", { class: "gemm-lab gl-fragments" },
    h("div", { class: "gl-controls" }, field("elements of A and B", selects.dtype), field("shape", selects.shape),
      field("sum in", selects.accumulator), field("B in shared memory", selects.stored), opcode),
    h("div", { class: "gl-steps" }, h("span", { class: "gl-lane" }), slider),
    h("div", { class: "gl-stage" }, picture, facts));
  el.append(root);

  function change(values) {
    const wanted = { ...state, ...values };
    if (!SHAPES[wanted.dtype].includes(wanted.shape)) wanted.shape = SHAPES[wanted.dtype].at(-1);
    if (!ACCUMULATORS[wanted.dtype].includes(wanted.accumulator)) wanted.accumulator = ACCUMULATORS[wanted.dtype][0];
    if (!fragmentLoad(makeMma(wanted.shape, wanted.dtype, wanted.accumulator), "B", wanted.stored)) wanted.stored = "column-major";
    const redraw = STATE.some((name) => name !== "lane" && wanted[name] !== state[name]);
    state = wanted;
    for (const name of STATE) model.set(name, state[name]);
    model.save_changes();
    redraw ? build() : show();
  }

  function build() {
    mma = makeMma(state.shape, state.dtype, state.accumulator);
    options(selects.dtype, Object.keys(SHAPES), state.dtype);
    options(selects.shape, SHAPES[state.dtype], state.shape);
    options(selects.accumulator, ACCUMULATORS[state.dtype], state.accumulator);
    const stores = ["column-major", "row-major"].filter((stored) => fragmentLoad(mma, "B", stored));
    options(selects.stored, stores.length ? stores : ["column-major"], state.stored);
    opcode.textContent = `mma.sync.${mma.shape}.${mma.accumulator}.${mma.dtype}`;
    draw();
  }

  // ---- The picture: B above C, A beside it, as in the product ----
  function draw() {
    if (!root.isConnected || !root.clientWidth) return;
    theme ??= readTheme(root);
    const width = Math.min(Math.max(root.clientWidth - 34, 560), 766), quads = mma.quads;
    const across = { A: mma.extent.A[1] / mma.per.A, C: mma.extent.C[1] / mma.per.C, B: mma.extent.B[1] };
    const blocksA = quads ? 1 : Math.max(across.A / 4, 1), tags = 2 * TAG;
    const room = width - 2 * GUTTER - tags - (blocksA - 1) * BLOCK_GAP - 24;
    const most = 44, share = across.A + Math.max(mma.extent.C[1], mma.extent.B[1]);
    const cw = Math.min(room / share, most), bw = (cw * Math.max(mma.extent.C[1], mma.extent.B[1])) / mma.extent.B[1];
    const xA = GUTTER + TAG, widthA = across.A * cw + (blocksA - 1) * BLOCK_GAP, xC = xA + widthA + 24 + GUTTER + TAG;
    const cellC = (cw * Math.max(mma.extent.C[1], mma.extent.B[1])) / across.C;
    const rowsB = mma.extent.B[0] / mma.per.B, blocksB = quads ? 1 : Math.max(rowsB / 4, 1);
    const yB = 44, heightB = rowsB * HIGH + (blocksB - 1) * BLOCK_GAP, yA = Math.max(yB + heightB, 150) + 46;
    const heightOf = (rows) => rows * HIGH + (Math.ceil(rows / 8) - 1) * BLOCK_GAP;
    const height = yA + heightOf(mma.extent.A[0]) + 6;
    const root_ = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": opcode.textContent });
    cells = [];
    const text = (x, y, words, attributes = {}) => root_.append(svg("text", { x, y, ...attributes }, String(words)));
    const rowY = (row) => yA + row * HIGH + Math.floor(row / 8) * BLOCK_GAP;
    const place = {
      A: ([row, column]) => { const c = column / mma.per.A; return [xA + c * cw + (quads ? 0 : Math.floor(c / 4) * BLOCK_GAP), rowY(row), cw, HIGH]; },
      B: ([row, column]) => { const r = row / mma.per.B; return [xC + column * bw, yB + r * HIGH + (quads ? 0 : Math.floor(r / 4) * BLOCK_GAP), bw, HIGH]; },
      C: ([row, column]) => [xC + (column / mma.per.C) * cellC, rowY(row), cellC, HIGH],
    };
    for (const operand of ["A", "B", "C"])
      for (let lane = 0; lane < 32; lane++)
        for (let register = 0; register < mma.registers[operand]; register++) {
          const [x, y, w, tall] = place[operand](mma.at(operand, lane, register, 0));
          const shade = (vivid) => bankColour((quads ? lane % 8 : lane >> 2) * 4, 32, theme.dark, vivid);
          const rect = svg("rect", { x: x + 0.5, y: y + 0.5, width: w - 1, height: tall - 1, rx: 2.5 });
          const label = svg("text", { x: x + w / 2, y: y + 14.2, "text-anchor": "middle", class: "gl-cell" }, w > 21 ? `T${lane}` : `${lane}`);
          const name = svg("tspan", { class: "gl-register", dx: 2.5 }, `${operand.toLowerCase()}${register}`);
          if (w > 33) label.append(name);
          const group = svg("g", { class: "gl-hit" }, rect, w > 11 ? label : null);
          group.addEventListener("pointerenter", () => ((hover = lane), show()));
          group.addEventListener("click", () => change({ lane }));
          cells.push({ lane, rect, label, name, wide: w > 56, shade });
          root_.append(group);
        }
    title(xA, yA - (tagsOnTop("A") ? 26 : 12), "A", mma.extent.A, "#0072b2");
    title(xC, yB - (tagsOnTop("B") ? 26 : 12), "B", mma.extent.B, "#b57800");
    title(xC, yA - 12, "C and D", mma.extent.C, "#00765a");
    named("A", "row-major");
    named("B", state.stored);
    root_.addEventListener("pointerleave", () => ((hover = null), show()));
    picture.replaceChildren(root_);
    const narrow = width < 660 || quads;
    facts.classList.toggle("gl-below", narrow);
    facts.style.maxWidth = narrow ? "" : `${xC - GUTTER - TAG - 8}px`;
    show();

    function title(x, y, words, [rows, columns], colour) {
      root_.append(svg("text", { x, y, class: "gl-name", fill: theme.dark ? theme.ink : colour }, words,
        svg("tspan", { class: "gl-extent", dx: 7 }, `${rows} × ${columns}`)));
    }

    function tagsOnTop(operand) {
      return operand === "B" && fragmentLoad(mma, "B", state.stored) && state.stored === "column-major";
    }

    // ---- The lanes that name rows to ldmatrix, each beside its row (above its column, where B lies column-major) ----
    function named(operand, stored) {
      const load = fragmentLoad(mma, operand, stored);
      if (!load) return;
      load.lanes.forEach(({ row, chunk, matrix }, lane) => {
        const each = mma.per[operand];
        const from = tagsOnTop(operand) ? [chunk * 4 * each, row] : operand === "A" ? [row, chunk * 4 * each] : [row, 0];
        const [x, y, w] = place[operand](operand === "B" && !tagsOnTop(operand) ? [Math.floor(from[0] / each) * each, 0] : from);
        const part = (from[0] % each) / each;
        const frame = tagsOnTop(operand) ? [x, y, w, 4 * HIGH] : operand === "A" ? [x, y, 4 * w, HIGH] : [x, y + part * HIGH, 8 * w, HIGH / each];
        const outline = svg("rect", { x: frame[0] - 1, y: frame[1] - 1, width: frame[2] + 2, height: frame[3] + 2, rx: 4, class: "gl-named" });
        cells.push({ names: lane, outline });
        root_.append(outline);
        if (tagsOnTop(operand)) { if (matrix === 0) text(x + w / 2, yB - 8, nameOf(load, row), { class: "gl-tag", "text-anchor": "middle" }); }
        else if (operand === "A") { if (chunk === 0) text(xA - 5, y + 14, nameOf(load, row), { class: "gl-tag", "text-anchor": "end" }); }
        else if (row % each === 0) text(x - 5, y + 14, `@${lane}, ${lane + 1}`, { class: "gl-tag", "text-anchor": "end" });
      });
    }

    // All lanes that name parts of one row: one for each chunk.
    function nameOf(load, row) {
      const lanes = load.lanes.map((entry, lane) => ({ ...entry, lane })).filter((entry) => entry.row === row);
      const all = `@${lanes.map((entry) => entry.lane).join(", ")}`;
      return tagsOnTop("B") && load.count < 4 && bw < 34 ? `@${lanes[0].lane}` : all;
    }
  }

  // ---- One lane: what it holds, what it names ----
  function show() {
    const lane = hover ?? state.lane;
    slider.value = state.lane;
    root.querySelector(".gl-lane").textContent = `lane ${lane}`;
    for (const cell of cells) {
      if (cell.outline) {
        cell.outline.style.display = cell.names === lane ? "" : "none";
        continue;
      }
      const on = cell.lane === lane;
      cell.rect.setAttribute("fill", cell.shade(on));
      cell.rect.setAttribute("stroke", on ? theme.ink : "none");
      cell.rect.setAttribute("stroke-width", on ? 1.8 : 0);
      cell.label.setAttribute("fill", on ? "#15181c" : theme.muted);
      cell.label.style.fontWeight = on ? 700 : 400;
      cell.name.style.display = on || cell.wide ? "" : "none";
    }
    facts.replaceChildren(...[h("div", { class: "gl-registers" }, ["A", "B", "C"].map((operand) => holding(operand, lane))),
      naming("A", "row-major", lane), naming("B", state.stored, lane),
      fragmentLoad(mma, "A", "row-major") && h("p", {}, "@: the lanes whose addresses name this row or column.")].filter(Boolean));
  }

  function holding(operand, lane) {
    const lines = [];
    for (let register = 0; register < mma.registers[operand]; register++) {
      const [row, column] = mma.at(operand, lane, register, 0), each = mma.per[operand];
      const span = (first) => (each > 1 ? `${first}–${first + each - 1}` : first);
      const index = operand === "B" ? `${span(row)}, ${column}` : `${row}, ${span(column)}`;
      lines.push(h("div", {}, h("b", {}, `${operand.toLowerCase()}${register}`), ` ${operand}[${index}]`));
    }
    return h("div", {}, lines);
  }

  function naming(operand, stored, lane) {
    const load = fragmentLoad(mma, operand, stored);
    if (!load) return operand === "A" && mma.quads ? h("p", {}, "Four products of 8 × 8 × 4, one for each group of eight lanes.") : null;
    const it = load.lanes[lane], bytes = it && `bytes ${16 * it.chunk}–${16 * it.chunk + 15}`;
    const what = operand === "A" ? "row" : stored === "column-major" ? "column" : "row";
    const words = it ? `names ${what} ${it.row}${load.transposed ? "" : `, ${bytes}`}` : "names nothing";
    return h("p", {}, h("code", {}, load.opcode), ` for ${operand}: T${lane} ${words}`, it ? " (dashed)." : ".");
  }

  const unlisten = listen(model, STATE, (name) => {
    if (state[name] === model.get(name)) return;
    const fresh = Object.fromEntries(STATE.map((key) => [key, model.get(key)]));
    if (!SHAPES[fresh.dtype]?.includes(fresh.shape) || !ACCUMULATORS[fresh.dtype].includes(fresh.accumulator)) return;
    state = fresh;
    build();
  });
  const stop = watch(root, () => ((theme = null), draw()));
  build();
  return () => (stop(), unlisten());
}

export default { render };
