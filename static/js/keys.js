// Single-key shortcuts: never inside a field, never with a modifier, and they can be switched off.
const stored = "memoryweb.keys";
let going = 0;

const field = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]";
// A field of a dialog that closed keeps the focus until the next frame is drawn.
const typing = (element) => element.matches(field) && element.checkVisibility();
const on = () => localStorage.getItem(stored) !== "off";

function move(step) {
  const items = [...document.querySelectorAll("[data-item]")];
  if (!items.length) return;
  const here = items.findIndex((item) => item.contains(document.activeElement));
  const next = items[Math.min(Math.max(here + step, 0), items.length - 1)];
  (next.querySelector("[data-main]") || next.querySelector("a, button, summary"))?.focus();
}

function press(key) {
  const item = document.activeElement.closest("[data-item]");
  if (key === "/") (document.querySelector("[data-page-search]") || document.querySelector("[data-frame-search]"))?.select();
  else if (key === "?") document.getElementById("keys")?.showModal();
  else if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (key === "x") item?.querySelector("[data-select]")?.click();
  else if (key === "e") ((item || document).querySelector("[data-edit]") || document.querySelector("[data-edit]"))?.click();
  else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !on()) return;
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (Date.now() - going < 1500) {
    going = 0;
    const link = document.querySelector(`[data-go="${CSS.escape(event.key)}"]`);
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  if (event.key === "g") going = Date.now();
  else if (press(event.key)) event.preventDefault();
});

const box = document.querySelector("[data-keys-on]");
if (box) {
  box.checked = on();
  box.addEventListener("change", () => localStorage.setItem(stored, box.checked ? "on" : "off"));
}
