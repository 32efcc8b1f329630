// Draws the wavefronts of one access: a row for each pass over the banks, with the lanes that it serves.
import { bankColour, prepare } from "gemm_lab/theme.js";

const TOP = 18, PHASE_GAP = 8;

// Many phases are drawn in two columns, with less room for words.
function arrange(phase, width) {
  const phases = phase.length ? phase[phase.length - 1] + 1 : 0, columns = phases > 1 && phase.length > 8 && width > 480 ? 2 : 1;
  const inColumn = (column) => {
    const lines = phase.filter((number) => number % columns === column);
    return { lines: lines.length, groups: new Set(lines).size };
  };
  const most = Math.max(inColumn(0).lines, columns > 1 ? inColumn(1).lines : 0);
  const each = Math.max(15, Math.min(columns > 1 ? 15 : 19, Math.floor(320 / Math.max(most, 1))));
  const groups = Math.max(inColumn(0).groups, columns > 1 ? inColumn(1).groups : 0);
  const short = columns > 1 || width < 520, left = short ? 68 : 100, right = short ? 46 : 100;
  return { columns, each, left, right, short, height: TOP + most * each + Math.max(groups - 1, 0) * PHASE_GAP + 4, phases };
}

// `upto`: draw only wavefronts below it (the stepper shows them one by one); `current`: the wavefront to frame.
// Returns the position of each group of lanes in the drawing.
export function drawWavefronts(canvas, { access, banks, theme, width, upto = Infinity, current = -1 }) {
  const { wavefront, words, phase } = access.schedule, plan = arrange(phase, width), { each, columns, phases } = plan;
  const c = prepare(canvas, width, plan.height), part = width / columns, w = (part - plan.left - plan.right) / banks;
  const first = phase.map((number) => phase.indexOf(number)), tall = each - 2;
  const small = `12px ${theme.font}`, copies = access.kind === "cp.async.cg";
  const spots = [];
  c.textBaseline = "middle";
  const y = new Array(columns).fill(TOP), started = new Set();
  for (let column = 0; column < columns; column++) header(column * part + plan.left);
  phase.forEach((number, at) => {
    const column = number % columns;
    if (!started.has(number) && y[column] > TOP) y[column] += PHASE_GAP;
    started.add(number);
    row(at, number, !copies && at > first[at], at < upto, column * part + plan.left, y[column]);
    y[column] += each;
  });
  return spots;

  function header(left) {
    c.font = small;
    for (let bank = 0; bank < banks; bank++) {
      c.fillStyle = bankColour(bank, banks, theme.dark, true);
      c.fillRect(left + bank * w, TOP - 6, w, 3);
      c.fillStyle = theme.muted;
      c.textAlign = "left";
      if (bank % 4 === 0 || banks === 4) c.fillText(bank, left + bank * w + 1, 6);
    }
    c.textAlign = "right";
    c.fillText("bank", left - 8, 6);
  }

  function row(at, number, again, seen, left, top) {
    c.fillStyle = again && seen ? theme.conflictSoft : theme.soft;
    c.fillRect(left, top, banks * w, tall);
    if (again && seen) hatch(left, top);
    if (tall >= 9 || at === first[at]) {
      const turn = at - first[at], name = copies ? `pair ${number}` : phases > 1 ? `group ${number}` : "first";
      c.textAlign = "right";
      c.font = again ? `600 ${small}` : small;
      c.fillStyle = again ? theme.conflict : theme.muted;
      c.fillText(again ? `waited ${turn}` : turn ? "again" : name, left - 8, top + tall / 2 + 0.5);
    }
    if (!seen) return;
    const bytes = served(at, again, left, top);
    if (tall >= 9) {
      c.textAlign = "left";
      c.font = small;
      c.fillStyle = again ? theme.conflict : theme.muted;
      c.fillText(plan.short ? `${bytes} B` : `${bytes} of ${banks * 4} bytes`, left + banks * w + 8, top + tall / 2 + 0.5);
    }
    if (at === current) {
      c.strokeStyle = theme.ink;
      c.lineWidth = 2;
      c.strokeRect(left - 1, top - 1, banks * w + 2, tall + 2);
    }
  }

  // Draws the runs of words that one group of lanes accesses in this wavefront; returns the number of distinct bytes.
  function served(at, again, left, top) {
    const owners = new Map(); // word address -> lanes
    for (let lane = 0; lane < access.addresses.length; lane++)
      for (let place = 0; place < words; place++)
        if (wavefront[lane * words + place] === at) {
          const word = Math.floor(access.addresses[lane] / 4) + place;
          owners.set(word, [...(owners.get(word) ?? []), lane]);
        }
    const sorted = [...owners.keys()].sort((p, q) => p - q);
    for (let i = 0; i < sorted.length; ) {
      const lanes = owners.get(sorted[i]).join();
      let n = 1;
      while (i + n < sorted.length && sorted[i + n] === sorted[i] + n && owners.get(sorted[i + n]).join() === lanes &&
             (sorted[i] % banks) + n < banks) n++;
      run(left + (sorted[i] % banks) * w, top, n, owners.get(sorted[i]), again);
      i += n;
    }
    return sorted.length * 4;
  }

  function run(x, top, count, lanes, again) {
    const wide = count * w - 1, bank = Math.floor(access.addresses[lanes[0]] / 4) % banks;
    c.fillStyle = again ? theme.conflict : bankColour(bank, banks, theme.dark, true);
    c.beginPath();
    c.roundRect(x, top, wide, tall, Math.min(3, tall / 3));
    c.fill();
    spots.push({ x, y: top, wide, tall, lanes });
    if (tall < 10) return;
    c.font = `600 12px ${theme.font}`;
    c.fillStyle = again ? (theme.dark ? "#16181b" : "#fff") : "#15181c";
    c.textAlign = "center";
    const text = lanes.length > 1 ? `×${lanes.length}` : wide > 26 ? `T${lanes[0]}` : `${lanes[0]}`;
    if (wide >= 16) c.fillText(text, x + wide / 2, top + tall / 2 + 0.5);
  }

  function hatch(left, top) {
    c.save();
    c.beginPath();
    c.rect(left, top, banks * w, tall);
    c.clip();
    c.strokeStyle = theme.conflict;
    c.globalAlpha = 0.22;
    c.lineWidth = 1;
    for (let d = -tall; d < banks * w; d += 7) {
      c.beginPath();
      c.moveTo(left + d, top + tall);
      c.lineTo(left + d + tall, top);
      c.stroke();
    }
    c.restore();
  }
}
