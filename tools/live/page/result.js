// What a run found, as HTML: the sentences first, then what the lines cost, results, and layouts that would cost less.
const escaped = (text) => String(text).replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]);
const count = (number) => number.toLocaleString("en");
const to = (line, text) => `<button class="line" data-line="${line}">${text}</button>`;
const table = (head, rows, kind = "") =>
  `<div class="table ${kind}" tabindex="0"><table><thead><tr>${head.map((text) => `<th>${escaped(text)}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
const row = (cells) => `<tr>${cells.map((text) => `<td>${escaped(text)}</td>`).join("")}</tr>`;
const folded = (title, html) => `<details><summary>${escaped(title)}</summary>${html}</details>`;

const excess = (line) => line.wavefronts - line.ideal;
const sectors = (line) => line.sectors - line.least_sectors;
// The line of the editor that loses most, if one does.
function worst(lines) {
  for (const loss of [excess, sectors]) {
    const found = lines.filter((line) => line.here && loss(line) > 0).sort((a, b) => loss(b) - loss(a))[0];
    if (found) return found.line;
  }
  return 0;
}

const noteOf = ({ line, text, more }) =>
  `<li>${line ? `${to(line, `Line ${line}`)}: ` : ""}${escaped(text)}${more ? folded("more", `<p>${escaped(more)}</p>`) : ""}</li>`;

function linesOf(answer, name) {
  const dearest = worst(answer.lines);
  const head = ["line", "wavefronts", "least possible", "sectors", "least possible", "source"];
  const rows = answer.lines.map((line) => {
    const shared = line.wavefronts ? [line.wavefronts, line.ideal] : ["", ""];
    const global = line.sectors ? [line.sectors, line.least_sectors] : ["", ""];
    const kind = line.here && line.line === dearest ? ' class="worst"' : "";
    return (
      `<tr${kind}${line.here ? ` data-line="${line.line}"` : ""}><td>${line.here ? to(line.line, line.line) : line.line}</td>` +
      `${[...shared, ...global].map((number) => `<td>${count(number)}</td>`).join("")}<td class="code">${escaped(line.text)}</td></tr>`
    );
  });
  const whole = name.startsWith("exercise/") ? "of the whole kernel " : "";
  return rows.length ? `<h2>What the lines ${whole}cost</h2>${table(head, rows, "costs")}` : "";
}

function arraysOf(answer, parameters) {
  const rows = (answer.arrays ?? []).map(([number, ...rest]) => row([parameters[Number(number)] ?? number, ...rest]));
  return rows.length ? `<h2>Results</h2>${table(["argument", "type", "the kernel", "values"], rows, "words")}` : "";
}

const turned = ([layout, code, bytes, ...wavefronts]) => [layout, ...wavefronts, bytes, code];
const layoutOf = ({ says, header, rows, notes }) =>
  `<p>${escaped(says)}</p>` + (rows.length ? table(turned(header), rows.map((cells) => row(turned(cells))), "layouts") + folded("what this rests on", `<p>${escaped(notes)}</p>`) : "");

const OTHERS = "Other layouts of shared memory";
const others = (html, hidden) => (hidden ? folded(`${OTHERS}, which may give the answer away`, html) : `<h2>${OTHERS}</h2>${html}`);

// Draw an answer into an element. Returns the line of the editor to be looked at, or 0. parameters: of its arguments.
export function present(element, answer, name, parameters) {
  const { passed, verdict, notes, heading, counted, layouts = [] } = answer;
  const [first, ...rest] = verdict.split(/(?<=\.) (?=[A-Z])/);
  const printed = [...(answer.output ? [answer.output] : []), ...(answer.printed ?? [])];
  element.innerHTML =
    `<p class="${passed ? "good" : "bad"}">${escaped(first)}</p>${rest.length ? `<p>${escaped(rest.join(" "))}</p>` : ""}` +
    (notes.length ? `<h2>${heading}</h2><ul>${notes.map(noteOf).join("")}</ul>` : counted ? "<p>No race and no missing wait was found.</p>" : "") +
    answer.advice.map((sentence) => `<p>${escaped(sentence)}</p>`).join("") +
    linesOf(answer, name) +
    arraysOf(answer, parameters) +
    (printed.length ? `<h2>Printed</h2><pre tabindex="0">${escaped(printed.join("\n"))}</pre>` : "") +
    (layouts.length ? others(layouts.map(layoutOf).join(""), name.startsWith("exercise/")) : "") +
    (answer.summary ? `<p class="small">${escaped(answer.summary)}</p>` : "") +
    (answer.compiler ? `<p class="small">${escaped(answer.compiler)}</p>` : "");
  element.scrollTop = 0;
  return notes.find((one) => one.line)?.line ?? worst(answer.lines);
}
