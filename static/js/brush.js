// Dragging over a histogram puts its days into the filter's Since and Until; a click, one bar's.
// Released beside it, a drag ends at the last bar that it came over.
let begun = null;
let reached = null;

const bar = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-brush] g");

function chosen() {
  return [begun, reached].sort((a, b) => a.dataset.since.localeCompare(b.dataset.since));
}

document.addEventListener("pointerdown", (event) => {
  begun = reached = event.button === 0 ? bar(event) : null;
  if (begun) event.preventDefault();
});

document.addEventListener("pointermove", (event) => {
  if (!begun) return;
  reached = bar(event) ?? reached;
  const [first, last] = chosen();
  for (const one of document.querySelectorAll("[data-brush] g")) {
    const { since } = one.dataset;
    one.classList.toggle("brush-out", since < first.dataset.since || since > last.dataset.since);
  }
});

document.addEventListener("pointerup", () => {
  if (begun) {
    const [first, last] = chosen();
    const { since, until } = document.querySelector("form:has([name=since])").elements;
    since.value = first.dataset.since;
    until.value = last.dataset.until;
    until.dispatchEvent(new Event("change", { bubbles: true }));
  }
  begun = null;
});

document.addEventListener("pointercancel", () => {
  begun = null;
});
