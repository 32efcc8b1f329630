// Lets the keyboard reach what scrolls: a code block or a table that is wider than its place gets a stop of the Tab key.

const PLACES = "article :is(pre, table, .table-wrapper, .output, .lab-widget, .lab-still, [style*='overflow'])";
const MARK = "scrolls"; // data-scrolls: the stop is ours, so it may go when the place is wide enough

function update(place) {
  const { overflowX, overflowY } = getComputedStyle(place);
  const scrolls =
    (/auto|scroll/.test(overflowX) && place.scrollWidth > place.clientWidth) ||
    (/auto|scroll/.test(overflowY) && place.scrollHeight > place.clientHeight);
  if (scrolls && !place.hasAttribute("tabindex")) {
    place.tabIndex = 0;
    place.dataset[MARK] = "";
  } else if (!scrolls && MARK in place.dataset) {
    place.removeAttribute("tabindex");
    delete place.dataset[MARK];
  }
}

// A size changes with the window, with an opened fold and with a picture that has arrived.
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => update(target)));
const observe = () => document.querySelectorAll(PLACES).forEach((place) => sizes.observe(place));
observe();

// A widget is drawn when the reader comes near it.
const drawn = new MutationObserver(observe);
document.querySelectorAll(".lab-widget").forEach((box) => drawn.observe(box, { childList: true }));
