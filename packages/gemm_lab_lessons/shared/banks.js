// Computes which lanes are served in which wavefront, like gpu_simulator/hardware/bank_schedule.py and banks.py, so that
// the widgets work without a Python kernel.

export const BANK_BYTES = 4;
const LINE_BYTES = 128;

export function idealWavefronts(lanes, width, banks = 32) {
  return Math.ceil((lanes * width) / (banks * BANK_BYTES));
}

// Returns wavefront[lane * words + word], -1 for an idle lane, and the phase of each wavefront.
export function schedule(kind, addresses, width, active, source = null, banks = 32) {
  const lanes = addresses.length;
  if (kind === "cp.async.cg") return copyMoves(source, addresses, active);
  if (kind === "cp.async.ca") return copyTurns(source, addresses, width, active);
  const words = Math.max(Math.floor(width / BANK_BYTES), 1);
  const each = Math.max(Math.floor((banks * BANK_BYTES) / Math.max(width, BANK_BYTES)), 1);
  const wordOf = (lane, place) => Math.floor(addresses[lane] / BANK_BYTES) + place;
  const wavefront = new Int32Array(lanes * words).fill(-1), phase = [];

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

// Two phases of a load become one if neighbouring lanes (all i and i xor 1, or all i and i xor 2) have the same address.
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

// cp.async.ca: the lane with the most conflicts in a phase and the lanes that conflict with it are served one after the
// other; each other lane is served in the first wavefront without a conflict.
function copyTurns(source, destination, width, active) {
  const words = Math.max(Math.floor(width / BANK_BYTES), 1), banks = LINE_BYTES / width;
  const each = { 4: 32, 8: 16, 16: 8 }[width], wavefront = new Int32Array(active.length * words).fill(-1), phase = [];
  const bank = (address) => Math.floor(address / width) % banks;
  for (let start = 0, number = 0; start < active.length; start += each, number++) {
    const lanes = [], turns = new Map();
    for (let lane = start; lane < Math.min(start + each, active.length); lane++) if (active[lane]) lanes.push(lane);
    const rivals = (a) => lanes.filter(
      (b) => bank(destination[a]) === bank(destination[b]) || bank(source[a]) === bank(source[b]));
    let queue = [];
    for (const lane of lanes) if (rivals(lane).length > queue.length) queue = rivals(lane);
    queue.forEach((lane, turn) => turns.set(lane, turn));
    for (const lane of lanes) {
      if (!turns.has(lane)) {
        const taken = new Set(rivals(lane).map((other) => turns.get(other)));
        let turn = 0;
        while (taken.has(turn)) turn++;
        turns.set(lane, turn);
      }
      wavefront.fill(phase.length + turns.get(lane), lane * words, (lane + 1) * words);
    }
    for (let n = 0; n < queue.length; n++) phase.push(number);
  }
  return { words, wavefront, phase };
}

// cp.async.cg: sectors between the same two lines (source and shared) share a wavefront if one symmetry of a square moves
// all of them to their places; banks.py explains the rule.
function copyMoves(source, destination, active) {
  const moveOf = new Map(), first = new Map(), moves = new Map();
  for (let lane = 0; lane < destination.length; lane++) {
    if (!active[lane]) continue;
    const s = Math.floor(source[lane] / 16), d = Math.floor(destination[lane] / 16);
    if (first.has(d)) {
      moveOf.set(lane, moveOf.get(first.get(d)));
      continue;
    }
    first.set(d, lane);
    const lines = `${Math.floor(s / 8)} ${Math.floor(d / 8)}`, swap = (s ^ d) & 1, start = (s >> 1) & 3, end = (d >> 1) & 3;
    const key = `${lines} ${swap} ${start} ${end}`;
    if (!moves.has(key)) moves.set(key, { lines, swap, start, end, half: 0 });
    moves.get(key).half |= 1 << (s & 1);
    moveOf.set(lane, moves.get(key));
  }
  const groups = new Map(), wavefronts = [];
  for (const move of moves.values()) {
    const able = [(move.end - move.start + 4) % 4, 4 + ((move.end + move.start) % 4)];
    const key = `${move.lines} ${move.swap} ${move.half}`;
    if (!groups.has(key)) groups.set(key, []);
    move.served = groups.get(key).find((other) => other.able.some((symmetry) => able.includes(symmetry)));
    if (move.served) move.served.able = move.served.able.filter((symmetry) => able.includes(symmetry));
    else {
      move.served = { lines: move.lines, able };
      groups.get(key).push(move.served);
      wavefronts.push(move.served);
    }
  }
  const lines = [...new Set(wavefronts.map((one) => one.lines))];
  wavefronts.sort((p, q) => lines.indexOf(p.lines) - lines.indexOf(q.lines));
  const wavefront = new Int32Array(destination.length * 4).fill(-1);
  for (const [lane, move] of moveOf) wavefront.fill(wavefronts.indexOf(move.served), lane * 4, lane * 4 + 4);
  return { words: 4, wavefront, phase: wavefronts.map((one) => lines.indexOf(one.lines)) };
}
