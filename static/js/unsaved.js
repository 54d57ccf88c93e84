// Ask before a page is left with text that was typed and not sent. A form marked data-unsaved
// takes part; data-unsaved="yes" holds text that is stored nowhere even if nobody typed since.
let sent = false;

const changed = (field) => field.defaultValue !== undefined && field.value !== field.defaultValue;
const holds = (form) => form.dataset.unsaved === "yes" || [...form.elements].some(changed);

document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-unsaved]")) sent = !event.defaultPrevented;
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-discard]")) sent = true;
});
// The browser's back shows a page that was left as it was.
addEventListener("pageshow", () => { sent = false; });
addEventListener("beforeunload", (event) => {
  if (!sent && [...document.querySelectorAll("[data-unsaved]")].some(holds)) event.preventDefault();
});
