// The predicted timeline of an SM: hover or move with the keys to read what a warp issues, and what it waited for before.
import { h, keepKeys, listen, oncePerFrame, readTheme, watch } from "gemm_lab/theme.js";
import { begins, busy, draw, ends, layout, onPage, shares, within } from "./timeline_rows.js";

const LEAST = 20, STEP = 0.25;

export function render({ model, el }) {
  const get = (name) => model.get(name);
  const state = {};
  for (const name of ["warps", "code", "issues", "strips", "turns", "reasons", "colours", "origin", "length"]) state[name] = get(name);
  state.byWarp = state.warps.map(() => []);
  for (const issue of state.issues) state.byWarp[issue[1]].push(issue);
  let first = get("first"), span = get("span"), part = get("part"), theme, plan, chosen = null, grip = null;

  // ---- Elements ----
  const canvas = h("canvas", { tabindex: 0, role: "application", "aria-roledescription": "timeline" });
  const choice = h("select", { "aria-label": "sub-partition", onchange: (event) => (model.set("part", Number(event.target.value)), model.save_changes()) },
    h("option", { value: -1 }, "all four"), [0, 1, 2, 3].map((own) => h("option", { value: own }, `${own}`)));
  choice.value = part;
  const slider = h("input", { type: "range", min: 0, step: 1, "aria-label": "first cycle", oninput: (event) => look(Number(event.target.value), span) });
  const button = (words, label, act) => h("button", { "aria-label": label, title: label, onclick: act }, words);
  const says = h("div", { class: "gl-says", tabindex: 0, role: "status", "aria-live": "polite", hidden: get("still") });
  const place = h("span", { class: "gl-muted" });
  const legend = h("div", { class: "gl-timeline-legend" }), note = h("p", { class: "gl-note" });
  const root = h("div", { class: "gemm-lab gl-timeline" },
    h("div", { class: "gl-timeline-head" }, h("span", { class: "gl-pill gl-predicted" }, "predicted"), h("b", {}, get("title")), place),
    h("div", { class: "gl-steps", hidden: get("still") }, h("label", { class: "gl-row" }, h("span", { class: "gl-muted" }, "sub-partition"), choice),
      button("‹", "earlier", () => look(first - span * STEP, span)), slider, button("›", "later", () => look(first + span * STEP, span)),
      button("−", "fewer details: more cycles", () => zoom(2)), button("+", "more details: fewer cycles", () => zoom(0.5))),
    h("div", { class: "gl-timeline-plot" }, canvas), says, legend, note);
  keepKeys(root);
  el.append(root);

  // ---- Which cycles are seen ----
  function look(from, wide) {
    span = Math.min(Math.max(wide, LEAST), state.length);
    first = Math.min(Math.max(from, 0), state.length - span);
    all();
  }

  function zoom(times, centre = chosen ? Math.min(Math.max(chosen.to, first), first + span) : first + span / 2) {
    const wide = Math.min(Math.max(span * times, LEAST), state.length);
    look(centre - ((centre - first) * wide) / span, wide);
  }

  // ---- What is chosen ----
  const cycleAt = (event) => first + ((event.offsetX - plan.left) / plan.plot) * span;

  // What a row has in a cycle: an instruction with the wait before it, an interval of a unit's work, or nothing.
  function at(row, cycle) {
    const warp = row.kind === "warp", items = warp ? state.byWarp[row.warp] : state.strips[row.strip][2];
    const one = items.find((item) => (warp ? ends(item) : item[1]) > cycle);
    return one && (warp ? begins(one) : one[0]) <= cycle ? item(row, one) : { row, cycle, from: cycle, to: cycle };
  }

  const item = (row, one) => row.kind === "warp" ? { row, issue: one, from: begins(one), to: ends(one) } : { row, interval: one, from: one[0], to: one[1] };

  function point(event) {
    const cycle = cycleAt(event), row = plan.rows.find(({ y, high }) => event.offsetY >= y && event.offsetY < y + high);
    choose(row && cycle >= first && cycle <= first + span ? at(row, cycle) : null);
  }

  function choose(next) {
    chosen = next;
    say();
    paint();
  }

  // The next or previous instruction of the chosen row; with `rows`, the same cycle in another row.
  function move(by, rows) {
    const reach = plan.rows, place = chosen ? reach.findIndex((row) => row.y === chosen.row.y) : -1;
    if (place < 0) return choose(at(reach[0], seen(reach[0])));
    if (rows) {
      const row = reach[Math.min(Math.max(place + rows, 0), reach.length - 1)];
      return choose(at(row, Math.min(Math.max(chosen.issue ? chosen.issue[0] : chosen.from, first), first + span)));
    }
    const row = reach[place], items = row.kind === "warp" ? state.byWarp[row.warp] : state.strips[row.strip][2];
    const now = items.indexOf(chosen.issue ?? chosen.interval);
    const next = now >= 0 ? now + by : items.findIndex((one) => (row.kind === "warp" ? one[0] : one[1]) > chosen.from);
    const one = items[Math.min(Math.max(next, 0), items.length - 1)];
    if (!one) return;
    choose(item(row, one));
    if (chosen.to > first + span || chosen.from < first) look(chosen.to - span / 2, span);
  }

  const seen = (row) => {
    const items = row.kind === "warp" ? state.byWarp[row.warp] : [];
    const [index] = within(items, first, first + span, (one) => one[0], ends);
    return index === undefined ? first : items[index][0];
  };

  // ---- Words ----
  const number = (value) => (Math.round(value * 10) / 10).toLocaleString("en"), cycles = (value) => `${number(value)} cycle${value === 1 ? "" : "s"}`;
  const who = (warp) => `block ${state.warps[warp][0]}, warp ${state.warps[warp][1]}`;
  const line = (slot) => (state.code[slot][3] ? `line ${state.code[slot][2]}: ${state.code[slot][3]}` : "");

  const range = () => `Cycles ${number(first + state.origin)} to ${number(first + state.origin + span)}`;

  function say() {
    const code = (text) => h("code", {}, text);
    if (!chosen) {
      const [unit] = state.strips[0], same = state.strips.filter(([name]) => name === unit);
      const mean = same.reduce((sum, [, , intervals]) => sum + busy(intervals, first, span), 0) / same.length;
      says.replaceChildren(h("div", {}, `${range()}: the ${unit.replace(/s?$/, "s")} are busy for ${Math.round(100 * mean)} % of the time.`),
        h("div", { class: "gl-muted" }, "Point at an instruction, or use the arrow keys, to read its source line and what it waited for."));
      return;
    }
    const { row, issue, interval } = chosen;
    if (issue) {
      const waits = [];
      for (let part = 3; part < issue.length; part += 2) {
        const [label, meaning] = state.reasons[issue[part]];
        waits.push(`${cycles(issue[part + 1])} for ${meaning ? `${meaning} (${label})` : label}`);
      }
      says.replaceChildren(h("div", {}, `Cycle ${number(issue[0] + state.origin)}, ${who(issue[1])}: `, code(state.code[issue[2]][0])),
        h("div", {}, code(line(issue[2]))), h("div", {}, waits.length ? `Before it, the warp waited ${waits.join("; then ")}.` : "The warp did not wait for it."));
    } else if (interval) {
      const [from, to, warp, slot] = interval, when = `for ${cycles(to - from)} from cycle ${number(from + state.origin)}`;
      says.replaceChildren(h("div", {}, `${row.label}: works ${when}, for ${who(warp)}: `, code(state.code[slot][0])),
        h("div", {}, code(line(slot))));
    } else says.replaceChildren(h("div", {}, `${row.label}: nothing in cycle ${number(chosen.cycle + state.origin)}.`));
  }

  function explain() {
    const warps = plan.rows.filter((row) => row.kind === "warp").map((row) => row.warp), found = shares(state, warps, first, span);
    const swatch = (name, kind) => h("i", { class: kind, style: `background:${onPage(state.colours[name] ?? "#9aa3ad", theme.dark)}` });
    const items = (table, kind) => Object.entries(table).filter(([, share]) => share > 0.005).sort((p, q) => q[1] - p[1])
      .map(([name, share]) => h("span", { class: "gl-key" }, swatch(name, kind), `${name} ${Math.round(100 * share)} %`));
    const blocks = new Set(state.warps.map(([block]) => block)).size;
    legend.replaceChildren(
      h("div", {}, h("span", { class: "gl-muted" }, "tall: a warp issues"), items(found.issues, "gl-tall")),
      h("div", {}, h("span", { class: "gl-muted" }, "flat: it waits"), items(found.waits, "gl-flat")));
    const asynchronous = state.code.some(([text]) => /^(@\S+ )?(HGMMA|UTMA)/.test(text));
    note.textContent = `Warps stand above the ${state.strips[0][0]} of their sub-partition. Shares are of the warps' time, and beside a strip of the cycles. ` +
      `${state.turns.some((turn) => turn >= first && turn <= first + span) ? "Dashed: a turn of the main loop begins. " : ""}` +
      `${blocks > 1 ? "In the strips, work for blocks with an odd number is half as high. " : ""}` +
      `${asynchronous ? "The strip of shared memory leaves out what wgmma and TMA do there. " : ""}${get("trust")}`;
    canvas.setAttribute("aria-label", `Predicted timeline of ${get("title")}. ${range()}. ` +
      "Arrow keys move between instructions and rows, plus and minus zoom.");
  }

  // ---- Drawing ----
  const paint = oncePerFrame(() => {
    if (!root.isConnected || !root.clientWidth) return;
    theme ??= readTheme(root);
    plan = layout(state, part, canvas.parentElement.clientWidth);
    draw(canvas, plan, state, theme, { first, span, chosen });
    explain();
  });

  function all() {
    place.textContent = `${part < 0 ? "" : `sub-partition ${part} of `}an SM of an ${get("gpu")}; not measured`;
    slider.max = Math.round(state.length - span);
    slider.value = first;
    if (!chosen) say();
    paint();
  }

  // ---- Mouse and keys ----
  canvas.addEventListener("pointermove", (event) => {
    if (grip) look(grip.first - ((event.offsetX - grip.x) / plan.plot) * span, span);
    else if (plan) point(event);
  });
  canvas.addEventListener("pointerdown", (event) => (canvas.setPointerCapture(event.pointerId), (grip = { x: event.offsetX, first })));
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (grip = null));
  canvas.addEventListener("pointerleave", () => !grip && choose(null));
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey) zoom(event.deltaY > 0 ? 1.25 : 0.8, cycleAt(event));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) look(first + ((event.deltaX || event.deltaY) / plan.plot) * span, span);
    else return;
    event.preventDefault();
  }, { passive: false });
  const keys = { ArrowLeft: () => move(-1), ArrowRight: () => move(1), ArrowUp: () => move(0, -1), ArrowDown: () => move(0, 1), "+": () => zoom(0.5), "-": () => zoom(2),
    Home: () => look(0, span), End: () => look(state.length, span), Escape: () => choose(null) };
  canvas.addEventListener("keydown", (event) => {
    if (!plan || !keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  const stop = watch(root, () => ((theme = null), paint()));
  const unlisten = listen(model, ["part"], () => ((choice.value = part = get("part")), (chosen = null), all()));
  all();
  return () => (stop(), unlisten());
}

export default { render };
