// Colours of the page's theme, a colour for each bank, and functions that create elements.

// Banks have hues from yellow-green through blue to pink, at the same lightness. Red and orange are for conflicts.
export function bankColour(bank, banks, dark, vivid) {
  const hue = 100 + (260 * bank) / banks;
  const [lightness, chroma] = vivid ? (dark ? [0.76, 0.13] : [0.83, 0.13]) : dark ? [0.37, 0.055] : [0.94, 0.042];
  return oklch(lightness, chroma, hue);
}

export function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180), b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const gamma = (x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);
  const byte = (x) => Math.round(255 * gamma(Math.min(Math.max(x, 0), 1)));
  const red = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  const green = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  const blue = -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s;
  return `rgb(${byte(red)}, ${byte(green)}, ${byte(blue)})`;
}

// Reads the page's theme. Also marks `root` as dark or light, for its style sheet and form controls.
export function readTheme(root) {
  const probe = root.ownerDocument.createElement("canvas").getContext("2d", { willReadFrequently: true });
  probe.fillStyle = getComputedStyle(root).backgroundColor;
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  const dark = 0.2126 * r + 0.7152 * g + 0.0722 * b < 110;
  root.classList.toggle("gl-dark", dark);
  const style = getComputedStyle(root), read = (name) => style.getPropertyValue(name).trim();
  return {
    dark, paper: style.backgroundColor, ink: style.color, muted: read("--gl-muted-solid"), rule: read("--gl-rule-solid"),
    soft: read("--gl-soft-solid"), conflict: read("--gl-conflict"), conflictSoft: read("--gl-conflict-soft"),
    accent: read("--gl-accent"), font: style.fontFamily,
  };
}

// Keys that move a slider or a choice stay in the widget: JupyterLab would jump to another heading or cell with them.
const MOVES = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];
export function keepKeys(root) {
  root.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, [tabindex]") && MOVES.includes(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
}

// Calls back when JupyterLab, VS Code or the system changes its theme, or when the width of the element changes.
export function watch(root, callback) {
  const document = root.ownerDocument, media = matchMedia("(prefers-color-scheme: dark)");
  const observer = new MutationObserver(callback), sizes = new ResizeObserver(callback);
  for (const node of [document.documentElement, document.body])
    observer.observe(node, { attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-jp-theme-name"] });
  media.addEventListener("change", callback);
  sizes.observe(root);
  return () => (observer.disconnect(), sizes.disconnect(), media.removeEventListener("change", callback));
}

const SVG = "http://www.w3.org/2000/svg";

function make(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => make(document.createElementNS(SVG, tag), attributes, children);

// Clears a canvas and gives it a size in CSS pixels, at the resolution of the screen.
export function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

// Returns a function that runs `draw` once before the next paint, however often it is called.
export function oncePerFrame(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => ((waiting = false), draw()));
  };
}

// Calls `act` every `ms` milliseconds while `root` is seen; returns a function that ends this. Nothing is done while the element is
// scrolled away, taken out of the page or in a hidden tab; afterwards it goes on.
export function whileSeen(root, act, ms) {
  const document = root.ownerDocument;
  let timer = null, seen = false;
  const update = () => {
    const on = seen && !document.hidden;
    if (on && timer === null) timer = setInterval(act, ms);
    if (on) return;
    clearInterval(timer);
    timer = null;
  };
  const sight = new IntersectionObserver((entries) => ((seen = entries.at(-1).isIntersecting), update()));
  sight.observe(root);
  document.addEventListener("visibilitychange", update);
  return () => (sight.disconnect(), document.removeEventListener("visibilitychange", update), (seen = false), update());
}

// Calls back with the name of each of these traits that changes; returns a function that stops this.
export function listen(model, names, callback) {
  const pairs = names.map((name) => [`change:${name}`, () => callback(name)]);
  for (const [event, call] of pairs) model.on(event, call);
  return () => pairs.forEach(([event, call]) => model.off(event, call));
}
