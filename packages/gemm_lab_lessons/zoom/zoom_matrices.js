// The two outer levels of the zoom: the matrices in DRAM with their sectors, and the grid of block tiles.
import { arrangement } from "./zoom_pen.js";
import { tints } from "./zoom_state.js";

const TOP = 30, SIDE = 14;

function labels(p, rects, state, names) {
  for (const name of names) {
    const rect = rects[name], matrix = state.byName[name];
    if (!rect || !matrix) continue;
    const colour = p.theme.ink, words = `${name}  ${matrix.rows} × ${matrix.cols}`;
    if (name === "B" || name === "C") p.text(words, rect.x + rect.w / 2, rect.y - 12, { align: "center", weight: 600, colour });
    else if (rect.w >= 96) p.text(words, rect.x + rect.w / 2, rect.y + rect.h + 11, { align: "center", weight: 600, colour });
    else p.text(words, name === "A" ? rect.x + rect.w : rect.x, rect.y + rect.h + 11, { align: name === "A" ? "right" : "left", weight: 600, colour });
  }
}

const NAMES = ["A", "B", "C", "D"];
const inside = (W) => Math.min(250, W * 0.34); // width of the words at the right

export function drawDram(p, { state, step, W, H }) {
  const { theme } = p, { scene } = state, panel = inside(W), rects = arrangement(SIDE + 8, TOP + 22, W - panel - 3 * SIDE, H - TOP - 50, scene.size, !!state.byName.C, 16);
  p.box(4, TOP - 8, W - 8, H - TOP + 2, { stroke: theme.rule, radius: 8 });
  p.text("DRAM: the matrices, cut into sectors of 32 bytes", 14, 11, { size: 13, weight: 600 });
  for (const name of NAMES) {
    const rect = rects[name];
    if (!rect || !state.byName[name]) continue;
    const map = state.heat.map(name);
    p.image(state.heat.picture(name, step, theme.dark), rect.x, rect.y, rect.w, rect.h);
    p.grid(rect.x, rect.y, rect.w, rect.h, rect.w / map.wide, rect.h / map.high, { colour: theme.paper, least: 4 });
    p.box(rect.x, rect.y, rect.w, rect.h, { stroke: theme.muted });
  }
  labels(p, rects, state, NAMES);
  let y = TOP + 6;
  const x = W - panel - 4, own = state.step(step);
  for (const name of NAMES) {
    const matrix = state.byName[name];
    if (!matrix) continue;
    const { touched, all } = state.heat.known(name, step);
    p.box(x, y + 1, 12, 12, { fill: tints(name, theme.dark)[touched ? 1 : 0], stroke: theme.rule });
    p.text(`${name}: ${touched.toLocaleString("en")} of ${all.toLocaleString("en")} sectors`, x + 19, y + 8, { most: panel - 30 });
    y += 21;
  }
  y = p.block("Sectors that these steps have used so far; the strong colour is this step.", x, y + 2, panel - 16);
  if (own.outside) {
    // A piece that several lanes name is counted once.
    const bytes = [...new Map(own.pieces).values()].reduce((sum, size) => sum + size, 0), many = own.sectors === 1 ? " is" : "s are";
    y = p.block(`This step: ${own.sectors} sector${many} ${(own.sectors * 32).toLocaleString("en")} bytes, for ${bytes.toLocaleString("en")} different bytes that the lanes ask for.`,
      x, y + 8, panel - 16, { colour: theme.ink });
  } else p.block("This step does not touch global memory.", x, y + 8, panel - 16, { colour: theme.ink });
  const all = [rects.A, rects.B, rects.D].filter(Boolean);
  const left = Math.min(...all.map((r) => r.x)), top = Math.min(...all.map((r) => r.y));
  const right = Math.max(...all.map((r) => r.x + r.w)), low = Math.max(...all.map((r) => r.y + r.h));
  return { anchor: { x: left, y: top, w: right - left, h: low - top }, hits: [] };
}

export function drawBlock(p, { state, step, W, H }) {
  const { theme } = p, { scene } = state, [m, n, k] = scene.size, [bm, bn, bk] = scene.tile, panel = inside(W);
  const rects = arrangement(SIDE, TOP + 14, W - panel - 2 * SIDE, H - TOP - 34, scene.size, false, 14), { unit } = rects;
  const own = state.step(step), [row, column] = scene.tiles[own.tile] ?? scene.tiles[0], now = state.kAt(step);
  p.text("D is computed block by block", 14, 11, { size: 13, weight: 600 });
  for (const name of ["A", "B", "D"]) if (rects[name]) p.box(rects[name].x, rects[name].y, rects[name].w, rects[name].h, { fill: tints(name, theme.dark)[0] });
  const { A, B, D } = rects, high = Math.min(bm, m - row), wide = Math.min(bn, n - column), deep = Math.min(bk, k - now * bk);
  const tile = { x: D.x + column * unit, y: D.y + row * unit, w: wide * unit, h: high * unit };
  // The strips of this block, and the k tile in them.
  p.box(A.x, tile.y, A.w, tile.h, { fill: tints("A", theme.dark)[1] });
  p.box(tile.x, B.y, tile.w, B.h, { fill: tints("B", theme.dark)[1] });
  p.box(A.x + now * bk * unit, tile.y, deep * unit, tile.h, { fill: tints("A", theme.dark)[2] });
  p.box(tile.x, B.y + now * bk * unit, tile.w, deep * unit, { fill: tints("B", theme.dark)[2] });
  p.box(tile.x, tile.y, tile.w, tile.h, { fill: tints("D", theme.dark)[1] });
  if (own.corner && state.scene.mma?.m) {
    const [r, , , q] = own.corner;
    p.box(D.x + q * unit, D.y + r * unit, scene.mma.n * unit, scene.mma.m * unit, { fill: tints("D", theme.dark)[2] });
  }
  p.grid(A.x, A.y, A.w, A.h, bk * unit, bm * unit, { colour: theme.paper, line: 1.5, least: 3 });
  p.grid(B.x, B.y, B.w, B.h, bn * unit, bk * unit, { colour: theme.paper, line: 1.5, least: 3 });
  p.grid(D.x, D.y, D.w, D.h, bn * unit, bm * unit, { colour: theme.paper, line: 1.5, least: 3 });
  for (const rect of [A, B, D]) p.box(rect.x, rect.y, rect.w, rect.h, { stroke: theme.muted });
  p.box(tile.x - 1, tile.y - 1, tile.w + 2, tile.h + 2, { stroke: theme.ink, line: 2.2 });
  if (own.outside) access(p, state, own, rects, unit);
  labels(p, { ...rects, C: null }, state, ["A", "B", "D"]);
  let y = TOP + 6;
  const x = W - panel, count = Math.ceil(k / bk);
  y = p.block(`Block tile: rows ${row} to ${row + high - 1}, columns ${column} to ${column + wide - 1} of D.`, x, y, panel - 10, { colour: theme.ink, weight: 600 });
  y = p.block(`It needs ${high} rows of A and ${wide} columns of B, the coloured strips.`, x, y + 6, panel - 10);
  y = p.block(count > 1 ? `They are read in k tiles of ${bk}. The strong colour is k tile ${now + 1} of ${count}.` : scene.tiled ? `They are one k tile of ${k}.` : "They are not cut into k tiles: the loop over k reads them little by little.", x, y + 6, panel - 10);
  if (scene.tiles.length > 1) y = p.block(`This block computes ${scene.tiles.length} tiles one after the other.`, x, y + 6, panel - 10);
  p.block(`The grid has ${scene.grid.slice(0, scene.grid[2] > 1 ? 3 : 2).join(" × ")} blocks.`, x, y + 6, panel - 10);
  return { anchor: tile, hits: [] };
}

// Outlines the part of a matrix that a step reads or writes.
function access(p, state, own, rects, unit) {
  for (const [address, bytes] of own.pieces.slice(0, 2048)) {
    const matrix = state.matrixAt(address), rect = matrix && rects[matrix.name];
    if (!rect) continue;
    const [r, q] = state.place(matrix, address), count = Math.max(bytes / matrix.size, 1);
    const w = matrix.across ? unit : count * unit, h = matrix.across ? count * unit : unit;
    p.box(rect.x + q * unit, rect.y + r * unit, w, h, { fill: p.theme.dark ? "#fff" : "#15181c", alpha: 0.55 });
  }
}
