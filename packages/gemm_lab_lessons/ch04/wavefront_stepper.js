// The wavefront stepper: the shared-memory accesses of a compiled kernel's warps, one wavefront at a time.
import { idealWavefronts, schedule } from "../shared/banks.js";
import { drawMemory } from "./memory_canvas.js";
import { h, keepKeys, listen, oncePerFrame, readTheme, watch, whileSeen } from "gemm_lab/theme.js";
import { drawWavefronts } from "./wavefront_canvas.js";

const PLAY_MS = 550;

export function render({ model, el }) {
  let theme, access, timer = null;
  const get = (name) => model.get(name);
  const set = (name, value) => (model.set(name, value), model.save_changes());

  const line = h("select", { "aria-label": "line", onchange: (event) => set("line", Number(event.target.value)) });
  const warp = h("select", { "aria-label": "warp", onchange: (event) => set("warp", Number(event.target.value)) });
  const execution = h("input", { type: "range", min: 0, "aria-label": "execution", oninput: (event) => choose(Number(event.target.value)) });
  const wavefront = h("input", { type: "range", min: 0, "aria-label": "wavefront", oninput: (event) => show(Number(event.target.value)) });
  const which = h("span", { class: "gl-where" }), now = h("span", { class: "gl-where" });
  const play = h("button", { class: "gl-main", onclick: () => (timer ? pause() : start()) }, "Play");
  const title = h("span", { class: "gl-muted gl-end" }), code = h("code", { class: "gl-code" });
  const verdict = h("div", { class: "gl-verdict", "aria-live": "polite" });
  const memory = h("canvas", { role: "img", "aria-label": "lines of shared memory" });
  const passes = h("canvas", { role: "img", "aria-label": "wavefronts" });
  const field = (words, input) => h("label", { class: "gl-field" }, h("span", {}, words), input);
  const button = (words, label, act) => h("button", { "aria-label": label, onclick: act }, words);
  const panel = (name, words, canvas) => h("div", {}, h("div", { class: "gl-title" }, name, h("span", { class: "gl-muted" }, words)),
    h("div", { class: "gl-scroll gl-short", tabindex: 0, "aria-label": name }, canvas));
  const root = h("div", { class: "gemm-lab" },
    h("div", { class: "gl-controls" }, field("line", line), field("warp", warp), title), code,
    h("div", { class: "gl-steps" }, button("‹", "execution back", () => choose(get("execution") - 1)), execution,
      button("›", "execution on", () => choose(get("execution") + 1)), which),
    verdict,
    h("div", { class: "gl-beside gl-two" },
      panel("Shared memory", "lines of 128 bytes", memory),
      panel("Wavefronts", "one row a pass over the banks", passes)),
    h("div", { class: "gl-steps gl-player" }, play, button("‹", "wavefront back", () => show(get("wavefront") - 1)), wavefront,
      button("›", "wavefront on", () => show(get("wavefront") + 1)), now));
  keepKeys(root);
  el.append(root);

  const count = () => access.schedule.phase.length;

  function choose(number) {
    const last = get("accesses").length - 1;
    pause();
    model.set("wavefront", -1);
    set("execution", Math.max(0, Math.min(number, last)));
  }

  // The last position of the slider, like -1, shows all wavefronts.
  function show(number) {
    if (number < 0 && get("wavefront") < 0) number = count() - 1;
    set("wavefront", number >= count() ? -1 : Math.max(number, 0));
  }

  function start() {
    show(0);
    play.textContent = "Pause";
    timer = whileSeen(root, () => {
      if (get("wavefront") < 0) pause();
      else show(get("wavefront") + 1);
      if (get("wavefront") < 0) pause();
    }, PLAY_MS);
  }

  function pause() {
    timer?.();
    timer = null;
    play.textContent = "Play";
  }

  function complete(item) {
    const active = item.addresses.map((address) => address >= 0);
    const made = schedule(item.kind, item.addresses, item.width, active, item.source);
    return { ...item, active, schedule: made, ideal: idealWavefronts(active.filter(Boolean).length, item.width) };
  }

  function build() {
    const lines = get("lines"), chosen = lines.find((entry) => entry.number === get("line"));
    line.replaceChildren(...lines.map((entry) => h("option", { value: entry.number },
      `${entry.number}: ${entry.wavefronts.toLocaleString("en")} wavefronts, ${+(entry.wavefronts / entry.ideal).toFixed(2)} × ideal`)));
    warp.replaceChildren(...Array.from({ length: get("warps") }, (_, number) => h("option", { value: number }, `${number}`)));
    choices();
    title.textContent = get("title");
    code.textContent = chosen?.text ?? "";
    pick();
  }

  function choices() {
    line.value = get("line");
    warp.value = get("warp");
  }

  function pick() {
    const items = get("accesses");
    if (!items.length) return;
    access = complete(items[Math.min(get("execution"), items.length - 1)]);
    execution.max = items.length - 1;
    execution.value = get("execution");

    const [paid, ideal, executions] = get("whole");
    const free = count() <= access.ideal, number = (n) => n.toLocaleString("en");
    which.textContent = `execution ${get("execution") + 1} of ${number(executions)}`;
    verdict.className = `gl-verdict ${free ? "gl-free" : "gl-conflict"}`;
    verdict.replaceChildren(h("span", { class: "gl-count" }, `${count()}`, h("small", {}, count() === 1 ? "wavefront" : "wavefronts")),
      h("span", { class: "gl-pill" }, free ? "free of conflicts" : `${+(count() / access.ideal).toFixed(2)} × the ideal`),
      h("span", { class: "gl-muted" }, `ideal ${access.ideal}`),
      h("span", { class: "gl-muted gl-end" }, `all executions of this warp: ${number(paid)} of ${number(ideal)} ideal`),
      h("span", { class: "gl-why gl-muted" }, h("code", { class: "gl-opcode" }, access.opcode),
        ` ${access.active.filter(Boolean).length} lanes, ${access.width} bytes each`));
    step();
  }

  function step() {
    const current = get("wavefront");
    wavefront.max = count();
    wavefront.value = current < 0 ? count() : current;
    now.textContent = current < 0 ? `all ${count()}` : `wavefront ${current + 1} of ${count()}: lanes ${lanesOf(current)}`;
    draw();
  }

  function lanesOf(number) {
    const { wavefront: served, words } = access.schedule;
    const lanes = access.active.map((_, lane) => lane).filter((lane) => served.slice(lane * words, (lane + 1) * words).includes(number));
    return lanes.length > 6 ? `${lanes[0]}–${lanes.at(-1)} (${lanes.length})` : lanes.join(", ");
  }

  const draw = oncePerFrame(() => {
    if (!root.isConnected || !root.clientWidth || !access) return;
    theme ??= readTheme(root);
    const current = get("wavefront"), upto = current < 0 ? Infinity : current + 1;
    const width = (canvas) => Math.max(canvas.parentElement.clientWidth, 280);
    drawMemory(memory, { access, theme, width: width(memory), upto, current });
    const spots = drawWavefronts(passes, { access, banks: 32, theme, width: width(passes), upto, current });
    follow(passes.parentElement, current, spots);
  });

  const heard = { accesses: build, execution: pick, wavefront: step, line: choices, warp: choices };
  // Scrolls to the row of the current wavefront, if it is outside the part that is seen.
  function follow(area, current, spots) {
    const share = current / count(), top = share * passes.clientHeight;
    if (current >= 0 && spots.length && (top < area.scrollTop || top > area.scrollTop + area.clientHeight - 40))
      area.scrollTop = top - area.clientHeight / 2;
  }

  const unlisten = listen(model, Object.keys(heard), (name) => heard[name]());
  const stop = watch(root, () => ((theme = null), draw()));
  build();
  return () => (stop(), unlisten(), pause());
}

export default { render };
