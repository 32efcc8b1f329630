// Lays out and draws the rows of a predicted timeline: warps by sub-partition, and strips of the units that are busy.
import { prepare } from "gemm_lab/theme.js";

const STRIP = 13, GAP = 7, AXIS = 22, RIGHT = 48;

// Rows from top to bottom: { kind: "warp" | "strip", y, high, label, … }. part: the sub-partition, or -1 for all.
// Warps that have ended before have none.
export function layout({ warps, byWarp, strips }, part, width) {
  const parts = part < 0 ? [0, 1, 2, 3] : [part], rows = [], left = width < 560 ? 96 : 128;
  const shown = warps.filter(([, , own], warp) => parts.includes(own) && byWarp[warp].length).length;
  const high = Math.max(13, Math.min(17, Math.floor(300 / Math.max(shown, 1))));
  let y = AXIS;
  const add = (kind, tall, more) => (rows.push({ kind, y, high: tall, ...more }), (y += tall));
  for (const own of parts) {
    warps.forEach(([block, number, place], warp) => place === own && byWarp[warp].length && add("warp", high, { warp, block, label: `block ${block} · warp ${number}` }));
    strips.forEach(([name, place], strip) => place === own && add("strip", STRIP + 2, { strip, label: `${name} ${own}` }));
    y += GAP;
  }
  strips.forEach(([name, place], strip) => place < 0 && add("strip", STRIP + 2, { strip, label: name }));
  return { rows, left, right: RIGHT, height: y + 4, width, plot: Math.max(width - left - RIGHT, 60) };
}

// Mixes a colour "#rrggbb" with another, given as [r, g, b].
function mixed(colour, [r, g, b], share) {
  const part = (at) => parseInt(colour.slice(at, at + 2), 16), mix = (own, other) => Math.round(own + (other - own) * share);
  return `rgb(${mix(part(1), r)}, ${mix(part(3), g)}, ${mix(part(5), b)})`;
}

// A colour of the profile cards as it is seen on this page: on a dark one, dark colours become lighter.
export function onPage(colour, dark) {
  if (!dark) return colour;
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 105 ? mixed(colour, [255, 255, 255], 0.38) : colour;
}

// The indices from the first item whose `end` lies behind `from` to the last that begins before `to`, in sorted lists.
export function within(items, from, to, start, end) {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end(items[middle]) <= from) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (let at = low; at < items.length && start(items[at]) < to; at++) found.push(at);
  return found;
}

const waited = (issue) => { let sum = 0; for (let at = 4; at < issue.length; at += 2) sum += issue[at]; return sum; };
export const begins = (issue) => issue[0] - waited(issue);
export const ends = (issue) => issue[0] + 1;

// Cycles per tick, so that ticks are at least 80 pixels apart.
function tickStep(scale) {
  for (let step = 1; ; step *= 10) for (const times of [1, 2, 5]) if (step * times * scale >= 80) return step * times;
}

export function draw(canvas, plan, state, theme, { first, span, chosen }) {
  const { rows, left, plot, height, width } = plan, c = prepare(canvas, width, height), scale = plot / span;
  const x = (cycle) => left + (cycle - first) * scale, clip = (value) => Math.min(Math.max(value, left), left + plot);
  const colour = (name) => onPage(state.colours[name] ?? "#9aa3ad", theme.dark);
  const bar = (from, to, y, high, fill) => {
    const a = clip(x(from)), b = clip(x(to));
    if (b <= a) return;
    c.fillStyle = fill;
    c.fillRect(a, y, Math.max(b - a, 0.7), high);
  };
  c.font = `12px ${theme.font}`;
  c.textBaseline = "middle";

  // ---- Cycles ----
  const step = tickStep(scale);
  c.textAlign = "center";
  for (let cycle = Math.ceil((first + state.origin) / step) * step; cycle <= first + state.origin + span; cycle += step) {
    const at = x(cycle - state.origin);
    c.fillStyle = theme.rule;
    c.fillRect(at, AXIS - 4, 1, height - AXIS);
    c.fillStyle = theme.muted;
    if (at > left + 20 && at < left + plot - 20) c.fillText(cycle.toLocaleString("en"), at, 9);
  }
  c.textAlign = "left";
  c.fillStyle = theme.muted;
  c.fillText("cycle", 2, 9);
  c.setLineDash([3, 3]);
  c.strokeStyle = theme.muted;
  for (const turn of state.turns) {
    if (turn < first || turn > first + span) continue;
    c.beginPath();
    c.moveTo(x(turn), AXIS);
    c.lineTo(x(turn), height);
    c.stroke();
  }
  c.setLineDash([]);

  // ---- Rows ----
  for (const row of rows) {
    const middle = row.y + row.high / 2;
    c.fillStyle = row.kind === "warp" ? theme.ink : theme.muted;
    c.textAlign = "left";
    c.fillText(row.label, 2, middle, left - 6);
    if (row.kind === "warp") {
      const mine = state.byWarp[row.warp];
      for (const at of within(mine, first, first + span, begins, ends)) {
        const issue = mine[at];
        let from = begins(issue);
        for (let part = 3; part < issue.length; part += 2) {
          bar(from, from + issue[part + 1], row.y + row.high * 0.36, row.high * 0.3, colour(state.reasons[issue[part]][0]));
          from += issue[part + 1];
        }
        bar(issue[0], issue[0] + 1, row.y + 1, row.high - 2, colour(state.code[issue[2]][1]));
      }
    } else if (row.kind === "strip") {
      c.fillStyle = theme.soft;
      c.fillRect(left, row.y + 1, plot, STRIP - 1);
      const [name, , intervals] = state.strips[row.strip];
      const own = name === "tensor core" ? "tensor core" : name === "FP32 units" ? "floating point" : null;
      for (const at of within(intervals, first, first + span, (one) => one[0], (one) => one[1])) {
        const [from, to, warp, slot] = intervals[at], fill = state.colours[own ?? state.code[slot][1]] ?? "#9aa3ad";
        const half = state.warps[warp][0] % 2 ? Math.floor(STRIP / 2) : 0; // a block with an odd number takes the lower half
        bar(from, to, row.y + 1 + half, STRIP - 1 - half, onPage(fill, theme.dark));
      }
      c.textAlign = "right";
      c.fillStyle = theme.ink;
      c.fillText(`${Math.round(100 * busy(intervals, first, span))} %`, width - 4, middle);
    }
  }

  // ---- The chosen instruction ----
  if (chosen && chosen.row) {
    const { row, from, to } = chosen, a = clip(x(from)), b = clip(x(to));
    c.strokeStyle = theme.accent;
    c.lineWidth = 2;
    c.strokeRect(a - 1, row.y, Math.max(b - a, 1) + 2, row.high - (row.kind === "strip" ? 1 : 0));
    c.lineWidth = 1;
  }
}

// Share of the seen cycles in which a unit is busy.
export function busy(intervals, first, span) {
  let sum = 0;
  for (const at of within(intervals, first, first + span, (one) => one[0], (one) => one[1]))
    sum += Math.min(intervals[at][1], first + span) - Math.max(intervals[at][0], first);
  return sum / span;
}

// { label: share of the time of these warps } of what they wait for in the seen cycles, and of the instructions they issue.
export function shares(state, warps, first, span) {
  const waits = {}, issues = {};
  const add = (table, name, from, to) => {
    const cycles = Math.min(to, first + span) - Math.max(from, first);
    if (cycles > 0) table[name] = (table[name] ?? 0) + cycles / (span * warps.length);
  };
  for (const warp of warps)
    for (const at of within(state.byWarp[warp], first, first + span, begins, ends)) {
      const issue = state.byWarp[warp][at];
      let from = begins(issue);
      for (let part = 3; part < issue.length; part += 2) add(waits, state.reasons[issue[part]][0], from, (from += issue[part + 1]));
      add(issues, state.code[issue[2]][1], issue[0], issue[0] + 1);
    }
  return { waits, issues };
}
