// Copy the code beside the button, or the text the button carries.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-text]");
  if (!button) return;
  const text = button.dataset.copyText ?? button.closest(".code").querySelector("code").textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard outside a secure context: select the text, so that one key copies it.
    const code = button.closest(".code")?.querySelector("code");
    if (code) getSelection().selectAllChildren(code);
    else prompt("Copy this:", text);
    return;
  }
  const status = document.createElement("span");
  status.className = button.dataset.copyText === undefined ? "visually-hidden" : "muted";
  status.setAttribute("role", "status");
  status.textContent = " Copied";
  button.after(status);
  button.dataset.copied = "";
  setTimeout(() => { status.remove(); delete button.dataset.copied; }, 2000);
});
