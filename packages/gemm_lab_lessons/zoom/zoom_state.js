// The recorded steps of the zoom, decoded: addresses of lanes, sectors of the matrices, and what is known so far.

export const LEVELS = ["dram", "block", "warp", "fragment", "bank", "bits"];
export const TITLES = { dram: "DRAM", block: "blocks", warp: "warps", fragment: "fragment", bank: "banks", bits: "bits" };

// Colours of the matrices in three strengths: at rest, read before, in this step.
const LIGHT = { A: ["#dfebf5", "#9cc4e0", "#0072b2"], B: ["#faeed6", "#efc97c", "#d98f00"], D: ["#dcf1ea", "#86ccb4", "#008f68"] };
const DARK = { A: ["#182b3d", "#2b5c85", "#56b4e9"], B: ["#352a14", "#7d5d1e", "#f0b040"], D: ["#13332b", "#1f6d58", "#35c79b"] };
export const tints = (name, dark) => (dark ? DARK : LIGHT)[name === "C" ? "D" : name] ?? (dark ? DARK : LIGHT).D;

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

export function decode(scene) {
  const e = scene.events, count = e.what.length, made = new Map();
  const pattern = (list, base, step) => {
    const number = e[list][step];
    return number < 0 ? null : scene.patterns[number].map((offset) => (offset < 0 ? -1 : offset + e[base][step]));
  };
  const runs = (list, base, step) => {
    const number = e[list][step], found = [];
    if (number < 0) return found;
    const flat = scene.pieces[number];
    for (let at = 0; at < flat.length; at += 2) found.push([flat[at] + e[base][step], flat[at + 1]]);
    return found;
  };
  const byName = Object.fromEntries(scene.matrices.map((matrix) => [matrix.name, matrix]));
  const matrixAt = (address) => scene.matrices.find((m) => address >= m.first && address < m.first + m.rows * m.cols * m.size);

  // (row, column) of the element at an address of its matrix.
  function place(matrix, address) {
    const line = matrix.across ? matrix.rows : matrix.cols, at = Math.floor((address - matrix.first) / matrix.size);
    const major = Math.floor(at / line), minor = at % line;
    return matrix.across ? [minor, major] : [major, minor];
  }

  // One step: its kind, its addresses, and the pieces [address, bytes] of global memory that its data belong to.
  function step(number) {
    if (made.has(number)) return made.get(number);
    const what = scene.whats[e.what[number]], shared = pattern("s", "sb", number), source = pattern("g", "gb", number);
    const own = { number, what, shared, source, width: e.width[number], waves: e.waves[number], ideal: e.ideal[number],
      sectors: e.sectors[number], outside: !!e.outside[number], writes: !!e.writes[number], warp: e.warp[number],
      k: e.k[number], tile: e.tile[number], corner: e.corner[number].length ? e.corner[number] : null,
      line: e.line[number], opcode: scene.opcodes[e.op[number]], says: scene.says[e.says[number]],
      sharedRuns: runs("rs", "rsb", number), outsideRuns: runs("ro", "rob", number) };
    const each = own.outside || !shared ? own.width : Math.min(own.width, 16);
    own.pieces = source ? source.filter((a) => a >= 0).map((a) => [a, each]) : own.outsideRuns;
    own.words = shared ? shared.filter((a) => a >= 0).map((a) => [a, own.width]) : own.sharedRuns;
    own.kind = what === "copy" ? opcodeKind(own.opcode) : what === "load" ? "load" : what === "store" || what === "atomic" ? "store" : "ldmatrix";
    made.set(number, own);
    if (made.size > 6000) made.clear();
    return own;
  }

  // The step that a level shows: this one if it fits, else the last one before it that does, else the next one.
  function nearest(number, fits) {
    for (let at = number; at >= 0; at--) if (fits(step(at))) return step(at);
    for (let at = number + 1; at < count; at++) if (fits(step(at))) return step(at);
    return null;
  }

  // The k tile of the last step that had one.
  function kAt(number) {
    for (let at = number; at >= 0; at--) if (e.k[at] >= 0) return e.k[at];
    return e.k.find((k) => k >= 0) ?? 0;
  }

  return { scene, count, step, nearest, kAt, byName, matrixAt, place, heat: heat(scene, { count, step, matrixAt }) };
}

const opcodeKind = (opcode) => (opcode.includes(".cg.") ? "cp.async.cg" : "cp.async.ca");

// How often each sector was accessed up to a step, kept from step to step, and drawn as a picture with a pixel a sector.
function heat(scene, { count, step, matrixAt }) {
  const maps = new Map();
  for (const matrix of scene.matrices) {
    const line = (matrix.across ? matrix.rows : matrix.cols) * matrix.size, lines = matrix.across ? matrix.cols : matrix.rows;
    const each = Math.ceil(line / 32);
    maps.set(matrix.name, { matrix, line, lines, each, times: new Int32Array(each * lines), touched: 0,
      wide: matrix.across ? lines : each, high: matrix.across ? each : lines });
  }
  let at = -1;
  const sectorOf = (map, address) => {
    const offset = address - map.matrix.first;
    return [Math.floor(offset / map.line), Math.floor((offset % map.line) / 32)];
  };
  function sectors(number) {
    const own = step(number), found = new Map();
    if (!own.outside) return found;
    for (const [address, bytes] of own.pieces)
      for (let a = address; a < address + bytes; a += 32 - (a % 32)) {
        const matrix = matrixAt(a);
        if (!matrix) continue;
        const map = maps.get(matrix.name), [line, sector] = sectorOf(map, a);
        if (!found.has(matrix.name)) found.set(matrix.name, new Set());
        found.get(matrix.name).add(line * map.each + sector);
      }
    return found;
  }
  function add(number, sign) {
    for (const [name, set] of sectors(number)) {
      const map = maps.get(name);
      for (const sector of set) {
        if (sign > 0 && map.times[sector]++ === 0) map.touched++;
        if (sign < 0 && --map.times[sector] === 0) map.touched--;
      }
    }
  }
  function goTo(number) {
    while (at < Math.min(number, count - 1)) add(++at, 1);
    while (at > number) add(at--, -1);
  }
  // A canvas of one pixel for each sector, as the matrix stands in the product.
  function picture(name, number, dark) {
    goTo(number);
    const map = maps.get(name);
    map.canvas ??= new OffscreenCanvas(map.wide, map.high);
    if (map.shown === number && map.dark === dark) return map.canvas;
    const context = map.canvas.getContext("2d"), data = context.createImageData(map.wide, map.high);
    const colours = tints(name, dark).map(rgb), now = sectors(number).get(name) ?? new Set();
    for (let line = 0; line < map.lines; line++)
      for (let sector = 0; sector < map.each; sector++) {
        const index = line * map.each + sector, pixel = map.matrix.across ? sector * map.wide + line : index;
        const colour = colours[now.has(index) ? 2 : map.times[index] ? 1 : 0];
        data.data.set([...colour, 255], 4 * pixel);
      }
    context.putImageData(data, 0, 0);
    map.shown = number;
    map.dark = dark;
    return map.canvas;
  }
  const known = (name, number) => (goTo(number), { touched: maps.get(name).touched, all: maps.get(name).times.length });
  return { picture, known, map: (name) => maps.get(name) };
}
