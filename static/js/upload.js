// The upload form works without this. With it: files can be dropped anywhere on the box, a bar
// shows how far the upload is, and errors appear without losing what was typed.

const READING_MS = 300;

const form = document.querySelector("[data-upload]");
if (form) enhance(form);

function enhance(form) {
  const input = form.elements.namedItem("files");
  const drop = form.querySelector("[data-drop]");
  form.querySelector("[data-drop-hint]").hidden = false;

  showPicked(form, input.files); // picked before this ran, or kept by the browser on the way back
  input.addEventListener("change", () => showPicked(form, input.files));
  for (const type of ["dragenter", "dragover"]) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add("is-over");
    });
  }
  for (const type of ["dragleave", "drop"]) {
    drop.addEventListener(type, () => drop.classList.remove("is-over"));
  }
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = withAdded(input.files, event.dataTransfer.files);
    showPicked(form, input.files);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form);
  });
}

function withAdded(present, more) {
  const all = new DataTransfer();
  for (const file of [...present, ...more]) all.items.add(file);
  return all.files;
}

function showPicked(form, files) {
  const rows = [...files].map((file) => {
    const row = document.createElement("li");
    row.textContent = `${file.name} (${size(file.size)})`;
    return row;
  });
  form.querySelector("[data-picked]").replaceChildren(...rows);
}

function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let at = 0;
  while (bytes >= 1024 && at < units.length - 1) {
    bytes /= 1024;
    at += 1;
  }
  return `${bytes < 10 && at > 0 ? bytes.toFixed(1) : Math.round(bytes)} ${units[at]}`;
}

// A saved run is no cluster, but whoever drops one here means to open it.
function addressFor(form) {
  const { files } = form.elements.namedItem("files");
  const isRun = files.length === 1 && files[0].name.toLowerCase().endsWith(".kviz");
  return isRun ? form.dataset.runUrl : form.action;
}

function send(form) {
  const button = form.querySelector("button[type=submit]");
  const box = form.querySelector("[data-progress]");
  const bar = box.querySelector("progress");
  const text = box.querySelector("[data-progress-text]");
  const request = new XMLHttpRequest();
  const id = crypto.randomUUID?.() ?? "";

  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    const percent = Math.floor((100 * event.loaded) / event.total);
    if (event.loaded >= event.total) {
      bar.removeAttribute("value");
      text.textContent = form.dataset.reading;
      watchReading(form, request, id);
    } else {
      bar.value = percent;
      text.textContent = `${form.dataset.sending}: ${size(event.loaded)} / ${size(event.total)}`;
    }
  });
  request.addEventListener("load", () => arrive(form, request));
  request.addEventListener("error", () => {
    text.textContent = form.dataset.failed;
    bar.hidden = true;
    button.disabled = false;
  });

  button.disabled = true;
  box.hidden = false;
  bar.hidden = false;
  bar.value = 0;
  request.open("POST", addressFor(form));
  request.setRequestHeader("X-Upload-Id", id);
  request.responseType = "document";
  request.send(new FormData(form));
}

// The bytes have arrived; the server reads them and says how far it is.
async function watchReading(form, request, id) {
  if (!id) return; // browsers give no random ids to pages without TLS, except on this machine
  const address = form.dataset.progressUrl.replace(/[0-]{36}/, id);
  const bar = form.querySelector("[data-progress] progress");
  while (request.readyState !== XMLHttpRequest.DONE) {
    await new Promise((resume) => setTimeout(resume, READING_MS));
    const answer = await fetch(address).catch(() => null);
    if (!answer?.ok) continue;
    const { done_bytes: done, total_bytes: total } = await answer.json();
    if (total > 0) bar.value = Math.floor((100 * done) / total);
  }
}

// The server answers with a page: the new cluster's after a redirect, or the form with errors.
function arrive(form, request) {
  if (request.status < 400) {
    location.assign(request.responseURL);
    return;
  }
  const page = request.response;
  const problems = page && page.getElementById("problems");
  if (!problems) {
    document.title = page ? page.title : document.title;
    document.querySelector("main").replaceChildren(...page.querySelector("main").childNodes);
    return;
  }
  document.getElementById("problems")?.remove();
  form.closest("[data-upload-page]").before(problems);
  form.querySelector("[data-progress]").hidden = true;
  form.querySelector("button[type=submit]").disabled = false;
  problems.focus();
}
