// The two inner levels of the zoom: the banks with the wavefronts of one access, and the bits of one address.
import { schedule } from "../shared/banks.js";
import { bankColour } from "gemm_lab/theme.js";
import { tints } from "./zoom_state.js";

const TOP = 30, BANKS = Array.from({ length: 32 }, (_, bank) => bank);

function scheduled(own) {
  own.schedule ??= schedule(own.kind, own.shared, Math.max(own.width, 1), own.shared.map((a) => a >= 0), own.source ?? own.shared);
  return own.schedule;
}

export function drawBank(p, { state, step, W, H, lane }) {
  const { theme } = p, own = state.nearest(step, (other) => other.shared), hits = [];
  if (!own) return { empty: state.scene.why.bank, anchor: { x: W / 2 - 20, y: H / 2 - 10, w: 40, h: 20 }, hits };
  const { wavefront, words, phase } = scheduled(own), count = phase.length, left = 96, right = 14, each = (W - left - right) / 32;
  const say = own.number === step ? "" : `, step ${own.number + 1}`;
  p.text(`${own.opcode}${say}: ${own.waves} wavefront${own.waves === 1 ? "" : "s"}`, 14, 11, { size: 13, weight: 600, most: W - 28 });
  const more = own.waves > own.ideal ? `${own.ideal} would be enough: words of one bank wait for each other (orange).` : "No bank has two different words in one wavefront.";
  p.text(count === own.waves ? more : `${more} The counted ${own.waves} differ from the ${count} drawn here.`, 14, 29, { colour: theme.muted, most: W - 28 });
  const top = TOP + 36, tall = Math.min(20, (H - top - 40) / Math.max(count, 1)), first = phase.map((number) => phase.indexOf(number));
  const vivid = BANKS.map((bank) => bankColour(bank, 32, theme.dark, true)), pale = BANKS.map((bank) => bankColour(bank, 32, theme.dark, false));
  p.row(vivid, left, top - 6, 32 * each, 3);
  for (const bank of BANKS) {
    if (bank % 4 === 0) p.text(bank, left + bank * each + each / 2, top - 15, { align: "center", colour: theme.muted });
  }
  p.text("bank", left - 8, top - 15, { align: "right", colour: theme.muted });
  const late = (at) => own.kind !== "cp.async.cg" && at > first[at], every = Math.ceil(14 / tall);
  phase.forEach((_, at) => {
    p.box(left, top + at * tall, 32 * each, tall - 1, { fill: late(at) ? theme.conflictSoft : theme.soft });
    if (at % every === 0) p.text(`wavefront ${at + 1}`, left - 8, top + at * tall + tall / 2, { align: "right", colour: late(at) ? theme.conflict : theme.muted });
  });
  let anchor = null, together = 1;
  const numbered = tall >= 14 && each >= 15;
  const drawn = new Map(); // place of a word -> its lanes
  own.shared.forEach((address, who) => {
    if (address < 0) return;
    for (let place = 0; place < words; place++) {
      const at = wavefront[who * words + place];
      if (at < 0) continue;
      const key = at * 65536 + Math.floor(address / 4) + place;
      drawn.set(key, [...(drawn.get(key) ?? []), who]);
    }
  });
  for (const [key, lanes] of drawn) {
    const at = Math.floor(key / 65536), word = key % 65536, x = left + (word % 32) * each, y = top + at * tall, mine = lanes.includes(lane);
    p.box(x + 0.5, y + 0.5, each - 1, tall - 2, { fill: late(at) ? theme.conflict : vivid[word % 32], stroke: mine ? theme.ink : null, line: 2 });
    if (numbered && lanes.length === 1) p.text(lanes[0], x + each / 2, y + tall / 2,
      { align: "center", weight: mine ? 700 : 400, colour: late(at) && !theme.dark ? "#fff" : "#15181c" });
    if (mine) together = Math.max(together, lanes.length);
    hits.push({ x, y, w: each, h: tall, lane: lanes.includes(lane) ? lane : lanes[0] });
    if (mine && (!anchor || Math.floor(own.shared[lane] / 4) === word)) anchor = { x, y, w: each, h: tall };
  }
  const y = top + count * tall + 14, address = own.shared[lane];
  p.text(address >= 0 ? `${together > 1 ? `${together} lanes name the same word, which takes one turn. ` : numbered ? "The number is the lane that a word belongs to. " : ""}Lane ${lane}, framed: byte ${address.toLocaleString("en")}, bank ${Math.floor(address / 4) % 32}, line ${Math.floor(address / 128)}.`
    : `Lane ${lane} takes no part in this access; choose another one.`, 14, y, { colour: theme.ink, most: W - 28 });
  memory(y + 26);
  return { anchor: anchor ?? { x: left, y: top, w: each, h: tall }, hits };

  // The same words where they lie: in lines of 128 bytes.
  function memory(from) {
    const lines = [...new Set(own.words.flatMap(([a, bytes]) => [Math.floor(a / 128), Math.floor((a + bytes - 1) / 128)]))].sort((a, b) => a - b);
    const row = Math.min(18, (H - from - 6) / lines.length), label = Math.ceil(14 / row);
    if (row < 4) return;
    const turns = new Map();
    for (const key of drawn.keys()) turns.set(key % 65536, late(Math.floor(key / 65536)));
    lines.forEach((line, at) => {
      const asked = BANKS.map((bank) => turns.get(line * 32 + bank));
      p.row(asked.map((again, bank) => (again ? theme.conflict : again === false ? vivid[bank] : pale[bank])), left, from + at * row, 32 * each, row - 1);
      if (at % label === 0) p.text(`line ${line}`, left - 8, from + at * row + row / 2, { align: "right", colour: theme.muted });
    });
    for (const bank of BANKS.slice(1)) p.box(left + bank * each - 0.5, from, 1, lines.length * row, { fill: theme.paper });
  }
}

export function drawBits(p, { state, step, W, H, lane }) {
  const { theme } = p, { scene } = state, own = state.nearest(step, (other) => other.shared), hits = [];
  if (!own) return { empty: scene.why.bits, anchor: null, hits };
  const someone = own.shared[lane] >= 0 ? lane : own.shared.findIndex((a) => a >= 0), address = own.shared[someone];
  const source = own.source?.[someone] ?? -1, matrix = source >= 0 ? state.matrixAt(source) : null;
  const layout = matrix ? scene.shared.layouts[matrix.name] : null, xor = layout?.xor ?? [];
  const count = Math.max(10, (scene.shared.bytes - 1).toString(2).length), left = 104, each = Math.min(44, (W - left - 16) / count);
  const x = (bit) => left + (count - 1 - bit) * each, at = (value, bit) => Math.floor(value / 2 ** bit) % 2;
  const undone = xor.reduce((value, [from, to]) => (at(address - layout.base, from) ? value ^ (1 << to) : value), layout ? address - layout.base : 0);
  const plain = undone + (layout?.base ?? 0), element = matrix ? state.place(matrix, source) : null;
  p.text(`Lane ${someone} of step ${own.number + 1}: address ${address.toLocaleString("en")} in shared memory`, 14, 11, { size: 13, weight: 600, most: W - 28 });
  const holds = element ? `It holds ${matrix.name}[${element.join(", ")}]${own.width > matrix.size ? " and the elements after it" : ""}.` : "Which element lies here is not recorded.";
  p.text(holds, 14, 31, { colour: theme.muted });
  const top = TOP + 42, high = 28, gap = 20, changed = [...new Set(xor.map(([, to]) => to))].sort((a, b) => a - b);
  const low = xor.length ? top + high + 16 + changed.length * gap : top;
  for (let bit = 0; bit < count; bit++) p.text(bit, x(bit) + each / 2, top - 12, { align: "center", colour: theme.muted });
  p.text("bit", left - 10, top - 12, { align: "right", colour: theme.muted });
  if (xor.length) {
    const from = new Set(xor.map(([source]) => source));
    bits(plain, top, (bit) => (from.has(bit) ? tints("A", theme.dark)[1] : changed.includes(bit) ? theme.soft : theme.paper), () => false);
    p.text("without XOR", left - 10, top + high / 2, { align: "right" });
    xor.forEach(([source, to]) => arrow(source, to, top + high + 14 + changed.indexOf(to) * gap));
    p.text("XOR", left - 10, (top + high + low) / 2, { align: "right", weight: 600 });
  }
  bits(address, low, (bit) => (bit >= 2 && bit < 7 ? bankColour(Math.floor(address / 4) % 32, 32, theme.dark, true) : theme.paper),
    (bit) => xor.length && at(plain, bit) !== at(address, bit));
  p.text("address", left - 10, low + high / 2, { align: "right" });
  brace(count - 1, 7, `line ${Math.floor(address / 128)}`);
  brace(6, 2, `bank ${Math.floor(address / 4) % 32}`, true);
  brace(1, 0, `byte ${address % 4}`);
  const y = low + high + 42;
  p.block(words(), 14, y, W - 28, { colour: theme.ink });
  return { anchor: null, hits };

  function words() {
    if (!layout) return "The recorded addresses of this tile follow none of the rules that the zoom looks for: rows of equal length, padded rows, and an XOR of bits of the row.";
    const row = Math.floor(undone / layout.stride), byte = undone % layout.stride;
    const base = layout.base ? ` + ${layout.base.toLocaleString("en")}` : "";
    const sum = `${layout.stride} × row ${row} + byte ${byte}${base} = ${plain.toLocaleString("en")}`;
    if (!xor.length) return `All recorded addresses of this tile follow one rule: ${sum}. There is no XOR.`;
    return `All recorded addresses of this tile follow one rule. First ${sum}; then ${xor.length} bits of the row change ${changed.length} bits of the chunk by XOR, which gives ${address.toLocaleString("en")}. Rows that began in the same bank now begin in different ones.`;
  }

  function bits(value, y, fill, strong) {
    for (let bit = 0; bit < count; bit++) {
      const colour = fill(bit), vivid = colour !== theme.paper && colour !== theme.soft;
      p.box(x(bit) + 1, y, each - 2, high, { fill: colour, stroke: strong(bit) ? theme.ink : theme.rule, line: strong(bit) ? 2 : 1, radius: 3 });
      p.text(at(value, bit), x(bit) + each / 2, y + high / 2 + 0.5, { align: "center", size: 13, mono: true, weight: strong(bit) ? 700 : 400,
        colour: vivid && !(theme.dark && colour === tints("A", true)[1]) ? "#15181c" : theme.ink });
    }
  }

  function arrow(from, to, y) {
    const { c } = p, fx = x(from) + each / 2, px = x(to) + each / 2, on = at(plain, from), r = 7;
    c.save();
    c.strokeStyle = on ? theme.accent : theme.rule;
    c.lineWidth = on ? 2.2 : 1.4;
    c.beginPath();
    c.moveTo(fx, top + high);
    c.lineTo(fx, y);
    c.lineTo(px - r, y);
    c.moveTo(px, top + high);
    c.lineTo(px, low);
    c.stroke();
    c.beginPath();
    c.arc(px, y, r, 0, 7);
    c.fillStyle = theme.paper;
    c.fill();
    c.stroke();
    c.beginPath();
    c.moveTo(px - r, y);
    c.lineTo(px + r, y);
    c.moveTo(px, y - r);
    c.lineTo(px, y + r);
    c.stroke();
    c.restore();
  }

  function brace(from, to, said, strong) {
    const { c } = p, y = low + high + 5, begin = x(from) + 3, end = x(to) + each - 3;
    c.save();
    c.strokeStyle = strong ? theme.ink : theme.rule;
    c.lineWidth = strong ? 1.6 : 1.2;
    c.beginPath();
    c.moveTo(begin, y);
    c.lineTo(begin, y + 4);
    c.lineTo(end, y + 4);
    c.lineTo(end, y);
    c.stroke();
    c.restore();
    p.text(said, (begin + end) / 2, y + 16, { align: "center", weight: strong ? 700 : 400, colour: strong ? theme.ink : theme.muted });
  }
}
