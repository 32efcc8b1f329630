// The launch of a kernel of one's own: a form whose words are those of the command line.
const $ = (id) => document.getElementById(id);
const FIELDS = { kernel: "name", grid: "grid", block: "block", more: "more", expected: "expected" };
let found = []; // the kernels of the text: {name, parameters, words, grid, block}
const bare = (name) => name.replace(/<.*/s, "");

export const argumentsOf = () => Array.from(document.querySelectorAll("#arguments label"), (label) => label.firstChild.textContent.trim());

export function launch() {
  const given = Object.entries(FIELDS).map(([key, id]) => [key, $(id).value.trim()]);
  const args = Array.from(document.querySelectorAll("#arguments input"), (input) => input.value.trim());
  return { ...Object.fromEntries(given.slice(0, 3)), args, ...Object.fromEntries(given.slice(3)) };
}
export function setLaunch({ args = [], ...given } = {}, parameters = []) {
  for (const [key, id] of Object.entries(FIELDS)) $(id).value = given[key] ?? "";
  $("guessed").hidden = true;
  draw(args, args.length === parameters.length ? parameters : []);
}
export function shorten() {
  $("short").textContent = `${$("name").value || "the kernel"}, grid ${$("grid").value || 1}, block ${$("block").value || 32}`;
}
$("launch").addEventListener("input", () => {
  $("guessed").hidden = true;
  shorten();
});
function draw(words, parameters) {
  const labels = words.map((word, number) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.value = word;
    input.spellcheck = false;
    label.append(`${parameters[number] ?? `argument ${number}`} `, input);
    return label;
  });
  $("arguments").replaceChildren(...labels);
  shorten();
}

// Fit the form to the kernels of the text. What was written stays if the kernel has the name or the parameters of before.
export function describe(list) {
  const was = found;
  found = list.map((one) => ({ ...one, parameters: one.parameters.map((text) => text.replace(/\s*\b__restrict(__)?\b/, "")) }));
  $("names").replaceChildren(...found.map(({ name }) => new Option(name)));
  const before = launch();
  const known = argumentsOf();
  const kernel = found.find(({ name }) => bare(name) === bare(before.kernel));
  const next = kernel ?? found[0];
  if (!next) return;
  const stays = Boolean(kernel) || known.join() === next.parameters.join();
  $("guessed").hidden = stays;
  $("guessed").textContent = next.says;
  if (!stays) for (const key of ["grid", "block", "more", "expected"]) $(key).value = next[key] ?? "";
  const meant = before.expected.split("=")[0].trim();
  if (!next.parameters.some((text) => text.split(/\W+/).includes(meant))) $("expected").value = "";
  const suggested = was.find(({ name }) => bare(name) === bare(next.name))?.name ?? next.name;
  if (!kernel || suggested !== next.name) $("name").value = next.name;
  const unnamed = known.every((label) => /^argument \d+$/.test(label)) && known.length === next.parameters.length;
  const words = next.parameters.map((parameter, number) => {
    const at = !stays ? -1 : unnamed ? number : known.indexOf(parameter);
    return at >= 0 ? before.args[at] : next.words[number];
  });
  draw(words, next.parameters);
}
$("name").onchange = () => {
  if (found.length) describe(found);
};
