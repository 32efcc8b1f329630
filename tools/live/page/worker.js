// A worker with Python (Pyodide), NumPy and the simulator; clang is loaded when a text was changed. It asks no other host.
import { loadPyodide } from "./pyodide/pyodide.mjs";

let python = null;
const report = (says, progress) => postMessage({ says, progress });

// Fetch a file, and report how much of it has come.
async function fetched(name, from, to, says) {
  let response;
  try {
    response = await fetch(name);
  } catch {
    throw new Error(`${says} could not be loaded; the connection may be down.`);
  }
  if (!response.ok) throw new Error(`${says} could not be loaded (${response.status}).`);
  const whole = Number(response.headers.get("content-length")) || 0;
  const reader = response.body.getReader();
  const parts = [];
  let have = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    have += value.length;
    if (whole) report(`loads ${says} …`, from + (to - from) * Math.min(1, have / whole));
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function begin() {
  report("loads Python …", 0.02);
  const packages = Promise.all([
    fetched("numpy.zip", 0.1, 0.5, "NumPy"),
    fetched("ml_dtypes.zip", 0.5, 0.55, "the number formats"),
    fetched("lab.zip", 0.55, 0.8, "the simulator"),
  ]);
  python = await loadPyodide({ indexURL: new URL("./pyodide/", self.location.href).href });
  const [numpy, formats, lab] = await packages;
  const site = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(numpy.buffer, "zip", { extractDir: site });
  python.unpackArchive(formats.buffer, "zip", { extractDir: site });
  python.unpackArchive(lab.buffer, "zip", { extractDir: "/lab" });
  report("starts …", 0.9);
  python.runPython("import sys; sys.path.insert(0, '/lab'); import lab_page");
  report("ready", 1);
}

// ---- clang ----

const tree = (files) => {
  const root = {};
  for (const [path, text] of Object.entries(files)) {
    const parts = path.split("/");
    let folder = root;
    for (const part of parts.slice(0, -1)) folder = folder[part] ??= {};
    folder[parts.at(-1)] = text;
  }
  return root;
};
let clang = null;
async function compiler() {
  if (clang) return;
  report("loads the compiler …", 0.05);
  let module;
  try {
    module = await import("./clang/bundle.js");
    let have = 0;
    await module.runLLVM(["clang", "--version"], {}, {
      stdout: null,
      stderr: null,
      fetchProgress: ({ doneLength, totalLength }) => {
        have = totalLength ? doneLength / totalLength : have;
        report("loads the compiler …", Math.min(0.99, have));
      },
    });
  } catch (error) {
    throw new Error(`The compiler could not be loaded; the connection may be down. (${error.message ?? error})`);
  }
  report("starts …", 1);
  clang = (asked) => {
    const { arguments: words, files } = JSON.parse(asked);
    const out = [];
    let log = "";
    const [text, errors] = [new TextDecoder(), new TextDecoder()];
    let status = 0;
    try {
      module.runLLVM(["clang", ...words], tree(files), {
        synchronously: true,
        stdout: (bytes) => bytes && out.push(text.decode(bytes, { stream: true })),
        stderr: (bytes) => bytes && (log += errors.decode(bytes, { stream: true })),
        fetchProgress: () => {},
      });
    } catch (error) {
      status = 1;
      if (!log) log = String(error.message ?? error);
    }
    return JSON.stringify([status, out.join(""), log]);
  };
  python.globals.get("lab_page").use_clang(clang);
}

onmessage = async ({ data }) => {
  try {
    if (data.what === "begin") await begin();
    if (data.what !== "run") return postMessage({});
    if (data.edited) await compiler();
    postMessage(JSON.parse(python.globals.get("lab_page").run(data.kernel, data.source, data.edited)));
  } catch (error) {
    const text = String(error.message ?? error).trim().split("\n");
    const told = text.findLast((line) => /^[\w.]*(Error|Exception|Interrupt)\b/.test(line)) ?? text.at(-1);
    postMessage({ error: told.replace(/^[\w.]*Error: /, "") });
  }
};
