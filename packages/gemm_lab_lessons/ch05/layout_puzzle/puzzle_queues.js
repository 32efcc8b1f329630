// The queues of the banks: the chunks of one access, each below the wavefront that serves it, which can be stepped.
import { at, heads, paint } from "./puzzle_board.js";
import { groupsOf, range } from "./puzzle_rules.js";
import { h, whileSeen } from "gemm_lab/theme.js";

const HEAD = 19, PLAY_MS = 600;

export function queueBoard({ goal }) {
  let view = null, step = 0, timer = null;
  const groups = groupsOf(goal), banks = heads(goal);
  const lines = range(groups + 1).map(() => h("div", { class: "gl-queueline" }));
  const front = h("div", { class: "gl-front" });
  const tokens = range(groups).map(() => h("div", { class: "gl-chunk gl-token" }));
  const done = h("div", { class: "gl-done" });
  const board = h("div", { class: "gl-queues", role: "img" }, banks, front, lines, tokens, done);
  const play = h("button", { class: "gl-main", onclick: () => (timer ? pause() : start()) }, "Play");
  const where = h("span", { class: "gl-muted" });
  const player = h("div", { class: "gl-drain" }, play,
    h("button", { "aria-label": "wavefront back", onclick: () => (pause(), go(step - 1)) }, "‹"),
    h("button", { "aria-label": "wavefront on", onclick: () => (pause(), go(step + 1)) }, "›"), where);

  function show(given) {
    const key = (one) => one && [one.lanes.join(";"), one.served.of.join()].join();
    if (key(view) !== key(given)) {
      pause();
      step = 0;
    }
    view = given;
    place();
  }

  function place() {
    const { layout, lanes, served, cell, tall, dark, says } = view;
    board.style.width = `${groups * cell}px`;
    board.style.height = `${HEAD + goal.rows * tall}px`;
    banks.forEach((bank, group) => at(bank, group * cell, 0, cell, HEAD));
    lines.forEach((line, group) => at(line, group * cell, HEAD, 1, goal.rows * tall));
    at(front, 0, HEAD, groups * cell, tall);
    const wait = new Map();
    lanes.forEach(([row, chunk], lane) => {
      const token = tokens[lane], left = served.of[lane] - step;
      token.textContent = `${row}·${chunk}`;
      paint(token, goal, chunk, dark);
      token.classList.toggle("gl-gone", left < 0);
      token.classList.toggle("gl-waits", left > 0);
      at(token, layout.groupOf(row, chunk) * cell + 2, HEAD + Math.max(left, -0.6) * tall + 2, cell - 4, tall - 4);
      if (left >= 0) wait.set(left, (wait.get(left) ?? 0) + 1);
    });
    const over = step === served.count;
    done.textContent = over ? `all served, by ${served.count} wavefront${served.count === 1 ? "" : "s"}` : "";
    done.style.top = `${HEAD}px`;
    done.style.height = `${tall}px`;
    where.textContent = over ? `${step} of ${served.count} wavefronts` : `wavefront ${step + 1} of ${served.count} is next`;
    board.setAttribute("aria-label", `${says}: ${over ? "all chunks are served" : `wavefront ${step + 1} of ${served.count} serves ` +
      `${wait.get(0) ?? 0} chunk${wait.get(0) === 1 ? "" : "s"}`}`);
  }

  function go(number) {
    step = Math.max(0, Math.min(number, view.served.count));
    place();
  }

  function start() {
    if (step === view.served.count) go(0);
    play.textContent = "Pause";
    timer = whileSeen(board, () => {
      if (step === view.served.count) pause();
      else go(step + 1);
    }, PLAY_MS);
  }

  function pause() {
    timer?.();
    timer = null;
    play.textContent = "Play";
  }

  return { board, player, show, stop: pause };
}
