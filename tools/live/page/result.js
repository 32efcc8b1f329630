// What a run found, as HTML: the sentences first, then what the lines cost, results, and layouts that would cost less.
const escaped = (text) => String(text).replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]);
const count = (number) => number.toLocaleString("en");
const to = (line, text) => `<button class="line" data-line="${line}">${text}</button>`;
const table = (head, rows, kind = "") =>
  `<div class="table ${kind}" tabindex="0"><table><thead>${head}</thead><tbody>${rows.join("")}</tbody></table></div>`;
const head = (cells) => `<tr>${cells.map((text) => `<th>${escaped(text)}</th>`).join("")}</tr>`;
const row = (cells) => `<tr>${cells.map((text) => `<td>${escaped(text)}</td>`).join("")}</tr>`;
const folded = (title, html) => `<details><summary>${escaped(title)}</summary>${html}</details>`;

const excess = (line) => line.wavefronts - line.ideal;
const sectors = (line) => line.sectors - line.least_sectors;
// The line of the editor that loses most, if one does.
function worst(lines) {
  for (const loss of [excess, sectors]) {
    const found = lines.filter((line) => line.here && loss(line) > 0).sort((a, b) => loss(b) - loss(a))[0];
    if (found) return found;
  }
  return null;
}

const noteOf = ({ line, text, more }) =>
  `<li>${line ? `${to(line, `Line ${line}`)}: ` : ""}${escaped(text)}${more ? folded("more", `<p>${escaped(more)}</p>`) : ""}</li>`;

const HEADS = `<tr><th></th><th colspan="2">shared memory</th><th colspan="2">global memory</th></tr>
  <tr><th>line</th><th>wavefronts</th><th>least possible</th><th>sectors</th><th>least possible</th></tr>`;
const MEANT = `<p class="small">A <em>wavefront</em> is a cycle that shared memory works for a line; a <em>sector</em> is 32 bytes
  of global memory, the least that is moved at a time.</p>`;
function linesOf({ lines }, name) {
  const dearest = worst(lines)?.line;
  const rows = lines.map((line) => {
    const shared = line.wavefronts ? [line.wavefronts, line.ideal] : ["", ""];
    const global = line.sectors ? [line.sectors, line.least_sectors] : ["", ""];
    const kind = line.here && line.line === dearest ? ' class="worst"' : "";
    return (
      `<tr${kind}${line.here ? ` data-line="${line.line}"` : ""}><td>${line.here ? to(line.line, line.line) : line.line}</td>` +
      `${[...shared, ...global].map((number) => `<td>${count(number)}</td>`).join("")}</tr>` +
      (line.here ? "" : `<tr><td class="code" colspan="5">${escaped(line.text)}</td></tr>`)
    );
  });
  const whole = name.startsWith("exercise/") ? "of the whole kernel " : "";
  return rows.length ? `<h2>What the lines ${whole}cost</h2>${table(HEADS, rows, "costs")}${MEANT}` : "";
}

function arraysOf(answer, parameters) {
  const of = (number) => parameters[Number(number)] ?? number;
  const arrays = answer.arrays ?? [];
  const rows = arrays.map(([number, ...rest]) => row([of(number), ...rest.slice(0, 3)]));
  const all = arrays.map(([number, , , , facts, values]) =>
    folded(`All of ${of(number)}${facts ? `: ${facts}` : ""}`, `<pre tabindex="0">${escaped(values)}</pre>`));
  return rows.length ? `<h2>Results</h2>${table(head(["argument", "type", "the kernel", "values"]), rows, "words")}${all.join("")}` : "";
}

const layoutRow = ([layout, code, bytes, ...wavefronts]) =>
  `<tr><td>${escaped(layout)}${code ? `<code>${escaped(code)}</code>` : ""}</td>${[...wavefronts, bytes].map((text) => `<td>${escaped(text)}</td>`).join("")}</tr>`;
const layoutOf = ({ says, header: [layout, , bytes, ...wavefronts], rows, notes }) =>
  `<p>${escaped(says)}</p>` + (rows.length ? table(head([layout, ...wavefronts, bytes]), rows.map(layoutRow), "layouts") + folded("what this rests on", `<p>${escaped(notes.join(" "))}</p>`) : "");
const OTHERS = "Other layouts of shared memory";
const others = (html, hidden) => (hidden ? folded(`${OTHERS}, which may give the answer away`, html) : `<h2>${OTHERS}</h2>${html}`);

// What the same kernel cost in the run before, if it was different.
let last = {};
function change({ lines, counted }, whose) {
  const sum = (key) => lines.reduce((total, line) => total + line[key], 0);
  const now = counted ? { whose, costs: [sum("wavefronts"), sum("sectors")] } : last;
  const [before, after] = [last, now].map(({ costs = [] }) => costs);
  const same = last.whose !== whose || before.join() === after.join();
  last = now;
  return same ? "" : `<p>Since the run before: ${count(before[0])} → ${count(after[0])} wavefronts of shared memory, ${count(before[1])} → ${count(after[1])} sectors of global memory.</p>`;
}

// Draw an answer into an element. Returns the line of the editor to be looked at, or 0. parameters: of its arguments.
export function present(element, answer, name, parameters) {
  const { passed, verdict, notes, heading, counted, layouts = [] } = answer;
  const [first, ...rest] = verdict.split(/(?<=\.) (?=[A-Z])/);
  const dear = passed && worst(answer.lines);
  const times = dear && excess(dear) ? dear.wavefronts / Math.max(1, dear.ideal) : 1;
  const much = times < 2 ? "" : ` Line ${dear.line} takes ${Math.round(times)} times the wavefronts that it needs.`;
  const printed = [...(answer.output ? [answer.output] : []), ...(answer.printed ?? [])];
  element.innerHTML =
    `<p class="${much ? "fair" : passed ? "good" : "bad"}">${escaped(first + much)}</p>${rest.length ? `<p>${escaped(rest.join(" "))}</p>` : ""}` +
    (notes.length ? `<h2>${heading}</h2><ul>${notes.map(noteOf).join("")}</ul>` : counted ? "<p>No race and no missing wait was found.</p>" : "") +
    answer.advice.map((sentence) => `<p>${escaped(sentence)}</p>`).join("") +
    change(answer, [name, ...parameters].join()) +
    linesOf(answer, name) +
    arraysOf(answer, parameters) +
    (printed.length ? `<h2>Printed</h2><pre tabindex="0">${escaped(printed.join("\n"))}</pre>` : "") +
    (layouts.length ? others(layouts.map(layoutOf).join(""), name.startsWith("exercise/")) : "") +
    (answer.summary ? `<p class="small">${escaped(answer.summary)}</p>` : "") +
    (answer.compiler ? `<p class="small">${escaped(answer.compiler)}</p>` : "");
  element.scrollTop = 0;
  element.classList.remove("old");
  return notes.find((one) => one.line)?.line ?? worst(answer.lines)?.line ?? 0;
}
