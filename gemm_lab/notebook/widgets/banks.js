// Which lanes are served in which wavefront: gemm_lab/model/schedule.py and banks.py, so that drawing needs no server.

export const BANK_BYTES = 4;
const PHASE_BYTES = 128;

export function idealWavefronts(lanes, width, banks = 32) {
  return Math.ceil((lanes * width) / (banks * BANK_BYTES));
}

// wavefront[lane * words + word] (-1 where idle), and the phase of each wavefront.
export function schedule(kind, addresses, width, active, source = null, banks = 32) {
  const lanes = addresses.length;
  if (kind === "cp.async.cg") return copyMoves(source, addresses, active);
  const words = Math.max(Math.floor(width / BANK_BYTES), 1);
  const each = Math.max(Math.floor((banks * BANK_BYTES) / Math.max(width, BANK_BYTES)), 1);
  const wordOf = (lane, place) => Math.floor(addresses[lane] / BANK_BYTES) + place;
  const wavefront = new Int32Array(lanes * words).fill(-1), phase = [];
  if (kind === "cp.async.ca") return copyRounds(source, wordOf, active, words, each, wavefront, phase);

  let groups = [];
  for (let start = 0; start < lanes; start += each) groups.push([start, Math.min(start + each, lanes)]);
  if (kind === "load" && width >= 8 && banks === 32) groups = joined(groups, addresses, width, active);
  groups.forEach(([start, stop], number) => {
    const first = phase.length, depth = new Int32Array(banks), where = new Map();
    for (let lane = start; lane < stop; lane++) {
      if (!active[lane]) continue;
      for (let place = 0; place < words; place++) {
        const word = wordOf(lane, place);
        if (!where.has(word)) where.set(word, first + depth[word % banks]++);
        wavefront[lane * words + place] = where.get(word);
      }
    }
    for (let n = Math.max(...depth); n > 0; n--) phase.push(number);
  });
  return { words, wavefront, phase };
}

// Two phases of a load run as one where neighbours (i and i xor 1, or all i and i xor 2) name the same address.
function joined(groups, addresses, width, active) {
  const found = [];
  for (let g = 0; g < groups.length; g += 2) {
    const [start, middle] = groups[g], stop = groups[g + 1][1], lanes = [];
    for (let lane = start; lane < stop; lane++) lanes.push(lane);
    const same = (lane, other) => addresses[lane] === addresses[other] || !active[lane] || !active[other];
    const pairs = [1, 2].some((distance) => lanes.every((lane) => same(lane, lane ^ distance)));
    const both = lanes.some((n) => n < middle && active[n]) && lanes.some((n) => n >= middle && active[n]);
    const words = new Set(), banks = new Set();
    for (const lane of lanes.filter((n) => active[n]))
      for (let place = 0; place < width / BANK_BYTES; place++) words.add(Math.floor(addresses[lane] / BANK_BYTES) + place);
    for (const word of words) banks.add(word % 32);
    if (pairs && both && banks.size === words.size) found.push([start, stop]);
    else found.push(groups[g], groups[g + 1]);
  }
  return found;
}

// cp.async.ca: rounds by the lanes' turns at the destination's banks, then passes over the source's banks.
function copyRounds(source, wordOf, active, words, each, wavefront, phase) {
  for (let start = 0, number = 0; start < active.length; start += each, number++) {
    const turns = new Int32Array(32), rounds = new Map();
    for (let lane = start; lane < Math.min(start + each, active.length); lane++) {
      if (!active[lane]) continue;
      const places = Array.from({ length: words }, (_, place) => wordOf(lane, place) % 32);
      const turn = Math.max(...places.map((bank) => turns[bank]));
      for (const bank of places) turns[bank] = turn + 1;
      if (!rounds.has(turn)) rounds.set(turn, []);
      rounds.get(turn).push(lane);
    }
    for (const lanes of rounds.values()) {
      const first = phase.length, depth = new Int32Array(32);
      for (const lane of lanes)
        for (let place = 0; place < words; place++) {
          const bank = (Math.floor(source[lane] / BANK_BYTES) + place) % 32;
          wavefront[lane * words + place] = first + depth[bank]++;
        }
      for (let n = Math.max(...depth); n > 0; n--) phase.push(number);
    }
  }
  return { words, wavefront, phase };
}

// cp.async.cg: one wavefront for each different move of sectors between a 128-byte source line and a shared line.
function copyMoves(source, destination, active) {
  const groups = new Map(), moveOf = new Map(), seen = new Map();
  for (let lane = 0; lane < destination.length; lane++) {
    if (!active[lane]) continue;
    const s = Math.floor(source[lane] / 16), d = Math.floor(destination[lane] / 16);
    if (seen.has(d)) {
      moveOf.set(lane, moveOf.get(seen.get(d)));
      continue;
    }
    seen.set(d, lane);
    const swap = (s ^ d) & 1, start = (s >> 1) & 3, end = (d >> 1) & 3;
    const xor = start ^ end, rotation = (end - start + 4) & 3;
    const key = `${Math.floor((s * 16) / PHASE_BYTES)} ${Math.floor((d * 16) / PHASE_BYTES)}`;
    if (!groups.has(key)) groups.set(key, []);
    const moves = groups.get(key);
    let move = moves.find((m) => m.swap === swap && (m.xor === xor || m.rotation === rotation));
    if (move) {
      if (move.xor !== xor) move.xor = null;
      if (move.rotation !== rotation) move.rotation = null;
    } else moves.push((move = { swap, xor, rotation }));
    moveOf.set(lane, move);
  }
  const order = [], phase = [];
  [...groups.values()].forEach((moves, number) => moves.forEach((move) => (order.push(move), phase.push(number))));
  const wavefront = new Int32Array(destination.length * 4).fill(-1);
  for (const [lane, move] of moveOf) wavefront.fill(order.indexOf(move), lane * 4, lane * 4 + 4);
  return { words: 4, wavefront, phase };
}
