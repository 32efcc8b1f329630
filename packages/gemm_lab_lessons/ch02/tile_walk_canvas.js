// Draws the matrices of the tile walk: shades for what was read and summed, frames for the tiles that are held.
import { COPY, MULTIPLY, outputAt, WRITE } from "./tile_walk_state.js";

export const LEGEND = [[1, "in shared memory"], [2, "read by a warp"], [3, "in registers"], ["needed", "what it needs"]];
export const COLOURS = ["#0072b2", "#e69f00", "#009e73"];
const SHARED = "#b04a93", LIT = "#f0e442", FONT = "600 14px ";

// A picture with a pixel for each element, as opaque as `amount` says. Drawn enlarged, it costs one call for a matrix.
function shaded(sheets, matrix, rows, cols, amount) {
  const kept = sheets[matrix], same = kept && kept.data.width === cols && kept.data.height === rows;
  const sheet = same ? kept : (sheets[matrix] = { canvas: new OffscreenCanvas(cols, rows), data: new ImageData(cols, rows) });
  const { data } = sheet.data, colour = [1, 3, 5].map((at) => parseInt(COLOURS[matrix].slice(at, at + 2), 16));
  for (let at = 0; at < rows * cols; at++) {
    if (!same) data.set(colour, 4 * at);
    data[4 * at + 3] = 255 * (0.07 + 0.93 * amount(at));
  }
  sheet.canvas.getContext("2d").putImageData(sheet.data, 0, 0);
  return sheet.canvas;
}

export function drawWalk(context, { state, theme, cell, gap, size: [m, n, k], sheets }) {
  const left = k * cell + gap, top = k * cell + gap;
  const corners = [[1, top], [left, 1], [left, top]], shapes = [[m, k], [k, n], [m, n]];
  const most = Math.log2(1 + Math.max(m, n));
  const amount = [
    (at) => (0.9 * Math.log2(1 + state.reads[0][at])) / most,
    (at) => (0.9 * Math.log2(1 + state.reads[1][at])) / most,
    (at) => (0.65 * state.products[at]) / k + 0.2 * state.stored[at],
  ];
  context.imageSmoothingEnabled = false;
  corners.forEach(([x, y], matrix) => {
    const [rows, cols] = shapes[matrix];
    context.drawImage(shaded(sheets, matrix, rows, cols, amount[matrix]), x, y, cols * cell, rows * cell);
    if (cell > 4) {
      for (let i = 1; i <= rows; i++) context.clearRect(x, y + i * cell - 1, cols * cell, 1);
      for (let j = 1; j <= cols; j++) context.clearRect(x + j * cell - 1, y, 1, rows * cell);
    }
    context.strokeStyle = theme.rule;
    context.lineWidth = 1;
    context.strokeRect(x - 0.5, y - 0.5, cols * cell, rows * cell);
  });

  context.font = FONT + theme.font;
  context.fillStyle = theme.ink;
  context.textBaseline = "alphabetic";
  context.fillText("A", 1, top - 5);
  context.textAlign = "right";
  context.fillText("B", left - 7, 14);
  context.textAlign = "left";
  context.fillText("D", left + n * cell + 7, top + 14);

  const frame = (matrix, tile, colour, width, fill) => {
    if (!tile) return;
    const [x, y] = corners[matrix], [rows, cols] = tile;
    const tall = rows.step === 1 ? rows.length : 1, wide = cols.step === 1 ? cols.length : 1;
    for (let i = 0; i < rows.length; i += tall)
      for (let j = 0; j < cols.length; j += wide) {
        const box = [x + (cols.start + j * cols.step) * cell, y + (rows.start + i * rows.step) * cell, wide * cell - 1, tall * cell - 1];
        if (fill) {
          context.fillStyle = fill;
          context.fillRect(...box);
        }
        context.lineWidth = width;
        context.strokeStyle = colour;
        context.strokeRect(...box);
      }
  };
  const pair = (level, colour, width, fill) => {
    const [a, b] = state.held[level];
    frame(0, a, colour, width, fill);
    frame(1, b, colour, width, fill);
    frame(2, outputAt(state, level), colour, width, fill);
  };
  const { kind, rows, cols, k: depth } = state.now, all = { start: 0, length: k, step: 1 };
  if (kind === WRITE) {
    frame(0, [rows, all], theme.ink, 1, LIT + "66");
    frame(1, [all, cols], theme.ink, 1, LIT + "66");
    frame(2, [rows, cols], theme.ink, 1, LIT + "66");
    return;
  }
  pair(1, SHARED, 3);
  pair(2, theme.ink, 2);
  if (kind === MULTIPLY) {
    const one = { start: depth, length: 1, step: 1 };
    frame(0, [rows, one], "#1f2328", 1, LIT);
    frame(1, [one, cols], "#1f2328", 1, LIT);
    frame(2, [rows, cols], "#1f2328", 1, LIT);
  } else if (kind === COPY) pair(3, "#1f2328", 1, LIT);
}
