// Draws the 128-byte lines of shared memory that one access uses, with its lanes.
import { bankColour, prepare } from "gemm_lab/theme.js";

const TOP = 18, MOST = 40;

export function memoryHeight(access) {
  const lines = touched(access).length, each = lineHeight(lines);
  return TOP + Math.min(lines, MOST) * each + (lines > MOST ? 18 : 4);
}

const lineHeight = (lines) => Math.max(15, Math.min(20, Math.floor(400 / Math.min(lines, MOST))));

function touched(access) {
  const lines = new Set(access.addresses.filter((address) => address >= 0).map((address) => Math.floor(address / 128)));
  return [...lines].sort((p, q) => p - q);
}

// Lanes of wavefronts below `upto` are filled, those of wavefront `current` are framed, and the others only outlined.
export function drawMemory(canvas, { access, theme, width, upto = Infinity, current = -1, hover = -1 }) {
  const lines = touched(access), each = lineHeight(lines.length), c = prepare(canvas, width, memoryHeight(access));
  const { wavefront, words, phase } = access.schedule, first = phase.map((number) => phase.indexOf(number));
  const LEFT = width < 520 ? 86 : 112, RIGHT = width < 520 ? 4 : 100;
  const w = (width - LEFT - RIGHT) / 32, tall = each - 2, small = `12px ${theme.font}`;
  c.textBaseline = "middle";
  c.font = small;
  c.textAlign = "left";
  for (let bank = 0; bank < 32; bank++) {
    c.fillStyle = bankColour(bank, 32, theme.dark, true);
    c.fillRect(LEFT + bank * w, TOP - 6, w, 3);
    c.fillStyle = theme.muted;
    if (bank % 4 === 0) c.fillText(bank, LEFT + bank * w + 1, 6);
  }
  c.textAlign = "right";
  c.fillText("bank", LEFT - 8, 6);
  const yOf = new Map();
  lines.slice(0, MOST).forEach((line, number) => {
    const y = TOP + number * each;
    yOf.set(line, y);
    for (let bank = 0; bank < 32; bank++) {
      c.fillStyle = bankColour(bank, 32, theme.dark, false);
      c.fillRect(LEFT + bank * w, y, w + 0.5, tall);
    }
    c.fillStyle = theme.muted;
    c.fillText(`byte ${(line * 128).toLocaleString("en")}`, LEFT - 8, y + tall / 2 + 0.5);
  });
  if (lines.length > MOST) c.fillText(`… and ${lines.length - MOST} more lines`, LEFT + 110, TOP + MOST * each + 8);

  const drawn = new Map();
  access.addresses.forEach((address, lane) => {
    if (address >= 0 && yOf.has(Math.floor(address / 128))) drawn.set(address, [...(drawn.get(address) ?? []), lane]);
  });
  for (const [address, lanes] of drawn) {
    const mine = lanes.flatMap((lane) => Array.from({ length: words }, (_, n) => wavefront[lane * words + n]));
    const last = Math.max(...mine), waits = access.kind !== "cp.async.cg" && mine.some((n) => n > first[n]);
    const x = LEFT + ((address % 128) / 4) * w, y = yOf.get(Math.floor(address / 128));
    const wide = Math.max((access.width / 4) * w - 1, 4), served = last < upto;
    c.fillStyle = !served ? theme.paper : waits ? theme.conflict : bankColour(Math.floor(address / 4) % 32, 32, theme.dark, true);
    c.strokeStyle = mine.includes(current) || lanes.includes(hover) ? theme.ink : served && waits ? theme.conflict : theme.muted;
    c.lineWidth = mine.includes(current) || lanes.includes(hover) ? 2.4 : 1;
    c.beginPath();
    c.roundRect(x + 0.5, y + 0.5, wide - 0.5, tall - 1, 2.5);
    c.fill();
    c.stroke();
    if (tall < 12 || wide < 16) continue;
    c.font = `600 12px ${theme.font}`;
    c.textAlign = "center";
    c.fillStyle = !served ? theme.muted : waits ? (theme.dark ? "#16181b" : "#fff") : "#15181c";
    c.fillText(lanes.length > 1 ? `×${lanes.length}` : wide > 26 ? `T${lanes[0]}` : lanes[0], x + wide / 2, y + tall / 2 + 0.5);
  }
}
