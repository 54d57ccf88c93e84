// Dragging over a histogram puts its days into the filter's Since and Until; a click, one bar's.
let begun = null;

const bar = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-brush] g");

function chosen(to) {
  return [begun, to].sort((a, b) => a.dataset.since.localeCompare(b.dataset.since));
}

document.addEventListener("pointerdown", (event) => {
  begun = event.button === 0 ? bar(event) : null;
  if (begun) event.preventDefault();
});

document.addEventListener("pointermove", (event) => {
  const to = begun && bar(event);
  if (!to) return;
  const [first, last] = chosen(to);
  for (const one of to.parentElement.querySelectorAll("g")) {
    const { since } = one.dataset;
    one.classList.toggle("brush-out", since < first.dataset.since || since > last.dataset.since);
  }
});

document.addEventListener("pointerup", (event) => {
  const to = begun && bar(event);
  if (to) {
    const [first, last] = chosen(to);
    const { since, until } = document.querySelector("form:has([name=since])").elements;
    since.value = first.dataset.since;
    until.value = last.dataset.until;
    until.dispatchEvent(new Event("change", { bubbles: true }));
  }
  begun = null;
});
