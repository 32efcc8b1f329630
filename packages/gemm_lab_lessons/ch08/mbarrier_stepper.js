// The mbarrier stepper: the fields of one mbarrier, its phases, and who waits for which parity, one step at a time.
import { h, keepKeys, listen, readTheme, watch, whileSeen } from "gemm_lab/theme.js";

const PLAY_MS = 1100, PHASES = [-1, 0, 1, 2];

export function render({ model, el }) {
  let timer = null;
  const get = (name) => model.get(name);
  const set = (name, value) => (model.set(name, value), model.save_changes());
  const moments = () => get("moments")[get("story")];

  const story = h("select", { "aria-label": "story", onchange: (event) => choose(event.target.value) },
    ...get("stories").map((name) => h("option", { value: name }, name)));
  const slider = h("input", { type: "range", min: 0, "aria-label": "step", oninput: (event) => go(Number(event.target.value)) });
  const where = h("span", { class: "gl-where" });
  const play = h("button", { class: "gl-main", onclick: () => (timer ? pause() : start()) }, "Play");
  const button = (words, label, act) => h("button", { "aria-label": label, onclick: act }, words);
  const verdict = h("div", { class: "gl-verdict", "aria-live": "polite" });
  const fields = h("div", { class: "gl-fields" }), phases = h("div", { class: "gl-fields" });
  const waiters = h("div", { class: "gl-waiters" }), steps = h("table", { class: "gl-moments" });
  const root = h("div", { class: "gemm-lab" },
    h("div", { class: "gl-controls" }, h("label", { class: "gl-field" }, h("span", {}, "story"), story)),
    h("div", { class: "gl-steps" }, play, button("‹", "step back", () => go(get("step") - 1)), slider,
      button("›", "step on", () => go(get("step") + 1)), where),
    verdict, fields, phases, waiters, h("div", { class: "gl-table" }, steps));
  keepKeys(root);
  el.append(root);

  function choose(name) {
    pause();
    model.set("step", 0);
    set("story", name);
  }

  function go(number) {
    set("step", Math.max(0, Math.min(number, moments().length - 1)));
  }

  function start() {
    if (get("step") === moments().length - 1) go(0);
    play.textContent = "Pause";
    timer = whileSeen(root, () => {
      if (get("step") === moments().length - 1) pause();
      else go(get("step") + 1);
      if (get("step") === moments().length - 1) pause();
    }, PLAY_MS);
  }

  function pause() {
    timer?.();
    timer = null;
    play.textContent = "Play";
  }

  const field = (name, value, more = "") => h("div", { class: `gl-box ${more}` }, h("span", { class: "gl-muted" }, name), h("b", {}, value));

  function draw() {
    const all = moments(), at = Math.min(get("step"), all.length - 1), now = all[at], number = (n) => n.toLocaleString("en");
    story.value = get("story");
    slider.max = all.length - 1;
    slider.value = at;
    where.textContent = `step ${at} of ${all.length - 1}`;
    verdict.className = `gl-verdict ${now.good ? "gl-free" : "gl-conflict"}`;
    verdict.replaceChildren(h("b", {}, now.who), h("code", { class: "gl-opcode" }, now.code), h("span", { class: "gl-why" }, now.says));
    fields.replaceChildren(field("arrivals missing", `${now.pending} of ${now.expected}`), field("bytes missing", number(now.bytes)),
      field("phase", `${now.phase}`), field("its parity", `${now.parity}`, `gl-parity${now.parity}`));
    phases.replaceChildren(...PHASES.map((phase) => {
      const name = phase < 0 ? "before the first" : `phase ${phase}`, state = phase === now.phase ? "now" : phase < now.phase ? "over" : "to come";
      return h("div", { class: `gl-box gl-parity${phase & 1} ${state === "now" ? "gl-now" : ""}` },
        h("span", {}, `${name}: ${state}`), h("span", { class: "gl-muted" }, `parity ${phase & 1}`));
    }));
    const words = [...now.waiting.map(([who, parity]) => `${who} waits for parity ${parity}`), ...now.released.map((who) => `${who} goes on`)];
    waiters.replaceChildren(...(words.length ? words.map((text) => h("span", {}, text)) : [h("span", { class: "gl-muted" }, "Nobody waits.")]));
    steps.replaceChildren(h("tr", {}, ...["", "who", "step", "missing", "bytes", "phase"].map((name) => h("th", {}, name))),
      ...all.map((each, index) => h("tr", { class: `${index === at ? "gl-now" : ""} ${each.good ? "" : "gl-bad"}`, onclick: () => go(index) },
        h("td", {}, `${index}`), h("td", {}, each.who), h("td", {}, h("code", {}, each.code)),
        h("td", {}, `${each.pending}`), h("td", {}, number(each.bytes)), h("td", {}, `${each.phase}`))));
  }

  const unlisten = listen(model, ["story", "step", "moments"], draw);
  const stop = watch(root, () => readTheme(root));
  draw();
  requestAnimationFrame(() => root.isConnected && readTheme(root));
  return () => (stop(), unlisten(), pause());
}

export default { render };
