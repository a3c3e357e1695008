// The form that uploads files: they can be dropped anywhere on the box, a bar shows how far the upload is, and errors
// appear without losing what was typed. It works without this, too.

import { documentAt, pause } from "../../base/page.ts";

const READING_MS = 300;
const UNITS = ["B", "KiB", "MiB", "GiB"];

export function enhanceUpload(form: HTMLFormElement): void {
  const input = inputOf(form);
  const drop = form.querySelector<HTMLElement>("[data-drop]");
  const hint = form.querySelector<HTMLElement>("[data-drop-hint]");
  if (hint) hint.hidden = false;
  showPicked(form, input); // picked before this ran, or kept by the browser on the way back
  input.addEventListener("change", () => showPicked(form, input));
  if (drop) takeDrops(drop, input, () => showPicked(form, input));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    new Sending(form).send();
  });
}

const inputOf = (form: HTMLFormElement): HTMLInputElement => form.elements.namedItem("files") as HTMLInputElement;

function takeDrops(drop: HTMLElement, input: HTMLInputElement, onDrop: () => void): void {
  for (const type of ["dragenter", "dragover"]) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add("is-over");
    });
  }
  for (const type of ["dragleave", "drop"]) drop.addEventListener(type, () => drop.classList.remove("is-over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = withAdded(input.files, event.dataTransfer?.files);
    onDrop();
  });
}

function withAdded(present: FileList | null, more: FileList | undefined): FileList {
  const all = new DataTransfer();
  for (const file of [...(present ?? []), ...(more ?? [])]) all.items.add(file);
  return all.files;
}

function showPicked(form: HTMLFormElement, { files }: HTMLInputElement): void {
  const rows = [...(files ?? [])].map((file) => {
    const row = document.createElement("li");
    row.textContent = `${file.name} (${sizeText(file.size)})`;
    return row;
  });
  form.querySelector("[data-picked]")?.replaceChildren(...rows);
}

export function sizeText(bytes: number): string {
  let [size, at] = [bytes, 0];
  while (size >= 1024 && at < UNITS.length - 1) {
    size /= 1024;
    at += 1;
  }
  return `${size < 10 && at > 0 ? size.toFixed(1) : Math.round(size)} ${UNITS[at]}`;
}

/** A saved run is no cluster, but somebody who drops one here wants to open it. */
export const isSavedRun = (names: readonly string[]): boolean =>
  names.length === 1 && names[0]?.toLowerCase().endsWith(".kviz") === true;

/** One upload of the form, until its answer is shown. */
class Sending {
  private readonly request = new XMLHttpRequest();
  /** Browsers give no random ids to pages without TLS, except on this machine. */
  private readonly id = "randomUUID" in crypto ? crypto.randomUUID() : "";
  private readonly button: HTMLButtonElement | null;
  private readonly box: HTMLElement | null;
  private readonly bar: HTMLProgressElement | null;
  private readonly text: HTMLElement | null;

  constructor(private readonly form: HTMLFormElement) {
    this.button = form.querySelector("button[type=submit]");
    this.box = form.querySelector("[data-progress]");
    this.bar = form.querySelector("[data-progress] progress");
    this.text = form.querySelector("[data-progress-text]");
  }

  send(): void {
    const { request, form } = this;
    request.upload.addEventListener("progress", (event) => this.showSent(event));
    request.addEventListener("load", () => this.arrive());
    request.addEventListener("error", () => this.fail());
    this.begin();
    const names = [...(inputOf(form).files ?? [])].map((file) => file.name);
    request.open("POST", isSavedRun(names) ? (form.dataset.runUrl ?? "") : form.action);
    request.setRequestHeader("X-Upload-Id", this.id);
    request.responseType = "document";
    request.send(new FormData(form));
  }

  private begin(): void {
    if (this.button) this.button.disabled = true;
    if (this.box) this.box.hidden = false;
    if (!this.bar) return;
    this.bar.hidden = false;
    this.bar.value = 0;
  }

  private end(): void {
    if (this.button) this.button.disabled = false;
  }

  private fail(): void {
    this.say(this.form.dataset.failed);
    if (this.bar) this.bar.hidden = true;
    this.end();
  }

  private say(text = ""): void {
    if (this.text) this.text.textContent = text;
  }

  private showSent({ lengthComputable, loaded, total }: ProgressEvent): void {
    const { reading, sending = "" } = this.form.dataset;
    if (!lengthComputable) return;
    if (loaded >= total) {
      this.bar?.removeAttribute("value");
      this.say(reading);
      void this.watchReading();
    } else {
      if (this.bar) this.bar.value = Math.floor((100 * loaded) / total);
      this.say(`${sending}: ${sizeText(loaded)} / ${sizeText(total)}`);
    }
  }

  /** The bytes have arrived; the server reads them and says how far it is. */
  private async watchReading(): Promise<void> {
    if (!this.id) return;
    const address = (this.form.dataset.progressUrl ?? "").replace(/[0-]{36}/, this.id);
    while (this.request.readyState !== XMLHttpRequest.DONE) {
      await pause(READING_MS);
      const found = await documentAt<{ readonly done_bytes: number; readonly total_bytes: number }>(address);
      if (found && found.total_bytes > 0 && this.bar)
        this.bar.value = Math.floor((100 * found.done_bytes) / found.total_bytes);
    }
  }

  /** The server answers with a page: the new cluster's after a redirect, or the form with errors. */
  private arrive(): void {
    const { request, form } = this;
    if (request.status < 400) {
      location.assign(request.responseURL);
      return;
    }
    const page = request.response as Document | null;
    if (!page) {
      this.fail();
      return;
    }
    const problems = page.getElementById("problems");
    if (!problems) {
      showInstead(page);
      return;
    }
    document.getElementById("problems")?.remove();
    form.closest("[data-upload-page]")?.before(problems);
    if (this.box) this.box.hidden = true;
    this.end();
    problems.focus();
  }
}

function showInstead(page: Document): void {
  document.title = page.title;
  document.querySelector("main")?.replaceChildren(...(page.querySelector("main")?.childNodes ?? []));
}
