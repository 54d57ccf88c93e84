// A text that was typed into the editor and left unsent is kept in this browser, by page and by
// the revision it was made from, and offered when its editor is opened again. The server says with
// data-saved when a text is stored; then, or when it is discarded, the draft goes.
(() => {
  const editor = document.querySelector("form[data-draft]");
  const text = editor?.elements.content;
  const stored = (name) => `memoryweb.draft:${name}`;
  const forget = (name) => localStorage.removeItem(stored(name));
  const saved = document.querySelector("[data-saved]");
  let discarded = false;
  if (saved) forget(saved.dataset.saved);
  document.addEventListener("click", (event) => {
    const discard = event.target.closest("[data-discard]");
    if (!discard) return;
    discarded = true;
    forget(discard.dataset.discard || editor?.dataset.draft);
  });
  if (!editor) return;

  const name = editor.dataset.draft;
  const title = editor.elements.name;
  const offer = document.getElementById("draft");

  function keep() {
    if (discarded || (text.value === text.defaultValue && editor.dataset.unsaved !== "yes")) return;
    const draft = { text: text.value, base: editor.elements.base.value, title: title?.value };
    try {
      localStorage.setItem(stored(name), JSON.stringify(draft));
    } catch { /* Full, or forbidden: the question before leaving was asked all the same. */ }
  }

  function read() {
    try {
      return JSON.parse(localStorage.getItem(stored(name)));
    } catch {
      return null;
    }
  }

  addEventListener("pagehide", keep);
  document.addEventListener("visibilitychange", () => { if (document.hidden) keep(); });

  const draft = read();
  if (!offer || !draft || editor.dataset.unsaved === "yes") return;
  if (draft.text === text.defaultValue) return forget(name);
  offer.hidden = false;
  offer.querySelector("[data-other-base]").hidden = draft.base === editor.elements.base.value;
  offer.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches("[data-bring-back]")) {
      text.value = draft.text;
      editor.elements.base.value = draft.base;
      if (title) title.value = draft.title;
      text.dispatchEvent(new Event("input", { bubbles: true }));
      text.focus();
    } else {
      forget(name);
    }
    offer.hidden = true;
  });
})();
