// Computes the places of the swizzle puzzle's chunks and the wavefronts of its accesses, like gemm_lab_lessons/ch05/layout_puzzle/puzzle_layout.py.
import { idealWavefronts, schedule } from "../../shared/banks.js";

export const MOST_PADDING = 8;
const SOURCE_ROW_BYTES = 4096;
const log2 = (n) => 31 - Math.clz32(n);
export const range = (n) => Array.from({ length: n }, (_, i) => i);

// The number of chunks that fill all banks once; each of them occupies one group of neighbouring banks.
export const groupsOf = (goal) => (goal.banks * 4) / goal.chunk_bytes;
export const rowBits = (goal) => log2(goal.rows);
export const chunkBits = (goal) => log2(goal.chunks);
export const plainState = (goal) => ({ hand: range(goal.rows).map(() => range(goal.chunks)), wires: [], padding: 0, shift: 0 });

// The number that the wires XOR with the places of a row.
export const xorOf = (wires, row) => wires.reduce((sum, [from, to]) => sum ^ (((row >> from) & 1) << to), 0);

// Where the wires and the rotation bring what lies at `place` by hand.
export const moved = (goal, state, row, place) => ((place ^ xorOf(state.wires, row)) + state.shift * row) % goal.chunks;

// A layout: places[row][chunk], rows[row][place], and the groups of banks.
export function makeLayout(goal, state) {
  const places = range(goal.rows).map(() => new Array(goal.chunks)), rows = range(goal.rows).map(() => new Array(goal.chunks));
  const rowChunks = goal.chunks + state.padding, groups = groupsOf(goal);
  for (const row of range(goal.rows))
    state.hand[row].forEach((chunk, base) => {
      const place = moved(goal, state, row, base);
      places[row][chunk] = place;
      rows[row][place] = chunk;
    });
  const address = (row, chunk) => (row * rowChunks + places[row][chunk]) * goal.chunk_bytes;
  const groupAt = (row, place) => (row * rowChunks + place) % groups;
  return { places, rows, rowChunks, address, groupAt, groups, bytes: goal.rows * rowChunks * goal.chunk_bytes,
    groupOf: (row, chunk) => groupAt(row, places[row][chunk]) };
}

// The state after the chunks at two places of a row have been exchanged.
export function exchanged(goal, state, row, from, to) {
  const hand = state.hand.map((one) => [...one]), base = range(goal.chunks).map((place) => moved(goal, state, row, place));
  const a = base.indexOf(from), b = base.indexOf(to);
  [hand[row][a], hand[row][b]] = [hand[row][b], hand[row][a]];
  return { ...state, hand };
}

// The accesses of a light, each a list of [row, chunk] that one wavefront could serve.
export function accesses(goal, name) {
  const groups = groupsOf(goal);
  if (name === "column")
    return range(goal.rows / groups).flatMap((part) =>
      range(goal.chunks).map((chunk) => range(groups).map((lane) => [part * groups + lane, chunk])));
  const lanes = range(goal.rows * goal.chunks).map((n) => [Math.floor(n / goal.chunks), n % goal.chunks]);
  return range(lanes.length / groups).map((n) => lanes.slice(n * groups, (n + 1) * groups));
}

// The number of the access that a chunk belongs to.
export function accessOf(goal, name, row, chunk) {
  const groups = groupsOf(goal);
  return name === "column" ? Math.floor(row / groups) * goal.chunks + chunk : Math.floor((row * goal.chunks + chunk) / groups);
}

// The wavefront that serves each lane of an access, and their number.
export function served(goal, layout, name, lanes) {
  const kind = { row: "store", column: goal.chunk_bytes === 16 ? "ldmatrix" : "load", copy: "cp.async.cg" }[name];
  const to = lanes.map(([row, chunk]) => layout.address(row, chunk));
  const from = lanes.map(([row, chunk]) => row * SOURCE_ROW_BYTES + chunk * goal.chunk_bytes);
  const { wavefront, words, phase } = schedule(kind, to, goal.chunk_bytes, lanes.map(() => true), from, goal.banks);
  return { count: phase.length, of: lanes.map((_, lane) => Math.max(...wavefront.slice(lane * words, (lane + 1) * words))) };
}

// All wavefronts of a light, how few are possible, and the number of the slowest access.
export function light(goal, layout, name) {
  const every = accesses(goal, name), counts = every.map((lanes) => served(goal, layout, name, lanes).count);
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const found = sum(counts), ideal = sum(every.map((lanes) => idealWavefronts(lanes.length, goal.chunk_bytes, goal.banks)));
  return { found, ideal, green: found === ideal, worst: counts.indexOf(Math.max(...counts)) };
}
