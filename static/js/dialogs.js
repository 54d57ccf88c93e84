// A link or button that names a dialog opens it; without script a link goes to its page instead.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  const dialog = opener && document.getElementById(opener.dataset.dialog);
  if (dialog) {
    event.preventDefault();
    document.querySelector(".rail:popover-open")?.hidePopover();
    dialog.showModal();
    return;
  }
  if (event.target.closest("[data-close]") || event.target.matches("dialog[open]")) {
    const open = event.target.closest("dialog");
    if (open && open.contains(event.target)) open.close();
  }
});

// One open menu at a time; a click elsewhere or Escape closes it.
document.addEventListener("click", (event) => {
  document.querySelectorAll("details.menu[open]").forEach((menu) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details.menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
});
