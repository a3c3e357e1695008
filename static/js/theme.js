// Runs before the first paint, so that a chosen theme never flashes the other one.
(() => {
  const KEY = "kviz.theme";
  const ORDER = ["auto", "light", "dark"];
  const root = document.documentElement;

  function stored() {
    try {
      const value = localStorage.getItem(KEY);
      return ORDER.includes(value) ? value : "auto";
    } catch {
      return "auto"; // storage may be forbidden; the system's choice then stands
    }
  }

  function apply(theme) {
    if (theme === "auto") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
  }

  function remember(theme) {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice then lasts for this page only.
    }
  }

  let theme = stored();
  apply(theme);

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-button]");
    if (!button) return;
    const label = button.querySelector("[data-theme-label]");
    const say = () => {
      label.textContent = button.dataset[theme];
      button.title = button.dataset[theme];
    };
    say();
    button.hidden = false;
    button.addEventListener("click", () => {
      theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
      apply(theme);
      remember(theme);
      say();
      document.dispatchEvent(new CustomEvent("kviz:theme", { detail: theme }));
    });
  });
})();
