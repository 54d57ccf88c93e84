// What every page has: the CSRF token on htmx requests, errors said aloud, theme, dismissal, ticks.
const html = document.documentElement;

document.addEventListener("htmx:configRequest", (event) => {
  const token = document.querySelector('meta[name="csrf-token"]');
  if (token && event.detail.verb !== "get") event.detail.headers["X-CSRFToken"] = token.content;
});

// A whole page in answer to a request for a part means we were sent elsewhere (signed out, or a
// form that redirects when done): go there. A refusal is said above the page and replaces nothing,
// so that typed text stays.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, pathInfo } = event.detail;
  if (refusal(xhr)) {
    event.detail.shouldSwap = false;
    event.detail.isError = true;
  } else if (xhr.responseURL && isWholePage(xhr)) {
    const asked = new URL(pathInfo.finalRequestPath || pathInfo.requestPath, location.href);
    if (new URL(xhr.responseURL).pathname === asked.pathname) return;
    event.detail.shouldSwap = false;
    location.assign(xhr.responseURL);
  }
});

const isWholePage = (xhr) => /^\s*<!doctype/i.test(xhr.responseText);

function refusal(xhr) {
  if (xhr.status < 400 || isWholePage(xhr)) return null;
  return new DOMParser().parseFromString(xhr.responseText, "text/html").querySelector("[data-refusal]");
}

function say(text) {
  const pattern = document.getElementById("message");
  const place = document.getElementById("messages");
  if (!pattern || !place) return;
  const message = pattern.content.cloneNode(true);
  message.querySelector("[data-text]").textContent = text;
  place.replaceChildren(message);
}

const sayings = {
  403: "You may not do this. Nothing was changed.",
  404: "This is not here any more. Load the page again to see what is.",
  413: "This is too large to send. Nothing was changed.",
};
document.addEventListener("htmx:responseError", (event) => {
  const { xhr } = event.detail;
  const broken = `The server could not do this (${xhr.status}). What you see may be out of date; load the page again.`;
  say(refusal(xhr)?.textContent.trim() || sayings[xhr.status] || broken);
});
document.addEventListener("htmx:sendError", () => say("The server does not answer. What you typed is still here; try again."));
document.addEventListener("htmx:timeout", () => say("The server took too long to answer. Try again."));

const themes = ["", "light", "dark"];
document.addEventListener("click", (event) => {
  const dismiss = event.target.closest("[data-dismiss]");
  if (dismiss) dismiss.closest("[data-message]").remove();
  const button = event.target.closest("[data-theme-switch]");
  if (!button) return;
  const theme = themes[(themes.indexOf(html.dataset.theme || "") + 1) % themes.length];
  if (theme) html.dataset.theme = theme;
  else delete html.dataset.theme;
  document.cookie = `theme=${theme}; path=/; max-age=${theme ? 31536000 : 0}; samesite=lax`;
  button.querySelector("[data-theme-name]").textContent = theme ? theme[0].toUpperCase() + theme.slice(1) : "System";
});

// Ticked rows: one box for all, and the number on the bar of actions.
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-select], [data-select-all]")) return;
  const form = event.target.form;
  const boxes = [...form.elements].filter((field) => field.matches("[data-select]"));
  if (event.target.matches("[data-select-all]")) boxes.forEach((box) => { box.checked = event.target.checked; });
  const ticked = boxes.filter((box) => box.checked).length;
  form.querySelectorAll("[data-selected]").forEach((place) => { place.textContent = ticked; });
  const all = form.querySelector("[data-select-all]");
  if (all) {
    all.checked = ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  }
});
