// Computes which lane and register hold which element of an mma, and the rows of ldmatrix, like
// gpu_simulator/hardware/mma_layouts.py.

export const BITS = { f64: 64, tf32: 32, f16: 16, bf16: 16, s8: 8, u8: 8, e4m3: 8, e5m2: 8, s4: 4, u4: 4, b1: 1 };
const EIGHT = ["m8n8k16", "m16n8k16", "m16n8k32"], FOUR = ["m8n8k32", "m16n8k32", "m16n8k64"];
export const SHAPES = {
  f16: ["m8n8k4", "m16n8k8", "m16n8k16"], bf16: ["m16n8k8", "m16n8k16"], tf32: ["m16n8k4", "m16n8k8"],
  f64: ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"], s8: EIGHT, u8: EIGHT, e4m3: EIGHT.slice(1), e5m2: EIGHT.slice(1),
  s4: FOUR, u4: FOUR, b1: ["m8n8k128", "m16n8k128", "m16n8k256"],
};
export const ACCUMULATORS = { f16: ["f32", "f16"], bf16: ["f32"], tf32: ["f32"], f64: ["f64"], e4m3: ["f32", "f16"],
  e5m2: ["f32", "f16"], s8: ["s32"], u8: ["s32"], s4: ["s32"], u4: ["s32"], b1: ["s32"] };
const ACCUMULATOR_BITS = { f16: 16, f32: 32, s32: 32, f64: 64 };

export function makeMma(shape, dtype, accumulator) {
  const [m, n, k] = shape.match(/\d+/g).map(Number), quads = dtype === "f16" && shape === "m8n8k4";
  const each = Math.max(Math.floor(32 / BITS[dtype]), 1);
  const eachC = Math.max(Math.floor(32 / ACCUMULATOR_BITS[accumulator]), 1);
  const halves = m / 8, products = quads ? 4 : 1;
  const per = { A: each, B: each, C: eachC };
  const registers = quads ? { A: 2, B: 2, C: 8 / eachC }
    : { A: (m * k) / 32 / each, B: (k * n) / 32 / each, C: (m * n) / 32 / eachC };
  // (row, column) of one element. The four products of FP16's m8n8k4 are stacked: their rows are 8 · product + row.
  const at = (operand, lane, register, element) => {
    const group = lane >> 2, member = lane % 4;
    if (quads) return quadPair(operand, lane, register, element, eachC);
    if (operand === "A")
      return [group + 8 * (register % halves), Math.floor(register / halves) * 4 * each + member * each + element];
    if (operand === "B") return [register * 4 * each + member * each + element, group];
    const number = register * eachC + element;
    return [group + 8 * (number >> 1), member * 2 + (number % 2)];
  };
  const extent = { A: [m * products, k], B: [k, n * products], C: [m * products, n] };
  return { shape, dtype, accumulator, m, n, k, quads, per, registers, at, extent };
}

function quadPair(operand, lane, register, element, eachC) {
  const within = (lane % 4) + 4 * (lane >> 4), product = (lane >> 2) % 4, number = register * 2 + element;
  if (operand === "A") return [8 * product + within, number];
  if (operand === "B") return [number, 8 * product + within];
  if (eachC === 2) return [8 * product + within, number];
  return [8 * product + (lane & 1) + (register & 2) + 4 * (lane >> 4), (register & 4) + (lane & 2) + (register & 1)];
}

// The row and 16-byte chunk whose address each lane gives to ldmatrix; null if ldmatrix cannot load this fragment.
export function fragmentLoad(mma, operand, stored) {
  const wanted = operand === "A" ? "row-major" : "column-major", transposed = stored !== wanted;
  if (mma.quads || BITS[mma.dtype] > 32 || (transposed && (BITS[mma.dtype] !== 16 || operand === "A"))) return null;
  const count = mma.registers[operand], halves = operand === "A" ? mma.m / 8 : 1;
  const lanes = Array.from({ length: 8 * count }, (_, lane) => {
    const matrix = lane >> 3, row = lane % 8;
    return transposed ? { matrix, row: matrix * 8 + row, chunk: 0 }
      : { matrix, row: (matrix % halves) * 8 + row, chunk: Math.floor(matrix / halves) };
  });
  return { count, transposed, lanes, opcode: `ldmatrix.x${count}${transposed ? ".trans" : ""}` };
}
