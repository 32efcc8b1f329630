// An extension of JupyterLab: a cell that begins with %%kernel holds CUDA, so it is coloured as C++ and not as Python.
// Prose is set in lines of about 75 characters, and the pictures, which are drawn for white paper, follow a dark theme:
// their lightness is turned round and their hues stay, so that A is blue and B orange on both. A notebook that was only
// looked at is not said to be unsaved, and a saved widget without its kernel shows its picture.
//
// JupyterLab loads this file from share/jupyter/labextensions/gemm_lab and takes the extension out of _JUPYTERLAB. That is
// the interface that webpack's module federation generates; the extension needs no shared package, so nothing is built.

const CPP = "text/x-c++src";
const MAGIC = /^\s*%%kernel\b/;
const LOOK = `
.jp-Notebook .jp-RenderedMarkdown > :is(p, ul, ol, blockquote, details) { max-width: 68ch; }
.jp-Notebook .jp-RenderedMarkdown > table { margin-left: 0; }
body[data-jp-theme-light="false"] .jp-Notebook :is(.jp-RenderedImage, .jp-RenderedMarkdown, .jp-RenderedHTMLCommon) img {
  filter: invert(0.93) hue-rotate(180deg) saturate(1.15);
}`;

// Keeps the type of one cell right while it is edited, and when JupyterLab sets the type that the kernel names.
function follow(cell) {
  const other = cell.mimeType === CPP ? "text/x-ipython" : cell.mimeType;
  let usual = other;
  let busy = false;
  const update = () => {
    if (busy || cell.isDisposed) return;
    busy = true;
    if (cell.mimeType !== CPP) usual = cell.mimeType;
    const wanted = MAGIC.test(cell.sharedModel.getSource()) ? CPP : usual;
    if (cell.mimeType !== wanted) cell.mimeType = wanted;
    busy = false;
  };
  cell.contentChanged.connect(update);
  cell.mimeTypeChanged.connect(update);
  update();
}

// A kernel that starts writes its version into the notebook, which is then said to be unsaved although nobody changed it.
function keepClean(context) {
  const { model } = context;
  const state = () => {
    const { cells, metadata } = model.sharedModel.toJSON();
    const { language_info, kernelspec, ...rest } = metadata;
    return JSON.stringify([cells, rest, kernelspec?.name]);
  };
  let saved = state();
  context.saveState.connect((_, what) => what === "completed" && (saved = state()));
  const compare = () => {
    if (model.dirty && state() === saved) model.dirty = false;
  };
  model.stateChanged.connect(compare);
  compare();
}

// The view of a widget that was saved is an error where its kernel is gone: in its place comes the picture beside it.
const LOST = "Error displaying widget: model not found";
function showPictures(panel) {
  const find = () => {
    for (const { outputArea } of panel.content.widgets)
      for (const [number, output] of (outputArea?.widgets ?? []).entries()) {
        const lost = [...output.node.querySelectorAll(".jupyter-widgets")].find((node) => node.textContent === LOST);
        const { data } = (lost && outputArea.model.get(number)) || {};
        if (!data?.["image/png"]) continue;
        const picture = document.createElement("img");
        picture.src = `data:image/png;base64,${data["image/png"]}`;
        picture.alt = data["text/plain"] ?? "";
        lost.classList.add("jp-RenderedImage");
        lost.replaceChildren(picture);
      }
  };
  const seen = (changes) => changes.some(({ addedNodes }) => [...addedNodes].some((node) => node.textContent.includes(LOST)));
  const observer = new MutationObserver((changes) => seen(changes) && find());
  observer.observe(panel.content.node, { childList: true, subtree: true });
}

const plugin = {
  id: "gemm_lab:kernel-cells",
  description: "Colours %%kernel cells as C++, and sets prose and pictures.",
  autoStart: true,
  activate: (app) => {
    document.head.appendChild(document.createElement("style")).textContent = LOOK;
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel, context) => {
        context.ready.then(() => keepClean(context));
        showPictures(panel);
        const followed = new WeakSet();
        const look = () => {
          for (const cell of panel.content.model?.cells ?? []) {
            if (cell.type !== "code" || followed.has(cell)) continue;
            followed.add(cell);
            follow(cell);
          }
        };
        const begin = () => {
          panel.content.model?.cells.changed.connect(look);
          look();
        };
        panel.content.modelChanged.connect(begin);
        begin();
      },
    });
  },
};

(window._JUPYTERLAB ??= {}).gemm_lab = {
  init: () => {},
  get: async (name) => {
    if (name !== "./extension") throw new Error(`gemm_lab has no ${name}.`);
    return () => ({ __esModule: true, default: plugin });
  },
};
