// The chosen theme. A classic script that the browser runs before it paints, so that the other theme never flashes;
// it is built on its own, and also stands in pages that carry a run.

const KEY = "kviz.theme";
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

let theme = stored();
apply();
document.addEventListener("DOMContentLoaded", offerChoice);

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return THEMES.find((each) => each === value) ?? "auto";
  } catch {
    return "auto"; // storage may be forbidden; the system's choice then stands
  }
}

function apply(): void {
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
}

function remember(): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The choice then lasts for this page only.
  }
}

function offerChoice(): void {
  const button = document.querySelector<HTMLElement>("[data-theme-button]");
  const label = button?.querySelector("[data-theme-label]");
  if (!button || !label) return;
  const say = (): void => {
    label.textContent = button.title = button.dataset[theme] ?? "";
  };
  say();
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
    apply();
    remember();
    say();
    document.dispatchEvent(new CustomEvent("kviz:theme", { detail: theme }));
  });
}
