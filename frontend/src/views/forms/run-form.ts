// The form of a new run: presets and sample scenarios appear in their editor, nothing else that was typed is lost, the
// seed shows only where it counts, and what is folded away says what it holds. It works without this, too.

export function followRunForm(): void {
  const select = document.querySelector<HTMLSelectElement>("select[data-sample]");
  if (select) showSamples(select, areaOf(select.dataset.sample));
  const release = document.querySelector<HTMLOptionElement>("#release option[data-this]");
  if (release) nameRelease(release);
  const seed = document.querySelector<HTMLElement>("[data-seed]");
  if (seed) showSeedWhereItCounts(seed);
  for (const line of document.querySelectorAll<HTMLElement>("[data-holds]")) sayWhatItHolds(line);
  for (const chip of chips()) {
    chip.addEventListener("click", (event) => {
      event.preventDefault();
      fill(areaOf(chip.dataset.fill), chip);
    });
  }
}

const chips = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-fill]")];

const areaOf = (id = ""): HTMLTextAreaElement | null => {
  const area = document.getElementById(id);
  return area instanceof HTMLTextAreaElement ? area : null;
};

function write(area: HTMLTextAreaElement, text: string): void {
  area.value = text;
  area.dispatchEvent(new Event("input"));
}

/** Whether a text is somebody's own: none of those that are offered. */
export const isOwn = (written: string, offered: readonly string[]): boolean =>
  written.trim() !== "" && !offered.some((text) => text.trim() === written.trim());

/** The option that leaves the release to the cluster names it, for the cluster that is chosen; the fold says which. */
function nameRelease(option: HTMLOptionElement): void {
  const cluster = document.querySelector<HTMLSelectElement>("#snapshot");
  const select = option.closest("select");
  const held = document.querySelector("#release-held");
  const say = (): void => {
    const release = cluster?.options[cluster.selectedIndex]?.dataset.release;
    const { any = "", this: one = "" } = option.dataset;
    option.textContent = release ? one.replace("{release}", release) : any;
    if (held) held.textContent = select?.options[select.selectedIndex]?.textContent ?? "";
  };
  cluster?.addEventListener("change", say);
  select?.addEventListener("change", say);
}

function showSeedWhereItCounts(field: HTMLElement): void {
  const rule = document.querySelector<HTMLSelectElement>("#tie_break");
  const configuration = areaOf("scheduler_config");
  if (!rule || !configuration) return;
  const show = (): void => {
    field.hidden = rule.value !== "draw" && !configuration.value.includes("prioritizeVerb");
  };
  rule.addEventListener("change", show);
  configuration.addEventListener("input", show);
  show();
}

function sayWhatItHolds(line: HTMLElement): void {
  const fold = line.closest("details");
  if (!fold) return;
  const area = areaOf(line.dataset.holds);
  const atFirst = line.textContent;
  const say = (): void => {
    if (!area) line.textContent = settingsIn(fold, line.dataset);
    else line.textContent = area.value === area.defaultValue ? atFirst : titleOf(area.value.trim(), line.dataset);
  };
  // On the way down: editors announce what was written in them without bubbling.
  fold.addEventListener("input", say, true);
  fold.addEventListener("change", say, true);
  say();
}

/** The preset or sample that a text is, if it is one. */
function titleOf(written: string, { holds, own = "", none }: DOMStringMap): string {
  if (written === "" && none) return none;
  const samples = document.querySelectorAll<HTMLElement>("[data-title]");
  const known = holds === "scenario" ? [...samples] : chips();
  const found = known.find((each) => each.dataset.text?.trim() === written);
  return found?.dataset.title ?? found?.querySelector("strong")?.textContent ?? own;
}

/** Which settings differ from their defaults. */
function settingsIn(fold: HTMLElement, { none = "", changed = "", comma = "" }: DOMStringMap): string {
  const fields = [...fold.querySelectorAll<HTMLSelectElement | HTMLInputElement>("select, input")];
  const differing = fields.filter((each) => !each.closest("[hidden]") && each.value !== (each.dataset.default ?? ""));
  const names = differing.map((each) => each.labels?.[0]?.textContent ?? each.name);
  return names.length === 0 ? none : changed.replace("{settings}", names.join(comma));
}

function fill(area: HTMLTextAreaElement | null, { dataset: { text = "", replace } }: HTMLElement): void {
  const presets = chips().map((each) => each.dataset.text ?? "");
  if (!area || (isOwn(area.value, presets) && !confirm(replace))) return;
  write(area, text);
  area.focus();
}

function showSamples(select: HTMLSelectElement, area: HTMLTextAreaElement | null): void {
  if (!area) return;
  const samples = [...select.options].map((option) => option.dataset.text ?? "");
  let chosen = select.value;
  select.addEventListener("change", () => {
    const text = select.selectedOptions[0]?.dataset.text ?? "";
    const isReplacing = isOwn(area.value, samples);
    if (isReplacing && text === "") {
      chosen = "";
    } else if (isReplacing && !confirm(select.dataset.replace)) {
      select.value = chosen;
    } else {
      write(area, text);
      chosen = select.value;
      select.focus();
    }
  });
}
