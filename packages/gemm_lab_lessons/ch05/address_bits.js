// Draws the bits of one address: those from row and column, those that the XOR reads and changes, and those of the bank.
import { masks } from "./tile.js";
import { bankColour, svg } from "gemm_lab/theme.js";

const HIGH = 24, TOP = 18, GAP = 11, BELOW = 26, SUMS = 18, ON_FILL = "#15181c";

// Returns a drawing for the addresses of one tile: its element `root`, and `show(place)`, which updates what differs.
// In less than 640 pixels the boxes are narrower, the words shorter, and the sums are in a line below.
export function addressBits({ tile, theme, room = 760 }) {
  const count = Math.max(Math.ceil(Math.log2(Math.max(tile.size, 2))), 10);
  const s = tile.swizzle?.bits ? tile.swizzle : null, { mask, source } = s ? masks(s) : { mask: 0, source: 0 };
  const bankBits = Math.log2(tile.banks);
  const narrow = room < 640, LEFT = narrow ? 62 : 118, BOX = Math.min(31, (room - LEFT - (narrow ? 4 : 152)) / count);
  const x = (bit) => LEFT + (count - 1 - bit) * BOX, at = (value, bit) => (value >> bit) & 1;
  const bottom = s ? TOP + HIGH + 14 + s.bits * GAP : TOP, width = LEFT + count * BOX + (narrow ? 4 : 152);
  const live = []; // functions that update attributes and words for another address
  const root = svg("svg", { viewBox: `0 0 ${width} ${bottom + HIGH + BELOW + (narrow ? SUMS : 0)}`, width, role: "img" });
  follow((now) => `address ${now.address}, bank ${now.bank}`, (words) => root.setAttribute("aria-label", words));

  function follow(value, set) {
    if (typeof value === "function") live.push({ value, set });
    else set(value);
  }

  function add(name, attributes, words) {
    const node = svg(name, {}), inside = root.ownerDocument.createTextNode("");
    for (const [key, value] of Object.entries(attributes)) follow(value, (found) => node.setAttribute(key, found));
    if (words !== undefined) {
      node.append(inside);
      follow(words, (found) => (inside.data = found));
    }
    root.append(node);
  }
  const word = (px, py, words, attributes = {}) => add("text", { x: px, y: py, class: "gl-word", ...attributes }, words);

  function boxes(value, y, fill, strong) {
    for (let bit = count - 1; bit >= 0; bit--) {
      add("rect", { x: x(bit) + 1, y, width: BOX - 2, height: HIGH, rx: 3, fill: (now) => fill(bit, now),
        stroke: (now) => (strong(bit, now) ? theme.ink : theme.rule), "stroke-width": (now) => (strong(bit, now) ? 1.6 : 1) });
      add("text", { x: x(bit) + BOX / 2, y: y + 17, "text-anchor": "middle",
        style: (now) => `font-weight:${strong(bit, now) ? 700 : 400};fill:${fill(bit, now) === theme.paper ? theme.ink : ON_FILL}` },
      (now) => String(at(now[value], bit)));
    }
  }
  const isBank = (bit) => bit >= 2 && bit < 2 + bankBits;

  for (let bit = 0; bit < count; bit++)
    word(x(bit) + BOX / 2, 12, bit, { "text-anchor": "middle" });
  word(LEFT - 10, 12, "bit", { "text-anchor": "end" });

  if (s) {
    // ---- The plain address, the XOR, the address ----
    const taken = theme.dark ? "#8fb8e8" : "#bcd7f5";
    boxes("plain", TOP, (bit) => ((source >> bit) & 1 ? taken : theme.paper), (bit) => (source >> bit) & 1);
    word(LEFT - 10, TOP + 17, narrow ? "row, col." : "row and column", { "text-anchor": "end" });
    if (!narrow) word(LEFT + count * BOX + 10, TOP + 17, ({ place, plain }) => formula(tile, place, plain));
    const changed = Array.from({ length: count }, (_, bit) => bit).filter((bit) => (mask >> bit) & 1);
    changed.forEach((bit, number) => {
      const from = bit + s.shift, r = Math.min(5, BOX / 2 - 2), px = x(bit) + BOX / 2, fx = x(from) + BOX / 2, level = TOP + HIGH + 13 + number * GAP;
      const on = ({ plain }) => at(plain, from), side = Math.sign(px - fx);
      const line = { fill: "none", stroke: (now) => (on(now) ? theme.accent : theme.rule), "stroke-width": (now) => (on(now) ? 2.2 : 1.6) };
      add("path", { d: `M${fx} ${TOP + HIGH} V${level - 4} q0 4 ${4 * side} 4 H${px - r * side}`, ...line });
      add("path", { d: `M${px} ${TOP + HIGH} V${level - r} M${px} ${level + r} V${bottom}`, ...line });
      add("circle", { cx: px, cy: level, r, ...line, fill: theme.paper });
      add("path", { d: `M${px - r} ${level}H${px + r}M${px} ${level - r}V${level + r}`, ...line });
    });
    const group = (value, bits) => changed.reduce((sum, bit, n) => sum | (at(value, bit + bits) << n), 0);
    const said = ({ plain, address }) => `${group(plain, 0)} XOR ${group(plain, s.shift)} = ${group(address, 0)}`;
    if (!narrow) word(LEFT + count * BOX + 10, (TOP + HIGH + bottom) / 2 + 4, said);
    else word(4, bottom + HIGH + BELOW + 14, (now) => `${formula(tile, now.place, now.plain)};  ${said(now)};  address ${now.address}`);
    word(LEFT - 10, (TOP + HIGH + bottom) / 2 + 4, "XOR", { "text-anchor": "end", style: "font-weight:600" });
  }
  word(LEFT - 10, bottom + 17, "address", { "text-anchor": "end" });

  boxes("address", bottom, (bit, { bank }) => (isBank(bit) ? bankColour(bank, tile.banks, theme.dark, true) : theme.paper),
    (bit, { plain, address }) => (mask >> bit) & 1 && at(plain ^ address, bit));
  if (narrow && !s) word(4, bottom + HIGH + BELOW + 14, ({ place, address }) => formula(tile, place, address));
  if (!narrow) word(LEFT + count * BOX + 10, bottom + 17, ({ place, address }) => (s ? `= ${address}` : formula(tile, place, address)));
  brace(count - 1, 2 + bankBits, ({ address }) => `line ${Math.floor(address / tile.lineBytes)}`);
  brace(1 + bankBits, 2, ({ bank }) => `bank ${bank}`, true);
  brace(1, 0, "byte");

  function brace(high, low, words, strong = false) {
    const y = bottom + HIGH + 5, from = x(high) + 3, to = x(low) + BOX - 3;
    add("path", { d: `M${from} ${y}v4H${to}v-4`, fill: "none", stroke: strong ? theme.ink : theme.rule,
      "stroke-width": strong ? 1.6 : 1.2 });
    word((from + to) / 2, y + 18, words, { "text-anchor": "middle",
      style: strong ? `font-weight:650;fill:${theme.ink}` : "" });
  }

  function show(place) {
    const address = tile.address(place.row, place.byte);
    const now = { place, plain: tile.plainAddress(place.row, place.byte), address, bank: Math.floor(address / 4) % tile.banks };
    for (const part of live) {
      const found = part.value(now);
      if (found !== part.shown) part.set((part.shown = found));
    }
  }
  return { root, show };
}

function formula(tile, { row, byte }, address) {
  if (tile.layout.startsWith("tma") && tile.rowBytes > tile.mode)
    return `box ${Math.floor(byte / tile.mode)}: = ${address}`;
  return `${row} × ${tile.stride} + ${byte} = ${address}`;
}
