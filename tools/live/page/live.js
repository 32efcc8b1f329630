// The page: an editor, and a worker that compiles and simulates. The page itself never computes, so it never freezes.
import { annotate, clear, editor } from "./editor.js";
import { KEY, keep, kept, packed, unpacked } from "./kept.js";
import { argumentsOf, describe, launch, setLaunch, shorten } from "./launch.js";
import { present } from "./result.js";

const $ = (id) => document.getElementById(id);
const kernels = await (await fetch("kernels.json")).json(); // {name: {title, group, source, launch?, task?, hint?}}
const sizes = await (await fetch("sizes.json")).json(); // {simulator, compiler}: bytes that each of them downloads
const FIRST = "own/transpose";
const YOURS = "own/yours";
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
const say = (text) => ($("state").textContent = text);
const embedded = new URLSearchParams(location.search).has("embed"); // in another page, which is the site's first
document.documentElement.classList.toggle("embed", embedded);

// ---- A question before something is lost, and a note ----

function question(text, yes, no, then) {
  $("ask").firstElementChild.textContent = text;
  $("ask").hidden = false;
  for (const [id, label, answer] of [["yes", yes, true], ["no", no, false]]) {
    $(id).hidden = !label;
    $(id).textContent = label;
    $(id).onclick = () => {
      $("ask").hidden = true;
      then?.(answer);
      editor.focus();
    };
  }
}

// ---- Choice of the kernel ----

const groups = new Map();
for (const [name, { title, group }] of Object.entries(kernels)) {
  if (!groups.has(group)) {
    groups.set(group, document.createElement("optgroup"));
    groups.get(group).label = group;
    $("kernel").append(groups.get(group));
  }
  const plain = name.startsWith("own/") || name.startsWith("exercise/") || name.endsWith(`/${title}`);
  const rung = name.startsWith("exercise/") ? `Exercise: ${title}` : name.startsWith("own/") ? title : name;
  groups.get(group).append(new Option(plain ? rung : `${rung}  ${title}`.trim(), name));
}
const chosen = () => $("kernel").value;
const own = () => chosen().startsWith("own/");
const original = (name) => ({ source: kernels[name].source, launch: kernels[name].launch });
const written = () => ({ source: editor.getValue(), ...(own() ? { launch: launch() } : {}) });
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const edited = () => !same(written(), original(chosen()));

let showing = false; // while a text is put into the editor, which is no edit
function show(name, edit, line) {
  const { source, launch } = { ...original(name), ...(edit ?? kept(name)) };
  const { task, hint, parameters, constants, whole } = kernels[name];
  showing = true;
  $("kernel").value = name;
  editor.session.setValue(source);
  $("launching").hidden = !name.startsWith("own/");
  if (own()) {
    heads = headsOf(original(name).source);
    setLaunch(launch, headsOf(source) === heads ? parameters : []);
  }
  showing = false;
  clear();
  $("ask").hidden = true;
  $("task").hidden = !task;
  $("task").replaceChildren();
  if (task) {
    $("task").append(task);
    $("task").insertAdjacentHTML("beforeend", " <details><summary>Hint</summary><span></span></details>");
    $("task").querySelector("span").textContent = hint;
    if (whole) {
      $("task").insertAdjacentHTML("beforeend", `<details><summary>The whole kernel, with ${constants}</summary><pre tabindex="0"></pre></details>`);
      $("task").querySelector("pre").textContent = whole;
    }
  }
  $("result").replaceChildren();
  if (line) editor.gotoLine(line, 0, true);
  if (own()) look();
}
$("kernel").onchange = () => {
  history.pushState(null, "", `#kernel=${chosen()}`); // so that Back leads to the kernel before
  show(chosen());
};
function changed() {
  if (showing) return;
  clear();
  $("result").classList.add("old");
  if (!embedded) prepare(); // who writes will run it
  if (location.hash.startsWith("#text=")) history.replaceState(null, "", `#kernel=${chosen()}`);
  keep(chosen(), edited() ? written() : null);
  if (own()) look();
  else if (!chosen().startsWith("exercise/") && /__global__/.test(editor.getValue()) && !/\bgemm\s*\(/.test(editor.getValue()))
    question("This text has no kernel called gemm, so it is one of your own.", "Open it as such", "Not now", (yes) => {
      if (!yes) return;
      const source = editor.getValue();
      keep(chosen(), null);
      if (kept(YOURS)) question("You have a kernel of your own here already.", "Replace it", "Keep it", (yes) => yes && show(YOURS, { source }));
      else show(YOURS, { source });
    });
}
editor.session.on("change", changed);
$("launch").oninput = changed;
$("launch").onsubmit = (event) => event.preventDefault();
$("reset").onclick = () => {
  const back = () => {
    editor.setValue(original(chosen()).source, -1); // unlike a new session, it can be undone
    if (own()) setLaunch(original(chosen()).launch, kernels[chosen()].parameters);
    changed();
  };
  if (edited()) question("The original text takes the place of what you wrote.", "Take the original", "Keep mine", (yes) => yes && back());
};
addEventListener("storage", ({ key }) => {
  if (key !== KEY + chosen() || same(kept(chosen()) ?? original(chosen()), written())) return;
  question("This kernel was changed in another tab.", "Show that text", "Keep this one", (yes) =>
    yes ? show(chosen()) : keep(chosen(), edited() ? written() : null));
});
$("share").onclick = async () => {
  const text = await packed({ kernel: chosen(), ...written() });
  history.replaceState(null, "", `#text=${text}`);
  try {
    await navigator.clipboard.writeText(location.href.replace(location.search, ""));
    say("The link is copied: it holds the text and the launch.");
  } catch {
    say("The address of this page now holds all of it: copy it from there.");
  }
};

// ---- The worker ----

let worker = null;
let ready = null; // a promise while the simulator is loading or loaded
let waiting = null; // {resolve, reject} of the request in progress
let last = Promise.resolve(); // the request before
let loaded = true; // nothing had to be loaded for the run
function begin() {
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.progress !== undefined) {
      $("progress").hidden = data.progress >= 1;
      $("progress").value = data.progress;
      loaded &&= data.progress >= 1;
      say(data.says);
    } else if (data.error) waiting?.reject(Object.assign(new Error(data.error), { fatal: data.fatal }));
    else waiting?.resolve(data);
  };
  worker.onerror = (event) => waiting?.reject(Object.assign(new Error(event.message || "The worker could not be started."), { fatal: true }));
  ready = send({ what: "begin" });
  ready.catch(() => {});
}
function prepare() {
  if (!worker) begin();
  if (editor.getValue() !== original(chosen()).source) worker.postMessage({ what: "compiler" });
}
function send(message) {
  return new Promise((resolve, reject) => {
    waiting = { resolve, reject };
    worker.postMessage(message);
  });
}
// Ask the worker, which is started if there is none, when it has answered what was asked before.
function ask(message) {
  const answer = last.then(async () => {
    if (!worker) prepare();
    await ready;
    return send(message);
  });
  last = answer.catch(() => {});
  return answer;
}
function end() {
  worker?.terminate();
  worker = ready = waiting = null;
  $("progress").hidden = true;
}

// ---- The kernels of a text ----

const headsOf = (text) => {
  const found = text.match(/__global__[^{;]*/g) ?? [];
  return [...found, ...(found.length ? text.split("\n").filter((line) => /\btemplate\b|<<</.test(line)) : [])].join("\n");
};
let heads = null; // the heads and the launches of the kernels that the form describes
let later = 0;
let fitting = null; // a promise of the error that ended it, or of nothing
function look() {
  clearTimeout(later);
  if (headsOf(editor.getValue()) !== heads) $("short").textContent = "read from the text as soon as the simulator is there";
  later = setTimeout(() => (fitting = fit()), 400);
}
async function fit() {
  const found = headsOf(editor.getValue());
  if (found === heads || !found) return null;
  heads = found;
  try {
    const list = await ask({ what: "kernels", source: editor.getValue() });
    if (!own() || heads !== found) return null;
    describe(list);
    shorten();
    keep(chosen(), edited() ? written() : null);
    if (!running) say("");
    return null;
  } catch (error) {
    heads = null;
    say(error.message);
    if (error.fatal) end();
    return error;
  }
}

// ---- Run ----

$("launching").open = !embedded && matchMedia("(min-width: 60rem)").matches;
let running = false;
async function run() {
  if (running || $("run").disabled) return;
  running = true;
  $("run").disabled = true;
  $("stop").hidden = false;
  $("result").classList.add("old");
  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  const ticking = setInterval(() => {
    $("clock").textContent = `${Math.round(seconds())} s`;
    if ($("progress").hidden && seconds() > 8) say("runs …; Stop ends it, and a loop without end is stopped");
  }, 1000);
  loaded = true;
  let answer;
  try {
    const failed = own() && (await Promise.all([fitting, fit()])).find(Boolean);
    if (failed) throw failed;
    const request = { name: chosen(), source: editor.getValue(), launch: own() ? { ...launch(), parameters: argumentsOf() } : null };
    const asked = ask({ what: "run", asked: JSON.stringify(request) });
    if (loaded) say("runs …");
    answer = await asked;
    const line = present($("result"), answer, request.name, argumentsOf());
    if (editor.getValue() === request.source) annotate(answer.lines, answer.notes, line);
    if (!embedded && !matchMedia("(min-width: 60rem)").matches) $("result").scrollIntoView({ block: "nearest" });
    say(`${loaded ? "" : "loaded and "}ran in ${seconds().toFixed(1)} s`);
  } catch (error) {
    say("");
    answer = { error: error.message };
    $("result").innerHTML = `<p class="bad"></p><p>Your text is unchanged. Press Run to try again.</p>`;
    $("result").firstElementChild.textContent = error.message;
    $("result").classList.remove("old");
    if (error.fatal) end();
  }
  clearInterval(ticking);
  $("clock").textContent = "";
  window.lastAnswer = { ...answer, seconds: seconds() };
  $("run").disabled = running = false;
  $("stop").hidden = true;
}
$("run").onclick = run;
$("stop").onclick = () => {
  waiting?.reject(Object.assign(new Error("Stopped."), { fatal: true }));
  end();
};
addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
  }
}, true);
$("result").onclick = ({ target }) => {
  const line = Number(target.closest("[data-line]")?.dataset.line);
  if (line) {
    editor.gotoLine(line, 0, true);
    editor.focus();
  }
};

// ---- Begin ----

async function follow() {
  const first = new URLSearchParams(location.hash.slice(1));
  const named = first.get("kernel");
  show(kernels[named] ? named : FIRST, undefined, Number(first.get("line")) || 0);
  if (named && !kernels[named]) say(`There is no kernel ${named}; the first one is shown.`);
  if (first.has("text")) {
    try {
      const { kernel, ...edit } = await unpacked(first.get("text"));
      if (!kernels[kernel] || typeof edit.source !== "string") throw new Error("no kernel");
      const mine = kept(kernel);
      show(kernel, edit);
      if (mine && !same(mine, written()))
        question("The address has another text than the one that you wrote here.", "Show mine", "Keep that of the address", (yes) => {
          if (yes) history.replaceState(null, "", `#kernel=${kernel}`);
          show(kernel, yes ? mine : edit);
        });
    } catch {
      say("The text in this address is damaged; the first kernel is shown.");
    }
  }
}
addEventListener("popstate", follow);
await follow();
if (typeof WebAssembly === "undefined" || typeof Worker === "undefined") {
  say("This browser has no WebAssembly, which the simulator needs; a newer Firefox, Chrome, Edge or Safari has it.");
} else {
  $("run").disabled = false;
  if (!$("state").textContent) say(`The first run loads the simulator, ${megabytes(sizes.simulator)}, and for a text of yours the compiler, ${megabytes(sizes.compiler)}; the browser keeps them.`);
}
