// Writes a layout of the swizzle puzzle as one line of C++, like gemm_lab_lessons/ch05/layout_puzzle/puzzle_formula.py.
import { chunkBits, makeLayout, range, rowBits, xorOf } from "./puzzle_rules.js";

const timesRow = (step) => (step === 1 ? "row" : `${step} * row`);
const shifted = (distance) => (distance > 0 ? ` >> ${distance}` : distance ? ` << ${-distance}` : "");

// kind: "plain", "xor", "addition", "both" (an XOR and a rotation) or "table"; place: of a chunk in its row.
export function formula(goal, state) {
  const { places } = makeLayout(goal, state), terms = xorTerms(goal, places);
  if (terms) return { kind: terms.length ? "xor" : "plain", place: ["chunk", ...terms].join(" ^ ") };
  const sum = addition(goal, places);
  if (sum) return { kind: "addition", place: sum };
  if (state.hand.every((row) => row.every((chunk, place) => chunk === place))) {
    const wired = range(goal.rows).map((row) => range(goal.chunks).map((chunk) => chunk ^ xorOf(state.wires, row)));
    const xor = ["chunk", ...xorTerms(goal, wired)].join(" ^ ");
    return { kind: "both", place: `((${xor}) + ${timesRow(state.shift)}) & ${goal.chunks - 1}` };
  }
  return { kind: "table", place: `"${places.flat().join("")}"[${goal.chunks} * (row & ${goal.rows - 1}) + chunk] - '0'` };
}

// What the learner sees: the place in the row, or with padding the number of the chunk in the tile.
export function line(goal, state) {
  const { kind, place } = formula(goal, state), across = goal.chunks + state.padding;
  if (!state.padding) return place;
  return `row * ${across} + ${kind === "plain" ? place : `(${place})`}`;
}

// The terms that are XORed with the chunk; null if the layout is no XOR with bits of the row and a constant.
function xorTerms(goal, places) {
  const number = places.map((row) => row[0]);
  if (places.some((row, r) => row.some((place, chunk) => place !== (chunk ^ number[r])))) return null;
  const constant = number[0], masks = range(rowBits(goal)).map((bit) => number[1 << bit] ^ constant);
  const linear = (row) => masks.reduce((sum, mask, bit) => sum ^ ((row >> bit) & 1 ? mask : 0), constant);
  if (number.some((value, row) => value !== linear(row))) return null;
  const distances = new Map();
  masks.forEach((mask, bit) => {
    for (const chunkBit of range(chunkBits(goal)))
      distances.set(bit - chunkBit, (distances.get(bit - chunkBit) ?? 0) | (mask & (1 << chunkBit)));
  });
  const terms = [...distances].filter(([, mask]) => mask).sort((a, b) => a[0] - b[0])
    .map(([distance, mask]) => `(row${shifted(distance)} & ${mask})`);
  return constant ? [...terms, String(constant)] : terms;
}

// The layout as a sum modulo the chunks of a row; "" if it is none.
function addition(goal, places) {
  const constant = places[0][0], step = (places[1][0] - constant + goal.chunks) % goal.chunks;
  if (places.some((row, r) => row.some((place, chunk) => place !== (chunk + step * r + constant) % goal.chunks))) return "";
  const parts = ["chunk", ...(step ? [timesRow(step)] : []), ...(constant ? [String(constant)] : [])];
  return `(${parts.join(" + ")}) & ${goal.chunks - 1}`;
}
