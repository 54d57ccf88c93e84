// The command palette: Ctrl or Cmd and K open it, arrows choose, Enter goes there. The server says
// what there is. It is off where the other keys are.
const palette = document.getElementById("palette");
const asked = palette?.querySelector("input");
const options = () => [...palette.querySelectorAll("[role=option]")];

function choose(option) {
  for (const one of options()) one.setAttribute("aria-selected", one === option);
  if (option) asked.setAttribute("aria-activedescendant", option.id);
  else asked.removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const all = options();
  const here = all.findIndex((one) => one.getAttribute("aria-selected") === "true");
  choose(all[(here + by + all.length) % all.length]);
}

document.addEventListener("keydown", (event) => {
  if (!palette || event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey) return;
  if (!(event.ctrlKey || event.metaKey) || localStorage.getItem("memoryweb.keys") === "off") return;
  event.preventDefault();
  if (palette.open) palette.close();
  else if (!document.querySelector("dialog[open]")) {
    document.querySelector(".rail:popover-open")?.hidePopover();
    palette.showModal();
    asked.select();
    asked.dispatchEvent(new CustomEvent("opened"));
  }
});

asked?.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const chosen = palette.querySelector("[aria-selected=true]");
  if (event.key === "ArrowDown") step(1);
  else if (event.key === "ArrowUp") step(-1);
  else if (event.key === "Enter") chosen?.click();
  else return;
  event.preventDefault();
});

palette?.addEventListener("htmx:afterSwap", () => choose(options()[0]));
// What is chosen is done; a link that leads to a place on this page leaves the palette open.
palette?.addEventListener("click", (event) => {
  const option = event.target.closest("[role=option]");
  if (option && !event.ctrlKey && !event.metaKey) setTimeout(() => palette.close(), option.dataset.copyText ? 600 : 0);
});
