// The compiler of a web page: clang as WebAssembly, 23 MB to load. A worker calls it, in the live page or in JupyterLite.
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

// Load clang, and report the share of it that has come. The answer is a function, which takes and returns JSON at once:
// {arguments, files: {path: text}} becomes [exit status, output, messages].
export async function loadClang(report = () => {}) {
  let module;
  try {
    module = await import("./clang/bundle.js");
    await module.runLLVM(["clang", "--version"], {}, {
      stdout: null,
      stderr: null,
      fetchProgress: ({ doneLength, totalLength }) => totalLength && report(doneLength / totalLength),
    });
  } catch (error) {
    throw new Error(`The compiler could not be loaded; the connection may be down. (${error.message ?? error})`);
  }
  return (asked) => {
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
}
