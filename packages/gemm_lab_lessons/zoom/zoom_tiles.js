// The two middle levels of the zoom: the warp tiles with shared memory, and the fragments of one mma.
import { makeMma } from "../shared/mma.js";
import { bankColour, oklch } from "gemm_lab/theme.js";
import { arrangement } from "./zoom_pen.js";
import { tints } from "./zoom_state.js";

const TOP = 30;
const warpColour = (warp, count, dark) => oklch(dark ? 0.42 : 0.86, 0.07, 165 + (300 * (warp % Math.max(count, 8))) / Math.max(count, 8));

export function drawWarp(p, { state, step, W, H, warps, warp }) {
  const { theme } = p, { scene } = state, [bm, bn, bk] = scene.tile, own = state.step(step);
  const origin = scene.tiles[own.tile] ?? scene.tiles[0], k0 = state.kAt(step) * bk;
  const memory = Math.min(230, W * 0.32), rects = arrangement(12, TOP + 16, W - memory - 44, H - TOP - 52, [bm, bn, Math.min(bk, scene.size[2])], false, 14);
  const { A, B, D, unit } = rects, at = { A: [origin[0], k0], B: [k0, origin[1]], D: origin };
  p.text("Inside the block: warps, and the tiles in shared memory", 14, 11, { size: 13, weight: 600 });
  for (const name of ["A", "B"]) p.box(rects[name].x, rects[name].y, rects[name].w, rects[name].h, { fill: tints(name, theme.dark)[0] });
  const hits = owners();
  lit();
  for (const box of hits)
    if (box.w > 22 && box.h > 14) p.text(box.w > 58 ? `warp ${box.warp}` : box.warp, box.x + 5, box.y + box.h - 10, { weight: box.warp === own.warp ? 700 : 400 });
  for (const name of ["A", "B", "D"]) p.box(rects[name].x, rects[name].y, rects[name].w, rects[name].h, { stroke: theme.muted });
  p.text(`A tile ${bm} × ${bk}`, A.w < 96 ? A.x + A.w : A.x + A.w / 2, A.y + A.h + 11, { align: A.w < 96 ? "right" : "center", weight: 600 });
  p.text(`B tile ${bk} × ${bn}`, B.x + B.w / 2, B.y - 9, { align: "center", weight: 600 });
  p.text(`D tile ${bm} × ${bn}`, D.w < 96 ? D.x : D.x + D.w / 2, D.y + D.h + 11, { align: D.w < 96 ? "left" : "center", weight: 600 });
  shared(W - memory - 6, TOP, memory - 6, H - TOP - 8);
  return { anchor: target(), hits };

  // Who multiplies, or writes, which part of D: rectangles of cells of the same warp.
  function owners() {
    const owner = scene.owners[own.tile] ?? Object.values(scene.owners)[0], found = [];
    if (!owner) return found;
    const { cells } = owner, rows = cells.length, columns = cells[0].length, w = D.w / columns, h = D.h / rows, done = cells.map(() => new Uint8Array(columns));
    p.text(owner.how === "multiplies" ? "colours: which warp multiplies" : "colours: which warp writes it", D.x + D.w, D.y + D.h + 26, { align: "right", colour: theme.muted });
    for (let r = 0; r < rows; r++)
      for (let q = 0; q < columns; q++) {
        if (done[r][q]) continue;
        const who = cells[r][q], same = (y, x) => cells[y][x] === who && !done[y][x];
        let right = q + 1, low = r + 1;
        while (right < columns && same(r, right)) right++;
        while (low < rows && Array.from({ length: right - q }, (_, n) => same(low, q + n)).every(Boolean)) low++;
        for (let y = r; y < low; y++) done[y].fill(1, q, right);
        const box = { x: D.x + q * w, y: D.y + r * h, w: (right - q) * w, h: (low - r) * h };
        p.box(box.x, box.y, box.w + 0.3, box.h + 0.3, { fill: who < 0 ? tints("D", theme.dark)[0] : warpColour(who, warps, theme.dark) });
        if (who >= 0) found.push({ ...box, warp: who });
      }
    for (const box of found) if (box.warp === own.warp && box.h > 5) p.box(box.x, box.y, box.w, box.h, { stroke: theme.ink, line: 2.2 });
    return found;
  }

  // The elements of A and B that this step concerns, and the part of D of an mma.
  function lit() {
    const clip = (name, r, q, h, w) => {
      const rect = rects[name], y = Math.max(rect.y, rect.y + r * unit), x = Math.max(rect.x, rect.x + q * unit);
      const low = Math.min(rect.y + rect.h, rect.y + (r + h) * unit), right = Math.min(rect.x + rect.w, rect.x + (q + w) * unit);
      if (right > x && low > y) p.box(x, y, right - x, low - y, { fill: tints(name, theme.dark)[2] });
    };
    if (own.corner && scene.mma?.m) {
      const [ra, ka, , cb] = own.corner, { m, n, k } = scene.mma;
      clip("A", ra - origin[0], ka - k0, m, k);
      clip("B", ka - k0, cb - origin[1], k, n);
      clip("D", ra - origin[0], cb - origin[1], m, n);
      return;
    }
    for (const [address, bytes] of own.pieces.slice(0, 4096)) {
      const matrix = state.matrixAt(address);
      if (!matrix || !at[matrix.name]) continue;
      const [r, q] = state.place(matrix, address), count = Math.max(bytes / matrix.size, 1);
      const [h, w] = matrix.across ? [count, 1] : [1, count];
      clip(matrix.name, r - at[matrix.name][0], q - at[matrix.name][1], h, w);
    }
  }

  // Shared memory as lines of 128 bytes: a column for each bank.
  function shared(x, y, w, h) {
    const lines = scene.shared.held.length;
    p.text("shared memory", x, y + 2, { weight: 600 });
    if (!lines) return void p.block("This kernel uses no shared memory.", x, y + 14, w);
    p.text(`${scene.shared.bytes.toLocaleString("en")} bytes in ${lines.toLocaleString("en")} lines`, x, y + 18, { colour: theme.muted, most: w });
    const top = y + 32, tall = Math.min(h - 62, lines * 12) / lines, each = w / 32;
    scene.shared.held.forEach((held, line) => {
      p.c.fillStyle = held ? tints("ABCD"[held - 1], theme.dark)[0] : theme.soft;
      p.c.fillRect(x, top + line * tall, w, tall + 0.3);
    });
    p.c.fillStyle = theme.dark ? "#fff" : "#15181c";
    for (const [address, bytes] of own.words)
      for (let a = address; a < address + bytes; a += 4) {
        const line = Math.floor(a / 128);
        p.c.fillRect(x + (Math.floor(a / 4) % 32) * each, top + line * tall, each, Math.max(tall, 1.4));
      }
    p.box(x, top, w, lines * tall, { stroke: theme.muted });
    p.text("bank 0", x, top + lines * tall + 10, { colour: theme.muted });
    p.text("bank 31", x + w, top + lines * tall + 10, { colour: theme.muted, align: "right" });
    p.text(own.words.length ? "dark: the words of this step" : "this step uses no word of it", x, top + lines * tall + 25, { colour: theme.muted, most: w });
  }

  function target() {
    const tile = own.corner && scene.mma?.m ? own : state.nearest(step, (other) => other.corner && other.tile === own.tile);
    if (tile && scene.mma?.m) {
      const [r, , , q] = tile.corner;
      const box = { x: D.x + (q - origin[1]) * unit, y: D.y + (r - origin[0]) * unit, w: scene.mma.n * unit, h: scene.mma.m * unit };
      if (box.x >= D.x - 1 && box.y >= D.y - 1 && box.x + box.w <= D.x + D.w + 1) return box;
    }
    return hits.find((box) => box.warp === own.warp) ?? D;
  }
}

// ---- The fragments ----

export function drawFragment(p, { state, step, W, H, lane }) {
  const { theme } = p, { scene } = state, { mma } = scene;
  p.text(mma ? mma.opcode : "mma fragment", 14, 11, { size: 13, weight: 600, most: W - 28 });
  const low = { x: 14, y: H - 42, w: W - 28, h: 38 };
  const preview = () => strip(p, state, step, low);
  if (scene.why.fragment || !mma) return { empty: scene.why.fragment, anchor: preview(), hits: [] };
  const group = mma.kind === "wgmma", form = group || !mma.shape ? makeMma("m16n8k16", "bf16", "f32") : makeMma(mma.shape, mma.dtype, mma.accumulator);
  const shown = group || !mma.shape ? ["C"] : ["A", "B", "C"], event = state.nearest(step, (own) => own.what === "mma");
  const corner = event?.corner, hits = [];
  const cells = { A: form.extent.A[1] / form.per.A, B: form.extent.B[1], C: form.extent.C[1] / form.per.C };
  const rows = { A: form.extent.A[0], B: form.extent.B[0] / form.per.B, C: form.extent.C[0] };
  const facts = Math.min(236, W * 0.32), total = shown.reduce((sum, name) => sum + cells[name], 0), gaps = 34;
  const wide = Math.min(34, (W - facts - 30 - gaps * shown.length) / total), tall = Math.min(19, (low.y - TOP - 40) / Math.max(...shown.map((name) => rows[name])));
  let x = 14 + gaps;
  for (const name of shown) {
    matrix(name, x, TOP + 22);
    x += cells[name] * wide + gaps;
  }
  holding(W - facts, TOP + 2, facts - 8);
  return { anchor: preview(), hits };

  function matrix(name, left, top) {
    const title = { A: "A", B: "B", C: "D" }[name], first = offset(name);
    p.text(title, left + (cells[name] * wide) / 2, top - 10, { align: "center", size: 13, weight: 700, colour: tints(title, theme.dark)[2] });
    for (let who = 0; who < 32; who++)
      for (let register = 0; register < form.registers[name]; register++) {
        const [r, q] = form.at(name, who, register, 0), cy = name === "B" ? r / form.per.B : r, cx = name === "B" ? q : q / form.per[name];
        const box = { x: left + cx * wide, y: top + cy * tall, w: wide, h: tall }, mine = who === lane;
        p.box(box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1, { fill: mine ? tints(title, theme.dark)[2] : oklch(theme.dark ? 0.34 : 0.93, 0.045, 100 + (360 * (who >> 2)) / 8) });
        if (tall >= 12 && wide >= 16) p.text(wide >= 24 ? `T${who}` : who, box.x + box.w / 2, box.y + box.h / 2 + 0.5,
          { align: "center", weight: mine ? 700 : 400, colour: mine ? (theme.dark ? "#15181c" : "#fff") : theme.ink });
        hits.push({ ...box, lane: who });
      }
    const y = top + rows[name] * tall;
    p.box(left, top, cells[name] * wide, rows[name] * tall, { stroke: theme.muted });
    if (first) {
      p.text(first[0], left - 5, top + tall / 2, { align: "right", colour: theme.muted });
      p.text(first[0] + form.extent[name][0] - 1, left - 5, y - tall / 2, { align: "right", colour: theme.muted });
      p.text(`columns ${first[1]} to ${first[1] + form.extent[name][1] - 1}`, left + (cells[name] * wide) / 2, y + 11, { align: "center", colour: theme.muted, most: cells[name] * wide + gaps });
    }
  }

  // The first row and column of a fragment in its matrix.
  function offset(name) {
    if (!corner) return null;
    return { A: [corner[0], corner[1]], B: [corner[2], corner[3]], C: [corner[0], corner[3]] }[name];
  }

  function holding(left, y, room) {
    y = p.block(`Lane ${lane} of the warp holds`, left, y, room, { colour: theme.ink, weight: 600, size: 13 });
    for (const name of shown) {
      const first = offset(name) ?? [0, 0], title = name === "C" ? "D" : name, parts = [];
      for (let register = 0; register < form.registers[name]; register++) {
        const [r, q] = form.at(name, lane, register, 0), each = form.per[name];
        const range = (from) => (each > 1 ? `${from}…${from + each - 1}` : from);
        parts.push(name === "B" ? `[${range(r + first[0])}, ${q + first[1]}]` : `[${r + first[0]}, ${range(q + first[1])}]`);
      }
      y = p.block(`${title}${parts.join(" ")}`, left, y + 3, room, { colour: theme.ink });
    }
    if (!corner) y = p.block("Rows and columns are counted within the fragment.", left, y + 3, room);
    if (group) y = p.block(`wgmma reads A and B from shared memory. Each warp of the four holds 16 rows of D in this pattern, which repeats every 8 columns.`, left, y + 6, room);
    else if (!mma.shape) y = p.block("The layout of this product is not one that the lab knows; this is the usual one of D.", left, y + 6, room);
    if (event && event.number !== step) p.block(`The ${event.number < step ? "last" : "next"} mma is step ${event.number + 1}.`, left, y + 6, room);
  }
}

// A preview of the banks: the words that the nearest access to shared memory uses.
function strip(p, state, step, { x, y, w, h }) {
  const { theme } = p, access = state.nearest(step, (own) => own.shared);
  p.text(access ? `32 banks of shared memory: the words of step ${access.number + 1}` : "32 banks of shared memory", x, y + 9, { colour: theme.muted, most: w });
  const each = w / 32, used = new Map();
  for (const [address, bytes] of access?.words ?? [])
    for (let a = address; a < address + bytes; a += 4) used.set(Math.floor(a / 4) % 32, (used.get(Math.floor(a / 4) % 32) ?? 0) + 1);
  for (let bank = 0; bank < 32; bank++)
    p.box(x + bank * each + 0.5, y + 19, each - 1, h - 22, { fill: bankColour(bank, 32, theme.dark, used.has(bank)), radius: 2 });
  return { x, y: y + 18, w, h: h - 20 };
}
