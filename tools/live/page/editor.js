// The editor: its margin, which shows what lines cost, its marks, and its keys.
const narrow = matchMedia("(max-width: 60rem)");
const dark = matchMedia("(prefers-color-scheme: dark)");

ace.config.set("basePath", "ace");
export const editor = ace.edit("editor", {
  mode: "ace/mode/c_cpp",
  fontSize: 12,
  tabSize: 2,
  useSoftTabs: true,
  useWorker: false,
  printMarginColumn: 100,
  scrollPastEnd: 0.3,
});
editor.textInput.getElement().setAttribute("aria-label", "Source of the kernel. Escape, then Tab, leaves it.");
const dress = () => editor.setTheme(dark.matches ? "ace/theme/tomorrow_night" : "ace/theme/chrome");
dark.addEventListener("change", dress);
dress();

// ---- The margin and the marks ----

let costs = new Map(); // line from 0 → {wavefronts, times}
let width = 0; // characters of the longest cost
const marks = [];
const short = new Intl.NumberFormat("en", { notation: "compact" }); // 16,384 is 16K; the table has all digits
editor.session.gutterRenderer = {
  getWidth: (session, last, config) => config.characterWidth * (width + Math.max(2, String(session.getLength()).length)),
  getText: (session, row) => (width ? `${(costs.get(row) ?? "").padStart(width - 1)} ${row + 1}` : row + 1),
};
export function clear() {
  costs = new Map();
  width = 0;
  editor.session.clearAnnotations();
  while (marks.length) editor.session.removeMarker(marks.pop());
  editor.renderer.updateFull();
}

// Show what the lines of an answer cost, and its notes, and scroll to a line.
export function annotate(lines, notes, line) {
  clear();
  for (const { line, here, wavefronts, ideal } of lines) {
    if (!wavefronts || !here) continue;
    const times = ideal && wavefronts > ideal ? `×${short.format(wavefronts / ideal)}` : "";
    costs.set(line - 1, narrow.matches ? times : `${short.format(wavefronts)} ${times}`.trim());
  }
  width = Math.max(0, ...Array.from(costs.values(), (text) => text.length + 1));
  const Range = ace.require("ace/range").Range;
  const mark = (line, kind) => marks.push(editor.session.addMarker(new Range(line - 1, 0, line - 1, 1), kind, "fullLine"));
  const annotations = [];
  for (const { line, text } of notes) {
    if (!line) continue;
    mark(line, "hazard");
    annotations.push({ row: line - 1, column: 0, text, type: "error" });
  }
  if (line && !annotations.length) mark(line, "dear");
  editor.session.setAnnotations(annotations);
  editor.renderer.updateFull();
  if (line && !editor.isRowFullyVisible(line - 1)) editor.scrollToLine(line - 1, true, true);
}

// ---- Keys ----

// Ace writes a tabulator when Tab is pressed, so a keyboard could not leave it: behind Escape, Tab goes on.
const tabs = (free) => editor.commands.bindKeys({ Tab: free ? null : "indent", "Shift-Tab": free ? null : "outdent" });
editor.commands.addCommand({ name: "leave", bindKey: "Esc", exec: () => tabs(true) });
editor.on("change", () => tabs(false));
editor.on("focus", () => tabs(false));
