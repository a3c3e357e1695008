// What a page says to those who listen; one thing at a time, the latest counts.

export function say(text: string): void {
  const live = document.querySelector("[data-live]");
  if (live && text) live.textContent = text;
}
