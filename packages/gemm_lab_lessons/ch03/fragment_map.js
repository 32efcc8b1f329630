// The fragment map: lanes and registers of A, B and C of one mma, and the rows whose addresses lanes give to ldmatrix.
import { arrange, HIGH } from "./fragment_layout.js";
import { ACCUMULATORS, fragmentLoad, makeMma, SHAPES } from "../shared/mma.js";
import { bankColour, h, keepKeys, listen, readTheme, svg, watch } from "gemm_lab/theme.js";

const STATE = ["shape", "dtype", "accumulator", "stored", "lane", "ldmatrix"];

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
  const inMemory = field("B in shared memory", selects.stored); // only ldmatrix depends on it
  const opcode = h("code", { class: "gl-opcode gl-end" });
  const picture = h("div", { class: "gl-map" }), facts = h("div", { class: "gl-facts", "aria-live": "polite" });
  const root = h("div", { class: "gemm-lab gl-fragments" },
    h("div", { class: "gl-controls" }, field("elements of A and B", selects.dtype), field("shape", selects.shape),
      field("sum in", selects.accumulator), inMemory, opcode),
    h("div", { class: "gl-steps" }, h("span", { class: "gl-lane" }), slider),
    h("div", { class: "gl-stage" }, picture, facts));
  keepKeys(root);
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

  // The ldmatrix of an operand; null if there is none, or if the map leaves it out.
  const loadOf = (operand, stored) => (state.ldmatrix ? fragmentLoad(mma, operand, stored) : null);

  function build() {
    mma = makeMma(state.shape, state.dtype, state.accumulator);
    options(selects.dtype, Object.keys(SHAPES), state.dtype);
    options(selects.shape, SHAPES[state.dtype], state.shape);
    options(selects.accumulator, ACCUMULATORS[state.dtype], state.accumulator);
    const stores = ["column-major", "row-major"].filter((stored) => fragmentLoad(mma, "B", stored));
    options(selects.stored, stores.length ? stores : ["column-major"], state.stored);
    inMemory.style.display = state.ldmatrix ? "" : "none";
    opcode.textContent = `mma.sync.${mma.shape}.${mma.accumulator}.${mma.dtype}`;
    draw();
  }

  // ---- The picture ----
  function draw() {
    if (!root.isConnected || !root.clientWidth) return;
    theme ??= readTheme(root);
    const width = Math.min(Math.max(root.clientWidth - 34, 560), 766), plan = arrange(mma, width);
    const page = svg("svg", { viewBox: `0 0 ${width} ${plan.height}`, width, height: plan.height, role: "img",
      "aria-label": opcode.textContent });
    page.addEventListener("pointerleave", () => ((hover = null), show()));
    cells = [];
    for (const operand of ["A", "B", "C"])
      for (let lane = 0; lane < 32; lane++)
        for (let register = 0; register < mma.registers[operand]; register++)
          page.append(cellOf(operand, lane, register, plan.place(operand, ...mma.at(operand, lane, register, 0))));
    const upright = state.stored === "column-major" && loadOf("B", state.stored);
    title(page, plan.x.A, plan.y.A - 12, "A", mma.extent.A, "#0072b2");
    title(page, plan.x.B, plan.y.B - (upright ? 38 : 12), "B", mma.extent.B, "#b57800");
    title(page, plan.x.C, plan.y.C - 12, "C and D", mma.extent.C, "#00765a");
    drawNames(page, plan, "A", loadOf("A", "row-major"), false);
    drawNames(page, plan, "B", loadOf("B", state.stored), upright);
    picture.replaceChildren(page);
    facts.classList.remove("gl-below"); // the facts stand above A if there is room for those of the last lane, whose numbers are the longest
    facts.style.maxWidth = `${plan.free}px`;
    show(31);
    const registers = facts.firstElementChild, fits = registers.scrollWidth <= registers.clientWidth && facts.offsetHeight <= plan.y.A - 28;
    const below = width < 660 || mma.quads || !fits;
    facts.classList.toggle("gl-below", below);
    if (below) facts.style.maxWidth = "";
    show();
  }

  function cellOf(operand, lane, register, [x, y, w, tall]) {
    const shade = (vivid) => bankColour((mma.quads ? lane % 8 : lane >> 2) * 4, 32, theme.dark, vivid);
    const rect = svg("rect", { x: x + 0.5, y: y + 0.5, width: w - 1, height: tall - 1, rx: 2.5 });
    const holder = w > 26 ? `T${lane}` : `${lane}`, own = w > 18 ? `${operand.toLowerCase()}${register}` : holder;
    const label = svg("text", { x: x + w / 2, y: y + 12.3, "text-anchor": "middle" }, holder);
    cells.push({ lane, rect, label, holder, register: own, shade });
    return svg("g", { class: "gl-hit", onpointerenter: () => ((hover = lane), show()), onclick: () => change({ lane }) },
      rect, w > 15 && label, svg("title", {}, `T${lane}, ${operand.toLowerCase()}${register}`));
  }

  function title(page, x, y, words, [rows, columns], colour) {
    page.append(svg("text", { x, y, class: "gl-name", fill: theme.dark ? theme.ink : colour }, words,
      svg("tspan", { class: "gl-extent", dx: 7 }, `${rows} × ${columns}`)));
  }

  // Labels each row with the lanes that give its address to ldmatrix (each column, if B is stored column-major), and
  // outlines the 16 bytes at a lane's address.
  function drawNames(page, plan, operand, load, upright) {
    if (!load) return;
    const each = mma.per[operand], tag = (x, y, anchor, words) =>
      page.append(svg("text", { x, y, class: "gl-tag", "text-anchor": anchor }, words));
    load.lanes.forEach(({ row, chunk, matrix }, lane) => {
      const outline = (x, y, width, height) => {
        const drawn = svg("rect", { x: x - 1, y, width: width + 2, height, rx: 4, class: "gl-named" });
        cells.push({ names: lane, outline: drawn });
        page.append(drawn);
      };
      if (upright) {
        const [x, y, w] = plan.place("B", chunk * 4 * each, row);
        outline(x, y, w, 4 * HIGH);
        if (matrix === 0) // one lane below the other
          load.lanes.forEach((entry, each) => entry.row === row && w > 22 &&
            tag(x + w / 2, plan.y.B - (entry.chunk ? 7 : 21), "middle", `${entry.chunk ? "" : "@"}${each}`));
      } else if (operand === "A") {
        const [x, y, w] = plan.place("A", row, chunk * 4 * each);
        outline(x, y, 4 * w, HIGH);
        if (chunk === 0) tag(x - 5, y + 12.3, "end", nameOf(load, row));
      } else {
        const [x, y, w] = plan.place("B", Math.floor(row / each) * each, 0);
        outline(x, y, 8 * w, HIGH); // the registers that hold this row; a frame of the half would cross their names
        if (row % each === 0) tag(x - 5, y + 12.3, "end", `@${lane}, ${lane + 1}`);
      }
    });
  }

  // The label of a row: the lanes of its chunks.
  function nameOf(load, row) {
    const lanes = load.lanes.map((entry, lane) => ({ ...entry, lane })).filter((entry) => entry.row === row);
    return `@${lanes.slice(0, 4).map((entry) => entry.lane).join(", ")}`;
  }

  // ---- One lane: its elements, and its address for ldmatrix ----
  function show(lane = hover ?? state.lane) {
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
      cell.label.textContent = on ? cell.register : cell.holder; // a lane's own cells name its registers
    }
    facts.replaceChildren(...[h("div", { class: "gl-registers" }, ["A", "B", "C"].map((operand) => holding(operand, lane))),
      naming("A", "row-major", lane), naming("B", state.stored, lane),
      loadOf("A", "row-major") && h("p", {}, "@: the lanes whose addresses name this row or column.")].filter(Boolean));
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
    const load = loadOf(operand, stored);
    if (!load) return operand === "A" && mma.quads ? h("p", {}, "Four products of 8 × 8 × 4, one for each group of eight lanes.") : null;
    const it = load.lanes[lane], bytes = it && `bytes ${16 * it.chunk}–${16 * it.chunk + 15}`;
    const what = operand === "A" ? "row" : stored === "column-major" ? "column" : "row";
    const words = it ? `names ${what} ${it.row}${load.transposed ? "" : `, ${bytes}`}` : "names nothing";
    const pair = it && operand === "B" && stored !== "column-major", base = pair && it.row - (it.row % mma.per.B);
    const dashed = pair ? ` (dashed: the registers of rows ${base} and ${base + mma.per.B - 1}).` : it ? " (dashed)." : ".";
    return h("p", {}, h("code", {}, load.opcode), ` for ${operand}: T${lane} ${words}`, dashed);
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
