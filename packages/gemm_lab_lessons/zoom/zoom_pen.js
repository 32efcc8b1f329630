// Words, boxes and pictures on the zoom's canvas, in the pixels of the screen when a level is at rest.

const rows = new Map(); // colours, joined by commas -> a canvas with a pixel of each

export function pen(c, theme) {
  const font = (size, weight, mono) => `${weight} ${size}px ${mono ? '"DejaVu Sans Mono", Menlo, Consolas, monospace' : theme.font}`;

  function text(words, x, y, { size = 12, weight = 400, align = "left", colour = theme.ink, base = "middle", mono = false, most } = {}) {
    c.font = font(size, weight, mono);
    c.textAlign = align;
    c.textBaseline = base;
    c.fillStyle = colour;
    words = String(words);
    if (most && c.measureText(words).width > most) {
      while (words.length > 1 && c.measureText(words + "…").width > most) words = words.slice(0, -1);
      words += "…";
    }
    c.fillText(words, x, y);
  }

  // Words over several lines; returns the y below them.
  function block(words, x, y, width, { size = 12, weight = 400, colour = theme.muted, gap = 16 } = {}) {
    c.font = font(size, weight);
    let line = "";
    const lines = [];
    for (const word of words.split(" ")) {
      if (line && c.measureText(`${line} ${word}`).width > width) {
        lines.push(line);
        line = word;
      } else line = line ? `${line} ${word}` : word;
    }
    lines.push(line);
    for (const part of lines) {
      text(part, x, y + gap / 2, { size, weight, colour });
      y += gap;
    }
    return y;
  }

  function box(x, y, w, h, { fill, stroke, line = 1, radius = 0, dash, alpha = 1 } = {}) {
    if (!radius && !dash && alpha === 1) { // most boxes; one call each
      if (fill) {
        c.fillStyle = fill;
        c.fillRect(x, y, w, h);
      }
      if (stroke) {
        c.lineWidth = line;
        c.strokeStyle = stroke;
        c.strokeRect(x, y, w, h);
      }
      return;
    }
    c.save();
    c.globalAlpha *= alpha;
    c.beginPath();
    if (radius) c.roundRect(x, y, w, h, Math.min(radius, w / 2, h / 2));
    else c.rect(x, y, w, h);
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    if (stroke) {
      c.setLineDash(dash ?? []);
      c.lineWidth = line;
      c.strokeStyle = stroke;
      c.stroke();
    }
    c.restore();
  }

  // Boxes side by side, in one colour each, as one picture for the whole row.
  function row(colours, x, y, w, h) {
    const key = colours.join();
    let kept = rows.get(key);
    if (!kept) {
      if (rows.size > 200) rows.clear();
      rows.set(key, (kept = new OffscreenCanvas(colours.length, 1)));
      const inner = kept.getContext("2d");
      colours.forEach((colour, at) => ((inner.fillStyle = colour), inner.fillRect(at, 0, 1, 1)));
    }
    c.imageSmoothingEnabled = false;
    c.drawImage(kept, x, y, w, h);
  }

  function image(picture, x, y, w, h) {
    c.imageSmoothingEnabled = false;
    c.drawImage(picture, x, y, w, h);
  }

  // Lines of a grid with these distances, if they are far enough apart to be told from each other.
  function grid(x, y, w, h, dx, dy, { colour = theme.rule, line = 0.6, least = 5 } = {}) {
    c.save();
    c.strokeStyle = colour;
    c.lineWidth = line;
    c.beginPath();
    if (dx >= least) for (let at = dx; at < w - 0.01; at += dx) (c.moveTo(x + at, y), c.lineTo(x + at, y + h));
    if (dy >= least) for (let at = dy; at < h - 0.01; at += dy) (c.moveTo(x, y + at), c.lineTo(x + w, y + at));
    c.stroke();
    c.restore();
  }

  return { c, theme, text, block, box, row, image, grid };
}

// Places B above D and A to its left, as in the product, and C to the right of D. sizes: elements of [m, n, k].
export function arrangement(x, y, w, h, [m, n, k], withC, gap) {
  const across = k + n * (withC ? 2 : 1), gaps = gap * (withC ? 2 : 1);
  const unit = Math.min((w - gaps) / across, (h - gap) / (k + m));
  const left = x + (w - across * unit - gaps) / 2, top = y + (h - (k + m) * unit - gap) / 2;
  const right = left + k * unit + gap, low = top + k * unit + gap;
  return { unit,
    A: { x: left, y: low, w: k * unit, h: m * unit }, B: { x: right, y: top, w: n * unit, h: k * unit },
    D: { x: right, y: low, w: n * unit, h: m * unit }, C: withC ? { x: right + n * unit + gap, y: low, w: n * unit, h: m * unit } : null };
}
