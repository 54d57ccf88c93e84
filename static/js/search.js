// Results that change place glide there, so that the eye can follow; what was opened stays open.
const form = document.getElementById("search");
const results = document.getElementById("results");
const still = matchMedia("(prefers-reduced-motion: reduce)");
let before = new Map();

// A slider asks at each step, and the next step waits for the answer; what is typed waits for a pause.
form.addEventListener("input", (event) => {
  form.dispatchEvent(new CustomEvent(event.target.type === "range" ? "slid" : "typed"));
});

// The "why" of a result is open because somebody opened it; the server does not know.
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
  !(name === "open" && element.localName === "details");

// More is the same search with a higher limit: its field says so, and the place is kept.
results.addEventListener("click", (event) => {
  const more = event.target.closest("[data-more]");
  if (!more || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  form.elements.limit.value = new URL(more.href).searchParams.get("limit");
  form.requestSubmit();
});

results.addEventListener("htmx:beforeSwap", () => {
  before = new Map([...results.querySelectorAll(".result")].map((row) => [row.id, row.getBoundingClientRect().top]));
});

results.addEventListener("htmx:afterSwap", () => {
  markInvalid();
  if (still.matches || !before.size) return;
  for (const row of results.querySelectorAll(".result")) {
    const from = before.get(row.id);
    const way = from === undefined ? 0 : from - row.getBoundingClientRect().top;
    const frames = from === undefined ? [{ opacity: 0 }, { opacity: 1 }] : [{ translate: `0 ${way}px` }, { translate: "0 0" }];
    if (from === undefined || Math.abs(way) > 1) row.animate(frames, { duration: 180, easing: "ease-out" });
  }
});

// The answer names the fields that are wrong; they are marked where they stand.
function markInvalid() {
  const wrong = new Set([...results.querySelectorAll("[data-invalid]")].map((link) => link.dataset.invalid));
  for (const field of form.elements) {
    if (wrong.has(field.name)) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
  }
  form.querySelectorAll(".errorlist").forEach((list) => list.remove());
}
