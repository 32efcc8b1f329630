// Draws a tile twice: as it is indexed (rows and columns), and as it is stored in shared memory (lines of 32 banks).
import { bankColour, prepare, svg } from "gemm_lab/theme.js";

export const HEADER = 20;
const GUTTER = 41, GAP = 28;
const VIEW = 224; // pixels of the rows that are seen at once; the others are reached by scrolling

// Positions and sizes of the parts of the drawing, for a width in pixels.
export function geometry(tile, width) {
  const panel = (width - GAP - 2 * GUTTER) / 2;
  const most = tile.banks === 4 ? 62 : 16; // the largest width of a word in pixels
  const memoryScale = Math.min(panel / tile.lineBytes, most / 4);
  const lines = Math.ceil(tile.size / tile.lineBytes), longest = Math.max(tile.rows, lines);
  const rowHeight = tile.banks === 4 ? 26 : longest <= 8 ? 20 : 14;
  return {
    rowHeight, lines, tileX: GUTTER, tileScale: Math.min(panel / tile.rowBytes, memoryScale),
    memoryX: GUTTER + panel + GAP + GUTTER, memoryScale, panel, content: longest * rowHeight,
    view: Math.min(longest, Math.max(8, Math.floor(VIEW / rowHeight))) * rowHeight + HEADER,
  };
}

// The place under a point of the canvas: {row, byte} of the tile, or null.
export function placeAt(tile, g, x, y, scroll) {
  const line = Math.floor((y - HEADER + scroll) / g.rowHeight);
  if (y < HEADER || line < 0) return null;
  const left = Math.floor((x - g.tileX) / g.tileScale), right = Math.floor((x - g.memoryX) / g.memoryScale);
  if (left >= 0 && left < tile.rowBytes && line < tile.rows) return { row: line, byte: left, side: "tile" };
  if (right >= 0 && right < tile.lineBytes && line < g.lines) {
    const address = line * tile.lineBytes + right;
    if (address >= tile.size) return null;
    const place = tile.place(address);
    return place.row >= 0 ? { ...place, side: "memory" } : null;
  }
  return null;
}

// The lanes of an access by their addresses, and how many wavefronts of their phase come before theirs.
function marks(access) {
  const found = new Map(), { wavefront, words, phase } = access.schedule;
  const first = phase.map((number) => phase.indexOf(number));
  access.addresses.forEach((address, lane) => {
    if (!access.active[lane]) return;
    let wait = 0;
    for (let word = 0; word < words; word++) {
      const number = wavefront[lane * words + word];
      wait = Math.max(wait, number - first[number]);
    }
    const mark = found.get(address) ?? { lanes: [], wait, row: access.rows[lane], byte: access.bytes[lane], address };
    mark.lanes.push(lane);
    found.set(address, mark);
  });
  return [...found.values()];
}

// Draws both panels, unless the same drawing is already there.
// `glide` ({from: addresses, progress}) animates the lanes from their addresses in another layout.
export function drawTile(canvas, { tile, access, theme, width, scroll, revealed, glide = null }) {
  const key = [tile, access, theme, width, scroll, revealed, glide?.progress];
  if (canvas.key && key.every((value, i) => value === canvas.key[i])) return;
  canvas.key = key;
  drawPanels(canvas, geometry(tile, width), { tile, access, theme, width, scroll, revealed, glide });
}

// Marks the place under the pointer: its banks, a frame in both panels and an arrow between them. This is an element over
// the canvas, so the canvas need not be painted again.
export function tilePointer() {
  const banks = svg("path", { class: "gl-solid" }), frames = svg("path", { class: "gl-frame" });
  const arrow = svg("path", { class: "gl-frame gl-fine" }), head = svg("path", { class: "gl-solid" });
  const below = svg("svg", { y: HEADER - 2, width: "100%", height: "100%" }, frames, arrow, head); // clipped at the header
  const root = svg("svg", { class: "gl-over", "aria-hidden": "true" }, banks, below);

  function show(g, { tile, scroll, focus }) {
    const piece = tile.chunkBytes, tall = g.rowHeight - 1, y = (line) => 2 + line * g.rowHeight - scroll;
    const start = Math.floor(focus.byte / piece) * piece, address = tile.address(focus.row, start);
    const line = Math.floor(address / tile.lineBytes), at = address % tile.lineBytes;
    const box = (x, top, w, h) => `M${x} ${top}h${w}v${h}h${-w}z`;
    const frame = (x, where, w) => box(x - 0.5, y(where) - 0.5, w, tall + 1);
    const y0 = y(focus.row) + tall / 2, y1 = y(line) + tall / 2;
    const x0 = g.tileX + tile.rowBytes * g.tileScale + 4, x1 = g.memoryX - 24, bend = (x1 - x0) / 2;
    banks.setAttribute("d", box(g.memoryX + at * g.memoryScale, HEADER - 6, piece * g.memoryScale - 1, 4));
    frames.setAttribute("d", frame(g.tileX + start * g.tileScale, focus.row, piece * g.tileScale) +
      frame(g.memoryX + at * g.memoryScale, line, piece * g.memoryScale));
    arrow.setAttribute("d", `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - 6 - bend} ${y1} ${x1 - 5} ${y1}`);
    head.setAttribute("d", `M${x1} ${y1}l-7 -4v8z`);
  }
  return { root, show };
}

function drawPanels(canvas, g, { tile, access, theme, width, scroll, revealed, glide }) {
  const c = prepare(canvas, width, g.view);
  const from = Math.floor(scroll / g.rowHeight), to = from + Math.ceil((g.view - HEADER) / g.rowHeight) + 1;
  const y = (line) => HEADER + line * g.rowHeight - scroll;
  const bank = (address) => Math.floor(address / 4) % tile.banks;
  const small = `12px ${theme.font}`, tall = g.rowHeight - 1;
  const middle = (text, x, w, line, font, colour) => {
    c.font = font;
    c.fillStyle = colour;
    c.textAlign = "center";
    c.fillText(text, x + w / 2, y(line) + tall / 2 + 0.5);
  };
  c.textBaseline = "middle";
  c.save();
  c.beginPath();
  c.rect(0, HEADER, width, g.view - HEADER);
  c.clip();

  // ---- The cells: rows of the tile on the left, lines of memory on the right ----
  const piece = tile.chunkBytes, left = piece * g.tileScale, right = piece * g.memoryScale;
  for (let row = from; row < Math.min(to, tile.rows); row++) {
    for (let byte = 0; byte < tile.rowBytes; byte += piece) {
      const x = g.tileX + byte * g.tileScale;
      for (let word = 0; word < piece; word += 4) {
        c.fillStyle = bankColour(bank(tile.address(row, byte + word)), tile.banks, theme.dark, false);
        c.fillRect(x + word * g.tileScale, y(row), 4 * g.tileScale - (word + 4 === piece ? 1 : -0.5), tall);
      }
      if (left > 17) middle(bank(tile.address(row, byte)), x, left - 1, row, small, theme.muted);
    }
    label(row, g.tileX, row);
  }
  for (let line = from; line < Math.min(to, g.lines); line++) {
    for (let at = 0; at < tile.lineBytes; at += piece) {
      const address = line * tile.lineBytes + at, x = g.memoryX + at * g.memoryScale;
      if (address >= tile.size) continue;
      const place = tile.place(address), last = tile.place(address + piece - 1);
      const padding = place.row < 0;
      for (let word = 0; word < piece; word += 4) {
        const owned = tile.place(address + word).row >= 0;
        c.fillStyle = owned ? bankColour(bank(address + word), tile.banks, theme.dark, false) : theme.soft;
        c.fillRect(x + word * g.memoryScale, y(line), 4 * g.memoryScale - (word + 4 === piece ? 1 : -0.5), tall);
      }
      if (padding) hatch(x, right - 1, line);
      else if (right > 26 && last.row === place.row)
        middle(`${place.row}·${place.byte / piece}`, x, right - 1, line, small, theme.muted);
    }
    label(line, g.memoryX, line);
  }

  // ---- The lanes ----
  if (access)
    for (const mark of marks(access)) {
      const waits = revealed && mark.wait > 0;
      const was = glide ? glide.from[mark.lanes[0]] : mark.address, part = glide?.progress ?? 1;
      const between = (place) => place(was) + (place(mark.address) - place(was)) * part;
      const at = between((address) => address % tile.lineBytes), line = between((address) => Math.floor(address / tile.lineBytes));
      cell(g.tileX + mark.byte * g.tileScale, mark.row, access.width * g.tileScale, mark, waits);
      cell(g.memoryX + at * g.memoryScale, line, access.width * g.memoryScale, mark, waits);
    }

  c.restore();
  header();

  function label(text, x, line) {
    c.font = small;
    c.fillStyle = theme.muted;
    c.textAlign = "right";
    c.fillText(text, x - 6, y(line) + tall / 2 + 0.5);
  }

  function hatch(x, w, line) {
    c.save();
    c.beginPath();
    c.rect(x, y(line), w, tall);
    c.clip();
    c.strokeStyle = theme.rule;
    c.lineWidth = 1;
    for (let d = -tall; d < w; d += 5) {
      c.beginPath();
      c.moveTo(x + d, y(line) + tall);
      c.lineTo(x + d + tall, y(line));
      c.stroke();
    }
    c.restore();
  }

  function cell(x, line, w, mark, waits) {
    if (line < from - 1 || line >= to) return;
    const wide = Math.max(w - 1, 3.5);
    c.fillStyle = waits ? theme.conflict : bankColour(bank(mark.address), tile.banks, theme.dark, true);
    c.strokeStyle = waits ? theme.conflict : theme.dark ? theme.paper : theme.ink;
    c.lineWidth = 1.2;
    c.beginPath();
    c.roundRect(x + 0.5, y(line) + 0.5, wide - 1, tall - 1, 2.5);
    c.fill();
    c.stroke();
    const word = mark.lanes.length > 1 ? `×${mark.lanes.length}` : `T${mark.lanes[0]}`;
    const colour = waits ? (theme.dark ? "#16181b" : "#fff") : "#15181c";
    if (wide >= 27) middle(word, x, wide, line, `600 12px ${theme.font}`, colour);
    else if (wide >= 17) middle(word.slice(1), x, wide, line, `600 12px ${theme.font}`, colour);
  }

  function header() {
    c.font = small;
    c.textAlign = "left";
    const every = tile.banks === 4 ? 1 : 4;
    for (let number = 0; number < tile.banks; number++) {
      const x = g.memoryX + number * 4 * g.memoryScale;
      c.fillStyle = bankColour(number, tile.banks, theme.dark, true);
      c.fillRect(x, HEADER - 5, 4 * g.memoryScale, 3);
      c.fillStyle = theme.muted;
      if (number % every === 0) c.fillText(number, x + 1, 7);
    }
    c.textAlign = "right";
    c.fillText("bank", g.memoryX - 6, 7);
    c.textAlign = "left";
    for (let byte = 0; byte < tile.rowBytes; byte += piece)
      if (left > 12) c.fillText(byte / piece, g.tileX + byte * g.tileScale + 1, 7);
    c.textAlign = "right";
    c.fillText(piece === 16 ? "chunk" : "col.", g.tileX - 3, 7);
  }
}
