// Computes the addresses of a tile's elements and the accesses of lanes, like gemm_lab_lessons/ch05/tile_layout.py and
// tile_access.py.
import { BANK_BYTES, idealWavefronts, schedule } from "../shared/banks.js";

export const ELEMENT_BYTES = { f64: 8, f32: 4, tf32: 4, f16: 2, bf16: 2, s8: 1, u8: 1, e4m3: 1, e5m2: 1 };
export const LAYOUTS = ["plain", "padded", "xor", "swizzle", "tma32", "tma64", "tma128"];
// name: [kind, bytes per lane (0: one element)]
export const ACCESSES = {
  "row store": ["store", 0], "column load": ["load", 0], "ldmatrix.x1": ["ldmatrix", 16], "ldmatrix.x4": ["ldmatrix", 16],
  "float4 store": ["store", 16], "cp.async": ["cp.async.cg", 16], "fragment store": ["store", 0],
};
const SOURCE_ROW_BYTES = 4096, TOY_ACCESSES = ["row store", "column load"];
const log2 = (n) => 31 - Math.clz32(n), isPower = (n) => (n & (n - 1)) === 0;
const whole = (...values) => values.every(Number.isInteger);

// ---- Layouts ----

function rowSwizzle(rowBytes, chunk, line) {
  const base = log2(chunk), across = log2(line / chunk);
  if (rowBytes >= line) return { bits: across, base, shift: log2(rowBytes) - base };
  return { bits: log2(rowBytes / chunk), base, shift: across };
}

export function masks({ bits, base, shift }) {
  const ones = 2 ** bits - 1;
  return { mask: ones << (base + Math.max(-shift, 0)), source: ones << (base + Math.max(shift, 0)) };
}

export function swizzled(s, address) {
  if (!s) return address;
  const moved = address & masks(s).source;
  return address ^ (s.shift >= 0 ? moved >> s.shift : moved << -s.shift);
}

// The tile of a valid state, with the function address(row, byte) and its inverse place(address).
export function makeTile(state) {
  const { rows, row_bytes: rowBytes, layout, banks } = state;
  const chunkBytes = banks === 32 ? 16 : BANK_BYTES, lineBytes = banks * BANK_BYTES;
  const boxed = layout.startsWith("tma"), mode = boxed ? Number(layout.slice(3)) : 0;
  const stride = layout === "padded" ? rowBytes + state.pad_bytes : boxed ? mode : rowBytes;
  let swizzle = null;
  if (layout === "xor") swizzle = rowSwizzle(rowBytes, chunkBytes, lineBytes);
  else if (layout === "swizzle") swizzle = { bits: state.bits, base: state.base, shift: state.shift };
  else if (boxed) swizzle = { bits: log2(mode) - 4, base: 4, shift: 3 };
  const elementBytes = ELEMENT_BYTES[state.element];
  const plainAddress = (row, byte) =>
    boxed ? Math.floor(byte / mode) * rows * mode + row * mode + (byte % mode) : row * stride + byte;
  const place = (address) => {
    const plain = swizzled(swizzle, address);
    if (boxed) {
      const box = Math.floor(plain / (rows * mode)), within = plain % (rows * mode);
      return { row: Math.floor(within / mode), byte: box * mode + (within % mode) };
    }
    const row = Math.floor(plain / stride), byte = plain % stride;
    return { row: byte < rowBytes ? row : -1, byte };
  };
  return {
    rows, rowBytes, layout, banks, chunkBytes, lineBytes, stride, swizzle, elementBytes, mode,
    columns: rowBytes / elementBytes,
    size: rows * rowBytes + (layout === "padded" ? rows * state.pad_bytes : 0),
    plainAddress, place, address: (row, byte) => swizzled(swizzle, plainAddress(row, byte)),
  };
}

// A sentence that says why a tile is impossible; "" if it is possible.
export function tileProblem(state) {
  const { layout, element, banks, rows, row_bytes: rowBytes } = state;
  if (!LAYOUTS.includes(layout)) return `There is no layout “${layout}”; there are ${LAYOUTS.join(", ")}.`;
  if (!(element in ELEMENT_BYTES))
    return `There is no element type “${element}”; there are ${Object.keys(ELEMENT_BYTES).join(", ")}.`;
  if (banks !== 4 && banks !== 32) return `A machine of ${banks} banks is not drawn here; use 32, or 4 for the toy.`;
  if (banks === 4 && (ELEMENT_BYTES[element] !== BANK_BYTES || layout.startsWith("tma")))
    return "The toy machine of 4 banks has only f32, in the layouts plain, padded, xor and swizzle.";
  if (!whole(rows) || rows < 1 || rows > 512) return `A tile has 1 to 512 rows, not ${rows}.`;
  if (!whole(rowBytes) || rowBytes < 16 || rowBytes > 1024 || rowBytes % 16)
    return `A row has 16 to 1024 bytes in steps of 16, not ${rowBytes}.`;
  if (layout === "padded") return paddedProblem(state);
  if (layout === "xor") return xorProblem(rowBytes, banks === 32 ? 16 : BANK_BYTES);
  if (layout === "swizzle") return swizzleProblem(state);
  return layout === "plain" ? "" : tmaProblem(state);
}

function paddedProblem({ pad_bytes: pad }) {
  if (whole(pad) && pad >= 0 && pad <= 256 && pad % BANK_BYTES === 0) return "";
  return `Rows are padded by 0 to 256 bytes in steps of 4, not by ${pad}.`;
}

function xorProblem(rowBytes, chunk) {
  if (rowBytes >= 2 * chunk && isPower(rowBytes)) return "";
  return `Rows of ${rowBytes} bytes have no XOR swizzle; use a power of two from ${2 * chunk} on, or pad the rows.`;
}

function swizzleProblem({ bits, base, shift, row_bytes: rowBytes }) {
  if (!whole(bits, base, shift) || bits < 0 || bits > 6 || base < 0 || base > 8 || Math.abs(shift) > 12)
    return "A swizzle has 0 to 6 bits, a base of 0 to 8 and a shift of -12 to 12.";
  const name = `Swizzle(${bits}, ${base}, ${shift})`;
  if (Math.abs(shift) < bits)
    return `${name} would XOR bits with themselves; shift has to be at least as large as bits.`;
  if (bits === 0) return "";
  if (!isPower(rowBytes))
    return `Rows of ${rowBytes} bytes are no power of two, so an XOR would carry elements into other rows; ` +
      "use 64, 128 or 256, or pad the rows.";
  const lowest = base + Math.max(-shift, 0), highest = lowest + bits;
  if (2 ** highest > rowBytes)
    return `${name} changes address bits up to ${highest - 1}, but a row of ${rowBytes} bytes has bits 0 to ` +
      `${log2(rowBytes) - 1}: elements would leave their row. Here bits can be at most ` +
      `${Math.max(log2(rowBytes) - lowest, 0)}.`;
  return "";
}

function tmaProblem({ layout, rows, row_bytes: rowBytes }) {
  const width = Number(layout.slice(3));
  if (rowBytes % width)
    return `TMA's ${width}-byte mode fills boxes that are ${width} bytes wide; rows of ${rowBytes} bytes do not ` +
      "divide into them.";
  if (rowBytes > width && rows % 8)
    return `Rows of ${rowBytes} bytes take ${rowBytes / width} boxes, and each has to begin where the XOR pattern of ` +
      `8 rows does: the rows have to be a multiple of 8, and ${rows} is not.`;
  return "";
}

// ---- Accesses ----

const width = (tile, name) => ACCESSES[name][1] || tile.elementBytes * (name === "fragment store" ? 2 : 1);
const boxOf = (tile, name) =>
  ({ "ldmatrix.x1": [8, 16], "ldmatrix.x4": [16, 32], "fragment store": [8, 4 * width(tile, name)] })[name];

export function accessProblem(state) {
  const name = state.access;
  if (!(name in ACCESSES)) return `There is no access “${name}”; there are ${Object.keys(ACCESSES).join(", ")}.`;
  const tile = makeTile(state);
  if (tile.banks === 4 && !TOY_ACCESSES.includes(name))
    return `The toy machine of 4 banks has only the accesses ${TOY_ACCESSES.join(" and ")}.`;
  const bytes = width(tile, name), [high, wide] = boxOf(tile, name) ?? [1, bytes];
  if (name === "fragment store" && ![2, 4].includes(tile.elementBytes))
    return `A fragment store writes two neighbours of FP16, BF16 or FP32; ${state.element} is another size.`;
  if (tile.rows % high) return `${name} takes ${high} rows at a time; ${tile.rows} rows are no multiple of ${high}.`;
  const across = name === "ldmatrix.x1" ? bytes : wide;
  if (tile.rowBytes % across)
    return `${name} takes ${across} bytes of a row at a time; rows of ${tile.rowBytes} bytes do not divide.`;
  if (tile.stride % bytes)
    return `${name} needs addresses that are multiples of ${bytes}, and row 1 begins at byte ${tile.stride}: ` +
      `it is misaligned. Pad by a multiple of ${bytes} bytes.`;
  const s = tile.swizzle, lowest = s ? 2 ** (s.base + Math.max(-s.shift, 0)) : 0;
  if (s && s.bits && lowest < bytes)
    return `Swizzle(${s.bits}, ${s.base}, ${s.shift}) moves pieces of ${lowest} bytes, so the ${bytes} bytes of one ` +
      `lane would be torn apart; the lowest bit it changes has to be at least ${log2(bytes)}.`;
  return "";
}

export const problem = (state) => tileProblem(state) || accessProblem(state);

export function steps(tile, name) {
  const box = boxOf(tile, name);
  if (name === "column load") return Math.ceil(tile.rows / tile.banks) * tile.columns;
  if (box) return (tile.rows / box[0]) * (tile.rowBytes / box[1]);
  return Math.ceil((tile.rows * tile.rowBytes) / (tile.banks * width(tile, name)));
}

// The lanes of one access: rows, bytes and addresses (-1 for an idle lane), its wavefronts, and a text.
export function tileAccess(tile, name, step) {
  const bytes = width(tile, name), lanes = tile.banks, box = boxOf(tile, name), [kind] = ACCESSES[name];
  const at = (lane) => {
    if (name === "column load")
      return [Math.floor(step / tile.columns) * lanes + lane, (step % tile.columns) * tile.elementBytes];
    if (!box) {
      const place = (step * lanes + lane) * bytes;
      return [Math.floor(place / tile.rowBytes), place % tile.rowBytes];
    }
    const across = tile.rowBytes / box[1], row = Math.floor(step / across) * box[0], byte = (step % across) * box[1];
    if (name === "ldmatrix.x1") return lane < 8 ? [row + lane, byte] : [-1, -1];
    if (name === "ldmatrix.x4") return [row + (lane % 16), byte + (lane >> 4) * 16];
    return [row + (lane >> 2), byte + (lane % 4) * bytes];
  };
  const access = { name, step, kind, width: bytes, rows: [], bytes: [], active: [], addresses: [], source: [] };
  for (let lane = 0; lane < lanes; lane++) {
    let [row, byte] = at(lane);
    const idle = row < 0 || row >= tile.rows;
    if (idle) row = byte = -1;
    access.rows.push(row);
    access.bytes.push(byte);
    access.active.push(!idle);
    access.addresses.push(idle ? -1 : tile.address(row, byte));
    access.source.push(Math.max(row, 0) * SOURCE_ROW_BYTES + Math.max(byte, 0));
  }
  const used = access.active.filter(Boolean).length;
  access.schedule = schedule(kind, access.addresses, bytes, access.active, access.source, tile.banks);
  access.ideal = idealWavefronts(used, bytes, tile.banks);
  access.says = says(tile, access);
  return access;
}

function says(tile, { rows, bytes, active, width: each }) {
  const span = (word, low, high) => (low === high ? `${word} ${low}` : `${word}s ${low}–${high}`);
  const on = rows.map((_, lane) => lane).filter((lane) => active[lane]);
  const of = (values) => [Math.min(...on.map((n) => values[n])), Math.max(...on.map((n) => values[n]))];
  const [first, last] = of(bytes);
  const columns = [Math.floor(first / tile.elementBytes), Math.floor((last + each - 1) / tile.elementBytes)];
  return `${span("row", ...of(rows))}, ${span("column", ...columns)}`;
}

export function totals(tile, name) {
  const sum = { wavefronts: 0, ideal: 0 };
  for (let step = 0, last = steps(tile, name); step < last; step++) {
    const access = tileAccess(tile, name, step);
    sum.wavefronts += access.schedule.phase.length;
    sum.ideal += access.ideal;
  }
  return sum;
}
