// Places A, B and C of an mma in the fragment map: B above C, and A to the left of C, as in the product.

export const HIGH = 16; // the height of a row of registers in pixels
const GUTTER = 30, TAG = 26, BLOCK_GAP = 6, BETWEEN = 24, WIDEST = 44;

// Returns x and y of each matrix, the total height, and place(operand, row, column): a cell's [x, y, width, height].
export function arrange(mma, width) {
  const { extent, per, quads } = mma;
  const acrossA = extent.A[1] / per.A, downB = extent.B[0] / per.B;
  const blocks = (cells) => (quads ? 1 : Math.max(cells / 4, 1)); // four cells make a row of an 8 × 8 matrix
  const gap = (cell) => (quads ? 0 : Math.floor(cell / 4) * BLOCK_GAP);
  const columns = Math.max(extent.C[1], extent.B[1]); // B of the four products is wider than C
  const room = width - 2 * (GUTTER + TAG) - (blocks(acrossA) - 1) * BLOCK_GAP - BETWEEN;
  const cell = Math.min(room / (acrossA + columns), WIDEST), side = cell * columns;
  const x = { A: GUTTER + TAG };
  x.B = x.C = x.A + acrossA * cell + (blocks(acrossA) - 1) * BLOCK_GAP + BETWEEN + GUTTER + TAG;
  const y = { B: 52 };
  y.A = y.C = Math.max(y.B + downB * HIGH + (blocks(downB) - 1) * BLOCK_GAP, 150) + 38;
  const wide = { A: cell, B: side / extent.B[1], C: (side / extent.C[1]) * per.C };
  const place = (operand, row, column) => {
    if (operand === "B") return [x.B + column * wide.B, y.B + (row / per.B) * HIGH + gap(row / per.B), wide.B, HIGH];
    const at = column / per[operand], shift = operand === "A" ? gap(at) : 0;
    return [x[operand] + at * wide[operand] + shift, y.A + row * HIGH + Math.floor(row / 8) * BLOCK_GAP, wide[operand], HIGH];
  };
  const height = y.A + extent.A[0] * HIGH + (Math.ceil(extent.A[0] / 8) - 1) * BLOCK_GAP + 6;
  return { x, y, wide, height, place, free: x.C - GUTTER - TAG - 8 };
}
