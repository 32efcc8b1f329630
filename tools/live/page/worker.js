// A worker with Python (Pyodide), NumPy and the simulator; clang is loaded when a text was changed. It asks no other host.
import { loadClang } from "./clang.js";
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

let clang = null; // a promise of the compiler, which begins to load as soon as a text is written
function compiler() {
  const progress = (share) => python && report("loads the compiler …", Math.min(0.99, share));
  const came = (one) => (report("ready", 1), one);
  clang ??= loadClang(progress).then(came, (error) => {
    clang = null; // it can be asked for again
    throw error;
  });
  return clang;
}

onmessage = async ({ data }) => {
  if (data.what === "compiler") return void compiler().catch(() => {});
  try {
    if (data.what === "begin") await begin();
    if (data.what === "begin") return postMessage({});
    const page = python.globals.get("lab_page");
    if (data.what === "kernels") return postMessage(JSON.parse(page.kernels(data.source)));
    let answer = JSON.parse(page.run(data.asked));
    if (answer.needs === "compiler") {
      page.use_clang(await compiler());
      report("compiles and runs …", 1);
      answer = JSON.parse(page.run(data.asked));
    }
    postMessage(answer);
  } catch (error) {
    const text = String(error.message ?? error).trim().split("\n");
    const told = text.findLast((line) => /^[\w.]*(Error|Exception|Interrupt)\b/.test(line)) ?? text.at(-1);
    // Without Python, or with one that has stopped, nothing goes on; a compiler that did not come can be asked for again.
    const fatal = data.what === "begin" || !/compiler could not be loaded/.test(told);
    postMessage({ error: told.replace(/^[\w.]*Error: /, ""), fatal });
  }
};
