// Draws the widgets of a page without a server. Each module gets a model with the interface of anywidget's, whose state
// stands in the page as JSON. The picture of a widget stays until its module has drawn it.

const MODULES = new URL("./widgets/", import.meta.url);
const AHEAD = "600px"; // a widget is loaded when it is this close to the window

// A model that keeps its state in the page: nothing listens behind it, so saving and sending do nothing.
function createModel(state) {
  const listeners = new Map(); // event -> set of functions
  const tell = (event, ...values) => [...(listeners.get(event) ?? [])].forEach((call) => call(...values));
  return {
    get: (name) => state[name],
    set(name, value) {
      const same = JSON.stringify(state[name]) === JSON.stringify(value);
      state[name] = value;
      if (same) return;
      tell(`change:${name}`, this, value);
      tell("change", this);
    },
    on(events, call) {
      for (const event of events.split(" ")) {
        if (!listeners.has(event)) listeners.set(event, new Set());
        listeners.get(event).add(call);
      }
    },
    off(events, call) {
      for (const event of events?.split(" ") ?? [...listeners.keys()])
        if (call) listeners.get(event)?.delete(call);
        else listeners.delete(event);
    },
    save_changes() {},
    send() {},
  };
}

async function draw(box) {
  const state = JSON.parse(box.querySelector("script").textContent);
  const loaded = await import(new URL(`${box.dataset.module}.js`, MODULES));
  const widget = typeof loaded.default === "function" ? await loaded.default() : (loaded.default ?? loaded);
  const model = createModel(state), el = document.createElement("div");
  const picture = box.querySelector("img");
  box.append(el); // a view measures its element while it is drawn
  try {
    await widget.initialize?.({ model });
    await widget.render({ model, el });
  } catch (error) {
    el.remove();
    throw error;
  }
  picture.remove();
  box.dataset.alive = "yes";
}

// The widgets read the colours of JupyterLab's theme and hear of its changes by this attribute.
function followTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const tell = () => {
    const { theme } = document.body.dataset;
    document.body.dataset.jpThemeLight = String(!(theme === "dark" || (theme !== "light" && dark.matches)));
  };
  new MutationObserver(tell).observe(document.body, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", tell);
  tell();
}

followTheme();
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      draw(target).catch((error) => console.error(error)); // the picture stays
    }
  },
  { rootMargin: AHEAD },
);
document.querySelectorAll(".lab-widget").forEach((box) => near.observe(box));
