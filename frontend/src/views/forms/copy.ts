// Copy buttons: each names the element whose text it copies, or the address it is at. Without a clipboard they stay
// hidden.

const SAID_MS = 2000;

export function offerCopy(button: HTMLElement): void {
  const label = button.textContent;
  const { done = "", failed = "" } = button.dataset;
  let back = 0;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await textFor(button.dataset));
      button.textContent = done;
    } catch {
      button.textContent = failed; // no answer, or the browser was told not to allow it
    }
    clearTimeout(back);
    back = window.setTimeout(() => (button.textContent = label), SAID_MS);
  };
  button.hidden = false;
  button.addEventListener("click", () => void copy());
}

async function textFor({ copy, copyFrom }: DOMStringMap): Promise<string> {
  if (copy) return document.getElementById(copy)?.textContent ?? "";
  const answer = await fetch(copyFrom ?? "");
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.text();
}
