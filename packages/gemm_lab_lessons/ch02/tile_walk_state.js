// What the tile walk shows behind a step: which tiles are held where, what was read how often, what is done.
// Kinds: 0 copy, 1 multiply, 2 write. Matrices: 0 A, 1 B, 2 D. Levels: 0 DRAM, 1 shared memory, 2 a warp, 3 registers.
export const COPY = 0;
export const MULTIPLY = 1;
export const WRITE = 2;
const NAMES = ["A", "B", "D"];

const range = (start, stop, step) => ({ start, stop, step, length: Math.max(0, Math.ceil((stop - start) / step)) });
const same = (a, b) => a.start === b.start && a.length === b.length && a.step === b.step;

export function empty([m, n, k]) {
  return {
    size: [m, n, k], held: [null, [null, null], [null, null], [null, null]], counters: [0, 0, 0, 0], line: 0, now: null,
    reads: [new Int32Array(m * k), new Int32Array(k * n)], most: [0, 0], products: new Int32Array(m * n), stored: new Uint8Array(m * n),
  };
}

export function each(rows, cols, visit) {
  for (let i = 0; i < rows.length; i++)
    for (let j = 0; j < cols.length; j++) visit(rows.start + i * rows.step, cols.start + j * cols.step);
}

// Carries out one step, in the form in which tile_walker.py sends it.
export function advance(state, raw) {
  const [line, kind, matrix, level, r0, r1, rs, c0, c1, cs, k] = raw, [, n, depth] = state.size;
  const rows = range(r0, r1, rs), cols = range(c0, c1, cs), widths = [depth, n];
  state.line = line;
  state.now = { kind, matrix, level, rows, cols, k };
  state.counters = raw.slice(11, 15);
  const read = (which, i, j) => (state.most[which] = Math.max(state.most[which], ++state.reads[which][i * widths[which] + j]));
  for (let at = 15; at < raw.length; at += 4)
    if (raw[at + 1] === 0) read(raw[at], raw[at + 2], raw[at + 3]);
  if (kind === COPY) {
    for (let deeper = level + 2; deeper < 4; deeper++) state.held[deeper] = [null, null];
    const pair = state.held[level + 1];
    pair[matrix] = [rows, cols];
    if (pair[0] && pair[1] && !same(pair[0][1], pair[1][0])) pair[1 - matrix] = null;
    if (level === 0) each(rows, cols, (i, j) => read(matrix, i, j));
  } else if (kind === MULTIPLY) each(rows, cols, (i, j) => state.products[i * n + j]++);
  else each(rows, cols, (i, j) => (state.stored[i * n + j] = 1));
}

// The tile of D that belongs to the tiles of A and B at a level; null if one of them is missing.
export function outputAt(state, level) {
  const [a, b] = state.held[level] ?? [];
  return a && b ? [a[0], b[1]] : null;
}

function span({ start, length, step }) {
  return `${start}:${start + (length - 1) * step + 1}${step !== 1 ? `:${step}` : ""}`;
}

// One sentence about a step, without a full stop.
export function says({ kind, matrix, level, rows, cols, k }) {
  const size = rows.length * cols.length, place = `${NAMES[matrix]}[${span(rows)}, ${span(cols)}]`;
  const one = `[${rows.start}, ${cols.start}]`, elements = size === 1 ? "1 element" : `${size.toLocaleString("en")} elements`;
  if (kind === COPY) {
    if (level === 0) return `${place} is copied from DRAM into shared memory: ${elements}`;
    if (level === 1) return `a warp reads ${place} out of shared memory: ${elements}`;
    return `a thread loads ${place} into its registers: ${elements}`;
  }
  if (kind === MULTIPLY)
    return size === 1
      ? `D${one} grows by A[${rows.start}, ${k}] · B[${k}, ${cols.start}]`
      : `${place} grows by column ${k} of A times row ${k} of B: ${size} multiply-adds`;
  return size === 1 ? `D${one} is stored in DRAM` : `${place} is stored in DRAM: ${elements}`;
}
