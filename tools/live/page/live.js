// The page: an editor, and a worker that compiles and simulates. The page itself never computes, so it never freezes.
const $ = (id) => document.getElementById(id);
const kernels = await (await fetch("kernels.json")).json(); // {name: {title, source}}
const sizes = await (await fetch("sizes.json")).json(); // {simulator, compiler}: bytes that each of them downloads
const escaped = (text) => text.replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

// ---- The editor ----

ace.config.set("basePath", "ace");
const editor = ace.edit("editor", { mode: "ace/mode/c_cpp", fontSize: 13, tabSize: 2, useSoftTabs: true, useWorker: false });
editor.textInput.getElement().setAttribute("aria-label", "Source of the kernel");
const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => editor.setTheme(dark.matches ? "ace/theme/tomorrow_night" : "ace/theme/chrome");
dark.addEventListener("change", dress);
dress();

let costs = new Map(); // line from 0 → text in the margin
editor.session.gutterRenderer = {
  getWidth: (session, last, config) => config.characterWidth * (costs.size ? 16 : 4),
  getText: (session, row) => (costs.size ? `${costs.get(row) ?? ""} │${String(row + 1).padStart(4)}` : row + 1),
};
const marks = [];
function clear() {
  costs = new Map();
  editor.session.clearAnnotations();
  while (marks.length) editor.session.removeMarker(marks.pop());
  editor.renderer.updateFull();
}
function mark(line, text, type) {
  const Range = ace.require("ace/range").Range;
  marks.push(editor.session.addMarker(new Range(line - 1, 0, line - 1, 1), "hazard", "fullLine"));
  editor.session.setAnnotations([...editor.session.getAnnotations(), { row: line - 1, column: 0, text, type }]);
}
editor.session.on("change", () => costs.size && clear());

// ---- A text in the address ----

const bytesOf = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());
async function packed(value) {
  const text = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const binary = Array.from(await bytesOf(text), (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
async function unpacked(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const value = JSON.parse(new TextDecoder().decode(await bytesOf(stream)));
  if (!kernels[value.kernel] || typeof value.source !== "string") throw new Error("no kernel");
  return value;
}

// ---- Choice of the kernel ----

const groups = new Map();
for (const [name, { title }] of Object.entries(kernels)) {
  const [ladder, rung] = name.split("/");
  if (!groups.has(ladder)) {
    const group = document.createElement("optgroup");
    group.label = ladder;
    groups.set(ladder, group);
    $("kernel").append(group);
  }
  groups.get(ladder).append(new Option(title ? `${rung}: ${title}` : rung, name));
}
function show(name, source, line) {
  $("kernel").value = name;
  editor.session.setValue(source ?? kernels[name].source);
  clear();
  const { task, hint } = kernels[name];
  $("task").hidden = !task;
  $("task").innerHTML = task ? `<b>Exercise.</b> ${escaped(task)} <details><summary>Hint</summary>${escaped(hint)}</details>` : "";
  $("result").textContent = "";
  if (line) editor.gotoLine(line, 0, true);
}
const exercise = () => $("kernel").value.startsWith("exercise/");
const edited = () => exercise() || editor.getValue() !== kernels[$("kernel").value].source;
$("kernel").onchange = () => {
  history.replaceState(null, "", `#kernel=${$("kernel").value}`);
  show($("kernel").value);
};
$("reset").onclick = () => show($("kernel").value);
$("share").onclick = async () => {
  const text = await packed({ kernel: $("kernel").value, source: editor.getValue() });
  history.replaceState(null, "", `#text=${text}`);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied: it holds the whole text.");
  } catch {
    say("The address of this page now holds the whole text: copy it from there.");
  }
};

// ---- The worker ----

let worker = null;
let ready = null; // a promise while the simulator is loading or loaded
let waiting = null; // {resolve, reject} of the request in progress
const say = (text) => ($("state").textContent = text);
function begin() {
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.progress !== undefined) {
      $("progress").hidden = data.progress >= 1;
      $("progress").value = data.progress;
      say(data.says);
    } else if (data.error) waiting?.reject(new Error(data.error));
    else waiting?.resolve(data);
  };
  worker.onerror = (event) => waiting?.reject(new Error(event.message || "the worker could not be started"));
  ready = ask({ what: "begin" });
}
function ask(message) {
  return new Promise((resolve, reject) => {
    waiting = { resolve, reject };
    worker.postMessage(message);
  });
}
function end() {
  worker?.terminate();
  worker = ready = waiting = null;
  $("progress").hidden = true;
}

// ---- Run ----

function present(answer) {
  clear();
  for (const line of answer.lines) {
    const times = line.ideal && line.wavefronts > line.ideal ? ` ×${(line.wavefronts / line.ideal).toFixed(1)}` : "";
    if (line.wavefronts && line.here) costs.set(line.line - 1, `${line.wavefronts.toLocaleString("en")}${times}`);
  }
  for (const note of answer.notes) if (note.line) mark(note.line, note.text, "error");
  editor.renderer.updateFull();
  const rows = answer.lines
    .map(
      (line) =>
        `<tr><td>${line.line}</td><td class="code">${escaped(line.text)}</td><td>${line.wavefronts.toLocaleString("en")}</td>` +
        `<td>${line.ideal.toLocaleString("en")}</td><td>${line.sectors.toLocaleString("en")}</td></tr>`,
    )
    .join("");
  $("result").innerHTML =
    `<p class="${answer.passed ? "good" : "bad"}">${escaped(answer.verdict)}</p>` +
    (answer.notes.length
      ? `<h2>${answer.heading}</h2><ul>${answer.notes.map((note) => `<li>${note.line ? `<b>Line ${note.line}.</b> ` : ""}${escaped(note.text)}</li>`).join("")}</ul>`
      : answer.counted
        ? `<p>No race and no missing fence was found.</p>`
        : "") +
    (answer.summary ? `<p>${escaped(answer.summary)}</p>` : "") +
    (rows
      ? `<h2>What the lines ${exercise() ? "of the whole kernel " : ""}cost</h2><div class="table" tabindex="0"><table><thead><tr><th>line</th><th>source</th><th>wavefronts</th><th>least possible</th><th>sectors</th></tr></thead><tbody>${rows}</tbody></table></div>`
      : "") +
    (answer.advice ? `<p>${escaped(answer.advice)}</p>` : "") +
    (answer.compiler ? `<p class="small">${escaped(answer.compiler)}</p>` : "");
}

let agreed = false; // whether the reader has been told how large the compiler is
async function run() {
  const request = { what: "run", kernel: $("kernel").value, source: editor.getValue(), edited: edited() };
  if (request.edited && !agreed) {
    $("ask").hidden = false;
    $("ask").textContent = `This text has to be compiled. The compiler has ${megabytes(sizes.compiler)}, once; the browser keeps it.`;
    agreed = true;
  }
  $("run").disabled = true;
  $("stop").hidden = false;
  const begun = performance.now();
  try {
    if (!worker) begin();
    await ready;
    say(request.edited ? "compiles and runs …" : "runs …");
    const answer = await ask(request);
    present(answer);
    say(`${((performance.now() - begun) / 1000).toFixed(1)} s`);
    window.lastAnswer = { ...answer, seconds: (performance.now() - begun) / 1000 };
  } catch (error) {
    say("");
    $("result").innerHTML = `<p class="bad">${escaped(error.message)}</p><p>Your text is unchanged. Press Run to try again.</p>`;
    window.lastAnswer = { error: error.message };
    end();
  }
  $("ask").hidden = true;
  $("run").disabled = false;
  $("stop").hidden = true;
}
$("run").onclick = run;
$("stop").onclick = () => {
  waiting?.reject(new Error("Stopped."));
  end();
};

// ---- Begin ----

const first = new URLSearchParams(location.hash.slice(1));
let named = first.get("kernel");
show(kernels[named] ? named : "t4/03_swizzled", undefined, Number(first.get("line")) || 0);
if (named && !kernels[named]) say(`There is no kernel ${named}; t4/03_swizzled is shown.`);
if (first.has("text")) {
  try {
    const { kernel, source } = await unpacked(first.get("text"));
    show(kernel, source);
  } catch {
    say("The text in this address is damaged; the original of t4/03_swizzled is shown.");
  }
}
if (typeof WebAssembly === "undefined" || typeof Worker === "undefined") {
  say("This browser has no WebAssembly, which the simulator needs; a newer Firefox, Chrome, Edge or Safari has it.");
} else {
  $("run").disabled = false;
  if (!$("state").textContent) say(`The first run loads the simulator, ${megabytes(sizes.simulator)}.`);
}
