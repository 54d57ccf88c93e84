// Send a folder's Markdown to a wiki, some files at a time; without this the zip remains.
const form = document.querySelector("[data-folder-upload]");
const most = 50, bytes = 4 * 1024 * 1024;

function* batches(files, limit) {
  let some = [], size = 0;
  for (const file of files) {
    // Of a file that is too large only so much is sent that the server sees that it is.
    const sent = file.size > limit ? file.slice(0, limit + 1) : file;
    if (some.length === most || (some.length && size + sent.size > bytes)) {
      yield some;
      [some, size] = [[], 0];
    }
    some.push([file.webkitRelativePath || file.name, sent]);
    size += sent.size;
  }
  if (some.length) yield some;
}

async function send(some) {
  const body = new FormData();
  body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
  for (const [path, file] of some) {
    body.append("paths", path);
    body.append("files", file, "page");
  }
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.detail || `The server answered ${answer.status}.`);
  return told;
}

async function upload(files) {
  const bar = form.querySelector("progress"), words = form.querySelector("[role=status]");
  const rows = document.querySelector("#outcomes tbody"), counts = {};
  const said = () => Object.entries(counts).map(([status, count]) => `${count} ${status}`).join(", ");
  let done = 0;
  [bar.max, bar.value, bar.hidden] = [files.length, 0, false];
  try {
    for (const some of batches(files, Number(form.dataset.largest))) {
      const told = await send(some);
      bar.value = done += some.length;
      for (const [status, count] of Object.entries(told.counts)) counts[status] = (counts[status] || 0) + count;
      if (rows.children.length < Number(form.dataset.told)) rows.insertAdjacentHTML("beforeend", told.rows);
      rows.closest("table").hidden = false;
      words.textContent = `${done} of ${files.length} files: ${said()}.`;
    }
    words.textContent = `${files.length} files: ${said()}.`;
  } catch (error) {
    words.textContent = `Stopped after ${done} of ${files.length} files. ${error.message} What was taken in stays; choose the folder again to go on.`;
  }
}

if (form) {
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const chosen = [...form.elements.folder.files];
    const files = chosen.filter((file) => form.dataset.any || /\.md$/i.test(file.name));
    const words = form.querySelector("[role=status]");
    if (files.length > Number(form.dataset.most) || files.reduce((sum, file) => sum + file.size, 0) > Number(form.dataset.total)) {
      words.textContent = "That is more than one upload may hold; nothing was sent.";
    } else if (!files.length) {
      words.textContent = "There is no Markdown in this folder; nothing was sent.";
    } else {
      const button = form.querySelector("button");
      button.disabled = true;
      await upload(files);
      button.disabled = false;
    }
  });
}
